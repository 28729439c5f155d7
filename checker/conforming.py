"""Checking logs from Python: one run of a system, or a folder of many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.api import load_within
from statewalk.checker.conform.answer import Conformance
from statewalk.checker.conform.coverage import Coverage
from statewalk.checker.conform.fits import hidden_of
from statewalk.checker.conform.follow import follow, said_of
from statewalk.checker.conform.followed import Followed, Limits
from statewalk.checker.conform.logs import order_in, reader_of
from statewalk.checker.conform.steps import Steps
from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.machine.limits import within
from statewalk.checker.machine.spawning import processes
from statewalk.checker.machine.turns import in_turn
from statewalk.checker.machine.watch import CutShort
from statewalk.checker.report.conform import as_json, conform_page, verdict_of
from statewalk.dsl.errors import RunError

OF_LOGS = ("SW390", "SW391", "SW392")
"""The mistakes of a log; others are of the question."""
_RUNS = (
    "Each file in it is the log of a run; each folder in it holds the logs of one run's processes."
)

if TYPE_CHECKING:
    from statewalk.checker.conform.events import Reader
    from statewalk.checker.report.page import Page
    from statewalk.dsl.model import Model


@dataclass
class Question:
    """A spec, and how logs are read and followed. Asked of run after run, it knows the steps that
    it met before.
    """

    model: Model
    reader: Reader | None = None
    hidden: Sequence[str] = ()
    limits: Limits = field(default_factory=Limits)
    timeout: float | None = None

    def __post_init__(self) -> None:
        self._steps = Steps(self.model)
        self._hidden = hidden_of(self.model, self.hidden)

    def followed(self, files: Sequence[str]) -> Followed | str:
        """Follow the logs of a run; or why that was ended before they were read."""
        try:
            with within(self.model.path, "following the log", self.timeout):
                order = order_in(files, self.reader)
                return follow(self.model, order, self._hidden, self.limits, self._steps)
        except CutShort as cut:
            return f"before the log was read: {said_of(cut)}"

    def ask(self, files: Sequence[str]) -> Conformance:
        """Return what becomes of the logs of a run. Raises RunError for what is no log."""
        found = self.followed(files)
        answer = self.told(files, found, conform_page(found))
        return answer if isinstance(found, str) else replace(answer, coverage=Coverage.of(found))

    def of_many(self, files: Sequence[str]) -> Conformance:
        """Return what becomes of the logs of one of many runs: a mistake in them stops no
        others.
        """
        try:
            return self.ask(files)
        except RunError as error:
            if error.code not in OF_LOGS:
                raise
            said = {"spec": self.model.path, "verdict": "mistake", "mistake": str(error)}
            return Conformance(tuple(files), "mistake", 0, 0, str(error), said)

    def told(self, files: Sequence[str], found: Followed | str, page: Page) -> Conformance:
        """Return what is said of logs that were followed, without what they showed."""
        length, accepted = (
            (0, 0) if isinstance(found, str) else (found.order.length, found.accepted)
        )
        said = as_json(self.model.path, found)
        return Conformance(tuple(files), verdict_of(found), length, accepted, page.plain(), said)


@in_turn
def conform(
    spec: str | PathLike[str],
    *logs: str | PathLike[str] | Sequence[str | PathLike[str]],
    constants: Mapping[str, Any] | None = None,
    config: str | None = None,
    map: str | Callable[[str], Any] | None = None,
    hidden: Sequence[str] = (),
    watch: Sequence[str] = (),
    max_hidden: int | None = None,
    max_states: int = 100_000,
    timeout: float | None = None,
    depth_first: bool = False,
) -> Conformance:
    """Decide whether the logs of one run are a behavior of a spec.

    Several logs, or a list, are of several processes. ``timeout`` is in seconds.

    Raises:  SpecError, RunError for an invalid spec, log or event.
    """
    hidden, watch = (
        [given] if isinstance(given, str) else list(given) for given in (hidden, watch)
    )
    model = load_within(fspath(spec), constants or {}, CheckOptions(config=config))
    reader = reader_of(map) if isinstance(map, str) else map
    limits = Limits(max_hidden, max_states, watched=watch, deep=depth_first)
    files = _files(logs)
    return Question(model, reader, hidden, limits, timeout).ask(files)


def _files(logs: Sequence[str | PathLike[str] | Sequence[str | PathLike[str]]]) -> list[str]:
    """Return the names of logs, which may be in a list. Raises RunError[SW390] for a folder."""
    several = [[log] if isinstance(log, str | PathLike) else list(log) for log in logs]
    files = [fspath(log) for part in several for log in part]
    for file in files:
        if Path(file).is_dir():
            raise RunError(
                "SW390",
                f"{file} is a folder, and this function takes the logs of one run.",
                help=f"Ask for each run: for log in sorted(Path({file!r}).iterdir()): "
                "conform(spec, log)\nThe command takes folders: statewalk conform SPEC FOLDER",
            )
    return files


def runs_in(folder: str) -> list[list[str]]:
    """The runs that a folder holds: a file is the log of one, the files of a folder in it are of
    one together. Raises RunError[SW390] where there is none.
    """
    found = []
    for entry in sorted(Path(folder).iterdir()):
        if entry.name.startswith("."):
            continue
        files = sorted(entry.iterdir()) if entry.is_dir() else [entry]
        found.append([str(file) for file in files if file.is_file() and file.name[0] != "."])
    if not any(found):
        raise RunError("SW390", f"The folder {folder} holds no logs.", help=_RUNS)
    return [run for run in found if run]


def in_processes(
    asked: LogCheck, runs: Sequence[Sequence[str]], jobs: int
) -> Iterator[Conformance]:
    """Yield what becomes of many runs, in their order, from ``jobs`` processes."""
    parts = [runs[at::jobs] for at in range(jobs)]
    with processes(jobs) as pool:
        answers = [list(part) for part in pool.map(asked.of_all, parts)]
    for at in range(len(runs)):
        yield answers[at % jobs][at // jobs]


@dataclass(frozen=True)
class LogCheck:
    """The ingredients of a question to another process."""

    spec: str
    constants: Mapping[str, Any]
    config: str | None
    map: str | None
    hidden: tuple[str, ...]
    watch: tuple[str, ...]
    max_hidden: int | None
    max_states: int
    timeout: float | None
    deep: bool = False

    def question(
        self,
        interrupted: Callable[[], bool] = lambda: False,
        told: Callable[[str], None] = lambda said: None,
    ) -> Question:
        """Return the question, with its spec loaded."""
        model = load_within(self.spec, self.constants, CheckOptions(config=self.config))
        with within(model.path, "--map", self.timeout):
            reader = reader_of(self.map) if self.map else None
        limits = Limits(self.max_hidden, self.max_states, interrupted, told, self.watch, self.deep)
        return Question(model, reader, self.hidden, limits, self.timeout)

    def of_all(self, runs: Sequence[Sequence[str]]) -> list[Conformance]:
        """Return what becomes of some runs."""
        question = self.question()
        return [question.of_many(run) for run in runs]
