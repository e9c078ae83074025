#!/usr/bin/env python3
"""Cost of derivatives with respect to parameters, on one core: a table in Markdown.

    bench/sensitivities.py SALTUS [--quick] [--revision TEXT]

Ensembles run without derivatives and with those by 1, 3 and 8 parameters and initial values, in turn, on one thread at rtol = 1e-6
(lorenz 1e-8). A number is the processor time of a run with k derivatives over 1 + k times that of the run without just before, each
minus that of a run of 8 instances: the median of the rounds.
"""
import argparse
import os
import statistics
import tempfile

from core_seconds import core_seconds, settings

VALVES = ["sample.flow.uniform=[1.0, 9.0]", "initial.pressure=0.1", "initial.lift=0.2", "initial.velocity=0.0"]
HIRES = ["sample.k1.uniform=[1.6, 1.8]"]
OSCILLATORS = ["sample.mu.uniform=[500.0, 1500.0]", "initial.x=2.0", "initial.v=0.0"]
BY = {
    "relief_valve": ["restitution", "flow", "initial.pressure", "initial.lift", "initial.velocity"],
    "lorenz": ["rho", "sigma", "beta"],
    "hires": ["k1", "k2", "k3", "k4", "k5", "k6", "k_plus", "k_star"],
    "van_der_pol": ["mu", "initial.x", "initial.v"],
}
# model, method, instances, settings
RUNS = [
    ("relief_valve", "dp5", 3000, VALVES),
    ("lorenz", "dp5", 60000, ["sample.rho.uniform=[0.0, 21.0]", "rtol=1e-8"]),
    ("relief_valve", "rodas5p", 10000, VALVES),
    ("hires", "rodas5p", 40000, HIRES),
    ("hires", "esdirk4", 20000, HIRES),
    ("hires", "radau5", 10000, HIRES),
    ("van_der_pol", "rodas5p", 5000, OSCILLATORS),
    ("van_der_pol", "esdirk4", 5000, OSCILLATORS),
    ("van_der_pol", "radau5", 5000, OSCILLATORS),
]


def processor_seconds(saltus, file, run, count, k):
    model, method, _, texts = run
    words = settings(["rtol=1e-6", *texts])
    if k > 0:
        words += settings(["sensitivity.parameters=[{}]".format(", ".join(f'"{name}"' for name in BY[model][:k]))])
    return core_seconds(saltus, model, ["--method", method, "-n", str(count), *words], file)[0]


def ratios(saltus, file, run, rounds):
    """The seconds without derivatives, and for each k the ratio of a run with them to 1 + k times these."""
    model, _, count, _ = run
    asked = [0] + [k for k in (1, 3, 8) if k <= len(BY[model])]

    def seconds(k, instances):
        return processor_seconds(saltus, file, run, instances, k)

    for k in asked:
        seconds(k, 8)  # compiles
    few = {k: min(seconds(k, 8) for _ in range(3)) for k in asked}
    taken = [{k: seconds(k, count) - few[k] for k in asked} for _ in range(rounds)]
    return (statistics.median(t[0] for t in taken),
            {k: statistics.median(t[k] / t[0] for t in taken) / (1 + k) for k in asked[1:]})


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("saltus")
    asked.add_argument("--quick", action="store_true")
    asked.add_argument("--revision", default="")
    asked = asked.parse_args()
    print(f"saltus {asked.revision}, one core\n")
    print("| model | method | seconds without | k = 1 | k = 3 | k = 8 |")
    print("|---|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for run in RUNS[:4:3] if asked.quick else RUNS:
            without, with_k = ratios(asked.saltus, os.path.join(folder, "kept.nc"), run, 1 if asked.quick else 7)
            cells = " | ".join(f"{with_k[k]:.2f}" if k in with_k else "" for k in (1, 3, 8))
            print(f"| `{run[0]}` | `{run[1]}` | {without:.2f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
