"""Checking configurations of many specs, side by side, and saying of each what came out.

Each spec is checked by `statewalk check` in a process of its own: one that hangs, crashes or prints
does so alone.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.search import ASSERTION, DEADLOCK
from statewalk.checker.machine import able, again
from statewalk.checker.report.page import plural
from statewalk.checker.report.progress import COMPILING
from statewalk.checker.verdict import exits
from statewalk.dsl.declared import AS_IT_IS
from statewalk.dsl.errors import did_you_mean, one_line, printable

if TYPE_CHECKING:
    from statewalk.checker.verdict.run import Result
    from statewalk.dsl.declared import Configuration, Expectation

_LOOK = 0.2  # seconds between two looks whether the user wants to end
_ANNOTATION = re.compile(r"::(error|warning|notice) file=")
_INTERNAL = "SW900 "
_SOURCES = "sources.json"
_NEVER = "100000"  # seconds: what is thrown away afterwards need not be saved


TELL = "--tell"  # option of a check: the file to write sources and results to
WARNING = "warning"


@dataclass(frozen=True)
class Told:
    """The machine-readable output of a check: JUnit's XML, SARIF, annotations.

    Empty where it did not.
    """

    junit: str = ""
    sarif: str = ""
    github: str = ""


@dataclass(frozen=True)
class Row:
    """The result of one configuration; ``problem`` says why there is no result. ``told``
    stands in the first row of what was checked together. ``strict``: it does not pass with
    warnings. ``compiled``: part of its time went into compiling kernels. ``origins`` are those of
    the model that was checked, as `Model.origins`; empty where unknown. ``cut``: a limit ended the
    search, so that its numbers are of no use.
    """

    configuration: Configuration
    result: Result | None
    problem: str = ""
    told: Told | None = None
    strict: bool = False
    compiled: bool = False
    origins: Mapping[str, str] = field(default_factory=dict)
    cut: bool = True

    @property
    def code(self) -> int:
        """The exit code that a check of it alone has, as far as tests tell them apart."""
        code = self._code
        return exits.NOT_MET if self.strict and self.warnings and code == exits.HOLDS else code

    @property
    def _code(self) -> int:
        if self.result is None or self.result.verdict == "error":
            return exits.MISTAKE
        if self.configuration.expect is not None:
            met = {True: exits.HOLDS, False: exits.NOT_MET, None: exits.INCONCLUSIVE}
            return met[self.result.as_expected]
        if self.result.verdict == "bounded":
            return exits.INCONCLUSIVE
        return exits.HOLDS if self.result.holds else exits.NOT_MET

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what to know before trusting what came out."""
        if self.result is None or self.result.verdict == "error":
            return ()
        return self.result.warnings

    @property
    def passed(self) -> bool:
        return self.code == exits.HOLDS

    @property
    def found(self) -> str:
        """Return what came out, on a line."""
        if self.result is None:
            return self.problem
        if self.result.verdict == "error":
            return (self.result.warnings or ("error",))[0].partition("\n")[0]
        found: str = self.result.verdict
        violated = [p for p in self.result.properties if p.verdict == "violated"]
        if violated:
            found += " " + ", ".join(
                f"{p.name} in {p.length}" if p.length is not None else p.name for p in violated
            )
        found += f"; {self.result.counts.distinct} states"
        return found + (f"; {plural(len(self.warnings), WARNING)}" if self.warnings else "")


@dataclass(frozen=True)
class Job:
    """A spec with those of its configurations that are to be checked."""

    spec: str
    configurations: tuple[Configuration, ...]


@dataclass(frozen=True)
class How:
    """``jobs`` are the processes at a time, ``timeout`` is that of one check, in seconds; with
    ``tells``, checks also write what machines read; ``strict``: warnings are no success.
    """

    jobs: int
    engine: str = "auto"
    timeout: float | None = None
    tells: bool = False
    strict: bool = False


def checked(jobs: Sequence[Job], how: How, asked: Callable[[], bool]) -> Iterator[list[Row]]:
    """Yield the rows of each job, in their order.

    Raises KeyboardInterrupt once the user ``asked``.
    """
    running: set[subprocess.Popen[str]] = set()
    if not able.THREADS:
        yield from (_run(job, how, running) for job in jobs)
        return
    parts = [_parted(job, whole=len(jobs) >= how.jobs) for job in jobs]
    with ThreadPoolExecutor(how.jobs) as pool:
        try:
            futures = [[pool.submit(_run, part, how, running) for part in job] for job in parts]
            for some in futures:
                yield [row for future in some for row in _awaited(future, asked)]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(running):
                with suppress(OSError):
                    process.terminate()
            raise


def _parted(job: Job, *, whole: bool) -> list[Job]:
    """Return a job, or one for each configuration where there are processors for that."""
    if whole or not job.configurations:
        return [job]
    return [Job(job.spec, (configuration,)) for configuration in job.configurations]


def _awaited(future: Future[list[Row]], asked: Callable[[], bool]) -> list[Row]:
    while not wait((future,), _LOOK).done:
        if asked():
            raise KeyboardInterrupt
    if asked():
        raise KeyboardInterrupt
    return future.result()


def _run(job: Job, how: How, running: set[subprocess.Popen[str]]) -> list[Row]:
    if not job.configurations:
        return []
    with tempfile.TemporaryDirectory(prefix="statewalk-") as folder:
        printed, said, code = _ended(_words(job, how, Path(folder)), how, running)
        results = _results(Path(folder, "result.json"))
        origins, cut = _made_of(Path(folder, _SOURCES))
        told = _told(Path(folder), printed) if how.tells else None
    compiled = COMPILING in said
    missing = f"no result: {gist(said) or f'ended with exit code {code}'}"
    return [
        Row(
            c,
            results[n] if n < len(results) else None,
            missing,
            None if n else told,
            how.strict,
            compiled and not n,
            origins[n] if n < len(origins) else {},
            cut[n] if n < len(cut) else True,
        )
        for n, c in enumerate(job.configurations)
    ]


def _ended(words: list[str], how: How, running: set[subprocess.Popen[str]]) -> tuple[str, str, int]:
    """Return what a check printed and said, and its exit code."""
    if not able.PROCESSES:
        return again.here(words)
    process = begun(words, how)
    running.add(process)
    try:
        printed, said = process.communicate()
    finally:
        running.discard(process)
    return printed, said, process.returncode


def begun(words: Sequence[str], how: How) -> subprocess.Popen[str]:
    """Start the process of a check."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "statewalk", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if how.tells else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )


def gist(said: str) -> str:
    """Return the line of what a check said that tells why it ended: that of an internal
    error, or the last.
    """
    lines = [line.strip() for line in said.replace(COMPILING, "").splitlines() if line.strip()]
    return next((line for line in lines if line.startswith(_INTERNAL)), lines[-1] if lines else "")


def _words(job: Job, how: How, folder: Path) -> list[str]:
    """Return the command that checks a job and leaves what it finds in a folder."""
    threads = max(1, (os.cpu_count() or 1) // how.jobs)
    words = ["check", job.spec, "--json", str(folder / "result.json"), "--out", str(folder / "run")]
    words += ["--checkpoint-every", _NEVER, "--threads", str(threads), "--engine", how.engine]
    words += [TELL, str(folder / _SOURCES)]
    words += ["--strict"] if how.strict else []
    words += [] if how.timeout is None else ["--timeout", str(how.timeout)]
    if how.tells:
        words += ["--junit", str(folder / "junit.xml"), "--sarif", str(folder / "sarif.json")]
        words.append("--github")
    return words + [f"--config={c.name}" for c in job.configurations if c.name != AS_IT_IS]


def _told(folder: Path, printed: str) -> Told:
    texts = []
    for name in ("junit.xml", "sarif.json"):
        path = folder / name
        texts.append(path.read_text(encoding="utf-8") if path.exists() else "")
    lines = [line for line in printed.splitlines() if _ANNOTATION.match(line)]
    return Told(texts[0], texts[1], "".join(f"{line}\n" for line in lines))


def _results(file: Path) -> list[Result]:
    """Return what a check left, in the order of its configurations."""
    from statewalk.checker.verdict.run import read_result

    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    rows = data.get("sweep", [data])
    return [read_result({k: v for k, v in row.items() if k != "config"}) for row in rows]


def _made_of(file: Path) -> tuple[list[dict[str, str]], list[bool]]:
    """Return the origins of each model that a check loaded, and whether a limit ended the search,
    in the order of its configurations.
    """
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return [], []
    return found["sources"], found["cut"]


def expected_text(expect: Expectation | None) -> str:
    """Return what a configuration expects, in words."""
    if expect is None:
        return "-"
    if expect.verdict == "violated":
        steps = {n: f" in {k} steps" for n, k in expect.lengths.items()}
        named = [name + steps.get(name, "") for name in expect.properties]
        states = f"; {expect.states} states" if expect.states is not None else ""
        return f"violates {', '.join(named) or 'something'}{states}"
    counts = [
        f"{n} {getattr(expect, n)}"
        for n in ("distinct", "generated", "depth")
        if getattr(expect, n) is not None
    ]
    return "holds" + (f": {', '.join(counts)}" if counts else "")


def _misspelt(row: Row) -> Iterator[str]:
    """Of each property that is expected to be violated and that there is not, what was meant."""
    expect, result = row.configuration.expect, row.result
    if expect is None or result is None or result.verdict == "error":
        return
    own = [p.name for p in result.properties]
    known = {*own, *(name.partition("(")[0] for name in own), DEADLOCK, ASSERTION}
    for name in expect.properties:
        if name not in known:
            yield f"there is no property {name}. {did_you_mean(name, own)}"


def line(row: Row, spec: str, warnings: Sequence[str] = ()) -> str:
    """Return what is printed of a row, with some of its warnings."""
    mark = {exits.HOLDS: "ok  ", exits.INCONCLUSIVE: "??  "}.get(row.code, "FAIL")
    seconds = f", {row.result.seconds:.2f} s" if row.result is not None else ""
    seconds += " (with compiling the engine, once)" if row.compiled else ""
    name = one_line(row.configuration.name)
    text = f"  {mark} {name:<28} {row.found}{seconds}\n"
    if not row.passed:
        expect = row.configuration.expect
        wanted = expected_text(expect) if expect is not None else "holds"
        refused = row.strict and bool(row.warnings)
        wanted += ", and no warning (--strict)" if refused else ""
        text += f"       expected: {wanted}\n"
        text += "".join(f"       {said}\n" for said in _misspelt(row))
        config = "" if name == AS_IT_IS else f" --config {shlex.quote(name)}"
        config += " --strict" if refused else ""
        text += f"       see: statewalk check {spec}{config}\n"
    said = (part for warning in warnings for part in f"warning: {warning}".splitlines())
    return text + "".join(f"       {printable(part)}\n" for part in said)
