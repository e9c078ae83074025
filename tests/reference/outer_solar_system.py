#!/usr/bin/env python3
"""Positions in the outer solar system after 20,000 days, by heyoka in 80-bit arithmetic at 1e-19, for tests/test_taylor.cpp."""
import re
from pathlib import Path

import heyoka as hy
import numpy as np

real = np.longdouble
data = (Path(__file__).resolve().parents[2] / "bench" / "models" / "parts" / "outer_solar_system.hpp").read_text()


def numbers(name):
    return [float(v) for v in re.findall(r"[-\d.][-\d.e]*", re.search(rf" {name}\b[^=]*=([^;]*);", data)[1])]


system = hy.model.nbody(6, Gconst=numbers("gravity")[0], masses=numbers("mass"))
state = np.array(numbers("start"), dtype=real)
integrator = hy.taylor_adaptive(system, state, tol=real(1e-19), fp_type=real)
integrator.propagate_until(real(20000))
for i in range(6):
    print("{" + ", ".join(np.format_float_positional(v, precision=17, fractional=False) for v in integrator.state[6 * i:6 * i + 3]) + "},")
