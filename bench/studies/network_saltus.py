import numpy as np
import saltus
from pathlib import Path

network = saltus.sbml(Path(__file__).with_name("network.xml")).model()


def study(n, rtol):
    ds = network.run(t=(0, 100), rtol=rtol, beta=np.linspace(0.15, 0.3, n))
    return ds["final_p1"].values
