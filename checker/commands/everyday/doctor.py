"""``statewalk doctor``: is there here what statewalk needs, and does it work?"""

from __future__ import annotations

import argparse
import math
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS, MISTAKE

_LITTLE = 2 << 30  # bytes of memory
_TRIED = "toys/die_hard"


@dataclass(frozen=True)
class Finding:
    """The finding on one part of the installation; without a ``remedy`` it is well."""

    name: str
    found: str
    remedy: str = ""
    needed: bool = True

    @property
    def mark(self) -> str:
        if not self.remedy:
            return "ok  "
        return "FAIL" if self.needed else "-   "


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "doctor",
        help="check this machine; compile kernels ahead",
        description="List what this machine has of what statewalk can use, try the engine, "
        "and print how to add what is missing. Only caches are written.",
        epilog="Exit codes: 0 all that is needed works, 2 something does not.",
    )
    parser.add_argument(
        "--compile",
        action="store_true",
        help="compile every kernel now, about a minute once, so that no check has to",
    )
    parser.add_argument(
        "--user",
        action="store_true",
        help="with --compile: keep kernels in your cache folder, not in the installation",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print what is found; the exit code."""
    if arguments.compile:
        _compile(for_all=not arguments.user)
    findings = []
    for finding in examined():
        findings.append(finding)
        streams.say(f"{finding.mark} {finding.name:<12} {finding.found}\n")
        for line in finding.remedy.splitlines():
            streams.say(f"     {'':<12} {line}\n")
        streams.out().flush()
    return MISTAKE if any(f.remedy and f.needed for f in findings) else HOLDS


def _compile(*, for_all: bool) -> None:
    """Compile all kernels, with a progress bar where somebody watches."""
    from rich.console import Console
    from rich.progress import track

    from statewalk.checker.machine import ahead

    kernels = ahead.all_kernels()
    streams.say(f"Compiling {len(kernels)} kernels. Kernels that are compiled already are kept.\n")
    streams.out().flush()
    console = Console(file=streams.out())
    done: Iterable[str] = ahead.compiling(kernels, for_all=for_all)
    if console.is_terminal:
        done = track(done, "compiling", total=len(kernels), console=console, transient=True)
    for _ in done:
        pass


def examined() -> Iterator[Finding]:
    """Yield all that is looked at, the quickest first."""
    yield Finding("Python", f"{platform.python_version()}, {sys.executable}")
    yield _installed()
    yield Finding("system", f"{platform.platform(terse=True)}, {_processors()} processors")
    yield _memory()
    yield _folder()
    yield _caches()
    yield _supervisor()
    yield from _packages()
    yield _java()
    yield _engine()


def _installed() -> Finding:
    from statewalk.checker.commands.release import VERSION
    from statewalk.checker.machine.installed import source

    return Finding("statewalk", f"{VERSION}, {source().command()}")


def _processors() -> int:
    """Return those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> Finding:
    from statewalk.checker.machine.supervisor import memory_there

    there = memory_there()
    if there == math.inf:
        return Finding("memory", "this system does not say how much")
    few = "Only small specs fit; --max-memory ends a search in time." if there < _LITTLE else ""
    return Finding("memory", f"{there / (1 << 30):.1f} GB", few, needed=False)


def _folder() -> Finding:
    """Return whether runs can be kept in this folder."""
    here = os.getcwd()
    try:
        with tempfile.TemporaryFile(dir=here):
            return Finding("this folder", f"takes files: {here}")
    except OSError as error:
        said = f"{here} takes no files: {error.strerror or error}"
        return Finding("this folder", said, "Name another for runs: --out DIR.", needed=False)


def _caches() -> Finding:
    """Return where caches are, and whether they can be written."""
    from statewalk.dsl import caches

    if why := caches.problem():
        remedy = "What is compiled is not kept. Set NUMBA_CACHE_DIR to a folder that takes files."
        return Finding("caches", why, remedy, needed=False)
    return Finding("caches", f"takes files: {caches.place()}")


def _supervisor() -> Finding:
    from statewalk.checker.machine.supervisor import possible

    if possible():
        return Finding("processes", "a spec that hangs or crashes is ended")
    said = "a spec that hangs or crashes takes statewalk with it"
    return Finding("processes", said, "This system cannot fork.", needed=False)


def _packages() -> Iterator[Finding]:
    from statewalk.checker.machine.extras import EXTRAS, is_there
    from statewalk.checker.machine.installed import source

    for extra in dict.fromkeys(EXTRAS.values()):
        names = [name for name, of in EXTRAS.items() if of == extra]
        absent = [name for name in names if not is_there(name)]
        remedy = source().command(extra) if absent else ""
        said = f"without {', '.join(absent)}" if absent else f"has {', '.join(names)}"
        yield Finding(f"[{extra}]", said, remedy, needed=False)


def _java() -> Finding:
    from statewalk.checker.spark.session.settings import find_java
    from statewalk.dsl.errors import RunError

    try:
        place, version = find_java()
    except RunError as error:
        return Finding("Java", "none for --engine spark", str(error), needed=False)
    return Finding("Java", f"{version}, {place}")


def _engine() -> Finding:
    """Return whether the native engine finds in a small model what the reference engine finds."""
    from statewalk.checker.api import check
    from statewalk.checker.machine import ahead
    from statewalk.dsl.errors import StatewalkError

    started = time.monotonic()
    if not ahead.are_kept():
        streams.warn("Trying the engine. This compiles some of its kernels first, once.\n")
    try:
        plain = check(_TRIED, engine="reference")
        native = check(_TRIED, engine="native")
    except (StatewalkError, ImportError, OSError) as error:
        return Finding("engine", "does not run", f"{error}\nInstall statewalk again.")
    took = f"{time.monotonic() - started:.1f} s"
    if plain.counts != native.counts or plain.verdict != native.verdict:
        said = f"{native.counts} where {plain.counts} is right"
        return Finding("engine", said, "Check with --engine reference, and report this.")
    return Finding("engine", f"native and reference agree on {_TRIED} ({took}, with compiling)")
