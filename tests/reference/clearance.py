#!/usr/bin/env python3
"""Prints the numbers of the slider cranks with clearance and with a stop in tests/test_contact.cpp. Needs python3-scipy.

With clearance: three coordinates while the journal flies in its bearing, the angles of crank and rod and the position of the slider; two
coordinates during contact, the crank's angle and the direction of the contact. With a stop: the crank's angle only. SciPy's DOP853 at
1e-13; impacts with Newton's restitution, which accumulate."""
import numpy as np
from scipy.integrate import solve_ivp

# Parameters of problems/slider_crank_with_clearance.hpp and slider_crank_with_stop.hpp.
R, L, INERTIA, ROD, SLIDER, G = 0.2, 0.5, 0.03, 0.6, 0.8, 9.81
GAP, RESTITUTION, SLOWEST = 0.005, 0.3, 1e-6
HOW = {"method": "DOP853", "rtol": 1e-13, "atol": 1e-15}


def mass(phi, th):
    b = ROD * R * L / 2 * np.cos(phi - th)
    return np.array([[INERTIA + ROD * R * R, b, 0.0], [b, ROD * L * L / 3, 0.0], [0.0, 0.0, SLIDER]])


def force(phi, th, u, w, torque=0.0):
    b = ROD * R * L / 2 * np.sin(phi - th)
    return np.array([torque - b * w * w - ROD * G * R * np.cos(phi), b * u * u - ROD * G * L / 2 * np.cos(th), 0.0])


def offset(q):
    """Offset of the journal from the middle of its bearing."""
    return np.array([R * np.cos(q[0]) + L * np.cos(q[1]) - q[2], R * np.sin(q[0]) + L * np.sin(q[1])])


def gradient(q):
    """Gradient of the gap (c^2 - d^2)/(2 c)."""
    d = offset(q)
    return -np.array([-R * np.sin(q[0]) * d[0] + R * np.cos(q[0]) * d[1],
                      -L * np.sin(q[1]) * d[0] + L * np.cos(q[1]) * d[1], -d[0]]) / GAP


def free(t, y):
    return np.concatenate((y[3:], np.linalg.solve(mass(*y[:2]), force(y[0], y[1], y[3], y[4]))))


def play(t, y):
    d = offset(y)
    return (GAP * GAP - d @ d) / (2 * GAP)


def spread(phi, psi):
    """The three coordinates, and their derivatives by the two of contact."""
    th = np.arcsin((GAP * np.sin(psi) - R * np.sin(phi)) / L)
    q = np.array([phi, th, R * np.cos(phi) + L * np.cos(th) - GAP * np.cos(psi)])
    by_phi, by_psi = -R * np.cos(phi) / (L * np.cos(th)), GAP * np.cos(psi) / (L * np.cos(th))
    along = np.array([[1.0, 0.0], [by_phi, by_psi],
                      [-R * np.sin(phi) - L * np.sin(th) * by_phi, -L * np.sin(th) * by_psi + GAP * np.sin(psi)]])
    return q, along


def touching_motion(y):
    """Accelerations of both sets, and the force of the contact."""
    (q, along), rate = spread(*y[:2]), y[2:]
    v = along @ rate
    phi, th, psi = q[0], q[1], y[1]
    bend_th = (L * np.sin(th) * v[1] ** 2 - GAP * np.sin(psi) * rate[1] ** 2 + R * np.sin(phi) * rate[0] ** 2) / (L * np.cos(th))
    bend = np.array([0.0, bend_th, -R * np.cos(phi) * rate[0] ** 2 - L * np.cos(th) * v[1] ** 2 - L * np.sin(th) * bend_th
                     + GAP * np.cos(psi) * rate[1] ** 2])
    m, f = mass(phi, th), force(phi, th, v[0], v[1])
    turn = np.linalg.solve(along.T @ m @ along, along.T @ (f - m @ bend))
    left, n = m @ (along @ turn + bend) - f, gradient(q)
    return turn, (n @ left) / (n @ n)


def touching(t, y):
    return np.concatenate((y[2:], touching_motion(y)[0]))


def press(t, y):
    return touching_motion(y)[1]


for event in (play, press):
    event.terminal, event.direction = True, -1


def fly(t, y, end):
    """Integrates to the next impact. After an impact, the first part of the flight has no event, because SciPy treats zero as a side."""
    away = gradient(y) @ y[3:]
    if abs(play(t, y)) < 1e-13 and away > 0:
        step = 1e-6
        rate = (gradient(y + 1e-7 * free(t, y)) @ (y + 1e-7 * free(t, y))[3:] - away) / 1e-7
        flight = -2 * away / rate if rate < 0 else 0.01
        step = min(flight / 4, 0.001, end - t)
        r = solve_ivp(free, (t, t + step), y, max_step=step / 4, **HOW)
        t, y = r.t[-1], r.y[:, -1]
    r = solve_ivp(free, (t, end), y, events=play, max_step=0.002, **HOW)
    return r.t[-1], r.y[:, -1], r.status == 1


def contact_of(y):
    """The two contact coordinates and their derivatives from the three; velocities lose the plastic impact's part."""
    d = offset(y)
    psi = np.arctan2(d[1], d[0])
    q, along = spread(y[0], psi)
    m = mass(q[0], q[1])
    rate = np.linalg.solve(along.T @ m @ along, along.T @ m @ y[3:])
    return np.concatenate(([y[0], psi], rate))


def with_clearance(end):
    phi, omega = 0.3, 8.0
    q, along = spread(phi, 0.0)
    th = np.arcsin(-R * np.sin(phi) / L)
    w = -R * np.cos(phi) / (L * np.cos(th)) * omega
    y = np.array([phi, th, R * np.cos(phi) + L * np.cos(th), omega, w, -R * np.sin(phi) * omega - L * np.sin(th) * w])
    t, number = 0.0, 0
    while t < end - 1e-12:
        t, y, fired = fly(t, y, end)
        if not fired:
            break
        number += 1
        n, m = gradient(y), mass(y[0], y[1])
        closing = n @ y[3:]
        arms = np.linalg.solve(m, n)
        y[3:] -= (1 + RESTITUTION) * closing / (n @ arms) * arms
        print(f"impact   {t:.15g}  closing {closing:.12g}")
        if RESTITUTION * -closing > SLOWEST:
            continue
        c = contact_of(y)
        print(f"touches  {t:.15g} after {number} impacts, pressed by {press(t, c):.6g}")
        number = 0
        r = solve_ivp(touching, (t, end), c, events=press, max_step=0.01, **HOW)
        t, c = r.t[-1], r.y[:, -1]
        q, along = spread(*c[:2])
        y = np.concatenate((q, along @ c[2:]))
        if r.status == 1:
            print(f"parts    {t:.15g}")
            t, y = after_parting(t, y)
    energy = 0.5 * y[3:] @ mass(y[0], y[1]) @ y[3:] + ROD * G * (R * np.sin(y[0]) + L / 2 * np.sin(y[1]))
    print("end     ", " ".join(f"{x:.13g}" for x in y), "energy", f"{energy:.13g}")


def after_parting(t, y):
    """A short flight from zero contact force: the gap grows with the cube of time, too slowly for event detection."""
    step = 1e-3
    r = solve_ivp(free, (t, t + step), y, max_step=step / 8, **HOW)
    return r.t[-1], r.y[:, -1]


PLACE, TORQUE, RATE, OF_STOP = 0.62, 3.0, 1.0, 0.5


def closed_loop(phi, u=0.0):
    """Angle of the rod and position of the slider, their derivatives by the crank's angle, and the second ones times u^2."""
    th = np.arcsin(-R * np.sin(phi) / L)
    by = -R * np.cos(phi) / (L * np.cos(th))
    along = np.array([1.0, by, -R * np.sin(phi) - L * np.sin(th) * by])
    bend_th = (L * np.sin(th) * (by * u) ** 2 + R * np.sin(phi) * u * u) / (L * np.cos(th))
    bend = np.array([0.0, bend_th, -R * np.cos(phi) * u * u - L * np.cos(th) * (by * u) ** 2 - L * np.sin(th) * bend_th])
    return th, R * np.cos(phi) + L * np.cos(th), along, bend


def driven(t, y):
    th, _, along, bend = closed_loop(*y)
    v = along * y[1]
    m, f = mass(y[0], th), force(y[0], th, v[0], v[1], TORQUE * np.cos(RATE * t))
    return np.array([y[1], along @ (f - m @ bend) / (along @ m @ along)])


def to_stop(t, y):
    return PLACE - closed_loop(y[0])[1]


to_stop.terminal, to_stop.direction = True, -1


def with_stop(end):
    t, y, number, parted = 0.0, np.array([-1.5, 2.0]), 0, False
    while True:
        if number > 0 and not parted:  # a quarter of the flight without the event
            away = -closed_loop(y[0])[2][2] * y[1]
            fall = -closed_loop(y[0])[2][2] * driven(t, y)[1]
            step = -away / fall / 2
            r = solve_ivp(driven, (t, t + step), y, max_step=step / 4, **HOW)
            t, y = r.t[-1], r.y[:, -1]
        if parted:
            r = solve_ivp(driven, (t, end), y, max_step=0.01, **HOW)
            break
        r = solve_ivp(driven, (t, end), y, events=to_stop, max_step=0.01, **HOW)
        t, y = r.t[-1], r.y[:, -1]
        number += 1
        closing = -closed_loop(y[0])[2][2] * y[1]
        y[1] *= -OF_STOP
        print(f"impact   {t:.15g}  closing {closing:.12g}")
        if -closing * OF_STOP < SLOWEST:
            th = closed_loop(y[0])[0]
            along = closed_loop(y[0])[2]
            hold = -(along @ force(y[0], th, 0.0, 0.0))  # the torque that gravity alone needs
            t, y, parted = np.arccos(hold / TORQUE) / RATE, np.array([y[0], 0.0]), True
            print(f"at rest after {number} impacts at {y[0]:.15g}, parts {t:.15g}")
    y = r.y[:, -1]
    th, s, along, _ = closed_loop(y[0])
    print("end     ", " ".join(f"{x:.13g}" for x in (y[0], th, s, y[1], along[2] * y[1])), "gap", PLACE - s)


with_clearance(1.0)
with_stop(2.2)
