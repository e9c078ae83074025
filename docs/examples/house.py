# A year of hourly weather in 40 houses: the heat that insulation saves, and the switching times of heaters in a week of winter. Over the
# year the heat balance closes, with the mean outside temperature of the table.
import numpy as np
import pandas as pd

import saltus

hours, noise = np.arange(8761.0), np.random.default_rng(2).normal(0, 2.5, 8761)
outdoor = pd.Series(9 - 10 * np.cos(2 * np.pi * hours / 8760) - 4 * np.cos(2 * np.pi * hours / 24) + noise * (hours % 8760 > 0), hours)
house = saltus.builtin("house")
walls = {"resistance": np.linspace(3, 10, 40), "tables": {"outdoor": outdoor}, "rtol": 1e-8}
year = house.run(t=(0, 8760), reduce=["mean(temperature)"], **walls)
year.saltus.plot.outcome("final_heat").figure.savefig("house.png")
house.run(t=(240, 408), events=True, **walls).saltus.plot.raster().figure.savefig("house_week.png")

lost = 8760 * (year["mean(temperature)"] - np.trapezoid(outdoor) / 8760) / year["resistance"]
kept = 4.0 * (year["final_temperature"] - 20.0)  # by the walls and the air of the house, of 4 kWh/K
print(float(abs(year["final_heat"] / (lost + kept) - 1).max()))
