"""How many walks each strategy of `simulate` needs for a planted bug: a table in Markdown.

    python benchmarks/schedules.py [--seeds N] [--most WALKS] [--others WALKS] [SPEC ...]

Each spec in `benchmarks/schedules` has a bug that a few steps in a certain order meet, and too many
states to enumerate. The table has the median number of walks over seeds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from statewalk.checker.api import load  # noqa: E402
from statewalk.checker.behaviours.shrink import shrunk  # noqa: E402
from statewalk.checker.behaviours.simulate import simulate  # noqa: E402
from statewalk.checker.behaviours.strategies import NAMES  # noqa: E402


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("specs", nargs="*", metavar="SPEC")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--most", type=int, default=600)
    parser.add_argument("--others", type=int, default=100, help="WALKS, not of uniform")
    parser.add_argument("--depth", type=int, default=100)
    asked = parser.parse_args()
    folder = ROOT / "benchmarks" / "schedules"
    print("| spec |", " | ".join(NAMES), "| steps, shrunk |")
    print("|---|", "--:|" * len(NAMES), "--:|", sep="")
    for spec in asked.specs or sorted(p.stem for p in folder.glob("*.py")):
        model, cells, lengths = load(folder / f"{spec}.py"), [], []
        for strategy in NAMES:
            runs, most = [], asked.most if strategy == "uniform" else asked.others
            for seed in range(asked.seeds):
                found = simulate(model, runs=most, depth=asked.depth, seed=seed, strategy=strategy)
                runs.append(found.runs if found.findings else most + 1)
                if found.findings and strategy == "pct":
                    first = next(iter(found.findings.values()))
                    lengths.append((first.length, shrunk(model, first).length))
            median = int(statistics.median(runs))
            cells.append(f"{median:,}" if median <= most else f"> {most:,}")
        met, least = (min(lengths, key=lambda pair: pair[1])) if lengths else (0, 0)
        print(f"| {spec} |", " | ".join(cells), f"| {met} to {least} |", flush=True)


if __name__ == "__main__":
    main()
