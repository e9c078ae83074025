#!/usr/bin/env python3
"""Prints the numbers of the double pendulum with a stop in tests/test_contact.cpp. Needs python3-scipy.

Two angles, by SciPy's DOP853 at 1e-13: free flight, impacts of the knee with Newton's restitution, which accumulate, and a straight leg
with one angle until the torque in its knee falls to zero. Angles are measured from below; the knee is straight at equal angles."""
import numpy as np
from scipy.integrate import solve_ivp

M1, M2, L1, L2, G = 8.0, 4.0, 0.42, 0.45, 9.81  # parameters of problems/double_pendulum_with_stop.hpp
RESTITUTION, START, END = 0.5, (0.5, -0.9), 5.0
SLOWEST = 1e-8  # rad/s: a slower impact is the last one


def mass(a, b):
    c = M2 * L1 * L2 / 2 * np.cos(a - b)
    return np.array([[M1 * L1**2 / 3 + M2 * L1**2, c], [c, M2 * L2**2 / 3]])


def force(a, b, u, v):
    s = M2 * L1 * L2 / 2 * np.sin(a - b)
    return np.array([-s * v * v - (M1 / 2 + M2) * G * L1 * np.sin(a), s * u * u - M2 * G * L2 / 2 * np.sin(b)])


def free(t, y):
    a, b, u, v = y
    return np.concatenate(([u, v], np.linalg.solve(mass(a, b), force(a, b, u, v))))


def straight(t, y):
    a, b, u, v = y
    turn = force(a, b, u, v).sum() / mass(a, b).sum()
    return np.array([u, u, turn, turn])


def torque(t, y):
    """Force of the stop: the thigh's equation has it with the sign of its gap."""
    a, b, u, v = y
    turn = straight(t, y)[2]
    return (mass(a, b)[0].sum() * turn) - force(a, b, u, v)[0]


def gap(t, y):
    return y[0] - y[1]


for event in (gap, torque):
    event.terminal, event.direction = True, -1


def go(field, event, t, y):
    """Integrates until the event. From the stop, the first part of the flight has no event, because SciPy treats zero as a side."""
    how = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15}
    rate = field(t, y)
    away, fall = y[2] - y[3], rate[2] - rate[3]
    if field is free and gap(t, y) == 0:
        flight = min(-2 * away / fall, 0.04) if away > 0 > fall else 0.04
        how["max_step"] = flight / 4
        r = solve_ivp(field, (t, min(t + flight / 4, END)), y, **how)
        t, y = r.t[-1], r.y[:, -1]
    r = solve_ivp(field, (t, END), y, events=event, **how)
    return r.t[-1], r.y[:, -1], r.status == 1


def main():
    t, y, held, number = 0.0, np.array([*START, 0.0, 0.0]), False, 0
    while t < END - 1e-12:
        t, y, fired = go(straight if held else free, torque if held else gap, t, y)
        if not fired:
            break
        if held:
            print(f"opens    {t:.15g}")
            held = False
            continue
        number += 1
        closing = y[2] - y[3]
        arms = np.linalg.solve(mass(y[0], y[1]), [1.0, -1.0])
        y[2:] += -(1 + RESTITUTION) * closing / (arms[0] - arms[1]) * arms
        y[1] = y[0]
        if number < 4:
            print(f"impact   {t:.15g}  closing {closing:.12g}")
        if -closing < SLOWEST:
            print(f"straight {t:.15g} after {number} impacts")
            y[2] = y[3] = (mass(y[0], y[1]) @ y[2:]).sum() / mass(y[0], y[1]).sum()
            held = True
            number = 0
    energy = 0.5 * y[2:] @ mass(y[0], y[1]) @ y[2:] - (M1 / 2 + M2) * G * L1 * np.cos(y[0]) - M2 * G * L2 / 2 * np.cos(y[1])
    print("end     ", " ".join(f"{x:.13g}" for x in y), "energy", f"{energy:.13g}", "held", held)


main()
