import numpy as np
from scipy.integrate import solve_ivp

r = 0.8


def rhs(t, s, w):
    return [s[1], np.cos(w * t) - s[0], s[3], -s[2]]  # with a difference of two solutions


def impact(t, s, w):
    return s[0]


impact.terminal, impact.direction = True, 1


def exponent(w, rtol):
    p, q = (1 + r) * (1 - w * w) / 2 / np.tan(np.pi / w), (r - 1) * (1 - w * w) / 2 / w
    speed = 1 / np.hypot(p, q)  # of the impacts, the first at the angle of (p, q)
    t, s, grown = np.arctan2(q, p) / w, np.array([-1e-16, -r * speed, 1.0, 0.3]), 0.0
    for period in range(12):
        part = solve_ivp(rhs, (t, t + 10), s, "DOP853", events=impact, args=(w,), rtol=rtol, atol=1e-2 * rtol)
        t, (x, v, dx, dv) = part.t[-1], part.y[:, -1]
        s = np.array([-1e-16, -r * v, -r * dx, (1 + r) * (np.cos(w * t) - x) / v * dx - r * dv])
        size = np.hypot(*s[2:])
        s[2:] /= size
        if period == 8:
            start = t
        if period > 8:
            grown += np.log(size)
    return grown / (t - start)


def study(n, rtol):
    return np.array([exponent(w, rtol) for w in np.linspace(2.7, 2.9, n)])
