import numpy as np
from scipy.integrate import solve_ivp
from weather import knots, rates


def one(elimination, volume, rtol):
    y, sampled = np.array([0.0, 0.0]), []
    times = np.union1d(knots, [120, 240, 480, 720])
    for begin, end in zip(times, times[1:]):
        rate = rates[np.searchsorted(knots, begin, "right") - 1]

        def f(t, y):
            return [rate - (elimination + 0.3) * y[0] + 0.2 * y[1], 0.3 * y[0] - 0.2 * y[1]]

        y = solve_ivp(f, (begin, end), y, rtol=rtol, atol=rtol, method="DOP853").y[:, -1]
        if end in (120, 240, 480, 720):
            sampled.append(y[0] / volume)
    return sampled


def study(n, rtol):
    elimination, volume = np.exp(np.random.default_rng(3).normal([[-2.0], [3.7]], [[0.25], [0.2]], (2, n)))
    return np.percentile([one(e, v, rtol) for e, v in zip(elimination, volume)], [5, 50, 95], axis=0).ravel()
