# Recorded infusions in a population, without rows of single patients: median and 5..95 % of the concentration over a month.
import numpy as np

import saltus

random = np.random.default_rng(2)
begins = np.cumsum(random.uniform(8, 40, 20))
knots = np.concatenate([[0], np.ravel([begins, begins + random.uniform(0.5, 4, 20)], "F"), [720]])
rates = np.concatenate([[0], np.ravel([random.uniform(50, 150, 20), np.zeros(20)], "F"), [0]])
elimination, volume = np.exp(random.normal([[-2.0], [3.7]], [[0.25], [0.2]], (2, 2000)))
ds = saltus.model("infusions.hpp").run(
    t=(0, 720), rtol=1e-8, zip={"elimination": elimination, "volume": volume}, tables={"rate": (knots, rates)}, samples=145, rows=False)
ds.saltus.plot.bands("concentration")[0].figure.savefig("infusions.png")

# Each infusion is a constant rate: the matrix of the two compartments gives the exact answer for every patient.
values, vectors = np.linalg.eig([[[-k - 0.3, 0.2], [0.3, -0.2]] for k in elimination])
parts = np.linalg.solve(vectors, np.array([1.0, 0.0])[:, None])[..., 0] * vectors[:, 0] / values  # for a rate of 1
since = np.maximum(ds["time"].values[:, None] - knots, 0)  # each knot adds the difference of its rate from the one before
grown = sum((np.expm1(np.outer(values[:, i], since)) * parts[:, i, None]).reshape(-1, *since.shape) for i in range(2))
exact = np.percentile(grown @ np.diff(rates, prepend=0) / volume[:, None], [5, 50, 95], axis=0).T
print(float(np.nanmax(abs(ds["quantiles_concentration"] / np.where(exact > 1e-6, exact, np.nan) - 1))))
