# A failure of one in a million: an oscillator from random starts passes a threshold. Importance sampling draws wider starts and weighs them; for the linear oscillator the probability is exp(-b^2/2) exactly.
import numpy as np

import saltus

oscillator = saltus.Symbolic("oscillator", span=(0, 6.5))
x, v = oscillator.state("x", 0.0), oscillator.state("v", 0.0)
b, stiffening = oscillator.parameter("b", np.sqrt(2 * np.log(1e6))), oscillator.parameter("stiffening", 0.0)
oscillator.equation(x, v)
oscillator.equation(v, -x - stiffening * x**3)
oscillator.guard("failure", x - b, "rising", terminal=True)
model = oscillator.model()

wide, n = 4.0, 100_000
for strength in (0.0, 0.05):
    ds = model.run(x={"normal": [0, wide]}, v={"normal": [0, wide]}, stiffening=strength, count=n, seed=2, rtol=1e-8)
    squares = ds["initial_x"] ** 2 + ds["initial_v"] ** 2
    weight = wide**2 * np.exp(-squares / 2 * (1 - 1 / wide**2))
    failed = (weight * (ds["status"] == 1)).values  # the terminal guard has stopped it
    print(failed.mean(), failed.std() / np.sqrt(n))
