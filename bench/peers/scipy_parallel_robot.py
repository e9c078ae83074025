#!/usr/bin/env python3
"""The robot of problems/parallel_robot.hpp by SciPy's DOP853, one run: reduced by hand to the angles of the arms, their velocities and
the integrals of the controller, with terminal events after which the integration restarts. Prints a line of JSON: seconds, evaluations,
events, and final values.

    bench/peers/scipy_parallel_robot.py [--rtol 1e-9] [NAME=VALUE ...]
"""
import argparse
import json
import time

import numpy as np
from scipy.integrate import solve_ivp

PARAMETERS = dict(xp=0.1, L=0.3, l=0.7, m1=0.82, m2=0.14, m3=0.5, m4=5.0, Jmot=0.37e-2, Jred=9.09e-4, I=0.018895002, Fs=3.0, Fv=0.5,
                  alpha=50.0, gear=5.0, g=9.81, Kc=600.0, Ti=300.0, Td=0.05)
W = 2.0 * np.pi
SIDE = np.array([1.0, -1.0])
GUARDS = ("turns_0", "turns_1", "over_0", "under_0", "over_1", "under_1")


class Robot:
    def __init__(self, **own):
        self.__dict__.update({**PARAMETERS, **own})
        self.mass = self.m2 + self.m3 + self.m4
        self.inertia = self.gear**2 * (self.Jmot + self.Jred) + self.I + 0.5 * self.m2 * self.L**2
        self.weight = self.m1 * self.g + 0.5 * self.m2 * self.L * self.g

    def wanted(self, t):
        """Angles for the desired place of the plate, and their time derivatives."""
        x, z, dx, dz = -0.35 * np.sin(W * t), -0.7 + 0.1 * np.cos(W * t), -0.35 * W * np.cos(W * t), -0.1 * W * np.sin(W * t)
        a, da = SIDE * x - self.xp, SIDE * dx
        k = (a * a + z * z + self.L**2 - self.l**2) / (2.0 * self.L)
        q = np.arctan2(-z, a) - np.arccos(k / np.hypot(a, z))
        return q, ((a * da + z * dz) / self.L - da * np.cos(q) + dz * np.sin(q)) / (-a * np.sin(q) - z * np.cos(q))

    def asked(self, t, y):
        q, rate = self.wanted(t)
        return self.Kc * (q - y[:2] + y[4:] / self.Ti + self.Td * (rate - y[2:4])), q

    def plate(self, q):
        c, s = np.cos(q), np.sin(q)
        a, b = np.array([self.xp + self.L * c[0], -self.L * s[0]]), np.array([-self.xp - self.L * c[1], -self.L * s[1]])
        d = a - b
        h = np.sqrt(self.l**2 / (d @ d) - 0.25)
        return 0.5 * (a + b) + h * np.array([d[1], -d[0]])

    def rates(self, t, y, friction, saturated):
        q, v = y[:2], y[2:4]
        c, s = np.cos(q), np.sin(q)
        place = self.plate(q)
        u = np.stack([place[0] - SIDE * (self.xp + self.L * c), place[1] + self.L * s], axis=1)
        along = np.stack([SIDE * self.L * s, self.L * c], axis=1)
        turned = np.stack([SIDE * self.L * c, -self.L * s], axis=1)
        J, lever = 2.0 * u, 2.0 * (u * along).sum(1)
        inverse = np.linalg.inv(J)
        moving = -inverse @ (lever * v) + along * v[:, None]
        bias = 2.0 * (moving**2).sum(1) + 2.0 * (u * turned).sum(1) * v * v
        K = self.mass * inverse.T @ inverse
        asked, wanted = self.asked(t, y)
        torque = np.where(saturated == 0.0, asked, saturated * self.alpha)
        right = (torque - friction * self.Fs - self.Fv * v + self.weight * c - lever * (K @ bias) +
                 lever * (inverse.T @ np.array([0.0, self.mass * self.g])))
        acceleration = np.linalg.solve(self.inertia * np.eye(2) + lever[:, None] * K * lever, right)
        return np.concatenate([v, acceleration, wanted - q])

    def guard(self, k, t, y):
        return y[2 + k] if k < 2 else self.asked(t, y)[0][(k - 2) // 2] + (-self.alpha if k % 2 == 0 else self.alpha)


def simulated(rtol, t_end=5.0, **own):
    robot, t, y = Robot(**own), 0.0, np.zeros(6)
    above = np.array([robot.guard(k, t, y) > 0.0 for k in range(6)])
    modes = lambda: (np.where(above[:2], 1.0, -1.0), np.where(above[[2, 4]], 1.0, np.where(above[[3, 5]], 0.0, -1.0)))
    for i in range(2):  # at rest: the acceleration determines the direction
        above[i] = True
        above[i] = robot.rates(t, y, *modes())[2 + i] > 0.0
    events, evaluations = [], 0
    while t < t_end:
        friction, saturated = modes()
        guards = []
        for k in range(6):
            def guard(t, y, k=k):
                return robot.guard(k, t, y)
            guard.terminal, guard.direction = True, -1.0 if above[k] else 1.0
            guards.append(guard)
        r = solve_ivp(lambda t, y: robot.rates(t, y, friction, saturated), (t, t_end), y, method="DOP853", rtol=rtol, atol=rtol, events=guards)
        evaluations += r.nfev
        t, y = r.t[-1], r.y[:, -1]
        for k in range(6):
            if len(r.t_events[k]) > 0:
                above[k] = not above[k]
                events.append((GUARDS[k], t))
        if not any(len(e) > 0 for e in r.t_events):
            break
    return t, y, events, evaluations


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--rtol", type=float, default=1e-9)
    asked.add_argument("own", nargs="*")
    asked = asked.parse_args()
    own = {name: float(value) for name, value in (word.split("=") for word in asked.own)}
    simulated(1e-3, 0.1)  # loads modules on first use
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        t, y, events, evaluations = simulated(asked.rtol, **own)
        seconds.append(time.process_time() - begin)
    print(json.dumps({"seconds": min(seconds), "evaluations": evaluations, "t": t, "events": len(events), "first": events[:6],
                      **dict(zip(("q_0", "q_1", "q_0_d1", "q_1_d1", "sum_0", "sum_1"), map(float, y)))}))


if __name__ == "__main__":
    main()
