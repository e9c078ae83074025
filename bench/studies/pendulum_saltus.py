import numpy as np
import saltus
from pathlib import Path

pendulum = saltus.model(Path(__file__).parents[2] / "docs/examples/pendulum_index_2.hpp")


def study(n, rtol):
    ds = pendulum.run(t=(0, 2.5), method="radau5", rtol=rtol, angle=np.linspace(0.2, 3.0, n), events=True)
    return ds["event_time"].groupby(ds["event_instance"]).min().values  # it swings through the lowest point
