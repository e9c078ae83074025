# A quadcopter holds its place in gusts: wind of an Ornstein-Uhlenbeck process, drawn anew every 50 ms with its exact distribution. Twenty thousand flights have the spread of the linear theory (dashed) to three standard errors.
import matplotlib.pyplot as plt
import numpy as np
import sympy as sp
from scipy.linalg import expm

import saltus

copter = saltus.Symbolic("quadcopter", span=(0, 20))
x, z, tilt = copter.state("x", 0.0, "m"), copter.state("z", 0.0, "m"), copter.state("tilt", 0.0, "rad")
u, w, spin = copter.state("u", 0.0, "m/s"), copter.state("w", 0.0, "m/s"), copter.state("spin", 0.0, "rad/s")
gust, draw = copter.discrete("gust", 0.0, "m/s"), copter.stream("weather")
drag, memory, tick = 0.3, np.exp(-0.05 / 0.8), copter.time_event("tick", every=0.05)
lift = (9.81 - 4 * z - 3 * w) / sp.cos(tilt)
wanted = 0.1 * x + 0.15 * u
for state, rate in ((x, u), (z, w), (tilt, spin), (u, -sp.sin(tilt) * lift + drag * (gust - u)), (w, lift * sp.cos(tilt) - 9.81 - drag * w),
                    (spin, 40 * (wanted - tilt) - 9 * spin)):
    copter.equation(state, rate)
copter.on(tick, {gust: memory * gust + 1.5 * np.sqrt(1 - memory**2) * copter.normal(draw)})
n = 20_000
ds = copter.model().run(count=n, seed=4, samples=81, rtol=1e-8, rows=False, statistics=True)

# Small tilts: place, speed, tilt, spin and gust obey a linear system from tick to tick.
rates = np.array([[0, 1, 0, 0, 0], [0, -drag, -9.81, 0, drag], [0, 0, 0, 1, 0], [4, 6, -40, -9, 0], [0, 0, 0, 0, 0]])
step = np.diag([1, 1, 1, 1, memory]) @ expm(0.05 * rates)
covariance, spread = np.zeros((5, 5)), [0.0]
for k in range(400):
    covariance = step @ covariance @ step.T
    covariance[4, 4] += 1.5**2 * (1 - memory**2)
    spread += [np.sqrt(covariance[0, 0])] * (k % 5 == 4)
found = ds["statistics_x"].sel(statistic="standard_deviation")
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(ds["time"], found, ds["time"], spread, "--")
ax.set(xlabel="time / s", ylabel="standard deviation of the place / m")
fig.savefig("quadcopter.png")
print(float(found[-1]), spread[-1], spread[-1] / np.sqrt(2 * n))
