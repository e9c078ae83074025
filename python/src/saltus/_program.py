"""The command `saltus` of an installed package, and `python3 -m saltus`: the program itself, which the package carries."""

import os
import sys
from pathlib import Path


def main() -> None:
    package = Path(__file__).parent
    carried, beside = package / "bin" / "saltus", package.parent.parent / "saltus"  # of a wheel, and in a build folder
    program = carried if carried.is_file() or not beside.is_file() else beside
    if not program.is_file():
        sys.exit(f"{program}: is not there: build the target saltus, or install the package (pip install .)")
    os.environ.setdefault("SALTUS_PYTHON", sys.executable)  # which has this package, for saltus plot and saltus report
    os.execv(program, [str(program), *sys.argv[1:]])
