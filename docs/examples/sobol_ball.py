# Sobol' indices of a ball's speed after its first bounce, e sqrt(2 g h), by Saltelli's design and in closed form.
import numpy as np

import saltus

ds = saltus.builtin("bouncing_ball").run(
    t=(0, 0.55), restitution={"uniform": [0.5, 0.9]}, height={"uniform": [0.8, 1.2]}, gravity={"uniform": [9.0, 10.6]}, count=2048,
    seed=1, design="saltelli", reduce=["max(velocity)"], indices=["max(velocity)"], rows=False)
ds.saltus.plot.tornado("max(velocity)").figure.savefig("sobol_ball.png")

# For a product of independent factors with variances c_i over their squared means, S_i = c_i / V, and 1 + V = prod(1 + c_i).
mean_of_root = lambda a, b: 2 / 3 * (b**1.5 - a**1.5) / (b - a)  # noqa: E731
c = np.array([0.4**2 / 12 / 0.7**2, 1.0 / mean_of_root(0.8, 1.2) ** 2 - 1, 9.8 / mean_of_root(9.0, 10.6) ** 2 - 1])
exact = c / (np.prod(1 + c) - 1)
found = ds["sensitivity_first_order"].sel(sensitivity_outcome="max(velocity)").sel(sensitivity_input=["restitution", "height", "gravity"])
print(found.values, exact)
