"""Check every history in a folder, in processes of this machine.

Each file is checked by itself: what goes wrong with one is a line of the table, and the others
go on. A file's check is a pure function of the file and the options.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from statewalk.checker.history.decide.check import Options
from statewalk.checker.history.errors import HistoryError, Undecided
from statewalk.checker.machine.spawning import processes
from statewalk.checker.verdict import exits
from statewalk.dsl.errors import one_line
from statewalk.dsl.files import decoded, opened, read_bytes
from statewalk.dsl.library.levels import LEVELS

HOLDS, VIOLATED, UNREADABLE, UNDECIDED, OURS = (
    "holds",
    "violated",
    "unreadable",
    "undecided",
    "internal error",
)
# What the exit code tells of many files: the first of these that there is.
EXITS = {
    OURS: exits.INTERNAL,
    VIOLATED: exits.VIOLATED,
    UNREADABLE: exits.MISTAKE,
    UNDECIDED: exits.INCONCLUSIVE,
    HOLDS: exits.HOLDS,
}

# What `--json` writes: `as_json` here, and `explain.report.as_json`.
_BEGINS = b'{"schema": 1, '
_RESULTS = (
    frozenset(("schema", "folder", "exit_code", "files")),
    frozenset(
        ("schema", "source", "format", "notes", "transactions", "operations", "phases", "levels",
         "strongest_that_hold", "weakest_that_fail", "explanations")
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileChecks:
    """The checks of each file: a level or, without one, all; how to read it."""

    level: str = ""
    format: str = "auto"
    initial: str = ""
    options: Options = field(default_factory=Options)


@dataclass(slots=True)
class Row:
    """The result of one file; `result` is what `--json` writes for a single one.

    `outcome` is about the level asked for, else si; `seconds` of wall time, reading included.
    """

    file: str
    outcome: str
    seconds: float = 0.0
    transactions: int = 0
    strongest: list[str] = field(default_factory=list)
    weakest: list[str] = field(default_factory=list)
    anomalies: list[str] = field(default_factory=list)
    message: str = ""
    result: dict[str, Any] | None = None


def histories(folder: Path) -> list[Path]:
    """Return the histories below a folder, by name: files, and folders that are a history
    themselves.

    Hidden ones are passed over, and results of earlier checks. A link to a folder of histories
    stands for itself: it may lead round in a circle, or to all files there are. Raises:
    HistoryError[SW709] when there is none.
    """
    found = [path for path in _below(folder) if not _is_result(path)]
    if not found:
        raise HistoryError(
            "the folder has no file in it",
            source=str(folder),
            expected="a folder with histories",
            code="SW709",
        )
    return found


def _is_result(path: Path) -> bool:
    """Return whether a file is what `--json` writes of a history, or of a folder of them. Without
    an operation in it, it is no history.
    """
    try:
        with opened(path) as file:
            if file.read(len(_BEGINS)) != _BEGINS:
                return False
        data = decoded(read_bytes(path))
    except (OSError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(data, dict) and frozenset(data) in _RESULTS


def is_one(path: Path) -> bool:
    """Return whether a path is one history rather than a folder of them."""
    from statewalk.checker.history import formats

    if not path.is_dir():
        return True
    try:
        formats.recognise(path)
    except HistoryError:
        return False
    return True


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_symlink() or is_one(path):
            yield path
        else:
            yield from _below(path)


def check_file(path: str, asked: FileChecks) -> Row:
    """Check one history; whatever goes wrong is told in the row."""
    from statewalk.checker.history.certify.replay import Mismatch
    from statewalk.checker.machine.watch import CutShort

    began = time.perf_counter()
    row = Row(path, OURS)
    try:
        _check(row, asked)
    except (Undecided, CutShort) as end:
        if isinstance(end, CutShort) and end.reason != "time":
            raise
        row.outcome, row.message = UNDECIDED, f"no verdict in {asked.options.timeout:g} seconds"
    except (HistoryError, OSError) as error:
        row.outcome, row.message = UNREADABLE, str(error)
    except Mismatch as error:
        row.message = f"accepted, but the order found is no execution of it: {error}"
    except Exception as error:
        row.message = f"{type(error).__name__}: {error}"
    row.seconds = time.perf_counter() - began
    return row


def _check(row: Row, asked: FileChecks) -> None:
    from statewalk.checker.history import formats
    from statewalk.checker.history.decide.check import summary
    from statewalk.checker.history.explain import report
    from statewalk.checker.history.explain.judging import judged
    from statewalk.checker.machine.watch import Watchdog

    path = Path(row.file)
    if path.is_symlink() and not is_one(path):
        raise HistoryError(
            "this is a link to a folder, which is not followed",
            source=row.file,
            expected=f"statewalk history check {path.resolve()}",
            code="SW709",
        )
    began = time.process_time()
    limit = None if math.isinf(asked.options.timeout) else asked.options.timeout
    with Watchdog(limit, None, "reading the history"):
        history = formats.read(path, asked.format, asked.initial)
    read = time.process_time() - began
    row.transactions = len(history)
    each = limit and limit * (2 if asked.level else 1 + len(LEVELS))  # levels keep to it alone
    with Watchdog(each, None, "checking the history"):
        verdicts, found = judged(history, asked.level, asked.options)
        result = report.as_json(history, verdicts, found, read)
    row.strongest, row.weakest = summary(verdicts)
    row.anomalies = [e.name for e in found.values()]
    row.result = json.loads(result)
    verdict = verdicts[asked.level or "si"]
    row.outcome = HOLDS if verdict.holds else VIOLATED if verdict.settled else UNDECIDED
    row.message = verdict.reason and f"not decided, since {verdict.reason}"


def in_processes(
    files: list[Path], asked: FileChecks, jobs: int, check: Callable[..., Row] = check_file
) -> Iterator[Row]:
    """Yield the rows in the order of the files, from `jobs` processes.

    When a process dies, those without a row are checked one at a time, each in a new process, so
    that only the file that kills its process is lost.
    """
    work: Callable[[str], Row] = partial(check, asked=asked)
    waiting = [str(file) for file in files]
    done = 0
    try:
        with processes(min(jobs, len(waiting))) as pool:
            for row in pool.map(work, waiting):
                done += 1
                yield row
    except BrokenProcessPool:
        for file in waiting[done:]:
            try:
                with processes(1) as pool:
                    yield pool.submit(work, file).result()
            except BrokenProcessPool:
                yield Row(file, OURS, message="the process that checked it died (memory?)")


def default_jobs() -> int:
    """As many processes as this one may use cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def exit_code(rows: list[Row]) -> int:
    """Return the exit code for all rows: see EXITS."""
    outcomes = {row.outcome for row in rows}
    return next(code for outcome, code in EXITS.items() if outcome in outcomes)


def table(rows: list[Row], folder: Path, asked: FileChecks) -> str:
    """Return a line per file and a sum."""
    names = [one_line(_short(row.file, folder)) for row in rows]
    width = max(len("file"), *(len(name) for name in names))
    head = f"{'file':<{width}}  {'transactions':>12}  {asked.level or 'si'}: {'':<14}{'seconds':>8}"
    lines = [head.rstrip()]
    pad = len(asked.level or "si") + 16
    for name, row in zip(names, rows, strict=True):
        counted = str(row.transactions) if row.result else "-"
        line = f"{name:<{width}}  {counted:>12}  {row.outcome:<{pad}}{row.seconds:>8.2f}"
        lines.append(f"{line}  {_told(row, asked)}".rstrip())
    counts = {o: sum(row.outcome == o for row in rows) for o in (HOLDS, *EXITS)}
    told = ", ".join(f"{n} {outcome}" for outcome, n in counts.items() if n)
    return "\n".join([*lines, "", f"{len(rows)} histories: {told}", ""])


def _short(file: str, folder: Path) -> str:
    return str(Path(file).relative_to(folder))


def _told(row: Row, asked: FileChecks) -> str:
    notes = row.result["notes"] if row.result else ()
    return "; ".join((_outcome(row, asked), *notes)).removeprefix("; ")


def _outcome(row: Row, asked: FileChecks) -> str:
    if row.message:
        return " ".join(row.message.removeprefix(row.file).lstrip(":, ").split())[:200]
    fails = [f"{x} fails: {name}" for x, name in zip(row.weakest, row.anomalies, strict=True)]
    if asked.level:
        return ", ".join(row.anomalies)
    return "; ".join((f"{', '.join(row.strongest) or 'no level'} holds", *fails))


def as_json(rows: list[Row], folder: Path) -> str:
    """Return the rows as one JSON object; its fields are described in docs/how-to/histories.md."""
    files = [{**asdict(row), "file": _short(row.file, folder)} for row in rows]
    return json.dumps({"schema": 1, "folder": str(folder), "exit_code": exit_code(rows),
                       "files": files})  # fmt: skip
