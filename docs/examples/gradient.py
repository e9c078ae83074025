# The derivative of the height of a ball after 2 s by its restitution, through its impacts.
import matplotlib.pyplot as plt
import numpy as np

import saltus

e = np.linspace(0.7, 0.95, 200)
ds = saltus.builtin("bouncing_ball").run(t=(0, 2), rtol=1e-11, restitution=e, sensitivity={"parameters": ["restitution"]})
_, axes = plt.subplots(2, sharex=True, layout="constrained", figsize=(6, 6))
ds.saltus.plot.outcome("final_height", ax=axes[0])
ds.saltus.plot.outcome("d_final_height_d_restitution", ax=axes[1])
axes[0].figure.savefig("gradient.png")

# The k-th impact is at T = t1 (1 + 2 (e + ... + e^(k-1))), the ball leaves the floor with e^k v: h = e^k v s - g/2 s^2, s = 2 - T.
v, g, k = np.sqrt(2 * 9.81), 9.81, ds["events"].values
s = 2 - v / g * (1 + 2 * sum(np.where(j < k, e**j, 0) for j in range(1, k.max())))
ds_de = -2 * v / g * sum(np.where(j < k, j * e ** (j - 1.0), 0) for j in range(1, k.max()))
exact = k * e ** (k - 1.0) * v * s + (e**k * v - g * s) * ds_de
print(float(abs(ds["d_final_height_d_restitution"] - exact).max()))
