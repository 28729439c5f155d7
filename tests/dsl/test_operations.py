"""`linearizable` in a model is what a search of all orders says, on random histories.

Models of a majority register and of a chain use it: their configurations are run with the library.
"""

import random
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from statewalk import check, load
from statewalk.dsl.operations import linearizable
from tests.checker.history.objects.brute import OBJECTS, Op, histories, possible


def events(ops: list[Op]) -> list[tuple[Any, ...]]:
    """Return the events of operations, each of a client of its own."""
    found: list[tuple[float, tuple[Any, ...]]] = []
    for number, op in enumerate(ops):
        found.append((op.begin, ("call", number, op.name, *op.args)))
        if op.end is not None:
            answer = op.answer
            told = () if op.name in ("write", "enqueue", "push") else (answer,)
            found.append((op.end, ("return", number, *told)))
    return [event for _, event in sorted(found, key=lambda pair: pair[0])]


@pytest.mark.parametrize("name", ["register", "queue", "stack"])
def test_it_is_what_some_order_shows(name: str) -> None:
    seen = set()
    for ops in islice(histories(OBJECTS[name], random.Random(name), 5), 100):
        known = [op for op in ops if op.status != "fail"]
        expected = possible(known, OBJECTS[name], by_client=False)

        assert expected is linearizable(name, events(known)), known

        seen.add(expected)
    assert {True, False} == seen


def test_an_owner_is_a_client() -> None:
    taken = [("call", "a", "acquire"), ("return", "a"), ("call", "b", "acquire")]

    assert linearizable("lock", taken)
    assert not linearizable("lock", [*taken, ("return", "b")])


@pytest.mark.parametrize("event", [("return", "a"), ("call", "a"), ("a", "write", 1)])
def test_what_is_no_history_is_refused(event: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="event 0 of the history"):
        linearizable("register", [event])


@pytest.mark.parametrize(
    ("name", "asked", "right", "wrong"),
    [
        ("list", ("append", 1), ([1], (1,)), ([], [True], {1}, 1, None)),
        ("set", ("add", 1), ({1}, frozenset([1])), (set(), {True}, [1], {1: 1})),
        ("registers", ("txn", (("w", "x", 1),)), ([("w", "x", 1)], (["w", "x", 1],)), ([], 1)),
        ("registers", ("txn", [["w", "x", 1]]), ([("w", "x", 1)],), ([("w", "x", True)],)),
        ("register", ("write", 1), (1,), (True, "1", None)),
    ],
)
def test_an_answer_may_be_of_any_kind(
    name: str, asked: tuple[Any, ...], right: tuple[Any, ...], wrong: tuple[Any, ...]
) -> None:
    for answers, holds in ((right, True), (wrong, False)):
        for answer in answers:
            told: list[Any] = [("call", "a", *asked), ("return", "a", answer)]
            if name != "registers":
                told[1:] = [("return", "a"), ("call", "a", "read"), ("return", "a", answer)]

            assert holds is linearizable(name, told), answer


def test_true_is_no_1_in_constants(tmp_path: Path) -> None:
    spec = tmp_path / "register.py"
    spec.write_text(
        "from statewalk import Constant, State, action\n\nINITIAL: Constant[int | bool] = 0\n\n\n"
        "class Register(State):\n    value: int | bool = INITIAL\n\n"
        "    @action\n    def read(self) -> int | bool:\n        return self.value\n\n\n"
        "register = Register()\n"
    )
    for told in (1, True):
        read = [("call", "a", "read"), ("return", "a", told)]
        found = [linearizable(str(spec), read, INITIAL=first) for first in (1, True)]

        assert [type(told) is int, type(told) is bool] == found


def test_an_answer_in_a_spec_is_that_of_its_object(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(
        "from typing import Any\n\nfrom statewalk import State, action, always, any_of\n"
        "from statewalk.dsl.operations import linearizable\n\n\n"
        "class History(State):\n    events: list[Any] = []\n\n"
        "    @action\n    def go(self) -> None:\n"
        "        answer = any_of([(1,), frozenset([1])])\n"
        "        name = any_of(['list', 'set'])\n"
        "        self.events = [('call', 'a', {'list': 'append', 'set': 'add'}[name], 1), "
        "('return', 'a'), ('call', 'a', 'read'), ('return', 'a', answer), ('call', 'b', name)]\n"
        "\n\nhistory = History()\n\n\n"
        "@always\ndef right() -> bool:\n    if not history.events:\n        return True\n"
        "    *events, (_, _, name) = history.events\n"
        "    right = (name == 'list') == isinstance(events[3][2], tuple)\n"
        "    return linearizable(name, events) == right\n"
    )

    assert check(spec).holds


@pytest.mark.parametrize("given", [(), (1, 2)])
def test_an_operation_has_the_arguments_of_its_action(given: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="write takes value"):
        linearizable("register", [("call", "a", "write", *given), ("return", "a")])


SPEC_OF_A_READ = """
from typing import Any
from statewalk import State, action, always, config, deadlock, holds, require
from statewalk.dsl.operations import linearizable

deadlock(False)

class History(State):
    events: list[Any] = []

    @action
    def go(self) -> None:
        require(not self.events)
        self.events = [("call", "a", "read"), ("return", "a", 3)]

history = History()

@always
def right() -> bool:
    return linearizable({name}, history.events)

config("all", expect=holds())
"""
OBJECT = """
from statewalk import State, action

class Register(State):
    value: int = {value}

    @action
    def read(self) -> int:
        return self.value

register = Register()
"""


def test_an_object_is_looked_for_beside_the_spec_and_belongs_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, value in (("a", 3), ("b", 4)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "object.py").write_text(OBJECT.format(value=value))
        (tmp_path / folder / "spec.py").write_text(SPEC_OF_A_READ.format(name='"object.py"'))
    monkeypatch.chdir(tmp_path / "b")

    found = [check(place).verdict for place in ("../a/spec.py", "spec.py")]
    before = load("spec.py").origins
    (tmp_path / "b" / "object.py").write_text(OBJECT.format(value=3))

    assert ["holds", "violated"] == found
    assert before != load("spec.py").origins
    assert check("spec.py").holds


def test_an_object_whose_file_no_text_names_is_refused(tmp_path: Path) -> None:
    (tmp_path / "object.py").write_text(OBJECT.format(value=3))
    (tmp_path / "spec.py").write_text(SPEC_OF_A_READ.format(name='"object" + ".py"'))

    assert "whose name is written in the call" in str(check(tmp_path / "spec.py"))
