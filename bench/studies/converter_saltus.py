import numpy as np
import saltus
from pathlib import Path

converter = saltus.model(Path(__file__).parents[2] / "docs/examples/boost_converter.hpp")


def study(n, rtol):
    ds = converter.run(t=(0, 2e-3), rtol=rtol, limit=np.linspace(0.5, 1.0, n))
    return ds["final_voltage"].values
