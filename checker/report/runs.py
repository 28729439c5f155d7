"""Run folders: where a check leaves its result and its traces."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.machine.files import OUT, write_text
from statewalk.checker.machine.locks import held
from statewalk.checker.traces.file import save_trace
from statewalk.dsl.errors import RunError
from statewalk.dsl.files import decoded, is_own_file, read_text

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.checker.verdict.run import Run

ROOT = Path(".statewalk/runs")
RESULT = "result.json"
EVIDENCE = "evidence.json"
REQUEST = "request.json"
SUFFIX = ".trace.json"
_WRITTEN = {  # what tells these files from others of the same name
    RESULT: {"schema", "spec", "verdict", "properties"},
    EVIDENCE: {"spec", "sources", "options", "traces"},
    REQUEST: {"schema", "spec", "options"},
    SUFFIX: {"format", "spec", "property", "steps"},
}


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

    def write(self, run: Run) -> Run:
        """Write a run's result and its traces; the run with the files of its traces.

        The evidence comes first and names the traces, so that whatever is written of them can be
        cleared. The result comes last: a folder that has one is complete. Raises RunError[SW403].
        """
        self.clear()
        names = file_names(run.traces)
        write_text(self.path / EVIDENCE, _dump({**evidence_of(run), "traces": [*names.values()]}))
        for name, file in names.items():
            if is_own_file(self.path / file):
                _own(self.path / file)
            save_trace(run.traces[name], self.path / file)
        run = run.with_files(str(self.path), {n: str(self.path / f) for n, f in names.items()})
        write_text(self.path / RESULT, run.to_json() + "\n")
        return run

    def keep(self, run: Run) -> Run:
        """Write a run; where that cannot be done, the run with a warning that says so."""
        try:
            return self.write(run)
        except RunError as problem:
            return run.with_unsaved(problem.one_line)

    def discard(self) -> None:
        """Remove the folder if nothing is in it."""
        with suppress(OSError):
            self.path.rmdir()

    def clear(self) -> None:
        """Remove what an earlier run left in the same folder, and nothing else.

        Raises RunError[SW403] where its names are taken by what no run wrote.
        """
        own = [self.path / name for name in (RESULT, EVIDENCE)]
        # What is no file of this name only (a link, a pipe) loses nothing but the name.
        named = [self.path / n for f in own if is_own_file(f) for n in _traces_in(f)]
        with suppress(OSError):
            for file in (*named, *own):
                file.unlink(missing_ok=True)


def _traces_in(file: Path) -> list[str]:
    """Return the names of the traces that a file of a run names. Raises RunError[SW403] where no
    run wrote it.
    """
    names = _own(file).get("traces")
    names = names if isinstance(names, list) else []  # also of a damaged file
    return [Path(n).name for n in names if isinstance(n, str) and n.endswith(SUFFIX)]


def _own(file: Path) -> dict[str, Any]:
    """Return the content of a file of a run. Raises RunError[SW403] where no run wrote it."""
    with suppress(OSError, ValueError, RecursionError):
        found = decoded(read_text(file))
        if isinstance(found, dict) and found.keys() >= _WRITTEN.get(file.name, _WRITTEN[SUFFIX]):
            return found
    raise RunError(
        "SW403", f"{file} is there already, and no run wrote it.",
        why="A run writes a file of this name.", help=OUT,
    )  # fmt: skip


def forget(out: str | Path | None) -> None:
    """Remove an earlier run's results from the folder of a new check, which may end without any,
    and what was asked there: it is not to be resumed in the place of the new one.

    Raises:  RunError[SW345] where another process writes to the folder; RunError[SW403] where no
    run wrote what is there.
    """
    if out is not None and Path(out).is_dir():
        with held(out):
            request = Path(out, REQUEST)
            if is_own_file(request):
                _own(request)
            RunFolder(Path(out)).clear()
            with suppress(OSError):
                request.unlink(missing_ok=True)


_LISTED = 4


def older_below(out: str | Path | None, own: Collection[str] = ()) -> str:
    """Return a line on rows of other sweeps that a folder still holds, beside its ``own``; empty
    where there are none. They are left there: some may be wanted.
    """
    pattern = f"*/{RESULT}" if own else f"*=*/{RESULT}"  # others of one check may be its siblings
    rows = Path(out).glob(pattern) if out is not None else ()
    names = sorted(row.parent.name for row in rows if row.parent.name not in own)
    if not names:
        return ""
    more = f", and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"older results in {out}, not of this run: {', '.join(names[:_LISTED])}{more}"


def new_folder(out: str | Path | None = None) -> RunFolder:
    """Return the folder for a run: the one asked for, or the next number below ``.statewalk/runs``.

    Raises:  RunError[SW403] where it cannot be made.
    """
    if out is None:
        refuse_links(ROOT, OUT)
    try:
        if out is not None:
            path = Path(out)
            path.mkdir(parents=True, exist_ok=True)
            return RunFolder(path)
        return RunFolder(_next(ROOT))
    except OSError as error:
        place = Path(out) if out is not None else ROOT
        why = "it is a file" if isinstance(error, FileExistsError) else error.strerror or error
        raise RunError(
            "SW403",
            f"The run folder {place} cannot be made: {why}.",
            help=OUT,
        ) from error


def refuse_links(folder: Path, help: str) -> None:
    """Raise RunError[SW403] where a folder below ``.statewalk``, or that itself, is a link."""
    for place in (folder.parent, folder):
        if place.is_symlink():
            raise RunError(
                "SW403",
                f"{folder} cannot be made: {place} is a link.",
                why="A checkout may contain it, and it may lead to any of your folders.",
                help=f"Remove it, or {help[:1].lower()}{help[1:]}",
            )


def _next(root: Path) -> Path:
    """A new folder named by the least number above all there are; safe against others doing the
    same.
    """
    root.mkdir(parents=True, exist_ok=True)
    ignore = root.parent / ".gitignore"
    with suppress(FileExistsError), ignore.open("x", encoding="utf-8") as file:  # follows no link
        file.write("*\n")
    number = max((int(p.name) for p in root.iterdir() if p.name.isdecimal()), default=0)
    while True:
        number += 1
        path = root / f"{number:04}"
        with suppress(FileExistsError):
            path.mkdir()
            return path


def file_names(traces: Mapping[str, Trace]) -> dict[str, str]:
    """Return a file name for the trace of each property, all different."""
    names: dict[str, str] = {}
    for name in traces:
        stem = re.sub(r"[^\w.-]+", "_", name).strip("._")[:80] or "trace"
        known, number = {n.lower() for n in names.values()}, 1
        while (file := f"{stem}{SUFFIX}").lower() in known:
            number += 1
            stem = f"{stem}-{number}"
        names[name] = file
    return names


def evidence_of(run: Run) -> dict[str, Any]:
    """Return what `evidence.json` holds: everything in the report that the result's contract has no
    field for.
    """
    found = run.evidence
    return {
        "spec": run.spec,
        "sources": dict(found.sources),
        "command": list(found.command),
        "options": found.options.given(),
        "stopped": found.stopped,
        "bounds": list(found.bounds),
        "levels": list(found.levels),
        "queue": found.queue,
        "witnesses": [{"name": n, "length": k} for n, k in found.witnesses],
        "unreached": list(found.unreached),
        "unchecked": [{"name": n, "why": why} for n, why in found.unchecked],
        "never_fired": [
            {"name": n.name, "guard": n.guard, "line": n.line, "states_tried": n.states}
            for n in found.never
        ],
        "cut": dict(found.cut),
        "hidden_by_view": list(found.hidden),
        "collision_probability": found.collision,
        "fairness": {k: list(v) for k, v in found.fairness.items()},
        "unexpected": list(found.unexpected),
        "left_out": list(found.left_out),
        "fields": [
            {
                "fields": list(one.fields),
                "values": one.values,
                "factor": round(one.factor, 2),
                "steps": list(one.steps),
                "properties": list(one.properties),
            }
            for one in found.fields
        ],
        "statistics": dict(found.statistics),
    }


def _dump(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False, default=str) + "\n"
