import numpy as np
import saltus
from scipy.optimize import brentq

ball = saltus.builtin("bouncing_ball")


def study(n, rtol):
    heights = np.random.default_rng(1).uniform(0.8, 1.2, n)

    def excess(e):
        return float(ball.run(t=(0, 0.55), rtol=rtol, height=heights, restitution=e, events=True)["event_velocity"].mean()) - 3

    return np.array([brentq(excess, 0.1, 0.9, xtol=1e-12)])
