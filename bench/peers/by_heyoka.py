"""heyoka on the ensembles of bench/beside: Taylor's method in batches as wide as the machine's registers.

    by_heyoka.py FOLDER PROBLEM T_END SMALL
    by_heyoka.py --about

FOLDER holds the module peer_transitions (transitions.cpp). Answers requests from stdin as server.hpp describes. heyoka has one
tolerance for all states and chooses its order by it; SMALL is not used. The lanes of a batch wait for the slowest one, so
instances run in the order of their first parameter, independent of the order of the table.
"""
import csv
import json
import math
import os
import pathlib
import re
import sys
import time

import heyoka as hy
import numpy as np

w1 = 2.0 * math.pi


def lorenz():
    x, y, z = hy.make_vars("x", "y", "z")
    return [(x, 10.0 * (y - x)), (y, x * (hy.par[0] - z) - y), (z, x * y - 8.0 / 3.0 * z)], None, hy.event_direction.any


def bouncing_ball():
    h, v = hy.make_vars("h", "v")
    return [(h, v), (v, -9.81 + 0.0 * v)], h, hy.event_direction.negative


def ball_drag():
    """The drag v |v| has no Taylor series at the apex: a parameter holds the sign of v, and an event changes it there."""
    h, v = hy.make_vars("h", "v")
    return [(h, v), (v, -9.81 - 0.01 * hy.par[2] * v * v)], h, hy.event_direction.negative


def bok_1():
    y1, y2, y3 = hy.make_vars("y1", "y2", "y3")
    u = hy.par[1]
    return [(y1, math.pi * y2), (y2, -math.pi * y1), (y3, u * u * u)], y1 - hy.par[0] * hy.time, hy.event_direction.any


def coulomb_oscillator():
    x, v = hy.make_vars("x", "v")
    sense, force = hy.par[1], hy.par[0] * hy.cos(0.5 * hy.time) - x
    moving = sense * sense
    guard = sense * v + (1.0 - moving) * (0.6 * 0.6 - force * force)
    return [(x, v), (v, moving * force - 0.5 * sense)], guard, hy.event_direction.negative


def keller_miksis():
    y, v = hy.make_vars("y", "v")
    mach, gas, surface, viscous, rest, wave1, wave2 = (hy.par[i] for i in range(7))
    w2, q, mv = 1.5 * w1, 4.2, mach * v
    excess = rest + wave1 * hy.sin(w1 * hy.time) + wave2 * hy.sin(w2 * hy.time)
    change = wave1 * w1 * hy.cos(w1 * hy.time) + wave2 * w2 * hy.cos(w2 * hy.time)
    force = (
        gas * y ** (-q) * (1.0 + (1.0 - q) * mv)
        - (1.0 + mv) * excess
        - (surface + viscous * v) / y
        - (1.5 - 0.5 * mv) * v * v
        - mach * y * change
    )
    return [(y, v), (v, force / ((1.0 - mv) * y + mach * viscous))], None, hy.event_direction.any


def relief_valve():
    x, v, p = hy.make_vars("x", "v", "p")
    force = p - 1.25 * v - (x + 10.0)
    return [(x, v), (v, force), (p, 20.0 * (hy.par[0] - x * hy.sqrt(p)))], x, hy.event_direction.negative


def two_bodies():
    x, y, vx, vy = hy.make_vars("x", "y", "vx", "vy")
    pull = (x**2 + y**2) ** -1.5
    return [(x, vx), (y, vy), (vx, -pull * x), (vy, -pull * y)], None, hy.event_direction.any


data = (pathlib.Path(__file__).parent.parent / "models" / "parts" / "outer_solar_system.hpp").read_text()


def numbers(name):
    """A constant of the outer solar system, or an array of constants."""
    return [float(v) for v in re.findall(r"[-\d.][-\d.e]*", re.search(rf" {name}\b[^=]*=([^;]*);", data)[1])]


gravity, masses, at_start = numbers("gravity")[0], numbers("mass"), numbers("start")
bodies_at_start = [at_start[i : i + 6] for i in range(0, 36, 6)]


def six_bodies():
    """heyoka's own model of N bodies; its states are ordered body by body."""
    of_all = [masses[0], hy.par[0], *masses[2:]]
    system = hy.model.nbody(6, masses=of_all, Gconst=gravity)
    # The order of all other solvers: all x, then all y, z, and their derivatives.
    return [system[6 * body + axis] for axis in range(6) for body in range(6)], None, hy.event_direction.any


def henon_heiles():
    x, y, vx, vy = hy.make_vars("x", "y", "vx", "vy")
    return [(x, vx), (y, vy), (vx, -x - 2.0 * (x * y)), (vy, y**2 - y - x**2)], x, hy.event_direction.any


def start_of_relief_valve(flow):
    """State at t = 0.01, since the square root of the pressure has no Taylor series at its start, 0. The time excludes this step."""
    from scipy.integrate import solve_ivp

    def rhs(_, y):
        x, v, p = y
        return [v, p - 1.25 * v - (x + 10.0), 20.0 * (flow - x * math.sqrt(max(p, 0.0)))]

    return solve_ivp(rhs, (0.0, 0.01), [0.2, 0.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]


# The equations; the start of an instance, in t and y; its initial modes.
problems = {
    "lorenz": (lorenz, 0.0, lambda p: [10.0, 10.0, 10.0], []),
    "bouncing_ball": (bouncing_ball, 0.0, lambda p: [p[0], 0.0], []),
    "ball_drag": (ball_drag, 0.0, lambda p: [p[0], 0.0], [-1.0]),
    "bok_1": (bok_1, 0.0, lambda p: [0.0, 1.0, 0.0], [1.0]),
    "coulomb_oscillator": (coulomb_oscillator, 0.0, lambda p: [0.0, 0.0], [1.0]),
    "keller_miksis": (keller_miksis, 0.0, lambda p: [1.0, 0.0], []),
    "two_bodies": (two_bodies, 0.0, lambda p: [1.0, 0.0, 0.0, p[0]], []),
    "six_bodies": (six_bodies, 0.0, lambda p: [body[axis] for axis in range(6) for body in bodies_at_start], []),
    "henon_heiles": (henon_heiles, 0.0, lambda p: [0.3, p[0], 0.2, 0.1], []),
    "relief_valve": (relief_valve, 0.01, lambda p: start_of_relief_valve(p[0]), []),
}
max_step = {"coulomb_oscillator": 0.2 * w1 / 0.5}


class Ensemble:
    """A table in the layout of the integrator: [group][quantity][lane]."""

    def __init__(self, name, path, lanes):
        _, _, start, modes = problems[name]
        with open(path, newline="") as file:
            rows = [[float(v) for v in row] for row in list(csv.reader(file))[1:]]
        self.count = len(rows)
        self.order = sorted(range(self.count), key=lambda i: rows[i])
        # The last instance fills the rest of the last group.
        padded = self.order + self.order[-1:] * (-self.count % lanes)
        grouped = lambda table: np.ascontiguousarray(np.array(table).reshape(-1, lanes, len(table[0])).transpose(0, 2, 1))
        self.pars = grouped([[*rows[i], *modes] for i in padded])
        self.starts = grouped([list(start(rows[i])) for i in padded])


class Integrator:
    def __init__(self, name, rtol, t_end, lanes):
        equations, self.t_start, start, modes = problems[name]
        system, guard, direction = equations()
        self.name, self.t_end, self.lanes = name, t_end, lanes
        self.counts = np.zeros(lanes, dtype=np.int64)
        events = {}
        if guard is not None:
            import peer_transitions as native

            if name == "henon_heiles":  # the event changes nothing, so a cheaper kind suffices
                events["nt_events"] = [hy.nt_event_batch(guard, callback=native.pass_by, direction=direction)]
            else:
                events["t_events"] = [hy.t_event_batch(guard, callback=native.fire, direction=direction)]
            if name == "ball_drag":
                apex = hy.t_event_batch(system[0][1], callback=native.turn, direction=hy.event_direction.negative)
                events["t_events"].append(apex)
        self.ta = hy.taylor_adaptive_batch(system, np.ones((len(system), lanes)), tol=rtol, **events)
        # heyoka has no place for a parameter that no equation contains.
        self.pars = np.zeros((2, lanes)) if name == "bouncing_ball" else self.ta.pars
        if not len(self.pars):
            self.pars = np.zeros((1, lanes))
        if guard is not None:
            addresses = [a.ctypes.data for a in (self.ta.state, self.pars, self.ta.time, self.counts)]
            native.attach(name, lanes, *addresses)
        self.limit = {"max_delta_t": max_step[name]} if name in max_step else {}

    def solve(self, ensemble, keep=None):
        """Integrates all groups; calls `keep(group)` after each."""
        ta, state, pars = self.ta, self.ta.state, self.pars
        for group in range(len(ensemble.pars)):
            ta.set_time(self.t_start)
            state[...] = ensemble.starts[group]
            pars[...] = ensemble.pars[group]
            self.counts[...] = 0
            if ta.with_events:
                ta.reset_cooldowns()
            ta.propagate_until(self.t_end, **self.limit)
            if keep is not None:
                keep(group)


def main():
    if sys.argv[1:] == ["--about"]:
        print(json.dumps({"version": hy.__version__, "lanes": hy.recommended_simd_size(), "python": sys.version.split()[0]}))
        return
    folder, name, t_end = sys.argv[1], sys.argv[2], float(sys.argv[3])
    sys.path.insert(0, folder)
    # heyoka writes its messages to stdout.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    hy.set_logger_level_error()
    lanes = hy.recommended_simd_size()
    integrators, tables = {}, {}
    for line in sys.stdin:
        rtol, seconds, states, path = line.rstrip("\n").split(" ", 3)
        if rtol not in integrators:
            integrators = {rtol: Integrator(name, float(rtol), t_end, lanes)}
        if path not in tables:
            tables[path] = Ensemble(name, path, lanes)
        integrator, ensemble = integrators[rtol], tables[path]
        y, events, steps = [None] * ensemble.count, [0] * ensemble.count, []

        def keep(group):
            taken = [result[3] for result in integrator.ta.propagate_res]
            for lane in range(lanes):
                if group * lanes + lane < ensemble.count:
                    row, final = ensemble.order[group * lanes + lane], integrator.ta.state[:, lane]
                    steps.append(taken[lane])
                    events[row] = int(integrator.counts[lane])
                    done = integrator.ta.time[lane] == integrator.t_end and np.all(np.isfinite(final))
                    y[row] = final.tolist() if done else None

        integrator.solve(ensemble, keep)
        begin, wall, passes = time.process_time(), time.perf_counter(), 0
        while True:
            integrator.solve(ensemble)
            passes += 1
            passed = time.process_time() - begin
            if passed >= float(seconds):
                break
        answer = {
            "us": 1e6 * passed / passes / ensemble.count,
            "wall": 1e6 * (time.perf_counter() - wall) / passes / ensemble.count,
            "steps": sum(steps) / ensemble.count,
            "failed": sum(v is None for v in y),
            "rescued": 0,
            "flops": 0,
            "events": events if states == "1" else [],
            "y": y if states == "1" else [],
        }
        print(json.dumps(answer), flush=True, file=answers)


if __name__ == "__main__":
    main()
