#!/usr/bin/env python3
"""The outer solar system after 20,000 days, by heyoka in 80-bit arithmetic at 1e-19: positions, for tests/test_taylor.cpp."""
import re
from pathlib import Path

import heyoka as hy
import numpy as np

real = np.longdouble
text = (Path(__file__).resolve().parent.parent / "models" / "outer_solar_system.hpp").read_text()
rows = re.findall(r"\{(-?[\d.]+(?:, -?[\d.]+){5})\}", text)
start = [[real(v) for v in np.array(row.split(", "), dtype=float)] for row in rows]
mass = [1.00000597682, 0.000954786104043, 0.000285583733151, 4.37273164546e-5, 5.17759138449e-5, 1.0 / 1.3e8]
system = hy.model.nbody(6, Gconst=2.95912208286e-4, masses=mass)
state = np.array([v for body in start for v in body], dtype=real)
integrator = hy.taylor_adaptive(system, state, tol=real(1e-19), fp_type=real)
integrator.propagate_until(real(20000))
for i in range(6):
    print("{" + ", ".join(np.format_float_positional(v, precision=17, fractional=False) for v in integrator.state[6 * i:6 * i + 3]) + "},")
