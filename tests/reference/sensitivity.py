#!/usr/bin/env python3
"""Sensitivity indices by SALib for the samples that saltus makes: sensitivity.json.

    pip install SALib netCDF4
    tests/reference/sensitivity.py PATH/TO/saltus > tests/reference/sensitivity.json

SALib (J. Herman, W. Usher, J. Open Source Softw. 2 (2017) 97) gets the results of the instances, and for Morris trajectories also the
samples of the file.
"""
import json
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import netCDF4
import numpy
from SALib.analyze import fast, morris, sobol

MODELS = Path(__file__).parent.parent / "models"
ISHIGAMI = {name: (-3.0, 3.0) for name in "abc"}
G = {f"x{i}": (0.0, 1.0) for i in range(1, 9)}
CASES = [
    ("ishigami", ISHIGAMI, "{name='saltelli',second_order=true}", 256),
    ("sobol_g", G, "saltelli", 128),
    ("ishigami", ISHIGAMI, "morris", 50),
    ("sobol_g", G, "{name='morris',levels=8}", 30),
    ("ishigami", ISHIGAMI, "fast", 257),
    ("sobol_g", G, "{name='fast',harmonics=3}", 400),
]


def run(program, model, inputs, design, count, folder):
    """The samples in the unit cube and the results."""
    file = Path(folder) / "result.nc"
    sets = [f"sample.design={design}", f"sample.count={count}", "seed=11"]
    sets += [f"sample.{name}={{uniform=[{low},{high}]}}" for name, (low, high) in inputs.items()]
    words = [word for s in sets for word in (["--seed", "11"] if s == "seed=11" else ["--set", s])]
    subprocess.run([program, "run", MODELS / f"{model}.hpp", *words, "-q", "--force", "-o", file],
                   check=True, stdout=subprocess.DEVNULL)
    with netCDF4.Dataset(file) as data:
        x = numpy.array([(data[name][:] - low) / (high - low) for name, (low, high) in inputs.items()]).T
        return numpy.array(x), numpy.array(data["final_y"][:])


def salib(inputs, design, count, x, y):
    """Index by name, each a list over inputs or pairs."""
    k = len(inputs)
    problem = {"num_vars": k, "names": list(inputs), "bounds": [[0.0, 1.0]] * k}
    if "saltelli" in design:
        second = "second_order" in design
        r = sobol.analyze(problem, y, calc_second_order=second, num_resamples=2)
        indices = {"first_order": r["S1"], "total_order": r["ST"]}
        if second:
            indices["second_order"] = [r["S2"][i][j] for i in range(k) for j in range(i + 1, k)]
        return indices
    if "morris" in design:
        r = morris.analyze(problem, x, y, num_levels=8 if "levels" in design else 4, num_resamples=2)
        return {name: r[name] for name in ("mu", "mu_star", "sigma")}
    r = fast.analyze(problem, y, M=3 if "harmonics" in design else 4, num_resamples=2)
    return {"first_order": r["S1"]}


def main():
    cases = []
    with tempfile.TemporaryDirectory() as folder:
        for model, inputs, design, count in CASES:
            x, y = run(sys.argv[1], model, inputs, design, count, folder)
            indices = salib(inputs, design, count, x, y)
            low, high = next(iter(inputs.values()))
            cases.append({"model": model, "inputs": list(inputs), "low": low, "high": high, "design": design, "count": count,
                          "seed": 11, "indices": {name: [float(v) for v in values] for name, values in indices.items()}})
    print(json.dumps({"made_by": f"SALib {version('SALib')}, numpy {numpy.__version__}", "cases": cases}, indent=1))


if __name__ == "__main__":
    main()
