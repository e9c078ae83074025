"""The models of the matrix in closed form: the flow between events, the events, and their effects.

A form has names and functions of a trajectory only; nothing here comes from saltus. `flow(mode, t0, y0, p)` returns the solution
through (t0, y0) as a function of an array of times, y[state, time]. A mode holds the discrete variables. Guards are functions of
time and state in the mode, and `act` is the model's transition.
"""

import functools
from dataclasses import dataclass, field

import numpy as np
from numpy.polynomial import Polynomial
from scipy.interpolate import CubicSpline

RISING, FALLING, BOTH = 1, -1, 0


@dataclass
class Guard:
    name: str
    value: object  # (t, y) -> number, also for arrays
    direction: int = BOTH
    logged: bool = True  # False: a condition, which is an event if the mode changes


@dataclass
class Form:
    header: str
    states: list
    parameter: str = "k"  # the swept parameter, also for derivatives
    values: tuple = (1.0, 1.25, 1.5, 1.75, 2.0)
    outputs: list = field(default_factory=lambda: ["fast", "slow"])
    events: list = field(default_factory=list)  # names, in the order of the model
    settings: str = ""  # further lines of the spec
    slow_state: str = "z"

    @property
    def name(self):
        return type(self).__name__

    def start(self, p, direction):
        raise NotImplementedError

    def flow(self, mode, t0, y0, p):
        raise NotImplementedError

    def guards(self, mode, p):
        return []

    def times(self, p, begin, end):
        """Time events, and knots of tables (without a name)."""
        return []

    def act(self, due, mode, t, y, p, direction):
        """Mode and state after the event, and whether the instance ends."""
        return mode, y, False

    def due_again(self, mode, t):
        """The guard that an event has moved to its other side, if any: it is due at the same time."""
        return None

    def output(self, t, y, mode, p):
        z = y[self.states.index(self.slow_state)]
        fast = (0.5 + z) * np.cos(40.0 * t - 1.0)
        return np.array([fast, z * z])


def turned(x, y, rate, dt):
    c, s = np.cos(rate * dt), np.sin(rate * dt)
    return c * x - s * y, s * x + c * y


class Turning(Form):
    """parts/turning.hpp in several forms: `more` are the states that follow from x, y and z."""

    turn = 2.0

    def __init__(self, header, more=(), settings=""):
        super().__init__(header, ["x", "y", "z", *more], events=["low", "high", "cross"], settings=settings)
        self.more = list(more)

    @property
    def name(self):
        return self.header

    def whole(self, x, y, z, mode, p):
        turn = self.turn
        a = {
            "w": lambda: 2.0 * z,
            "a": lambda: real_root(z),
            "push": lambda: -z,
            "pull": lambda: turn**2 + 0.0 * z,
            "x_d1": lambda: -turn * y,
            "y_d1": lambda: turn * x,
            "x_d2": lambda: -(turn**2) * x,
            "y_d2": lambda: -(turn**2) * y,
            "z_d1": lambda: p * (mode - z),
        }
        return np.array([x, y, z, *(a[name]() for name in self.more)])

    def start(self, p, direction):
        return 0.0, self.whole(np.float64(1.0), np.float64(0.0), np.float64(0.9), 0.0, p)

    def flow(self, mode, t0, y0, p):
        def at(t):
            x, y = turned(y0[0], y0[1], self.turn, t - t0)
            return self.whole(x, y, mode + (y0[2] - mode) * np.exp(-p * (t - t0)), mode, p)

        return at

    def guards(self, mode, p):
        return [
            Guard("low", lambda t, y: y[2] - 0.3, FALLING),
            Guard("high", lambda t, y: y[2] - 0.8, RISING),
            Guard("cross", lambda t, y: y[0]),
        ]

    def act(self, due, mode, t, y, p, direction):
        z = y[2]
        if "low" in due:
            mode, z = 1.0, z + 0.05
        if "high" in due:
            mode = 0.0
        return mode, self.whole(y[0], y[1], z, mode, p), False


def real_root(z):
    """The real root of a + a^3 = z, by Cardano."""
    r = np.sqrt(0.25 * z * z + 1.0 / 27.0)
    return np.cbrt(0.5 * z + r) + np.cbrt(0.5 * z - r)


class Stopping(Form):
    def __init__(self):
        super().__init__("stopping", ["x", "y", "z"], events=["out", "cross"])

    def start(self, p, direction):
        return 0.0, np.array([1.0, 0.0, 0.9])

    def flow(self, mode, t0, y0, p):
        return lambda t: np.array([*turned(y0[0], y0[1], 2.0, t - t0), y0[2] * np.exp(-p * (t - t0))])

    def guards(self, mode, p):
        return [Guard("out", lambda t, y: y[2] - 0.03, FALLING), Guard("cross", lambda t, y: y[0])]

    def act(self, due, mode, t, y, p, direction):
        return mode, y, "out" in due


class Timed(Form):
    def __init__(self):
        super().__init__("timed", ["z", "total"], events=["full", "dose", "cure"])

    def start(self, p, direction):
        return 0.0, np.array([0.9, 0.0])

    def flow(self, mode, t0, y0, p):
        def at(t):
            e = np.exp(-p * (t - t0))
            return np.array([y0[0] * e, y0[1] + y0[0] * (1.0 - e) / p])

        return at

    def guards(self, mode, p):
        return [Guard("full", lambda t, y: y[0] - 1.0, FALLING)]

    def times(self, p, begin, end):
        doses = [(0.29 + 0.7 * i, "dose") for i in range(0, 5)] if end > begin else []
        return doses + [(1.61 if end > begin else -1.61, "cure")]

    def act(self, due, mode, t, y, p, direction):
        z = y[0]
        if "dose" in due:
            z = z + 0.6
        if "cure" in due:
            z = 0.5 * z
        return mode, np.array([z, y[1]]), False


class Recorded(Timed):
    """Doses by rows of data, later by p/10; two of them at one time."""

    rows = ((0.26, 0.5), (0.26, 0.3), (0.91, 0.8), (1.73, 0.4), (2.06, 0.2), (2.32, 0.7))

    def __init__(self):
        super().__init__()
        self.header = "recorded"
        times, amounts = zip(*self.rows)
        self.settings = f"records.dose = {{ columns = {{ time = {list(times)}, amount = {list(amounts)} }} }}"

    def times(self, p, begin, end):
        return [(t + 0.1 * p, "dose") for t in sorted({t for t, _ in self.rows})] + [(1.61, "cure")]

    def act(self, due, mode, t, y, p, direction):
        z = y[0]
        if "dose" in due:
            z = z + sum(amount for time, amount in self.rows if abs(time + 0.1 * p - t) < 1e-9)
        if "cure" in due:
            z = 0.5 * z
        return mode, np.array([z, y[1]]), False


class Delayed(Form):
    """By the method of steps: a polynomial between breaking points."""

    raised, by = 1.61, 0.7

    def __init__(self):
        # Methods of order 2 and 3 take more steps within the longest delay than are remembered by default.
        super().__init__("delayed", ["z", "total"], events=["full", "echo", "raise"], settings="history = 65536")

    @staticmethod
    def lag(p):
        return 0.675 / p

    @classmethod
    @functools.cache
    def pieces(cls, p, end=3.2):
        """Breaking points, and z from each of them on as a polynomial."""
        lag, rows = cls.lag(p), [(-np.inf, Polynomial([0.9]))]
        for t in sorted(t + lag * i for t in (0.0, cls.raised) for i in range(12) if t + lag * i < end):
            past = next(z for begin, z in reversed(rows) if t - lag + 1e-9 >= begin)
            change = (-p * past(Polynomial([-lag, 1.0]))).integ()
            rows.append((t, change - change(t) + rows[-1][1](t) + (cls.by if t == cls.raised else 0.0)))
        return rows

    def of(self, t, p):
        """The polynomial at t, seen from later times."""
        return next(z for begin, z in reversed(self.pieces(p)) if t + 1e-9 >= begin)

    def start(self, p, direction):
        return 0.0, np.array([0.9, 0.0])

    def flow(self, mode, t0, y0, p):
        change = self.of(t0, p)  # total' is -z'/p
        return lambda t: np.array([change(t) - change(t0) + y0[0], y0[1] - (change(t) - change(t0)) / p])

    def guards(self, mode, p):
        z = self.of(mode, p)
        past = lambda t: self.of(mode - self.lag(p), p)(t - self.lag(p))
        # A change of the state now stands for the same change then.
        return [Guard("full", lambda t, y: y[0] - 0.2, FALLING), Guard("echo", lambda t, y: past(t) - 0.4 + (y[0] - z(t)), FALLING)]

    def times(self, p, begin, end):
        return [(t, "raise" if t == self.raised else None) for t, _ in self.pieces(p)[1:]]

    def act(self, due, mode, t, y, p, direction):
        return t, np.array([y[0] + (self.by if "raise" in due else 0.0), y[1]]), False


class Modes(Form):
    def __init__(self):
        super().__init__("modes", ["x", "y", "z"], events=["dry", "wet", "dark"])

    def start(self, p, direction):
        return 0.0, np.array([1.0, 0.0, 0.9])

    def flow(self, mode, t0, y0, p):
        return lambda t: np.array(
            [*turned(y0[0], y0[1], 4.0, t - t0), mode + (y0[2] - mode) * np.exp(-p * (t - t0))]
        )

    def guards(self, mode, p):
        return [
            Guard("dry", lambda t, y: 0.35 - y[2], logged=False),
            Guard("wet", lambda t, y: y[2] - 0.7, logged=False),
            Guard("dark", lambda t, y: -y[0], logged=False),
        ]

    def act(self, due, mode, t, y, p, direction):
        # The sign of a guard that is due is the one after the event.
        ahead = self.flow(mode, t, y, p)(t + 1e-9 * direction)
        above = {g.name: g.value(t, ahead) >= 0.0 for g in self.guards(mode, p)}
        if above["dry"] and above["dark"]:
            mode = 1.0
        if above["wet"] or not above["dark"]:
            mode = 0.0
        return mode, y, False


class Sliding(Form):
    """A mode is the direction of slip, 0 while the block sticks."""

    def __init__(self):
        super().__init__(
            "sliding", ["z", "speed"], "friction", (1.2, 1.35, 1.5, 1.65, 1.8), events=["slip", "leaves_slip"]
        )

    def start(self, p, direction):
        return 1.0, np.array([0.3, 0.5])

    def flow(self, mode, t0, y0, p):
        def at(t):
            if mode == 0.0:
                return np.array([y0[0] + 0.0 * t, 0.0 * t])
            d = t - t0
            c0, s0 = np.cos(4.0 * t0), np.sin(4.0 * t0)
            v = y0[1] + 0.625 * (c0 - np.cos(4.0 * t)) - mode * p * d
            z = y0[0] + (y0[1] + 0.625 * c0) * d - 0.15625 * (np.sin(4.0 * t) - s0) - 0.5 * mode * p * d * d
            return np.array([z, v])

        return at

    def guards(self, mode, p):
        if mode == 0.0:
            return [Guard("leaves_slip", lambda t, y: np.abs(2.5 * np.sin(4.0 * t)) - p, RISING)]
        return [Guard("slip", lambda t, y: y[1])]

    def act(self, due, mode, t, y, p, direction):
        push = 2.5 * np.sin(4.0 * t)
        y = np.array([y[0], 0.0])
        if "leaves_slip" in due:
            return np.sign(push), y, False
        return (0.0 if abs(push) < p and direction > 0 else -mode), y, False


class Tables(Form):
    lines = np.array([[0.0, 0.0], [0.45, 1.2], [1.0, -0.4], [1.5, 0.0]])
    curve = np.array([[-3.0, 0.2], [-1.3, 0.9], [0.0, 0.1], [0.8, 0.8], [1.7, -0.3], [3.0, 0.4]])
    stairs = np.array([[-2.0, 0.3], [-0.9, -0.2], [0.6, 0.4], [1.9, -0.1]])

    def __init__(self):
        super().__init__("tables", ["z", "sum"], events=["half"])
        self.bent = CubicSpline(self.curve[:, 0], self.curve[:, 1], bc_type="natural").antiderivative()

    def start(self, p, direction):
        return direction, np.array([0.9, 0.0])

    def knots(self):
        periodic = [k + 1.5 * i for i in range(-2, 3) for k in self.lines[:-1, 0]]
        return sorted({*periodic, *self.stairs[:, 0]})

    def times(self, p, begin, end):
        return [(t, None) for t in self.knots()]

    def flow(self, mode, t0, y0, p):
        # The piece after t0 in the direction of the run, which `mode` holds (-1: backward).
        inside = t0 + (1e-9 if mode >= 0 else -1e-9)
        shift = 1.5 * np.floor(inside / 1.5)
        i = np.searchsorted(self.lines[:, 0], inside - shift) - 1
        slope = (self.lines[i + 1, 1] - self.lines[i, 1]) / (self.lines[i + 1, 0] - self.lines[i, 0])
        level = self.lines[i, 1] - slope * (self.lines[i, 0] + shift)  # z' = p (level + slope t - z)
        step = self.stairs[max(0, np.searchsorted(self.stairs[:, 0], inside) - 1), 1]

        def at(t):
            particular = lambda s: level + slope * s - slope / p
            z = particular(t) + (y0[0] - particular(t0)) * np.exp(-p * (t - t0))
            return np.array([z, y0[1] + self.bent(t) - self.bent(t0) + step * (t - t0)])

        return at

    def guards(self, mode, p):
        return [Guard("half", lambda t, y: y[0] - 0.4)]


class Cornered(Form):
    def __init__(self, header):
        super().__init__(header, ["z", "sum"], events=["half"])

    @property
    def name(self):
        return self.header

    def start(self, p, direction):
        return direction, np.array([0.9, 0.0])

    @staticmethod
    def wave(t):
        return np.sin(4.0 * t + 0.5)

    def times(self, p, begin, end):
        return [((i * np.pi - 0.5) / 4.0, None) for i in range(-9, 10)]

    def sign(self, mode, t):
        """That of the wave from t on in the direction of the run, which `mode` holds (-1: backward)."""
        return np.sign(self.wave(t + (1e-9 if mode >= 0 else -1e-9)))

    def flow(self, mode, t0, y0, p):
        sign = self.sign(mode, t0)
        w, phase = 4.0, 0.5  # z' = p (sign sin(w t + phase) - z)
        particular = lambda t: sign * p * (p * np.sin(w * t + phase) - w * np.cos(w * t + phase)) / (p * p + w * w)

        def at(t):
            z = particular(t) + (y0[0] - particular(t0)) * np.exp(-p * (t - t0))
            return np.array([z, y0[1] + (0.7 if sign > 0.0 else -0.2) * (t - t0)])

        return at

    def guards(self, mode, p):
        return [Guard("half", lambda t, y: y[0] - 0.675)]

    def output(self, t, y, mode, p):
        wave = self.wave(t)
        fast = np.abs(wave) * (0.5 + y[0]) * np.cos(40.0 * t - 1.0)
        return np.array([fast, y[0] * y[0] + np.where(wave > 0.0, 0.1, 0.0)])


class Mechanical(Form):
    def __init__(self):
        super().__init__(
            "mechanical",
            ["x", "y", "z", "vx", "vy", "vz"],
            values=(2.0, 2.25, 2.5, 2.75, 3.0),
            outputs=["fast", "slow", "pull"],
            events=["low", "high", "cross"],
        )

    def start(self, p, direction):
        return 0.0, np.array([1.0, 0.0, 0.9, 0.0, 2.0, 0.0])

    def flow(self, mode, t0, y0, p):
        def at(t):
            c, s = np.cos(p * (t - t0)), np.sin(p * (t - t0))
            x, y = turned(y0[0], y0[1], 2.0, t - t0)
            d = y0[2] - mode
            return np.array([x, y, mode + d * c + y0[5] / p * s, -2.0 * y, 2.0 * x, -p * d * s + y0[5] * c])

        return at

    guards = Turning.guards

    def act(self, due, mode, t, y, p, direction):
        y = y.copy()
        for name, rest in (("low", 1.0), ("high", 0.0)):
            if name in due:
                mode, y[5] = rest, 0.5 * y[5]
        return mode, y, False

    def output(self, t, y, mode, p):
        return np.array([*super().output(t, y, mode, p), -2.0 * (y[3] ** 2 + y[4] ** 2)])


class Contact(Form):
    """A mode is 1 while the block rests on the floor."""

    def __init__(self):
        super().__init__(
            "contact",
            ["x", "z", "vx", "vz"],
            "restitution",
            (0.3, 0.4, 0.5, 0.6, 0.7),
            outputs=["fast", "slow", "load"],
            events=["lands", "lifts"],
        )

    def start(self, p, direction):
        return 0.0, np.array([1.0, 0.5, 0.0, 0.0])

    def flow(self, mode, t0, y0, p):
        def at(t):
            d = t - t0
            x = y0[0] * np.cos(2.0 * d) + 0.5 * y0[2] * np.sin(2.0 * d)
            vx = -2.0 * y0[0] * np.sin(2.0 * d) + y0[2] * np.cos(2.0 * d)
            if mode:
                return np.array([x, 0.0 * d, vx, 0.0 * d])
            a0, a = 3.0 * t0 + 3.0, 3.0 * t + 3.0
            vz = y0[3] - 10.0 * d + 4.0 * (np.cos(a0) - np.cos(a))
            z = y0[1] + (y0[3] + 4.0 * np.cos(a0)) * d - 5.0 * d * d - (4.0 / 3.0) * (np.sin(a) - np.sin(a0))
            return np.array([x, z, vx, vz])

        return at

    def load(self, t):
        return 2.0 * (10.0 - 12.0 * np.sin(3.0 * t + 3.0))

    def guards(self, mode, p):
        if mode:
            return [Guard("lifts", lambda t, y: self.load(t), FALLING)]
        return [Guard("lands", lambda t, y: y[1], FALLING)]

    def due_again(self, mode, t):
        return "lifts" if mode and self.load(t) < 0.0 else None

    def act(self, due, mode, t, y, p, direction):
        if "lifts" in due:
            return 0.0, y, False
        v = -p * y[3]
        if v < 0.8:
            return 1.0, np.array([y[0], 0.0, y[2], 0.0]), False
        return 0.0, np.array([y[0], 0.0, y[2], v]), False

    def output(self, t, y, mode, p):
        fast = (0.5 + y[0]) * np.cos(40.0 * t - 1.0)
        return np.array([fast, y[1] ** 2, self.load(t) if mode else 0.0 * t])


FORMS = {
    f.name.lower(): f
    for f in [
        Turning("plain"),
        Turning("mass_matrix"),
        Turning("varying_mass"),
        Turning("singular_mass", ["w"]),
        Turning("semi_1", ["a"]),
        Turning("semi_2", ["push"]),
        Turning("implicit"),
        Turning("any_order", ["x_d1", "x_d2", "y_d1", "y_d2", "z_d1", "pull"]),
        Mechanical(),
        Contact(),
        Sliding(),
        Tables(),
        Cornered("cornered"),
        Cornered("cornered_implicit"),
        Cornered("cornered_any_order"),
        Timed(),
        Recorded(),
        Delayed(),
        Modes(),
        Stopping(),
    ]
}
