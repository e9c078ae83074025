# A driven oscillator against a wall: bifurcation diagram over the frequency of the drive, and a Poincare section of its chaos.
import numpy as np

import saltus

oscillator = saltus.builtin("impact_oscillator")
start = {"position": -0.1, "velocity": 0.0}
ds = oscillator.run(t=(0, 400), rtol=1e-9, frequency=np.linspace(2.4, 3.6, 400), initial=start, events=True)
ds.saltus.plot.bifurcation("velocity", "impact", last=40, before=True).figure.savefig("impact_bifurcation.png")
chaos = oscillator.run(t=(0, 20000), frequency=2.8, initial=start, events=True)
chaos["event_phase"] = chaos["event_time"] * 2.8 % (2 * np.pi)
chaos.saltus.plot.section("phase", "velocity", skip=50).figure.savefig("impact_section.png")

# The impacts of the stable orbit at 2.4, by Shaw and Holmes.
p, q = -(1 + 0.8) * (2.4**2 - 1) / 2 / np.tan(np.pi / 2.4), (1 - 0.8) * (2.4**2 - 1) / 2 / 2.4
print(float(ds.saltus.events(0)["before_velocity"][-1]), 1 / np.hypot(p, q))
