# Two DAEs: a rectifier of index 1 whose diodes switch, and a pendulum of index 2 at many amplitudes.
import numpy as np
from scipy.special import ellipk

import saltus

rectifier = saltus.builtin("rectifier_dae").run(method="rodas5p", rtol=1e-9, atol=1e-9, samples=500, events=True)
rectifier.saltus.plot(["i1", "i2", "v"])[0].figure.savefig("rectifier.png")
angle = np.linspace(0.2, 3.0, 15)
pendulum = saltus.model("pendulum_index_2.hpp").run(method="radau5", rtol=1e-8, angle=angle, samples=300, events=True)
pendulum.saltus.plot("x", instances=[0, 7, 13])[0].figure.savefig("pendulum.png")

first = pendulum["event_time"].groupby(pendulum["event_instance"]).min()
print(float(abs(first - np.sqrt(1 / 9.81) * ellipk(np.sin(angle / 2) ** 2)).max()), float(rectifier["final_i1"]))  # 15.37287231449
