"""A spec refines each copy of itself, however it is written, and none that differs in a value.

Of each generated spec it is known what every field holds after every step: it is written from a
table of values. So the table says what refinement, comparison, replay and conformance have to say.

`COPIES=3000 pytest -m slow tests/checker/refinement/test_copies.py` looks at so many.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk import compare, conform
from statewalk.checker.api import check
from statewalk.checker.behaviours.replay import replay

MANY = int(os.environ.get("COPIES", "200"))
FEW = range(8, 13)  # with copies that differ and copies that do not
STEPS = 2
NEVER = "if self.c > 9:\n    "
# Of each type: values as texts with what a log says of them, and changes in place that change none
# of the values, or are never made.
KINDS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "int": ({"0": 0, "1": 1}, [NEVER + "self.{f} += 1"]),
    "str | None": ({"None": None, "'a'": "a"}, [NEVER + "self.{f} = 'b'"]),
    "set[int]": (
        {"set()": [], "{1}": [1], "{1, 2}": [1, 2]},
        [
            NEVER + "self.{f}.add(3)", "self.{f}.discard(7)", NEVER + "self.{f} = set()",
            "for each in tuple(self.{f}):\n    if each > 9:\n        self.c = 0",
        ],
    ),
    "frozenset[int]": (
        {"frozenset()": [], "frozenset({1})": [1]}, [NEVER + "self.{f} = frozenset({{3}})"],
    ),
    "dict[int, int]": (
        {"{}": {}, "{1: 1}": {"1": 1}},
        [
            NEVER + "self.{f}[3] = 3", "self.{f}.pop(7, 0)", NEVER + "self.{f} = {{}}",
            "for each in tuple(self.{f}):\n    if each > 9:\n        self.c = 0",
        ],
    ),
    "dict[str, set[int]]": (
        {"{}": {}, "{'a': set()}": {"a": []}, "{'a': {1}}": {"a": [1]}},
        [NEVER + "self.{f}['b'] = {{1}}", "for each in self.{f}.values():\n    each.discard(7)"],
    ),
    "list[int]": ({"[]": [], "[1]": [1]}, [NEVER + "self.{f}.append(3)"]),
    "Bag[int]": ({"Bag()": [], "Bag([1])": [1]}, [NEVER + "self.{f}.add(3)"]),
    "tuple[int, ...]": ({"()": [], "(1,)": [1]}, [NEVER + "self.{f} = (3,)"]),
    "Pair": ({"Pair(0)": {"left": 0}, "Pair(1)": {"left": 1}}, [NEVER + "self.{f}.left = 3"]),
}  # fmt: skip
SPEC = """
from statewalk import *

class Pair(Record):
    left: int = 0

class {name}(Role):
    c: int = 0
{fields}

    @action
    def go(self) -> None:
        require(self.c < {steps} and self.index == 0)
        self.c += 1
{body}

boxes = [{made}]
deadlock(False)

@exists
def over() -> bool:
    return boxes[0].c == {steps}
"""
UNSET = ""
Table = list[list[str]]  # by step, the value of each field of each instance; UNSET where none


@dataclass(frozen=True)
class Case:
    """Types of fields of some instances, and two tables that differ in at most one value."""

    kinds: list[str]
    instances: int
    one: Table
    other: Table

    @property
    def differs(self) -> list[tuple[int, int]]:
        """(step, column) of the value that is not the same."""
        steps, columns = range(STEPS + 1), range(len(self.one[0]))
        return [(k, f) for k in steps for f in columns if self.one[k][f] != self.other[k][f]]

    def kind(self, column: int) -> str:
        """The type of a column."""
        return self.kinds[column % len(self.kinds)]

    def varies(self, column: int) -> bool:
        """Return whether a column has several values in a table."""
        return any(len({row[column] for row in table}) > 1 for table in (self.one, self.other))


def case_of(random: Random) -> Case:
    """A table with few changes, and a copy with one value changed now and then."""
    kinds = random.sample(list(KINDS), random.choice([1, 2]))
    instances = random.choice([1, 1, 2])
    columns = []
    for at in range(len(kinds) * instances):
        values = list(KINDS[kinds[at % len(kinds)]][0])
        now = random.choice([UNSET, values[0], values[0], random.choice(values)])
        columns.append([now])
        for _ in range(STEPS):
            now = random.choice(values) if random.random() < 0.3 else now
            columns[-1].append(now)
    one = [list(row) for row in zip(*columns, strict=True)]
    other = [list(row) for row in one]
    case = Case(kinds, instances, one, other)
    if random.random() < 0.5:
        step, column = random.randrange(STEPS + 1), random.randrange(len(columns))
        known = [UNSET, *KINDS[case.kind(column)][0]]
        other[step][column] = random.choice([v for v in known if v != one[step][column]])
        if any(a[column] and not b[column] for a, b in pairwise(other)):
            other[step][column] = one[step][column]  # what has a value keeps one
    return case


def text_of(case: Case, table: Table, random: Random, name: str = "Box") -> str:
    """A spec that has the values of a table, in one of many ways."""
    width, fields, body = len(case.kinds), [], []
    for at, kind in enumerate(case.kinds):
        fields.append(f"    f{at}: {kind}")
        firsts = [table[0][at + width * box] for box in range(case.instances)]
        if UNSET not in firsts and random.random() < 0.5:
            fields[-1] += f" = {firsts[0]}"
        given = all(UNSET not in row for row in table)
        idle = KINDS[kind][1] if given else []
        body += [text.format(f=f"f{at}") for text in idle if random.random() < 0.3]
    for step in range(1, STEPS + 1):
        for at in range(len(table[0])):
            before, after = table[step - 1][at], table[step][at]
            if before == after and (random.random() < 0.8 or not after):
                continue
            box = f"boxes[{at // width}].f{at % width}"
            body.append(f"if self.c == {step}:\n    {_change(box, before, after, random)}")
    made = []
    for number in range(case.instances):
        row = table[0][number * width : (number + 1) * width]
        made.append(f"{name}({', '.join(f'f{at}={v}' for at, v in enumerate(row) if v)})")
    lines = [" " * 8 + line for text in body for line in text.splitlines()]
    return SPEC.format(
        name=name, fields="\n".join(fields), steps=STEPS, body="\n".join(lines),
        made=", ".join(made),
    )  # fmt: skip


def _change(box: str, before: str, after: str, random: Random) -> str:
    """A statement that makes one value of another."""
    in_place = {
        ("set()", "{1}"): f"{box}.add(1)", ("{1}", "set()"): f"{box}.clear()",
        ("{1}", "{1, 2}"): f"{box}.add(2)", ("{1, 2}", "{1}"): f"{box}.discard(2)",
        ("{}", "{1: 1}"): f"{box}[1] = 1", ("{1: 1}", "{}"): f"{box}.pop(1)",
        ("{'a': set()}", "{'a': {1}}"): f"{box}['a'].add(1)", ("[1]", "[]"): f"{box}.pop()",
        ("Bag()", "Bag([1])"): f"{box}.add(1)", ("Pair(0)", "Pair(1)"): f"{box}.left = 1",
    }  # fmt: skip
    change = in_place.get((before, after))
    return change if change and random.random() < 0.6 else f"{box} = {after}"


def look_at(case: Case, folder: Path, random: Random, engine: str) -> None:
    """Ask everything of the two specs of a case."""
    folder.mkdir()
    (folder / "other.py").write_text(text_of(case, case.other, random))
    one, other = folder / "one.py", folder / "other.py"
    refining = "\nref = refines('other.py')\n"
    one.write_text(text_of(case, case.one, random) + refining)
    wanted = "violated" if case.differs else "holds"
    run = check(one, engine=engine)

    assert wanted == run.of("ref").verdict, folder
    trace = run.traces["over"]
    if case.differs:
        assert replay(run.traces["ref"], one).reproduced
    recorded = {path for content in trace.contents for path in content}
    columns = {column for _, column in case.differs}
    width = len(case.kinds)
    if all(case.varies(c) or ("Box", c // width, f"f{c % width}") in recorded for c in columns):
        assert replay(trace, other).reproduced is not bool(case.differs), folder
    _conforms(case, folder)
    if all(map(case.varies, columns)):
        _compare(case, folder, engine)
    _by_map(case, folder, random, engine)


def _conforms(case: Case, folder: Path) -> None:
    """A log of what the one does, read by the other."""
    width, events = len(case.kinds), []
    for row in case.one[1:]:
        said = {
            f"Box#{at // width}.f{at % width}": KINDS[case.kind(at)][0][value]
            for at, value in enumerate(row)
            if value
        }
        events.append({"action": "go", "after": said})
    log = folder / "log.jsonl"
    log.write_text("".join(json.dumps(event) + "\n" for event in events))
    parts = any(step and case.one[step][column] for step, column in case.differs)
    assert conform(folder / "other.py", log).conforms is not parts, folder


def _compare(case: Case, folder: Path, engine: str) -> None:
    """Both ways at once, and the states that only one has."""
    versus = compare(folder / "one.py", folder / "other.py", engine=engine).others[0]
    differs = len(case.differs)
    assert differs == versus.gained.sights == versus.lost.sights, folder
    assert bool(differs) is (versus.forth.refusal is not None), folder
    assert bool(differs) is (versus.back.refusal is not None), folder
    if differs and versus.forth.refusal is not None:
        assert case.differs[0][0] == len(versus.forth.refusal.trace.steps), folder


def _by_map(case: Case, folder: Path, random: Random, engine: str) -> None:
    """Beside a copy of another name, through a map."""
    if any(UNSET in row for row in case.one):
        return  # what has no value cannot be looked at
    fields = ["c", *(f"f{at}" for at in range(len(case.kinds)))]
    seen = ", ".join(
        f"'Crate#{box}.{name}': boxes[{box}].{name}"
        for box in range(case.instances)
        for name in fields
    )
    by = f"\ndef seen() -> dict[str, object]:\n    return {{{seen}}}\n"
    (folder / "crate.py").write_text(text_of(case, case.other, random, "Crate"))
    spec = folder / "mapped.py"
    spec.write_text(text_of(case, case.one, random) + by + "\nref = refines('crate.py', by=seen)\n")
    wanted = "violated" if case.differs else "holds"
    assert wanted == check(spec, engine=engine).of("ref").verdict, folder


def _all(seeds: range, folder: Path) -> None:
    found = {True: 0, False: 0}
    for seed in seeds:
        random = Random(seed)
        case = case_of(random)
        look_at(case, folder / str(seed), random, ("reference", "native")[seed % 2])
        found[bool(case.differs)] += 1
    assert all(found.values())


@pytest.mark.thorough
def test_generated_copies(tmp_path: Path) -> None:
    _all(FEW, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(8))
def test_many_generated_copies(block: int, tmp_path: Path) -> None:
    _all(range(1000 + block * MANY, 1000 + (block + 1) * MANY), tmp_path)
