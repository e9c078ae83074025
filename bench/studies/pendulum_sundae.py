import numpy as np
from sksundae.ida import IDA


def study(n, rtol):  # IDA has no index 2: the constraint is differentiated once more by hand, and drifts
    def residual(t, y, yp, r):
        x, h, vx, vh, tension = y
        r[:] = [yp[0] - vx, yp[1] - vh, yp[2] + tension * x, yp[3] + tension * h + 9.81, vx**2 + vh**2 - tension - 9.81 * h]

    def bottom(t, y, yp, g):
        g[0] = y[0]

    bottom.terminal, bottom.direction = [True], [-1]
    solver = IDA(residual, rtol=rtol, atol=rtol, eventsfn=bottom, num_events=1, algebraic_idx=[4], max_num_steps=100000)
    times = []
    for a in np.linspace(0.2, 3.0, n):
        y, f = [np.sin(a), -np.cos(a), 0, 0, 9.81 * np.cos(a)], [0, 0, -9.81 * np.cos(a) * np.sin(a), 9.81 * np.cos(a) ** 2 - 9.81, 0]
        times.append(solver.solve([0, 2.5], y, f).t_events[-1])
    return np.ravel(times)
