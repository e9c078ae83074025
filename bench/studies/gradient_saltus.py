import numpy as np
import saltus

ball = saltus.builtin("bouncing_ball")


def study(n, rtol):
    ds = ball.run(t=(0, 2), rtol=rtol, restitution=np.linspace(0.7, 0.9, n), sensitivity={"parameters": ["restitution"]})
    return ds["d_final_height_d_restitution"].values
