import numpy as np
from scipy.integrate import solve_ivp
from weather import hours, outdoor


def cold(t, y):
    return y[0] - 19


def hot(t, y):
    return y[0] - 21


cold.terminal = hot.terminal = True
cold.direction, hot.direction = -1, 1


def one(resistance, rtol):
    t, y, heater = 0.0, [20.0, 0.0], 0
    while t < 8760:
        def f(t, y):
            heating = 6.0 * heater
            return [(heating - (y[0] - np.interp(t, hours, outdoor)) / resistance) / 4, heating]

        end = np.floor(t) + 1  # a step must not cross a knot
        s = solve_ivp(f, (t, end), y, rtol=rtol, atol=rtol, events=hot if heater else cold)
        t, y = s.t[-1], s.y[:, -1]
        if s.status == 1:
            heater = 1 - heater
    return y[0]


def study(n, rtol):
    return np.array([one(r, rtol) for r in np.linspace(4, 6, n)])
