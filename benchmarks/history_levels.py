"""Seconds per level, and beside Viper's: `python benchmarks/history_levels.py [--quick]`.

CPU seconds of this process for graph, decision and certificate; reading the file and compiling
the kernels are left out, as Viper's figures (histories.md) leave out its start. The first
table checks `si` without session order, what Viper checks by default, on histories shuffled
within what sessions allow and without times, so that nothing hints at the order of commits.
"""

import gc
import platform
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from statewalk.checker.history.decide.check import Options, check
from statewalk.checker.history.formats.jsonl import from_records
from statewalk.dsl.library.levels import LEVELS
from tests.checker.history.simulated import Record, Workload, plant, shuffled, simulate

PLAIN = Options(via_sessions=False)


def seconds(records: list[Record], level: str, options: Options) -> tuple[float, bool]:
    """CPU seconds of one check, and whether the level holds."""
    history = from_records(records)
    gc.collect()
    began = time.process_time()
    verdict = check(history, level, options)
    return time.process_time() - began, verdict.holds


def main() -> None:
    """Print both tables."""
    sizes = (1000, 2000) if "--quick" in sys.argv else (1000, 2000, 5000, 10_000)
    for level in LEVELS:  # compile
        seconds(list(simulate(Workload("mixed", 60))), level, PLAIN)
        seconds(list(simulate(Workload("mixed", 60))), level, Options())
    print(f"{platform.machine()}, Python {platform.python_version()}; si, no session order")
    print(f"{'':<10}" + "".join(f"{n:>9}" for n in sizes))
    for kind in ("rw", "rm", "mixed", "range", "c-tpcc", "c-rubis", "c-twitter"):
        row = [
            seconds(shuffled(list(simulate(Workload(kind, n))), 1), "si", PLAIN)[0] for n in sizes
        ]
        print(f"{kind:<10}" + "".join(f"{x:>9.2f}" for x in row))
    n = sizes[-1]
    print(f"\n{n} transactions of rw, shuffled; with a planted anomaly for each level that fails")
    base = list(simulate(Workload("rw", n)))
    cases = {"none": base, "lost-update": plant(base, "lost-update", 1),
             "causality": plant(base, "causality-violation", 1)}  # fmt: skip
    print(f"{'level':<38}" + "".join(f"{name:>22}" for name in cases))
    for level in [x for x in LEVELS if not LEVELS[x].real_time]:
        found = [seconds(shuffled(r, 1), level, Options()) for r in cases.values()]
        told = [f"{x:.2f} {'holds' if ok else 'violated'}" for x, ok in found]
        print(f"{level:<38}" + "".join(f"{x:>22}" for x in told))


if __name__ == "__main__":
    main()
