"""Resolve what is in a folder of batches.

python -m examples.dataflow BATCHES OUT [--master local[2]]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from examples.dataflow.epochs import Refused
from examples.dataflow.streaming import run
from statewalk.checker.spark.session.session import local_session


def main() -> int:
    """Go on until no batch is left; the exit code is 1 where the job cannot."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("batches", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--at-once", type=int, default=0, help="batches taken together; 0: all")
    asked = parser.parse_args()
    try:
        run(local_session(asked.master), asked.batches, asked.out, asked.at_once)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
