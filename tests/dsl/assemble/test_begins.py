"""Roles that `@init` makes and ends: a run of it knows of its own, and of those of the module."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from tests.cases import slow

BOTH = pytest.mark.parametrize("engine", ["native", slow("reference")])
# Node is one that is there for good, or one that may come and go.
NODE = """\
from statewalk import *

class Node(Role%s):
    n: int = 0

    @action
    def turn(self) -> None:
        self.n = 1 - self.n

class Seen(State):
    count: int = 0
    last: Node | None = None

seen = Seen()
"""
KINDS = pytest.mark.parametrize("kind", ["", ", at_most=3", ", at_most=3, collected=True"])


def spec(folder: Path, text: str) -> Path:
    path = folder / "spec.py"
    path.write_text(text)
    return path


@BOTH
@KINDS
def test_a_run_of_init_sees_nothing_of_the_runs_before_it(
    kind: str, engine: str, tmp_path: Path
) -> None:
    text = f"""{NODE % kind}
@init
def first() -> None:
    seen.count = len(instances(Node))
    seen.last = Node(n=any_of([0, 1]))

@init
def second() -> None:
    seen.count = 10 * seen.count + len(instances(Node))

@always
def one_at_last() -> bool:
    return seen.count == 1
"""

    run = check(spec(tmp_path, text), engine=engine)

    assert ("holds", 2, 2) == (run.verdict, run.counts.initial, run.counts.distinct)


@BOTH
@KINDS
def test_a_choice_may_come_after_a_look_at_who_is_there(
    kind: str, engine: str, tmp_path: Path
) -> None:
    text = f"""{NODE % kind}
@init
def some() -> None:
    while len(instances(Node)) < 2:
        seen.last = Node(n=any_of([0, 1]))
    require(all(node.n == 0 for node in instances(Node)))

@always
def they_are(node: Node) -> bool:
    return node in instances(Node)
"""

    run = check(spec(tmp_path, text), engine=engine)

    # Two, of which each turns; with `collected` only the one that is mentioned is still there.
    assert ("holds", 2 if "collected" in kind else 4) == (run.verdict, run.counts.distinct)


@BOTH
@KINDS
def test_what_a_run_made_that_was_ruled_out_is_never_there(
    kind: str, engine: str, tmp_path: Path
) -> None:
    text = f"""{NODE % kind}
@init
def some() -> None:
    for i in range(any_of([2, 1, 2])):
        seen.last = Node()
        require(i == 0)
"""

    path = spec(tmp_path, text)

    assert 2 == check(path, engine=engine).counts.distinct
    assert (3 if kind else 1) == len(load(path).roles["Node"])


@BOTH
def test_initial_states_that_differ_in_who_is_there_are_told_apart(
    engine: str, tmp_path: Path
) -> None:
    text = f"""{NODE % ", at_most=3, symmetric=True"}
node = Node()

@init
def some() -> None:
    for _ in range(any_of([2, 0, 1])):
        Node(n=any_of([0, 1]))
    if maybe():
        end(node)
"""

    counts = check(spec(tmp_path, text), engine=engine).counts

    # With node or without, then 0, 1 or 2 others; each of those that are there turns.
    assert (2 * (1 + 2 + 4), 2 + 4 + 8 + 1 + 2 + 4) == (counts.initial, counts.distinct)


def test_a_role_that_init_ends_and_still_mentions_is_refused(tmp_path: Path) -> None:
    text = f"""{NODE % ", at_most=3"}
node = Node()

@init
def begin() -> None:
    seen.last = node
    end(node)
"""

    with pytest.raises(SpecError) as caught:
        load(spec(tmp_path, text))

    assert "SW212" == caught.value.code
    assert "Node#0 ended in @init, and Seen#0.last still refers to it." == caught.value.message
    assert caught.value.at is not None


@pytest.mark.parametrize("of", ["A(Shared)", "A(Shared, at_most=3)"])
@BOTH
def test_a_derived_class_has_the_defaults_of_its_base_also_of_roles_made_late(
    of: str, engine: str, tmp_path: Path
) -> None:
    text = f"""
from statewalk import *
class Shared(Role):
    n: int = 0
    of: list[int] = [1]
    @action
    def turn(self) -> None:
        self.n = self.of[0] - self.n
class Other(Shared):
    n: int = 1
class {of}:
    pass
Other()
assert 1 == len(instances(Shared))
@init
def begin() -> None:
    assert 1 == len(instances(Shared))
    A()
@always
def both_are_there() -> bool:
    return 2 == len(instances(Shared)) == 1 + len(instances(A)) == 1 + len(instances(Other))
@always
def each_is_one(one: Shared) -> bool:
    return one in instances(Shared)
"""

    run = check(spec(tmp_path, text), engine=engine)

    assert ("holds", 4) == (run.verdict, run.counts.distinct)


@pytest.mark.parametrize("room", ["", ", at_most=2"])
def test_no_class_is_derived_from_one_of_roles_that_come_and_go(room: str, tmp_path: Path) -> None:
    text = f"{NODE % ', at_most=2'}\nclass Fast(Node{room}):\n    m: int = 0\n"

    with pytest.raises(SpecError) as caught:
        load(spec(tmp_path, text))

    assert "SW212" == caught.value.code
    assert "Fast is derived from Node" in caught.value.message
    assert caught.value.at is not None
