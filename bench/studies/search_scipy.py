import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq


def floor(t, y):
    return y[0]


floor.terminal, floor.direction = True, -1


def study(n, rtol):
    heights = np.random.default_rng(1).uniform(0.8, 1.2, n)

    def speed(h):
        return -solve_ivp(lambda t, y: [y[1], -9.81], (0, 0.55), [h, 0.0], rtol=rtol, atol=rtol, events=floor).y[1, -1]

    return np.array([brentq(lambda e: np.mean([e * speed(h) for h in heights]) - 3, 0.1, 0.9, xtol=1e-12)])
