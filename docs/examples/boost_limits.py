# A boost converter under current-mode control, over the limit of its current: the period doubles, and the motion becomes chaotic.
import numpy as np

import saltus

converter = saltus.model("boost_converter.hpp")
ds = converter.run(t=(0, 0.02), limit=np.linspace(0.5, 3.0, 500), events=True, rtol=1e-8)
ds.saltus.plot.bifurcation("current", "tick", last=50).figure.savefig("boost_limits.png")

one = converter.run(rtol=1e-10)  # linear in every mode: 97 events, 1.44165126585319 A, 15.4629724800224 V
print(int(one["events"]), float(one["final_current"]), float(one["final_voltage"]))
