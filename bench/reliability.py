#!/usr/bin/env python3
"""Results after kills and failing system calls, and the cost of a journal: tables in Markdown.

    bench/reliability.py BUILD [--quick] [--only PART ...] [--kills N] [--faults N] [--revision TEXT]

BUILD is a folder of a build with the long tests. The tests that cause kills and faults count them (test_cli_misbehaviour, test_mpi,
test_faults), and end with an error if a result is lost or wrong. The cost of the journal comes from runs with and without one in
turn, in wall time and in processor time: the least of each, which other load on the machine disturbs least.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PARTS = ("kills", "faults", "cost", "ranks", "parts")
RUNS = {
    "demo: 100,000 relief valves, rows": ["relief_valve", "--set", "sweep.flow={from=0.2,to=10,count=1000}",
                                          "--set", "sweep.restitution={from=0.3,to=0.9,count=100}"],
    "10,000 relief valves, 200 samples and events": ["relief_valve", "-n", "10000", "--seed", "1", "--set",
                                                     "sample.flow={uniform=[0.2,10]}", "--set",
                                                     "output={samples={count=200},events=true}"],
    "100,000 relief valves at 1e-10, the demo's tolerance, 200 samples and events": [
        "relief_valve", "-n", "100000", "--seed", "1", "--set", "rtol=1e-10", "--set", "atol=1e-10", "--set", "sample.flow={uniform=[0.2,10]}",
        "--set", "output={samples={count=200},events=true}"],
    "1,000,000 Lorenz systems, rows": ["lorenz", "-n", "1000000", "--seed", "1", "--set", "sample.rho={uniform=[0,21]}"],
}


def counted(build, test, case, variable, number, pattern):
    """The counts that a test prints."""
    environment = dict(os.environ, **{variable: str(number)})
    run = subprocess.run([build / "tests" / test, f"--gtest_filter={case}"], capture_output=True, text=True, env=environment)
    if run.returncode != 0:
        sys.exit(f"{test} {case}:\n{run.stdout}{run.stderr}")
    return re.findall(pattern, run.stdout)


def seconds_of(command):
    """Wall time and processor time."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    # Lanes are not measured beside it, since that compiles.
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def seconds(saltus, folder, arguments, checkpoint):
    file = Path(folder) / "a.nc"
    file.unlink(missing_ok=True)
    return seconds_of([saltus, "run", *arguments, "-q", "--set", f"run.checkpoint={checkpoint}", "-o", file])


def cost(saltus, folder, rounds):
    print("\n## Cost of the journal\n\nFrom the first moment, put on the disk every second (`run.checkpoint = 1`), beside none "
          f"(0): {rounds} runs of each in turn, results on a disk.\nThe least seconds of each, which other work disturbs least.\n")
    print("| run | wall without | with | ratio | processors without | with | ratio |\n|---|---|---|---|---|---|---|")
    for name, arguments in RUNS.items():
        seconds(saltus, folder, arguments, 0)
        times = [[seconds(saltus, folder, arguments, checkpoint) for checkpoint in (0, 1)] for _ in range(rounds)]
        cells = []
        for kind in (0, 1):
            without, with_it = (min(pair[i][kind] for pair in times) for i in (0, 1))
            cells += [f"{without:.2f}", f"{with_it:.2f}", f"{with_it / without:.3f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def ranks(build, folder, rounds):
    what = ["run", *RUNS["demo: 100,000 relief valves, rows"], "-q", "--force", "--set", "run.checkpoint=1", "-o", Path(folder) / "a.nc"]
    mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    by_threads = {f"one process, {n} thread{'s' * (n > 1)}": [build / "saltus", *what, "--threads", str(n)] for n in (1, 2)}
    by_ranks = {f"{n} rank{'s' * (n > 1)} of MPI, a thread each": [*mpirun, "-n", str(n), build / "saltus-mpi", *what, "--threads", "1"]
                for n in (1, 2)}
    commands = {**by_threads, **by_ranks}
    print(f"\n## Ranks\n\nThe demo, with a journal, on two cores: {rounds} runs of each in turn, the least seconds of each; speed beside one thread.\n")
    print("| | wall | processors | speed |\n|---|---|---|---|")
    times = [[seconds_of(command) for command in commands.values()] for _ in range(rounds + 1)][1:]
    walls = [min(t[i][0] for t in times) for i in range(len(commands))]
    for i, name in enumerate(commands):
        print(f"| {name} | {walls[i]:.2f} | {min(t[i][1] for t in times):.2f} | {walls[0] / walls[i]:.2f} |", flush=True)


def size(saltus, folder, arguments):
    """Bytes per instance in the journals of two parts and in their result; instances per second of gather."""
    command = [*arguments, "-n", "1000000", "--seed", "1", "--set", "sample.rho={uniform=[0,21]}", "-q", "-o", Path(folder) / "b.nc"]
    for part in ("1/2", "2/2"):
        subprocess.run([saltus, "run", *command, "--part", part], check=True, stdout=subprocess.DEVNULL)
    journal = sum(file.stat().st_size for file in (Path(folder) / "b.nc.journal").glob("chunks*"))
    gathered = json.loads(subprocess.run([saltus, "gather", *command, "--json"], check=True, capture_output=True).stdout)
    result = (Path(folder) / "b.nc").stat().st_size
    (Path(folder) / "b.nc").unlink()
    return journal / 1e6, result / 1e6, 1e6 / gathered["wall_seconds"]


def kills(build, many, under_mpi):
    print("## Kills\n\nSIGKILL at random times of runs on two threads, and of one of up to three ranks of MPI, each continued by the same "
          "command, again and\nagain until it ended; every result has the bits of a run that nothing disturbed.\n")
    print("| kept | kills | results | lost or wrong |\n|---|---|---|---|")
    tests = [("test_cli_misbehaviour", "cli.runs_that_are_killed_go_on_with_the_same_bits", many)]
    if (build / "tests" / "test_mpi").exists():
        tests.append(("test_mpi", "Mpi.GoesOnWithAnyNumberOfRanksWhenOneWasKilled", under_mpi))
    for test, case, number in tests:
        for name, n, results in counted(build, test, case, "SALTUS_KILLS", number, r"(\w+): (\d+) kills, (\d+) results"):
            print(f"| {name} | {n} | {results} | 0 |", flush=True)


def faults(build, number):
    print("\n## Faults\n\nA call into the system fails, is cut short or ends the process: "
          + (f"{number} calls of each function, spread over a short run,\nin each way.\n" if number else
             "each call of a short run once, in\neach way; of malloc a thousand, and the first from each place by who calls whom.\n"))
    for line in counted(build, "test_faults", "Faults.*", "SALTUS_FAULTS", number, r"(\d+ faults: .*)"):
        print(line, flush=True)


def parts(saltus, folder):
    print("\n## Parts\n\n1,000,000 Lorenz systems in two parts, gathered.\n")
    print("| kept | bytes an instance in the journals | in the result | instances gathered in a second |\n|---|---|---|---|")
    for name, more in {"rows": [], "statistics, no rows": ["--set", "output.rows=false"]}.items():
        journal, result, rate = size(saltus, folder, ["lorenz", *more])
        print(f"| {name} | {journal:.1f} | {result:.1f} | {rate:.1e} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=PARTS)
    parser.add_argument("--kills", type=int, default=10000)
    parser.add_argument("--mpi-kills", type=int, default=500)
    parser.add_argument("--faults", type=int, default=0, help="calls of each function in each way; 0: every one")
    parser.add_argument("--revision", default="")
    a = parser.parse_args()
    build = a.build.resolve()
    asked = a.only or PARTS
    print(f"saltus {a.revision}\n")
    if "kills" in asked:
        kills(build, 40 if a.quick else a.kills, 3 if a.quick else a.mpi_kills)
    if "faults" in asked:
        faults(build, 2 if a.quick else a.faults)
    with tempfile.TemporaryDirectory(dir=build) as folder:
        if "cost" in asked:
            cost(build / "saltus", folder, 1 if a.quick else 15)
        if "ranks" in asked and (build / "saltus-mpi").exists():
            ranks(build, folder, 1 if a.quick else 9)
        if "parts" in asked:
            parts(build / "saltus", folder)


if __name__ == "__main__":
    main()
