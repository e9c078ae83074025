#!/usr/bin/env python3
"""The built-in models on two machines: every variable of the results has the same bits.

    same_machines.py SALTUS OTHER [--lanes N] [--jobs N] [--count N] [--seconds S] [--table FILE] [PATTERN ...]

SALTUS and OTHER are command lines of the program, as `build/cpu/saltus` and `"qemu-aarch64 -L SYSROOT build/aarch64/saltus"`. Each
model runs by its default method with events, samples and reductions, its first parameters drawn within 2 %; on OTHER with --lanes.
`draws` is a run with inputs from all distributions.
A pattern is a regular expression over names of models. A model that takes a machine more than S seconds is not compared. Which NaN a
variable holds is not compared: machines differ in the sign of 0/0.
"""

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import netCDF4
import numpy as np

DRAWN = 3  # parameters
#: Settings of `lorenz` that show draws from all distributions. Its states hardly change.
DRAWS = ["sample.count=10000", "sample.seed=1", "t=[0.0,1e-6]", "sample.sigma={beta=[2.3,3.5]}", "sample.rho={gamma=[2.5,1.5]}",
         "sample.beta={weibull=[1.5,2.0]}", "sample.x={log_uniform=[0.1,10.0]}", "sample.y={lognormal=[0.0,0.5]}",
         "sample.z={normal=[1.0,0.2]}"]
READING = threading.Lock()  # the NetCDF library serves one thread at a time


def settings_of(model, count):
    """Words of the command line for an ensemble of a model, as `describe` tells it."""
    words = ["sample.seed=1", f"sample.count={count}", "output.events=true", "output.samples.count=5", "run.allowed_failed=1.0"]
    drawn = [p for p in model["parameters"] if p["default"] != 0.0] or [s for s in model["states"] if s["default"] != 0.0]
    for p in drawn[:DRAWN]:
        low, high = sorted((0.98 * p["default"], 1.02 * p["default"]))
        words.append(f"sample.{p['name']}={{uniform=[{low!r},{high!r}]}}")
    of = model["states"][0]["name"]
    words.append(f"output.reduce=['max({of})','mean({of})']")
    return words


def result_of(program, words, file, seconds):
    """The variables of a run, or the reason why there are none."""
    words = [*words, "--threads", "1", "--backend", "cpu", "--quiet", "--force", "-o", str(file)]
    try:
        run = subprocess.run([*program, "run", *words], capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, f"takes more than {seconds} s"
    if run.returncode != 0:
        return None, run.stderr.strip().split("\n")[-1]
    with READING, netCDF4.Dataset(file) as data:
        data.set_auto_mask(False)
        return {name: np.asarray(of[...]) for name, of in data.variables.items()}, ""


def number_of_other_bits(a, b):
    """How many numbers of two arrays differ in their bits, but for two NaN."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return max(a.size, b.size, 1)
    if a.dtype.kind != "f":
        return int(np.sum(a != b))
    a, b = a.ravel(), b.ravel()
    bits = f"u{a.dtype.itemsize}"
    return int(np.sum((a.view(bits) != b.view(bits)) & ~(np.isnan(a) & np.isnan(b))))


def compare(a, b):
    """The variables that differ, with the number of different values; empty: none."""
    if a.keys() != b.keys():
        return f"other variables: {', '.join(sorted(a.keys() ^ b.keys()))}"
    different = [(name, number_of_other_bits(a[name], b[name])) for name in a]
    return ", ".join(f"{name} ({n} of {max(a[name].size, b[name].size)})" for name, n in different if n > 0)


def outcome_of(name, options, folder):
    """(outcome, remark): equal, DIFFERENT or not compared."""
    here = shlex.split(options.saltus)
    if name == "draws":
        words = ["lorenz"]
        settings = DRAWS
    else:
        described = subprocess.run([*here, "describe", name, "--json"], capture_output=True, text=True, check=True).stdout
        words = [name]
        settings = settings_of(json.loads(described), options.count)
    words += [word for setting in settings for word in ("--set", setting)]
    first, why = result_of(here, words, folder / f"{name}.nc", options.seconds)
    if first is None:
        return "not compared", f"here: {why}"
    lanes = ["--lanes", str(options.lanes)]
    other, why = result_of(shlex.split(options.other), words + lanes, folder / f"{name}_other.nc", options.seconds)
    if other is None:
        return "not compared", f"on the other machine: {why}"
    if different := compare(first, other):
        return "DIFFERENT", different
    return "equal", f"{sum(v.size for v in first.values())} values"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("saltus")
    parser.add_argument("other")
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--lanes", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--table", type=Path)
    options = parser.parse_intermixed_args()
    listed = subprocess.run([*shlex.split(options.saltus), "list", "--json"], capture_output=True, text=True, check=True).stdout
    names = [one["model"] for one in json.loads(listed)["models"]] + ["draws"]
    names = [name for name in names if not options.patterns or any(re.fullmatch(p, name) for p in options.patterns)]
    if not names:
        sys.exit("no model has such a name")
    rows = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(outcome_of, name, options, Path(folder)): name for name in names}
        for done in as_completed(running):
            rows.append((running[done], *done.result()))
            print(f"{rows[-1][0]:28} {rows[-1][1]}: {rows[-1][2]}", flush=True)
    if options.table:
        lines = [("model", "outcome", "remark"), ("---",) * 3, *sorted(rows)]
        options.table.write_text("".join(f"| {' | '.join(line)} |\n" for line in lines))
    count = {outcome: sum(row[1] == outcome for row in rows) for outcome in ("equal", "DIFFERENT", "not compared")}
    print(", ".join(f"{n} {outcome}" for outcome, n in count.items()))
    return 1 if count["DIFFERENT"] or not count["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
