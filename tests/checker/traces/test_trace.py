"""Traces: built by repeating steps, saved as data, replayed, compared by nested path."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from statewalk import Trace, check, load, replay
from statewalk.checker.behaviours.guided import follow, read_steps
from statewalk.checker.cli import main
from statewalk.checker.report.trace import trace_page
from statewalk.checker.states.diff import between
from statewalk.checker.states.json import Classes, describe_classes, from_json, to_json
from statewalk.checker.states.shortening import text_of
from statewalk.checker.traces.file import save_trace
from statewalk.checker.traces.reading import load_trace
from statewalk.checker.traces.trace import label_of
from statewalk.checker.verdict.run import Run, read_result
from statewalk.dsl.errors import RunError
from statewalk.dsl.values.stored import ABSENT, FrozenBag, FrozenDict, FrozenList, encode, freeze

SPEC = """
from enum import Enum

from statewalk import Bag, Constant, Message, Record, Role, State, action, always, any_of, require

N: Constant[int] = 2
NAMES: Constant[tuple[str, ...]] = ("a", "b")


class Colour(Enum):
    RED = 1
    BLUE = 2


class Note(Message):
    text: str
    source: "Node"


class Entry(Record):
    key: int
    colour: Colour = Colour.RED


class Clock(State):
    now: int = 0


class Node(Role):
    seen: dict[int, Entry] = {}
    tags: set[str] = set()
    inbox: Bag[Note] = Bag()
    log: list[tuple[int, bool]] = []
    last: Entry | None = None

    @action
    def send(self, other: "Node") -> None:
        require(clock.now < N)
        tag = any_of(NAMES)
        other.inbox.add(Note(tag, source=self))
        clock.now += 1

    @action
    def receive(self) -> None:
        note = any_of(self.inbox)
        self.inbox.remove(note)
        self.tags.add(note.text)
        self.seen[clock.now] = Entry(clock.now, Colour.BLUE)
        self.last = self.seen[clock.now]
        self.log.append((clock.now, True))


clock = Clock()
nodes = [Node() for _ in range(2)]


@always
def never_both() -> bool:
    return all(len(node.tags) < 2 for node in nodes)
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.py").write_text(SPEC)


def checked(**options: Any) -> Run:
    return check("spec.py", engine="reference", properties=("never_both",), **options)


@pytest.fixture
def trace() -> Trace:
    return checked().traces["never_both"]


def test_a_trace_says_actor_action_choices_and_what_changed(trace: Trace) -> None:
    first, change = next(iter(trace))

    assert 4 == trace.length
    assert " · send(other=Node#" in first.label
    assert " · tag='" in first.label
    assert "~ Clock.now  0 → 1" in map(str, change)


def test_a_choice_in_a_comprehension_tells_its_element(tmp_path: Path) -> None:
    path = tmp_path / "owners.py"
    path.write_text(
        "from statewalk import *\n"
        "class Table(State):\n"
        "    owner: dict[tuple[int, int], int] = {}\n"
        "    @action\n"
        "    def assign(self) -> None:\n"
        "        self.owner = {p: any_of([1, 2]) for p in ((0, 1), (0, 2))}\n"
        "    @action\n"
        "    def draw(self) -> None:\n"
        "        pairs = [maybe() for n in range(2) for m in range(n)]\n"
        "        require(all(pairs) and len(self.owner) == 2)\n"
        "        self.owner[9, 9] = any_of([3, 4])\n"
        "table = Table()\n"
        "@always\n"
        "def small() -> bool:\n"
        "    return sum(table.owner.values()) < 8\n"
    )
    trace = check(path, engine="reference").traces["small"]
    steps = "\n".join(label_of(trace, step) for step in trace.steps)
    labels = [step.label for step in trace.steps]

    assert [
        "Table#0 · assign · p=(0, 1): 2, p=(0, 2): 2",
        "Table#0 · draw · (n=1, m=0): True, self.owner[9, 9]=4",
    ] == labels
    for text in (steps, "\n".join(labels)):
        assert labels == [s.label for s in follow(load(path), read_steps(text)).trace().steps]
    save_trace(trace, tmp_path / "t.json")
    assert labels == [step.label for step in load_trace(tmp_path / "t.json").steps]


def test_what_was_saved_is_what_is_loaded(trace: Trace, tmp_path: Path) -> None:
    save_trace(trace, tmp_path / "t.json")

    again = load_trace(tmp_path / "t.json")

    assert [[encode(v) for v in c.values()] for c in trace.contents] == [
        [encode(v) for v in c.values()] for c in again.contents
    ]
    assert [s.label for s in trace.steps] == [s.label for s in again.steps]
    assert str(trace) == str(again)
    assert trace.constants == again.constants


def test_a_saved_trace_is_replayed_and_shown_without_its_spec(
    trace: Trace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_trace(trace, tmp_path / "t.json")

    assert replay("t.json").reproduced
    (tmp_path / "spec.py").unlink()
    assert 0 == main(["show", "t.json", "--full"])
    assert " · send(other=Node#" in capsys.readouterr().out


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("old", "new", "step", "why"),
    [
        ("clock.now += 1", "clock.now += 2", 1, "leads to another state"),
        (
            "require(clock.now < N)",
            "require(clock.now < 1)",
            "second send",
            "`require(clock.now < 1)`",
        ),
        ("def receive", "def fetch", "first receive", "has no action"),
        ("now: int = 0", "now: int = -1", 0, "the initial state differs"),
        ("< 2 for node", "< 3 for node", 4, "never_both holds at the end"),
        (
            "note = any_of(self.inbox)",
            "note = any_of(self.inbox); 1 // 0",
            "first receive",
            "ZeroDivisionError",
        ),
    ],
)
def test_a_changed_spec_diverges_at_a_step_and_says_why(
    trace: Trace, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    old: str, new: str, step: int | str, why: str,
) -> None:  # fmt: skip
    save_trace(trace, tmp_path / "t.json")
    (tmp_path / "spec.py").write_text(SPEC.replace(old, new))

    outcome = replay("t.json")

    names = [""] + [s.action for s in trace.steps]
    sends = [i for i, name in enumerate(names) if name == "send"]
    steps = {"first receive": names.index("receive"), "second send": sends[1]}
    expected = steps[step] if isinstance(step, str) else step
    assert (False, expected, ("spec.py",)) == (outcome.reproduced, outcome.step, outcome.changed)
    assert why in outcome.why
    assert 5 == main(["replay", "t.json"])
    assert "DIVERGED" in capsys.readouterr().out


def test_what_is_shown_of_a_replay_is_what_happened(trace: Trace, tmp_path: Path) -> None:
    send = trace.steps[0]
    other = replace(send, choices=(replace(send.choices[0], value="z"),))
    named = replace(send, arguments=(("forged", send.arguments[0][1]),), file="forged")
    for wrong in (replace(trace, loop=0), replace(trace, steps=(other, *trace.steps[1:]))):
        save_trace(wrong, tmp_path / "t.json")
        assert not replay("t.json").reproduced
    save_trace(replace(trace, initial=7, truths={}, steps=(named, *trace.steps[1:])), "t.json")
    outcome = replay("t.json")

    assert outcome.reproduced
    assert str(trace) == str(outcome.trace)
    assert (trace.initial, trace.truths) == (outcome.trace.initial, outcome.trace.truths)


STOPS = """
from statewalk import *
class S(State):
    n: int = 0
    @action
    def up(self) -> None:
        require(self.n < 3)
        self.n += 1
s = S()
@always
def small() -> bool:
    return s.n < 9
"""
RAISES = f"""{STOPS}@always
def divided() -> bool:
    return 1 // (2 - s.n) < 5
"""


@pytest.mark.parametrize(("spec", "name"), [(STOPS, "Deadlock"), (RAISES, "no_error")])
def test_a_deadlock_and_an_error_are_no_other_property(
    spec: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "spec.py").write_text(spec)
    trace = check("spec.py", engine="reference").traces[name]
    forged = [replace(trace, property=n) for n in ("small", "up", "x", "")]
    forged += [replace(trace, error_type="" if trace.error_type else "KeyError")]

    assert replay(trace).reproduced
    assert [False] * 5 == [replay(other).reproduced for other in forged]


def test_an_error_of_a_property_that_is_mended_is_not_raised_again(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(RAISES)
    trace = check("spec.py", engine="reference").traces["no_error"]
    (tmp_path / "spec.py").write_text(RAISES.replace("2 - s.n", "9 - s.n"))

    outcome = replay(trace)

    assert (False, 2) == (outcome.reproduced, outcome.step)
    assert "nothing raises ZeroDivisionError at the end" in outcome.why


def test_a_trace_of_another_spec_is_refused(trace: Trace, tmp_path: Path) -> None:
    save_trace(trace, tmp_path / "t.json")
    (tmp_path / "other.py").write_text(
        "from statewalk import Role, action\n\nclass R(Role):\n    n: int = 0\n\n    @action\n"
        "    def a(self) -> None:\n        self.n = 1\n\nr = R()\n"
    )

    with pytest.raises(RunError, match=r"not of other\.py") as caught:
        replay("t.json", "other.py")

    assert "SW405" == caught.value.code


def damaged(data: dict[str, Any]) -> list[tuple[str, str]]:
    """(text of a file, what is said of it)"""

    def altered(**changes: Any) -> str:
        return json.dumps({**data, **changes})

    states = data["states"]
    deep = "[" * 100_000 + "]" * 100_000
    return [
        ("", "not JSON"),
        (altered()[:300], "not JSON"),
        ("[1]", "it is no object"),
        (altered()[:-1] + ', "states": []}', "field 'states' is there twice"),
        (altered(format="itf"), "format"),
        (altered(version=99), "version 99"),
        (altered(states=states[:-1]), "4 steps and 4 states"),
        (altered(steps="none"), "steps"),
        (altered(states=[[[[], 0]], *states[1:]]), "a place in a state"),
        (altered(states=[[[["Node", 0, 5], 0]], *states[1:]]), "a place in a state"),
        (altered(classes={f"N{n}": {"role": 60_000} for n in range(2)}), "more than 65536 roles"),
        (altered(length=99), "4 steps, and a length of 99"),
        (altered(loop=17), "a loop to state 17"),
        (altered(classes={"Node": {"role": -1}}), "the class Node"),
        (altered(classes={}), "unknown class"),
        (altered(states=[[[["x"], {"#eval": "1"}]], *states[1:]]), "cannot be read"),
        (altered(states=[[[["x"], {"#bytes": "AAAA"}]], *states[1:]]), "that cannot be read"),
        (altered(states=[[[["x"], {"#role": ["Node", 99]}]], *states[1:]]), "cannot be read"),
        (altered(constants={"N": "DEEP"}).replace('"DEEP"', deep), "nested too deeply"),
        (altered(constants={"N": "DEEP"}).replace('"DEEP"', deep[99_700:100_300]), "too deeply"),
    ]


def test_a_damaged_trace_is_refused_with_the_reason(trace: Trace, tmp_path: Path) -> None:
    save_trace(trace, tmp_path / "t.json")
    for text, said in damaged(json.loads((tmp_path / "t.json").read_text())):
        (tmp_path / "d.json").write_text(text)

        with pytest.raises(RunError) as caught:
            load_trace("d.json")

        assert "SW401" == caught.value.code
        assert said in str(caught.value)


def test_a_constant_may_be_looked_up_by_what_could_be_changed(trace: Trace, tmp_path: Path) -> None:
    by_list = FrozenDict([(FrozenList([1]), FrozenList([2]))])
    inside = frozenset({(1, FrozenList([3]))})
    changed = replace(trace, constants={"A": by_list, "B": inside})
    save_trace(changed, tmp_path / "saved.trace.json")

    assert changed.constants == load_trace(tmp_path / "saved.trace.json").constants


@pytest.mark.parametrize("name", ["nothing.json", "."])
def test_what_is_no_file_is_refused(name: str) -> None:
    with pytest.raises(RunError) as caught:
        load_trace(name)

    assert "SW404" == caught.value.code


VALUES = [
    None, True, False, 0, 1, -5, 2**60, -(2**80), "", "ä\0\"", (), (1, True), [], [[1], ["x"]],
    set(), {1, 2}, {(1, "a")}, {}, {1: {"k": [None]}}, {True: 1, "1": 2}, FrozenBag([1, 1, 2]),
]  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_survives_json(value: Any) -> None:
    stored = freeze(value)

    text = json.dumps(to_json(stored))

    assert encode(stored) == encode(from_json(json.loads(text), Classes({})))


def test_values_of_the_spec_survive_json_without_its_code() -> None:
    model = load("spec.py")
    classes: dict[str, Any] = dict(model.classes)
    node, colour, entry = (classes[n] for n in ("Node", "Colour", "Entry"))
    value = freeze([entry(3, colour["BLUE"]), model.roles["Node"][1], colour["RED"]])

    again = from_json(
        json.loads(json.dumps(to_json(value))), Classes(describe_classes(model.classes))
    )

    assert encode(value) == encode(again)
    assert text_of(value) == text_of(again)
    assert type(again[1]) is not node


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        (1, 1, []),
        (True, 1, ["~ x  True → 1"]),
        (ABSENT, 1, ["+ x = 1"]),
        ({1}, {2}, ["- x 1", "+ x 2"]),
        ({"a": 1, "b": {"c": 1}}, {"b": {"c": 2}, "d": 3},
         ["- x['a'] = 1", "~ x['b']['c']  1 → 2", "+ x['d'] = 3"]),
        ([1, 2, 3], [1, 5, 3], ["~ x[1]  2 → 5"]),
        ([1, 2], [1, 2, 3], ["+ x[2] = 3"]),
        ([1, 2, 3], [2, 3], ["- x[0] = 1"]),
        ((1, (2, 3)), (1, (2, 4)), ["~ x[1][1]  3 → 4"]),
        (FrozenBag([1]), FrozenBag([1, 1, 2]), ["+ x 1", "+ x 2"]),
        ({1: "a"}, {True: "a"}, ["+ x[True] = 'a'", "- x[1] = 'a'"]),
    ],
)  # fmt: skip
def test_a_change_is_told_by_nested_path(before: Any, after: Any, changes: list[str]) -> None:
    a = before if before is ABSENT else freeze(before)

    assert changes == [str(c) for c in between("x", a, freeze(after))]


def test_a_result_is_usable_from_python(tmp_path: Path) -> None:
    result = checked(out="run", keep_going=True)

    assert "violated" == result.verdict == result.of("never_both").verdict
    assert not result.holds
    assert "VIOLATED  never_both" in str(result)
    assert read_result(json.loads((tmp_path / "run/result.json").read_text())).counts == (
        result.counts
    )


def test_a_step_that_goes_on_in_a_loop_is_not_said_to_change_nothing(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(
        "from statewalk import *\nclass A(Role):\n    x: int = 0\n    @action\n"
        "    def go(self) -> Flow[None]:\n        for _ in (0, 1):\n            yield\n"
        "        self.x = 1\na = A()\n@always\ndef p() -> bool:\n    return a.x == 0\n"
    )
    (found,) = check(path, engine="reference").traces.values()

    assert "(changes nothing that is shown)" in trace_page(found).plain()
