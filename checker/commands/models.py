"""``statewalk models``: the library, and whether it gives what it promises."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from textwrap import indent
from typing import TYPE_CHECKING, Any

from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS, NOT_MET

if TYPE_CHECKING:
    from statewalk.checker.library import Entry
    from statewalk.checker.verdict.run import Run
    from statewalk.dsl.declared import Configuration, Expectation


@dataclass(frozen=True)
class Row:
    """What one configuration gave."""

    configuration: Configuration
    run: Run

    @property
    def passed(self) -> bool:
        return self.run.as_expected is True


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "models",
        help="list the model library, or test it",
        usage="statewalk models [-h] [list | test] [NAME ...]",
        description="List the models of the library with their constants and configurations; of "
        "one, with what it is about. With 'test', check every configuration against what it "
        "expects.",
        epilog="Exit codes of test: 0 all as expected, 4 some not.",
    )
    parser.add_argument(
        "words", nargs="*", metavar="NAME", help="models, or folders of them; all if none is named"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """List or test; the exit code."""
    from statewalk.checker.library import matching

    what, *names = arguments.words or ["list"]
    if what not in ("list", "test"):
        names = [what, *names]
    found = list(dict.fromkeys(e for name in names or [None] for e in matching(name)))
    return _test(found) if what == "test" else _list(found)


def _list(found: list[Entry]) -> int:
    from statewalk.checker.api import load_within
    from statewalk.checker.report.page import Page

    for entry in found:
        model = load_within(entry.path, {})
        about = entry.about + "\n" if len(found) == 1 else entry.line
        streams.out().write(f"{entry.name}\n{indent(about, '  ')}\n")
        constants = [f"{n}={v!r}" for n, v in model.constants.items()]
        page = Page(streams.width())
        page.flow(["  constants       "], constants, between=" ")
        page.show(streams.out())
        for mutant, line in model.mutants.items():
            streams.out().write(f"  mutant          {mutant}: {line}\n")
        for configuration in model.configurations:
            streams.out().write(
                f"  {configuration.name:<28} {expected_text(configuration.expect)}\n"
            )
    streams.out().write(f"Check one with: statewalk check {found[0].name}\n")
    return HOLDS


def expected_text(expect: Expectation | None) -> str:
    """What a configuration expects, in words."""
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


def _test(found: list[Entry]) -> int:
    from statewalk.checker.machine.limits import Interruptions

    passed = failed = 0
    with Interruptions() as asked:
        for entry in found:
            streams.out().write(f"{entry.name}\n")
            for row in _rows(entry, asked):
                if asked():
                    raise KeyboardInterrupt
                passed, failed = passed + row.passed, failed + (not row.passed)
                streams.out().write(_line(row))
                streams.out().flush()
    streams.out().write(f"{passed} as expected, {failed} not\n")
    return NOT_MET if failed else HOLDS


def _rows(entry: Entry, asked: Callable[[], bool]) -> Iterator[Row]:
    """Check every configuration of a model that says what to expect."""
    from statewalk.checker.api import check, load_within

    for configuration in load_within(entry.path, {}).configurations:
        if configuration.expect is not None:
            found = check(entry.path, config=configuration.name, interrupted=asked)
            yield Row(configuration, found)


def _line(row: Row) -> str:
    run = row.run
    found: str = run.verdict
    violated = [p for p in run.properties if p.verdict == "violated"]
    if violated:
        found += " " + ", ".join(
            f"{p.name} in {p.length}" if p.length is not None else p.name for p in violated
        )
    mark = "ok  " if row.passed else "FAIL"
    size = f"{run.counts.distinct} states, {run.seconds:.2f} s"
    line = f"  {mark} {row.configuration.name:<28} {found}; {size}\n"
    if not row.passed:
        line += f"       expected: {expected_text(row.configuration.expect)}\n"
    return line
