"""``--watch``: do it again whenever a file is saved that it was done with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from statewalk.checker.commands.everyday.found import texts_in
from statewalk.checker.commands.everyday.outcomes import Origins
from statewalk.checker.commands.everyday.rows import TELL
from statewalk.checker.commands.everyday.saved import Files
from statewalk.checker.machine import streams
from statewalk.checker.machine.files import write_text
from statewalk.checker.machine.limits import Interruptions
from statewalk.checker.machine.places import files_of_specs
from statewalk.checker.report.page import Page, plural
from statewalk.checker.report.progress import since_page
from statewalk.checker.verdict import exits
from statewalk.dsl.files import absolute
from statewalk.dsl.inputs import opened_last
from statewalk.dsl.origins import ABSENT, NO_MODULE, UNSEEN
from statewalk.dsl.source.apart import places
from statewalk.dsl.source.texts import place_in_packages

if TYPE_CHECKING:
    from statewalk.checker.verdict.run import Result, Run

OPTION = "--watch"
_LOOK = 0.2  # seconds between two looks
_SPECS = (".py", ".fizz")
_RARELY = 20  # times as long as it takes to look which files there are lie between two
_NAMED = 3  # files that are named
_INIT = "__init__.py"


class Watched(Protocol):
    """A command that is done again and again."""

    words: Sequence[str]
    made: Sequence[Mapping[str, str]]  # the origins of what it did last

    def files(self) -> Iterable[str]:
        """The files to look at, as far as they are known now."""

    def done(self) -> Page | None:
        """Called once it was done, to its end: what there is to say then."""


def without(words: Sequence[str]) -> list[str]:
    """Return a command without ``--watch``, which may be abbreviated."""
    return [w for w in words if not (len(w) > len("--") and OPTION.startswith(w))]


def watch(job: Watched) -> int:
    """Do it, and again after each save, until the user ends it: the exit code of the last time."""
    files = Files(job.files)
    with Interruptions() as asked:
        while True:
            code = _done(job, files, asked)
            if code is not None:
                if asked():
                    return code
                _show(job.done())
                files.learn(job.made)
                looked = plural(sum(map(os.path.exists, set(files.which()))), "file")
                unseen = {origins[UNSEEN] for origins in job.made if UNSEEN in origins}
                if unseen:
                    asked_for = ", ".join(sorted(unseen))
                    _say(f"not watched: what the spec asks for beside files ({asked_for})", "dim")
                _say(f"watching {looked}, Ctrl-C ends it", "dim")
            while not files.saved():
                if asked():
                    return exits.INCONCLUSIVE if code is None else code
                time.sleep(_LOOK)
            names = files.settled()
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            named = ", ".join(map(os.path.relpath, names[:_NAMED]))
            streams.out().write("\n")
            _say(f"{clock()}  saved: {named}{more}", "head")


def clock() -> str:
    """Return the time of day."""
    return time.strftime("%H:%M:%S")


def _say(text: str, style: str) -> None:
    page = Page(streams.width())
    page.add((text, style))
    _show(page)


def _show(page: Page | None) -> None:
    if page is not None:
        page.show(streams.out())
        streams.out().flush()


def _done(job: Watched, files: Files, asked: Callable[[], bool]) -> int | None:
    """Do it once: the exit code; None where a file was saved meanwhile, which ends it."""
    streams.out().flush()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "statewalk", *job.words],
        stdin=subprocess.DEVNULL,
        stdout=streams.out().fileno(),
    )
    late = passed_on = False
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(_LOOK)
                return None if late and not asked() else code
            if not passed_on and (asked() or files.saved()):
                passed_on, late = True, not asked()
                process.terminate()
    except BaseException:
        process.kill()
        raise


# -- a check ---------------------------------------------------------------------------------------


def tell(runs: Sequence[Run], file: str) -> None:
    """Write what checks were made of and what they found, for whoever began them."""
    more: set[str] = set()
    for error in filter(None, (run.evidence.error for run in runs)):
        more |= files_of_specs() | ({error.span.file} if error.span is not None else set())
    made = [(run.result.spec, run.evidence.sources) for run in runs]
    data = _told([*made, *((spec, opened_last()) for spec, origins in made if not origins)], more)
    results = (run.result.to_dict() for run in runs)
    data["cut"] = [run.evidence.cut_short for run in runs]
    data["runs"] = dict(zip(_names(runs), results, strict=True))
    write_text(Path(file), json.dumps(data))


def _told(made: Sequence[Origins], more: Iterable[str] = ()) -> dict[str, Any]:
    files, sources = set(more), [dict(origins) for _, origins in made]
    for spec, origins in made:
        beside, root = os.path.dirname(os.path.abspath(spec)), place_in_packages(Path(spec))[0]
        folders = list(dict.fromkeys((beside, root, *places())))
        sought = [n.removeprefix(NO_MODULE) for n in origins if n.startswith(NO_MODULE)]
        absent = {file for name in sought for file in _places_of(name, folders)}
        files |= {*origins, *absent, *_hiding(origins, folders)}
        sources.append(dict.fromkeys(absent, ABSENT))
    return {
        "files": sorted({absolute(f) for f in files if os.path.isabs(f) or os.path.exists(f)}),
        "sources": sources,
    }


def _hiding(origins: Mapping[str, str], folders: Sequence[str]) -> Iterator[str]:
    """Yield files that would be imported in the place of others, or around them, if they came."""
    names = {name for name in origins if name.isidentifier()}  # of packages
    for file in (Path(name) for name in origins if name.endswith(".py")):
        names.add(file.parent.name if file.name == _INIT else file.stem)
        yield from (str(file.with_suffix("") / _INIT), str(file.parent / _INIT))
        for folder in (folder for folder in folders if file.is_relative_to(folder)):
            yield from (os.path.join(other, file.relative_to(folder)) for other in folders)
    for name in names:
        yield from _places_of(name, folders)
    for name in sys.stdlib_module_names:
        yield from _places_of(name, folders)
    yield from (os.path.join(folder, _INIT) for folder in folders)


def _places_of(module: str, folders: Sequence[str]) -> Iterator[str]:
    """Yield the files that a module, or a package around it, could be."""
    parts = module.split(".")
    for folder in folders:
        for count in range(1, len(parts) + 1):
            place = os.path.join(folder, *parts[:count])
            yield from (f"{place}.py", os.path.join(place, _INIT))


def _names(runs: Sequence[Run]) -> Iterator[str]:
    """Yield what tells runs apart: their configurations, or else the constants that differ."""
    configs = {run.evidence.options.config for run in runs}
    if len(configs) == len(runs):
        yield from ("" if len(runs) == 1 else str(r.evidence.options.config) for r in runs)
        return
    first = runs[0].constants
    shared = [n for n in first if all(n in run.constants for run in runs)]
    varied = [n for n in shared if len({str(run.constants[n]) for run in runs}) > 1]
    for run in runs:
        head = f"{run.evidence.options.config} " if len(configs) > 1 else ""
        yield head + " ".join(f"{n}={run.constants[n]}" for n in varied)


@dataclass
class _Telling:
    """A command whose process tells, in a file of a folder, what it was made of."""

    given: Sequence[str]
    folder: str
    words: Sequence[str] = field(init=False)
    known: set[str] = field(default_factory=set, init=False)
    made: Sequence[Mapping[str, str]] = field(default=(), init=False)

    def __post_init__(self) -> None:
        self.told = Path(self.folder, "told.json")
        self.words = [*without(self.given), TELL, str(self.told)]

    def taken(self) -> dict[str, Any] | None:
        """Return what was told, once; None where nothing was."""
        self.made = ()
        try:
            data: dict[str, Any] = json.loads(self.told.read_text(encoding="utf-8"))
            self.told.unlink()
        except (OSError, ValueError):
            return None
        self.made = data["sources"]
        return data


@dataclass
class WatchedCheck(_Telling):
    """``statewalk check``: compared with the last check that had a result."""

    spec: str
    mistaken: bool = field(default=True, init=False)
    before: tuple[str, dict[str, Result]] | None = field(default=None, init=False)

    def files(self) -> Iterator[str]:
        """Yield what the last check was made of; after a mistake, also what may mend it."""
        yield from {self.spec, *self.known}
        if self.mistaken:
            beside = os.path.dirname(self.spec)
            with suppress(OSError):
                names = os.listdir(beside)
                yield from (os.path.join(beside, n) for n in names if n.endswith(_SPECS))

    def done(self) -> Page | None:
        """Return what is not as it was before."""
        from statewalk.checker.verdict.run import read_result

        self.mistaken = True
        data = self.taken()
        if data is None:
            return None
        now = {name: read_result(result) for name, result in data["runs"].items()}
        self.mistaken = any(result.verdict == "error" for result in now.values())
        self.known = {*data["files"], *(self.known if self.mistaken else ())}
        before = self.before
        if not self.mistaken:
            self.before = (clock(), now)
        if before is None:
            return None
        page = since_page(before[1], now, before[0], width=streams.width())
        page.lines.insert(0, [])
        return page


# -- tests -----------------------------------------------------------------------------------------


def tell_tests(made: Sequence[Origins], file: str) -> None:
    """Write what tested specs were made of, for whoever began the tests."""
    write_text(Path(file), json.dumps(_told(made, files_of_specs())))


@dataclass
class WatchedTests(_Telling):
    """``statewalk test``: what did not change is not checked again anyway."""

    paths: Sequence[str]
    found: list[str] = field(default_factory=list, init=False)
    next: float = field(default=0.0, init=False)

    def files(self) -> set[str]:
        """Return all files that may be specs or parts of them, and what they were made of."""
        now = time.monotonic()
        if now >= self.next:
            self.found = texts_in(self.paths)
            self.next = time.monotonic() + _RARELY * (time.monotonic() - now)
        return {*self.found, *self.known}

    def done(self) -> None:
        """The table says it all."""
        data = self.taken()
        if data:  # a spec that is mistaken now does not say what it is made of
            self.known = {*self.known, *data["files"]}


def watch_tests(paths: Sequence[str], given: Sequence[str]) -> int:
    """Test specs again and again; the exit code."""
    with tempfile.TemporaryDirectory(prefix="statewalk-") as folder:
        return watch(WatchedTests(given, folder, paths))


def watch_check(spec: str, given: Sequence[str]) -> int:
    """Check a spec again and again; the exit code."""
    with tempfile.TemporaryDirectory(prefix="statewalk-") as folder:
        return watch(WatchedCheck(given, folder, os.path.abspath(spec)))
