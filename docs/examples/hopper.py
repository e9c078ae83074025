# A spring-mass hopper, over the angle at which its leg meets the ground: how many hops it makes before it falls, up to fifty. Near 66.5 degrees it runs without any control. The apexes of a stable run are those of SciPy with events.
import matplotlib.pyplot as plt
import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

import saltus

hopper = saltus.Symbolic("hopper", span=(0, 40))
x, y = hopper.state("x", 0.0, "m"), hopper.state("y", 1.0, "m")
v, w = hopper.state("v", 5.0, "m/s"), hopper.state("w", 0.0, "m/s")
angle, spring = hopper.parameter("angle", 68.0, "deg"), hopper.parameter("spring", 20000 / 80, "1/s^2", "stiffness over mass")
foot, stands, hops = hopper.discrete("foot", 0.0, "m"), hopper.discrete("stands", 0.0), hopper.discrete("hops", 0.0)
leg = sp.sqrt((x - foot) ** 2 + y**2)
pull = spring * (1 / leg - 1) * stands
for state, rate in ((x, v), (y, w), (v, pull * (x - foot)), (w, pull * y - 9.81)):
    hopper.equation(state, rate)
steep = angle * sp.pi / 180
lands = hopper.guard("lands", sp.Piecewise((sp.Max(y - sp.sin(steep), w), sp.Eq(stands, 0)), (1, True)), "falling")
lifts = hopper.guard("lifts", sp.Piecewise((leg - 1, sp.Eq(stands, 1)), (-1, True)), "rising")
falls = hopper.guard("falls", y - 0.1, "falling", terminal=True)
hopper.on(lands, {stands: 1, foot: x + sp.cos(steep)}, stop=y < sp.sin(steep) - 1e-6)  # too low to put the leg down
hopper.on(lifts, {stands: 0, hops: hops + 1}, stop=hops >= 50)
model = hopper.model()
ds = model.run(angle=np.linspace(60, 75, 601), rtol=1e-9)
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(ds["angle"], ds["final_hops"], lw=1)
ax.set(xlabel="angle / degrees", ylabel="hops before it falls")
fig.savefig("hopper.png")

one = model.run(t=10, angle=67.0, events=True, rtol=1e-11).saltus.section("lifts")
at, foot, alpha, lifted = np.array([0.0, 1, 5, 0]), 0.0, np.radians(67.0), []
touch, leave = lambda t, y: y[1] - np.sin(alpha), lambda t, y: np.hypot(y[0] - foot, y[1]) - 1
touch.direction, leave.direction, touch.terminal, leave.terminal = -1, 1, True, True
for _ in range(10):
    flight = solve_ivp(lambda t, y: [y[2], y[3], 0, -9.81], (0, 9), at, "DOP853", events=touch, rtol=1e-12, atol=1e-13)
    at, foot = flight.y[:, -1], flight.y[0, -1] + np.cos(alpha)
    force = lambda y: 250 * (1 / np.hypot(y[0] - foot, y[1]) - 1)
    stance = lambda t, y: [y[2], y[3], force(y) * (y[0] - foot), force(y) * y[1] - 9.81]
    at = solve_ivp(stance, (0, 9), at, "DOP853", events=leave, rtol=1e-12, atol=1e-13).y[:, -1]
    lifted.append(at)
print(float(np.abs(np.stack([one[n][:10] for n in "xyvw"], axis=1) - lifted).max()))
