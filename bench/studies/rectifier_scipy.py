import numpy as np
from scipy.integrate import solve_ivp

SOURCE, LOAD = 1e-3, 10e-3


def one(resistance, rtol):  # SciPy has no DAE: the voltage of the load is found by hand for each mode
    on, t, y = [True, False], 0.0, np.array([1e-6, 0.0])

    def source(t):
        return 100 * np.sin(100 * np.pi * t)

    def load(t, y):
        n, drive = sum(on), source(t) * (on[0] - on[1])
        return (resistance * sum(y) + LOAD / SOURCE * drive) / (1 + n * LOAD / SOURCE)

    def f(t, y):
        v, e = load(t, y), source(t)
        return [(e - v) / SOURCE * on[0], (-e - v) / SOURCE * on[1]]

    def event(k):
        def current(t, y):
            return y[k]

        def voltage(t, y):
            return (source(t) if k == 0 else -source(t)) - load(t, y)

        g = current if on[k] else voltage
        g.terminal, g.direction = True, -1 if on[k] else 1
        return g

    while t < 0.085:
        s = solve_ivp(f, (t, 0.085), y, rtol=rtol, atol=rtol, method="DOP853", events=[event(0), event(1)], max_step=2e-3)
        t, y = s.t[-1], s.y[:, -1]
        for k in range(2):
            if len(s.t_events[k]):
                y[k] = 0.0
                on[k] = not on[k]
    return y[0]


def study(n, rtol):
    return np.array([one(r, rtol) for r in np.linspace(4, 6, n)])
