"""A field that no step of a spec changes has its value all the same: a variant that changes it, its
traces and its logs are compared by that value.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from statewalk import check, compare, conform, replay

SPEC = """
from statewalk import *

V: Constant[int] = 0

class Box(State):
    c: int = 0
    f: {kind} = {value}

    @action
    def go(self) -> None:
        require(self.c < 2)
        self.c += 1
        if V and self.c == V:
            {change}

box = Box()
deadlock(False)

@always
def small() -> bool:
    return box.c < 2
"""
# (type, first value, what a log says of it, a change, the value after it)
FIELDS = [
    ("int", "7", 7, "self.f = 1", 1),
    ("set[int]", "set()", [], "self.f.add(1)", [1]),
    ("set[int]", "{2}", [2], "self.f.discard(2)", []),
    ("dict[int, int]", "{}", {}, "self.f[1] = 1", {"1": 1}),
    ("list[int]", "[]", [], "self.f.append(1)", [1]),
    ("Bag[int]", "Bag()", [], "self.f.add(1)", [1]),
]
CHANGES, MAY, CONSTANT = 2, 3, 0  # at step 2, at a step that is never taken, never


def variants(folder: Path, field: tuple[str, str, Any, str, Any]) -> dict[int, str]:
    """The spec by V, each in a file of its own."""
    found = {}
    for v in (CHANGES, MAY, CONSTANT):
        spec = folder / f"v{v}.py"
        text = SPEC.format(kind=field[0], value=field[1], change=field[3])
        spec.write_text(text.replace("= 0\n\nclass", f"= {v}\n\nclass"))
        found[v] = str(spec)
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("field", FIELDS, ids=lambda f: f"{f[0]} {f[1]}")
def test_a_trace_of_a_variant(tmp_path: Path, field: tuple[str, str, Any, str, Any]) -> None:
    specs = variants(tmp_path, field)
    for made, spec in specs.items():
        trace = check(spec, engine="reference").traces["small"]
        for asked, other in specs.items():
            found = replay(replace(trace, constants={}), other)

            assert found.reproduced is ((made == CHANGES) == (asked == CHANGES))
            assert found.reproduced or found.step == 2


def test_what_the_trace_had_otherwise(tmp_path: Path) -> None:
    """The trace records the field, as a step may change it; the spec has it constant."""
    specs = variants(tmp_path, FIELDS[0])
    trace = check(specs[MAY], engine="reference").traces["small"]
    spec = Path(specs[CONSTANT])
    spec.write_text(spec.read_text().replace("f: int = 7", "f: int = 8"))
    found = replay(replace(trace, constants={}), spec)

    assert (0, ["~ Box.f  7 → 8"]) == (found.step, list(map(str, found.differences)))


def test_another_instance_is_another_state(tmp_path: Path) -> None:
    one = SPEC.format(kind="int", value="7", change="self.f = 1")
    one = one.replace("Box(State)", "Box(Role)")
    spec, more = tmp_path / "one.py", tmp_path / "more.py"
    spec.write_text(one)
    more.write_text(one.replace("box = Box()", "box = Box()\nother = Box()"))

    assert 0 == replay(check(spec, engine="reference").traces["small"], more).step


@pytest.mark.sampled(3)
@pytest.mark.parametrize("field", FIELDS, ids=lambda f: f"{f[0]} {f[1]}")
def test_a_log_of_a_variant(tmp_path: Path, field: tuple[str, str, Any, str, Any]) -> None:
    before, after = field[2], field[4]
    for v, spec in variants(tmp_path, field).items():
        Path(spec).write_text(Path(spec).read_text().replace("box.c < 2", "box.c < 9"))
        for last, said in ((before, v != CHANGES), (after, v == CHANGES)):
            log = tmp_path / "log.jsonl"
            events = [{"after": {"f": before}}, {"before": {"Box.f": before}, "after": {"f": last}}]
            log.write_text("".join(json.dumps({"action": "go", **e}) + "\n" for e in events))

            assert conform(spec, log).conforms is said


def test_a_log_says_that_a_constant_field_changes(tmp_path: Path) -> None:
    spec = variants(tmp_path, FIELDS[0])[CONSTANT]
    log = tmp_path / "log.jsonl"
    log.write_text('{"action": "go", "changes": ["f"]}\n')
    found = conform(spec, log)

    assert not found.conforms
    assert "f does not change" in str(found)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("field", FIELDS, ids=lambda f: f"{f[0]} {f[1]}")
def test_counterexamples_of_variants(tmp_path: Path, field: tuple[str, str, Any, str, Any]) -> None:
    specs = variants(tmp_path, field)
    for asked in (CHANGES, MAY):
        versus = compare(specs[CONSTANT], specs[asked], engine="reference").others[0]
        differs = 2 if asked == CHANGES else None

        for (crossing,) in (versus.crossed, versus.crossed_back):
            assert differs == (crossing.differs and crossing.differs[0])
        assert (differs is None) == (versus.forth.refusal is None)
        assert bool(differs) == versus.gained.sights
