"""The speed of checking recorded histories: `python benchmarks/history.py [--quick]`.

Each row is generated, written as JSON Lines, and read and checked by a process of its own.
CPU seconds; the kernels are compiled before (first line) and loaded (column "start") before
the clock of a row starts. "order" is the order of the file: as recorded, or shuffled, that is
the same sessions interleaved at random without times. "si" is checked without session order
("plain"), which is the hard way; the command first tries the level with it.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

_HEAD = (
    ("workload", 16, "<"),
    ("txns", 8, ">"),
    ("order", 9, "<"),
    ("level", 18, "<"),
    ("verdict", 12, "<"),
    ("start", 6, ">"),
    ("read", 6, ">"),
    ("build", 6, ">"),
    ("prune", 6, ">"),
    ("search", 6, ">"),
    ("replay", 6, ">"),
    ("explain", 8, ">"),
    ("MB", 5, ">"),
    ("decided by", 12, "<"),
    ("conflicts", 9, ">"),
)


def rows(quick: bool) -> list[dict[str, Any]]:
    """Return what to measure: workload options, order, level, anomaly to plant."""
    n = 1000 if quick else 10_000
    session, orders = "strong-session-si", ("recorded", "shuffled")
    blind = [
        {"kind": "blind", "keys": 100, "writes": writes, "transactions": n // 2}
        for writes in (0.95, 0.98)
    ]
    hot = {"kind": "blind", "keys": 1, "operations": 1, "writes": 1.0, "transactions": n}
    rw = {"kind": "rw", "transactions": n}
    large = {"kind": "rw", "transactions": 10 * n}
    append = {"kind": "append", "transactions": 10 * n, "keys": 20_000}
    return [
        *(
            {"work": {**rw, "kind": kind}, "order": order, "level": level}
            for kind in ("rw", "rm", "mixed", "range", "c-tpcc", "c-rubis", "c-twitter")
            for order in orders
            for level in (session, "si")
        ),
        {"work": {**rw, "stale": 50}, "order": "shuffled", "level": session},
        *({"work": large, "order": order, "level": session} for order in orders),
        {"work": append, "order": "recorded", "level": session},
        *({"work": work, "order": order, "level": session} for work in blind for order in orders),
        *({"work": work, "order": "recorded", "level": "si"} for work in blind),
        {"work": hot, "order": "shuffled", "level": session},
        {"work": {**rw, "sessions": n // 10}, "order": "shuffled", "level": session},
        *(
            {"work": rw, "order": "shuffled", "level": level, "plant": anomaly}
            for anomaly in ("lost-update", "long-fork", "read-skew", "G1c")
            for level in (session, "si")
        ),
    ]


def write(row: dict[str, Any], file: Path) -> None:
    """Generate one history."""
    from tests.checker.history.simulated import Workload, plant, shuffled, simulate

    records = list(simulate(Workload(**row["work"])))
    if "plant" in row:
        records = plant(records, row["plant"], 1)
    if row["order"] == "shuffled":
        records = shuffled(records, 1)
    with file.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(record) + "\n" for record in records)


def measure(file: Path, level: str) -> dict[str, Any]:
    """Read and check one file in this process, after loading the kernels."""
    begin = time.process_time()
    warm_up()
    from statewalk.checker.history import formats
    from statewalk.checker.history.decide.check import Options, check
    from statewalk.checker.history.decide.scan import scan
    from statewalk.checker.history.explain.anomaly import explain
    from statewalk.checker.history.explain.report import phases

    loaded = time.process_time()
    history = formats.read(file)
    read = time.process_time() - loaded
    verdict = check(history, level, Options(via_sessions=False, timeout=300))
    spent = phases({level: verdict}, read)
    facts = None if verdict.holds else scan(history)[0]
    known = time.process_time()
    name = "holds" if facts is None else explain(history, facts, verdict).name
    spent["explain"] = time.process_time() - known
    return {"verdict": name, "start": loaded - begin, "steps": [*spent.values()],
            "memory": peak_memory(), "stage": verdict.stage, "stats": verdict.stats}  # fmt: skip


def peak_memory() -> int:
    """Peak resident memory of this process in MB (ru_maxrss would include the parent's)."""
    status = Path("/proc/self/status")
    if status.exists():
        text = status.read_text(encoding="ascii")
        return int(text.split("VmHWM:")[1].split()[0]) >> 10
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) >> 10


def warm_up() -> None:
    """Load (or compile, the first time) every kernel."""
    from statewalk.checker.history.decide.check import Options, check
    from statewalk.checker.history.decide.scan import scan
    from statewalk.checker.history.explain.anomaly import explain
    from statewalk.checker.history.formats.jsonl import from_records
    from tests.checker.history.simulated import Workload, plant, shuffled, simulate

    for kind in ("mixed", "append", "range"):
        records = list(simulate(Workload(kind, 200, sessions=6, keys=30)))
        history = from_records(shuffled(records, 0))
        for level in ("strong-session-si", "si", "serializable"):
            for guess in (True, False):
                check(history, level, Options(via_sessions=False, guess=guess))
        for anomaly in ("lost-update", "long-fork"):
            history = from_records(plant(records, anomaly, 0))
            known = scan(history)
            explain(history, known[0], check(history, "si", known=known))


def run_alone(*args: str) -> dict[str, Any]:
    """Run this file in a process of its own; the JSON it prints."""
    done = subprocess.run([sys.executable, __file__, *args], check=True, capture_output=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def cells(row: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """One line of the table."""
    work = row["work"]
    kind = work["kind"] + (f" {work['writes']:.0%}" if "writes" in work else "")
    kind += " stale" if "stale" in work else ""
    kind += " 1 key" if work.get("keys") == 1 else ""
    kind += f", {work['sessions']} sessions" if "sessions" in work else ""
    level = row["level"] if row["level"] != "si" else "si (plain)"
    times = [f"{x:.2f}" for x in (found["start"], *found["steps"])]
    conflicts = str(found["stats"].get("conflicts", 0))
    return [kind, f"{work['transactions']:,}", row["order"], level, found["verdict"], *times,
            str(found["memory"]), found["stage"], conflicts]  # fmt: skip


def aligned(line: list[str]) -> str:
    """A line as the terminal shows it."""
    columns = zip(line, _HEAD, strict=True)
    return " ".join(f"{cell:{side}{width}}" for cell, (_, width, side) in columns)


def table(quick: bool) -> str:
    """Measure every row and print it; the whole as Markdown."""
    begin = time.process_time()
    warm_up()
    loaded = f"kernels compiled or loaded: {time.process_time() - begin:.1f} CPU s"
    titles = [title for title, _, _ in _HEAD]
    print(loaded, aligned(titles), sep="\n")
    lines = [titles, ["--:" if side == ">" else "---" for _, _, side in _HEAD]]
    for row in rows(quick):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "history.jsonl"
            write(row, file)
            found = run_alone("--one", str(file), "--level", row["level"])
        lines.append(cells(row, found))
        print(aligned(lines[-1]), flush=True)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--level", default="si", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, args.level)))
        return
    table(args.quick)


if __name__ == "__main__":
    main()
