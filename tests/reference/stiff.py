#!/usr/bin/env python3
"""Prints the numbers of tests/reference_stiff.hpp. Needs python3-mpmath and python3-numpy; ten minutes, most of them for
the ring modulator. With names as arguments, only those problems run. `--scipy` compares with scipy's own Radau method.

Closed forms (the orbit, the ball, the ring of switching diodes) are evaluated with 40 digits. All others are integrated in
80-bit arithmetic by Radau IIA with 9 and 11 stages, orders 17 and 21, at two tolerances; the digits on which the two runs
agree are printed. Newton's method solves for the stages, with derivatives from complex steps; events are roots that the
integration reaches. For published numbers, the largest difference from them is printed.
Nothing here is shared with saltus."""
import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"
import mpmath as mp
import numpy as np

mp.mp.dps = 40
LONG = np.longdouble
EPS = np.finfo(LONG).eps
assert EPS < 1.1e-19, "80-bit numbers are needed"


def num(x):
    """A decimal number in 80 bits."""
    return x if isinstance(x, LONG) else LONG(mp.nstr(mp.mpf(x), 25))


PI = num(mp.pi)

# ---- the method -----------------------------------------------------------------------------------------------------


class Radau:
    """Collocation at 0 (the start), c_1 ... c_s = 1: differentiation between these points, and Legendre coefficients."""

    def __init__(self, s):
        with mp.workdps(60):
            slope = mp.taylor(lambda x: mp.legendre(s, x) - mp.legendre(s - 1, x), 0, s)
            roots = sorted(mp.re(r) for r in mp.polyroots(slope[::-1], maxsteps=500, extraprec=400))
            x = [mp.mpf(0)] + [(1 + r) / 2 for r in roots[:-1]] + [mp.mpf(1)]
            all_ = range(s + 1)
            w = [1 / mp.fprod(x[i] - x[j] for j in all_ if j != i) for i in all_]
            d = mp.matrix(s + 1, s + 1)
            for i in all_:
                for j in all_:
                    d[i, j] = w[j] / w[i] / (x[i] - x[j]) if i != j else 0
                d[i, i] = -mp.fsum(d[i, j] for j in all_)
            values = mp.matrix([[mp.legendre(j, 2 * x[i] - 1) for j in all_] for i in all_])
            inverse = values**-1
            take = lambda m, rows, columns: np.array([[num(m[i, j]) for j in columns] for i in rows], LONG)
            self.s, self.x, self.weights = s, np.array([num(v) for v in x], LONG), np.array([num(v) for v in w], LONG)
            self.d = take(d, range(1, s + 1), range(1, s + 1))  # of a polynomial that is zero at the start
            self.last = take(inverse, (s - 1, s), all_)  # to the last two Legendre coefficients


class Refused(Exception):
    pass


class Problem:
    """0 = F(t, y, y'), elementwise over columns; `floor`: the size below which a component does not matter."""

    def __init__(self, F, floor):
        self.F, self.floor = F, np.array(floor, LONG)

    def jacobians(self, t, y, d):
        """dF/dy and dF/dy' at every column, by complex steps."""
        n, m = y.shape
        tiny, out, i = LONG(1e-60), [], np.arange(n)
        for which in (0, 1):
            z = np.repeat((y, d)[which][:, None, :], n, 1).astype(np.clongdouble)  # (state, which one moves, column)
            z[i, i] += 1j * tiny
            z, other, times = z.reshape(n, n * m), np.tile((d, y)[which], (1, n)), np.tile(t, n)
            value = self.F(times, z, other) if which == 0 else self.F(times, other, z)
            out.append((value.imag / tiny).reshape(n, n, m).transpose(2, 0, 1).astype(float))
        return out

    def step(self, radau, t, y, h, guess):
        """The stages of a step from (t, y), one column each."""
        n, s = len(y), radau.s
        times, Y, last, stale = t + h * radau.x[1:], guess.copy(), np.inf, True
        rates = (radau.d / h).astype(float)
        for trial in range(60):
            d = (Y - y[:, None]) @ radau.d.T / h
            size = np.maximum(np.maximum(np.abs(Y).max(1), np.abs(y)), self.floor)
            F = self.F(times, Y, d)
            if not np.isfinite(F).all():
                raise Refused
            if stale:
                Fy, Fd = self.jacobians(times, Y, d)
                J = np.zeros((s, n, s, n))
                for i in range(s):
                    J[i, :, i, :] += Fy[i]
                    J[i] += Fd[i][:, None, :] * rates[i][None, :, None]
                J = J.reshape(s * n, s * n) * np.tile(size.astype(float), s)
                rows = np.abs(J).max(1)
                if not (np.isfinite(rows).all() and (rows > 0).all()):
                    raise Refused
                try:
                    inverse = np.linalg.inv(J / rows[:, None])
                except np.linalg.LinAlgError:
                    raise Refused
                size_then = size
            change = (inverse @ (F.T.reshape(-1) / rows).astype(float)).reshape(s, n).T * size_then[:, None]
            Y = Y - change
            now = float((np.abs(change) / size[:, None]).max())
            if not np.isfinite(now) or now > 1e3 or (trial > 30 and now > last):
                raise Refused
            if now < 4 * EPS or (now < 1e-14 and now > 0.3 * last):
                return Y
            stale, last = now > 0.02 * last or (trial == 0 and now > 1e-2), now
        raise Refused

    def between(self, radau, y, Y, x):
        """The collocation polynomial at x, where (0, 1] is the step."""
        every, out = np.concatenate([y[:, None], Y], 1), []
        for u in x:
            gap = u - radau.x
            w = (gap == 0).astype(LONG) if (gap == 0).any() else radau.weights / gap
            out.append(every @ w / w.sum())
        return np.stack(out, 1)

    def tail(self, radau, y, Y):
        every = np.concatenate([y[:, None], Y], 1)
        c = np.abs(radau.last @ every.T).sum(0)
        return float((c / np.maximum(np.abs(every).max(1), self.floor)).max())


class Event:
    """g(t, y) passes zero: rising (1), falling (-1) or either (0). `action` returns the state after it."""

    def __init__(self, name, g, direction, action=None):
        self.name, self.g, self.direction, self.action = name, g, direction, action


def solve(problem, radau, t_end, y, tolerance, events=lambda: (), h=1e-6):
    """Integrates from t = 0. `events()` are those of the current mode. Returns the state, and (time, name, state before) of events."""
    t, t_end, y, h, log, old, fresh = LONG(0), num(t_end), np.array(y, LONG), LONG(h), [], None, None
    x = np.arange(25).astype(LONG) / 24
    while t < t_end:
        if t + h >= t_end * (1 - 1e-14):
            h = t_end - t
        Y, guesses = None, [np.repeat(y[:, None], radau.s, 1)]
        if old and h < 4 * old[2]:
            guesses.insert(0, problem.between(radau, old[0], old[1], 1 + h / old[2] * radau.x[1:]))
        for guess in guesses:
            try:
                Y = problem.step(radau, t, y, h, guess)
                break
            except Refused:
                pass
        if Y is None:
            h, old = h / 4, None
            if h < 10 * EPS * t:
                raise ArithmeticError(f"no step at t = {t}")
            continue
        error = problem.tail(radau, y, Y)
        grow = LONG(0.8 * (tolerance / max(error, tolerance * 1e-9)) ** (1 / radau.s))
        if not error <= tolerance:
            h *= max(grow, LONG(0.1))
            continue
        first, active = None, events()
        dense = problem.between(radau, y, Y, x) if active else None
        for e in active:
            g = e.g(t + h * x, dense)
            for j in range(1 if e.name == fresh else 0, 24):
                up, down = g[j] < 0 <= g[j + 1], g[j] > 0 >= g[j + 1]
                if (up and e.direction >= 0) or (down and e.direction <= 0):
                    lo, hi, sign = x[j], x[j + 1], 1 if up else -1
                    for _ in range(64):
                        mid = (lo + hi) / 2
                        value = e.g(t + h * mid, problem.between(radau, y, Y, [mid])[:, 0])
                        lo, hi = (mid, hi) if sign * value < 0 else (lo, mid)
                    first = min(first, (hi, e), key=lambda f: f[0]) if first else (hi, e)
                    break
        if not first:
            fresh, old = None, (y, Y, h)
            t, y = (t_end if h == t_end - t else t + h), Y[:, -1].copy()
            h *= min(grow, LONG(2.5))
            continue
        u, e = first
        d, part = h * u, u / 10**4
        ends = problem.between(radau, y, Y, [u - part, u])
        slope = (e.g(t + d, ends[:, 1]) - e.g(t + d - h * part, ends[:, 0])) / (h * part)
        for _ in range(8):  # Newton by integrating anew
            state = problem.step(radau, t, y, d, problem.between(radau, y, Y, d / h * radau.x[1:]))[:, -1].copy()
            change = e.g(t + d, state) / slope
            if abs(change) < 4 * EPS * (t + d):
                break
            d -= change
        t, y, fresh = t + d, state, e.name
        log.append((t, e.name, state))
        if e.action:
            y, old, h = np.array(e.action(state.copy()), LONG), None, min(h, d) / 8
    return y, log


RADAU = {}
RUNS = ((11, 1e-15), (9, 1e-13))


def show(case, name, a, b):
    """A number from two runs with the digits that they share."""
    digits = 19 if a == b else int(-np.log10(abs(a - b) / max(abs(a), LONG(1e-300))))
    text = np.format_float_scientific(a, max(min(digits, 19), 1) - 1, unique=False)
    print(f"{case:<44} {name:<16} {text:<26} ({min(digits, 19)} digits)", flush=True)


def twice(case, names, F, floor, start, t_end, events=lambda: (), published=(), runs=RUNS, h=1e-6, reset=None, shown=99):
    results = []
    for stages, tolerance in runs:
        if stages not in RADAU:
            RADAU[stages] = Radau(stages)
        if reset:
            reset()
        results.append(solve(Problem(F, floor), RADAU[stages], t_end, start, tolerance, events, h))
    (y, log), (y2, log2) = results
    assert [e[1] for e in log] == [e[1] for e in log2]
    for j, name in enumerate(names):
        show(f"{case} t={t_end}", name, y[j], y2[j])
    if log:
        print(f"{case:<44} {'events':<16} {len(log)}")
    for n, (a, b) in enumerate(zip(log, log2), 1):
        if n <= shown or n > len(log) - 2:
            show(case, f"t{n} {a[1]}", a[0], b[0])
            for j, name in enumerate(names):
                if abs(a[2][j]) > 1e-17:
                    show(case, f"  {name}", a[2][j], b[2][j])
    if published:
        apart = max(abs((num(p) - a) / a) for p, a in zip(published, y))
        print(f"{case:<44} {'published':<16} {float(apart):.1e} apart at most", flush=True)
    return y


def ode(f):
    return lambda t, y, d: d - np.stack(f(t, y))


def confirm(case, f, start, t_end, y, atol):
    """The same by scipy in double precision."""
    from scipy.integrate import solve_ivp
    r = solve_ivp(lambda t, y: np.array(f(t, y), float), (0, float(t_end)), [float(v) for v in start], method="Radau",
                  rtol=1e-12, atol=atol)
    print(f"{case:<44} {'scipy':<16} {float(np.max(np.abs(r.y[:, -1] / y - 1))):.1e} apart at most", flush=True)


SCIPY = "--scipy" in sys.argv

# ---- reactions ------------------------------------------------------------------------------------------------------


def robertson():
    k1 = num("0.04")
    f = lambda t, y: [10**4 * y[1] * y[2] - k1 * y[0], k1 * y[0] - 10**4 * y[1] * y[2] - 3 * 10**7 * y[1] ** 2,
                      3 * 10**7 * y[1] ** 2]
    events = (Event("formed", lambda t, y: y[2] - num("0.01"), 1), Event("used_up", lambda t, y: y[0] - num("1e-4"), -1))
    for t_end, published in (("40", ()), ("1e11", ("2.083340149701255e-8", "8.333360770334713e-14", "0.9999999791665050"))):
        y = twice("robertson", ("y1", "y2", "y3"), ode(f), [1e-30] * 3, [1, 0, 0], t_end, lambda: events, published)
        if SCIPY:
            confirm(f"robertson t={t_end}", f, [1, 0, 0], t_end, y, [1e-20, 1e-24, 1e-20])


def oregonator():
    s, q, w = num("77.27"), num("8.375e-6"), num("0.161")
    f = lambda t, y: [s * (y[1] + y[0] * (1 - q * y[0] - y[1])), (y[2] - (1 + y[0]) * y[1]) / s, w * (y[0] - y[2])]
    y = twice("oregonator", ("y1", "y2", "y3"), ode(f), [1e-10] * 3, [1, 2, 3], "360",
              published=("1.000814870318523", "1228.178521549917", "132.0554942846706"))
    if SCIPY:
        confirm("oregonator", f, [1, 2, 3], 360, y, 1e-13)


def hires():
    def f(t, y):
        bound = 280 * y[5] * y[7]
        freed = num("1.81") * y[6]
        return [num("0.0007") - num("1.71") * y[0] + num("0.43") * y[1] + num("8.32") * y[2],
                num("1.71") * y[0] - num("8.75") * y[1],
                num("-10.03") * y[2] + num("0.43") * y[3] + num("0.035") * y[4],
                num("8.32") * y[1] + num("1.71") * y[2] - num("1.12") * y[3],
                num("-1.745") * y[4] + num("0.43") * (y[5] + y[6]),
                num("0.69") * (y[3] + y[6]) + num("1.71") * y[4] - num("0.43") * y[5] - bound, bound - freed, freed - bound]

    start, t_end = [1, 0, 0, 0, 0, 0, 0, num("0.0057")], "321.8122"
    y = twice("hires", ("Pr", "Pfr", "PrX", "PfrX", "PrX1", "PfrX1", "PfrX1E", "enzyme"), ode(f), [1e-12] * 8, start, t_end,
              published=("0.7371312573325668e-3", "0.1442485726316185e-3", "0.5888729740967575e-4", "0.1175651343283149e-2",
                         "0.2386356198831331e-2", "0.6238968252742796e-2", "0.2849998395185769e-2",
                         "0.2850001604814231e-2"))
    if SCIPY:
        confirm("hires", f, start, t_end, y, 1e-16)


def pollu():
    k = [num(v) for v in """0.35 26.6 1.23e4 8.6e-4 8.2e-4 1.5e4 1.3e-4 2.4e4 1.65e4 9e3 0.022 1.2e4 1.88 1.63e4 4.8e6
                            3.5e-4 0.0175 1e8 4.44e11 1240 2.1 5.78 0.0474 1780 3.12""".split()]
    # Reactants (with the number of the species), and the change of each species by the reaction.
    reactions = [((1,), {1: -1, 2: 1, 3: 1}), ((2, 4), {2: -1, 4: -1, 1: 1}), ((5, 2), {5: -1, 2: -1, 6: 1, 1: 1}),
                 ((7,), {7: -1, 5: 2, 8: 1}), ((7,), {7: -1, 8: 1}), ((7, 6), {7: -1, 6: -1, 5: 1, 8: 1}),
                 ((9,), {9: -1, 5: 1, 8: 1, 10: 1}), ((9, 6), {9: -1, 6: -1, 11: 1}),
                 ((11, 2), {11: -1, 2: -1, 1: 1, 10: 1, 12: 1}), ((11, 1), {11: -1, 1: -1, 13: 1}),
                 ((13,), {13: -1, 11: 1, 1: 1}), ((10, 2), {10: -1, 2: -1, 14: 1, 1: 1}), ((14,), {14: -1, 5: 1, 7: 1}),
                 ((1, 6), {1: -1, 6: -1, 15: 1}), ((3,), {3: -1, 4: 1}), ((4,), {4: -1, 16: 1}), ((4,), {4: -1, 3: 1}),
                 ((16,), {16: -1, 6: 2}), ((16,), {16: -1, 3: 1}), ((17, 6), {17: -1, 6: -1, 18: 1, 5: 1}),
                 ((19,), {19: -1, 2: 1}), ((19,), {19: -1, 1: 1, 3: 1}), ((1, 4), {1: -1, 4: -1, 19: 1}),
                 ((19, 1), {19: -1, 1: -1, 20: 1}), ((20,), {20: -1, 1: 1, 19: 1})]

    def f(t, y):
        rates = [0 * y[0] for _ in range(20)]
        for constant, (reactants, change) in zip(k, reactions):
            speed = constant
            for i in reactants:
                speed = speed * y[i - 1]
            for i, by in change.items():
                rates[i - 1] = rates[i - 1] + by * speed
        return rates

    start = [0] * 20
    for i, v in ((2, "0.2"), (4, "0.04"), (7, "0.1"), (8, "0.3"), (9, "0.01"), (17, "0.007")):
        start[i - 1] = num(v)
    names = "NO2 NO O3P O3 HO2 OH HCHO CO ALD MEO2 C2O3 CO2 PAN CH3O HNO3 O1D SO2 SO4 NO3 N2O5".split()
    published = """0.5646255480022769e-1 0.1342484130422339 0.4139734331099427e-8 0.5523140207484359e-2
                   0.2018977262302196e-6 0.1464541863493966e-6 0.7784249118997964e-1 0.3245075353396018
                   0.7494013383880406e-2 0.1622293157301561e-7 0.1135863833257075e-7 0.2230505975721359e-2
                   0.2087162882798630e-3 0.1396921016840158e-4 0.8964884856898295e-2 0.4352846369330103e-17
                   0.6899219696263405e-2 0.1007803037365946e-3 0.1772146513969984e-5 0.5682943292316392e-4""".split()
    y = twice("pollu", names, ode(f), [1e-25] * 20, start, "60", published=published, h=1e-10)
    if SCIPY:
        confirm("pollu", f, start, 60, y, 1e-22)


def chemical_akzo():
    k1, k2, k3, k4, K, klA, Ks, p, H = (num(v) for v in "18.7 0.58 0.09 0.42 34.4 3.3 115.83 0.9 737".split())

    def F(t, y, d):
        r1, r2, r3 = k1 * y[0] ** 4 * np.sqrt(y[1]), k2 * y[2] * y[3], k2 / K * y[0] * y[4]
        r4, r5 = k3 * y[0] * y[3] ** 2, k4 * y[5] ** 2 * np.sqrt(y[1])
        f = [-2 * r1 + r2 - r3 - r4, -r1 / 2 - r4 - r5 / 2 + klA * (p / H - y[1]), r1 - r2 + r3, -r2 + r3 - 2 * r4,
             r2 - r3 + r5]
        return np.concatenate([d[:5] - np.stack(f), (Ks * y[0] * y[3] - y[5])[None]])

    a, z = num("0.444"), num("0.007")
    twice("chemical_akzo", ("FLB", "CO2", "FLBT", "ZHU", "ZLA", "FLB_ZHU"), F, [1e-12] * 6,
          [a, num("0.00123"), 0, z, 0, Ks * a * z], "180",
          published=("0.1150794920661702", "0.1203831471567715e-2", "0.1611562887407974", "0.3656156421249283e-3",
                     "0.1708010885264404e-1", "0.4873531310307455e-2"))


# ---- oscillators ----------------------------------------------------------------------------------------------------


def van_der_pol():
    events = (Event("jump", lambda t, y: y[0], 0),)
    for mu, unit, v0, t_end in (("5", "1", "0", "50"), ("500", "1", "0", "1000"), ("1000", "1", "0", "2000"),
                                ("1000", "1000", "0", "2"), ("1000", "1000", "-0.66", "2"), ("1e6", "1e6", "0", "2")):
        m, u = num(mu), num(unit)
        f = lambda t, y: [y[1], u * (m * (1 - y[0] * y[0]) * y[1] - u * y[0])]
        published = ("1.706167732170483", "-0.8928097010247975") if (unit, v0) == ("1000", "0") else ()
        case = f"van_der_pol mu={mu} unit={unit} v0={v0}"
        y = twice(case, ("x", "v"), ode(f), [1e-10] * 2, [2, num(v0)], t_end, lambda: events, published, shown=3)
        if SCIPY and mu != "1e6":
            confirm(case, f, [2, num(v0)], t_end, y, 1e-13)


def campbell_orbits():
    """x1^2 + b x2^2 = L with x1' = -b x2, x2' = x1: the multiplier is zero."""
    for b, L in ((10, 1), (100, 1), (10, 4)):
        a = mp.sqrt(b) * 30
        for name, value in (("x1", mp.sqrt(L) * mp.cos(a)), ("x2", mp.sqrt(mp.mpf(L) / b) * mp.sin(a))):
            print(f"{f'campbell_orbits b={b} L={L} t=30':<44} {name:<16} {mp.nstr(value, 19)}")


# ---- a ball ---------------------------------------------------------------------------------------------------------


def stiff_ball(t_end=mp.mpf(4), g=mp.mpf("9.81")):
    """m = 1. In contact y = -g/k + a exp(r1 s) + b exp(r2 s), where r1 and r2 are the roots of r^2 + c r + k, real or a conjugate
    pair, with y = 0 and y' = v at s = 0. In flight a parabola."""
    for k, c in ((mp.mpf(10) ** 8, mp.mpf(2000)), (mp.mpf(10) ** 4, mp.mpf(20)), (mp.mpf(10) ** 8, mp.mpf(10) ** 5)):
        case, rest = f"stiff_ball k={mp.nstr(k, 3)} c={mp.nstr(c, 3)}", -g / k
        root = mp.sqrt(mp.mpc(c * c / 4 - k))
        r1, r2 = -c / 2 + root, -c / 2 - root

        def contact(v, s):
            a = (v + rest * r2) / (r1 - r2)  # a + b = -rest, a r1 + b r2 = v
            b = -rest - a
            e1, e2 = a * mp.exp(r1 * s), b * mp.exp(r2 * s)
            return rest + mp.re(e1 + e2), mp.re(r1 * e1 + r2 * e2)

        t, v, height, events = mp.mpf(0), mp.mpf(0), mp.mpf(1), []
        while True:
            fall = (v + mp.sqrt(v * v + 2 * g * height)) / g
            if t + fall > t_end:
                y, v = height + v * (t_end - t) - g * (t_end - t) ** 2 / 2, v - g * (t_end - t)
                break
            t, v, height = t + fall, v - g * fall, mp.mpf(0)
            events.append((t, v))
            lifts = None
            if mp.im(root) > 0:  # later maxima are lower than the first
                turn = 2 * mp.pi / mp.im(root)
                s = [turn * j / 200 for j in range(1, 201)]
                up = [j for j in range(199) if contact(v, s[j])[0] < 0 <= contact(v, s[j + 1])[0]]
                if up:
                    lifts = mp.findroot(lambda u: contact(v, u)[0], (s[up[0]], s[up[0] + 1]), solver="anderson",
                                        tol=mp.mpf(10) ** -60)
                else:
                    peak = max(contact(v, u)[0] for u in s[100:])
            if lifts is None or t + lifts > t_end:
                y, v = contact(v, t_end - t)
                break
            v = contact(v, lifts)[1]
            t += lifts
            events.append((t, v))
        print(f"{case:<44} {'events':<16} {len(events)}")
        if len(events) % 2 and mp.im(root) > 0:
            print(f"{case:<44} {'highest after':<16} {mp.nstr(peak, 4)} (the last lift-off at {mp.nstr(events[-2][1], 4)} m/s)")
        for n in sorted({1, 2, 3, len(events) - 2, len(events) - 1, len(events)}):
            if 1 <= n <= len(events):
                print(f"{case:<44} {f't{n}, velocity':<16} {mp.nstr(events[n - 1][0], 19)}  {mp.nstr(events[n - 1][1], 19)}")
        print(f"{case + ' t=4':<44} {'height, velocity':<16} {mp.nstr(y, 19)}  {mp.nstr(v, 19)}")


# ---- circuits -------------------------------------------------------------------------------------------------------


def transistor_amplifier():
    alpha, beta, supply, thermal = num("0.99"), num("1e-6"), num(6), num("0.026")
    R0, R, C = num(1000), num(9000), num("1e-6")

    def F(t, y, d):
        g1, g2 = (beta * (np.exp((y[i] - y[i + 1]) / thermal) - 1) for i in (1, 4))
        f = [(y[0] - num("0.1") * np.sin(200 * PI * t)) / R0, (2 * y[1] - supply) / R + (1 - alpha) * g1, y[2] / R - g1,
             (y[3] - supply) / R + alpha * g1, (2 * y[4] - supply) / R + (1 - alpha) * g2, y[5] / R - g2,
             (y[6] - supply) / R + alpha * g2, y[7] / R]
        m = [d[1] - d[0], d[0] - d[1], -2 * d[2], 3 * (d[4] - d[3]), 3 * (d[3] - d[4]), -4 * d[5], 5 * (d[7] - d[6]),
             5 * (d[6] - d[7])]
        return C * np.stack(m) - np.stack(f)

    twice("transistor_amplifier", [f"u{i}" for i in range(1, 9)], F, [1] * 8, [0, 3, 3, 6, 3, 3, 6, 0], "0.2",
          runs=((11, 1e-13), (9, 1e-12)),
          published=("-0.5562145012262709e-2", "3.006522471903042", "2.849958788608128", "2.926422536206241",
                     "2.704617865010554", "2.761837778393145", "4.770927631616772", "1.236995868091548"))


def rectifier_dae():
    """Currents and events are those of carver_3 from event_problems.py; the voltages at the end follow from its i1'."""
    e1, rate = 100 * mp.sin(mp.mpf("8.5") * mp.pi), mp.mpf("2103.239857050681682")
    v = e1 - mp.mpf("1e-3") * rate
    print(f"{'rectifier_dae t=0.085':<44} {'v, u2':<16} {mp.nstr(v, 17)}  {mp.nstr(-e1 - v, 17)}")


RING = dict(C="1.6e-8", Cp="1e-8", Lh="4.45", Ls1="2e-3", Ls2="5e-4", Ls3="5e-4", R="25e3", Rp="50", Ri="50", Rc="600",
            Rg1="36.3", Rg2="17.3", Rg3="17.3", Cs="2e-12")


def ring_rates(y, signal, carrier, diode, number):
    """y' of the ring modulator, where diode(k, u) is the current of diode k."""
    p = {name: number(value) for name, value in RING.items()}
    u = [y[2] - y[4] - y[6] - carrier, -y[3] + y[5] - y[6] - carrier, y[3] + y[4] + y[6] + carrier,
         -y[2] - y[5] + y[6] + carrier]
    q = [diode(k, u[k]) for k in range(4)]
    return [(y[7] - (y[9] - y[10]) / 2 + y[13] - y[0] / p["R"]) / p["C"],
            (y[8] - (y[11] - y[12]) / 2 + y[14] - y[1] / p["R"]) / p["C"], (y[9] - q[0] + q[3]) / p["Cs"],
            (-y[10] + q[1] - q[2]) / p["Cs"], (y[11] + q[0] - q[2]) / p["Cs"], (-y[12] - q[1] + q[3]) / p["Cs"],
            (-y[6] / p["Rp"] + q[0] + q[1] - q[2] - q[3]) / p["Cp"], -y[0] / p["Lh"], -y[1] / p["Lh"],
            (y[0] / 2 - y[2] - p["Rg2"] * y[9]) / p["Ls2"], (-y[0] / 2 + y[3] - p["Rg3"] * y[10]) / p["Ls3"],
            (y[1] / 2 - y[4] - p["Rg2"] * y[11]) / p["Ls2"], (-y[1] / 2 + y[5] - p["Rg3"] * y[12]) / p["Ls3"],
            (-y[0] + signal - (p["Ri"] + p["Rg1"]) * y[13]) / p["Ls1"],
            (-y[1] - (p["Rc"] + p["Rg1"]) * y[14]) / p["Ls1"]]


RING_NAMES = [f"u{i}" for i in range(1, 8)] + [f"i{i}" for i in range(1, 9)]


def ring_modulator():
    gamma, delta = num("40.67286402e-9"), num("17.7493332")
    f = lambda t, y: ring_rates(y, np.sin(2000 * PI * t) / 2, 2 * np.sin(20000 * PI * t),
                                lambda k, u: gamma * (np.exp(delta * u) - 1), num)
    events = (Event("above_band", lambda t, y: y[1] - num("0.1"), 0), Event("below_band", lambda t, y: y[1] + num("0.1"), 0))
    y = twice("ring_modulator", RING_NAMES, ode(f), [0.1] * 7 + [1e-4] * 8, [0] * 15, "1e-3", lambda: events, h=1e-9, shown=4,
              runs=((11, 1e-10), (9, 1e-8)),
              published=("-0.2339057358486745e-1", "-0.7367485485540825e-2", "0.2582956709291169", "-0.4064465721283450",
                         "-0.4039455665149794", "0.2607966765422943", "0.1106761861269975", "0.2939904342435596e-6",
                         "-0.2840029933642329e-7", "0.7267198267264553e-3", "0.7929487196960840e-3",
                         "-0.7255283495698965e-3", "-0.7941401968526521e-3", "0.7088495416976114e-4",
                         "0.2390059075236570e-4"))


def ring_modulator_switched(open_="1e-2", closed="1e-5", t_end=mp.mpf("1e-3")):
    """Linear in each mode, y' = A y + b1 sin(w1 t) + b2 sin(w2 t): phasors and exponentials of eigenvalues, in 40 digits."""
    w, n, cache = (2000 * mp.pi, 20000 * mp.pi), 15, {}

    def mode(on):
        if on not in cache:
            diode = lambda k, u: mp.mpf(open_ if on[k] else closed) * u
            rates = lambda y, signal, carrier: ring_rates(y, signal, carrier, diode, mp.mpf)
            unit = lambda j: [mp.mpf(int(i == j)) for i in range(n)]
            A = mp.matrix([rates(unit(j), mp.mpf(0), mp.mpf(0)) for j in range(n)]).T
            b = [mp.matrix(rates(unit(-1), mp.mpf("0.5"), mp.mpf(0))), mp.matrix(rates(unit(-1), mp.mpf(0), mp.mpf(2)))]
            phasor = [mp.lu_solve(mp.mpc(0, w[i]) * mp.eye(n) - A, b[i]) for i in (0, 1)]
            values, vectors = mp.eig(A)
            # Rows for the states and the four voltages.
            rows = mp.zeros(n + 4, n)
            for i in range(n):
                rows[i, i] = 1
            for i, row in enumerate(({2: 1, 4: -1, 6: -1}, {3: -1, 5: 1, 6: -1}, {3: 1, 4: 1, 6: 1}, {2: -1, 5: -1, 6: 1})):
                for j, sign in row.items():
                    rows[n + i, j] = sign
            cache[on] = values, vectors, vectors**-1, phasor, rows * vectors, [rows * p for p in phasor]
        return cache[on]

    signs = (-1, -1, 1, 1)

    def forced(on, t):
        return sum((mode(on)[3][i] * mp.expj(w[i] * t) for i in (0, 1)), mp.zeros(n, 1)).apply(mp.im)

    def at(on, t0, c, t):
        """States, and voltages of the diodes, at t; c are the amplitudes at t0."""
        values, _, _, _, moved, forcing = mode(on)
        y = moved * mp.matrix([c[j] * mp.exp(values[j] * (t - t0)) for j in range(n)])
        y = y.apply(mp.re) + sum((forcing[i] * mp.expj(w[i] * t) for i in (0, 1)), mp.zeros(n + 4, 1)).apply(mp.im)
        for k in range(4):
            y[n + k] += 2 * signs[k] * mp.sin(w[1] * t)
        return y

    def scan(on, t0, c, times):
        """The four voltages in double precision."""
        values, _, _, _, moved, forcing = mode(on)
        to = lambda m: np.array(m.tolist(), complex)
        waves = np.exp(np.outer(np.array([complex(v) for v in values]), times - float(t0))) * to(mp.matrix(c))
        u = (to(moved)[n:] @ waves).real
        for i in (0, 1):
            u += (to(forcing[i])[n:] * np.exp(1j * float(w[i]) * times)).imag
        return u + 2 * np.outer(signs, np.sin(float(w[1]) * times))

    t, on, y, events, closest = mp.mpf(0), (False, False, True, True), mp.zeros(n, 1), [], 1.0
    while True:
        c = mode(on)[2] * (y - forced(on, t))
        found, t0, start = None, t, t
        while not found and start < t_end:
            times = np.linspace(float(start), min(float(start) + 2e-6, float(t_end)), 2001)
            u = scan(on, t0, c, times)
            if start == t0:
                times, u = times[1:], u[:, 1:]
                if not events:
                    times, u = times[20:], u[:, 20:]  # all are zero at t = 0
            for k in range(4):
                side = 1 if on[k] else -1
                beyond = np.flatnonzero(side * u[k] < 0)
                if len(beyond) and (not found or beyond[0] < found[0]):
                    found = (beyond[0], k)
            if found:
                break
            closest = min(closest, *(np.abs(u[k][1:-1])[(np.diff(np.abs(u[k]))[:-1] < 0) & (np.diff(np.abs(u[k]))[1:] > 0)].min(
                initial=1.0) for k in range(4)))
            start = mp.mpf(float(times[-1]))
        if not found:
            break
        j, k = found
        lo, hi = (mp.mpf(times[j - 1]) if j else t0 + mp.mpf(10) ** -16), mp.mpf(times[j])
        t = mp.findroot(lambda s: at(on, t0, c, s)[n + k], (lo, hi), solver="anderson", tol=mp.mpf(10) ** -50)
        y = at(on, t0, c, t)[:n]
        y = mp.matrix(y)
        events.append((t, k, y))
        on = tuple(v != (i == k) for i, v in enumerate(on))
    y = at(on, t0, c, t_end)
    case = "ring_modulator_switched"
    print(f"{case:<44} {'events':<16} {len(events)}")
    gaps = [events[i + 1][0] - events[i][0] for i in range(len(events) - 1)]
    print(f"{case:<44} {'margins':<16} events {mp.nstr(min(gaps), 3)} s apart, voltages turn back at {closest:.2g} V")
    for i in (0, 1, 2, 3, len(events) - 2, len(events) - 1):
        s, k, before = events[i]
        print(f"{case:<44} {f't{i + 1} diode_{k}':<16} {mp.nstr(s, 19)}  u2 {mp.nstr(before[1], 19)}  i3 {mp.nstr(before[9], 19)}")
    for j, name in enumerate(RING_NAMES):
        print(f"{case + ' t=1e-3':<44} {name:<16} {mp.nstr(y[j], 19)}")


def varactor():
    amplitude, frequency, R, L = num(2), num("1e6"), num(100), num("1e-4")
    saturation, thermal, C0, phi, part, tau = (num(v) for v in "1e-14 0.026 1e-10 0.8 0.5 1e-8".split())
    above = [False]

    def F(t, y, d):
        i, v = y
        if above[0]:
            junction = C0 / np.sqrt(1 - part) * (1 + (v / phi - part) / (2 * (1 - part)))
        else:
            junction = C0 / np.sqrt(1 - v / phi)
        stored = tau * saturation / thermal * np.exp(v / thermal)
        return np.stack([L * d[0] + R * i + v - amplitude * np.sin(2 * PI * frequency * t),
                         (junction + stored) * d[1] + saturation * (np.exp(v / thermal) - 1) - i])

    def cross(y):
        above[0] = not above[0]
        return y

    def reset():
        above[0] = False

    event = (Event("forward", lambda t, y: y[1] - part * phi, 0, cross),)
    twice("varactor", ("current", "voltage"), F, [1e-4, 1e-1], [0, 0], "1e-5", lambda: event, h=1e-10, reset=reset, shown=3)


def saturating_choke():
    amplitude, R, L, iron, knee, C, load = (num(v) for v in "100 2 2e-3 0.05 1 1e-3 50".split())
    conducts = [True]
    e = lambda t: amplitude * np.sin(100 * PI * t)

    def F(t, y, d):
        flux, v, i = y
        across = e(t) - R * i - v if conducts[0] else 0 * v
        return np.stack([d[0] - across, C * d[1] + v / load - i, flux - L * i - iron * np.tanh(i / knee)])

    def to(mode):
        def action(y):
            conducts[0] = mode
            return [0, y[1], 0]
        return action

    def reset():
        conducts[0] = True

    ends = (Event("ends", lambda t, y: y[2], -1, to(False)),)
    begins = (Event("begins", lambda t, y: e(t) - y[1], 1, to(True)),)
    twice("saturating_choke", ("flux", "v", "i"), F, [1e-3, 1, 1e-2], [0, 0, 0], "0.1",
          lambda: ends if conducts[0] else begins, reset=reset, shown=4)


if __name__ == "__main__":
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")]
    for problem in (robertson, oregonator, hires, pollu, chemical_akzo, van_der_pol, campbell_orbits, stiff_ball,
                    transistor_amplifier, rectifier_dae, varactor, saturating_choke, ring_modulator_switched, ring_modulator):
        if not chosen or problem.__name__ in chosen:
            problem()
