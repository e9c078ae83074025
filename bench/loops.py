#!/usr/bin/env python3
"""Closed loops over a thousand turns in ensembles: a table in Markdown.

    bench/loops.py SALTUS [--count N] [--part X] [--backend NAME] [--only TEXT]

Each ensemble is one command with dop853 at rtol = 1e-10, and every instance makes a thousand turns or more; with --part X the time
spans are multiplied by X. `open by` is the largest residual of any constraint, of positions or of velocities, after any accepted step
of any instance; `energy` is the largest variation of an instance's energy relative to its initial value, where the energy should be
constant. Reads the files by netCDF4.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import netCDF4
import numpy

# Name, varied quantity, time span, conserves energy.
ENSEMBLES = [
    ("four_bar", "speed={uniform=[8.0,12.0]}", 600.0, True),
    ("slider_crank", "v_crank={uniform=[8.0,12.0]}", 1055.0, True),
    ("slider_crank_with_stop", "restitution={uniform=[0.3,0.8]}", 6284.0, False),
    ("andrews_squeezer", "stiffness={uniform=[4000.0,5000.0]}", 1.06, True),
]


def measured(saltus, backend, count, part, name, sample, t_end, keeps_energy):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "loops.nc"
        settings = ["rtol=1e-10", "atol=1e-10", f"t=[0.0,{t_end * part}]", f"sample.{sample}", "max_steps=100000000", "max_events=1000000"]
        if keeps_energy:
            settings.append('output.reduce=["min(energy)","max(energy)"]')
        run = subprocess.run([saltus, "run", name, "--method", "dop853", "-n", str(count), "--seed", "1", "--backend", backend, "--json",
                              "-q", "-o", file, *(word for s in settings for word in ("--set", s))], capture_output=True, text=True)
        if not run.stdout:
            sys.exit(run.stderr)
        told = json.loads(run.stdout)
        with netCDF4.Dataset(file) as data:
            data.set_auto_mask(False)
            spread = None
            if keeps_energy:
                low, high = (data[f"{what}(energy)"][:] for what in ("min", "max"))
                spread = float(numpy.max((high - low) / numpy.maximum(abs(low), abs(high))))
            return told, float(numpy.max(data["residual"][:])), int(numpy.min(data["events"][:])), spread


def main():
    options = argparse.ArgumentParser()
    options.add_argument("saltus")
    options.add_argument("--count", type=int, default=10000)
    options.add_argument("--part", type=float, default=1.0)
    options.add_argument("--backend", default="all")
    options.add_argument("--only", default="", help="ensembles with this in their names")
    given = options.parse_args()
    print("| ensemble | instances | finished | least events | steps | on | s | open by | energy |")
    print("|---|---:|---:|---:|---:|---|---:|---:|---:|")
    for name, sample, t_end, keeps_energy in ENSEMBLES:
        if given.only not in name:
            continue
        told, residual, events, spread = measured(given.saltus, given.backend, given.count, given.part, name, sample, t_end, keeps_energy)
        device = told["device"].split(",")[0]
        energy = "" if spread is None else f"{spread:.1e}"
        print(f"| {name} | {told['instances']:,} | {told['status'].get('finished', 0):,} | {events:,} | {told['steps']:,} | {device} | "
              f"{told['wall_seconds']:.1f} | {residual:.1e} | {energy} |", flush=True)


if __name__ == "__main__":
    main()
