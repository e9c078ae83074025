# A driven oscillator against a wall: bifurcation diagram over the frequency of the drive, a Poincare section of its chaos, and the
# growth rate of small differences, which is positive where the diagram is a band.
import matplotlib.pyplot as plt
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

# Only the wall contracts: at each impact the area spanned by two differences shrinks by the restitution squared. An oscillator that
# comes to rest at the wall has no exponents, since no difference remains.
growth = oscillator.lyapunov(t=(0, 2000), rtol=1e-9, frequency=np.linspace(2.4, 3.6, 100), initial=start)
growth = growth.sel(frequency=growth["lyapunov_status"] == 0)
_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(growth["frequency"], growth["lyapunov"].isel(exponent=0), ".-")
ax.axhline(0, color="gray", lw=0.5)
ax.set(xlabel="frequency", ylabel="largest exponent")
ax.figure.savefig("impact_lyapunov.png")
print(float(abs(growth["lyapunov"].sum("exponent") / (2 * np.log(0.8) * growth["events"] / 2000) - 1).max()))
