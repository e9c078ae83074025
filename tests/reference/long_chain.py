#!/usr/bin/env python3
"""Prints the numbers of a chain of 33 links in tests/test_large_mechanics.cpp. Needs numpy and scipy; a minute.

Uses the angles of the links only, while saltus has all coordinates and multipliers: the equations are those of chain() in
mechanics.py. Two tolerances show which digits are right."""
import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import cho_factor, cho_solve

n, m, l, g = 33, 0.5, 0.2, 9.81
part = np.where(np.eye(n), 0.5, np.tril(np.ones((n, n))))  # share of link j in the position of the middle of link k
c, d = part.T @ part, part.sum(axis=0)


def rhs(t, y):
    a, w = y[:n], y[n:]
    between = a[:, None] - a[None, :]
    matrix = m * l * l * (c * np.cos(between) + np.eye(n) / 12)
    right = -g * l * m * d * np.cos(a) - m * l * l * (c * np.sin(between)) @ w**2
    return np.concatenate([w, cho_solve(cho_factor(matrix), right)])


def show(t_end):
    begin = np.concatenate([np.arange(n) / (n - 1), np.zeros(n)])
    ends = [solve_ivp(rhs, (0, t_end), begin, method="DOP853", rtol=r, atol=r).y[:, -1] for r in (3e-13, 3e-14)]
    print(f"t={t_end} they differ by {abs(ends[0] - ends[1]).max():.1e}")
    for i in (0, 8, 16, 24, 31, 32):
        print(f"  angle_{i} {ends[1][i]:.15g}  omega_{i} {ends[1][n + i]:.15g}")


show(0.5)
show(1.0)
