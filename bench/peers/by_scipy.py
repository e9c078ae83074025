"""SciPy's solve_ivp on the ensembles of bench/beside, with the analytic Jacobian for methods that take one; events by its own
root finding.

    by_scipy.py PROBLEM METHOD T_END SMALL
    by_scipy.py --about

Answers requests from stdin as server.hpp describes; atol of state i is rtol times entry i of the comma list SMALL. One thread:
bench/beside sets the environment variables of NumPy's linear algebra accordingly.
"""
import csv
import json
import platform
import sys
import time
import warnings
from math import cos, inf, nan, pi, sin, sqrt

import numpy as np
import scipy
from scipy.integrate import solve_ivp


class Lorenz:
    def __init__(self, rho):
        self.rho = rho
        self.start = [10.0, 10.0, 10.0]

    def rhs(self, t, y):
        x, y, z = y.tolist()
        return [10.0 * (y - x), x * (self.rho - z) - y, x * y - 8.0 / 3.0 * z]


class Falling:
    """Common part of problems with an event: the event is a falling zero of their guard."""

    direction = -1.0
    max_step = inf


class BouncingBall(Falling):
    def __init__(self, height, restitution):
        self.restitution = restitution
        self.start = [height, 0.0]

    def rhs(self, t, y):
        return [y[1], -9.81]

    def guard(self, t, y):
        return y[0]

    def transition(self, t, y):
        return [0.0, -self.restitution * y[1]]


class BallDrag(BouncingBall):
    def rhs(self, t, y):
        v = float(y[1])
        return [v, -9.81 - 0.01 * v * abs(v)]


class Bok1(Falling):
    """The guard's two directions are separate events in turn, so a guard that is zero after an event does not fire again."""

    def __init__(self, A):
        self.A, self.u = A, 1.0
        self.start = [0.0, 1.0, 0.0]

    def rhs(self, t, y):
        y1, y2, _ = y.tolist()
        return [pi * y2, -pi * y1, self.u**3]

    def guard(self, t, y):
        return y[0] - self.A * t

    def transition(self, t, y):
        self.u *= -y[0]
        self.direction = -self.direction
        return y


class CoulombOscillator(Falling):
    max_step = 0.2 * (2.0 * pi) / 0.5

    def __init__(self, amplitude):
        self.amplitude, self.sense = amplitude, 1.0
        self.start = [0.0, 0.0]

    def force(self, t, y):
        return self.amplitude * cos(0.5 * t) - float(y[0])

    def rhs(self, t, y):
        return [y[1], self.force(t, y) - 0.5 * self.sense if self.sense else 0.0]

    def guard(self, t, y):
        return self.sense * y[1] if self.sense else 0.6 * 0.6 - self.force(t, y) ** 2

    def transition(self, t, y):
        force = self.force(t, y)
        stays = self.sense and force * force <= 0.6 * 0.6
        self.sense = 0.0 if stays else 1.0 if force > 0.0 else -1.0
        return [y[0], 0.0]


class KellerMiksis:
    def __init__(self, *p):
        self.p = p
        self.start = [1.0, 0.0]

    def rhs(self, t, y):
        mach, gas, surface, viscous, rest, wave1, wave2 = self.p
        y, v = y.tolist()
        if y <= 0.0:
            return [nan, nan]  # makes SciPy reduce the step
        w1, w2, q, mv = 2.0 * pi, 3.0 * pi, 4.2, mach * v
        excess = rest + wave1 * sin(w1 * t) + wave2 * sin(w2 * t)
        change = wave1 * w1 * cos(w1 * t) + wave2 * w2 * cos(w2 * t)
        force = gas * y**-q * (1.0 + (1.0 - q) * mv) - (1.0 + mv) * excess - (surface + viscous * v) / y
        force -= (1.5 - 0.5 * mv) * v * v + mach * y * change
        return [v, force / ((1.0 - mv) * y + mach * viscous)]


class ReliefValve(Falling):
    def __init__(self, flow):
        self.flow = flow
        self.start = [0.2, 0.0, 0.0]

    def rhs(self, t, y):
        x, v, p = y.tolist()
        return [v, p - 1.25 * v - (x + 10.0), 20.0 * (self.flow - x * sqrt(p) if p >= 0.0 else nan)]

    def guard(self, t, y):
        return y[0]

    def transition(self, t, y):
        return [0.0, -0.8 * y[1], y[2]]


class Robertson:
    def __init__(self, k1, k2, k3):
        self.k1, self.k2, self.k3 = k1, k2, k3
        self.start = [1.0, 0.0, 0.0]

    def rhs(self, t, y):
        y1, y2, y3 = y.tolist()
        forth, back, on = self.k1 * y1, self.k2 * y2 * y3, self.k3 * y2 * y2
        return [back - forth, forth - back - on, on]

    def jacobian(self, t, y):
        _, y2, y3 = y.tolist()
        by_2, by_3, on = self.k2 * y3, self.k2 * y2, 2.0 * self.k3 * y2
        return [[-self.k1, by_2, by_3], [self.k1, -by_2 - on, -by_3], [0.0, on, 0.0]]


class VanDerPol:
    def __init__(self, mu):
        self.mu = mu
        self.start = [2.0, 0.0]

    def rhs(self, t, y):
        x, v = y.tolist()
        return [v, self.mu * (1.0 - x * x) * v - x]

    def jacobian(self, t, y):
        x, v = y.tolist()
        return [[0.0, 1.0], [-2.0 * self.mu * x * v - 1.0, self.mu * (1.0 - x * x)]]


class Hires:
    k1 = 1.71

    def __init__(self, joining):
        self.joining = joining
        self.start = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057]

    def rhs(self, t, y):
        y1, y2, y3, y4, y5, y6, y7, y8 = y.tolist()
        k1, joins, parts = self.k1, self.joining * y6 * y8, 1.81 * y7
        return [
            -k1 * y1 + 0.43 * y2 + 8.32 * y3 + 0.0007,
            k1 * y1 - 8.75 * y2,
            -10.03 * y3 + 0.43 * y4 + 0.035 * y5,
            8.32 * y2 + k1 * y3 - 1.12 * y4,
            -1.745 * y5 + 0.43 * y6 + 0.43 * y7,
            -joins + 0.69 * y4 + k1 * y5 - 0.43 * y6 + 0.69 * y7,
            joins - parts,
            parts - joins,
        ]

    def jacobian(self, t, y):
        k1, by_6, by_8 = self.k1, self.joining * float(y[7]), self.joining * float(y[5])
        return [
            [-k1, 0.43, 8.32, 0.0, 0.0, 0.0, 0.0, 0.0],
            [k1, -8.75, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, -10.03, 0.43, 0.035, 0.0, 0.0, 0.0],
            [0.0, 8.32, k1, -1.12, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, -1.745, 0.43, 0.43, 0.0],
            [0.0, 0.0, 0.0, 0.69, k1, -0.43 - by_6, 0.69, -by_8],
            [0.0, 0.0, 0.0, 0.0, 0.0, by_6, -1.81, by_8],
            [0.0, 0.0, 0.0, 0.0, 0.0, -by_6, 1.81, -by_8],
        ]


class ChemicalAkzo:
    """The problem as an ODE: y6 = Ks y1 y4 is substituted everywhere."""

    k2, k4, K, klA, pCO2, H = 0.58, 0.42, 34.4, 3.3, 0.9, 737.0

    def __init__(self, k1, k3, Ks):
        self.k1, self.k3, self.Ks = k1, k3, Ks
        self.start = [0.444, 0.00123, 0.0, 0.007, 0.0]

    def rhs(self, t, y):
        y1, y2, y3, y4, y5 = y.tolist()
        y6, root = self.Ks * y1 * y4, sqrt(y2)
        r1, r2, r3 = self.k1 * y1**4 * root, self.k2 * y3 * y4, self.k2 / self.K * y1 * y5
        r4, r5 = self.k3 * y1 * y4 * y4, self.k4 * y6 * y6 * root
        inflow = self.klA * (self.pCO2 / self.H - y2)
        return [-2.0 * r1 + r2 - r3 - r4, -0.5 * r1 - r4 - 0.5 * r5 + inflow, r1 - r2 + r3, -r2 + r3 - 2.0 * r4, r2 - r3 + r5]

    def jacobian(self, t, y):
        y1, y2, y3, y4, y5 = y.tolist()
        y6, root = self.Ks * y1 * y4, sqrt(y2)
        r1_1, r1_2 = 4.0 * self.k1 * y1**3 * root, self.k1 * y1**4 / (2.0 * root)
        r2_3, r2_4 = self.k2 * y4, self.k2 * y3
        r3_1, r3_5 = self.k2 / self.K * y5, self.k2 / self.K * y1
        r4_1, r4_4 = self.k3 * y4 * y4, 2.0 * self.k3 * y1 * y4
        r5_6 = 2.0 * self.k4 * y6 * root
        r5_1, r5_2, r5_4 = r5_6 * self.Ks * y4, self.k4 * y6 * y6 / (2.0 * root), r5_6 * self.Ks * y1
        return [
            [-2.0 * r1_1 - r3_1 - r4_1, -2.0 * r1_2, r2_3, r2_4 - r4_4, -r3_5],
            [-0.5 * r1_1 - r4_1 - 0.5 * r5_1, -0.5 * r1_2 - 0.5 * r5_2 - self.klA, 0.0, -r4_4 - 0.5 * r5_4, 0.0],
            [r1_1 + r3_1, r1_2, -r2_3, -r2_4, r3_5],
            [r3_1 - 2.0 * r4_1, 0.0, -r2_3, -r2_4 - 2.0 * r4_4, r3_5],
            [r5_1 - r3_1, r5_2, r2_3, r2_4 + r5_4, -r3_5],
        ]

    def output(self, y):
        return [*y, self.Ks * y[0] * y[3]]


problems = {
    "lorenz": Lorenz,
    "bouncing_ball": BouncingBall,
    "ball_drag": BallDrag,
    "bok_1": Bok1,
    "coulomb_oscillator": CoulombOscillator,
    "keller_miksis": KellerMiksis,
    "relief_valve": ReliefValve,
    "robertson": Robertson,
    "van_der_pol": VanDerPol,
    "hires": Hires,
    "chemical_akzo": ChemicalAkzo,
}


def solve(instance, method, t_end, rtol, atol):
    """The final states, the number of steps and of events; None in place of the states after a failure."""
    options = {"method": method, "rtol": rtol, "atol": atol}
    if hasattr(instance, "jacobian"):
        options["jac"] = instance.jacobian
    if hasattr(instance, "guard"):
        guard = lambda t, y: instance.guard(t, y)
        guard.terminal = True
        options.update(events=guard, max_step=instance.max_step)
    t, y, steps, events = 0.0, instance.start, 0, 0
    while True:
        if hasattr(instance, "guard"):
            guard.direction = instance.direction
        part = solve_ivp(instance.rhs, (t, t_end), y, **options)
        if not part.success:
            return None, steps, events
        steps += len(part.t) - 1
        t, y = part.t[-1], part.y[:, -1]
        if part.status != 1:
            return [float(v) for v in (instance.output(y) if hasattr(instance, "output") else y)], steps, events
        events += 1
        y = instance.transition(t, y)


def main():
    if sys.argv[1:] == ["--about"]:
        print(json.dumps({"version": scipy.__version__, "numpy": np.__version__, "python": platform.python_version()}))
        return
    problem, method, t_end = problems[sys.argv[1]], sys.argv[2], float(sys.argv[3])
    small = np.array([float(v) for v in sys.argv[4].split(",")])
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        rtol, seconds, states, path = line.rstrip("\n").split(" ", 3)
        with open(path, newline="") as file:
            rows = [[float(v) for v in row] for row in list(csv.reader(file))[1:]]
        atol = float(rtol) * small[: len(problem(*rows[0]).start)]
        begin, wall, passes = time.process_time(), time.perf_counter(), 0
        while True:
            solutions = [solve(problem(*row), method, t_end, float(rtol), atol) for row in rows]
            passes += 1
            passed = time.process_time() - begin
            if passed >= float(seconds):
                break
        y = [s[0] for s in solutions]
        answer = {
            "us": 1e6 * passed / passes / len(rows),
            "wall": 1e6 * (time.perf_counter() - wall) / passes / len(rows),
            "steps": sum(s[1] for s in solutions) / len(rows),
            "failed": sum(v is None for v in y),
            "rescued": 0,
            "flops": 0,
            "events": [s[2] for s in solutions] if states == "1" else [],
            "y": y if states == "1" else [],
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
