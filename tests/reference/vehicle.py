#!/usr/bin/env python3
"""Prints the eigenvalues of half a vehicle (problems/hmmwv7p.hpp) at its start, for tests/test_partitioning.cpp. Needs python3-mpmath.

Nine minimal coordinates: the position and angle of the chassis and the angles of six bodies. Positions of bodies are functions of these,
and d'Alembert's principle gives the equations. Derivatives are differences with 60 digits."""
import mpmath as mp

mp.mp.dps = 60
STEP = mp.mpf(10) ** -15
ARM, RADIUS, HUB, HALF = mp.mpf("0.45"), mp.mpf("0.47"), mp.mpf("0.4468"), mp.mpf("1.651")
HEIGHT, GRAVITY, SPEED = mp.mpf("0.71"), mp.mpf("9.81"), mp.mpf("4.4704")
SPRING, DAMPER, PRELOAD = mp.mpf("1.7e5"), mp.mpf("1.5e4"), mp.mpf(9400)
BUSHING, BUSHING_DAMPING = mp.mpf("2e7"), mp.mpf("2e6")
TYRE, TYRE_DAMPING = mp.mpf(296325), mp.mpf(3502)
MASSES = [mp.mpf(1200)] + [mp.mpf(m) for m in ("16", "60", "24.4")] * 2
INERTIAS = [mp.mpf(1500)] + [MASSES[1] * ARM**2 / 12, mp.mpf("1.5"), MASSES[3] * ARM**2 / 12] * 2


def place(body, x, z):
    """The point (x, z) in the axes of a body at (x, z, angle)."""
    c, s = mp.cos(body[2]), mp.sin(body[2])
    return mp.matrix([body[0] + c * x - s * z, body[1] + s * x + c * z])


def bodies(q):
    """Position and angle of each body from the minimal coordinates."""
    chassis = [q[0], q[1], q[2]]
    all_of_them = [chassis]
    for axle in range(2):
        lower, spindle, upper = q[3 + 3 * axle], q[4 + 3 * axle], q[5 + 3 * axle]
        pivot = place(chassis, (HALF if axle == 0 else -HALF) + ARM, HUB - mp.mpf("0.1") - HEIGHT)
        end = pivot + ARM * mp.matrix([mp.cos(lower), mp.sin(lower)])
        hub = end + mp.mpf("0.1") * mp.matrix([-mp.sin(spindle), mp.cos(spindle)])
        top = hub + mp.mpf("0.15") * mp.matrix([-mp.sin(spindle), mp.cos(spindle)])
        middle = top + ARM / 2 * mp.matrix([mp.cos(upper), mp.sin(upper)])
        all_of_them += [[*((pivot + end) / 2), lower], [*hub, spindle], [*middle, upper]]
    return all_of_them


def points(q):
    """For each axle: mount and end of the suspension, end of the upper arm, its bearing, wheel; the chassis comes first."""
    of = bodies(q)
    r = []
    for axle in range(2):
        hub = (HALF if axle == 0 else -HALF)
        r.append((place(of[0], hub + mp.mpf("0.15"), HUB + mp.mpf("0.4") - HEIGHT),
                  place(of[1 + 3 * axle], mp.mpf("0.3") - ARM / 2, 0),
                  place(of[3 + 3 * axle], ARM / 2, 0),
                  place(of[0], hub + ARM, HUB + mp.mpf("0.15") - HEIGHT),
                  mp.matrix(of[2 + 3 * axle][:2])))
    return r


def along(f, q, v):
    return (f(q + STEP * v) - f(q - STEP * v)) / (2 * STEP)


def flat(q):
    return mp.matrix([number for body in bodies(q) for number in body])


def acceleration(q, v):
    units = [mp.matrix([1 if i == j else 0 for i in range(9)]) for j in range(9)]
    gradient = mp.matrix(21, 9)
    for j in range(9):
        gradient[:, j] = along(flat, q, units[j])
    bend = (flat(q + STEP * v) - 2 * flat(q) + flat(q - STEP * v)) / STEP**2
    mass = mp.diag([m for b in range(7) for m in (MASSES[b], MASSES[b], INERTIAS[b])])
    load = mp.matrix(21, 1)
    for b in range(7):
        load[3 * b + 1] = -MASSES[b] * GRAVITY
    general = gradient.T * (load - mass * bend)

    def power(axle, number, force, sign=1):
        """Adds a force at a point of `points`."""
        for j in range(9):
            moved = along(lambda p: points(p)[axle][number], q, units[j])
            general[j] += sign * (moved[0] * force[0] + moved[1] * force[1])

    for axle, (mount, end, arm, bearing, wheel) in enumerate(points(q)):
        speed = [along(lambda p, k=k: points(p)[axle][k], q, v) for k in range(5)]
        d = mount - end
        length = mp.sqrt(d[0] ** 2 + d[1] ** 2)
        rate = (d.T * (speed[0] - speed[1]))[0] / length
        tension = SPRING * (length - mp.mpf("0.5")) + DAMPER * rate - PRELOAD
        power(axle, 0, -tension * d / length)
        power(axle, 1, tension * d / length)
        # The reaction acts on the chassis at the end of the arm: that point, fixed to the chassis, and its velocity.
        chassis = mp.matrix([q[0], q[1]])
        r = arm - chassis
        there = mp.matrix([v[0] - v[2] * r[1], v[1] + v[2] * r[0]])
        force = -BUSHING * (arm - bearing) - BUSHING_DAMPING * (speed[2] - there)
        power(axle, 2, force)
        for j, moved in enumerate((mp.matrix([1, 0]), mp.matrix([0, 1]), mp.matrix([-r[1], r[0]]))):
            general[j] -= moved[0] * force[0] + moved[1] * force[1]
        lift = TYRE * (RADIUS - wheel[1]) - TYRE_DAMPING * speed[4][1]
        power(axle, 4, mp.matrix([0, lift]))
    return mp.lu_solve(gradient.T * mass * gradient, general)


def main():
    q = mp.matrix([0, HEIGHT, 0] + [mp.pi, 0, 0] * 2)
    v = mp.matrix([SPEED] + [0] * 8)
    y, wide = list(q) + list(v), mp.mpf(10) ** -10
    jacobian = mp.matrix(18, 18)
    for j in range(18):
        sides = []
        for sign in (1, -1):
            at = mp.matrix(y)
            at[j] += sign * wide
            sides.append(list(at[9:]) + list(acceleration(at[:9], at[9:])))
        for i in range(18):
            jacobian[i, j] = (sides[0][i] - sides[1][i]) / (2 * wide)
    values, _ = mp.eig(jacobian)
    for value in sorted(values, key=lambda e: (mp.re(e), mp.im(e))):
        print(mp.nstr(mp.re(value), 16), mp.nstr(mp.im(value), 16))


main()
