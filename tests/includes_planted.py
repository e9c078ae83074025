#!/usr/bin/env python3
"""Mutations for tests/includes.py: each kind of violation is planted alone in a copy of the sources, and must be reported."""
import shutil
import sys
import tempfile
from pathlib import Path

import includes

PLANTED = [  # file, added text, text of the complaint
    ("kernels/event/detect.hpp", '#include "sail.hpp"', "detect.hpp includes kernels/sail.hpp: event is a floor below sail"),
    ("kernels/method/controller.hpp", '#include "event/sides.hpp"', "method is a floor below event"),
    ("kernels/method/controller.hpp", '#include "form/planted.hpp"', "method and form know nothing of each other"),
    ("kernels/linear/complex.hpp", '#include "abi/module.hpp"', "linear and abi know nothing of each other"),
    ("kernels/number/math.hpp", "#  include <cmath>", "kernels/ includes nothing from outside"),
    ("kernels/number/math.hpp", '#include "spec/plan.hpp"', "kernels/ knows nothing of host/"),
    ("kernels/number/base.hpp", '#include "number/math.hpp"', "a circle: "),
    ("kernels/event/sides.hpp", '#include "statistics/statistics.hpp"', "only statistics, run use statistics/"),
    ("kernels/statistics/statistics.hpp", '#include "model/planted.hpp"', "statistics/ uses only number, abi"),
    ("kernels/number/base.hpp", '#include "nowhere.hpp"', "in neither kernels/ nor host/"),
    ("host/base/error.hpp", '#include "spec/plan.hpp"', "base is a floor below spec"),
    ("host/spec/csv.cpp", '#include "run/on_cpu.hpp"', "host/ uses only"),
    ("host/base/planted.cpp", '#include "base/error.hpp"\n#include "base/planted.hpp"', "a circle: "),
    ("host/base/json.hpp", "#include <map>", "json.hpp includes map behind third-party: the system's come before"),
    ("tests/planted.cpp", '#include "same_bits.hpp"\n#include <gtest/gtest.h>', "behind the project's: third-party come before"),
    ("host/base/paths.cpp", '#include "base/paths.hpp"', "its own header come before"),
    ("python/bindings/planted.cpp", '#include "study/run.hpp"', "python/ uses include/ alone"),
    ("python/bindings/planted.cpp", "#include <abi/status.hpp>", "python/ uses include/ alone"),
    ("python/src/saltus/_rows.py", "from ._plot import Plot", "a circle: "),
    ("python/src/saltus/_style.py", "def late():\n    from . import Model", "a circle: "),
    ("python/src/saltus/_errors.py", "import saltus.dask", "a circle: "),
    ("host/base/text.hpp", '#include "interruptible.hpp"', "in neither kernels/ nor host/"),
    ("bench/planted.cpp", '#include "same_bits.hpp"', "what both use lies in testing/"),
]


def main():
    root = Path(includes.__file__).resolve().parent.parent
    missed = []
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name)
        for folder in ("kernels", "host", "python", "tests", "testing", "bench"):
            shutil.copytree(root / folder, copy / folder)
        for house in ("kernels/form", "kernels/model"):
            (copy / house / "planted.hpp").write_text("")
        (copy / "host/base/planted.hpp").write_text("")
        (copy / "host/base/error.hpp").write_text('#include "base/planted.hpp"\n')  # closes the circle of two sources
        before = set(includes.complaints_of(copy))
        for file, text, complaint in PLANTED:
            path = copy / file
            old = path.read_text() if path.exists() else None
            path.write_text((old or "") + "\n" + text + "\n")
            if not any(complaint in line for line in set(includes.complaints_of(copy)) - before):
                missed.append(f"{text!r} in {file}: not seen")
            path.write_text(old) if old is not None else path.unlink()
    print("\n".join(missed) if missed else f"includes_planted: {len(PLANTED)} faults planted, each seen")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
