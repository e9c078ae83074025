#!/usr/bin/env python3
"""Prints the expected results of docs/examples/boost_converter.hpp. Needs python3-mpmath.

In each of its three modes the circuit is linear, so the flow is exact; clock events are known, all other events are roots of it."""
import mpmath as mp

mp.mp.dps = 30
V, L, C, F = mp.mpf(10), mp.mpf("1e-3"), mp.mpf("12e-6"), mp.mpf(10000)  # supply, inductance, capacitance, clock_rate


def flow(i, v, mode, R, s):
    """Current and voltage after s seconds in a mode: closed, open (the diode conducts) or blocked."""
    if mode != "open":
        return (i + V / L * s if mode == "closed" else i), v * mp.exp(-s / (R * C))
    a = 1 / (2 * R * C)
    w = mp.sqrt(1 / (L * C) - a * a)
    x, y = i - V / R, v - V  # about the equilibrium: x' = -y / L, y' = x / C - 2 a y
    e, c, n = mp.exp(-a * s), mp.cos(w * s), mp.sin(w * s) / w
    return V / R + e * (c * x + n * (a * x - y / L)), V + e * (c * y + n * (x / C - a * y))


def first_root(g, end, pieces=400):
    """The first place in (0, end] where g, negative before, reaches zero; none if there is no such place."""
    for j in range(1, pieces + 1):
        lo, hi = end * (j - 1) / pieces, end * j / pieces
        if g(lo) < 0 <= g(hi):
            return hi if g(hi) == 0 else mp.findroot(g, (lo, hi), solver="anderson")
    return None


def run(limit, R, t_end):
    limit, R, t_end = mp.mpf(limit), mp.mpf(R), mp.mpf(t_end)
    i, v, t, mode, ticks, events = mp.mpf(0), V, mp.mpf(0), "closed", 0, []
    while True:
        tick = (ticks + 1) / F
        s, what = (tick - t, "tick") if tick < t_end else (t_end - t, None)
        coil = lambda u: flow(i, v, mode, R, u)[0]
        peak = first_root(lambda u: coil(u) - limit, s) if mode != "blocked" else None
        if peak is not None:
            s, what = peak, "peak"
        dry = first_root(lambda u: -coil(u), s) if mode == "open" else None
        if dry is not None:
            s, what = dry, "dry"
        i, v = flow(i, v, mode, R, s)
        t += s
        if what is None:
            return events, i, v
        events.append((t, what))
        if what == "tick":
            ticks += 1
            mode = "closed" if i < limit else mode
        elif what == "peak":
            mode, i = "open", limit
        else:
            mode, i = "blocked", mp.mpf(0)


for limit, R in (("1.5", 20), ("1.5", 200)):
    events, i, v = run(limit, R, "4.95e-3")
    count = {what: sum(e[1] == what for e in events) for what in ("tick", "peak", "dry")}
    print(f"limit={limit} load={R}: {len(events)} events {count}, current {mp.nstr(i, 17)}, voltage {mp.nstr(v, 17)}")
    for n in (0, 1, 4, len(events) - 1):
        print(f"  event {n + 1}: {events[n][1]} at {mp.nstr(events[n][0], 17)}")
