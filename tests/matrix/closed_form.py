"""All outputs of a run from a trajectory in closed form: by root finding, Gauss quadrature and sorting, independent of saltus.

Every number has a `slack`: its first-order change if the states change by their tolerances. Errors are measured in units of the
slack.
"""

import functools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from forms import FALLING, RISING

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
PANEL = 0.02  # length of a panel of Gauss quadrature, in which the fastest output turns by 0.8 rad
NUDGE = 1e-9
SETTLED = 1e-5  # after an event; closer to it the sign of a guard that starts flat at zero is rounding


@dataclass
class Event:
    t: float
    name: str
    before: np.ndarray  # states and outputs
    after: np.ndarray
    slack: float  # slack of the time


@dataclass
class Piece:
    begin: float
    end: float
    q: object  # (t) -> [quantity, time], states and outputs
    mode: object


class Timer:
    """A time event: it is due at its time."""

    logged = True

    def __init__(self, name):
        self.name = name


class Trajectory:
    """Pieces in the order of the run, and the events between them."""

    def __init__(self, form, p, begin, end, start=None):
        self.form, self.p, self.begin = form, p, begin
        self.direction = 1.0 if end > begin else -1.0
        self.pieces, self.events, self.stopped = [], [], False
        self.names = form.states + form.outputs
        mode, y = start if start is not None else form.start(p, self.direction)
        t = begin
        while True:
            flow = form.flow(mode, t, y, p)
            t_next, due, slack = self.next_event(flow, mode, t, end)
            self.pieces.append(Piece(t, t_next, self.quantities(flow, mode), mode))
            y = flow(np.float64(t_next))
            if not due and t_next == end:
                break
            before, old = self.pieces[-1].q(np.float64(t_next)), mode
            mode, y, self.stopped = form.act([g.name if g else None for g in due], mode, t_next, y, p, self.direction)
            after = np.array([*y, *form.output(t_next, y, mode, p)])
            for g in due:
                if g and (g.logged or mode != old):
                    self.events.append(Event(t_next, g.name, before, after, slack))
            while not self.stopped and (again := form.due_again(mode, t_next)):
                before = after
                mode, y, self.stopped = form.act([again], mode, t_next, y, p, self.direction)
                after = np.array([*y, *form.output(t_next, y, mode, p)])
                self.events.append(Event(t_next, again, before, after, slack))
            t = t_next
            if self.stopped or t == end:
                break
        self.end, self.mode, self.y = t_next, mode, y
        self.final = np.array([*y, *form.output(self.end, y, mode, p)])

    def quantities(self, flow, mode):
        def at(t):
            y = flow(t)
            return np.array([*y, *self.form.output(t, y, mode, self.p)])

        return at

    def next_event(self, flow, mode, t, end):
        """The end of the piece from t: its time, the guards and time events that are due, and the slack of that time."""
        s, stop, due = self.direction, end, []
        for when, name in self.form.times(self.p, self.begin, end):
            if s * (when - t) > NUDGE and s * (when - stop) <= 0.0 and (name or when != end):
                due = [] if when != stop else due
                stop = when
                due.append(Timer(name) if name else None)
        slack = 0.0
        grid = np.linspace(t + s * SETTLED, stop, 2 + int(400 * abs(stop - t)))
        if s * (stop - t) <= SETTLED:
            return stop, due, slack
        y = flow(grid)
        for g in self.form.guards(mode, self.p):
            v = g.value(grid, y)
            for i in np.nonzero(np.sign(v[:-1]) * np.sign(v[1:]) < 0)[0]:
                if g.direction == RISING and v[i] > 0 or g.direction == FALLING and v[i] < 0:
                    continue
                root = brentq(lambda u: g.value(u, flow(u)), grid[i], grid[i + 1], xtol=1e-15, rtol=1e-15)
                if s * (root - stop) < -1e-12:
                    stop, due, slack = root, [g], self.slack_of(g, root, flow)
                elif abs(root - stop) <= 1e-12 and slack > 0.0:
                    due.append(g)
                break
        return stop, due, slack

    def slack_of(self, g, t, flow):
        h = 1e-6
        rate = (g.value(t + h, flow(t + h)) - g.value(t - h, flow(t - h))) / (2 * h)
        y = flow(t)
        moved = [abs(g.value(t, y + h * (1.0 + abs(y[i])) * e) - g.value(t, y)) / h for i, e in enumerate(np.eye(len(y)))]
        return sum(moved) / abs(rate)

    # Values

    def piece(self, t):
        """The piece after t."""
        return next(x for x in reversed(self.pieces) if self.direction * (t - x.begin) >= 0)

    def value(self, t):
        """States and outputs at t, after the events of that time; NaN if the run has ended before."""
        if self.direction * (t - self.end) > 0:
            return np.full(len(self.names), np.nan)
        return self.final if t == self.end else self.piece(t).q(np.float64(t))

    def value_slack(self, t):
        if self.direction * (t - self.end) > 0:
            return np.ones(len(self.names))
        n, h, mode = len(self.form.states), 1e-6, self.piece(t).mode
        y, output = self.value(t)[:n], lambda y: self.form.output(t, y, mode, self.p)
        moved = [np.abs(output(y + h * (1.0 + abs(y[i])) * e) - output(y)) / h for i, e in enumerate(np.eye(n))]
        return np.concatenate([1.0 + np.abs(y), sum(moved) + np.abs(output(y))])

    @functools.cache
    def sampled(self, times):
        """Values and their slack, [quantity, time]."""
        return np.array([self.value(t) for t in times]).T, np.array([self.value_slack(t) for t in times]).T

    def speed(self, t):
        """Time derivatives of states and outputs near t."""
        h = 1e-6
        near = [x.q for x in self.pieces if min(x.begin, x.end) - NUDGE <= t <= max(x.begin, x.end) + NUDGE]
        return np.max([np.abs(q(t + h) - q(t - h)) / (2 * h) for q in near], axis=0)

    def curvature(self, t, h=1e-4):
        q = self.pieces[-1].q
        return np.abs(q(t + h) - 2 * q(t) + q(t - h)) / h**2

    def end_slack(self):
        """Slack of the last values, whose time changes if an event has ended the run."""
        return self.value_slack(self.end) + (self.events[-1].slack * self.speed(self.end) if self.stopped else 0.0)

    def clipped(self, window):
        a, b = window if window else (self.begin, self.end)
        s = self.direction
        for x in self.pieces:
            lo, hi = (max(x.begin, a), min(x.end, b)) if s > 0 else (min(x.begin, a), max(x.end, b))
            if s * (hi - lo) > 0:
                yield lo, hi, x.q

    # Reductions: (value, slack)

    def reduce(self, kind, name, argument=None, window=None):
        if kind in ("count", "first", "last"):
            return self.of_events(kind, name, window)
        k = self.names.index(name)
        if kind == "value":
            return self.value(argument)[k], self.value_slack(argument)[k]
        pieces = list(self.clipped(window))
        if not pieces:
            return (0.0 if kind == "integral" else np.nan), 1.0
        times, weights, values = [], [], []
        for lo, hi, q in pieces:
            edges = np.linspace(lo, hi, 2 + int(abs(hi - lo) / PANEL))
            half = 0.5 * np.diff(edges)
            t = (0.5 * (edges[1:] + edges[:-1])[:, None] + half[:, None] * NODES).ravel()
            times.append(t), weights.append((np.abs(half)[:, None] * WEIGHTS).ravel()), values.append(q(t)[k])
        t, w, v = np.concatenate(times), np.concatenate(weights), np.concatenate(values)
        span = w.sum()
        slack = max(self.value_slack(u)[k] for u in np.linspace(t[0], t[-1], 9)) + np.abs(v).max()
        mean = (w @ v) / span
        if kind == "integral":
            return w @ v, slack * span
        if kind == "mean":
            return mean, slack
        if kind == "rms":
            rms = np.sqrt((w @ v**2) / span)
            return rms, slack * max(1.0, np.abs(v).max() / rms)
        if kind == "std":
            std = np.sqrt((w @ (v - mean) ** 2) / span)
            return std, slack * max(1.0, np.abs(v).max() / std)
        if kind in ("quantile", "median"):
            fine = np.concatenate([q(np.linspace(lo, hi, 2 + int(20000 * abs(hi - lo))))[k] for lo, hi, q in pieces])
            return np.quantile(fine, 0.5 if kind == "median" else argument), (fine.max() - fine.min()) / 63.0
        sign = 1.0 if "max" in kind else -1.0
        best = self.extremes(sign, k, pieces)
        top = sign * max(sign * value for _, value, _ in best)
        if kind in ("min", "max"):
            return top, slack
        ties = [(when, moves) for when, value, moves in best if sign * (top - value) <= 1e-6 * slack]
        return [(when, max(m for t, m in ties if abs(t - when) < 1e-9)) for when, _ in ties], None

    def extremes(self, sign, k, pieces):
        """Local extremes: time, value, slack of the time."""
        found = []
        for lo, hi, q in pieces:
            f = lambda u: q(u)[k]
            d = lambda u, h=2e-4: (f(u - 2 * h) - 8 * f(u - h) + 8 * f(u + h) - f(u + 2 * h)) / (12 * h)
            grid = np.linspace(lo, hi, 3 + int(1000 * abs(hi - lo)))
            v = sign * f(grid)
            for i in range(len(grid)):
                left, right = v[i - 1] if i else -np.inf, v[i + 1] if i + 1 < len(v) else -np.inf
                if v[i] < left or v[i] < right or v[i] < v.max() - 0.01 * np.ptp(v):
                    continue
                a, b = grid[max(i - 1, 0)], grid[min(i + 1, len(v) - 1)]
                if d(a) * d(b) < 0:
                    t = brentq(d, a, b, xtol=1e-15)
                    curvature = (d(t + 1e-4) - d(t - 1e-4)) / 2e-4
                    scale = self.value_slack(t)[k] + max(abs(d(lo)), abs(d(hi)))
                    found.append((t, f(np.float64(t)), scale / abs(curvature)))
                else:
                    event = [e.slack for e in self.events if abs(e.t - grid[i]) < 1e-9]
                    flat = self.flat_slack(f, grid[i], lo, hi, self.value_slack(grid[i])[k])
                    found.append((grid[i], f(np.float64(grid[i])), max([*event, flat])))
        return found

    @staticmethod
    def flat_slack(f, t, lo, hi, slack, typical=1e-6):
        """Slack of the time of an extreme at the end of a piece from which f leaves slowly, as a cube: for as long as it stays within
        a typical error, the place of the extreme is open. 0 if f leaves at once."""
        away = np.logspace(-5, -1, 81)
        inside = np.concatenate([t + away[t + away < max(lo, hi)], t - away[t - away > min(lo, hi)]])
        near = [abs(u - t) for u in inside if abs(f(u) - f(np.float64(t))) <= typical * slack]
        longest = max(near, default=0.0)
        return longest / typical if longest > 1e-4 and np.ptp(f(inside)) > 0.0 else 0.0

    def is_tied(self, kind, name, within):
        """True if another extreme is equal to the best one within that many slacks."""
        pieces, sign, k = list(self.clipped(None)), 1.0 if kind == "max" else -1.0, self.names.index(name)
        best = max(self.extremes(sign, k, pieces), key=lambda e: sign * e[1])
        slack = self.value_slack(best[0])[k]
        return any(
            abs(e[0] - best[0]) > 1e-6 and abs(e[1] - best[1]) <= within * slack for e in self.extremes(sign, k, pieces)
        )

    def of_events(self, kind, name, window):
        s = self.direction
        inside = [
            e for e in self.events if e.name == name and (not window or s * (e.t - window[0]) >= 0 >= s * (e.t - window[1]))
        ]
        if kind == "count":
            return float(len(inside)), 0.0
        if not inside:
            return np.nan, 0.0
        e = inside[0 if kind == "first" else -1]
        return e.t, e.slack


def derivative(of, p, step=4e-5):
    """Derivative of of(p) by central differences of order 8; of returns an array."""
    c = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return sum(w * (of(p + (i + 1) * step) - of(p - (i + 1) * step)) for i, w in enumerate(c)) / step
