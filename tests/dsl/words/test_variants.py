"""Declarations under an ``if`` in a class or module exist in that variant alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk.checker import native
from statewalk.checker.api import check
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.errors import SpecErrors
from statewalk.dsl.loader import load

BOTH = """
from typing import Literal
from statewalk import *
RULE: Constant[Literal["plain", "asking"]] = "plain"

class Copy(Role):
    n: int = 0
    @action
    def up(self) -> None:
        require(self.n < 2 and self.may())
        self.n += 1
    if RULE == "plain":
        def may(self) -> bool:
            return True
    if RULE == "asking":
        asked: bool = False
        @action(fair="weak")
        def ask(self, other: "Copy") -> None:
            require(other is not self and not self.asked)
            self.asked = True
        def may(self) -> bool:
            return self.asked

copies = [Copy() for _ in range(2)]
deadlock(False)

@always
def small() -> bool:
    return all(copy.n < 3 for copy in copies)

if RULE == "asking":
    @exists
    def somebody_asked() -> bool:
        return any(copy.asked for copy in copies)

config("asking", RULE="asking", expect=holds(distinct=16))
config("asked", RULE="asking", expect=violates("nobody_asked"))
"""
ALONE = {
    "plain": """
from statewalk import *
class Copy(Role):
    n: int = 0
    @action
    def up(self) -> None:
        require(self.n < 2 and self.may())
        self.n += 1
    def may(self) -> bool:
        return True
copies = [Copy() for _ in range(2)]
deadlock(False)
@always
def small() -> bool:
    return all(copy.n < 3 for copy in copies)
""",
    "asking": """
from statewalk import *
class Copy(Role):
    n: int = 0
    @action
    def up(self) -> None:
        require(self.n < 2 and self.may())
        self.n += 1
    asked: bool = False
    @action(fair="weak")
    def ask(self, other: "Copy") -> None:
        require(other is not self and not self.asked)
        self.asked = True
    def may(self) -> bool:
        return self.asked
copies = [Copy() for _ in range(2)]
deadlock(False)
@always
def small() -> bool:
    return all(copy.n < 3 for copy in copies)
@exists
def somebody_asked() -> bool:
    return any(copy.asked for copy in copies)
""",
}


def written(folder: Path, text: str, name: str = "spec.py") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def found(path: Path, explore: Any, *, optimize: bool, **constants: str) -> tuple[Any, ...]:
    model = load(path, constants, optimize=optimize)
    result = explore(model, SearchOptions())
    actions = [(action.label, action.fairness) for action in model.actions]
    return actions, model.initial_states, [p.name for p in model.properties], result.counts


@pytest.mark.sampled(3)
@pytest.mark.parametrize("optimize", [True, False], ids=["lowered", "plain"])
@pytest.mark.parametrize("explore", [reference.explore, native.explore])
@pytest.mark.parametrize("rule", [*ALONE])
def test_a_variant_is_what_it_is_when_written_alone(
    rule: str, explore: Any, optimize: bool, tmp_path: Path
) -> None:
    alone = found(written(tmp_path, ALONE[rule], "alone.py"), explore, optimize=optimize)
    variant = found(written(tmp_path, BOTH), explore, optimize=optimize, RULE=rule)

    assert alone == variant


def test_an_action_of_another_variant_is_not_said_to_have_never_fired(tmp_path: Path) -> None:
    run = check(written(tmp_path, BOTH), engine="reference")

    assert () == run.evidence.never
    assert ["up"] == [action.name for action in run.result.actions]


def test_a_field_of_one_variant_that_nobody_reads_is_warned_of_there(tmp_path: Path) -> None:
    text = BOTH.replace("            return self.asked", "            return True")
    text = text.replace("not self.asked", "True").replace("any(copy.asked for", "any(True for")
    path = written(tmp_path, text)

    assert [] == [w.code for w in load(path).warnings]
    (warning,) = load(path, {"RULE": "asking"}).warnings
    assert warning.at is not None
    assert ("SW603", "Copy.asked is written and never read.") == (warning.code, warning.message)


def test_a_mutant_of_a_variant_is_there_with_it(tmp_path: Path) -> None:
    mutant = "@mutant(Copy.may)\ndef m(self: Copy) -> bool:\n    return self.n < 1\n"
    path = written(tmp_path, BOTH + mutant)

    plain = reference.explore(load(path, {"MUTANT": "m"}), SearchOptions())
    asking = reference.explore(load(path, {"RULE": "asking", "MUTANT": "m"}), SearchOptions())

    assert (4, 16) == (plain.counts.distinct, asking.counts.distinct)


def test_what_can_be_changed_in_the_body_of_a_variant_is_refused(tmp_path: Path) -> None:
    field = "        asked: bool = False\n"
    path = written(tmp_path, BOTH.replace(field, f"{field}        log = []\n"))
    load(path)

    with pytest.raises(SpecErrors) as error:
        load(path, {"RULE": "asking"})

    assert "SW102" in str(error.value)


ASSIGNED = [
    "def other(self: Copy) -> bool:\n    return True\nCopy.may = other",
    "Copy.may = lambda self: True",
    "def make():\n    def may(self):\n        return True\n    return may\nCopy.may = make()",
    "setattr(Copy, 'may', lambda self: True)",
]


@pytest.mark.parametrize("assigned", ASSIGNED)
def test_a_method_that_is_given_to_a_class_from_outside_is_refused(
    assigned: str, tmp_path: Path
) -> None:
    path = written(tmp_path, BOTH.replace("copies = [", assigned + "\ncopies = ["))

    with pytest.raises(SpecErrors) as error:
        load(path)

    assert "SW108 'may' of Copy is not this function in the end" in str(error.value)
    assert "@mutant(Copy.may)" in str(error.value)
