"""`python -m checker.history check FILE`: the same as `statewalk history check FILE`."""

import argparse
import sys

from checker.history.cli import add_parser


def main() -> int:
    """Parse the arguments, run the command, return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m checker")
    add_parser(parser.add_subparsers(required=True))
    args = parser.parse_args(["history", *sys.argv[1:]])
    code: int = args.run(args)
    return code


if __name__ == "__main__":
    sys.exit(main())
