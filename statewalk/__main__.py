"""``python -m statewalk`` is the command ``statewalk``."""

import sys

from statewalk.checker.cli import main

if __name__ == "__main__":
    sys.exit(main())
