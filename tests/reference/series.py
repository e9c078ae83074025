#!/usr/bin/env python3
"""Positions of the Lorenz equations and of a two-body orbit at an end time, for tests/test_taylor.cpp: by Taylor series of order 60 with
50 digits by mpmath, and by Kepler's equation.

    tests/reference/series.py
"""
from mpmath import mp, mpf

mp.dps = 50


def lorenz(rho, t_end, y):
    """sigma = 10, b = 8/3, by steps of 0.02."""
    order, h, steps = 60, mpf(t_end) / 250, 250
    for _ in range(steps):
        x, y_, z = [y[0]], [y[1]], [y[2]]
        for k in range(order):
            xz, xy = (sum(x[j] * q[k - j] for j in range(k + 1)) for q in (z, y_))
            x.append(10 * (y_[k] - x[k]) / (k + 1))
            y_.append((rho * x[k] - xz - y_[k]) / (k + 1))
            z.append((xy - mpf(8.0 / 3.0) * z[k]) / (k + 1))
        y = [sum(c * h**k for k, c in enumerate(series)) for series in (x, y_, z)]
    return y


def orbit(r, v, t):
    """Starts at the point closest to the centre, at distance r with velocity v."""
    a = 1 / (2 / r - v**2)
    e, n = 1 - r / a, a ** mpf(-1.5)
    anomaly = mp.findroot(lambda u: u - e * mp.sin(u) - n * t, n * t)
    x, y = a * (mp.cos(anomaly) - e), a * mp.sqrt(1 - e**2) * mp.sin(anomaly)
    pace = a * n / (1 - e * mp.cos(anomaly))
    return [x, y, -mp.sin(anomaly) * pace, mp.sqrt(1 - e**2) * mp.cos(anomaly) * pace]


if __name__ == "__main__":
    ends = {"Lorenz": lorenz(28, 5, [mpf(10)] * 3), "orbit": orbit(mpf(0.5), mpf(3**0.5), mpf(20))}
    for name, values in ends.items():
        print(name, ", ".join(mp.nstr(v, 22) for v in values))
