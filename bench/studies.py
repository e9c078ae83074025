#!/usr/bin/env python3
"""The studies of the gallery in saltus and in other packages of PyPI: bench/results/studies.md.

    scripts/bench studies                                   installs SALib, heyoka, diffrax, scikit-sundae, libroadrunner in build/venv
    PYTHONPATH=build/cpu/python build/venv/bin/python bench/studies.py [--quick] [NAME ...]

bench/studies/NAME_TOOL.py has study(n, rtol): the numbers of n instances. Each study runs in a separate process on one thread: once on
few instances to compile, then at decreasing tolerances until its error, the largest relative to the largest number, is at most the
study's. Its time is that of the first such run, in processor time of the process. Errors are against closed forms if these exist, otherwise
against saltus and the other package at a separate tolerance, which must agree.
"""
import ast
import datetime
import importlib
import json
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).parent / "studies"
TOLERANCES = [10.0**-k for k in range(3, 14)]

#: For each study: its sentence; instances by tool; its allowed error relative to the largest number; the reference, "exact" if it is
#: below, otherwise the tools that must agree on it, with instances, tolerance and the allowed difference.
STUDIES = {
    "house": ("a year of hourly weather in houses under a thermostat: temperatures at the end",
              {"saltus": 100, "scipy": 1}, 1e-6, "house"),
    "sobol": ("first-order Sobol' indices of the speed after a ball's first bounce, of n pairs of samples",
              {"saltus": 1 << 14, "salib": 1 << 9}, 5e-2, "exact"),
    "gradient": ("d height / d restitution through impacts", {"saltus": 2000, "diffrax": 2000}, 1e-8, "exact"),
    "oscillator": ("impact oscillator, 400 time units: the speed of its last impact", {"saltus": 200, "heyoka": 200}, 1e-8, "exact"),
    "lyapunov": ("impact oscillator on an unstable orbit: its largest Lyapunov exponent over three periods",
                 {"saltus": 200, "scipy": 10}, 1e-2, "exact"),
    "converter": ("boost converter, 20 cycles: voltage at the end", {"saltus": 10000, "scipy": 20}, 1e-6, "converter"),
    "population": ("20 irregular infusions from a record: 5, 50, 95 % of a population at four times",
                   {"saltus": 20000, "scipy": 20}, 1e-6, "exact"),
    "robertson": ("Robertson's reactions to 1e11, by a method for stiff equations", {"saltus": 1000, "scipy": 5}, 1e-6,
                  "robertson"),
    "network": ("repressilator with an event, as SBML: a protein at the end", {"saltus": 2000, "roadrunner": 200}, 1e-6, "network"),
    "rectifier": ("rectifier of index 1: a current at the end", {"saltus": 2000, "scipy": 10}, 1e-6, "rectifier"),
    "pendulum": ("pendulum of index 2: first time at the bottom", {"saltus": 2000, "sundae": 20}, 1e-6, "exact"),
    "search": ("root search (brentq) over the mean speed of n balls after a bounce", {"saltus": 1000, "scipy": 100}, 1e-7, "exact"),
}
NAMES = {"saltus": "saltus", "scipy": "SciPy", "salib": "SALib, SciPy", "diffrax": "diffrax", "heyoka": "heyoka", "sundae": "scikit-SUNDAE",
         "roadrunner": "RoadRunner"}


def exact(study, n):
    """Numbers in closed form."""
    import numpy as np

    if study == "sobol":  # a product of independent factors
        mean_of_root = lambda a, b: 2 / 3 * (b**1.5 - a**1.5) / (b - a)  # noqa: E731
        c = np.array([0.4**2 / 12 / 0.7**2, 1.0 / mean_of_root(0.8, 1.2) ** 2 - 1, 9.8 / mean_of_root(9.0, 10.6) ** 2 - 1])
        return c / (np.prod(1 + c) - 1)
    if study == "gradient":  # docs/examples/gradient.py
        e = np.linspace(0.7, 0.9, n)
        v, g = np.sqrt(2 * 9.81), 9.81
        lands = v / g * (1 + 2 * np.cumsum([0 * e, *(e**j for j in range(1, 6))], axis=0))
        k = (lands < 2).sum(axis=0)
        s = 2 - lands[k - 1, np.arange(n)]
        ds_de = -2 * v / g * sum(np.where(j < k, j * e ** (j - 1.0), 0) for j in range(1, k.max()))
        return k * e ** (k - 1.0) * v * s + (e**k * v - g * s) * ds_de
    if study == "oscillator":  # Shaw, Holmes 1983, as in docs/examples/impact_oscillator.py
        w = np.linspace(2.35, 2.45, n)
        p, q = -(1 + 0.8) * (w**2 - 1) / 2 / np.tan(np.pi / w), (1 - 0.8) * (w**2 - 1) / 2 / w
        return -0.8 / np.hypot(p, q)
    if study == "lyapunov":  # multipliers of the orbit from impact to impact, as in tests/test_lyapunov.cpp
        w, r = np.linspace(2.7, 2.9, n), 0.8
        angle = 2 * np.pi / w
        trace = -2 * r * np.cos(angle) + (1 + r) ** 2 * (1 - w**2) / (2 * np.tan(angle / 2)) * np.sin(angle)
        return np.log((np.abs(trace) + np.sqrt(trace**2 - 4 * r**2)) / 2) / angle
    if study == "population":  # exponentials of the matrix between the knots of the record
        from weather import knots, rates

        elimination, volume = np.exp(np.random.default_rng(3).normal([[-2.0], [3.7]], [[0.25], [0.2]], (2, n)))
        a = np.zeros((n, 2, 2))
        a[:, 0, 0], a[:, 0, 1], a[:, 1, 0], a[:, 1, 1] = -elimination - 0.3, 0.2, 0.3, -0.2
        values, vectors = np.linalg.eig(a)
        back = np.linalg.inv(vectors)
        y, sampled, times = np.zeros((n, 2)), [], np.union1d(knots, [120, 240, 480, 720])
        for begin, end in zip(times, times[1:]):
            rest = np.linalg.solve(a, np.tile([-rates[np.searchsorted(knots, begin, "right") - 1], 0.0], (n, 1))[..., None])[..., 0]
            z = np.einsum("nij,nj->ni", back, y - rest) * np.exp(values * (end - begin))
            y = np.einsum("nij,nj->ni", vectors, z) + rest
            if end in (120, 240, 480, 720):
                sampled.append(y[:, 0] / volume)
        return np.percentile(np.transpose(sampled), [5, 50, 95], axis=0).ravel()
    if study == "pendulum":
        from scipy.special import ellipk

        return np.sqrt(1 / 9.81) * ellipk(np.sin(np.linspace(0.2, 3.0, n) / 2) ** 2)
    if study == "search":
        return np.array([3.0 / np.sqrt(2 * 9.81 * np.random.default_rng(1).uniform(0.8, 1.2, n)).mean()])
    raise KeyError(study)


def error_of(found, true):
    import numpy as np

    found, true = np.asarray(found, float), np.asarray(true, float)
    return float(np.max(np.abs(found - true)) / np.max(np.abs(true))) if found.shape == true.shape and np.isfinite(found).all() else np.inf


def reference_of(study, n, tool):
    """The reference for a tool's numbers: without a closed form, another tool's numbers at tight tolerances."""
    _, tools, _, kind = STUDIES[study]
    if kind == "exact":
        return exact(study, n)
    other = next(name for name in tools if name != "saltus") if tool == "saltus" else "saltus"
    import numpy as np

    if other == "saltus":
        return module_of(study, "saltus").study(n, 1e-12)
    few = tools[other]  # a full run is too slow: saltus itself, checked on these
    mine, others = module_of(study, "saltus").study(few, 1e-12), module_of(study, other).study(few, 1e-11)
    agreement = error_of(mine, others)
    if agreement > 0.1 * STUDIES[study][2]:
        sys.exit(f"{study}: saltus and {other} agree only to {agreement:.1e}")
    return np.asarray(module_of(study, "saltus").study(n, 1e-12))


def module_of(study, tool):
    sys.path.insert(0, str(FOLDER))
    return importlib.import_module(f"{study}_{tool}")


def measure(study, tool, n):
    """Runs in a separate process; prints its result as JSON."""
    allowed = STUDIES[study][2]
    one = module_of(study, tool)
    begin = time.process_time()
    one.study(2 if study != "sobol" else 64, 1e-3)
    first = time.process_time() - begin
    true = reference_of(study, n, tool)
    for rtol in TOLERANCES:
        if tool == "diffrax":
            one.study(n, rtol)  # compiled for each tolerance
        begin = time.process_time()
        found = one.study(n, rtol)
        seconds = time.process_time() - begin
        error = error_of(found, true)
        if error <= allowed:
            return {"seconds": seconds, "error": error, "rtol": rtol, "first": first, "n": n}
    return {"seconds": seconds, "error": error, "rtol": rtol, "first": first, "n": n, "missed": True}


def lines_of(study, tool):
    """Lines of code, without empty ones, comments and docstrings."""
    text = (FOLDER / f"{study}_{tool}.py").read_text()
    tree = ast.parse(text)
    words = {line for node in ast.walk(tree) if isinstance(node, ast.stmt) for line in range(node.lineno, node.end_lineno + 1)}
    return sum(1 for k, line in enumerate(text.split("\n"), 1) if k in words and line.strip() and not line.strip().startswith("#"))


def processor():
    for line in Path("/proc/cpuinfo").read_text().split("\n"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def table(names, quick):
    for study in names:
        about, tools, allowed, _ = STUDIES[study]
        per_instance = None
        for tool, n in tools.items():
            if quick:
                n = max(2, n // 50) if study != "sobol" else 512
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"}
            done = subprocess.run([sys.executable, __file__, "--measure", study, tool, str(n)], capture_output=True, text=True,
                                  env=environment)
            if done.returncode != 0:
                sys.exit(f"{study} {tool}:\n{done.stdout}{done.stderr}")
            r = json.loads(done.stdout.strip().split("\n")[-1])
            each = r["seconds"] / r["n"]
            per_instance = per_instance or each
            print(study, tool, r, file=sys.stderr)
            yield (about if tool == "saltus" else "", NAMES[tool], lines_of(study, tool), r["n"], r["rtol"],
                         f"{r['error']:.0e}" + (" (!)" if r.get("missed") else ""), each, each / per_instance)


BALLS = {"restitution": (0.5, 0.9), "height": (0.8, 1.2), "gravity": (9.0, 10.6)}


def analyse_by_salib(pairs):
    """In a separate process: samples and indices by SALib for results that cost nothing (e sqrt(2 g h))."""
    import numpy as np
    from SALib.analyze import sobol
    from SALib.sample import sobol as sample

    problem = {"num_vars": len(BALLS), "names": list(BALLS), "bounds": [list(of) for of in BALLS.values()]}
    x = sample.sample(problem, pairs, calc_second_order=False, seed=1)
    sobol.analyze(problem, x[:, 0] * np.sqrt(2 * x[:, 1] * x[:, 2]), calc_second_order=False, num_resamples=100)


def used_by(command, environment=None):
    """Seconds of processor time and peak memory in MB of a command."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def large(quick):
    """Sobol' indices of millions of balls in one command, and of the number that SALib can hold."""
    import saltus

    package = Path(saltus.__file__).parent
    program = next(path for path in (package / "bin/saltus", package.parents[1] / "saltus") if path.exists())
    sets = ["t=[0.0,0.55]", "output.rows=false", "output.reduce=['max(velocity)']", "sample.design=saltelli"]
    sets += [f"sample.{name}={{uniform=[{low},{high}]}}" for name, (low, high) in BALLS.items()]

    def run(pairs):
        return [program, "run", "bouncing_ball", "-q", *[word for s in (*sets, f"sample.count={pairs}") for word in ("--set", s)]]

    print("| Sobol' indices of balls, with intervals | pairs | instances | processor time | peak memory |\n|---|---:|---:|---:|---:|")
    used_by(run(64))  # compiles
    for pairs in (20_000,) if quick else (131_072, 2_000_000):
        seconds, memory = used_by(run(pairs))
        print(f"| `saltus run`, rows = false: integration and indices of five outcomes | {pairs} | {5 * pairs} | {seconds:.1f} s | {memory:.0f} MB |",
              flush=True)
    for pairs in (1024,) if quick else (131_072, 262_144):
        seconds, memory = used_by([sys.executable, __file__, "--salib", str(pairs)], {**os.environ, "OMP_NUM_THREADS": "1"})
        print(f"| SALib: samples and indices of one outcome in closed form, 100 resamples | {pairs} | {5 * pairs} | {seconds:.1f} s | "
              f"{memory:.0f} MB |", flush=True)


def time_text(seconds):
    for unit, scale in (("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def main():
    words = sys.argv[1:]
    if words[:1] == ["--measure"]:
        print(json.dumps(measure(words[1], words[2], int(words[3]))))
        return
    if words[:1] == ["--salib"]:
        analyse_by_salib(int(words[1]))
        return
    quick = "--quick" in words
    names = [word for word in words if word != "--quick"] or list(STUDIES)
    packages = {"numpy": "NumPy", "scipy": "SciPy", "SALib": "SALib", "heyoka": "heyoka", "diffrax": "diffrax", "scikit-sundae": "scikit-SUNDAE",
                "libroadrunner": "RoadRunner"}
    import saltus

    print(f"""saltus {saltus.__version__}, {datetime.date.today()}; {processor()}; load average {os.getloadavg()[0]:.1f}; Python {platform.python_version()};
{', '.join(f'{name} {version(key)}' for key, name in packages.items())}.

| study | with | lines | instances | rtol | error | time of one | times saltus |
|---|---|---:|---:|---:|---:|---:|---:|""")
    for about, tool, lines, n, rtol, error, each, ratio in table(names, quick):
        print(f"| {about} | {tool} | {lines} | {n} | {rtol:.0e} | {error} | {time_text(each)} | {ratio:.3g} |", flush=True)
    if names == list(STUDIES):
        print()
        large(quick)


if __name__ == "__main__":
    main()
