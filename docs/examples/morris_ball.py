# Screening of the inputs of a bouncing ball: Morris' elementary effects, from 160 balls.
import numpy as np

import saltus

ds = saltus.builtin("bouncing_ball").run(
    t=(0, 0.55), restitution={"uniform": [0.5, 0.9]}, height={"uniform": [0.8, 1.2]}, gravity={"uniform": [9.0, 10.6]}, count=40, seed=1,
    design="morris", reduce=["max(velocity)"], indices=["max(velocity)"])
ds.saltus.plot.morris().item().figure.savefig("morris_ball.png")

# The speed after the first bounce is e sqrt(2 g h): it is linear in e, so the effect of e is the mean over the four levels of g and h.
g, h = np.meshgrid(np.linspace(9.0, 10.6, 4), np.linspace(0.8, 1.2, 4))
exact = 0.4 * np.sqrt(2 * g * h).mean()
found = ds.sel(sensitivity_input="restitution").isel(sensitivity_outcome=0)
print(float(found["sensitivity_mu_star_low"]), float(found["sensitivity_mu_star_high"]), exact)
