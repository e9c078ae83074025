#!/usr/bin/env python3
"""Prints the reference numbers of equations with delays, by the method of steps on Taylor series in 40 digits.

The steps are an integer part of the delay, so the delayed value within a step is the series of one earlier step, and a breaking point
lies between two steps. Each series has 40 terms; a run with half the steps shows how many digits are right.

    tests/reference/delays.py
"""

from mpmath import mp, mpf

mp.dps = 40
TERMS = 40


def product(a, b):
    return [sum((a[i] * b[k - i] for i in range(k + 1)), mpf(0)) for k in range(len(a))]


def quotient(a, b):
    c = []
    for k in range(len(a)):
        c.append((a[k] - sum((c[i] * b[k - i] for i in range(k)), mpf(0))) / b[0])
    return c


def power(a, p):
    c = [a[0] ** p]
    for k in range(1, len(a)):
        c.append(sum(((p * i - (k - i)) * a[i] * c[k - i] for i in range(1, k + 1)), mpf(0)) / (k * a[0]))
    return c


def constant(value):
    return [mpf(value)] + [mpf(0)] * (TERMS - 1)


def value(series, s):
    total = mpf(0)
    for c in reversed(series):
        total = total * s + c
    return total


def steps(history, delay, per_delay, t_end, solve):
    """The states at t_end. solve(y0, past) gives the series of all states from their values and the series a delay ago."""
    h = delay / per_delay
    past = [[constant(v) for v in history] for _ in range(per_delay)]
    y = [mpf(v) for v in history]
    whole = int(mp.floor(t_end / h))
    for k in range(whole + 1):
        series = solve(y, past[k])
        if k == whole:
            return [value(c, t_end - whole * h) for c in series]
        past.append(series)
        y = [value(c, h) for c in series]


def mackey_glass(y0, past):
    """x' = 0.2 d / (1 + d^10) - 0.1 x, d = x(t - tau)."""
    d = past[0]
    below = power(d, mpf(10))
    below[0] += 1
    g = quotient(d, below)
    x = [y0[0]]
    for k in range(TERMS - 1):
        x.append((mpf("0.2") * g[k] - mpf("0.1") * x[k]) / (k + 1))
    return [x]


def wheldon(y0, past):
    """Problem A2 of the test set of Enright and Hayashi."""
    below = power(past[0], mpf("1.25"))
    below = [mp.sqrt(10) * c for c in below]
    below[0] += 1
    inflow = quotient(constant("1.1"), below)
    u, v, q = [y0[0]], [y0[1]], []
    for k in range(TERMS - 1):
        # q = u / (1 + 40 v), term by term
        b = [(1 if i == 0 else 0) + 40 * v[i] for i in range(k + 1)]
        q.append((u[k] - sum((q[i] * b[k - i] for i in range(k)), mpf(0))) / b[0])
        u.append((inflow[k] - 10 * q[k]) / (k + 1))
        v.append((100 * q[k] - mpf("2.43") * v[k]) / (k + 1))
    return [u, v]


for title, history, delay, per_delay, times, solve in (
    ("Mackey-Glass, tau = 14", ["0.5"], 14, 112, (100, 500), mackey_glass),
    ("Mackey-Glass, tau = 6", ["0.5"], 6, 48, (100,), mackey_glass),
    ("Wheldon", [mpf("1.05767027") / 3, mpf("1.030713491") / 3], 20, 640, (50, 100), wheldon),
):
    for t in times:
        fine = steps(history, mpf(delay), per_delay, mpf(t), solve)
        coarse = steps(history, mpf(delay), per_delay // 2, mpf(t), solve)
        print(title, "t =", t, [mp.nstr(v, 22) for v in fine],
              "differs by", [mp.nstr(abs(a - b), 2) for a, b in zip(fine, coarse)], flush=True)
