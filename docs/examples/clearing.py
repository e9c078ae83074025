# The longest fault that a generator survives, over its power: forty bisections of a hundred generators at a time, beside the equal areas of the closed form (dashed).
import matplotlib.pyplot as plt
import numpy as np

import saltus

generator = saltus.model("generator.hpp")
power = np.linspace(0.3, 1.6, 100)
slips = lambda ds: ds["status"] == 1  # the terminal guard has stopped it
longest = saltus.threshold(generator, "clearing", (1e-6, 3), slips, within=1e-12, zip={"power": power}, rtol=1e-10)

# The areas between the power of the turbine and that of the line are equal before and after the clearing.
begin = np.arcsin(power / 1.8)
cleared = np.arccos((np.pi - 2 * begin) * np.sin(begin) - np.cos(begin))
exact = np.sqrt(2 * 0.026 * (cleared - begin) / power)
fig, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(power, longest, power, exact, "--")
ax.set(xlabel="power", ylabel="longest fault / s")
fig.savefig("clearing.png")
print(float(abs(longest / exact - 1).max()))
