#!/usr/bin/env python3
"""Models of any order and index (docs/high_index.md) from their built-in texts, without hints: results beside reference values.
Markdown to stdout.

    bench/high_index.py SALTUS [--quick] [--models a,b] [--only PART] [--texts FOLDER] [--revision TEXT]

--texts: a folder to read the models from instead of the program. --only: a part, `models`, `orbits`, `coordinates`, `shuttle` or `robots`.

Every model of tests/reference/any_order.json runs to each time for which the file has values: by Taylor series at three tolerances,
by dop853 at one, and stiff ones also by rodas5p at two; one instance in one lane on one thread. Correct digits are those of the value
with the fewest: its error over the largest reference value of this quantity, or over 0.001 if that is more. Seconds are those of the
integration. Then follow errors along two tight orbits beside published ones; local coordinates beside the projection of ends, and
Campbell's method as in his paper (bench/peers/campbell_ucp.py); both branches of the shuttle; 10,000 robots with different parameters,
three of them beside SciPy (bench/peers/scipy_parallel_robot.py). Needs h5py, numpy and scipy.
"""
import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy

REFERENCE = Path(__file__).resolve().parent.parent / "tests" / "reference" / "any_order.json"
WAYS = (("taylor", "1e-6"), ("taylor", "1e-9"), ("taylor", "1e-12"), ("dop853", "1e-9"))
ONE_WAY = ("taylor", "1e-9")
IMPLICIT = [("rodas5p", "1e-6"), ("rodas5p", "1e-9")]
TOO_STIFF = ("ring_modulator_any_order", "ring_modulator_index_2", "nand_gate_any_order")  # for more than ONE_WAY explicitly
STIFF = TOO_STIFF + ("charge_pump", "flexible_slider_crank", "transistor_amplifier_any_order")
LIMIT = 60  # seconds of an instance
LEAST = 1e-3  # smallest reference size of an error
REMARKS = {
    "ring_modulator_any_order": "Stiff: a stray capacitance of 2 pF at some ohms is discharged within 1e-10 s.",
    "ring_modulator_index_2": "Stiffer without the stray capacitances: a coil behind a blocked diode has a time constant below 1e-9 s.",
    "nand_gate_any_order": "Stiff: steps of explicit methods are those of stability, not of accuracy.",
    "flexible_slider_crank": "q_3_d2 is the acceleration of a stretch that vibrates at 10 kHz: its error is that of q_3 times 4e9, and is not "
                             "controlled by implicit methods.",
    "transistor_amplifier_any_order": "Stiff, but not so much that an explicit method could not follow.",
}


# Published largest errors of x1 and x2 on [0, 30] for a tolerance of 1e-6.
PUBLISHED_ORBITS = {10: "0.013, 0.0042; 0.0128, 0.0036 with new coordinates in every step (which is which by size)",
                    100: "fixed coordinates fail; up to 0.012 with others (read from a figure)"}
SPREAD = {"Fs": 3.0, "Fv": 0.5, "Kc": 600.0, "Ti": 300.0, "Td": 0.05, "m1": 0.82, "m2": 0.14, "m3": 0.5, "m4": 5.0}


def ways_of(model, quick):
    return ([ONE_WAY] if quick or model in TOO_STIFF else list(WAYS)) + (IMPLICIT if model in STIFF else [])


class Saltus:
    def __init__(self, program, texts, folder):
        self.program, self.texts, self.file = program, texts, str(Path(folder) / "result.nc")

    def told(self, *words):
        done = subprocess.run([self.program, *words], capture_output=True, text=True)
        try:
            return json.loads(done.stdout)
        except json.JSONDecodeError:
            sys.exit(f"saltus {' '.join(words)}: {done.stderr}")

    def described(self, model):
        return self.told("describe", "--json", self.name(model))

    def name(self, model):
        return os.path.join(self.texts, model + ".hpp") if self.texts else model

    def run(self, model, method, settings):
        """The summary, values of instance 0 or of all, and the event log as pairs of guard and time."""
        told = self.told("run", self.name(model), "--method", method, "--quiet", "--json", "--force", "-o", self.file,
                         *(word for s in settings for word in ("--set", s)))
        with h5py.File(self.file) as data:
            values = {name[6:]: data[name][...] for name in data if name.startswith("final_")}
            values["t"] = data["t_final"][...]
            events = []
            if "event_guard" in data:
                kind = data["event_guard"].attrs
                meanings = kind["flag_meanings"]
                meanings = meanings.decode() if isinstance(meanings, bytes) else str(meanings)
                names = dict(zip((int(n) for n in kind["flag_values"]), meanings.split()))
                events = [(names[int(g)], float(t)) for g, t in zip(data["event_guard"][...], data["event_time"][...])]
        return told, values, events


def scales(entries):
    r = {}
    for entry in entries:
        for name, value in entry["values"].items():
            r[name] = max(r.get(name, LEAST), abs(value))
    return r


def digits(error):
    if not error < math.inf:
        return "-"
    return f"{min(-math.log10(error), 16.0):.1f}" if error > 0 else "16.0"


def compared(told, values, events, entry, scale):
    """Correct digits and the quantity that has them, and the distance of events from those of the reference."""
    if not told["ok"]:
        return "-", "", ""
    errors = {name: abs(float(values[name][0]) - value) / scale[name] for name, value in entry["values"].items()}
    worst = max(errors, key=lambda name: errors[name])
    expected = entry.get("events")
    if not expected:
        return digits(errors[worst]), worst, ""
    if "events_in_all" not in entry and len(events) != len(expected) or [e[0] for e in events[: len(expected)]] != [e[0] for e in expected]:
        return digits(errors[worst]), worst, "others"
    return digits(errors[worst]), worst, f"{max(abs(a[1] - b[1]) for a, b in zip(events, expected)):.0e}"


def table_of(saltus, model, entries, ways):
    described = saltus.described(model)
    structure, begin = described["structure"], described["t"][0]
    print(f"### {model}\n\n{described['title']}. Index {structure['index']}, {structure['degrees_of_freedom']} degrees of freedom, "
          f"{len(structure['c'])} equations. {REMARKS.get(model, '')}\n")
    with_events = any("events" in entry for entry in entries)
    print(f"| to | method | rtol | correct digits | fewest of | steps | rejected | events |{' off by |' if with_events else ''} s | status |")
    print(f"|---:|---|---:|---:|---|---:|---:|---:|{'---:|' if with_events else ''}---:|---|", flush=True)
    scale = scales(entries)
    slow = set()  # settings that were too slow for a shorter run
    for entry in entries:
        own = entry.get("parameters", {})
        until = f"{entry['t_end']:.9g}" + "".join(f", {name} = {value:g}" for name, value in own.items())
        for method, rtol in ways:
            settings = [f"rtol={rtol}", f"t=[{begin}, {entry['t_end']}]", "output.events=true", "run.lanes=1", "run.threads=1",
                        f"run.instance_time_limit={LIMIT}", "max_steps=1000000000",
                        *(f"parameters.{name}={value}" for name, value in own.items())]
            if (method, rtol) in slow:
                print(f"| {until} | {method} | {rtol} | - | | | | |{' |' if with_events else ''} | too slow, as above |")
                continue
            told, values, events = saltus.run(model, method, settings)
            status = next(iter(told["status"]))
            if told["rescued"]:
                status += f", rescued from {next(iter(told['rescued_from']))}"
            if not told["ok"]:
                status += f" at {float(values['t'][0]):.4g}"
                if "time_limit" in told["status"]:
                    slow.add((method, rtol))
            correct, worst, off = compared(told, values, events, entry, scale)
            print(f"| {until} | {told['method']} | {rtol} | {correct} | {worst} | {told['steps']} | {told['rejected']} | {told['events']} |"
                  f"{f' {off} |' if with_events else ''} {told['wall_seconds']:.2g} | {status} |", flush=True)
    print()


def orbits(saltus):
    """Errors along the whole of two orbits, at 3001 points."""
    print("## Tight orbits\n\nLargest errors at 3001 points of [0, 30]; the constraint is that of the equations, x3 is zero exactly.\n")
    print("| b | method | rtol | x1 | x2 | x3 | constraint | steps | published, tolerance 1e-6 |\n|---:|---|---:|---:|---:|---:|---:|---:|---|")
    for b in (10, 100):
        for method, rtol in (("taylor", "1e-6"), ("dop853", "1e-6"), ("dp5", "1e-6"), ("taylor", "1e-12")):
            told, _, _ = saltus.run("tight_orbits", method, [f"rtol={rtol}", f"parameters.b={b}", "output.samples={count=3001}",
                                                             "run.lanes=1", "run.threads=1"])
            with h5py.File(saltus.file) as data:
                t, x1, x2, x3 = (data[n][...].ravel() for n in ("time", "x1", "x2", "x3"))
            w = math.sqrt(b)
            off = abs(x1 - numpy.cos(w * t)).max(), abs(x2 - numpy.sin(w * t) / w).max()
            print(f"| {b} | {told['method']} | {rtol} | {off[0]:.1e} | {off[1]:.1e} | {abs(x3).max():.1e} | "
                  f"{abs(x1 * x1 + b * x2 * x2 - 1.0).max():.1e} | {told['steps']} | {PUBLISHED_ORBITS[b]} |", flush=True)
    print()


def errors_on_orbit(file, b):
    with h5py.File(file) as data:
        t, x1, x2, x3 = (data[n][...].ravel() for n in ("time", "x1", "x2", "x3"))
        residual = float(data["residual"][...].max())
    w = math.sqrt(b)
    return (max(abs(x1 - numpy.cos(w * t)).max(), abs(x2 - numpy.sin(w * t) / w).max()),
            max(abs(x3).max(), abs(x1 * x1 + b * x2 * x2 - 1.0).max()), residual)


def coordinates(saltus, reference, quick):
    """The variables in which a step is made: all values with the end projected, tangents, or some of the values."""
    print("## Coordinates of a step\n\n`all`: all values are integrated, and the end of a step is put back onto the constraints; `unitary`, "
          "`partitioned`: local coordinates. Errors of the orbits are the largest at 3001 points of [0, 30], others those at the end, "
          "relative as above; `off`: the constraint and x3 at these points; `residual`: the largest of an equation after any step. Seconds are the "
          "least of three runs, without samples.\n")
    print("| model | method | coordinates | rtol | correct digits | off | residual | steps | rejected | ms | status |\n"
          "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---|")
    cases = [("tight_orbits", {"b": 10}), ("tight_orbits", {"b": 100}), ("rod_pendulum", {}), ("shuttle_reentry", {}), ("car_axis_any_order", {})]
    ways = [("dp5", c) for c in ("all", "unitary", "partitioned")] + [("dop853", c) for c in ("all", "unitary", "partitioned")] + \
           [("taylor", "all"), ("taylor", "unitary")]
    ways = ways[:2] if quick else ways
    for model, own in cases[:2] if quick else cases:
        begin, entry = saltus.described(model)["t"][0], reference[model][-1]
        span = [] if own else [f"t=[{begin}, {entry['t_end']}]"]
        for method, chosen in ways:
            for rtol in ("1e-6", "1e-9"):
                settings = [f"rtol={rtol}", f"coordinates={chosen}", "run.lanes=1", "run.threads=1", "output.events=false", *span,
                            *(f"parameters.{name}={value}" for name, value in own.items())]
                told, values, _ = saltus.run(model, method, settings)
                with h5py.File(saltus.file) as data:
                    residual = float(data["residual"][...].max())
                seconds = min([told["wall_seconds"]] + [saltus.run(model, method, settings)[0]["wall_seconds"] for _ in range(2)])
                off = ""
                if own:
                    saltus.run(model, method, settings + ["output.samples={count=3001}"])
                    error, apart, _ = errors_on_orbit(saltus.file, own["b"])
                    correct, off = digits(error), f"{apart:.0e}"
                else:
                    correct = compared(told, values, [], {"values": entry["values"]}, scales(reference[model]))[0]
                print(f"| {model}{''.join(f', {n} = {v}' for n, v in own.items())} | {told['method']} | {chosen} | {rtol} | {correct} | {off} | "
                      f"{residual:.0e} | {told['steps']} | {told['rejected']} | {1e3 * seconds:.1f} | {next(iter(told['status']))} |", flush=True)
    peer = Path(__file__).resolve().parent / "peers" / "campbell_ucp.py"
    print("\nCampbell's own method, written from the paper in Python: the full derivative array with a rank decision, Adams-Bashforth-Moulton "
          "of order 4 with variable steps, new coordinates in every step, steps by H211b.\n")
    print(subprocess.run([sys.executable, str(peer)], capture_output=True, text=True, check=True).stdout)


def shuttle(saltus):
    """The two bank angles that meet the prescribed drag at the same place and speed."""
    print("## Both branches of the shuttle\n\nThe bank angle follows from the second derivative of the constraint, which two angles meet. "
          "Guesses of it at the start, in degrees, and where they lead at rtol = 1e-9; angles in degrees.\n")
    print("| guess | at the start | after 10 s | after 50 s | after 87 s | steps | status |\n|---:|---:|---:|---:|---:|---:|---|")
    begin = 332.868734542
    for guess in (41.1, 20.0, 60.0, -41.1, -20.0, -60.0, 318.883):
        told, values, _ = saltus.run("shuttle_reentry", "taylor", [
            "rtol=1e-9", f"initial.beta={math.radians(guess)}", f"output.samples={{times=[{begin}, {begin + 10}, {begin + 50}, {begin + 87}]}}",
            "run.lanes=1", "run.threads=1"])
        with h5py.File(saltus.file) as data:
            angles = " | ".join(f"{math.degrees(a):.8f}" for a in data["beta"][...].ravel())
        print(f"| {guess} | {angles} | {told['steps']} | {next(iter(told['status']))} |", flush=True)
    print()


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def robots(saltus, count):
    spread = ", ".join(f"{name}={{uniform=[{0.9 * value:.6g}, {1.1 * value:.6g}]}}" for name, value in SPREAD.items())
    settings = lambda n: ["rtol=1e-9", f"sample={{count={n}, {spread}}}", "run.threads=1"]
    saltus.run("parallel_robot", "taylor", settings(8))  # compiles
    before = processor_seconds()
    told, values, _ = saltus.run("parallel_robot", "taylor", settings(count))
    seconds = processor_seconds() - before
    with h5py.File(saltus.file) as data:
        steps, events = data["steps"][...], data["events"][...]
        own = [{name: float(data[name][k]) for name in SPREAD} for k in range(3)]
    alone = settings(1)[:1] + ["run.lanes=1", "run.threads=1"]
    saltus.run("parallel_robot", "taylor", alone)
    one = min(saltus.run("parallel_robot", "taylor", alone)[0]["wall_seconds"] for _ in range(5))
    print(f"## {count} robots\n\nWith {', '.join(SPREAD)} each uniform within 10 % of its value, rtol = 1e-9, "
          f"{told['method']}, one thread ({told['device'].split(',')[0]}).\n")
    print("| instances | status | rescued | events of an instance | steps of an instance | processor time, s | of an instance, ms |\n"
          "|---:|---|---:|---:|---:|---:|---:|")
    statuses = ", ".join(f"{n} {name}" for name, n in told["status"].items())
    print(f"| {count} | {statuses} | {told['rescued']} | {events.min()} to {events.max()} | {steps.min()} to {steps.max()} | {seconds:.1f} | "
          f"{1e3 * seconds / count:.1f} |\n")
    peer = Path(__file__).resolve().parent / "peers" / "scipy_parallel_robot.py"
    print("The first three of them by SciPy's DOP853, reduced by hand to six states, processor time of one core:\n\n"
          "| instance | events: saltus | SciPy | largest difference of q, q', sum | SciPy, s |\n|---:|---:|---:|---:|---:|")
    slowest = []
    for k, parameters in enumerate(own):
        words = [f"{name}={value!r}" for name, value in parameters.items()]
        done = subprocess.run([sys.executable, peer, "--rtol", "1e-9", *words], capture_output=True, text=True, check=True,
                              env=dict(os.environ, OPENBLAS_NUM_THREADS="1"))
        theirs = json.loads(done.stdout)
        apart = max(abs(theirs[n] - float(values[n][k])) for n in ("q_0", "q_1", "q_0_d1", "q_1_d1", "sum_0", "sum_1"))
        slowest.append(theirs["seconds"])
        print(f"| {k} | {events[k]} | {theirs['events']} | {apart:.0e} | {theirs['seconds']:.2f} |", flush=True)
    typical = sorted(slowest)[1]
    print(f"\nAn instance takes saltus {1e3 * one:.0f} ms by itself in one lane, {1e3 * seconds / count:.1f} ms among {count}; SciPy "
          f"{typical:.1f} s: {typical / one:.0f} and {typical * count / seconds:.0f} times as long.\n")


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("saltus")
    asked.add_argument("--quick", action="store_true")
    asked.add_argument("--models", default="")
    asked.add_argument("--only", choices=("models", "orbits", "coordinates", "shuttle", "robots"))
    asked.add_argument("--texts", default="")
    asked.add_argument("--revision", default="")
    asked = asked.parse_args()
    reference = json.loads(REFERENCE.read_text())
    models = asked.models.split(",") if asked.models else list(reference)
    if asked.quick:
        models = [m for m in models if m in ("rod_pendulum", "index_chain_7", "half_wave_rectifier")]
    print(f"saltus {asked.revision}, one core\n")
    with tempfile.TemporaryDirectory() as folder:
        saltus = Saltus(os.path.abspath(asked.saltus), asked.texts and os.path.abspath(asked.texts), folder)
        if asked.only in (None, "models"):
            print("## Models\n")
            for model in models:
                table_of(saltus, model, reference[model], ways_of(model, asked.quick))
        if asked.only in (None, "orbits"):
            orbits(saltus)
        if asked.only in (None, "coordinates"):
            coordinates(saltus, reference, asked.quick)
        if asked.only in (None, "shuttle"):
            shuttle(saltus)
        if asked.only in (None, "robots"):
            robots(saltus, 16 if asked.quick else 10000)


if __name__ == "__main__":
    main()
