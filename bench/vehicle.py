#!/usr/bin/env python3
"""Half a vehicle on a bump (problems/hmmwv7p.hpp) by the methods for stiff mechanical systems: errors against the tolerance as in
tables 6 and 7 of E. J. Haug, D. Negrut and C. Engstler, and the cost of an explicit method. Markdown to stdout.

    bench/vehicle.py SALTUS [--quick] [--revision TEXT]

An error is the largest at 2001 evenly spaced times over two seconds, against inflsdirk4 at a tolerance of 1e-10; the paper has another
vehicle. Seconds are processor time of one core without the program's own: of a single instance in one lane, and of one among 64
(explicit methods: 8) with different bushings in 8 lanes, without samples.
"""
import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import netCDF4
import numpy

POINTS = 2001
EXPLICIT = ("bs3",)  # the explicit method with the largest stability region per evaluation
WATCHED = ("x_0", "z_0", "vx_0", "vz_0")  # chassis
# Nine minimal coordinates, DOP853 at 1e-12 with steps limited by stability; SciPy's Radau agrees to 6e-13.
EXACT = {"x_0": 8.940814594361786, "z_0": 0.713993119624616}


def processor_seconds():
    """Processor time of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(saltus, method, rtol, points=POINTS, lanes=1, count=1, until=2.0):
    """Counters and seconds of the program, and the watched states of instance 0 at all points."""
    settings = [f"rtol={rtol}", f"atol={rtol}", f"t=[0.0, {until}]", f"output.samples={{count={points}}}", f"run.lanes={lanes}", "run.threads=1",
                "max_steps=10000000", f"sweep.bushing={{from=2e7, to={2e7 if count == 1 else 3e7}, count={count}}}"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "vehicle.nc"
        words = [word for s in settings for word in ("--set", s)]
        begin = processor_seconds()
        done = subprocess.run([saltus, "run", "hmmwv7p", "--method", method, "-q", "-o", file, *words], capture_output=True,
                              text=True)
        told = {"seconds": processor_seconds() - begin}
        if done.returncode != 0:
            sys.exit(f"saltus with {method} at {rtol}: {done.stderr}")
        with netCDF4.Dataset(file) as data:
            told["counts"] = {name: float(data[name][0]) for name in ("steps", "rejected", "rhs_evaluations")}
            states = {name: numpy.array(data[name][0]) for name in WATCHED}
    return told, states


def seconds_of_one(saltus, method, rtol, lanes, count):
    """Excludes the time of a run of a millisecond. The first run may compile."""
    for _ in range(2):
        before = run(saltus, method, rtol, 2, lanes, count, 1e-3)[0]["seconds"]
    return (run(saltus, method, rtol, 2, lanes, count)[0]["seconds"] - before) / count


def errors(states, reference):
    return [float(numpy.abs(states[name] - reference[name]).max()) for name in WATCHED]


def row(saltus, method, rtol, reference, shared):
    told, states = run(saltus, method, rtol)
    counts = told["counts"]
    alone, together = seconds_of_one(saltus, method, rtol, 1, shared // 8), seconds_of_one(saltus, method, rtol, 8, shared)
    cells = [f"{rtol:.0e}", *(f"{e:.2e}" for e in errors(states, reference)),
             *(f"{counts[name]:,.0f}" for name in ("steps", "rejected", "rhs_evaluations")),
             f"{alone:.3g}", f"{together:.3g}"]
    print(f"| {method} | " + " | ".join(cells) + " |", flush=True)
    return alone, together


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("saltus")
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--revision", default="")
    chosen = arguments.parse_args()
    tolerances = (1e-2,) if chosen.quick else (1e-2, 1e-3, 1e-4, 1e-5)
    _, reference = run(chosen.saltus, "inflsdirk4", 1e-6 if chosen.quick else 1e-10)
    off = {name: abs(reference[name][-1] - value) for name, value in EXACT.items()}
    print(f"saltus {chosen.revision}, {time.strftime('%Y-%m-%d')}, one core\n")
    print("Half a vehicle on a bump, 2 s. At the end the reference is off by "
          f"{off['x_0']:.0e} m forward and {off['z_0']:.0e} m upward from a run in minimal coordinates.\n")
    print("| method | tolerance | x, m | z, m | x', m/s | z', m/s | steps | rejected | evaluations | s, alone | s, of 64 in 8 lanes |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    seconds = {}
    for method in ("inflsdirk4", "infltrap"):
        for rtol in tolerances:
            seconds[method, rtol] = row(chosen.saltus, method, rtol, reference, 64)
    explicit = {}
    for method in () if chosen.quick else EXPLICIT:
        explicit[method] = row(chosen.saltus, method, 1e-3, reference, 8)
    if not explicit:
        return
    best = [min(explicit.values(), key=lambda s: s[k])[k] for k in range(2)]
    print("\nHow many times as long the explicit method takes, which stability limits to the same steps at any of these "
          "tolerances:\n")
    print("| tolerance | " + " | ".join(f"{method}: alone | in 8 lanes" for method in ("inflsdirk4", "infltrap")) + " |")
    print("|---|---:|---:|---:|---:|")
    for rtol in tolerances:
        ratios = [best[k] / seconds[method, rtol][k] for method in ("inflsdirk4", "infltrap") for k in range(2)]
        print(f"| {rtol:.0e} | " + " | ".join(f"{r:.3g}" for r in ratios) + " |")


if __name__ == "__main__":
    main()
