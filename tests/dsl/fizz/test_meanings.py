"""A name of a .fizz body is shared state or a local, and never now the one, now the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.api import check
from statewalk.dsl.errors import SpecErrors, StatewalkError

START = "action Init:\n    a = 0\n    n = 0\n\n"
REST = "\natomic action Rest:\n    pass\n"
ACT = "atomic action A:\n"
LOOP = "    for a in [5, 6]:\n        n = a\n"
DEEPER = "        for a in [5, 6]:\n            n = a\n"
IDLE = "    for a in [5, 6]:\n        pass\n"

BOTH_MEANINGS = {
    "assigned before a choice": f"{ACT}    a = 1\n    oneof a in [5, 6]:\n        n = a\n",
    "assigned after a loop": f"{ACT}{LOOP}    a = 1\n",
    "read before a loop": f"{ACT}    require a == 0\n{LOOP}",
    "the loop's own values": f"{ACT}    for a in range(a):\n        n = a\n",
    "in another branch": f"{ACT}    if n == 0:\n        a = 1\n    else:\n{DEEPER}",
    "in a comprehension": f"{ACT}{LOOP}    n = len([x for x in range(a)])\n",
    "read in an assertion": f"always assertion P:\n{IDLE}    return a == 0\n",
}  # fmt: skip


def refused(text: str, folder: Path) -> str:
    path = folder / "spec.fizz"
    path.write_text(text)
    with pytest.raises(SpecErrors) as caught:
        check(path, engine="reference")
    return str(caught.value)


def verdict(text: str, folder: Path) -> str:
    path = folder / "spec.fizz"
    path.write_text(text)
    return check(path, engine="reference").verdict


@pytest.mark.parametrize("name", BOTH_MEANINGS)
def test_state_and_the_variable_of_a_loop_in_one_body(name: str, tmp_path: Path) -> None:
    said = refused(START + BOTH_MEANINGS[name] + REST, tmp_path)

    assert "SW153 'a' is shared state, and the variable of a loop or a choice here." in said


def test_the_variable_of_a_loop_hides_shared_state_in_it(tmp_path: Path) -> None:
    text = START + f"{ACT}{LOOP}" + REST + "always assertion P:\n    return a == 0\n"

    assert verdict(text, tmp_path) == "holds"


def test_what_a_role_sets_while_init_runs_is_its_own(tmp_path: Path) -> None:
    role = "role R:\n    action Init:\n        a = 7\n        self.y = a\n\n"
    holds = "always assertion P:\n    return a == 0 and r.y == 7\n"

    assert verdict(role + START.rstrip() + "\n    r = R()\n" + REST + holds, tmp_path) == "holds"


def test_what_runs_in_init_and_in_steps_means_one_thing(tmp_path: Path) -> None:
    reset = "atomic func reset():\n    a = 7\n\n"
    called = "\n    reset()\n\natomic action Make:\n    reset()\n"

    said = refused(reset + START.rstrip() + called + REST, tmp_path)

    assert "SW153 'a' would be shared state in a step, and a local in Init." in said


def test_a_guard_that_is_false_in_an_assertion_is_an_error_of_it(tmp_path: Path) -> None:
    count = "action Init:\n    n = 0\natomic action Up:\n    require n < 9\n    n = n + 1\n"
    path = tmp_path / "spec.fizz"
    path.write_text(count + "always assertion P:\n    require n < 2\n    return True\n")

    found = check(path, engine="reference")

    assert "error" == found.verdict
    assert "SW103 A guard is false in the property 'P'." in str(found)


@pytest.mark.parametrize("line", ["a = any([False])", "a = any([]) or True", "a, n = any(x), 1"])
@pytest.mark.parametrize("head", ["atomic action A", "atomic func f()", "action Init"])
def test_a_choice_that_looks_like_a_call_is_refused(head: str, line: str, tmp_path: Path) -> None:
    start = "" if "Init" in head else START
    path = tmp_path / "spec.fizz"
    path.write_text(f"{start}{head}:\n    {line}\n{REST}")

    with pytest.raises(StatewalkError, match="SW150 'any' after '=' is a choice"):
        check(path, engine="reference")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("any([False])", "violated"), ("any([False]) or True", "holds"),
        ("any ([]) or True", "holds"), ("any([True]) and False", "violated"),
        ("bool(any([]))", "violated"), ("any [True]", "holds"),
    ],
)  # fmt: skip
def test_where_the_state_is_only_looked_at_any_is_the_function(
    line: str, found: str, tmp_path: Path
) -> None:
    text = f"{START}{REST}always assertion P:\n    if n == 0:\n        ok = {line}\n    return ok\n"

    assert found == verdict(text, tmp_path)


@pytest.mark.parametrize("line", ["a = any (1, 2)", "a = fair any(1, 2)", "a = oneof(1, 2)"])
def test_a_choice_in_brackets_is_one(line: str, tmp_path: Path) -> None:
    text = f"{START}{ACT}    {line}\n{REST}exists assertion P:\n    return a == 2\n"

    assert "holds" == verdict(text, tmp_path)
