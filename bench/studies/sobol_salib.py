import numpy as np
from SALib.analyze import sobol
from SALib.sample import sobol as sample
from scipy.integrate import solve_ivp

problem = {"num_vars": 3, "names": ["restitution", "height", "gravity"], "bounds": [[0.5, 0.9], [0.8, 1.2], [9.0, 10.6]]}


def floor(t, y):
    return y[0]


floor.terminal, floor.direction = True, -1


def rebound(e, h, g, rtol):
    def f(t, y):
        return [y[1], -g]

    s = solve_ivp(f, (0, 0.55), [h, 0.0], rtol=rtol, atol=rtol, events=floor)
    after = solve_ivp(f, (s.t[-1], 0.55), [0.0, -e * s.y[1, -1]], rtol=rtol, atol=rtol)
    return after.y[1].max()


def study(n, rtol):
    x = sample.sample(problem, n, calc_second_order=False, seed=1)
    y = np.array([rebound(*row, rtol) for row in x])
    return sobol.analyze(problem, y, calc_second_order=False, num_resamples=400)["S1"]
