#!/usr/bin/env python3
"""Cost of the mean of a state, on one core: a table in Markdown.

    bench/quadratures.py SALTUS [--quick] [--revision TEXT]

The nine ensembles of docs/benchmarks.md run unchanged and with `reduce = ["mean(STATE)"]` for each state in turn, at rtol 1e-6 and
1e-9. A time is the processor time minus that of a run of 8 instances, a ratio the median of the rounds. A mean takes part in error
control: the ratio of the trial steps shows this part of its cost.
"""
import argparse
import json
import os
import statistics
import tempfile

from core_seconds import core_seconds, settings

BALL = ["t=[0.0, 10.0]", "sample.height.uniform=[5.0, 20.0]", "sample.restitution.uniform=[0.85, 0.95]"]
WAVES = ["t=[0.0, 2.0]", "sample.frequency_1.uniform=[20e3, 1e6]", "frequency_2=300e3"]
# model, method, instances, states, settings
RUNS = [
    ("lorenz", "dp5", 100_000, ["x", "z"], ["t=[0.0, 10.0]", "sample.rho.uniform=[0.0, 21.0]"]),
    ("bouncing_ball", "dp5", 200_000, ["height", "velocity"], BALL),
    ("ball_drag", "dp5", 100_000, ["height", "velocity"], [*BALL, "drag=0.01"]),
    ("bok_1", "dp5", 200_000, ["y1", "y3"], ["t=[0.0, 3.0]", "sample.A.uniform=[0.35, 0.45]"]),
    ("coulomb_oscillator", "dp5", 40_000, ["position", "velocity"],
     ["t=[0.0, 50.0]", "sample.amplitude.uniform=[0.75, 1.0]"]),
    ("keller_miksis", "dp5", 20_000, ["radius", "velocity"], WAVES),
    ("relief_valve", "dp5", 10_000, ["lift", "pressure"], ["t=[0.0, 40.0]", "sample.flow.uniform=[0.5, 10.0]"]),
    ("van_der_pol", "rodas5p", 20_000, ["x", "v"], ["t=[0.0, 2000.0]", "sample.mu.uniform=[500.0, 1500.0]"]),
    ("robertson", "rodas5p", 50_000, ["y1", "y2"],
     ["t=[0.0, 1e4]", "sample.k1.uniform=[0.032, 0.048]", "sample.k2.uniform=[8e3, 1.2e4]",
      "sample.k3.uniform=[2.4e7, 3.6e7]"]),
]


def run_of(saltus, file, run, rtol, mean, count):
    """Processor seconds and trial steps of one run."""
    model, method, _, _, texts = run
    words = [*settings([f"rtol={rtol}", *texts, *([f'output.reduce=["mean({mean})"]'] if mean else [])]), "--method", method]
    seconds, text = core_seconds(saltus, model, [*words, "-n", str(count)], file)
    totals = json.loads(text)
    return seconds, totals["steps"] + totals["rejected"]


def row(saltus, file, run, rtol, rounds):
    """Microseconds per instance without a mean, and for each state the ratios of time and of steps with its mean."""
    count, asked = run[2], [None, *run[3]]
    few = {mean: min(run_of(saltus, file, run, rtol, mean, 8)[0] for _ in range(3)) for mean in asked}
    taken = []
    for _ in range(rounds):
        one = {mean: run_of(saltus, file, run, rtol, mean, count) for mean in asked}
        taken.append({mean: (seconds - few[mean], steps) for mean, (seconds, steps) in one.items()})
    without = statistics.median(t[None][0] for t in taken)
    times = [statistics.median(t[mean][0] / t[None][0] for t in taken) for mean in run[3]]
    steps = [taken[0][mean][1] / taken[0][None][1] for mean in run[3]]
    return 1e6 * without / count, times, steps


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("saltus")
    asked.add_argument("--quick", action="store_true")
    asked.add_argument("--revision", default="")
    asked = asked.parse_args()
    print(f"saltus {asked.revision}, one core: how many times as long a run takes with one mean, and how many times as many steps\n")
    print("| ensemble | method | rtol | µs without | mean of | time | steps | mean of | time | steps |")
    print("|---|---|---:|---:|---|---:|---:|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for run in RUNS[:2] if asked.quick else RUNS:
            for rtol in ("1e-6", "1e-9"):
                without, times, steps = row(asked.saltus, os.path.join(folder, "kept.nc"), run, rtol, 1 if asked.quick else 5)
                cells = " | ".join(f"`{s}` | {t:.2f} | {n:.2f}" for s, t, n in zip(run[3], times, steps))
                print(f"| `{run[0]}` | `{run[1]}` | {rtol} | {without:.2f} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
