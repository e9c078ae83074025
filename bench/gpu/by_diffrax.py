#!/usr/bin/env python3
"""Ensembles by diffrax (JAX), on its default device, in double precision: JSON to stdout, one object per line.

    bench/gpu/by_diffrax.py [--counts=10000,100000] [--seconds=60] [--reference=FILE] [--result=FILE]

Two ensembles of bench/gpu/run.sh: lorenz (rho 0 .. 21, t 0 .. 10) and robertson (k1 0.02 .. 0.06, t 0 .. 1e4), each by
the methods below with rtol 1e-6 and a PI controller, all instances under one vmap. The time is that of a call which
leaves the final states in the device's memory, without compilation. The best of three, or fewer if time is short.

`error` is the median over 1000 instances of max |y - r| / (1 + |r|) against lorenz by --reference, a result file of
saltus with those 1000 instances and a tight tolerance. With --result, another file, it reports the same for saltus. Both
options need h5py.
"""
import argparse
import json
import sys
import time

import diffrax
import jax
import jax.numpy as jnp
import numpy

jax.config.update("jax_enable_x64", True)
checked = 1000  # instances whose error is computed
started = time.monotonic()


def lorenz(t, y, rho):
    return jnp.stack([10.0 * (y[1] - y[0]), y[0] * (rho - y[2]) - y[1], y[0] * y[1] - 8.0 / 3.0 * y[2]])


def robertson(t, y, k1):
    first, second, third = k1 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    return jnp.stack([second - first, first - second - third, third])


# name: right-hand side, initial state, end, range of the parameter, atol per state, first step, methods
ensembles = {
    "lorenz": (lorenz, [10.0] * 3, 10.0, (0.0, 21.0), [1e-6] * 3, None, [diffrax.Dopri5, diffrax.Tsit5, diffrax.Dopri8]),
    "robertson": (robertson, [1.0, 0.0, 0.0], 1e4, (0.02, 0.06), [1e-9, 1e-13, 1e-9], 1e-6, [diffrax.Kvaerno5]),
}


def final_states(path):
    """[instance, state] of a result file of saltus."""
    import h5py

    with h5py.File(path) as file:
        return numpy.stack([file[f"final_{name}"][:] for name in "xyz"], axis=1)


def median_error(states, reference):
    return float(numpy.median(numpy.max(numpy.abs(states - reference) / (1.0 + numpy.abs(reference)), axis=1)))


def integration(name, method):
    """All instances at once: parameters to (final states, trial steps, all succeeded)."""
    rhs, begin, end, _, atol, first_step, _ = ensembles[name]
    controller = diffrax.PIDController(rtol=1e-6, atol=jnp.array(atol), pcoeff=0.4, icoeff=0.3)

    def one(parameter):
        r = diffrax.diffeqsolve(
            diffrax.ODETerm(rhs), method(), 0.0, end, first_step, jnp.array(begin), args=parameter,
            stepsize_controller=controller, saveat=diffrax.SaveAt(t1=True), max_steps=100_000, throw=False,
        )
        return r.ys[0], r.stats["num_steps"], diffrax.is_okay(r.result)

    return jax.jit(jax.vmap(one))


def measure(name, method, count, deadline, reference):
    low, high = ensembles[name][3]
    parameters = jnp.linspace(low, high, count)
    run = integration(name, method).lower(parameters).compile()
    times = []
    while len(times) < 3 and (not times or time.monotonic() - started + times[-1] < deadline):
        begin = time.monotonic()
        states, steps, fine = jax.block_until_ready(run(parameters))
        times.append(time.monotonic() - begin)
    r = {
        "ensemble": name, "method": method.__name__, "instances": count, "rounds": len(times), "seconds": min(times),
        "instances_per_second": count / min(times), "trial_steps": int(steps.sum()), "failed": int((~fine).sum()),
        "device": jax.devices()[0].device_kind, "jax": jax.__version__, "diffrax": diffrax.__version__,
    }
    if name == "lorenz" and reference is not None:
        small = integration(name, method)(jnp.linspace(low, high, checked))[0]
        r["error"] = median_error(numpy.asarray(small), reference)
    print(json.dumps(r), flush=True)
    return times[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", default="10000,100000,1000000")
    parser.add_argument("--seconds", type=float, default=60, help="after these nothing new is begun")
    parser.add_argument("--reference", help="result file of saltus: 1000 instances of lorenz, tight tolerance")
    parser.add_argument("--result", help="the same with rtol 1e-6")
    words = parser.parse_args()
    reference = None
    try:
        reference = final_states(words.reference) if words.reference else None
        if reference is not None and words.result:
            error = median_error(final_states(words.result), reference)
            print(json.dumps({"ensemble": "lorenz", "method": "saltus dp5", "error": error}), flush=True)
    except (ImportError, OSError, KeyError) as reason:
        print(f"errors are not told: {reason}", file=sys.stderr)
    for name, (*_, methods) in ensembles.items():
        for method in methods:
            took = 0.0
            for count in map(int, words.counts.split(",")):
                # The next count takes up to ten times as long, and compiles.
                if time.monotonic() - started + 10 * took > words.seconds:
                    break
                took = measure(name, method, count, words.seconds, reference)


main()
