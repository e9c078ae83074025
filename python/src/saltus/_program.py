"""The command `saltus` of an installed package: the program itself, which the package carries."""

import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).parent / "bin" / "saltus"
    if not program.exists():
        sys.exit(f"{program}: is not there; this package was not installed, and its program is in the build folder")
    os.environ.setdefault("SALTUS_PYTHON", sys.executable)  # which has this package, for saltus plot and saltus report
    os.execv(program, [str(program), *sys.argv[1:]])
