"""Bringing the numbers that configurations expect up to date, after they have been shown."""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from statewalk.checker.commands.everyday.rows import Row
from statewalk.checker.machine import streams
from statewalk.checker.machine.files import write_text
from statewalk.dsl.errors import one_line
from statewalk.dsl.files import read_text


def update(spec: str, rows: Sequence[Row]) -> None:
    """Show what would change in the text of a spec; write it, where somebody is there once they
    say so. Only numbers change: a verdict that is not as expected is for people to judge.
    """
    found = {row.configuration.name: numbers for row in rows if (numbers := _numbers(row))}
    if not found:
        return
    before = read_text(Path(spec))
    after, missing = rewritten(before, found)
    for name in missing:
        streams.say(
            f"       {one_line(name)}: its numbers are not written in {spec}; nothing to update\n"
        )
    if after == before:
        return
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), spec, spec, n=0
    )
    streams.say("".join(f"       {line}" for line in lines if not line.startswith("@@")))
    streams.out().flush()
    if sys.stdin.isatty() and sys.stdout.isatty():
        streams.say(f"       Write this to {spec}? [y/N] ")
        streams.out().flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            streams.say("       Nothing is written.\n")
            return
    write_text(Path(spec), after, help="Make the spec writable.")
    streams.say(f"       {spec} is up to date.\n")


def _numbers(row: Row) -> dict[str, int]:
    """Return what a configuration would have to expect, where its verdict is as expected and its
    numbers are not.
    """
    expect, result = row.configuration.expect, row.result
    if expect is None or result is None or row.passed:
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
