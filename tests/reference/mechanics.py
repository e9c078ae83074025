#!/usr/bin/env python3
"""Prints the numbers of tests/test_mechanics.cpp that are not one-line closed forms. Needs python3-mpmath; some minutes.

All systems use as many coordinates as degrees of freedom, while saltus has redundant ones with multipliers: loops of one degree
of freedom by quadrature of the energy integral, tops by elliptic functions, the others by the extrapolation method of
integrated.py in 36 digits."""
import sys

import mpmath as mp

from integrated import solve

mp.mp.dps = 36
one = mp.mpf(1)
g = mp.mpf("9.81")


def show(case, **values):
    for name, value in values.items():
        print(f"{case:<20} {name:<18} {mp.nstr(value, 19, min_fixed=-20, max_fixed=20)}", flush=True)


def derivative_along(point):
    """d/da of a list of functions of one angle by a central difference of order 12 with 36 digits, of which 20 are right."""
    def at(a):
        h = mp.mpf(10) ** -4
        weights = [mp.mpf(x) for x in ("0.85714285714285714285714285714285714286", "-0.26785714285714285714285714285714285714",
                                       "0.079365079365079365079365079365079365079", "-0.017857142857142857142857142857142857143",
                                       "0.0025974025974025974025974025974025974026",
                                       "-0.00018037518037518037518037518037518037518")]
        r = None
        for k, w in enumerate(weights, 1):
            up, down = point(a + k * h), point(a - k * h)
            term = [w * (x - y) / h for x, y in zip(up, down)]
            r = term if r is None else [x + y for x, y in zip(r, term)]
        return r
    return at


def time_of_turn(inertia, potential, speed, begin, end, pieces=8):
    """Time from angle to angle of a system of one degree of freedom with `speed` at angle 0: the integral of d angle/speed."""
    energy = inertia(mp.mpf(0)) * speed**2 / 2 + potential(mp.mpf(0))
    rate = lambda a: mp.sqrt(inertia(a) / (2 * (energy - potential(a))))
    return mp.quad(rate, [begin + (end - begin) * mp.mpf(k) / pieces for k in range(pieces + 1)])


def slider_crank():
    r, l, J, m, M, speed = map(mp.mpf, ("0.2", "0.5", "0.03", "0.6", "0.8", "8"))

    def inertia(a):
        s, c = mp.sin(a), mp.cos(a)
        sine, cosine = -r / l * s, mp.sqrt(1 - (r / l * s) ** 2)
        rod = -r / l * c / cosine
        slider = -r * s - l * sine * rod
        x, y = -r * s - l / 2 * sine * rod, r * c + l / 2 * cosine * rod
        return J + m * (x * x + y * y + l * l / 12 * rod * rod) + M * slider * slider

    potential = lambda a: m * g * r / 2 * mp.sin(a)
    up = time_of_turn(inertia, potential, speed, mp.mpf(0), mp.pi)
    down = time_of_turn(inertia, potential, speed, mp.pi, 2 * mp.pi)
    show("slider_crank", to_inner=up, period=up + down)


def four_bar(speed=mp.mpf(8)):
    a, b, c, d = map(mp.mpf, ("0.4", "1", "0.9", "1.1"))
    masses = [2 * x for x in (a, b, c)]

    def angles(p):
        x, y = d - a * mp.cos(p), -a * mp.sin(p)
        e2 = x * x + y * y
        at = mp.atan2(y, x)
        return [p, at + mp.acos((e2 + b * b - c * c) / (2 * mp.sqrt(e2) * b)),
                at - mp.acos((e2 + c * c - b * b) / (2 * mp.sqrt(e2) * c))]

    def middles(p):
        x = y = mp.mpf(0)
        r = []
        for length, angle in zip((a, b, c), angles(p)):
            dx, dy = length * mp.cos(angle), length * mp.sin(angle)
            r += [x + dx / 2, y + dy / 2, angle]
            x, y = x + dx, y + dy
        assert abs(x - d) + abs(y) < mp.mpf(10) ** -30
        return r

    slope = derivative_along(middles)

    def inertia(p):
        s = slope(p)
        return sum(m * (s[3 * i]**2 + s[3 * i + 1]**2 + length**2 / 12 * s[3 * i + 2]**2)
                   for i, (m, length) in enumerate(zip(masses, (a, b, c))))

    potential = lambda p: sum(m * g * middles(p)[3 * i + 1] for i, m in enumerate(masses))
    least = min(inertia(mp.mpf(0)) * speed**2 / 2 + potential(mp.mpf(0)) - potential(2 * mp.pi * k / 100) for k in range(100))
    show("four_bar", least_kinetic_energy=least, period=time_of_turn(inertia, potential, speed, mp.mpf(0), 2 * mp.pi))


def solved(matrix, right):
    """Gaussian elimination without row exchanges, since the matrix is positive definite."""
    a, b, n = [row[:] for row in matrix], right[:], len(right)
    for k in range(n):
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            a[i] = [x - f * y for x, y in zip(a[i], a[k])]
            b[i] -= f * b[k]
    for k in reversed(range(n)):
        b[k] = (b[k] - sum(a[k][j] * b[j] for j in range(k + 1, n))) / a[k][k]
    return b


def chain(n, t_end):
    """Absolute angles a of n links: sum_j l^2 m c_ij (cos(a_i - a_j) a_j'' + sin(a_i - a_j) a_j'^2) + J a_i'' = -g l m d_i cos a_i."""
    m, l = mp.mpf("0.5"), mp.mpf("0.2")
    own, beyond = mp.mpf(1) / 2, mp.mpf(1)
    # Share of link j in the position of the middle of link k.
    part = lambda k, j: own if j == k else (beyond if j < k else mp.mpf(0))
    c = [[sum(part(k, i) * part(k, j) for k in range(n)) for j in range(n)] for i in range(n)]
    d = [sum(part(k, i) for k in range(n)) for i in range(n)]

    def f(t, y):
        a, w = y[:n], y[n:]
        matrix = [[m * l * l * (c[i][j] * mp.cos(a[i] - a[j]) + (mp.mpf(1) / 12 if i == j else 0)) for j in range(n)]
                  for i in range(n)]
        right = [-g * l * m * d[i] * mp.cos(a[i]) - m * l * l * sum(c[i][j] * mp.sin(a[i] - a[j]) * w[j]**2 for j in range(n))
                 for i in range(n)]
        return w + solved(matrix, right)

    begin = [mp.mpf(i) / (n - 1) for i in range(n)] + [mp.mpf(0)] * n
    mp.mp.dps = 25
    y, _ = solve(f, mp.mpf(0), begin, mp.mpf(t_end), mp.mpf(10) ** -17)
    for i in range(n):
        show(f"chain of {n} t={t_end}", **{f"angle_{i}": y[i], f"omega_{i}": y[n + i]})
    mp.mp.dps = 36


def free_body():
    """A, B, C = 1, 2, 3 from omega = (1, 0, 1): (cn t, sn t, dn t) of parameter 1/3 (Landau, Lifshitz, Mechanics, section 37)."""
    t = mp.mpf(20)
    third = mp.mpf(1) / 3
    show("free_body", wx=mp.ellipfun("cn", t, m=third), wy=mp.ellipfun("sn", t, m=third), wz=mp.ellipfun("dn", t, m=third))
    def f(t, y):
        w = [mp.ellipfun(k, t, m=third) for k in ("cn", "sn", "dn")]
        p = y
        return [-(p[1] * w[0] + p[2] * w[1] + p[3] * w[2]) / 2, (p[0] * w[0] + p[2] * w[2] - p[3] * w[1]) / 2,
                (p[0] * w[1] + p[3] * w[0] - p[1] * w[2]) / 2, (p[0] * w[2] + p[1] * w[1] - p[2] * w[0]) / 2]
    mp.mp.dps = 25
    y, _ = solve(f, mp.mpf(0), [one, 0 * one, 0 * one, 0 * one], t, mp.mpf(10) ** -17)
    show("free_body", **{f"p{i}": y[i] for i in range(4)})
    mp.mp.dps = 36


def heavy_top():
    """u = cos of the lean: u'^2 = (1 - u^2)(alpha - beta u) - (b - a u)^2, by Jacobi's sn (Goldstein, section 5.7)."""
    m, h, across, along, spin, w3 = map(mp.mpf, ("15", "1", "0.234375", "0.46875", "150", "-4.61538"))
    I1 = across + m * h * h
    alpha, beta = w3**2, 2 * m * g * h / I1  # 2 (E - I3 w3^2/2)/I1 at u = 0
    a, b = along * spin / I1, w3  # momenta about the axis of symmetry and about the vertical, over I1
    # (1 - u^2)(alpha - beta u) - (b - a u)^2 = beta u^3 - (alpha + a^2) u^2 + (2 a b - beta) u + alpha - b^2
    roots = sorted(mp.polyroots([beta, -(alpha + a * a), 2 * a * b - beta, alpha - b * b], maxsteps=500, extraprec=400),
                   key=lambda z: mp.re(z))
    u1, u2, u3 = (mp.re(z) for z in roots)
    k2, rate = (u2 - u1) / (u3 - u1), mp.sqrt(beta * (u3 - u1)) / 2
    # u = u1 + (u2 - u1) sn^2(rate t + start), starting at the one of u1 and u2 that is 0
    start = mp.mpf(0) if abs(u1) < mp.mpf(10) ** -25 else mp.ellipk(k2)
    show("heavy_top", u1=u1, u2=u2, u3=u3, z=u1 + (u2 - u1) * mp.ellipfun("sn", 2 * rate + start, m=k2) ** 2,
         period=2 * mp.ellipk(k2) / rate)


def rolling_disc(t_end=2):
    """Routh's equations in the lean, three angular velocities and the heading; a thin disc whose lean has the initial rate 0.5."""
    m, R, lean, turning, wobble = map(mp.mpf, ("2", "0.3", "1.2", "1", "0.5"))
    A = m * R * R / 4
    C = 2 * A

    def f(t, y):
        th, psi, w1, w2, w3, x, z = y
        s, c = mp.sin(th), mp.cos(th)
        nu = w2 * c / s
        return [w1, w2 / s, (A * nu * w2 - (C + m * R * R) * w2 * w3 - m * g * R * c) / (A + m * R * R),
                (C * w1 * w3 - A * nu * w1) / A, m * R * R * w1 * w2 / (C + m * R * R),
                R * (w1 * s * mp.sin(psi) - w3 * mp.cos(psi)), R * (-w1 * s * mp.cos(psi) - w3 * mp.sin(psi))]

    s, c = mp.sin(lean), mp.cos(lean)
    w3 = c * (A * turning**2 * s - m * g * R) / ((C + m * R * R) * turning * s)
    begin = [lean, mp.mpf(0), wobble, turning * s, w3, mp.mpf(0), mp.mpf(0)]
    mp.mp.dps = 25
    y, _ = solve(f, mp.mpf(0), begin, mp.mpf(t_end), mp.mpf(10) ** -17)
    show(f"rolling_disc t={t_end}", upright=mp.cos(y[0]), wx=y[2], x=y[5], y=y[6], w3=y[4], lean=y[0], heading=y[1])
    mp.mp.dps = 36


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["slider_crank", "four_bar", "chain", "free_body", "heavy_top", "rolling_disc"]
    for name in wanted:
        {"slider_crank": slider_crank, "four_bar": four_bar, "chain": lambda: (chain(3, 2), chain(10, 1)),
         "free_body": free_body, "heavy_top": heavy_top, "rolling_disc": rolling_disc}[name]()
