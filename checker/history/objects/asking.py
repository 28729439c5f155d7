"""Asking whether a history of operations is what an object allows: for the command, and Python."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from statewalk.checker.history.objects import drawing, report
from statewalk.checker.history.objects.deciding import Order, Verdict, decide
from statewalk.checker.history.objects.explain import Explanation, explained
from statewalk.checker.history.objects.operations import Operations
from statewalk.checker.history.objects.reading import from_records, read_operations
from statewalk.checker.history.objects.spec import Object
from statewalk.checker.library import entries, no_spec, spec_path
from statewalk.checker.machine.files import write_text
from statewalk.checker.machine.turns import in_turn
from statewalk.dsl.errors import printable
from statewalk.dsl.loader import load

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font-family: sans-serif; margin: 1.5em; }} div {{ overflow-x: auto; }}
pre {{ white-space: pre-wrap; }}
</style></head><body>{body}</body></html>
"""


@dataclass(frozen=True, repr=False)
class ObjectVerdict:
    """The verdict on a history of operations. It is true if the object allows the history.

    ``holds`` is None if it is undecided. ``report`` is what the command prints. ``svg`` is a
    picture: clients as lanes, operations as bars, the order found as dots; empty if undecided. A
    notebook shows both.
    """

    file: str
    condition: str
    holds: bool | None
    operations: int
    report: str
    svg: str
    json: Mapping[str, Any] = field(repr=False)

    def __bool__(self) -> bool:
        return self.holds is True

    def __str__(self) -> str:
        return self.report

    def __repr__(self) -> str:
        said = {True: "holds", False: "violated", None: "undecided"}[self.holds]
        return f"<ObjectVerdict: {self.condition}: {said}; {self.operations} operations>"

    def _repr_html_(self) -> str:
        return f"<div>{self.svg}</div><pre>{escape(self.report)}</pre>"

    def save(self, file: str | PathLike[str]) -> None:
        """Write the picture and the report as one page for the browser."""
        page = _PAGE.format(title=escape(f"{self.condition}: {self.file}"), body=self._repr_html_())
        write_text(Path(file), page, "Give another place with --html FILE.", named=True)


@in_turn
def check_operations(
    history: str | PathLike[str] | Iterable[Mapping[str, Any]],
    object: str,
    constants: Mapping[str, Any] | None = None,
    *,
    order: Order = "real-time",
    format: str = "auto",
    nil_is_unknown: bool = False,
    timeout: float | None = None,
) -> ObjectVerdict:
    """Decide whether operations are linearizable, or sequentially consistent by ``"sessions"``.

    ``history`` is a file, or the records of one in JSON Lines. ``object`` is an object of the
    library or a spec. ``timeout`` is in seconds.

    Raises:  HistoryError for an invalid history; SpecError, RunError for an invalid object.
    """
    if isinstance(history, str | PathLike):
        found = read_operations(Path(fspath(history)), format)
    else:
        found = from_records(history)
    limit = math.inf if timeout is None else timeout
    of = object_of(object, constants or {}, nil_is_unknown=nil_is_unknown)
    verdict = decide(of, found, order, limit)
    why = explained(of, verdict.failing, order) if verdict.failing is not None else None
    return verdict_of(of, found, verdict, why)


def object_of(name: str, constants: Mapping[str, Any], *, nil_is_unknown: bool) -> Object:
    """Return an object of the library, or that of a file."""
    path = spec_path(f"objects/{name}")
    path = path if path.endswith(".py") and not Path(name).exists() else spec_path(name)
    if not Path(path).exists():
        error = no_spec(name)
        found = (e.path.stem for e in entries() if e.name.startswith("objects/"))
        error.help = f"In the library: {', '.join(found)}."
        raise error
    return Object(load(path, constants, optimize=False), nil_is_unknown=nil_is_unknown)


def verdict_of(
    of: Object, history: Operations, verdict: Verdict, why: Explanation | None
) -> ObjectVerdict:
    """Return a verdict with its report and its picture."""
    text = printable(report.text(of, history, verdict, why))
    data = json.loads(report.as_json(of, history, verdict, why))
    return ObjectVerdict(
        history.source,
        verdict.condition,
        verdict.holds,
        len(history.all),
        text,
        _picture(verdict, why),
        data,
    )


def _picture(verdict: Verdict, why: Explanation | None) -> str:
    part = verdict.failing or verdict.parts[0]
    if part.outcome is None:
        return ""
    order = [i for i, _ in (why.order if why is not None else part.outcome.order or ())]
    failed, needed = (None, ()) if why is None else (why.failed, why.needed)
    title = f"{verdict.condition}: {'holds' if verdict.holds else 'violated'}"
    title += f", key {part.key}" if part.key else ""
    return drawing.svg(title, part.operations, order, failed, needed)
