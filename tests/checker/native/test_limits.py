"""Tables that outgrow their first size: value ids, slots, tries, scratch, memory."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from itertools import count

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import Progress, SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.verdict.guards import never_fired
from statewalk.dsl.errors import SpecError
from statewalk.dsl.model import Model
from tests.cases import slow
from tests.checker.native.agreement import told
from tests.checker.native.hand import always, make_model, require, two_phase_commit, view

A, B = ("R", 0, "a"), ("R", 0, "b")


def counter(end: int, step: Callable[[int], int] = lambda n: n + 1) -> Model:
    def count() -> None:
        now = view().get(A)
        require(now < end)
        view().set(A, step(now))

    def blind() -> None:
        require(view().project(A, "end", lambda n: n < end))
        view().update(A, "next", step)

    return make_model("counter", {A: 0}, [("count", count), ("blind", blind)], check_deadlock=False)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_slot_with_more_than_65536_values(threads: int) -> None:
    end = 70_000

    def jump() -> None:
        require(view().get(A) == 0)
        view().set(A, view().choose(range(1, end)))

    def mark() -> None:
        require(view().project(A, "high", lambda n: n > end - 100))
        view().set(B, True)

    model = make_model("wide", {A: 0}, [("jump", jump), ("mark", mark)], check_deadlock=False)
    found = native.explore(model, SearchOptions(threads=threads))

    assert (end + 99, 3) == (found.counts.distinct, found.counts.depth)
    assert {0: end - 1, 1: 2 * 99} == found.fired


@pytest.mark.thorough
def test_seventy_thousand_slots() -> None:
    paths = [("R", number, "slot") for number in range(70_000)]
    chosen = [paths[0], paths[65_535], paths[65_536], paths[-1]]

    def write() -> None:
        path = view().choose(chosen)
        require(view().get(path) == 0)
        view().set(path, 1)
        view().set(("S", *path[1:]), 1)  # a slot that appears during the search

    model = make_model("slots", dict.fromkeys(paths, 0), [("write", write)], check_deadlock=False)
    found = native.explore(model, SearchOptions())

    assert (16, 33) == (found.counts.distinct, found.counts.generated)
    assert 70_004 == found.statistics["slots"]


@pytest.mark.slow
def test_a_trie_of_very_many_edges() -> None:
    n = 300

    def move() -> None:
        a, b = view().get(A), view().get(B)
        if a < n - 1 and b == 0:
            view().set(A, a + 1)
        elif b < n - 1:
            view().set(B, b + 1)

    def add() -> None:
        require(view().get(A) + view().get(B) < 2 * n)
        view().set(A, (view().get(A) + 1) % n)

    model = make_model("edges", {A: 0, B: 0}, [("move", move), ("add", add)])
    found = native.explore(model, SearchOptions())

    assert n * n == found.counts.distinct
    assert 2 * n * n <= found.statistics["edges"]


@pytest.mark.slow
def test_a_trie_of_a_million_edges() -> None:
    n, others = 40_000, [("R", 1 + number, "c") for number in range(25)]

    def jump() -> None:
        require(view().get(A) == 0)
        view().set(A, view().choose(range(1, n)))

    def look() -> None:
        require(view().get(A) > 0)
        view().set(B, sum(view().get(path) for path in others))

    model = make_model(
        "million",
        {A: 0, B: 0, **{path: number % 3 for number, path in enumerate(others)}},
        [("jump", jump), ("look", look)],
        [always("sums", lambda: view().get(B) in (0, 24))],
        check_deadlock=False,
    )
    found = native.explore(model, SearchOptions())

    assert (2 * n - 1, 1 + (n - 1) + 2 * (n - 1)) == (found.counts.distinct, found.counts.generated)
    assert 1_000_000 < found.statistics["edges"]
    assert not found.findings


def test_a_long_chain() -> None:
    expected = reference.explore(counter(300), SearchOptions())
    found = native.explore(counter(300), SearchOptions())

    assert told(expected) == told(found)


def test_an_action_that_changes_its_mind_is_reported() -> None:
    chance = random.Random(1)

    def move() -> None:
        require(view().get(A) < 50)
        view().set(A, view().get(A) + chance.randint(1, 2))

    model = make_model("unsteady", {A: 0}, [("move", move)])
    with pytest.raises(SpecError, match="something else the second time") as raised:
        native.explore(model, SearchOptions())
    assert "SW204" == raised.value.code


def test_what_an_action_looks_at_first_may_not_change() -> None:
    turns = iter(range(1000))

    def move() -> None:
        first, second = (A, B) if next(turns) % 2 else (B, A)
        view().set(A, (view().get(first) + view().get(second)) % 5)

    with pytest.raises(SpecError, match=r"looked at R#0\.a"):
        native.explore(make_model("unsteady", {A: 0, B: 1}, [("move", move)]), SearchOptions())


def test_memory_may_be_limited() -> None:
    found = native.explore(two_phase_commit(6), SearchOptions(max_memory=1))

    assert ("memory", False) == (found.stopped, found.complete)


@pytest.mark.parametrize("batch", [1, 2, 5, 9])
def test_an_interrupt_ends_the_search_after_the_batch(batch: int) -> None:
    calls = iter(range(10_000))
    found = native.explore(
        two_phase_commit(4), SearchOptions(interrupted=lambda: next(calls) >= batch)
    )

    assert ("interrupt", False) == (found.stopped, found.complete)
    assert found.counts.distinct == sum(found.levels)


@pytest.mark.thorough
@pytest.mark.parametrize("threads", [slow(1), 2])
def test_an_interrupt_at_any_batch(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = 4 * threads
    monkeypatch.setattr("statewalk.checker.native.search._MIN_ROWS", rows)
    monkeypatch.setattr("statewalk.checker.native.search._MAX_ROWS", rows)
    whole = native.explore(two_phase_commit(3), SearchOptions(threads=threads))
    asked, found = 0, whole
    while asked == 0 or not found.complete:
        asked += 1
        calls = partial(next, iter([False] * asked), True)
        options = SearchOptions(threads=threads, interrupted=calls)
        found = native.explore(two_phase_commit(3), options)
        full = len(found.levels) - 1  # the last one may be what there was so far
        assert whole.levels[:full] == found.levels[:full]
        assert (None if found.complete else "interrupt") == found.stopped
        assert found.counts.distinct == sum(found.levels) <= whole.counts.distinct

    assert whole.counts == found.counts
    assert asked > 60 // threads**2


def test_progress_is_told_at_the_end_of_each_level() -> None:
    said: list[Progress] = []
    found = native.explore(two_phase_commit(3), SearchOptions(on_progress=said.append))

    assert (found.counts.distinct, found.counts.generated) == (
        said[-1].distinct,
        said[-1].generated,
    )
    assert found.levels == said[-1].levels
    assert said[-1].memory > 0


@pytest.mark.parametrize("n", [20, slow(100)])
def test_one_action_with_very_many_choices(n: int) -> None:
    def choose() -> None:
        require(view().get(A) == 0)
        view().set(A, view().choose(range(n)) * n + view().choose(range(n)) + 1)

    model = make_model(
        "choices",
        {A: 0},
        [("choose", choose)],
        [always("never", lambda: view().get(A) != n * n // 2)],
    )
    options = SearchOptions(keep_going=True)

    assert told(reference.explore(model, options)) == told(native.explore(model, options))


@pytest.mark.parametrize("reason", ["time", "interrupt"])
def test_a_step_with_too_many_outcomes_to_learn_is_left(reason: str) -> None:
    def choose() -> None:
        require(view().get(A) == 0)
        view().set(A, view().choose(range(10**6)) * 10**6 + view().choose(range(10**6)))

    def wait() -> None:
        require(view().get(A) < 0)

    model = make_model("choices", {A: 0}, [("choose", choose), ("wait", wait)], [])
    asked = count(1)
    options = (
        SearchOptions(timeout=0.5)
        if reason == "time"
        else SearchOptions(interrupted=lambda: next(asked) > 5)
    )

    found = native.explore(model, options)

    # nothing is known of the level that was not finished
    assert (reason, False, 1, 1) == (
        found.stopped,
        found.complete,
        found.counts.distinct,
        found.queue,
    )
    assert ["choose", "wait"] == [n.name for n in never_fired(model, (), 99, whole=False)]
