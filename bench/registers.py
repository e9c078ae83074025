#!/usr/bin/env python3
"""Registers of mechanical models compiled by NVRTC for sm_90, by `saltus check --cuda`, which needs no device. Markdown to stdout.

    bench/registers.py SALTUS [--limit SECONDS] [--revision TEXT] [MODEL ...]

SALTUS is a build with the CUDA plug-in (cmake --preset cuda). A model that exceeds the limit is listed as such.
"""
import argparse
import json
import os
import subprocess
import time

MODELS = ("index_3_pendulum", "compound_pendulum", "slider_crank", "andrews_squeezer", "four_bar")
METHODS = ("dp5", "inflsdirk4")


def seconds_of_children():
    used = os.times()
    return used.children_user + used.children_system


def report(saltus, model, method, limit):
    """The kernels by name and the processor time; no kernels after `limit` seconds."""
    begin = seconds_of_children()
    try:
        done = subprocess.run([saltus, "check", model, "--method", method, "--no-pilot", "--cuda", "sm_90", "--json"],
                              capture_output=True, text=True, check=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, limit
    told = json.loads(done.stdout)
    kernels = next(part for part in (told, *(v for v in told.values() if isinstance(v, dict))) if "kernels" in part)
    return {k["kernel"].removeprefix("saltus_"): k for k in kernels["kernels"]}, seconds_of_children() - begin


def size_of(saltus, model):
    """Numbers of velocities and constraints."""
    told = json.loads(subprocess.run([saltus, "describe", model, "--json"], capture_output=True, text=True, check=True).stdout)
    constraints = len(told["constraints"])
    return len(told["states"]) - told["coordinates"], constraints


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("saltus")
    arguments.add_argument("models", nargs="*", default=MODELS)
    arguments.add_argument("--limit", type=float, default=1800.0)
    arguments.add_argument("--revision", default="")
    chosen = arguments.parse_intermixed_args()
    print(f"saltus {chosen.revision}, {time.strftime('%Y-%m-%d')}, mechanical models of k velocities and m constraints\n")
    print("| model | k + m | method | begin | sail | warps | stored, loaded by spills | local | land | compiled in, s |")
    print("|---|---:|---|---:|---:|---:|---:|---:|---:|---:|")
    for model in chosen.models:
        k, m = size_of(chosen.saltus, model)
        for method in METHODS:
            kernels, seconds = report(chosen.saltus, model, method, chosen.limit)
            if kernels is None:
                print(f"| {model} | {k} + {m} | {method} | - | - | - | - | - | - | more than {seconds:.0f} |", flush=True)
                continue
            sail = kernels["sail"]
            print(f"| {model} | {k} + {m} | {method} | {kernels['begin']['registers']} | {sail['registers']} | {sail['warps']} | "
                  f"{sail['spill_store_bytes']:,}, {sail['spill_load_bytes']:,} | {sail['local_bytes']:,} | "
                  f"{kernels['land']['registers']} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
