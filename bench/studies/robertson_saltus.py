import numpy as np
import saltus

robertson = saltus.builtin("robertson")


def study(n, rtol):
    ds = robertson.run(t=(0, 1e11), method="auto", rtol=rtol, atol={"y1": 1e-9 * rtol, "y2": 1e-14 * rtol, "y3": 1e-4 * rtol},
                       k1=np.linspace(0.02, 0.08, n))
    return ds["final_y1"].values
