# Records of 1,000 patients, who take their doses late, and some not at all: median and 5..95 % of the concentration.
import numpy as np
import pandas as pd

import saltus

random = np.random.default_rng(4)
doses = pd.DataFrame({"id": np.repeat(np.arange(1000.0), 8), "amount": 250.0,
                      "time": np.ravel(np.arange(0, 96, 12.0) + random.exponential(1.5, (1000, 8)))})
doses = doses[random.random(8000) < 0.9].sort_values(["id", "time"])
ds = saltus.model("patients.hpp").run(
    records={"dose": doses}, rtol=1e-9, absorption={"lognormal": [0.2, 0.3]}, elimination={"lognormal": [-1.9, 0.25]},
    volume={"lognormal": [3.7, 0.2]}, count=1000, seed=1, samples=385)
ds.saltus.plot.bands("concentration")[0].figure.savefig("patients.png")

# Bateman's function: the concentration from one dose.
ka, ke, volume = (ds[name].values[doses["id"].astype(int)] for name in ("absorption", "elimination", "volume"))
since = np.maximum(96 - doses["time"], 0)
parts = doses["amount"] * ka / (volume * (ka - ke)) * (np.exp(-ke * since) - np.exp(-ka * since))
exact = parts.groupby(doses["id"]).sum().reindex(range(1000), fill_value=0)
print(float(abs(ds["final_concentration"].values - exact).max()))
