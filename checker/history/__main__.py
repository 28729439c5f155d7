"""`python -m checker.history check FILE`: the same as `statewalk history check FILE`."""

import sys

from checker.cli import main

if __name__ == "__main__":
    sys.exit(main(["history", *sys.argv[1:]]))
