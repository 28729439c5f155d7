"""``python -m statewalk`` is the command ``statewalk``."""

import os
import sys

if __name__ == "__main__":
    if not sys.flags.safe_path and os.path.abspath(sys.path[0]) == os.getcwd():
        del sys.path[0]  # Python puts the current folder first, and the command does not
    from statewalk.checker.cli import main

    sys.exit(main())
