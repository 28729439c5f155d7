"""Inductive invariants: against enumerations in plain Python that share no code with it."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from statewalk.checker.api import load
from statewalk.checker.cli import main
from statewalk.checker.induction.prove import Proof, prove
from statewalk.dsl.errors import RunError
from tests.places import ROOT

TWO_PHASE = """
@always
def who_commits_was_told() -> bool:
    return all(rm.state != "committed" or Commit() in network.sent for rm in rms)

@always
def managers_say_what_they_did() -> bool:
    return (tm.state == "committed") == (Commit() in network.sent) and (
        tm.state == "aborted"
    ) == (Abort() in network.sent)

@always
def all_are_prepared() -> bool:
    return tm.state != "committed" or all(rm in tm.prepared for rm in rms)

@always
def prepared_are_known() -> bool:
    return all(rm not in tm.prepared or Prepared(rm) in network.sent for rm in rms)

@always
def prepared_wait() -> bool:
    return all(
        Prepared(rm) not in network.sent
        or rm.state in ("prepared", "committed")
        or (rm.state == "aborted" and Abort() in network.sent)
        for rm in rms
    )
"""
TWO_PHASE_NAMES = [
    "consistent", "who_commits_was_told", "managers_say_what_they_did", "all_are_prepared",
    "prepared_are_known", "prepared_wait",
]  # fmt: skip
State = Any


def spec_of(tmp_path: Path, text: str) -> str:
    file = tmp_path / "spec.py"
    file.write_text(text, encoding="utf-8")
    return str(file)


def library(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def brute(
    states: Iterable[State], inside: Callable[[State], bool], after: Callable[[State], list[State]]
) -> tuple[int, int, bool]:
    """How many states satisfy an invariant, their steps, and whether all lead to others of them."""
    found = [state for state in states if inside(state)]
    targets = [target for state in found for target in after(state)]
    return len(found), len(targets), all(map(inside, targets))


# -- Peterson --------------------------------------------------------------------------------------

PLACES = ("idle", "flag", "turn", "wait", "inside", "leave")


def peterson() -> Iterable[State]:
    places, flags = itertools.product(PLACES, repeat=2), itertools.product((False, True), repeat=2)
    return itertools.product((0, 1), places, flags)


def peterson_after(state: State) -> list[State]:
    turn, at, flags = state
    found = []
    for me in (0, 1):
        now, flag = turn, list(flags)
        if at[me] == "flag":
            flag[me] = True
        elif at[me] == "turn":
            now = 1 - me
        elif at[me] == "wait" and flags[1 - me] and turn != me:
            continue
        elif at[me] == "leave":
            flag[me] = False
        place = list(at)
        place[me] = PLACES[(PLACES.index(at[me]) + 1) % 6]
        found.append((now, tuple(place), tuple(flag)))
    return found


PETERSON_PARTS: dict[str, Callable[[State], bool]] = {
    "one_inside": lambda s: sum(at in ("inside", "leave") for at in s[1]) <= 1,
    "flag_says_where": lambda s: all(
        flag == (at not in ("idle", "flag")) for at, flag in zip(s[1], s[2], strict=True)
    ),
    "who_is_inside_has_the_turn": lambda s: all(
        s[1][1 - me] != "wait" or s[0] == me for me in (0, 1) if s[1][me] in ("inside", "leave")
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "names", [c for n in (1, 2, 3) for c in itertools.combinations(PETERSON_PARTS, n)]
)
def test_petersons_algorithm_by_brute_force(names: tuple[str, ...]) -> None:
    model = load(str(ROOT / "specs/examples/exclusion/peterson.py"))
    proof = prove(model, names)

    def inside(state: State) -> bool:
        return all(PETERSON_PARTS[name](state) for name in names)

    states, steps, inductive = brute(peterson(), inside, peterson_after)

    assert proof.candidates == 288
    assert proof.evaluated <= 288
    assert (proof.verdict == "inductive") == inductive
    if inductive:
        assert (proof.states, proof.steps) == (states, steps)
    else:
        assert_breaks(proof, names, peterson_state, PETERSON_PARTS, peterson_after)


def peterson_state(content: dict[Any, Any]) -> State:
    flat = {f"{p[0]}{p[1]}.{p[2]}": value for p, value in content.items()}
    places, flags = ([flat[f"Process{i}.{name}"] for i in (0, 1)] for name in ("at", "flag"))
    return flat["Turn0.of"], tuple(places), tuple(flags)


def assert_breaks(
    proof: Proof, names: tuple[str, ...], read: Callable[[Any], State],
    parts: dict[str, Callable[[State], bool]], after: Callable[[State], list[State]],
) -> None:  # fmt: skip
    assert proof.trace is not None and proof.finding is not None
    first, last = map(read, proof.trace.contents)
    assert all(parts[name](first) for name in names)
    assert last in after(first)
    assert proof.finding.property == next(n for n in names if not parts[n](last))


# -- two-phase commit ------------------------------------------------------------------------------


def two_phase() -> Iterable[State]:
    """(states of the managers, of the transaction manager, prepared, whose Prepared, the others)"""
    here = itertools.product(("working", "prepared", "committed", "aborted"), repeat=3)
    bits = list(itertools.product((False, True), repeat=3))
    two = list(itertools.product((False, True), repeat=2))
    return itertools.product(here, ("init", "committed", "aborted"), bits, bits, two)


def two_phase_after(state: State) -> list[State]:
    rms, tm, prepared, sent, (commit, abort) = state
    found = []

    def put(of: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
        return (*of[:at], value, *of[at + 1 :])

    for at, rm in enumerate(rms):
        if rm == "working":
            found += [
                (put(rms, at, "prepared"), tm, prepared, put(sent, at, True), (commit, abort)),
                (put(rms, at, "aborted"), *state[1:]),
            ]
        if commit:
            found.append((put(rms, at, "committed"), *state[1:]))
        if abort:
            found.append((put(rms, at, "aborted"), *state[1:]))
        if tm == "init" and sent[at]:
            found.append((rms, tm, put(prepared, at, True), sent, (commit, abort)))
    if tm == "init":
        if all(prepared):
            found.append((rms, "committed", prepared, sent, (True, abort)))
        found.append((rms, "aborted", prepared, sent, (commit, True)))
    return found


def two_phase_inside(state: State) -> bool:
    rms, tm, prepared, sent, (commit, abort) = state
    return (
        not {"committed", "aborted"} <= set(rms)
        and (commit or "committed" not in rms)
        and (tm == "committed") == commit
        and (tm == "aborted") == abort
        and (tm != "committed" or all(prepared))
        and all(there or not known for known, there in zip(prepared, sent, strict=True))
        and all(
            not there or rm in ("prepared", "committed") or (rm == "aborted" and abort)
            for rm, there in zip(rms, sent, strict=True)
        )
    )


@pytest.mark.thorough
def test_two_phase_commit_by_brute_force(tmp_path: Path) -> None:
    text = library("models/toys/two_phase_commit.py") + TWO_PHASE
    proof = prove(load(spec_of(tmp_path, text), {"RMS": 3}), TWO_PHASE_NAMES)
    states, steps, inductive = brute(two_phase(), two_phase_inside, two_phase_after)

    assert inductive
    assert proof.verdict == "inductive"
    assert (proof.candidates, proof.states, proof.steps) == (49152, states, steps)
    assert (states, steps) == (476, 1773)  # as TLC of TwoPhase.tla, begun in these states
    assert proof.evaluated < 5000  # what is not read is passed over


@pytest.mark.sampled(3)
@pytest.mark.parametrize("left_out", TWO_PHASE_NAMES[1:])
def test_without_a_conjunct_two_phase_commit_is_not_inductive(
    tmp_path: Path, left_out: str
) -> None:
    text = library("models/toys/two_phase_commit.py") + TWO_PHASE
    names = [name for name in TWO_PHASE_NAMES if name != left_out]
    proof = prove(load(spec_of(tmp_path, text), {"RMS": 3}), names)

    assert proof.verdict == "counterexample"


# -- tables of steps -------------------------------------------------------------------------------

TABLE = """
from typing import Annotated
from statewalk import Role, action, always, any_of, deadlock, require
STEPS = {steps}
INSIDE = {inside}
class Point(Role):
    x: Annotated[int, range(4)] = {x}
    y: Annotated[int, range(4)] = {y}
    @action
    def go(self) -> None:
        there = STEPS[self.x * 4 + self.y]
        require(len(there) > 0)
        to = any_of(there)
        self.x, self.y = to // 4, to % 4
point = Point()
deadlock(False)
@always
def inside() -> bool:
    return point.x * 4 + point.y in INSIDE
"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_tables_of_steps_by_brute_force(tmp_path: Path, seed: int, k: int) -> None:
    drawn = random.Random(seed)
    steps = [sorted(drawn.sample(range(16), drawn.choice([0, 0, 1, 1, 2]))) for _ in range(16)]
    inside = sorted(drawn.sample(range(16), 12))
    start = drawn.choice(inside)
    text = TABLE.format(steps=steps, inside=inside, x=start // 4, y=start % 4)
    proof = prove(load(spec_of(tmp_path, text)), ["inside"], k=k)

    within = {start}
    for _ in range(k - 1):
        within |= {t for s in within & {*inside} for t in steps[s]}
    ends = {*inside}
    for _ in range(k - 1):
        ends = {t for s in ends for t in steps[s]} & {*inside}
    after = {t for s in ends for t in steps[s]}
    base = within <= {*inside}
    assert (proof.verdict == "inductive") == (base and after <= {*inside})
    if base and proof.trace is not None:
        way = [c[("Point", 0, "x")] * 4 + c[("Point", 0, "y")] for c in proof.trace.contents]
        assert len(way) == k + 1
        assert {*way[:-1]} <= {*inside}
        assert way[-1] not in inside
        assert all(b in steps[a] for a, b in itertools.pairwise(way))


# -- what is refused, sampled and said -------------------------------------------------------------

COUNTER = """
from enum import Enum
from typing import Annotated, Literal
from statewalk import {word}, Role, State, action, always, deadlock, on_step, require
class Counter(Role):
    n: {type} = {default}
    m: Annotated[int, range(10)] = 0
    @action
    def up(self) -> None:
        require(self.m < 9)
        self.m += 1
counter = Counter()
deadlock(False)
{more}
@always
def small() -> bool:
    return counter.m <= 9
"""


def counter(
    tmp_path: Path, type: str = "bool", default: str = "False", more: str = "", word: str = "old"
) -> str:
    text = COUNTER.format(type=type, default=default, more=more, word=word)
    write = text.replace("        self.m += 1", "        self.m += 1\n        self.n = self.n")
    return spec_of(tmp_path, write)


@pytest.mark.parametrize(
    ("type", "default"),
    [("int", "0"), ("str", "'a'"), ("list[bool]", "[]"), ("tuple[bool, ...]", "()"),
     ("set[int]", "set()"), ("dict[bool, int]", "{}"), ("bool | int", "0")],
)  # fmt: skip
def test_types_without_bounds_are_refused(tmp_path: Path, type: str, default: str) -> None:
    with pytest.raises(RunError, match="SW335") as refused:
        prove(load(counter(tmp_path, type, default)), ["small"])

    assert "Counter.n" in str(refused.value)


@pytest.mark.parametrize(
    ("type", "default", "count"),
    [("Literal['a', 'b']", "'a'", 2), ("bool | None", "None", 3), ("set[bool]", "set()", 4),
     ("dict[bool, bool]", "{}", 9), ("tuple[bool, Literal[1, 2, 3]]", "(True, 1)", 6),
     ("frozenset[Literal[1, 2, 3]]", "frozenset()", 8), ("'Counter | None'", "None", 2)],
)  # fmt: skip
def test_types_with_bounds_are_counted(tmp_path: Path, type: str, default: str, count: int) -> None:
    proof = prove(load(counter(tmp_path, type, default)), ["small"])

    assert proof.candidates == 10 * count
    assert proof.verdict == "inductive"
    assert proof.states == 10 * count


def test_too_many_states_are_sampled_by_a_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = counter(tmp_path, "set[Annotated[int, range(40)]]", "set()")
    model = load(path)
    one, again, other = (
        prove(model, ["small"], most=50, samples=20, seed=seed) for seed in (1, 1, 2)
    )

    assert one.verdict == "sampled"
    assert one.candidates == 10 * 2**40
    assert (one.states, one.steps) == (again.states, again.steps)
    assert one.steps != other.steps
    options = ["--max-states", "50", "--samples", "20", "--seed", "1"]
    assert main(["prove", path, "--inductive", "small", *options]) == 3
    printed = capsys.readouterr().out
    assert "proves nothing" in printed
    assert "seed 1" in printed


def test_a_sample_finds_states_that_are_rare(tmp_path: Path) -> None:
    more = """
@always
def rare() -> bool:
    return counter.n == frozenset(range(0, 40, 2)) and counter.m < 9
"""
    path = counter(tmp_path, "frozenset[Annotated[int, range(6)]]", "frozenset((0, 2, 4))", more)
    text = Path(path).read_text(encoding="utf-8").replace("range(0, 40, 2)", "(0, 2, 4)")
    proof = prove(load(spec_of(tmp_path, text)), ["rare"], most=5, samples=50)

    assert proof.verdict == "counterexample"
    assert proof.finding is not None


def test_another_property_is_implied_or_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = """
@always
def natural() -> bool:
    return counter.m >= 0
@always
def not_seven() -> bool:
    return counter.m != 7
@always
@on_step
def never_less() -> bool:
    return counter.m >= old(counter.m)
"""
    path = counter(tmp_path, more=more)
    code = main(["prove", path, "--inductive", "small", "--json", str(tmp_path / "found.json")])
    printed = capsys.readouterr().out
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))

    assert code == 0
    assert printed.startswith("INDUCTIVE  small")
    assert found["verdict"] == "inductive"
    assert sorted(found["implied"]) == ["natural", "never_less"]
    assert found["not_implied"] == ["not_seven"]
    assert "m=7" in printed


def test_a_step_that_leaves_its_type_is_a_counterexample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = counter(tmp_path)
    text = Path(path).read_text(encoding="utf-8").replace("self.m < 9", "self.m != 20")
    code = main(["prove", spec_of(tmp_path, text), "--inductive", "small"])
    printed = capsys.readouterr().out

    assert code == 1
    assert "step 1 raises an exception" in printed
    assert "Counter#0.m  9" in printed
    assert "cannot be 10" in printed


def test_a_step_that_leaves_a_domain_of_the_option_is_a_counterexample(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = counter(tmp_path)
    code = main(["prove", path, "--inductive", "small", "--domain", "Counter.m=range(5)"])

    assert code == 1
    assert "Counter#0.m becomes 5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "error"),
    [(["--inductive", "tiny"], "SW308"), (["--domain", "Counter.k=range(2)"], "SW321"),
     (["--domain", "Counter.m=range(20)"], "SW337"), (["--domain", "Counter.m=nothing"], "SW337"),
     (["--domain", "Counter.m=range(1, 4)"], "SW337")],
)  # fmt: skip
def test_mistakes_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], error: str
) -> None:
    code = main(["prove", counter(tmp_path), "--inductive", "small", *options])

    assert code == 2
    assert error in capsys.readouterr().err


def test_an_invariant_that_raises_is_told_with_its_state(tmp_path: Path) -> None:
    more = "@always\ndef raises() -> bool:\n    return 10 // (counter.m - 5) < 100\n"
    with pytest.raises(RunError, match="SW336") as refused:
        prove(load(counter(tmp_path, more=more)), ["raises"])

    assert "Counter#0.m = 5" in refused.value.why


def test_a_constraint_makes_it_undecided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = "@constraint\ndef low() -> bool:\n    return counter.m < 5\n"
    path = counter(tmp_path, more=more, word="constraint")
    code = main(["prove", path, "--inductive", "small"])

    assert code == 3
    assert "bounded by low" in capsys.readouterr().out


def test_a_false_initial_state_is_no_matter_of_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = "@always\ndef begun() -> bool:\n    return counter.m > 0\n"
    code = main(["prove", counter(tmp_path, more=more), "--inductive", "begun"])
    printed = capsys.readouterr().out

    assert code == 1
    assert "begun is false in it, from an initial state" in printed
    assert "need not be reachable" not in printed


def test_text_specs_declare_no_types(tmp_path: Path) -> None:
    model = replace(load(counter(tmp_path)), dialect="fizz")
    with pytest.raises(RunError, match="SW335") as refused:
        prove(model, ["small"])

    assert "declares no types" in refused.value.why


def test_a_family_is_the_conjunction_of_its_instances(tmp_path: Path) -> None:
    more = "@always\ndef low(counter: Counter) -> bool:\n    return counter.m < 10\n"
    model = load(counter(tmp_path, more=more))

    assert prove(model, ["low"]).names == ("low(Counter#0)",)
