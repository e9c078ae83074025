"""Hourly weather of a year, and a month's record of infusions, which two of the studies read. Both are the same in every run."""
import numpy as np

random = np.random.default_rng(2)
hours = np.arange(8761.0)
outdoor = 9 + 10 * np.sin(2 * np.pi * (hours / 8760 - 0.3)) + 4 * np.sin(2 * np.pi * (hours / 24 - 0.4))
outdoor += np.convolve(random.normal(0, 2.5, 8761 + 47), np.ones(48) / np.sqrt(48), "valid")
outdoor[-1] = outdoor[0]

# 20 infusions of different length at irregular times: knots of a rate in mg/h, which holds until the next knot.
begins = np.cumsum(random.uniform(8, 40, 20))
ends = begins + random.uniform(0.5, 4, 20)
knots = np.concatenate([[0], np.ravel([begins, ends], "F"), [720]])
rates = np.concatenate([[0], np.ravel([random.uniform(50, 150, 20), np.zeros(20)], "F"), [0]])
