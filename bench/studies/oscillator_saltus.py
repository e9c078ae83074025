import numpy as np
import saltus

oscillator = saltus.builtin("impact_oscillator")


def study(n, rtol):
    ds = oscillator.run(t=(0, 400), rtol=rtol, frequency=np.linspace(2.35, 2.45, n), initial={"position": -0.1, "velocity": 0.0}, events=True)
    return ds["event_velocity"].values[np.cumsum(ds["event_row_size"].values) - 1]  # of the last impact
