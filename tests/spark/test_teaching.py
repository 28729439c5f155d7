"""Searches in which tasks learn whatever is missing give what native searches give."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from checker.engine import SearchOptions
from checker.native import explore as explore_natively
from checker.native.learning import Learner
from checker.spark import explore, replica, teaching
from dsl.errors import SpecError
from dsl.loader import load
from tests.native.agreement import told
from tests.spark.here import JobsHere, here

__all__ = ["here"]

ROOT = Path(__file__).parents[2]
SPECS = sorted(
    [
        *(ROOT / "specs").rglob("*.fizz"),
        *(ROOT / "specs").rglob("*.py"),
        *(ROOT / "models" / "toys").glob("[a-z]*.py"),
        ROOT / "models/kafka/init_pid.py",
        ROOT / "models/kafka/transactions.py",
        ROOT / "models/stores/snapshot.py",
        ROOT / "models/tables/paimon.py",
    ]
)
MIXED = """
from typing import Literal

from dsl import *

WILD: Constant[bool] = False


class Item(Record):
    kind: Literal["a", "b"]
    n: int


class Shelf(State):
    items: dict[str, Item] = {}
    log: list[int] = []
    marks: set[int] = set()
    total: int = 0


class Hand(Role):
    held: int = 0

    @action
    def put(self) -> None:
        key = any_of(["x", "y"])
        require(key not in shelf.items)
        shelf.items[key] = Item(kind=any_of(["a", "b"]), n=self.held)
        shelf.total += 1
        self.held += 1

    @action(fair="strong")
    def note(self) -> None:
        require(len(shelf.log) < 2 and largest() < 3)
        which = any_of(range(2), fair="weak")
        shelf.log.append(which)
        shelf.log.append(largest())
        shelf.marks.add(which)

    @action
    def bump(self) -> None:
        key = any_of(["x", "y"])
        require(WILD or key in shelf.items)
        shelf.items[key].n += 1
        require(shelf.items[key].n < 3)
        if largest() > 1:
            shelf.marks.discard(0)

    @action
    def drop(self) -> None:
        assert shelf.total < 4
        require(WILD or "x" in shelf.items)
        shelf.items.pop("x")
        shelf.total -= 1


def largest() -> int:
    return max((i.n for i in shelf.items.values()), default=0)


shelf = Shelf()
hands = [Hand() for _ in range(2)]


@always
def few() -> bool:
    return all(i.n < 3 for i in shelf.items.values()) and largest() <= 2


@exists
def both() -> bool:
    return len(shelf.items) == 2 and largest() == 2


@constraint
def small() -> bool:
    return shelf.total < 4 and all(h.held < 3 for h in hands)


@on_step
def never_fewer_marks() -> bool:
    return len(shelf.marks) >= len(old(shelf.marks)) or largest() > 1
"""
MOODY = """
from itertools import count

from dsl import *

times = count(1)


class Box(State):
    a: int = 0
    b: int = 0

    @action
    def go(self) -> None:
        if next(times) % {often} == 0:
            require(self.b < 9)
        require(self.a < 30)
        self.a += 1

    @action
    def other(self) -> None:
        self.b = 1 - self.b


box = Box()
"""


def _both(spec: Path, **constants: Any) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What is told natively and with tasks that learn everything, and the figures of the latter."""
    model = load(spec, constants)
    options = SearchOptions(keep_going=True, max_depth=8)
    found = explore(
        load(spec, constants), options, buckets=8, tasks=3, native_until=1, learn_from=1
    )
    return told(explore_natively(model, options)), told(found), dict(found.statistics)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "shelves.py"
    path.write_text(textwrap.dedent(MIXED), encoding="utf-8")
    return path


def test_calls_updates_and_choices(spec: Path, here: JobsHere) -> None:
    native, found, figures = _both(spec)

    assert native == found
    assert figures["taught"] > 100
    assert not figures["learned_here"]


def test_actions_that_raise(spec: Path, here: JobsHere) -> None:
    native, found, figures = _both(spec, WILD=True)

    assert native == found
    assert "error" in {kind for _, kind, *_ in native["findings"]}
    assert figures["taught"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_corpus(path: Path, here: JobsHere) -> None:
    native, found, figures = _both(path)

    assert native == found
    assert figures["taught"] > 0


@pytest.mark.spark
@pytest.mark.parametrize("form", ["rdd", "frame"])
def test_on_a_session(spec: Path, form: str) -> None:
    model, options = load(spec), SearchOptions(keep_going=True, max_depth=5)
    settings = {"buckets": 8, "tasks": 2, "native_until": 1, "form": form, "learn_from": 20}
    found = explore(model, options, **settings)

    assert told(explore_natively(model, options)) == told(found)
    assert found.statistics["taught"]


@pytest.mark.parametrize("often", [2, 7])
def test_what_does_something_else_the_next_time(often: int, tmp_path: Path, here: JobsHere) -> None:
    path = tmp_path / "moody.py"
    path.write_text(MOODY.format(often=often), encoding="utf-8")

    with pytest.raises(SpecError, match="did something else the second time"):
        explore_natively(load(path), SearchOptions())
    with pytest.raises(SpecError, match="did something else the second time"):
        explore(load(path), SearchOptions(), tasks=2, native_until=1, learn_from=1)


def test_tasks_that_tell_nonsense_are_found_out(
    spec: Path, here: JobsHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    def swapped(self: Any, *given: Any, **more: Any) -> Any:
        told = real(self, *given, **more)
        for names in (told.projections, told.calls, told.operations):
            numbers = list(names)
            names.update(zip(numbers, [names[n] for n in reversed(numbers)], strict=True))
        return told

    real = replica.Replica.learn_all
    monkeypatch.setattr(replica.Replica, "learn_all", swapped)
    # Most of it is refused; what slips in contradicts what the driver finds when it looks again.
    with pytest.raises(SpecError, match="did something else the second time"):
        _both(spec)


def test_tasks_that_cannot_learn_are_not_asked_again(
    spec: Path, here: JobsHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Any, *given: Any) -> Any:
        raise LookupError("no such thing here")

    monkeypatch.setattr(replica.Replica, "learn_all", broken)
    native, found, figures = _both(spec)

    assert native == found
    assert figures["lessons"] == 1
    assert "no such thing here" in figures["learned_here"]


def test_what_is_lost_on_the_way_is_evaluated_by_the_driver(
    spec: Path, here: JobsHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lossy(self: Any, *given: Any) -> Any:
        told = real(self, *given)
        numbers = count.pop()
        count.append(numbers + 1)
        return type(told)() if numbers % 2 else told

    count = [0]
    real = replica.Replica.learn_all
    monkeypatch.setattr(replica.Replica, "learn_all", lossy)
    native, found, figures = _both(spec)

    assert native == found
    assert 0 < figures["taught"] < figures["evaluations"]


def test_a_search_is_resumed(spec: Path, here: JobsHere, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"buckets": 8, "tasks": 3, "native_until": 1, "learn_from": 1}
    saved = SearchOptions(keep_going=True, checkpoint=str(tmp_path / "saved"))
    explore(load(spec), replace(saved, max_depth=4), **settings)
    found = explore(load(spec), replace(saved, resume=True, max_depth=8), **settings)
    native = explore_natively(load(spec), SearchOptions(keep_going=True, max_depth=8))

    assert told(native) == told(found)
    assert found.statistics["taught"]


def test_a_lesson_is_cancelled(spec: Path, here: JobsHere, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, cancelled = Event(), Event()

    def endless(function: Any, tasks: int) -> Any:
        begun.set()
        assert cancelled.wait(60)
        raise RuntimeError("cancelled")

    monkeypatch.setattr(here, "each", endless)
    monkeypatch.setattr(here, "cancel", cancelled.set)
    options = SearchOptions(interrupted=begun.is_set)
    found = explore(load(spec), options, tasks=2, native_until=1, learn_from=1)

    assert found.stopped == "interrupt"
    assert cancelled.is_set()


def test_few_situations_are_the_drivers(spec: Path, here: JobsHere) -> None:
    options = SearchOptions(max_depth=5)
    for settings in ({"learn_from": 1 << 20}, {"learn_from": 0}, {}):
        found = explore(load(spec), options, tasks=2, native_until=1, **settings)

        assert found.statistics["lessons"] == 0
    assert "situations" in str(_wrong({"learn_from": -1}))


def _wrong(settings: dict[str, Any]) -> str:
    from checker.spark.settings import mistake

    return mistake(settings)


def test_a_spec_that_cannot_be_sent_is_learned_by_the_driver(
    tmp_path: Path, here: JobsHere
) -> None:
    path = tmp_path / "clock.py"
    path.write_text("import time\n" + MOODY.format(often=10**9), encoding="utf-8")
    native, found, figures = _both(path)

    assert native == found
    assert figures["learned_here"] == "clock.py imports time"


def test_a_model_that_was_changed_is_learned_by_the_driver(spec: Path, here: JobsHere) -> None:
    model = load(spec)
    changed = replace(model, actions=model.actions[:3])
    found = explore(changed, SearchOptions(max_depth=4), tasks=2, native_until=1, learn_from=1)

    assert told(explore_natively(changed, SearchOptions(max_depth=4))) == told(found)
    assert found.statistics["learned_here"] == "it is not what its file gives"


def test_the_driver_looks_again_now_and_then(
    spec: Path, here: JobsHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    real = Learner.evaluate

    def evaluate(self: Learner, number: int, *given: Any, **more: Any) -> None:
        if type(self) is Learner:
            taken.append(number)
        real(self, number, *given, **more)

    monkeypatch.setattr(Learner, "evaluate", evaluate)
    monkeypatch.setattr(teaching, "_CHEAP", 0.0)
    _, _, figures = _both(spec)

    # Each root's first evaluation, and the second, the fourth and so on, are the driver's as well.
    assert len(set(taken)) <= len(taken) < figures["evaluations"] + figures["taught"]
    assert all(taken.count(root) >= 2 for root in set(taken) if taken.count(root) > 3)


NAMES = """
import sys
sys.path.insert(0, sys.argv[1])
from checker.engine import SearchOptions
from checker.native import learning
from checker.native.running import start, run_levels
from checker.spark.naming import Names
from dsl.loader import load

search = start(load(sys.argv[2]), SearchOptions(max_depth=6, keep_going=True))
run_levels(search, resumed=False)
names = Names(search.learner.learned)
names.refresh()
for found in (names.projection_of, names.operation_of, names.call_of):
    print(sorted(name.hex() for name in found))
print([names.projections.count(None), names.operations.count(None), names.calls.count(None)])
"""


def test_names_are_equal_in_all_processes(spec: Path) -> None:
    told = [
        subprocess.run(
            [sys.executable, "-c", NAMES, str(ROOT), str(spec)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]

    assert told[0] == told[1]
    assert told[0].splitlines()[-1] == "[0, 0, 0]"
    assert all(len(line) > 30 for line in told[0].splitlines()[:3])
