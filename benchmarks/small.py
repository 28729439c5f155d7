"""The cost of the smallest checks, which spec writers wait for most: `make bench`.

    python benchmarks/small.py [--rounds 5]

Each round is a process of its own, as somebody types the command; nothing is left behind.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parent))

from run import run

MUTANT = ("--set=BROKERS=1", "--set=MUTANT=no_epoch_bump")
CASES = (
    ("the demo's check, liveness included", ["models/kafka/init_pid.py"]),
    ("the same, compiled", ["models/kafka/init_pid.py", "--engine", "native"]),
    ("the demo's violation", ["models/kafka/init_pid.py", *MUTANT]),
    ("two jugs", ["models/toys/die_hard.py"]),
)  # fmt: skip


def main() -> None:
    """Print CPU seconds and peak memory of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="processes for each (5)")
    rounds = parser.parse_args().rounds
    for name, words in CASES:
        with tempfile.TemporaryDirectory() as out:
            command = [sys.executable, "-m", "statewalk", "check", *words, "--out", out]
            run(command)  # Python's modules and kernels are compiled, findings kept
            used = [run(command) for _ in range(rounds)]
        cpu, most = [u.cpu for u in used], max(u.memory for u in used)
        least = f"(least {min(cpu):.2f})"
        print(f"{name:<38} {median(cpu):.2f} CPU s {least}  {most / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
