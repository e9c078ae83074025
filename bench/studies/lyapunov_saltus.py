import numpy as np
import saltus

oscillator = saltus.builtin("impact_oscillator")


def study(n, rtol):
    w = np.linspace(2.7, 2.9, n)
    ends = 20 + 6 * np.pi / w  # of three periods
    ds = oscillator.lyapunov(exponents=1, start=20, rtol=rtol, zip={"frequency": w, "t_end": ends})
    return ds["lyapunov"].values.ravel()
