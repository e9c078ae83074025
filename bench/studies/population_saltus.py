import numpy as np
import saltus
from pathlib import Path
from weather import knots, rates

infusions = saltus.model(Path(__file__).parents[2] / "docs/examples/infusions.hpp")


def study(n, rtol):
    elimination, volume = np.exp(np.random.default_rng(3).normal([[-2.0], [3.7]], [[0.25], [0.2]], (2, n)))
    ds = infusions.run(t=(0, 720), rtol=rtol, zip={"elimination": elimination, "volume": volume}, tables={"rate": (knots, rates)},
                       samples=[120, 240, 480, 720])
    return np.percentile(ds["concentration"].values, [5, 50, 95], axis=0).ravel()
