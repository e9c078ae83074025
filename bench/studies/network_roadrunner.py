import numpy as np
import roadrunner
from pathlib import Path

network = roadrunner.RoadRunner(str(Path(__file__).with_name("network.xml")))


def study(n, rtol):
    network.integrator.relative_tolerance, network.integrator.absolute_tolerance = rtol, rtol
    final = []
    for beta in np.linspace(0.15, 0.3, n):
        network.resetAll()
        network["beta"] = beta
        network.simulate(0, 100, 2)
        final.append(network["p1"])
    return np.array(final)
