#!/usr/bin/env python3
"""Prints SciPy's values and integrals for the knots of tests/test_tables.cpp. Needs python3-numpy and python3-scipy."""
import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator

TIMES = [-1.5, -1.0, 0.25, 0.5, 2.0, 2.125, 4.0]
VALUES = [1.0, 3.0, 2.5, -0.75, -0.75, 1.5, 1.0]
AT = [-1.25, -0.9, 0.3, 1.1, 2.05, 3.7]


def row(name, numbers):
    print(f"{name}: " + ", ".join(repr(float(x)) for x in numbers))


t, v = np.array(TIMES), np.array(VALUES)
row("pchip", PchipInterpolator(t, v)(AT))
row("spline", CubicSpline(t, v, bc_type="natural")(AT))
row("integrals of pchip, spline", [f.integrate(t[0], t[-1]) for f in (PchipInterpolator(t, v), CubicSpline(t, v, bc_type="natural"))])
row("line", np.interp(AT, t, v))
row("integral of lines", [np.trapezoid(v, t)])
row("integral of steps", [np.sum(v[:-1] * np.diff(t))])

# Periodic: the monotone cubic has no such option, so three periods are placed side by side.
period = t[-1] - t[0]
three = np.concatenate([t[:-1] - period, t[:-1], t + period])
wide = PchipInterpolator(three, np.concatenate([v[:-1], v[:-1], v]))
closed = CubicSpline(t, v, bc_type="periodic")
row("periodic pchip", wide(AT))
row("periodic spline", closed(AT))
row("integrals of one period", [wide.integrate(t[0], t[-1]), closed.integrate(t[0], t[-1])])
row("integrals from -1.25 to 3.7", [wide.integrate(-1.25, 3.7), closed.integrate(-1.25, 3.7)])
