"""Compare Spark with native, state for state: `python benchmarks/spark_exact.py --help`.

Each case is searched natively once, then with Spark for several numbers of tasks.
Compared are: counts, sizes of levels, verdicts, counterexamples and witnesses step by step,
transitions and new states per action, and what constraints cut. Ends with 1 when something differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.run import PAIMON  # noqa: E402  (after the path)

TWO_PHASE = "models/toys/two_phase_commit.py"
INIT_PID = "models/kafka/init_pid.py"
# spec, constants, from how many states on a level is a job
CASES: dict[str, tuple[str, Sequence[str], int]] = {
    "rms7": (TWO_PHASE, ("RMS=7",), 2_000),
    **{f"rms{n}": (TWO_PHASE, (f"RMS={n}",), 50_000) for n in (8, 9, 10)},
    "init_pid": (INIT_PID, ("CLIENTS=4", "BROKERS=2"), 2_000),
    "no_epoch_bump": (INIT_PID, ("CLIENTS=3", "BROKERS=2", "MUTANT=no_epoch_bump"), 20),
}
TASKS = (1, 2, 4, 8)
SAME = (
    "counts", "levels", "findings", "witnesses", "fired", "fresh", "stopped", "complete", "cut",
)  # fmt: skip


def compare(name: str, case: tuple[str, Sequence[str], int], given: argparse.Namespace) -> int:
    """Search one case in all ways; how many of them differ from native."""
    from statewalk.checker import native, spark
    from statewalk.checker.contract.options import read_settings
    from statewalk.checker.contract.search import SearchOptions
    from statewalk.dsl.loader import load

    spec, constants, native_until = case
    model = load(spec, read_settings(list(constants)).fixed)
    started = time.monotonic()
    expected = native.explore(model, SearchOptions(threads=2, keep_going=given.keep_going))
    counts, violated = expected.counts, [(f.property, len(f.steps)) for f in expected.findings]
    told = ", ".join(f"{p} violated after {n} steps" for p, n in violated) or "nothing violated"
    print(
        f"{name}: {counts.distinct:,} distinct, {counts.generated:,} generated, depth"
        f" {counts.depth}, {told}, {len(expected.witnesses)} witnesses"
        f" (native, {time.monotonic() - started:.1f} s)",
        flush=True,
    )
    wrong = 0
    for tasks in given.tasks or TASKS:
        started = time.monotonic()
        settings: dict[str, Any] = {
            "tasks": tasks,
            "native_until": given.native_until or native_until,
        }
        options = SearchOptions(keep_going=given.keep_going)
        found = spark.explore(model, options, **settings)
        parts = [part for part in SAME if getattr(found, part) != getattr(expected, part)]
        wrong += bool(parts)
        figures = found.statistics
        verdict = f"DIFFERENT: {', '.join(parts)}" if parts else "equal"
        print(
            f"  {tasks} tasks: {verdict}"
            f", {figures.get('jobs', 0)} jobs, {time.monotonic() - started:.1f} s",
            flush=True,
        )
    return wrong


def main() -> None:
    """Read the options and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--case", choices=[*CASES, "paimon"], action="append", help="repeatable")
    parser.add_argument(
        "--paimon", metavar="FILE", help="the public paimon.fizz, to compare it too"
    )
    parser.add_argument("--tasks", type=int, action="append", help=f"repeatable; {TASKS}")
    parser.add_argument("--native-until", type=int, metavar="N", help="as --spark-native-until")
    parser.add_argument("--keep-going", action="store_true", help="beyond violations")
    given = parser.parse_args()
    cases = dict(CASES)
    if given.paimon:
        cases["paimon"] = (given.paimon, PAIMON, 2_000)
    chosen = given.case or list(cases)
    if "paimon" in chosen and not given.paimon:
        parser.error("the case paimon needs --paimon FILE")
    wrong = sum(compare(name, cases[name], given) for name in chosen)
    print(f"{wrong} results differ")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
