#!/usr/bin/env python3
"""Prints the numbers of tests/reference_problems.hpp that have no closed form. Needs python3-mpmath; two minutes.

Gragg's modified midpoint rule with polynomial extrapolation (Hairer, Norsett, Wanner, Solving ODEs I, II.9) in 36-digit
arithmetic: no coefficient, step control or event code in common with saltus. Every problem is solved at two tolerances;
the digits on which the two agree are printed."""
import sys

import mpmath as mp

mp.mp.dps = 36


def gbs(f, t, y, h, columns=13):
    """One step of order 2 * columns: the new state and an estimate of its error."""
    rows = []
    for k in range(1, columns + 1):
        n = 2 * k
        d = h / n
        slope = f(t, y)
        z0, z1 = y, [a + d * b for a, b in zip(y, slope)]
        for i in range(1, n):
            slope = f(t + i * d, z1)
            z0, z1 = z1, [a + 2 * d * b for a, b in zip(z0, slope)]
        slope = f(t + h, z1)
        row = [[(a + b + d * c) / 2 for a, b, c in zip(z0, z1, slope)]]
        for j in range(1, k):
            r = (mp.mpf(k) / (k - j)) ** 2 - 1
            row.append([a + (a - b) / r for a, b in zip(row[-1], rows[-1][j - 1])])
        rows.append(row)
    best, second = rows[-1][-1], rows[-1][-2]
    return best, max(abs(a - b) / (1 + abs(a)) for a, b in zip(best, second))


def solve(f, t, y, t_end, tolerance, h_max=mp.inf, event=None, jump=None):
    """Integrates to t_end. An event is (index, direction): component `index` passing zero; `jump` maps the state there."""
    h, log = min(mp.mpf("0.05"), h_max), []
    while t < t_end:
        h = min(h, t_end - t)
        new, error = gbs(f, t, y, h)
        grow = mp.mpf("0.9") * (tolerance / (error + tolerance / 10**9)) ** (mp.mpf(1) / 25)
        if error > tolerance:
            h *= max(grow, mp.mpf("0.1"))
            continue
        if jump and y[event[0]] == 0 and event[1] * new[event[0]] > 0:
            h /= 2  # left and returned within the step: resolve the flight first
        elif event and event[1] * y[event[0]] < 0 < event[1] * new[event[0]]:
            i, d = event[0], h * y[event[0]] / (y[event[0]] - new[event[0]])
            for _ in range(50):  # Newton by re-integration
                new, _ = gbs(f, t, y, d)
                change = new[i] / f(t + d, new)[i]
                d -= change
                if abs(change) < mp.mpf(10) ** -32:
                    break
            else:
                sys.exit("Newton's iteration for an event did not converge")
            new, _ = gbs(f, t, y, d)
            new[i] = mp.mpf(0)
            after = jump(new) if jump else new
            log.append((t + d, new))
            t, y = t + d, after
        else:
            t, y = (t_end if t + h >= t_end else t + h), new
            h = min(h * min(grow, mp.mpf(2)), h_max)
    return y, log


def show(case, name, a, b):
    digits = 25 if a == b else int(max(0, min(25, -mp.log10(abs(a - b) / max(abs(a), mp.mpf(10) ** -30)))))
    print(f"{case:<20} {name:<14} {mp.nstr(a, max(digits, 1), min_fixed=-20, max_fixed=20):<32} ({digits} digits)", flush=True)


def twice(case, names, run, events=0):
    (y, log), (y2, log2) = run(mp.mpf(10) ** -26), run(mp.mpf(10) ** -24)
    if log or log2:
        assert len(log) == len(log2)
        print(f"{case:<20} {'events':<14} {len(log)}")
    for n in range(min(events, len(log))):
        show(case, f"t{n + 1}", log[n][0], log2[n][0])
        for j, name in enumerate(names):
            if log[n][1][j] != 0:
                show(case, f"{name}{n + 1}", log[n][1][j], log2[n][1][j])
    for j, name in enumerate(names):
        show(case, name, y[j], y2[j])


def lorenz(t_end):
    f = lambda t, y: [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - mp.mpf(8) / 3 * y[2]]
    twice(f"lorenz t={t_end}", "xyz", lambda tol: solve(f, mp.mpf(0), [mp.mpf(10)] * 3, mp.mpf(t_end), tol))


def duffing(t_end):
    d, b = mp.mpf("0.25"), mp.mpf("0.3")
    f = lambda t, y: [y[1], y[0] - y[0] ** 3 - d * y[1] + b * mp.cos(t)]
    twice(f"duffing t={t_end}", ("position", "velocity"),
          lambda tol: solve(f, mp.mpf(0), [mp.mpf(1), mp.mpf(0)], mp.mpf(t_end), tol))


def keller_miksis(t_end):
    """In SI units, straight from Keller & Miksis; the printed radius and velocity are in R0 and R0 f1."""
    num = lambda s: mp.mpf(s)
    r0, f1, f2, a1, a2 = num("10e-6"), num("100e3"), num("150e3"), num("0.8e5"), num("0.4e5")
    p0, pv, rho, c, sigma, mu, kappa = (num(s) for s in ("1e5", "3166.8", "997.1", "1497.3", "0.072", "8.902e-4", "1.4"))
    w1, w2 = 2 * mp.pi * f1, 2 * mp.pi * f2

    def f(tau, y):  # y = (R / R0, R' / (R0 f1)), tau = f1 t
        t, R, V = tau / f1, y[0] * r0, y[1] * r0 * f1
        gas = (p0 - pv + 2 * sigma / r0) * (r0 / R) ** (3 * kappa)
        wall = gas + pv - 2 * sigma / R - 4 * mu * V / R
        far = p0 + a1 * mp.sin(w1 * t) + a2 * mp.sin(w2 * t)
        far_rate = a1 * w1 * mp.cos(w1 * t) + a2 * w2 * mp.cos(w2 * t)
        # d(wall)/dt without the term -4 mu V' / R, which goes to the left-hand side
        wall_rate = -3 * kappa * gas * V / R + 2 * sigma * V / R**2 + 4 * mu * V**2 / R**2
        left = (1 - V / c) * R + 4 * mu / (rho * c)
        right = ((1 + V / c) * (wall - far) / rho + R / (rho * c) * (wall_rate - far_rate)
                 - mp.mpf(3) / 2 * (1 - V / (3 * c)) * V**2)
        return [y[1], right / left / (r0 * f1**2)]

    twice(f"keller_miksis t={t_end}", ("radius", "velocity"),
          lambda tol: solve(f, mp.mpf(0), [mp.mpf(1), mp.mpf(0)], mp.mpf(t_end), tol, mp.mpf("0.05"), (1, 1)), events=4)


def relief_valve(flow, t_end=40):
    """With pressure = z^2 and, for the first 0.01, t = s^2: the square root of the pressure is then smooth at the start."""
    k, x0, beta, q, r = mp.mpf("1.25"), mp.mpf(10), mp.mpf(20), mp.mpf(flow), mp.mpf("0.8")

    def f(t, y):
        return [y[1], -k * y[1] - (y[0] + x0) + y[2] ** 2, beta * (q - y[0] * y[2]) / (2 * y[2])]

    def start(s, y):
        if s == 0:
            return [mp.mpf(0), mp.mpf(0), mp.sqrt(beta * q)]
        return [2 * s * d for d in f(s * s, y)]

    def run(tol):
        y, _ = solve(start, mp.mpf(0), [mp.mpf("0.2"), mp.mpf(0), mp.mpf(0)], mp.mpf("0.1"), tol, mp.mpf("0.01"))
        y, log = solve(f, mp.mpf("0.01"), y, mp.mpf(t_end), tol, mp.mpf("0.05"), (0, -1),
                       lambda y: [y[0], -r * y[1], y[2]])
        return [y[0], y[1], y[2] ** 2], [(t, [s[0], s[1], s[2] ** 2]) for t, s in log]

    twice(f"relief_valve q={flow}", ("lift", "velocity", "pressure"), run, events=3)


if __name__ == "__main__":
    lorenz(2)
    lorenz(10)
    duffing(20)
    keller_miksis(10)
    relief_valve(4)
    relief_valve(1)
