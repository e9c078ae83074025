import numpy as np
from scipy.integrate import solve_ivp


def one(limit, rtol):
    def peak(t, y):
        return y[0] - limit

    def dry(t, y):
        return y[0]

    peak.terminal = dry.terminal = True
    peak.direction, dry.direction = 1, -1
    fields = {"closed": lambda t, y: [10 / 1e-3, -y[1] / 20 / 12e-6],
              "open": lambda t, y: [(10 - y[1]) / 1e-3, (y[0] - y[1] / 20) / 12e-6], "blocked": lambda t, y: [0.0, -y[1] / 20 / 12e-6]}
    y, mode = np.array([0.0, 10.0]), "closed"
    for k in range(20):
        t, end = k * 1e-4, (k + 1) * 1e-4
        if y[0] < limit:
            mode = "closed"
        while t < end:
            events = {"closed": peak, "open": dry, "blocked": None}[mode]
            s = solve_ivp(fields[mode], (t, end), y, rtol=rtol, atol=rtol, events=events, method="DOP853")
            t, y = s.t[-1], s.y[:, -1]
            if s.status == 1:
                y[0] = limit if mode == "closed" else 0.0
                mode = "open" if mode == "closed" else "blocked"
    return y[1]


def study(n, rtol):
    return np.array([one(limit, rtol) for limit in np.linspace(0.5, 1.0, n)])
