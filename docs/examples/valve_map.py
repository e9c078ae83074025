# A map of a discontinuous system: the number of impacts of a relief valve on its seat, over the flow and the restitution.
import numpy as np

import saltus

valve = saltus.builtin("relief_valve")
ds = valve.run(flow=np.linspace(2, 6, 40), restitution=np.linspace(0.6, 0.9, 30), t=(0, 20))
print(ds["events"].where(ds["ok"]).mean("restitution"))
ds.saltus.plot.outcome("events").figure.savefig("valve_map.png")
