"""SciPy's Radau on the ensembles of bench/stiff, with the analytic Jacobian.

    stiff_scipy.py PROBLEM T_END SMALL...
    stiff_scipy.py --about

Answers requests from stdin as server.hpp says; atol of state i is rtol times the i-th SMALL. One thread: bench/stiff
sets the environment that NumPy's linear algebra asks for it.
"""
import csv
import json
import platform
import sys
import time
import warnings
from math import sqrt

import numpy as np
import scipy
from scipy.integrate import solve_ivp


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

    def output(self, y):
        return y


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

    def output(self, y):
        return y


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

    def output(self, y):
        return y


class ChemicalAkzo:
    """As an ODE: y6 = Ks y1 y4 is put in everywhere."""

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


problems = {"robertson": Robertson, "van_der_pol": VanDerPol, "hires": Hires, "chemical_akzo": ChemicalAkzo}


def solve(instance, t_end, rtol, atol):
    """The final states and the number of steps; None where it failed."""
    solution = solve_ivp(instance.rhs, (0.0, t_end), instance.start, method="Radau", jac=instance.jacobian, rtol=rtol, atol=atol)
    if not solution.success:
        return None, 0
    return [float(v) for v in instance.output(solution.y[:, -1])], len(solution.t) - 1


def main():
    if sys.argv[1:] == ["--about"]:
        print(json.dumps({"scipy": scipy.__version__, "numpy": np.__version__, "python": platform.python_version()}))
        return
    problem, t_end = problems[sys.argv[1]], float(sys.argv[2])
    small = np.array([float(v) for v in sys.argv[3:]])
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        rtol, seconds, states, path = line.rstrip("\n").split(" ", 3)
        with open(path, newline="") as file:
            rows = [[float(v) for v in row] for row in list(csv.reader(file))[1:]]
        instances = [problem(*row) for row in rows]
        atol = float(rtol) * small[: len(instances[0].start)]
        begin, passes = time.process_time(), 0
        while True:
            solutions = [solve(instance, t_end, float(rtol), atol) for instance in instances]
            passes += 1
            passed = time.process_time() - begin
            if passed >= float(seconds):
                break
        y = [s[0] for s in solutions]
        print(
            json.dumps(
                {
                    "us": 1e6 * passed / passes / len(rows),
                    "steps": sum(s[1] for s in solutions) / len(rows),
                    "failed": sum(v is None for v in y),
                    "rescued": 0,
                    "y": y if states == "1" else [],
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
