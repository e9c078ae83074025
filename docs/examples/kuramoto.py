# Thirty-two oscillators of Kuramoto with frequencies of a Lorentzian: order over the coupling, beside that of infinitely many (dashed), which begins at 2.
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import saltus

omega = np.tan(np.pi * ((np.arange(32) + 0.5) / 32 - 0.5))  # quantiles, of width 1
theta = np.random.default_rng(3).uniform(0, 2 * np.pi, 32)
kuramoto = saltus.model("kuramoto.hpp")
ds = kuramoto.run(t=200, coupling=np.linspace(0, 6, 121), omega=omega, theta=theta, reduce=["mean(order) from 100 to 200"], rtol=1e-8)
ax = ds.saltus.plot.outcome("mean(order) from 100 to 200")
k = np.linspace(2, 6, 100)
ax.plot(k, np.sqrt(1 - 2 / k), "--", color="gray")
ax.figure.savefig("kuramoto.png")

one = kuramoto.run(t=10, coupling=3.0, omega=omega, theta=theta, rtol=1e-10)
field = lambda _, x: omega + 3.0 * np.imag(np.mean(np.exp(1j * x)) * np.exp(-1j * x))
there = solve_ivp(field, (0, 10), theta, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
print(float(abs(one.saltus.family("final_theta") - there).max()))
