#!/usr/bin/env python3
"""Cost of one instance from Python beside its integration, and a root search over an ensemble's outcome.

    PYTHONPATH=build/cpu/python build/venv/bin/python bench/python_one.py
"""
import time

import numpy as np
from scipy.optimize import brentq

import saltus
from saltus import _core
from saltus._dataset import dataset
from saltus._settings import Settings


def shortest(call, repeats=300):
    """Shortest time of a call in milliseconds; on a busy machine longer times measure the other programs."""
    call()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


def parts(model, options):
    """Parts of the time of a run, in milliseconds."""
    def settings():
        return Settings(options, model.parameters, model.states)

    def plan():
        s = settings()
        return _core.plan(model._core, "model", str(model.header), s.given, s.arrays, "")

    made = plan()
    result = _core.run(made, False, None)
    return {"settings": shortest(settings), "settings and plan": shortest(plan),
            "run": shortest(lambda: _core.run(made, False, None)), "dataset": shortest(lambda: dataset(made, result)),
            "all": shortest(lambda: model.run(**options))}


def main():
    ball = saltus.builtin("bouncing_ball")
    for label, options in (("nothing to integrate", {"t": (0, 1e-9)}), ("one bounce", {"t": (0, 0.5)}),
                           ("one bounce, one thread", {"t": (0, 0.5), "threads": 1})):
        print(f"bouncing_ball, {label}: " + ", ".join(f"{k} {v:.3f} ms" for k, v in parts(ball, options).items()))

    def rebound(e):
        return float(ball.run(t=(0, 0.6), restitution=e, reduce=["max(velocity)"])["max(velocity)"]) - 2.0

    rebound(0.5)
    begin = time.perf_counter()
    root, about = brentq(rebound, 0.1, 0.9, full_output=True)
    seconds = time.perf_counter() - begin
    exact = 2.0 / np.sqrt(2 * 9.81)
    print(f"brentq: {about.function_calls} runs in {seconds:.4f} s, {1e3 * seconds / about.function_calls:.2f} ms each; "
          f"root {root:.9f}, exact {exact:.9f}")
    heights = np.linspace(1, 2, 1000)

    def mean_rebound(e):
        ds = ball.run(t=(0, 1.0), height=heights, restitution=e, reduce=["max(velocity)"])
        return float(ds["max(velocity)"].mean())

    mean_rebound(0.5)
    calls, begin, busy = 20, time.perf_counter(), time.process_time()
    for e in np.linspace(0.3, 0.9, calls):
        mean_rebound(e)
    print(f"{calls} runs of {len(heights)} balls: {time.perf_counter() - begin:.4f} s, {time.process_time() - busy:.4f} s of "
          "processor time")


if __name__ == "__main__":
    main()
