"""Bringing the numbers that configurations expect up to date, after they have been shown."""

from __future__ import annotations

import ast
import difflib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from statewalk.checker.commands.everyday.rows import Row
from statewalk.checker.machine import streams
from statewalk.checker.machine.rewriting import rewrite
from statewalk.dsl.errors import one_line
from statewalk.dsl.files import read_text
from statewalk.dsl.origins import outdated

_NUMBERS = ("length", "distinct", "generated", "depth", "states")


class Update:
    """Shows what would change in the texts of specs; writes it, where somebody is there once they
    say so. Only numbers change: a verdict that is not as expected is for people to judge.
    """

    def __init__(self) -> None:
        self._written: dict[str, str] = {}  # file → text

    def __call__(self, spec: str, rows: Sequence[Row]) -> None:
        """Bring a spec up to date with what its configurations gave."""
        for row in rows:
            if _is_cut(row):
                name = one_line(row.configuration.name)
                streams.say(
                    f"       {name}: its search did not end; there are no numbers to write\n"
                )
        found = {row.configuration.name: numbers for row in rows if (numbers := _numbers(row))}
        told = [row for row in rows if row.configuration.name in found]
        if not found or self._outdated(spec, told):
            return
        before = read_text(Path(spec))
        after, missing = rewritten(before, found)
        for name in missing:
            said = f"its numbers are not written in {spec}; nothing to update"
            streams.say(f"       {one_line(name)}: {said}\n")
        if after == before or not _is_wanted(spec, before, after):
            return
        if self._outdated(spec, told):
            return
        if not rewrite(Path(spec), before, after, "Make the spec writable."):
            _refuse(spec, spec)
            return
        self._written[os.path.realpath(spec)] = after
        streams.say(f"       {spec} is up to date.\n")

    def _outdated(self, spec: str, rows: Iterable[Row]) -> bool:
        """Return whether the numbers are those of other texts than there are now; say so."""
        for file in dict.fromkeys(f for row in rows for f in outdated(row.origins)):
            ours = self._written.get(os.path.realpath(file))
            if ours is None or ours != read_text(Path(file)):
                _refuse(spec, file)
                return True
        return False


def _refuse(spec: str, file: str) -> None:
    streams.say(
        f"       {one_line(file)} changed since it was checked; {spec} is not written. "
        "Run the command again.\n"
    )


def _is_wanted(spec: str, before: str, after: str) -> bool:
    """Show what would change; return whether to write it."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), spec, spec, n=0, lineterm=""
    )
    streams.say("".join(f"       {line}\n" for line in lines if not line.startswith("@@")))
    streams.out().flush()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    streams.say(f"       Write this to {spec}? [y/N] ")
    streams.out().flush()
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    streams.say("       Nothing is written.\n")
    return False


def _is_cut(row: Row) -> bool:
    """Return whether a configuration expects numbers that its search did not get to."""
    expect, result = row.configuration.expect, row.result
    if expect is None or result is None or result.verdict == "error" or row.passed:
        return False
    return row.cut and any(getattr(expect, name) is not None for name in _NUMBERS)


def _numbers(row: Row) -> dict[str, int]:
    """Return what a configuration would have to expect, where its verdict is as expected and its
    numbers are not; nothing where a limit ended its search, which counts no more than it got to.
    """
    expect, result = row.configuration.expect, row.result
    if expect is None or result is None or row.cut or result.as_expected is not False:
        return {}
    if expect.verdict == "holds":
        right = result.verdict in ("holds", "bounded")
        counts = ("distinct", "generated", "depth")
        return {n: getattr(result.counts, n) for n in counts} if right else {}
    steps = {p.name: p.length for p in result.properties if p.verdict == "violated"}
    first = next(iter(expect.properties), None)
    wanted = [name for name in expect.properties if name not in steps]
    length = steps.get(first) if first is not None else None
    if wanted or length is None:
        return {}
    return {"length": length, "states": result.counts.distinct}


def rewritten(text: str, found: Mapping[str, Mapping[str, int]]) -> tuple[str, list[str]]:
    """Return a spec's text with these numbers in its configurations, and those that do not
    state them.
    """
    lines = text.encode().splitlines(keepends=True)
    missing = set(found)
    places = []
    for name, keyword, value in _stated(ast.parse(text)):
        if name in found and keyword in found[name]:
            missing.discard(name)
            places.append((value, found[name][keyword]))
    for value, number in sorted(places, key=lambda p: (p[0].lineno, p[0].col_offset), reverse=True):
        line = lines[value.lineno - 1]
        assert value.end_col_offset is not None
        new = (
            f"{number:_}" if b"_" in line[value.col_offset : value.end_col_offset] else f"{number}"
        )
        lines[value.lineno - 1] = (
            line[: value.col_offset] + new.encode() + line[value.end_col_offset :]
        )
    return b"".join(lines).decode(), sorted(missing)


def _stated(tree: ast.Module) -> Iterator[tuple[str, str, ast.Constant]]:
    """Yield each number in `config("name", expect=holds(distinct=3))`: the name, `distinct`,
    and 3.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = node.args[0]
        if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            continue
        for outer in node.keywords:
            if outer.arg == "expect" and isinstance(outer.value, ast.Call):
                for inner in outer.value.keywords:
                    value = inner.value
                    if inner.arg and isinstance(value, ast.Constant) and type(value.value) is int:
                        yield name.value, inner.arg, value
