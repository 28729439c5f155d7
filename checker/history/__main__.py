"""`python -m statewalk.history check FILE`: the same as `statewalk history check FILE`."""

import sys

from statewalk.checker.cli import main

if __name__ == "__main__":
    sys.exit(main(["history", *sys.argv[1:]]))
