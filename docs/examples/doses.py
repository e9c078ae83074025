# Repeated doses in a population of 1,000 patients: median and 5..95 % of the concentration, for two intervals between doses.
import numpy as np

import saltus

ds = saltus.builtin("pulsed_dose").run(
    t=(0, 72), rtol=1e-9, interval=[6.0, 12.0], absorption={"lognormal": [0.2, 0.3]}, elimination={"lognormal": [-1.9, 0.25]},
    volume={"lognormal": [3.7, 0.2]}, count=1000, seed=1, samples=289)
ds.saltus.plot.bands("concentration", by="interval")[0].figure.savefig("doses.png")

# Bateman's function: the concentration from one dose.
one = ds.isel(interval=1)
ka, ke, since = one["absorption"], one["elimination"], lambda t: np.maximum(72 - t, 0)
taken = [(400, 0.5), *((250, t) for t in range(6, 72, 12))]
exact = sum(dose * ka / (one["volume"] * (ka - ke)) * (np.exp(-ke * since(t)) - np.exp(-ka * since(t))) for dose, t in taken)
print(float(abs(one["final_concentration"] / exact - 1).max()))
