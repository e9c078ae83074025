# A cart-pole with two controllers. Every 20 ms one holds the pole upright, every 100 ms the other moves the reference of the first: their ticks meet, in the order in which the rules are written. The last states are those of SciPy between the ticks.
import matplotlib.pyplot as plt
import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

import saltus

plant = saltus.Symbolic("cart_pole", span=(0, 10))
x, theta = plant.state("x", 1.0, "m"), plant.state("theta", 0.0, "rad")
v, omega = plant.state("v", 0.0, "m/s"), plant.state("omega", 0.0, "rad/s")
mass = plant.parameter("mass", 0.1, "kg", "of the pole; that of the cart is 1, the half length 0.5")
force, aim = plant.discrete("force", 0.0, "N"), plant.discrete("aim", 0.0, "rad")
push = (force + mass * 0.5 * omega**2 * sp.sin(theta)) / (1 + mass)
turn = (9.81 * sp.sin(theta) - push * sp.cos(theta)) / (0.5 * (sp.Rational(4, 3) - mass * sp.cos(theta) ** 2 / (1 + mass)))
field = [v, omega, push - mass * 0.5 * turn * sp.cos(theta) / (1 + mass), turn]
for state, rate in zip((x, theta, v, omega), field):
    plant.equation(state, rate)
slow, fast = plant.time_event("slow", every=0.1), plant.time_event("fast", every=0.02)
plant.on(slow, {aim: -0.05 * x - 0.08 * v})
plant.on(fast, {force: 60 * (theta - aim) + 12 * omega})
ds = plant.model().run(mass=[0.05, 0.2, 0.5], samples=401, rtol=1e-11)
ds.saltus.plot("x")[0].figure.savefig("cart_pole.png")

motion = sp.lambdify((x, theta, v, omega, force, mass), field)
worst = 0.0
for one in range(3):
    y, held, wanted = np.array([1.0, 0, 0, 0]), 0.0, 0.0
    for tick in range(1, 501):
        rates = lambda t, y: motion(*y, held, float(ds["mass"][one]))
        y = solve_ivp(rates, (0, 0.02), y, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
        wanted = -0.05 * y[0] - 0.08 * y[2] if tick % 5 == 0 else wanted
        held = 60 * (y[1] - wanted) + 12 * y[3]
    worst = max(worst, float(np.abs([ds[f"final_{n}"][one] for n in ("x", "theta", "v", "omega")] - y).max()))
print(worst, float(abs(ds["final_x"]).max()))
