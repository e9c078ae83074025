#!/usr/bin/env python3
"""End of a branch of shuttle_reentry: its second derivative of the constraint, a cos beta + b sin beta + c, has no root if
c^2 > a^2 + b^2. Index reduced by hand, no code of saltus: c'' along the field by complex steps, beta as the root on the requested
side, SciPy's DOP853 at 1e-13 up to the end. Prints the end time of either branch."""
import numpy as np
from scipy.integrate import solve_ivp

MU, RADIUS, OMEGA, MASS, AREA = 0.1407653916e17, 20902900.0, 0.72921159e-4, 5964.496499824, 2690.0
CL, CD = 0.84 - 0.48 * (38.0 - 40.0) / 26.0, 0.78 - 0.58 * (38.0 - 40.0) / 26.0
C = (3.974960446019, -0.01448947694635, -0.2156171551995e-4, -0.1089609507291e-7)
V0, DEGREE = 24317.0798, np.pi / 180
START = [264039.32771908800692, 177.718047 * DEGREE, 32.0417885 * DEGREE, V0, -0.74998648883861063845 * DEGREE, 62.7883367 * DEGREE]
BEGIN = 332.868734542


def field(x, cos_beta, sin_beta):
    H, _, lam, V, gamma, A = x
    r = H + RADIUS
    g = MU / (r * r)
    pressure = 0.5 * 0.002378 * np.exp(-H / 23800.0) * AREA * V * V
    drag, lift = CD * pressure / MASS, CL * pressure / MASS
    sg, cg, sl, cl, sa, ca = np.sin(gamma), np.cos(gamma), np.sin(lam), np.cos(lam), np.sin(A), np.cos(A)
    turning = OMEGA**2 * r * cl
    return np.array([
        V * sg, V * cg * sa / (r * cl), V / r * cg * ca, -drag - g * sg - turning * (sl * ca * cg - cl * sg),
        lift * cos_beta / V + cg / V * (V * V / r - g) + 2 * OMEGA * cl * sa + turning / V * (sl * ca * sg + cl * cg),
        lift * sin_beta / (V * cg) + V / r * cg * sa * sl / cl - 2 * OMEGA * (cl * ca * sg / cg - sl) + turning * sl * sa / (V * cg)])


def first_derivative(x):
    """c' of the constraint, which does not contain beta."""
    H, V = x[0], x[3]
    drag = CD * 0.5 * 0.002378 * np.exp(-H / 23800.0) * AREA * V * V / MASS
    dx = field(x, 0.0, 0.0)
    slope = C[1] + 2 * C[2] * (V - V0) + 3 * C[3] * (V - V0) ** 2
    return -drag / 23800.0 * dx[0] + (2 * drag / V - slope) * dx[3]


def second_derivative(x):
    """(a, b, c) of c'' = a cos beta + b sin beta + c."""
    along = lambda dx: first_derivative(np.asarray(x, complex) + 1e-30j * dx).imag / 1e-30
    c = along(field(x, 0.0, 0.0))
    return along(field(x, 1.0, 0.0)) - c, along(field(x, 0.0, 1.0)) - c, c


def branch(side):
    def rate(_, x):
        a, b, c = second_derivative(x)
        beta = np.arctan2(b, a) + side * np.arccos(np.clip(-c / np.hypot(a, b), -1.0, 1.0))
        return field(x, np.cos(beta), np.sin(beta))

    def left(_, x):
        a, b, c = second_derivative(x)
        return a * a + b * b - c * c

    left.terminal = True
    a, b, c = second_derivative(START)
    s = solve_ivp(rate, (BEGIN, BEGIN + 400), START, "DOP853", rtol=1e-13, atol=1e-13, events=left)
    beta = (np.arctan2(b, a) + side * np.arccos(-c / np.hypot(a, b))) / DEGREE
    return (beta + 180.0) % 360.0 - 180.0, s.t_events[0]


if __name__ == "__main__":
    for side in (1, -1):
        print("beta at the start %.6f degrees, the branch ends at t = %s" % (branch(side)))
