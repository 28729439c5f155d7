"""Measure the Spark engine on this machine: `python benchmarks/spark.py --help`.

Each case is a process of its own, from nothing to the result. CPU seconds are those of the whole
process tree, the JVM and Spark's Python workers included, read from /proc while it runs. *small
level* is the median time of the levels that expand fewer than 20,000 states, without the first two,
in which the workers start. *moved* is what Spark's tasks wrote for one another; *max/mean* compares
the largest partition of a level with the mean, for the worst level. *driver MB* is the most memory
that the driver's Python held of its own, without the files that it maps.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TWO_PHASE = "models/toys/two_phase_commit.py"
SMALL, STARTING = 20_000, 2
_TICK = os.sysconf("SC_CLK_TCK")


def one(spec: str, constants: list[str], engine: str, settings: dict[str, Any]) -> None:
    """Check a spec in this process; print the figures as JSON."""
    from statewalk.checker.api import load, search_options
    from statewalk.checker.contract.options import CheckOptions, read_settings
    from statewalk.checker.engines.table import ENGINES, load_engine

    model = load(spec, read_settings(constants).fixed)
    options = CheckOptions(engine=engine, spark=settings, threads=settings.get("tasks") or 1)
    found = load_engine(ENGINES[engine]).explore(model, search_options(model, options))
    figures = {k: v for k, v in found.statistics.items() if k != "profile"}
    print(json.dumps({**vars(found.counts), **figures}, default=str))


def usage(pid: int, known: dict[tuple[str, int], float]) -> None:
    """Note the CPU seconds of a process and of all below it, by what they are and number."""
    children: dict[int, list[int]] = {}
    seconds: dict[int, tuple[str, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                head, _, rest = (entry / "stat").read_text().rpartition(")")
            except OSError:
                continue
            stat, number = rest.split(), int(entry.name)
            kind = "JVM" if head.endswith("(java") else "driver" if number == pid else "workers"
            children.setdefault(int(stat[1]), []).append(number)
            seconds[number] = kind, (int(stat[11]) + int(stat[12])) / _TICK
    queue = [pid]
    while queue:
        here = queue.pop()
        if here in seconds:
            kind, used = seconds[here]
            known[kind, here] = max(known.get((kind, here), 0.0), used)
        queue += children.get(here, [])


def held(pid: int) -> float:
    """Megabytes that a process holds without what it maps of files; 0 where it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return sum(int(t.split()[1]) for t in text.splitlines() if t.startswith("RssAnon:")) / 1024


def measured(words: list[str]) -> dict[str, Any]:
    """Run a case in a process of its own: its figures, and ``wall``, ``cpu``, ``driver_mb``."""
    started = time.perf_counter()
    command = [sys.executable, __file__, "--one", *words]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    known: dict[tuple[str, int], float] = {}
    most = 0.0
    while child.poll() is None:
        usage(child.pid, known)
        most = max(most, held(child.pid))
        time.sleep(0.02)
    wall = time.perf_counter() - started
    assert child.stdout is not None
    text = child.stdout.read()
    if child.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {child.returncode}")
    parts: dict[str, float] = {}
    for (kind, _), used in known.items():
        parts[kind] = parts.get(kind, 0.0) + used
    return {**json.loads(text), "wall": wall, "cpu": sum(parts.values()), "parts": parts,
            "driver_mb": most}  # fmt: skip


def row(name: str, found: dict[str, Any]) -> str:
    """A line of the table."""
    head = f"{name:<34} {found['distinct']:>12,} {found['wall']:>7.1f} {found['cpu']:>7.1f}"
    head += f" {found['driver_mb']:>6.0f}"
    if not found.get("jobs"):
        return head
    times = [s for n, jobs, s in found["levels"][STARTING:] if n < SMALL]
    small = f"{median(times):.2f}" if times else "-"
    moved = found["shuffled_bytes"] or found["sent_bytes"]
    return (
        f"{head} {found['jobs']:>5} {small:>7} {moved / found['distinct']:>9.1f}"
        f" {found['balance']:>9.2f}   "
        + ", ".join(f"{kind} {used:.1f}" for kind, used in sorted(found["parts"].items()))
    )


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("spec", nargs="?", default=TWO_PHASE)
    parser.add_argument("--set", action="append", default=[], dest="constants")
    parser.add_argument("--tasks", type=int, help="tasks per level (as many as cores)")
    parser.add_argument("--native-until", type=int, default=50_000)
    parser.add_argument("--form", choices=("rdd", "frame"))
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--no-native", action="store_true", help="leave out the comparison")
    parser.add_argument("--one", choices=("native", "spark"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    constants = given.constants or ["RMS=9"] * (given.spec == TWO_PHASE)
    settings = {"tasks": given.tasks, "native_until": given.native_until, "form": given.form}
    if given.one:
        one(given.spec, constants, given.one, settings if given.one == "spark" else {})
        return
    words = [given.spec, *(word for c in constants for word in ("--set", c))]
    words += ["--native-until", str(given.native_until)]
    words += ["--tasks", str(given.tasks)] if given.tasks else []
    words += ["--form", given.form] if given.form else []
    print(
        f"{'':<34} {'states':>12} {'wall s':>7} {'CPU s':>7} {'driver':>6} {'jobs':>5} {'small':>7}"
        f" {'moved':>9} {'max/mean':>9}   of the CPU seconds\n"
        f"{'':<34} {'':>12} {'':>7} {'':>7} {'MB':>6} {'':>5} {'level s':>7} {'B/state':>9}"
    )
    name = f"{Path(given.spec).stem} {' '.join(constants)}"
    for engine in ("spark",) if given.no_native else ("native", "spark"):
        for _ in range(given.rounds):
            print(row(f"{name} ({engine})", measured([engine, *words])), flush=True)


if __name__ == "__main__":
    main()
