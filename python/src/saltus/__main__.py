"""python3 -m saltus plot | report: what the program `saltus` has Python do."""

import sys

from ._commands import main

if __name__ == "__main__":
    sys.exit(main())
