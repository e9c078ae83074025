import numpy as np
import saltus
from weather import hours, outdoor

house = saltus.builtin("house")


def study(n, rtol):
    ds = house.run(t=(0, 8760), rtol=rtol, resistance=np.linspace(4, 6, n), tables={"outdoor": (hours, outdoor)})
    return ds["final_temperature"].values
