#!/usr/bin/env python3
"""Chains of links with sparse and with dense matrices, on one core: a table in Markdown.

    bench/large_mechanics.py SALTUS [--quick] [--revision TEXT]

Each chain has three coordinates and two constraints for a link (problems/parts/n_link_chain.hpp). Instances that curl by different
angles, 16 with 33 links and more of shorter chains, are integrated with dp5 at rtol = 1e-6 over a second on one thread. Seconds are
processor time. Time per evaluation: a run minus a very short one, over all evaluations of the right-hand side, so that projections after
steps are included; compile time: that of the first run.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PARTS = Path(__file__).resolve().parent.parent / "problems" / "parts" / "n_link_chain.hpp"


def processor_seconds(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, json.loads(run.stdout)


def measured(saltus, folder, links, sparse, lanes):
    """Seconds of compilation, and of one evaluation for one instance."""
    name = f"chain_{links}_{'sparse' if sparse else 'dense'}"
    model = Path(folder) / f"{name}.hpp"
    model.write_text(f'#include "{PARTS}"\nstruct {name} : n_link_chain_of<{links}> {{\n'
                     f'  static constexpr auto title = "Chain of {links} links";\n'
                     f"  static constexpr bool sparse_elimination = {'true' if sparse else 'false'};\n}};\n")
    count = {2: 4096, 4: 2048, 8: 256, 16: 64, 33: 16}[links]
    environment = dict(os.environ, SALTUS_CACHE=str(Path(folder) / "cache"))

    def run(end):
        settings = ["rtol=1e-6", f"t=[0.0, {end}]", f"sweep.curl={{from=0.5, to=1.0, count={count}}}", "run.threads=1",
                    f"run.lanes={lanes}"]
        return processor_seconds([saltus, "run", model, "--method", "dp5", "--quiet", "--json",
                                  *(word for s in settings for word in ("--set", s))], environment)

    compiling, _ = run(0.001)
    short, told_short = run(0.001)
    whole, told = min((run(1.0) for _ in range(2)), key=lambda r: r[0])
    evaluations = told["rhs_evaluations"] - told_short["rhs_evaluations"]
    return compiling - short, (whole - short) / evaluations


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("saltus")
    asked.add_argument("--quick", action="store_true")
    asked.add_argument("--revision", default="")
    asked = asked.parse_args()
    print(f"saltus {asked.revision}, one core\n")
    print("| links | coordinates | constraints | lanes | sparse, us | dense, us | ratio | sparse compiles in, s | dense, s |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for links in (4,) if asked.quick else (2, 4, 8, 16, 33):
            for lanes in (1, 8):
                (sparse_compiles, sparse), (dense_compiles, dense) = (measured(asked.saltus, folder, links, s, lanes)
                                                                      for s in (True, False))
                print(f"| {links} | {3 * links} | {2 * links} | {lanes} | {1e6 * sparse:.2f} | {1e6 * dense:.2f} | "
                      f"{dense / sparse:.1f} | {sparse_compiles:.1f} | {dense_compiles:.1f} |", flush=True)


sys.exit(main())
