import numpy as np
import saltus

rectifier = saltus.builtin("rectifier_dae")


def study(n, rtol):
    ds = rectifier.run(method="rodas5p", rtol=rtol, resistance=np.linspace(4, 6, n))
    return ds["final_i1"].values
