"""Shortening: values that do not fit on a line show what matters."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.api import check
from statewalk.checker.report.trace import trace_page
from statewalk.checker.states.shortening import cut, first_difference, fit
from statewalk.checker.traces.reading import load_trace
from statewalk.dsl.values.records import Record
from statewalk.dsl.values.stored import freeze


class Inner(Record):
    number: int
    state: str = "Empty"
    parts: frozenset[int] = frozenset()


class Outer(Record):
    one: Inner
    other: Inner
    text: str = "x" * 60


class Sent(Record):
    what: Inner
    sequence_of_the_first: int
    sequence_of_the_last: int
    when: int


def test_what_fits_is_shown_whole() -> None:
    assert "Inner(number=1, state='Empty', parts=set())" == fit(Inner(1), 60)


def test_a_record_is_shown_by_what_is_not_at_its_default() -> None:
    assert "Inner(number=1, parts={3}, …)" == fit(freeze(Inner(1, parts=frozenset({3}))), 30)


def test_a_record_too_long_for_a_line_is_shown_by_its_first_fields() -> None:
    sent = Sent(Inner(1, "Full"), 10**9, 10**9, 10**9)

    assert "Sent(what=Inner(number=1, state='Full', parts=set()), …)" == fit(sent, 60)
    assert "Sent(what=Inner(number=1, state='Full', …), …)" == fit(sent, 50)


@pytest.mark.parametrize(
    ("a", "b", "shown"),
    [
        ([*range(90)], [*range(70), -1, *range(71, 90)], "70"),
        (Outer(Inner(1), Inner(2)), Outer(Inner(1), Inner(3)), "number=2"),
        ({k: Inner(k) for k in range(40)}, {k: Inner(k % 33) for k in range(40)}, "33: Inner("),
        ("a" * 90 + "b" + "c" * 90, "a" * 90 + "d" + "c" * 90, "b"),
        ({*range(90)}, {*range(80), *range(81, 90)}, "80"),
        ((1, [Outer(Inner(n), Inner(2)) for n in range(9)]), (1, []), "[Outer(one="),
        ([1, *[0] * 90, 7], [1, *[0] * 90], "7"),
    ],
    ids=["list", "record", "dict", "text", "set", "nested", "longer list"],
)
def test_two_values_are_shown_where_they_differ(a: object, b: object, shown: str) -> None:
    path = first_difference(freeze(a), freeze(b))
    one, other = fit(freeze(a), 60, path), fit(freeze(b), 60, path)

    assert shown in one
    assert one != other
    assert len(one) <= 60


def test_a_long_string_is_cut_before_it_is_quoted() -> None:
    shown = fit("'" * 1_000_000, 100)

    assert len(shown) <= 100
    assert "more" in shown


def test_a_long_list_is_shown_around_the_change() -> None:
    shown = fit(freeze([*range(90)]), 60, (("i", 50),))

    assert "[47 more …, 47, 48, 49, 50, 51, 52, … 37 more]" == shown


def test_what_has_no_parts_loses_its_middle() -> None:
    assert 40 >= len(cut("ab" * 90, 40))


SPEC = """
from statewalk import *

class Request(Message):
    leader: int
    epoch: int
    replicas: tuple[int, ...] = (1, 2, 3)
    topic: str = "a-topic-with-a-long-name"
    partition: int = 0
    nonce: int = 0

class Node(Role):
    inbox: set[Request] = {Request(1, 2, (1, 2, 3, 4, 5), "another-name", 3, n) for n in (7, 8)}
    one: set[Request] = {Request(5, 6)}
    got: int = 0

    @action
    def handle(self) -> None:
        require(self.got == 0)
        request = any_of(self.inbox)
        alone = any_of(self.one)
        self.got = request.nonce + alone.nonce

node = Node()

@always
def not_eight() -> bool:
    return node.got != 8
"""


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_label_shows_what_tells_a_step_from_others(width: int, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SPEC)
    result = check(path, engine="reference", out=tmp_path / "run", properties=["not_eight"])
    trace = load_trace(next((tmp_path / "run").glob("*.trace.json")))

    text = trace_page(trace, width=width).plain()

    assert "violated" == result.verdict
    assert "nonce=8" in text
    assert "alone=Request(leader=5" in text
    assert all(len(line) <= width for line in text.splitlines())
    assert 1 == len(trace.steps[0].choices)
    assert ["alone"] == [c.name for c in trace.steps[0].only]
