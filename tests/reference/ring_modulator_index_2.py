#!/usr/bin/env python3
"""Prints the ring modulator of index 2 at the end of its span, for any_order.json. Needs python3-mpmath and python3-numpy.

The method of stiff.py, on equations of index 1: the current law for the whole ring, i3 + i4 + i5 + i6 = 0, which holds at the start, is
replaced by its time derivative with the currents' derivatives inserted. All other parts are in stiff.py."""
from stiff import PI, RING_NAMES, np, num, ring_rates, twice, RING


def equations(t, y, d):
    gamma, delta = num("40.67286402e-9"), num("17.7493332")
    r = ring_rates(y, np.sin(2000 * PI * t) / 2, 2 * np.sin(20000 * PI * t), lambda k, u: gamma * (np.exp(delta * u) - 1),
                   num)
    stray = (2, 3, 4, 5)
    rows = [num(RING["Cs"]) * r[i] if i in stray else r[i] - d[i] for i in range(15)]
    rows[5] = num(RING["Ls2"]) * sum(r[i] for i in (9, 10, 11, 12))
    return np.stack([row + 0 * y[0] for row in rows])


if __name__ == "__main__":
    for end in ("1e-4", "1e-3"):
        twice("ring_modulator_index_2 at " + end, RING_NAMES, equations, [0.1] * 7 + [1e-4] * 8, [0] * 15, end, h=1e-9, runs=((9, 1e-12), (7, 1e-10)))
