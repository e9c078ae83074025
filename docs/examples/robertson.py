# Robertson's reactions, stiff over fifteen decades of time: "auto" begins with an explicit method and continues with an implicit one.
import numpy as np

import saltus

ds = saltus.builtin("robertson").run(method="auto", t=(0, 1e11), rtol=1e-9, atol={"y1": 1e-18, "y2": 1e-23, "y3": 1e-13},
                                     k1=[0.02, 0.04, 0.08], samples=np.geomspace(1e-5, 1e11, 300))
ds.saltus.plot(["y1", "y2"], events=False)[0].figure.savefig("robertson.png")
print(ds["switched"].values, float(ds["final_y1"][1]))  # 2.083340149701e-08: Hairer and Wanner's reference
