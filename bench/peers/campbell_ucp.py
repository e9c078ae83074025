#!/usr/bin/env python3
"""Unitary coordinate partitioning as published, for comparison: S. L. Campbell's method on the tight orbits.

    bench/peers/campbell_ucp.py [--partitioned] [--end 30]

The equations are differentiated k = 2 times: G(x', w, x, t) = 0, w the higher derivatives. At the start of every step a singular
value decomposition decides the rank of [G_x' G_w] relative to the largest value; its left null vectors times G_x give the constraints D.
U = (U1 U2) with D U2 = 0; with --partitioned, U is a permutation by QR with column pivoting of D. For given z2 = U2' x, damped
Gauss-Newton steps of least norm give (x', w, z1) from G = 0. z2 is integrated by the Adams-Bashforth-Moulton pair of order 4 with variable
steps, P(EC)^2 E; its past is kept in x and x', so new coordinates need no restart. H211b (b = 4) chooses steps from the difference of
corrector and predictor. Constants not printed in the paper: theta = 0.8, and the error is 19/270 of the difference, as for constant steps.
The first three steps are short ones by RK4. Prints a table in Markdown.
"""
import argparse
import math
import time

import numpy as np
from scipy.linalg import qr

ORDER = 2  # number of differentiations of the equations


class Lost(Exception):
    pass


def product(a, b, k):
    """The k-th derivative of a product by Leibniz's rule; a[i], b[i] are derivatives."""
    return sum(math.comb(k, i) * a[i] * b[k - i] for i in range(k + 1))


def array(v, b):
    """G; v[j][i] is the i-th derivative of x_j."""
    return np.array([e for k in range(ORDER + 1) for e in (
        v[0][k + 1] + b * v[1][k] + product(v[0], v[2], k),
        v[1][k + 1] - v[0][k] + b * product(v[1], v[2], k),
        product(v[0], v[0], k) + b * product(v[1], v[1], k) - (1.0 if k == 0 else 0.0))])


def jacobian(v, b):
    """dG/dv with columns ordered by derivative: x, x', .., so that those of x are 0, 1, 2."""
    r = np.zeros((3 * (ORDER + 1), 3 * (ORDER + 2)))
    for k in range(ORDER + 1):
        r[3 * k, 3 * (k + 1)] += 1.0
        r[3 * k, 3 * k + 1] += b
        r[3 * k + 1, 3 * (k + 1) + 1] += 1.0
        r[3 * k + 1, 3 * k] -= 1.0
        for i in range(k + 1):
            c = math.comb(k, i)
            r[3 * k, 3 * i] += c * v[2][k - i]
            r[3 * k, 3 * (k - i) + 2] += c * v[0][i]
            r[3 * k + 1, 3 * i + 1] += c * b * v[2][k - i]
            r[3 * k + 1, 3 * (k - i) + 2] += c * b * v[1][i]
            r[3 * k + 2, 3 * i] += 2 * c * v[0][k - i]
            r[3 * k + 2, 3 * i + 1] += 2 * c * b * v[1][k - i]
    return r


class Orbit:
    def __init__(self, b, partitioned):
        self.b, self.partitioned, self.solves = b, partitioned, 0
        self.v = np.zeros((3, ORDER + 2))  # at the last point: guesses of x' and w
        self.v[0, 0], self.v[1, 1], self.v[0, 2], self.v[1, 3] = 1.0, 1.0, -b, -b

    def coordinates(self):
        j = jacobian(self.v, self.b)
        u, s, _ = np.linalg.svd(j[:, 3:])
        rank = int((s > 1e-10 * s[0]).sum())
        d = u[:, rank:].T @ j[:, :3]
        if self.partitioned:
            _, _, order = qr(d, pivoting=True)
            unit = np.eye(3)[:, order]
        else:
            unit, _ = np.linalg.qr(d.T, mode="complete")
        self.u1, self.u2 = unit[:, : len(d)], unit[:, len(d):]

    def solve(self, z2, guess):
        """x and x' for given z2."""
        self.solves += 1
        v = guess.copy()
        v[:, 0] = self.u1 @ (self.u1.T @ v[:, 0]) + self.u2 @ z2
        for _ in range(40):
            g = array(v, self.b)
            size = np.linalg.norm(g)
            if size < 1e-13 * (1 + self.b):
                return v
            j = jacobian(v, self.b)
            dx = np.linalg.lstsq(np.hstack((j[:, 3:], j[:, :3] @ self.u1)), -g, rcond=1e-10)[0]
            share = 1.0
            while True:
                trial = v.copy()
                m = len(dx) - self.u1.shape[1]
                trial[:, 1:] += share * dx[:m].reshape(ORDER + 1, 3).T
                trial[:, 0] += share * (self.u1 @ dx[m:])
                less = np.linalg.norm(array(trial, self.b))
                if less < size or share < 1e-3:
                    break
                share /= 2
            if not less < size:
                if size < 1e-10 * (1 + self.b):
                    return v
                raise Lost
            v = trial
        raise Lost


def weights(nodes, begin, end):
    """Weights of the integral from begin to end of the polynomial through values at nodes."""
    scale = end - begin
    s = (np.asarray(nodes) - begin) / scale
    powers = np.vander(s, increasing=True).T
    return scale * np.linalg.solve(powers, 1.0 / np.arange(1, len(s) + 1))


def integrate(b, partitioned, tol, end):
    o = Orbit(b, partitioned)
    o.coordinates()
    o.v = o.solve(o.u2.T @ o.v[:, 0], o.v)
    t, past, h = 0.0, [], 1e-3 / math.sqrt(b)
    h_old, r_old, errors, steps, rejected = h, None, [0.0, 0.0, 0.0, 0.0], 0, 0
    while t < end:
        h = min(h, end - t)
        o.coordinates()
        z, rate = o.u2.T @ o.v[:, 0], o.u2.T @ o.v[:, 1]
        try:
            if len(past) < 3:  # RK4
                k, guess = [rate], o.v
                for c in (0.5, 0.5, 1.0):
                    guess = o.solve(z + c * h * k[-1], guess)
                    k.append(o.u2.T @ guess[:, 1])
                new, r = o.solve(z + h / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3]), guess), None
            else:
                nodes = [t] + [p[0] for p in past[:3]]
                rates = [rate] + [o.u2.T @ p[1] for p in past[:3]]
                predicted = z + sum(w * f for w, f in zip(weights(nodes, t, t + h), rates))
                ahead = o.v.copy()  # also predicts x', w
                for i in range(ORDER + 1):
                    ahead[:, i] = sum(o.v[:, l] * h ** (l - i) / math.factorial(l - i) for l in range(i, ORDER + 2))
                new, corrected = o.solve(predicted, ahead), predicted
                correct = weights([t + h] + nodes[:3], t, t + h)
                for _ in range(2):
                    corrected = z + correct[0] * (o.u2.T @ new[:, 1]) + sum(w * f for w, f in zip(correct[1:], rates))
                    new = o.solve(corrected, new)
                r = max(19 / 270 * float(np.max(np.abs(corrected - predicted))), 1e-16)
        except Lost:
            rejected, h = rejected + 1, h / 4
            if h < 1e-10:
                return None, steps, rejected, o.solves
            continue
        if r is not None and r > tol:
            rejected, h = rejected + 1, h * max(0.2, 0.8 * (tol / r) ** 0.2)
            continue
        past = [(t, o.v[:, 1].copy())] + past[:2]
        t, o.v, steps = t + h, new, steps + 1
        x, w = new[:, 0], math.sqrt(b)
        off = (abs(x[0] - math.cos(w * t)), abs(x[1] - math.sin(w * t) / w), abs(x[2]), abs(x[0] ** 2 + b * x[1] ** 2 - 1))
        errors = [max(e, f) for e, f in zip(errors, off)]
        if r is not None:
            before = r if r_old is None else r_old
            factor = (0.8 * tol / r) ** (1 / 20) * (0.8 * tol / before) ** (1 / 20) * (h / h_old) ** -0.25
            r_old, h_old, h = r, h, h * min(max(factor, 0.5), 2.0)
    return errors, steps, rejected, o.solves


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--partitioned", action="store_true")
    asked.add_argument("--end", type=float, default=30.0)
    asked = asked.parse_args()
    print("| b | coordinates | tolerance | x1 | x2 | x3 | constraint | steps | rejected | solutions of G = 0 | s |\n"
          "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for b in (10, 100):
        for partitioned in ((True,) if asked.partitioned else (False, True)):
            begin = time.process_time()
            errors, steps, rejected, solves = integrate(b, partitioned, 1e-6, asked.end)
            shown = " | ".join(f"{e:.1e}" for e in errors) if errors else "no step is short enough | | | "
            print(f"| {b} | {'partitioned' if partitioned else 'unitary'} | 1e-6 | {shown} | {steps} | {rejected} | {solves} | "
                  f"{time.process_time() - begin:.1f} |", flush=True)


if __name__ == "__main__":
    main()
