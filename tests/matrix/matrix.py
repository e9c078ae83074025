#!/usr/bin/env python3
"""The matrix: form of equations x method x requested output x way of running, each cell against a closed form.

    matrix.py SALTUS [--all | --pairs | --sample | --day N] [--table FILE] [--keep FOLDER] [PATTERN ...]

Without --all a part of the sample runs, another one every day for three days; with --sample the whole of it. A pattern is a
regular expression over names as printed, such as `plain/dp5/lanes`. Every cell is right (its error is within its bound), rejected
before it runs with an expected sentence, or a failure that the status names. Anything else is wrong and makes the exit code 1.
--keep keeps the specs of the runs, so that they can run again. With SALTUS_CUDA_PLUGIN there is one more way of running, `device`.
"""

import argparse
import collections
import datetime
import functools
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import netCDF4
import numpy as np
import zarr

from closed_form import Trajectory, derivative
from forms import FORMS

HERE = Path(__file__).resolve().parent

EXPLICIT = ["kutta3", "bs3", "rk4", "rkf45", "rkf78", "dp5", "tsit5", "dop853", "rdpk510"]
SERIES = ["taylor8", "taylor12", "taylor16", "taylor20"]
IMPLICIT = ["trapezoid", "sdirk4", "esdirk4", "rodas4", "rodas5p", "radau5", "radau9", "radau13"]
MECHANICAL = ["infltrap", "inflsdirk4", "inflesdirk4"]
METHODS = EXPLICIT + SERIES + IMPLICIT + MECHANICAL + ["auto"]

MODES = ["plain", "lanes", "chunks", "continued", "parts", "zarr", "from", "rerun", "float", "backward", "certified"]
SAME_BITS = ["lanes", "chunks", "continued", "parts", "zarr", "rerun", "device"]  # same bits as plain
if os.environ.get("SALTUS_CUDA_PLUGIN"):  # on a machine without a device: libsaltus_emulated_cuda.so
    MODES += ["device"]

OF_QUANTITY = ["min", "max", "mean", "integral", "time(min)", "time(max)", "std", "rms", "quantile", "median"]
OF_EVENT = ["count", "first", "last"]
REDUCTIONS = [k + w for w in ("", " window") for k in OF_QUANTITY + OF_EVENT] + ["value"]
ROWS = ["finals", "outputs", "events", "samples"]
NO_ROWS = ["statistics", "histogram", "bands"]
DERIVATIVES = ["d " + a for a in ROWS + REDUCTIONS]
WITH_DERIVATIVES = ["min", "max", "mean", "integral", "time(min)", "time(max)", "std", "rms", *OF_EVENT]
DIFFERENTIABLE = ["d " + a for a in [*ROWS, *WITH_DERIVATIVES, "value"]]
DIFFERENTIABLE += ["d " + a + " window" for a in WITH_DERIVATIVES]
ASKED = ROWS + REDUCTIONS + NO_ROWS + DERIVATIVES

# An error may be ten times the effect of moving all states by their tolerance. Methods of order 2 and 3 take many steps, whose
# errors accumulate, so they are judged by a looser tolerance, as is inflsdirk4, which loses order in motions with large rotations. With
# constant steps the tolerance is the accuracy that these reach.
ALLOWED = 10.0
LOW_ORDER = {"trapezoid": 1e-4, "infltrap": 1e-4, "kutta3": 1e-5, "bs3": 1e-5, "inflsdirk4": 1e-6}


def allowed_rtol(method, mode):
    """The tolerance for judging errors."""
    return max(LOW_ORDER.get(method, 1e-7), 1e-4 if mode == "float" else 0.0)


def rtol_of(method, mode):
    """The tolerance requested from the run."""
    return allowed_rtol(method, mode) / (10.0 if method in LOW_ORDER else 1.0)


def span_of(mode):
    return (0.0, -1.5) if mode == "backward" else (0.0, 3.0)


def window_of(mode):
    return (-0.3, -1.2) if mode == "backward" else (1.4, 2.6) if mode == "from" else (0.6, 1.9)


def instant_of(mode):
    return -0.7 if mode == "backward" else 1.53


# Quantities with reductions; if empty, also a state.
QUANTITIES = ["fast"]

SAMPLES = 31


def times_of(mode):
    return tuple(np.linspace(PAUSE if mode == "from" else 0.0, span_of(mode)[1], SAMPLES))


PAUSE = 1.25  # end of a run that another one continues


def reductions_of(form, asked, mode):
    """(requested output, its text, kind, quantity, argument, window) of each reduction."""
    for kind in asked:
        if kind not in REDUCTIONS:
            continue
        word, _, windowed = kind.partition(" ")
        window = window_of(mode) if windowed else None
        suffix = f" from {window[0]} to {window[1]}" if windowed else ""
        for name in form.events[:2] if word in OF_EVENT else QUANTITIES or (form.slow_state, "fast"):
            argument = {"quantile": 0.3, "value": instant_of(mode)}.get(word)
            text = f"{word}({name})"
            if word == "quantile":
                text = f"quantile({name}, 0.3)"
            if word == "value":
                text = f"value({name} at {argument})"
            if word.startswith("time"):
                text = f"time({word[5:8]}({name}))"
            yield kind, text + suffix, word, name, argument, window


# One run


def spec_of(form, method, mode, asked, kind):
    begin, end = span_of(mode)
    if mode == "pause":
        end = PAUSE
    tolerance = rtol_of(method, mode)
    lines = [f'model = "{HERE}/models/{form.header}.hpp"', f'method = "{method}"', f"rtol = {tolerance}"]
    if mode == "from":
        lines += [f"t = {end}"]
    else:
        lines += [f"t = [{begin}, {end}]"]
    if method in ("kutta3", "rk4"):
        lines += ["step = 0.005"]
    if mode == "float":
        lines += ['precision = "float"']
    if mode == "certified":
        lines += ['detection = "certified"']
    lines += [form.settings] if form.settings else []
    if mode == "from":
        lines += ["[initial]", 'from = "pause.nc"']
    else:
        lines += ["[sweep]", f"{form.parameter} = {list(form.values)}"]
    if kind == "derivatives":
        lines += ["[sensitivity]", f'parameters = ["{form.parameter}"]', "error_control = true"]
    # Four floats fill no register, and g++ takes five times as long for them as for eight.
    lines += ["[run]", f"lanes = {dict(lanes=1, float=8).get(mode, 4)}"]
    lines += [f'backend = "{"cuda" if mode == "device" else "cpu"}"']
    lines += ["threads = 2", "chunk = 2"] if mode in ("chunks", "continued", "parts") else ["threads = 1"]
    plain = [a.removeprefix("d ") for a in asked]
    texts = [r[1] for r in reductions_of(form, plain, mode)]
    lines += ["[output]", "reduce = [" + ", ".join(f'"{t}"' for t in texts) + "]"]
    if "samples" in plain or "bands" in plain:
        lines += [f"samples = {{ count = {SAMPLES} }}"]
    if "events" in plain and kind != "no rows":
        lines += ["events = true"]
    if kind == "no rows":
        lines += ["rows = false", "statistics = true"]
        if "histogram" in plain:
            lo, hi, bins = histogram_of(form, mode)
            lines += [f"histogram = {{ final_{form.slow_state} = {{ from = {lo}, to = {hi}, bins = {bins} }} }}"]
    return "\n".join(lines) + "\n"


def histogram_of(form, mode):
    return -2.03, 10.05, 37


class Refused(Exception):
    pass


class Broken(Exception):
    pass


class Program:
    """Runs the program in a separate folder."""

    def __init__(self, path, folder):
        self.path, self.folder = Path(path).resolve(), Path(folder)

    def __call__(self, *arguments, ok=(0,)):
        done = subprocess.run([self.path, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)
        if done.returncode == 2:
            raise Refused(done.stderr.strip())
        if done.returncode not in ok:
            raise Broken(f"exit code {done.returncode}: {done.stderr.strip()[-2000:]}")
        return done

    def result(self, form, method, mode, asked, kind):
        """Output of a run: {variable: numbers} and attributes."""
        name = "r.zarr" if mode == "zarr" else "r.nc"
        (self.folder / "spec.toml").write_text(spec_of(form, method, mode, asked, kind))
        run = ["run", "spec.toml", "-q", "--force", "-o", name]
        if mode == "from":
            (self.folder / "pause.toml").write_text(spec_of(form, method, "pause", [], "rows"))
            self("run", "pause.toml", "-q", "--force", "-o", "pause.nc")
        if mode in ("continued", "parts"):
            self(*run, "--part", "1/2")
        if mode == "parts":
            self(*run, "--part", "2/2")
            self("gather", "spec.toml", "-q", "-o", name)
        else:
            self(*run)
        if mode == "rerun":
            self("run", name, "--instance", 3, "-q", "--force", "-o", "one.nc")
            name = "one.nc"
        return read_zarr(self.folder / name) if mode == "zarr" else read_netcdf(self.folder / name)


ONE_AT_A_TIME = threading.Lock()  # the libraries below netCDF4 are not thread-safe


def read_netcdf(path):
    with ONE_AT_A_TIME, netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        variables = {n: np.asarray(v[...]) for n, v in file.variables.items() if v.dtype != str}
        return variables, {n: file.getncattr(n) for n in file.ncattrs()}


def read_zarr(path):
    group = zarr.open_group(path, mode="r")
    variables = {n: np.asarray(a[...]) for n, a in group.arrays() if a.dtype.kind in "iufb"}
    # Groups of the log are not in the consolidated metadata.
    chunks = [zarr.open_group(g, mode="r") for g in sorted((path / "event_log").glob("*/"), key=lambda g: int(g.name))]
    for n in {n for g in chunks for n, _ in g.arrays()}:
        variables[n] = np.concatenate([np.asarray(g[n][...]) for g in chunks])
    return variables, dict(group.attrs)


# Checks


@functools.cache
def closed(form_name, backward, paused, p):
    form = FORMS[form_name]
    begin, end = span_of("backward" if backward else "plain")
    if not paused:
        return Trajectory(form, p, begin, end)
    first = Trajectory(form, p, begin, PAUSE)
    return Trajectory(form, p, PAUSE, end, (first.mode, first.y))


def trajectory(form, mode, p):
    return closed(form.name.lower(), mode == "backward", mode == "from", p)


class Verdicts(dict):
    """{requested output: (worst error over its bound, place)}; `mode` is the way of running."""

    def __init__(self, mode):
        super().__init__()
        self.rounding = 2.0**-23 if mode == "float" else 1e-13

    def check(self, asked, what, got, want, slack, tolerance):
        """slack times the tolerance is the effect of moving the states; rounding is added."""
        got, want, slack = np.broadcast_arrays(np.atleast_1d(got).astype(float), want, slack)
        error = np.abs(got - want)
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        if not got.size:  # no rows, and none are right
            self.setdefault(asked, (0.0, f"{what}: no rows"))
            return
        bound = ALLOWED * tolerance * slack + self.rounding * (1.0 + np.abs(want))
        ratio = np.where(same, 0.0, error / bound)
        ratio = np.where(np.isnan(ratio), np.inf, ratio)
        i = int(np.argmax(ratio))
        if ratio[i] >= self.get(asked, (-1.0, ""))[0]:
            self[asked] = (float(ratio[i]), f"{what}: {got[i]:.17g}, right is {want[i]:.17g}, allowed {bound[i]:.2g}")


def verdicts_of_rows(form, mode, asked, tolerance, result, instances):
    r, names = Verdicts(mode), form.states + form.outputs
    variables, _ = result
    if "events" in asked:
        rows = np.split(np.arange(len(variables["event_time"])), np.cumsum(variables["event_row_size"])[:-1])
    for slot, i in enumerate(instances):
        p = form.values[i]
        c = trajectory(form, mode, p)
        at = lambda what: f"{what} of instance {i}"
        get = lambda name: variables[name][slot]
        slack = c.end_slack()
        for asked_for, part in (("finals", form.states), ("outputs", form.outputs)):
            if asked_for in asked:
                for n in part:
                    k = names.index(n)
                    r.check(asked_for, at("final_" + n), get("final_" + n), c.final[k], slack[k], tolerance)
        if "finals" in asked:
            r.check("finals", at("t_final"), get("t_final"), c.end, c.events[-1].slack if c.stopped else 0.0, tolerance)
            r.check("finals", at("status"), get("status"), 1 if c.stopped else 0, 0.0, 0.0)
        if "samples" in asked:
            values, moves = c.sampled(times_of(mode))
            for k, n in enumerate(names):
                r.check("samples", at(n), get(n), values[k], moves[k], tolerance)
        if "events" in asked:
            r.check("events", at("number of events"), len(rows[slot]), len(c.events), 0.0, 0.0)
            r.check("events", at("counter of events"), get("events"), len(c.events), 0.0, 0.0)
            for row, e in zip(rows[slot], c.events):
                r.check("events", at("time of " + e.name), variables["event_time"][row], e.t, e.slack, tolerance)
                number = form.events.index(e.name)
                r.check("events", at("number of " + e.name), variables["event_guard"][row], number, 0.0, 0.0)
                moves = c.value_slack(e.t) + e.slack * c.speed(e.t)
                for k, n in enumerate(form.states):
                    for side, prefix, want in (("before", "before_", e.before), ("after", "event_", e.after)):
                        r.check("events", at(f"{n} {side} {e.name}"), variables[prefix + n][row], want[k], moves[k], tolerance)
        for asked_for, text, kind, name, argument, window in reductions_of(form, asked, mode):
            want, moves = c.reduce(kind, name, argument, window)
            got = get(text)
            if isinstance(want, list):
                want, moves = min(want, key=lambda w: abs(w[0] - got))
            r.check(asked_for, at(text), got, want, moves, 1.0 / ALLOWED if kind in ("quantile", "median") else tolerance)
    return r


def verdicts_of_statistics(form, mode, asked, tolerance, result):
    r = Verdicts(mode)
    variables, attributes = result
    names = form.states + form.outputs
    cs = [trajectory(form, mode, p) for p in form.values]
    finals = np.array([c.final for c in cs]).T
    slack = np.max([c.end_slack() for c in cs], axis=0)
    compare = lambda asked_for, what, got, values, moves, tol: r.check(
        asked_for, what, got,
        [len(values), values.mean(), values.std(ddof=1), values.min(), values.max()],
        np.array([0.0, 1.0, 1.0, 1.0, 1.0]) * moves, tol)  # fmt: skip
    if "statistics" in asked:
        for k, n in enumerate(names):
            got = variables["statistics_final_" + n][:5]
            compare("statistics", "statistics_final_" + n, got, finals[k], slack[k], tolerance)
        for _, text, kind, name, argument, window in reductions_of(form, asked, mode):
            if kind.startswith("time"):
                continue  # a value taken at several times may be that of either time
            got = [c.reduce(kind, name, argument, window) for c in cs]
            values = np.array([v for v, _ in got])
            values = values[np.isfinite(values)]
            if len(values) > 1:
                moves = max(s for _, s in got)
                compare("statistics", "statistics_" + text, variables["statistics_" + text][:5], values, moves,
                        1.0 / ALLOWED if kind in ("quantile", "median") else tolerance)  # fmt: skip
        r.check("statistics", "count_ok", attributes["count_ok"], len(cs), 0.0, 0.0)
        others = sum(attributes[n] for n in ("count_rescued", "count_failed", "count_not_finished"))
        r.check("statistics", "count of others", others, 0, 0.0, 0.0)
    if "histogram" in asked:
        lo, hi, bins = histogram_of(form, mode)
        want = np.histogram(finals[names.index(form.slow_state)], bins, (lo, hi))[0]
        r.check("histogram", "histogram", variables["histogram_final_" + form.slow_state], want, 0.0, 0.0)
    if "bands" in asked:
        times = times_of(mode)
        values = np.array([c.sampled(times)[0] for c in cs])  # [instance, quantity, time]
        moves = np.max([c.sampled(times)[1] for c in cs], axis=0)
        for k, n in enumerate(names):
            for t, got in enumerate(variables["statistics_" + n]):
                there = values[:, k, t][np.isfinite(values[:, k, t])]
                if len(there) > 1:
                    compare("bands", f"statistics_{n} at {times[t]:.3g}", got[:5], there, moves[k, t], tolerance)
    return r


def verdicts_of_derivatives(form, mode, asked, tolerance, result, instances):
    r, names = Verdicts(mode), form.states + form.outputs
    variables, _ = result
    parameter = form.parameter
    plain = [a.removeprefix("d ") for a in asked]
    reductions = list(reductions_of(form, plain, mode))
    begin, end = PAUSE if mode == "from" else 0.0, span_of(mode)[1]
    times = times_of(mode)

    def everything(p, start):
        c = Trajectory(form, p, begin, end, start)
        parts = [c.final, [c.end], [e.t for e in c.events], np.array([c.value(t) for t in times]).ravel()]
        for _, _, kind, name, argument, window in reductions:
            value = 0.0 if kind == "count" else c.reduce(kind, name, argument, window)[0]
            parts.append([value[0][0] if kind.startswith("time") else value])
        return np.concatenate(parts)

    first_row = 0
    for slot, i in enumerate(instances):
        p = form.values[i]
        c = trajectory(form, mode, p)
        # A run that continues takes the states as given, whatever they depended on.
        first = Trajectory(form, p, 0.0, PAUSE) if mode == "from" else None
        want = derivative(lambda p: everything(p, first and (first.mode, first.y)), p)
        cut = np.cumsum([len(names), 1, len(c.events), len(times) * len(names)])
        finals, moved_end, event, samples, reduced = np.split(want, cut)
        # The scale of a derivative is its largest value during the run.
        scale = 1.0 + np.nanmax(np.abs(np.where(np.isfinite(samples), samples, 0.0)).reshape(len(times), -1), axis=0)
        get = lambda name: variables[f"{name}_d_{parameter}"][slot]
        at = lambda what: f"d {what} of instance {i}"
        last = 10 * scale
        if c.stopped:  # the time of the last values changes
            last = last + c.curvature(c.end) * c.events[-1].slack * (1.0 + abs(moved_end[0]))
        for k, n in enumerate(names):
            if "d finals" in asked and k < len(form.states) or "d outputs" in asked and k >= len(form.states):
                where = "d finals" if k < len(form.states) else "d outputs"
                r.check(where, at("final_" + n), get("d_final_" + n), finals[k], last[k], tolerance)
            if "d samples" in asked:
                r.check("d samples", at(n), get("d_" + n), samples.reshape(len(times), -1)[:, k], 10 * scale[k], tolerance)
        if "d finals" in asked:
            slack = 10 * (1.0 + abs(moved_end[0])) * (1.0 + c.events[-1].slack) if c.stopped else 0.0
            r.check("d finals", at("t_final"), get("d_t_final"), moved_end[0], slack, tolerance)
        if "d events" in asked:
            n = variables["event_row_size"][slot]
            rows = variables[f"d_event_time_d_{parameter}"][first_row : first_row + n]
            first_row += n
            r.check("d events", at("number of events"), n, len(event), 0.0, 0.0)
            if n == len(event):
                slack = np.array([10 * (1.0 + abs(d)) * (1.0 + e.slack) for d, e in zip(event, c.events)])
                r.check("d events", at("event_time"), rows, event, slack, tolerance)
        for (asked_for, text, kind, name, _, _), d in zip(reductions, reduced):
            slack = 10 * (scale[names.index(name)] * 3.0 if name in names else 1.0 + abs(d))
            got = get("d_" + text)
            # Two extremes that are equal within the tolerance have no derivative. At the loose tolerance of floats the time of an
            # extreme may have none, as the curvature there is not known well enough.
            of_time = kind.startswith("time")
            extreme = kind[5:8] if of_time else kind
            if np.isnan(got) and extreme in ("min", "max"):
                if of_time and mode == "float" or c.is_tied(extreme, name, ALLOWED * tolerance):
                    d = got
            r.check("d " + asked_for, at(text), got, d, slack, tolerance)
    return r


# Rejections: the cells, and the expected sentence. Each is a sentence of the documents.

CONSTRAINED = {"mass_matrix", "varying_mass", "singular_mass", "semi_1", "semi_2", "implicit", "cornered_implicit"}
ANY_ORDER = {"any_order", "cornered_any_order"}
MECHANICAL_FORMS = {"mechanical", "contact"}


def adapts(form, method):
    """Constant steps do not resolve a corner: nothing is expected of them there."""
    return not form.startswith("cornered") or method not in ("kutta3", "rk4")


def refusal(form, method, asked, mode):
    """The words with which this cell must be rejected, or None."""
    if form in CONSTRAINED and method in EXPLICIT + SERIES:
        return "must be an implicit method"
    if method in MECHANICAL and form not in MECHANICAL_FORMS:
        return "integrates mechanical models alone"
    if form in MECHANICAL_FORMS and method in SERIES:
        return "finds no series"
    if form == "semi_2" and method not in ("radau5", "radau9", "radau13"):
        return "must be a method for index 2|auto"
    if form in ("varying_mass", "implicit", "cornered_implicit") and method in ("rodas4", "rodas5p"):
        return "must not be a Rosenbrock method"
    if method == "auto" and form in CONSTRAINED:
        return "auto"
    if mode == "certified" and method in ("kutta3", "rk4", "rkf78"):
        return "certified"
    if form in ("recorded", "delayed") and mode == "backward":
        return "forward in time"
    if form == "delayed" and (method in SERIES or mode in ("from", "float", "certified") or asked.startswith("d ")):
        return "has delays|finds no series of delayed states"
    if asked.startswith("d "):
        if form in ANY_ORDER:
            return "must be left out"
        if method in MECHANICAL:
            return "within its steps"
        if asked not in DIFFERENTIABLE:
            return "derivative"
    return None


# Cells


def kinds_of(asked):
    """The runs that it takes: outputs with rows, outputs without rows, and derivatives exclude each other."""
    kinds = {"rows": [a for a in asked if a in ROWS + REDUCTIONS]}
    if any(a in NO_ROWS for a in asked):
        kinds["no rows"] = [a for a in asked if a in NO_ROWS + REDUCTIONS]
    kinds["derivatives"] = [a for a in asked if a in DERIVATIVES]
    return {k: a for k, a in kinds.items() if a}


def same_bits(form, got, plain, instances):
    """The names of variables that differ from those of the plain run."""
    one = instances[0] if len(instances) == 1 else None
    rows = np.cumsum(plain[0]["event_row_size"]) if "event_row_size" in plain[0] else None
    bad = []
    for name, want in plain[0].items():
        if one is not None and name in ("instance", "event_instance"):
            continue
        if one is not None and want.shape:
            if name.startswith(("event_", "before_", "d_event_")) and name != "event_row_size":
                want = np.split(want, rows[:-1])[one]
            elif want.shape[0] == len(form.values):
                want = want[one]
        if name not in got[0]:
            bad.append(f"{name} is missing")
        elif got[0][name].ravel().tobytes() != want.ravel().tobytes():
            bad.append(name)
    for name, want in plain[1].items():
        if name.startswith("count_") and one is None and got[1].get(name) != want:
            bad.append(f"{name} = {got[1].get(name)} for {want}")
    return bad


class Matrix:
    def __init__(self, program, folder):
        self.path, self.folder = program, Path(folder)
        self.cells = {}  # (form, method, asked, mode) -> (outcome, detail)
        self.plain = {}
        self.refused_alike = set()

    def run(self, form_name, method, mode, asked):
        """All cells of one form, method and mode: those to be rejected one by one, the others together."""
        refused = [a for a in asked if refusal(form_name, method, a, mode)]
        for a in refused:
            self.run_refused(form_name, method, mode, a)
        for kind, part in kinds_of([a for a in asked if a not in refused]).items():
            self.run_together(form_name, method, mode, kind, part)
        report(f"{form_name}/{method}/{mode}", [(a, self.cells[form_name, method, a, mode]) for a in asked])

    def program(self, form_name, method, mode, kind):
        here = self.folder / f"{form_name}.{method}.{mode}.{kind.replace(' ', '_')}"
        shutil.rmtree(here, ignore_errors=True)
        here.mkdir(parents=True)
        return Program(self.path, here)

    def run_refused(self, form_name, method, mode, asked):
        words = refusal(form_name, method, asked, mode)
        # A rejection that is independent of the output and way of running is tried once.
        alike = form_name, method, words
        if alike not in self.refused_alike:
            kind = next(iter(kinds_of([asked])))
            program = self.program(form_name, method, mode, "refused")
            try:
                program.result(FORMS[form_name], method, mode, [asked], kind)
                self.note(form_name, method, asked, mode, "wrong", np.inf, f"not refused, as it must be: {words}")
                return
            except Refused as e:
                if not re.search(words, str(e)):
                    why = f"refused by other words than {words}: {e}"
                    self.note(form_name, method, asked, mode, "wrong", np.inf, why)
                    return
            except Broken as e:
                self.note(form_name, method, asked, mode, "wrong", np.inf, str(e))
                return
            self.refused_alike.add(alike)
        self.note(form_name, method, asked, mode, "refused", 0.0, words)

    def run_together(self, form_name, method, mode, kind, part):
        program = self.program(form_name, method, mode, kind)
        counted = [a for a in part if not (kind == "no rows" and a in REDUCTIONS)]
        try:
            result = program.result(FORMS[form_name], method, mode, part, kind)
            failed = how_failed(result, kind, mode)
            if failed:
                for a in counted:
                    self.note(form_name, method, a, mode, "failed", 0.0, failed)
                return
            if mode in SAME_BITS and not (mode == "rerun" and kind == "no rows"):
                verdicts = self.by_comparison(form_name, method, mode, kind, part, result)
            else:
                verdicts = verdicts_of(FORMS[form_name], method, mode, kind, part, result)
            if mode == "plain":
                self.plain[form_name, method, kind, tuple(part)] = result, verdicts
            for a in counted:
                ratio, where = verdicts.get(a, (np.inf, "nothing to compare"))
                self.note(form_name, method, a, mode, "right" if ratio <= 1.0 else "wrong", ratio, where)
        except (Refused, Broken) as e:
            for a in counted:
                self.note(form_name, method, a, mode, "wrong", np.inf, str(e))

    def by_comparison(self, form_name, method, mode, kind, part, result):
        """Numbers with the bits of the plain run are as right as those."""
        key = form_name, method, kind, tuple(part)
        form = FORMS[form_name]
        if key not in self.plain:
            plain = self.program(form_name, method, "plain", kind).result(form, method, "plain", part, kind)
            self.plain[key] = plain, verdicts_of(form, method, "plain", kind, part, plain)
        plain, verdicts = self.plain[key][0], dict(self.plain[key][1])
        bad = same_bits(form, result, plain, [3] if mode == "rerun" else range(len(form.values)))
        texts = {a: [r[1] for r in reductions_of(form, [a.removeprefix("d ")], mode)] for a in part}
        for name in bad:
            blamed = [a for a in part if any(t in name for t in texts[a])] or part
            for a in blamed:
                verdicts[a] = (np.inf, f"{name} has other bits than in the plain run")
        return verdicts

    def note(self, form_name, method, asked, mode, outcome, ratio, detail):
        self.cells[form_name, method, asked, mode] = (outcome, ratio, detail)


def how_failed(result, kind, mode):
    variables, attributes = result
    if kind == "no rows" and mode != "rerun":
        n = attributes["count_failed"] + attributes["count_not_finished"]
        return f"{n} of the instances failed" if n else ""
    bad = sorted(set(np.atleast_1d(variables["status"]).tolist()) - {0, 1})
    return f"status {bad}" if bad else ""


def verdicts_of(form, method, mode, kind, part, result):
    tolerance = allowed_rtol(method, mode)
    instances = [3] if mode == "rerun" else range(len(form.values))
    if kind == "rows":
        return verdicts_of_rows(form, mode, part, tolerance, result, instances)
    if kind == "derivatives":
        return verdicts_of_derivatives(form, mode, part, tolerance, result, instances)
    if mode == "rerun":
        # An instance of a result without rows is run again with all its inputs.
        rows = verdicts_of_rows(form, mode, [*ROWS[:2], *(r for r in part if r in REDUCTIONS)], tolerance, result, instances)
        return dict.fromkeys(part, max(rows.values()))
    return verdicts_of_statistics(form, mode, part, tolerance, result)


# Selection of cells

EVERYTHING = ROWS + REDUCTIONS + NO_ROWS + DIFFERENTIABLE
OWN_MODULE = ["lanes", "float", "backward", "certified", "device"]

# The sample: each form (of those with corners, one) with one method, all outputs, the ways of running that share its module, and in turn one that does not. Each
# other method once, with outputs that need little compilation. On one day a sixth of the forms have all outputs, the others rows.
SAMPLED_METHOD = {
    "plain": "dop853", "mass_matrix": "rodas5p", "varying_mass": "sdirk4", "singular_mass": "rodas4", "semi_1": "esdirk4",
    "semi_2": "radau5", "implicit": "radau5", "any_order": "taylor12", "mechanical": "dp5", "contact": "tsit5",
    "sliding": "rkf45", "tables": "bs3", "cornered": "dp5", "timed": "taylor16", "recorded": "dop853", "delayed": "tsit5", "modes": "rkf78", "stopping": "trapezoid",
}  # fmt: skip
SAMPLED_MODE = {"plain": "lanes", "semi_1": "float", "mechanical": "backward", "stopping": "certified"}
CERTIFIED_TOO = ["semi_2", "any_order", "contact", "recorded"]  # forms whose guards over intervals are code of their own
SAMPLED_ELSEWHERE = [
    ("plain", "auto"), ("plain", "taylor20"), ("plain", "radau9"), ("semi_2", "radau13"), ("tables", "kutta3"), ("timed", "rk4"), ("modes", "rdpk510"), ("stopping", "taylor8"),
    ("cornered", "sdirk4"), ("cornered_implicit", "sdirk4"), ("cornered_any_order", "dop853"),
    ("mechanical", "infltrap"), ("mechanical", "inflsdirk4"), ("contact", "inflesdirk4"),
]  # fmt: skip


def sample(day=None):
    """The part of a day, or all of it."""
    for i, (form, method) in enumerate(SAMPLED_METHOD.items()):
        in_full = day is None or (i + day) % 6 == 0
        for mode in MODES:
            if mode not in OWN_MODULE or SAMPLED_MODE.get(form) == mode:
                yield form, method, mode, EVERYTHING if in_full else ROWS
        if form in CERTIFIED_TOO:
            yield form, method, "certified", ["finals", "events"]
    for form, method in SAMPLED_ELSEWHERE:
        yield form, method, "plain", ROWS
    for form, method in itertools.product(FORMS, METHODS):
        if refusal(form, method, "finals", "plain"):
            yield form, method, "plain", ["finals"]
    for asked in DERIVATIVES:
        if asked not in DIFFERENTIABLE:
            yield "plain", "dop853", "plain", [asked]
    yield "plain", "rk4", "certified", ["finals"]
    yield "plain", "dop853", "certified", ["d finals"]
    yield "plain", "taylor12", "plain", ["d finals"]


def everything():
    for form, method, mode in itertools.product(FORMS, METHODS, MODES):
        if adapts(form, method):
            yield form, method, mode, ASKED


ASKED_AT_ONCE = 6  # in a run of --pairs: reductions, and as many derivatives. Each takes up to a second to compile.


def pairs():
    """Few runs in which any two of a form, a method, a way of running and what is asked for meet, where nothing is refused."""
    meets = lambda form, method, mode: {(form, method), (form, mode), (method, mode)}
    meet_at = lambda run, asked: {(of, asked) for of in run}
    accepted = {
        run: [a for a in ASKED if a not in DERIVATIVES or a in DIFFERENTIABLE if not refusal(*run[:2], a, run[2])]
        for run in itertools.product(FORMS, METHODS, MODES)
        if adapts(*run[:2]) and not refusal(*run[:2], "finals", run[2])
    }
    missing = set().union(*(meets(*run).union(*(meet_at(run, a) for a in asked)) for run, asked in accepted.items()))
    times_used = collections.Counter()

    def chosen(run):
        """What the run is asked for: rows and statistics, and those with the most pairs that are missing."""
        by_gain = sorted(accepted[run], key=lambda a: -len(meet_at(run, a) & missing))
        few = [[a for a in by_gain if a in kind][:ASKED_AT_ONCE] for kind in (REDUCTIONS, DERIVATIVES)]
        return [a for a in accepted[run] if a in ROWS + NO_ROWS + sum(few, [])]

    def best_of(runs):
        """The run with the most pairs that are missing, in the way that was used least."""
        gain = lambda run: len(meets(*run) & missing)
        if not any(gain(run) for run in runs):
            gain = lambda run: sum(len(meet_at(run, a) & missing) for a in accepted[run])
        best = max(runs, key=lambda run: (gain(run), -times_used[run[2]]))
        asked = chosen(best)
        missing.difference_update(meets(*best).union(*(meet_at(best, a) for a in asked)))
        times_used[best[2]] += 1
        return *best, asked

    for _, runs in itertools.groupby(accepted, key=lambda run: run[:2]):
        yield best_of(list(runs))
    while missing:
        yield best_of(list(accepted))
    for form, method in itertools.product(FORMS, METHODS):
        if refusal(form, method, "finals", "plain"):
            yield form, method, "plain", ["finals"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("saltus")
    p.add_argument("pattern", nargs="*", help="regular expressions of form/method/mode")
    p.add_argument("--all", action="store_true", help="all cells, not the sample")
    p.add_argument("--sample", action="store_true", help="the whole sample")
    p.add_argument("--pairs", action="store_true", help="all pairs of a form, a method, a way of running and what is asked for")
    p.add_argument("--day", type=int, default=datetime.date.today().toordinal(), help="the sample of this day: today")
    p.add_argument("--of", help="of which states and outputs reductions are taken: fast; with --all a state, too")
    p.add_argument("--asked", default=".*", help="a regular expression of what is asked for")
    p.add_argument("--jobs", type=int, default=1, help="runs at once")
    p.add_argument("--table", type=Path, help="where a table of the outcomes goes")
    p.add_argument("--keep", type=Path, help="where the specs and results of all runs stay")
    a = p.parse_intermixed_args()
    began = time.time()
    groups = collections.defaultdict(list)  # cells of one form and method share results
    for form, method, mode, asked in everything() if a.all else pairs() if a.pairs else sample(None if a.sample else a.day):
        asked = [x for x in asked if re.fullmatch(a.asked, x)]
        if asked and (not a.pattern or any(re.fullmatch(x, f"{form}/{method}/{mode}") for x in a.pattern)):
            groups[form, method].append((form, method, mode, asked))
    if a.all:
        QUANTITIES.clear()
    if a.of:
        QUANTITIES[:] = a.of.split(",")
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(a.jobs) as pool:
        m = Matrix(a.saltus, a.keep or scratch)
        list(pool.map(lambda group: [m.run(*run) for run in group], groups.values()))
    outcomes = collections.Counter(c[0] for c in m.cells.values())
    print(f"{len(m.cells)} cells in {time.time() - began:.0f} s: {dict(outcomes)}")
    if a.table:
        command = "matrix.py SALTUS" + (" --all" if a.all else " --pairs" if a.pairs else " --sample" if a.sample else f" --day {a.day}") + "".join(f" '{x}'" for x in a.pattern)
        a.table.write_text(table(m.cells, command))
    return 1 if outcomes["wrong"] else 0


def report(name, cells):
    lines = [f"{name}: {dict(collections.Counter(c[0] for _, c in cells))}"]
    alike = collections.defaultdict(list)
    for asked, (outcome, ratio, detail) in cells:
        if outcome in ("wrong", "failed"):
            alike[outcome, ratio, detail].append(asked)
    for (outcome, ratio, detail), asked in alike.items():
        lines.append(f"   {outcome}: {', '.join(asked)}: {ratio:.2g} of what is allowed: {detail}")
    print("\n".join(lines), flush=True)


def table(cells, command):
    """The outcomes as a document."""
    outcomes = collections.Counter(c[0] for c in cells.values())
    forms, methods, asked, modes = (
        [x for x in of if any(k[i] == x for k in cells)] for i, of in enumerate((FORMS, METHODS, ASKED, MODES))
    )
    lines = [
        "# The matrix", "",
        f"Made by `{command}`: {len(cells)} cells, form of equations x method x what is asked for x way of running.", "",
        *(f"- {outcomes[o]} {text}" for o, text in [
            ("right", "right: the error against a closed form is within its bound"),
            ("refused", "refused before they run, by a sentence that is expected there"),
            ("failed", "failed, with a status"),
            ("wrong", "wrong")]), "",
        "An entry is the number of right cells; behind it how many are refused (r), failed (f), wrong (w). The error of a value may be",
        f"{ALLOWED:.0f} times what moving all states by their tolerance does to it, to first order (100 times for methods of order 2 and 3);",
        "times of events and of extremes have the same bound, a quantile 1/63 of the range. In `lanes`, `chunks`, `continued`, `parts`,",
        "`zarr` and `rerun` the bits must be those of `plain` besides. `d x` is the derivative of x by a parameter.", "",
    ]  # fmt: skip

    def grid(title, rows, row, columns, column):
        count = collections.defaultdict(collections.Counter)
        for key, (outcome, *_) in cells.items():
            count[key[row], key[column]][outcome] += 1
        lines.extend([f"## {title}", "", "| | " + " | ".join(f"`{c}`" for c in columns) + " |"])
        lines.append("|---" * (len(columns) + 1) + "|")
        for r in rows:
            entries = []
            for n in (count[r, c] for c in columns):
                others = [f"{n[o]}{o[0]}" for o in ("refused", "failed", "wrong") if n[o]]
                entries.append(" ".join(([str(n["right"])] if n["right"] else []) + others))
            lines.append(f"| `{r}` | " + " | ".join(entries) + " |")
        lines.append("")

    grid("What is asked for, by form", asked, 2, forms, 0)
    grid("What is asked for, by way of running", asked, 2, modes, 3)
    grid("Methods, by form", methods, 1, forms, 0)
    grid("Forms, by way of running", forms, 0, modes, 3)
    sentences = collections.Counter(c[2] for c in cells.values() if c[0] == "refused")
    lines += ["## Refused", "", "| cells | with the words |", "|---|---|"]
    lines += [f"| {n} | {words.replace('|', ', or ')} |" for words, n in sentences.most_common()]
    for outcome, title in (("failed", "Failed"), ("wrong", "Wrong")):
        some = [(k, c) for k, c in cells.items() if c[0] == outcome]
        if some:
            lines += ["", f"## {title}", ""]
            lines += [f"- `{k[0]}/{k[1]}/{k[3]}`, {k[2]}: {c[2].splitlines()[0]}" for k, c in some]
    worst = collections.defaultdict(float)
    for key, (outcome, ratio, _) in cells.items():
        if outcome == "right":
            worst[key[2]] = max(worst[key[2]], ratio)
    lines += ["", "## Largest errors of right cells, as a part of their bounds", "", "| | |", "|---|---|"]
    lines += [f"| `{x}` | {worst[x]:.2g} |" for x in asked if x in worst]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
