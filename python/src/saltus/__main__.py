"""python3 -m saltus: the program `saltus`, which also starts this module for its commands in Python."""

import sys

from . import _commands, _program

if __name__ == "__main__":
    sys.exit(_commands.main() if sys.argv[1:2] and sys.argv[1] in _commands.COMMANDS else _program.main())
