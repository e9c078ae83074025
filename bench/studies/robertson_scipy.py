import numpy as np
from scipy.integrate import solve_ivp


def one(k1, rtol):
    def f(t, y):
        first, second, third = k1 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return [second - first, first - second - third, third]

    def jacobian(t, y):
        return [[-k1, 1e4 * y[2], 1e4 * y[1]], [k1, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1]], [0, 6e7 * y[1], 0]]

    atol = [1e-9 * rtol, 1e-14 * rtol, 1e-4 * rtol]
    return solve_ivp(f, (0, 1e11), [1.0, 0.0, 0.0], "Radau", rtol=rtol, atol=atol, jac=jacobian).y[0, -1]


def study(n, rtol):
    return np.array([one(k1, rtol) for k1 in np.linspace(0.02, 0.08, n)])
