# A root search over the outcome of an ensemble: the restitution with which 1,000 balls, dropped from random heights, leave the floor at
# 3 m/s on average.
import numpy as np
from scipy.optimize import brentq

import saltus

ball = saltus.builtin("bouncing_ball")
heights = np.random.default_rng(1).uniform(0.8, 1.2, 1000)


def mean_rebound(restitution):
    ds = ball.run(t=(0, 0.55), height=heights, restitution=restitution, events=True)
    return float(ds["event_velocity"].mean())


root = brentq(lambda e: mean_rebound(e) - 3.0, 0.1, 0.9, xtol=1e-9)
print(f"restitution {root:.9f}; in closed form {3.0 / np.sqrt(2 * 9.81 * heights).mean():.9f}")
