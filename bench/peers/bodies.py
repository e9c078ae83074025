#!/usr/bin/env python3
"""Ensembles of mechanical systems by saltus, one command each, beside SUNDIALS's IDA on their stabilised form of index 2
(bench/peers/bodies.cpp), at equal error. Markdown to stdout.

    bench/peers/bodies.py SALTUS PEER [--quick] [--revision TEXT] [--only MODEL]

saltus draws the parameters; IDA reads the same ones from a table. Both have atol = rtol. The error of an instance is the largest
|y_i - r_i| / (1 + |r_i|) over positions and velocities at the end, with r by saltus at a very low tolerance; IDA at its lowest
tolerance checks r. Among the settings whose median error is within the required one, the fastest is selected for IDA, and the one
with the fewest evaluations for saltus. Times are processor time of one core: of the whole program for an ensemble, minus that of
eight instances alone.
"""
import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import netCDF4
import numpy

ASKED = (1e-4, 1e-6)


class Ensemble:
    """`drawn`: the varied parameters, in the order of bodies.cpp. `judged`: number of instances whose errors are computed."""

    def __init__(self, model, states, t_end, count, judged, drawn, reference, by_saltus, by_ida):
        self.model, self.states, self.t_end = model, states, t_end
        self.count, self.judged, self.drawn = count, judged, drawn
        self.reference, self.by_saltus, self.by_ida = reference, by_saltus, by_ida


def decades(*exponents):
    return [10.0**e for e in exponents]


ENSEMBLES = [
    Ensemble("compound_pendulum", 6, 5.0, 100_000, 200, {"length": (0.5, 2.0), "friction": (0.0, 1.0)}, ("dop853", 1e-13),
             {"dp5": decades(-4, -5, -6, -7), "dop853": decades(-3, -4, -5, -6, -7)}, decades(-4, -5, -6, -7, -8)),
    Ensemble("hmmwv7p", 42, 1.3, 10_000, 24, {"bushing": (1e7, 4e7), "speed": (4.0, 5.0)}, ("inflsdirk4", 1e-8),
             {"inflsdirk4": decades(-2, -2.5, -3, -3.5, -4, -4.5, -5)}, decades(-2, -3, -4, -5, -6, -7)),
    Ensemble("slack_pendulum", 4, 6.0, 10_000, 200, {"length": (0.8, 1.2), "speed": (1.6, 1.95)}, ("dop853", 1e-13),
             {"dp5": decades(-4, -5, -6, -7), "dop853": decades(-3, -4, -5, -6, -7)}, decades(-4, -5, -6, -7, -7.5)),
]


def processor_seconds():
    """Processor time of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_saltus(saltus, of, method, rtol, count):
    """Final states [instance][state], success flags, inputs [instance][parameter], seconds of the program, evaluations."""
    settings = [f"rtol={rtol}", f"atol={rtol}", f"t=[0.0, {of.t_end}]", f"sample.count={count}", "sample.seed=1", "run.threads=1", "run.lanes=8"]
    settings += [f"sample.{name}={{uniform=[{low!r}, {high!r}]}}" for name, (low, high) in of.drawn.items()]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ensemble.nc"
        words = [word for s in settings for word in ("--set", s)]
        begin = processor_seconds()
        done = subprocess.run([saltus, "run", of.model, "--method", method, "--json", "-o", file, *words], capture_output=True,
                              text=True)
        if done.returncode not in (0, 1) or not file.exists():
            sys.exit(f"saltus: {of.model} by {method} at {rtol}: {done.stderr}")
        seconds = processor_seconds() - begin
        with netCDF4.Dataset(file) as data:
            finals = [name for name in data.variables if name.startswith("final_")]  # states, then other quantities
            y = numpy.column_stack([numpy.asarray(data[name][:]) for name in finals[:of.states]])
            inputs = numpy.column_stack([numpy.asarray(data[name][:]) for name in of.drawn])
            well = numpy.asarray(data["status"][:]) <= 1
            evaluations = float(data["rhs_evaluations"][:].mean())
    return y, well, inputs, seconds, evaluations


def error_of(y, well, reference):
    each = (numpy.abs(y - reference) / (1.0 + numpy.abs(reference))).max(axis=1)
    each[~well] = numpy.inf
    return float(numpy.median(each)), float(numpy.quantile(each, 0.95, method="higher"))


def ask(server, rtol, seconds, states, table):
    server.stdin.write(f"{rtol!r} {seconds!r} {int(states)} {table}\n")
    server.stdin.flush()
    return json.loads(server.stdout.readline())


def settings_of_ida(server, of, reference, table, quick):
    """[(rtol, median error, 95 % below, microseconds)] without settings that fail, and the lowest median."""
    settings = []
    for rtol in of.by_ida[:2] if quick else of.by_ida:
        told = ask(server, rtol, 0.0 if quick else 0.3, True, table)
        if told["failed"] > 0:
            print(f"IDA at {rtol:.0e}: {told['failed']} of {of.judged} {of.model} fail", file=sys.stderr)
            continue
        y = numpy.array(told["y"])
        settings.append((rtol, *error_of(y, numpy.full(len(y), True), reference), told["us"]))
    return settings, min(s[1] for s in settings)


def compare(saltus, peer, of, quick):
    """Rows of the table, and the distance of IDA's best result from the reference."""
    judged, count = (16, 64) if quick else (of.judged, of.count)
    reference, well, inputs, *_ = run_saltus(saltus, of, *of.reference, judged)
    if not well.all():
        sys.exit(f"saltus: no reference for {of.model}")
    tried = []
    for method, tolerances in of.by_saltus.items():
        for rtol in tolerances[-2:] if quick else tolerances:
            y, well, *_, evaluations = run_saltus(saltus, of, method, rtol, judged)
            tried.append((method, rtol, *error_of(y, well, reference), evaluations))
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        numpy.savetxt(table, inputs, fmt="%.17g", delimiter=",", header=",".join(of.drawn), comments="")
        server = subprocess.Popen([peer, of.model, str(of.t_end)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with server:
            by_ida, lowest = settings_of_ida(server, of, reference, table, quick)
            # All instances at the first required error, a tenth of them at the others.
            rows = [row for asked in ASKED
                    if (row := beside(saltus, of, asked, tried, by_ida, server, table, count if asked == ASKED[0] else count // 10))]
    return rows, lowest


def beside(saltus, of, asked, tried, by_ida, server, table, count):
    """One row: the whole ensemble by saltus with the setting of the fewest evaluations, and IDA timed right after it."""
    good = [s for s in tried if s[2] <= asked]
    if not good:
        return None
    method, rtol, median, most, _ = min(good, key=lambda s: s[4])
    *_, before, _ = run_saltus(saltus, of, method, rtol, 8)
    _, well, _, seconds, _ = run_saltus(saltus, of, method, rtol, count)
    seconds = (seconds - before) / (count - 8)
    cells = [of.model, f"{count:,}", f"{asked:.0e}", f"{method}, {rtol:.1e}", f"{median:.1e}", f"{most:.1e}",
             f"{int(well.sum()):,}", f"{1.0 / seconds:,.0f}", f"{seconds * 1e6:,.1f}"]
    good = [s for s in by_ida if s[1] <= asked]
    if not good:
        return cells + ["-"] * 5
    rtol, median, most, _ = min(good, key=lambda s: s[3])
    us = ask(server, rtol, 0.5, False, table)["us"]
    return cells + [f"{rtol:.1e}", f"{median:.1e}", f"{most:.1e}", f"{us:,.0f}", f"{us / seconds / 1e6:.1f}"]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("saltus")
    arguments.add_argument("peer")
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--revision", default="")
    arguments.add_argument("--only")
    chosen = arguments.parse_args()
    about = json.loads(subprocess.run([chosen.peer, "--about"], capture_output=True, text=True, check=True).stdout)
    print(f"saltus {chosen.revision}, SUNDIALS {about['version']} by {about['compiler']}, {time.strftime('%Y-%m-%d')}, one core\n")
    print("| ensemble | instances | median error below | saltus: by, rtol | error: median | 95 % below | right | instances/s | "
          "us per instance | IDA: rtol | error: median | 95 % below | us per instance | times saltus |")
    print("|---|---:|---:|---|---:|---:|---:|---:|---:|---|---:|---:|---:|---:|")
    checks = []
    for of in (e for e in ENSEMBLES if chosen.only in (None, e.model)):
        rows, lowest = compare(chosen.saltus, chosen.peer, of, chosen.quick)
        checks.append(f"{of.model} {lowest:.0e}")
        for row in rows:
            print("| " + " | ".join(row) + " |", flush=True)
    print("\nMedian distance of the references from IDA at its best tolerance: " + ", ".join(checks) + ".")


if __name__ == "__main__":
    main()
