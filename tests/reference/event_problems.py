#!/usr/bin/env python3
"""Prints the numbers of tests/reference_events.hpp. Needs python3-mpmath and python3-numpy; two minutes.

bok_2, carver_3, mao_4 and the balls are linear between their events: their solutions are closed forms, and event times are roots
of these, with 40 digits. The marbles are integrated in 80-bit arithmetic by Gragg's modified midpoint rule with
polynomial extrapolation (Hairer, Norsett, Wanner, Solving ODEs I, II.9), with two step sizes; the digits on which the
two agree are printed. Nothing here is shared with saltus."""
import mpmath as mp
import numpy as np

mp.mp.dps = 40


def show(case, **values):
    for name, value in values.items():
        print(f"{case:<36} {name:<18} {mp.nstr(value, 19, min_fixed=-20, max_fixed=20)}", flush=True)


def first_root(g, end, pieces=64):
    """The first place in (0, end] where g, negative before, reaches zero; none if there is no such place."""
    lo = end / 10**6  # g may be zero at the start
    for j in range(1, pieces + 1):
        hi = end * j / pieces
        if g(lo) < 0 <= g(hi):
            return mp.findroot(g, (lo, hi), solver="anderson", tol=mp.mpf(10) ** -70, maxsteps=300)
        lo = hi
    return None


# ---- BOK 2 ----------------------------------------------------------------------------------------------------------


def bok_2(a=mp.mpf("0.5"), b=mp.mpf(4), t_end=mp.mpf("9.4")):
    """x1' = x2, x2' = p - a x2 with p = b below the level 1 and -b above it."""

    def flow(x1, x2, p, s):
        decayed = mp.exp(-a * s)
        return x1 + p / a * s + (x2 - p / a) * (1 - decayed) / a, p / a + (x2 - p / a) * decayed

    t, x1, x2, p, n = mp.mpf(0), mp.mpf(0), mp.mpf(0), b, 0
    while True:
        s = first_root(lambda s: mp.sign(p) * (flow(x1, x2, p, s)[0] - 1), mp.mpf(2))
        if t + s > t_end:
            break
        x2 = flow(x1, x2, p, s)[1]
        t, x1, p, n = t + s, mp.mpf(1), -p, n + 1
        show("bok_2", **{f"t{n}": t, f"x2 at {n}": x2})
    x1, x2 = flow(x1, x2, p, t_end - t)
    show(f"bok_2 t={mp.nstr(t_end, 4)}", events=mp.mpf(n), x1=x1, x2=x2)


# ---- carver_3 and mao_4 ---------------------------------------------------------------------------------------------


def rectifier(case, Ls=mp.mpf("1e-3"), R=mp.mpf(5), t_end=mp.mpf("0.085")):
    """The modes of problems/carver_3.hpp. A single conducting diode's current is a phasor and a decaying term; with two, the
    sum of both currents decays and their difference is the integral of 2 e1 / Ls."""
    E, f, L = mp.mpf(100), mp.mpf(50), mp.mpf("10e-3")
    w = 2 * mp.pi * f
    e1 = lambda t: E * mp.sin(w * t)
    steady = lambda t: mp.im(E * mp.expj(w * t) / mp.mpc(R, w * (Ls + L)))

    def flow(mode, t, i1, i2, s):
        if mode == "both":
            total = (i1 + i2) * mp.exp(-2 * R / (Ls + 2 * L) * s)
            difference = i1 - i2 + 2 * E / (Ls * w) * (mp.cos(w * t) - mp.cos(w * (t + s)))
            return (total + difference) / 2, (total - difference) / 2
        decay = mp.exp(-R / (Ls + L) * s)
        if mode == "diode 1":
            return steady(t + s) + (i1 - steady(t)) * decay, mp.mpf(0)
        return mp.mpf(0), -steady(t + s) + (i2 + steady(t)) * decay

    def excess(mode, t, i1, i2):
        """The source of the diode that blocks over the load, from the conducting branch: load = e - Ls i'."""
        e, i = (e1(t), i1) if mode == "diode 1" else (-e1(t), i2)
        return -e - (e - Ls * (e - R * i) / (Ls + L))

    t, i1, i2, mode, n = mp.mpf(0), mp.mpf("1e-6"), mp.mpf(0), "diode 1", 0
    while True:
        span = 1 / f
        if mode == "both":
            s, what = min((r, k) for k in (1, 2) if (r := first_root(lambda s: -flow(mode, t, i1, i2, s)[k - 1], span)))
            what = f"current_{what} empty_{what}"
        else:
            k = int(mode[-1])
            s, what = first_root(lambda s: excess(mode, t + s, *flow(mode, t, i1, i2, s)), span), 3 - k
            assert all(flow(mode, t, i1, i2, s * j / 200)[k - 1] > 0 for j in range(1, 201))
            what = f"voltage_{what} forward_{what}"
        if t + s > t_end:
            break
        i1, i2 = flow(mode, t, i1, i2, s)
        t, n = t + s, n + 1
        print(f"{case:<36} event {n:<12} {what}")
        show(case, **{f"t{n}": t, f"i1 at {n}": i1, f"i2 at {n}": i2})
        if mode != "both":
            mode = "both"
        elif what.startswith("current_1"):
            mode, i1 = "diode 2", mp.mpf(0)
        else:
            mode, i2 = "diode 1", mp.mpf(0)
    i1, i2 = flow(mode, t, i1, i2, t_end - t)
    assert mode == "diode 1"
    show(f"{case} t={mp.nstr(t_end, 4)}", events=mp.mpf(n), i1=i1, i2=i2, j1=(e1(t_end) - R * i1) / (Ls + L))


# ---- balls ----------------------------------------------------------------------------------------------------------

GRAVITY = mp.mpf("9.81")


def flight(y, v, s):
    return y + v * s - GRAVITY * s * s / 2, v - GRAVITY * s


def landing(y, v):
    return (v + mp.sqrt(v * v + 2 * GRAVITY * y)) / GRAVITY


def ball_on_spring(y, t_end, m=mp.mpf(1), k=mp.mpf(10000), c=mp.mpf(10)):
    """Events (time, velocity) and the final state."""
    rate = mp.mpc(-c / (2 * m), mp.sqrt(k / m - (c / (2 * m)) ** 2))
    rest = -m * GRAVITY / k

    def contact(v, s):  # from y = 0: rest + Re(amplitude exp(rate s))
        amplitude = mp.mpc(-rest, (-rest * mp.re(rate) - v) / mp.im(rate))
        wave = amplitude * mp.exp(rate * s)
        return rest + mp.re(wave), mp.re(rate * wave)

    t, v, events = mp.mpf(0), mp.mpf(0), []
    while True:
        s = landing(y, v)
        if t + s > t_end:
            return events, flight(y, v, t_end - t)
        t, v, y = t + s, flight(y, v, s)[1], mp.mpf(0)
        events.append((t, v))
        s = first_root(lambda s: contact(v, s)[0], 2 * mp.pi / mp.im(rate), pieces=16)
        if t + s > t_end:
            return events, contact(v, t_end - t)
        t, v = t + s, contact(v, s)[1]
        events.append((t, v))


def ball_with_restitution(y, t_end, restitution=mp.mpf("0.85")):
    t, v, events = mp.mpf(0), mp.mpf(0), []
    while t + landing(y, v) <= t_end:
        s = landing(y, v)
        t, v, y = t + s, flight(y, v, s)[1], mp.mpf(0)
        events.append((t, v))
        v *= -restitution
    return events, flight(y, v, t_end - t)


def balls(case, bounce, t_end=mp.mpf("3.7")):
    runs = [bounce(1 + i * mp.mpf("1e-9"), t_end) for i in range(100)]
    count = len(runs[0][0])
    show(case, events=mp.mpf(sum(len(events) for events, _ in runs)), separation=runs[1][0][0][0] - runs[0][0][0][0])
    # Numbers do not mix groups: number 100 k + i + 1 is event k of ball i.
    order = [runs[i][0][k][0] for k in range(count) for i in range(100)]
    assert all(len(events) == count for events, _ in runs) and all(a < b for a, b in zip(order, order[1:]))
    for i in (0, 1, 49, 99):
        events, (y, v) = runs[i]
        for k in (0, 1, count - 1):
            show(case, **{f"t{100 * k + i + 1} ball {i}": events[k][0], f"v{100 * k + i + 1}": events[k][1]})
        show(f"{case} t=3.7", **{f"height_{i}": y, f"velocity_{i}": v})


# ---- marble jar -----------------------------------------------------------------------------------------------------

LONG = np.longdouble
assert np.finfo(LONG).eps < 1.1e-19, "80-bit numbers are needed"


class Jar:
    """State: positions (N, 3) above velocities (N, 3). Guards: pairs (i < j, row by row), bottom, wall."""

    def __init__(self, n, damping):
        self.n, self.c = n, LONG(damping)
        self.k, self.m, self.g = LONG(20000), LONG("0.0105"), LONG("9.81")
        self.radius, self.jar = LONG("0.01"), LONG("0.03")
        self.first, self.second = np.triu_indices(n, 1)
        pairs = len(self.first)
        self.names = [f"pair_{i}" if pairs > 1 else "pair" for i in range(pairs)]
        self.names += [f"plane_{i}" for i in range(n)] + [f"cylinder_{i}" for i in range(n)]

    def start(self):
        i = np.arange(self.n).astype(LONG)
        r, angle = LONG("0.006") + LONG("0.0005") * i, LONG("2.4") * i
        return np.array([np.stack([r * np.cos(angle), r * np.sin(angle), LONG("0.05") * (i + 1)], 1),
                         np.zeros((self.n, 3), LONG)])

    def contacts(self, y):
        """Gaps, their time derivatives, and the normals of pairs and wall."""
        r, v = y
        between = r[self.first] - r[self.second]
        distance = np.sqrt((between**2).sum(1))
        normal = between / distance[:, None]
        axis = np.sqrt((r[:, :2] ** 2).sum(1))
        inward = -r[:, :2] / axis[:, None]
        gaps = np.concatenate([distance - 2 * self.radius, r[:, 2] - self.radius, self.jar - self.radius - axis])
        closing = ((v[self.first] - v[self.second]) * normal).sum(1)
        rates = np.concatenate([closing, v[:, 2], (inward * v[:, :2]).sum(1)])
        return gaps, rates, normal, inward

    def rhs(self, y, touching):
        gaps, rates, normal, inward = self.contacts(y)
        push = np.where(touching, -(self.k * gaps + self.c * rates) / self.m, LONG(0))
        pairs, n = len(self.first), self.n
        a = np.zeros((n, 3), LONG)
        np.add.at(a, self.first, push[:pairs, None] * normal)
        np.add.at(a, self.second, -push[:pairs, None] * normal)
        a[:, 2] += push[pairs:pairs + n] - self.g
        a[:, :2] += push[pairs + n:, None] * inward
        return np.array([y[1], a])

    def energy(self, y):
        gaps = np.minimum(self.contacts(y)[0], 0)
        return self.m * (self.g * y[0][:, 2].sum() + (y[1] ** 2).sum() / 2) + self.k * (gaps**2).sum() / 2


def extrapolated(f, y, h, columns=8):
    """One step of order 2 * columns."""
    above, slope0 = [], f(y)
    for k in range(1, columns + 1):
        d = h / (2 * k)
        z0, z1 = y, y + d * slope0
        for _ in range(2 * k - 1):
            z0, z1 = z1, z0 + 2 * d * f(z1)
        row = [(z0 + z1 + d * f(z1)) / 2]
        for j in range(1, k):
            row.append(row[-1] + (row[-1] - above[j - 1]) / ((LONG(k) / (k - j)) ** 2 - 1))
        above = row
    return above[-1]


def pour(jar, t_end, longest):
    """Events (time, guard, begins) and the final state."""
    t, y, t_end = LONG(0), jar.start(), LONG(t_end)
    touching, events, s = np.zeros(len(jar.names), bool), [], np.linspace(0, 1, 33).astype(LONG)[:, None]
    while t < t_end:
        h, side = min(LONG(longest), t_end - t), np.where(touching, -1, 1)
        f = lambda y: jar.rhs(y, touching)
        g0, d0 = jar.contacts(y)[:2]
        while True:
            new = extrapolated(f, y, h)
            g1, d1 = jar.contacts(new)[:2]
            # A cubic between both ends shows whether a guard has been on its other side, and whether it is there at the end.
            cubic = ((1 + 2 * s) * (1 - s) ** 2 * g0 + s * (1 - s) ** 2 * h * d0 + s**2 * (3 - 2 * s) * g1
                     - s**2 * (1 - s) * h * d1)
            passed, inside = side * g1 < 0, (side * cubic < -1e-15).any(0)
            if (inside & ~passed).any() or passed.sum() > 1:
                h /= 2
                continue
            break
        if not passed.any():
            t, y = (t_end if t + h >= t_end else t + h), new
            continue
        guard = int(np.flatnonzero(passed)[0])
        d = h * g0[guard] / (g0[guard] - g1[guard]) if g0[guard] * g1[guard] < 0 and abs(g0[guard]) > 1e-12 else h
        for _ in range(40):  # Newton by re-integration
            gap, rate = (q[guard] for q in jar.contacts(extrapolated(f, y, d))[:2])
            d -= gap / rate
            if abs(gap / rate) < 1e-18:
                break
        else:
            raise ArithmeticError("Newton's iteration for an event did not converge")
        assert 0 < d <= h
        t, y = t + d, extrapolated(f, y, d)
        touching = touching.copy()
        touching[guard] = not touching[guard]
        events.append((t, jar.names[guard], touching[guard]))
    return events, y


def show_both(case, name, a, b):
    """A number from two runs with the digits that they share."""
    digits = 19 if a == b else int(-np.log10(abs(a - b) / max(abs(a), LONG("1e-3"))))
    text = np.format_float_positional(a, min(digits, 19), unique=False, fractional=False, trim="-")
    print(f"{case:<36} {name:<18} {text:<24} ({min(digits, 19)} digits)", flush=True)


def marble_jar(n, damping, t_end="0.2"):
    jar, case = Jar(n, damping), f"marble_jar_{n} c={damping}"
    (events, y), (again, y2) = pour(jar, t_end, "2e-4"), pour(jar, t_end, "1.3e-4")
    assert [e[1:] for e in events] == [e[1:] for e in again]
    print(f"{case:<36} {'events':<18} {len(events)}")
    for number, ((t, guard, begins), (t2, _, _)) in enumerate(zip(events, again), 1):
        show_both(case, f"t{number}", t, t2)
        print(f"{case:<36} event {number:<12} {guard} {'begins' if begins else 'ends'}")
    for i in range(min(n, 5)):  # the others fall freely
        for part, names in enumerate((("x", "y", "z"), ("vx", "vy", "vz"))):
            for axis, name in enumerate(names):
                show_both(case, f"{name}_{i}", y[part][i, axis], y2[part][i, axis])
    show_both(case, "energy", jar.energy(y), jar.energy(y2))
    if damping == 0:
        show(case, energy_at_start=sum(mp.mpf("0.0105") * mp.mpf("9.81") * mp.mpf("0.05") * (i + 1) for i in range(n)))


if __name__ == "__main__":
    bok_2()
    rectifier("rectifier")
    rectifier("rectifier Ls=1e-4 R=0.3", mp.mpf("1e-4"), mp.mpf("0.3"))
    balls("bouncing_balls_100", ball_on_spring)
    balls("bouncing_balls_100_impact", ball_with_restitution)
    for n, damping in ((2, 0), (4, 0), (8, 0), (10, 0), (16, 0), (10, 1)):
        marble_jar(n, damping)
