"""The ends of steps in .fizz text, bounds and crashes: numbers derived by hand.

Each spec is checked by both engines. Unique states are those that Fizzbee counts.
"""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecError
from tests.cases import slow, some
from tests.conformance.fizzbee_counts import unique_states

FRONT = "---\ndeadlock_detection: false\noptions:\n  crash_on_yield: {crash}\n  "
FRONT += "max_concurrent_actions: {most}\n---\n"

# name: (runs in flight, text, distinct states)
CASES = {
    # 0 -> in flight at b -> both set
    "a statement that does something ends the step": (
        1, "action A:\n    require a == 0\n    a = 1\n    b = 1\n", 3,
    ),
    "pass ends no step": (1, "action A:\n    require a == 0\n    pass\n    a = 1\n", 2),
    # two turns suspend at the loop's head, the third step only leaves it
    "a loop is left in a step of its own": (
        1, "action A:\n    require a == 0\n    for i in range(2):\n        a = a + 1\n", 4,
    ),
    "a nested block is left in a step of its own": (
        1, "action A:\n    require a == 0\n    atomic:\n        a = 1\n        b = 1\n", 3,
    ),
    "a block that is all of an action is not nested": (
        1, "action A:\n    atomic:\n        require a == 0\n        a = 1\n        b = 1\n", 2,
    ),
    "an atomic action gives way in a serial function": (
        1, "func f():\n    a = 1\n    b = 1\natomic action A:\n    require a == 0\n    f()\n", 3,
    ),
    # the last statement of f ends the step, and b comes in the next one
    "the end of a function ends its caller's step": (
        1, "func f():\n    a = 1\natomic action A:\n    require a == 0\n    f()\n    b = 1\n", 3,
    ),
    "a guard in the middle waits": (
        2,
        "action A:\n    require a == 0\n    a = 1\n    require b == 1\n    a = 2\n"
        "atomic action B:\n    require a == 1\n    b = 1\n", 4,
    ),
    "a branch with nothing in it ends no step": (
        1, "action A:\n    require a == 0\n    if b == 1:\n        b = 2\n    a = 1\n", 2,
    ),
    # 0 -> in flight -> 1 or 2
    "a choice that ends an action is something done": (
        1, "action A:\n    require a == 0\n    a = 1\n    require a == 1\n    if b == 0:\n"
        "        b = oneof [1, 2]\n", 4,
    ),
    "a choice that ends a function is something done": (
        1, "func f():\n    b = oneof [1, 2]\naction A:\n    require a == 0\n"
        "    a = 1\n    f()\n", 4,
    ),
    # of b = 1 the run is suspended at the end of the block, of b = 2 it ends with the statement
    "what comes first of a oneof block is the choice": (
        1, "action A:\n    require a == 0\n    a = 1\n    oneof:\n        b = 1\n"
        "        serial:\n            b = 2\n", 5,
    ),
    "a choice without options is no reason to go on": (
        1, "action A:\n    require a == 0\n    a = 1\n    oneof x in []:\n        b = 1\n", 2,
    ),
    "a block that is all of a oneof action is what it does": (
        1, "oneof action A:\n    atomic:\n        require a == 0\n        a = 1\n"
        "        b = 1\n", 2,
    ),
    # the guard may come first, and the choice after it
    "a choice and a guard come in any order": (
        1, "parallel action A:\n    a = oneof [1, 2]\n    require a == 0\n", 3,
    ),
    # before, in flight, after
    "ways that meet where nothing is left to be asked are one": (
        1, "func f():\n    serial:\n        b = 1\naction A:\n    require a == 0\n    oneof:\n"
        "        b = 1\n        f()\n    a = 1\n", 3,
    ),
    "the options of a choice may be made of its name": (
        1, "action A:\n    require a == 0\n    x = 2\n    x = oneof range(x) if x > 0\n"
        "    a = x\n", 3,
    ),
    # before; a: 1, 2, 3, then b = 1; b = 1, then a: 1, 2, 3; after b and after the loop suspended
    # at two places; after all
    "turns of a loop in a parallel block come in any order": (
        1, "action A:\n    require a + b == 0\n    parallel:\n        for i in [1, 2]:\n"
        "            a = a + i\n        b = 1\n", 10,
    ),
    "break leaves a loop": (
        1,
        "action A:\n    require a == 0\n    for i in range(5):\n        a = a + 1\n"
        "        if a == 2:\n            break\n", 4,
    ),
}  # fmt: skip


def found(
    folder: Path, text: str, *, crash: bool = False, most: int = 1
) -> tuple[set[int], int | None]:
    """(numbers of distinct states by engine, unique states)"""
    path = folder / "spec.fizz"
    path.write_text(
        FRONT.format(crash=str(crash).lower(), most=most)
        + "action Init:\n    a = 0\n    b = 0\n"
        + text
    )
    results = [check(path, engine=e, liveness=False) for e in ("reference", "native")]
    assert {r.verdict for r in results} == {"holds"}
    assert len({r.counts.generated for r in results}) == 1
    return {r.counts.distinct for r in results}, unique_states(path)


@pytest.mark.parametrize("name", some(CASES, every=7))
def test_where_steps_end(name: str, tmp_path: Path) -> None:
    most, text, distinct = CASES[name]

    assert found(tmp_path, text, most=most)[0] == {distinct}


def test_the_thread_that_moved_last_is_part_of_fizzbees_states(tmp_path: Path) -> None:
    text = "".join(
        f"action {n.upper()}:\n    require {n} == 0\n    {n} = 1\n    {n} = 2\n" for n in "ab"
    )

    assert found(tmp_path, text, most=2) == ({9}, 10)


def test_statements_of_a_parallel_block_come_in_any_order(tmp_path: Path) -> None:
    text = "action A:\n    require a + b == 0\n    parallel:\n        a = 1\n        b = 1\n"

    # none, either in flight, both and the step that leaves the block, and after it
    assert found(tmp_path, text)[0] == {5}


def test_a_crash_ends_a_run_where_it_is(tmp_path: Path) -> None:
    text = "action A:\n    require a == 0\n    a = 1\n    b = 1\n"

    # none, in flight, both; and what only the crash leads to, which Fizzbee does not count
    assert found(tmp_path, text, crash=True) == ({4}, 3)


def test_a_crash_is_no_way_out_of_a_deadlock(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(
        "action Init:\n    a = 0\naction A:\n    a = 1\n    require a == 2\n    a = 3\n"
    )

    for engine in ("reference", "native"):
        result = check(path, engine=engine, liveness=False)
        stuck = [p for p in result.properties if p.verdict == "violated"]
        assert [(p.name, p.kind, p.length) for p in stuck] == [("Deadlock", "deadlock", 2)]


@pytest.mark.parametrize(
    "function",
    [
        "atomic func f():\n    if a == 0:\n",
        "func f():\n    if a == 1:\n        return\n    if True:\n",
    ],
)
def test_a_function_that_does_nothing_is_no_step(function: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(
        f"action Init:\n    a = 0\n{function}        a = 1\natomic action A:\n    f()\n"
    )

    for engine in ("reference", "native"):
        result = check(path, engine=engine, liveness=False)
        stuck = [(p.name, p.length) for p in result.properties if p.verdict == "violated"]
        assert stuck == [("Deadlock", 1)]


def test_bounds_of_starts_count_starts_and_not_steps(tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(
        "---\noptions:\n  max_actions: 2\n  crash_on_yield: false\n---\n"
        "action Init:\n    a = 0\naction A:\n    a = a + 1\n    a = a + 1\n"
    )

    result = check(path, liveness=False)

    assert result.verdict == "bounded"
    # a path has four steps; the states at its end are checked, and cut
    assert result.counts.depth == 4


OF_ONE_ACTION = """
action Init:
    n = 0
action Add:
    seen = n
    n = (seen + 1) % 4
action Subtract:
    low = n
    n = (low + 3) % 4
"""


def test_an_action_can_have_a_bound_of_its_own(tmp_path: Path) -> None:
    def distinct(bound: int) -> int:
        path = tmp_path / f"spec{bound}.fizz"
        own = f"action_options:\n  Add:\n    max_concurrent_actions: {bound}\n"
        path.write_text(
            FRONT.format(crash="false", most=3).replace("---\n", "---\n" + own, 1) + OF_ONE_ACTION
        )
        return check(path, liveness=False).counts.distinct

    # where runs are in flight: those with three of Add are missing, then those with two as well
    assert distinct(1) < distinct(2) < distinct(3) == distinct(9)


ROLES = """
role R:
    action Init:
        self.n = 0
    action Add:
        require self.n < 4
        self.n = self.n + 1
        self.n = self.n + 1
action Init:
    one = R()
    two = R()
always assertion Ahead:
    return len([n for n in next_states() if n.kind == "action"]) == (one.n < 4) + (two.n < 4)
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize(
    ("bounds", "states"),
    [
        # of one instance: n with nothing, one, or two runs in flight
        ("R#.Add: {max_concurrent_actions: 1}", 25),  # 0 1* 2 3* 4, each with each
        ("R.Add: {max_concurrent_actions: 1}", 21),  # the same, but not 1* or 3* with 1* or 3*
        ("R#0.Add: {max_concurrent_actions: 1}\n  R#1.Add: {max_concurrent_actions: 1}", 25),
        ("R#.Add: {max_concurrent_actions: 1, max_actions: 1}", 9),  # 0 1* 2
        ("R.Add: {max_concurrent_actions: 1, max_actions: 1}", 5),  # 00 1*0 20 01* 02
        ("R#.Add: {max_concurrent_actions: 1}\n  R#1.Add: {max_actions: 1}", 15),
    ],
)
def test_bounds_of_the_actions_of_roles(
    bounds: str, states: int, engine: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(
        "---\ndeadlock_detection: false\noptions:\n  crash_on_yield: false\n"
        f"action_options:\n  {bounds}\n---\n{ROLES}"
    )

    result = check(path, engine=engine, liveness=False)

    assert (result.verdict, result.counts.distinct) == ("holds", states)


@pytest.mark.parametrize(("key", "code"), [("R#0.Add", "SW153"), ("R#x.Add", "SW151")])
def test_bounds_of_what_cannot_have_them(key: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(
        f"---\naction_options:\n  {key}: {{max_actions: 1}}\n---\nsymmetric {ROLES[1:]}"
    )

    with pytest.raises(SpecError) as caught:
        check(path)
    assert code == caught.value.code


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("most", "wanted", "verdict"),
    [
        (8, "n == 2", "holds"),  # the bound cuts nothing
        (8, "n == 1", "violated"),
        (1, "n == 2", "bounded"),  # Rest might start
        (1, "n == 1", "bounded"),
    ],
)
def test_liveness_is_decided_where_the_bound_of_starts_cuts_nothing(
    most: int, wanted: str, verdict: str, tmp_path: Path
) -> None:
    rest = "n == 2" if most == 1 else "n == 9"
    path = tmp_path / "spec.fizz"
    path.write_text(
        f"---\noptions:\n  max_actions: {most}\n  crash_on_yield: false\n"
        "deadlock_detection: false\n---\n"
        "action Init:\n    n = 0\nfair action Work:\n    require n == 0\n    n = 1\n    n = 2\n"
        f"atomic action Rest:\n    require {rest}\n    n = 2\n"
        f"eventually always assertion Finished:\n    return {wanted}\n"
    )

    for engine in ("reference", "native"):
        assert verdict == check(path, engine=engine).verdict
