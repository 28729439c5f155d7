"""Values with an order, distances or places on a ring: what states are one, told by hand and by
force.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from statewalk import check
from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import SpecError
from statewalk.dsl.fizz.runtime import numbered
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from statewalk.dsl.state.packing import decode
from statewalk.dsl.values.records import parts_of
from statewalk.dsl.values.stored import ABSENT, FrozenBag, encode
from tests.cases import some
from tests.checker.native.agreement import told

Checked = Callable[..., Run]
CALM = "---\noptions:\n    crash_on_yield: false\ndeadlock_detection: false\n---\n"
ORDINAL = 'D = symmetry.ordinal(name="t", limit=4)\n'
INTERVAL = 'D = symmetry.interval(name="t", limit=4)\n'
RING = 'D = symmetry.rotational(name="p", limit=5)\n'

# Name, text, and how many states there are, told by hand.
SPECS = {
    "a queue of times": (
        ORDINAL
        + """
action Init:
    q = []
atomic action Push:
    q = q + [D.fresh()]
atomic action Pop:
    require q
    q = q[1:]
""",
        5,
    ),
    "one before all others": (
        ORDINAL
        + """
action Init:
    a = D.fresh()
    b = None
atomic action Before:
    gap = oneof D.segments(before=D.min())
    b = gap.fresh()
atomic action After:
    b = D.fresh()
""",
        3,  # none, b < a, a < b
    ),
    "two clocks": (
        INTERVAL
        + """
action Init:
    a = D.min()
    b = D.min()
atomic action A:
    a = a + 1
atomic action B:
    b += 1
""",
        7,  # a - b from -3 to 3
    ),
    "keys and records": (
        INTERVAL
        + """
action Init:
    now = D.min()
    due = {}
atomic action Add:
    due[now + 1] = record(at=now)
atomic action Tick:
    now = now + 1
    due = {k: v for k, v in due.items() if k >= now}
""",
        4,  # none; due at 1, made at 0; the same a tick later; both, which is as after a tick
    ),
    "held by suspended runs": (
        INTERVAL
        + """
action Init:
    now = D.min()
    gap = 0
action Read:
    was = now
    gap = now - was
atomic action Tick:
    require gap == 0
    now = now + 1
""",
        18,  # gap 0 and in flight none, d or d and 0, d to 3; gaps 1 to 3 and none, 0, 00
    ),
    "places on a ring": (
        RING
        + """
action Init:
    a = D.fresh()
    b = D.fresh()
    gap = b - a
atomic action Step:
    a = a + 6
    gap = b - a
""",
        25,  # gaps from 0 to 4 at five places
    ),
}


def written(folder: Path, text: str) -> Path:
    path = folder / "spec.fizz"
    path.write_text(CALM + text, encoding="utf-8")
    return path


@pytest.fixture
def checked(tmp_path: Path) -> Checked:
    return lambda text: check(written(tmp_path, text), engine="reference", liveness=False)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SPECS)
def test_states_are_those_told_by_hand(name: str, tmp_path: Path) -> None:
    text, states = SPECS[name]
    path = written(tmp_path, text)

    found = reference.explore(load(path), SearchOptions())

    assert states == found.counts.distinct
    assert told(found) == told(reference.explore(load(path, optimize=False), SearchOptions()))


@pytest.mark.parametrize("name", some(SPECS, every=6))
def test_engines_agree(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, SPECS[name][0])
    found = native.explore(load(path), SearchOptions())

    assert told(found) == told(reference.explore(load(path), SearchOptions()))


# -- by force -----------------------------------------------------------------------------------

STATEMENTS = (
    "a = x",
    "b = x",
    "a = None",
    "b = a",
    "q = q + [x]",
    "q = q[1:]",
    "s.add(x)",
    "s.discard(x)",
    "d[x] = len(s)",
    "d = {k: v for k, v in d.items() if k != x}",
    "r = record(at=x, n=len([v for v in q if v < x]))",
    "if q and q[0] < x:\n        n = (n + 1) % 3",
)
ORDERED = ("D.fresh()", "oneof D.values()", "D.min()", "D.max()", "(oneof D.segments()).fresh()")
SHIFTED = ("D.fresh()", "oneof D.values()", "D.min()", "D.max() + 1", "D.min() - 1")


def random_spec(seed: int) -> str:
    """A spec that takes values into use and drops them, some of it in several steps."""
    r = Random(seed)
    kind, ways = r.choice([("ordinal", ORDERED), ("interval", SHIFTED)])
    lines = [
        f'D = symmetry.{kind}(name="t", limit={r.randint(2, 3)})',
        "action Init:\n    a = None\n    b = None\n    q = []\n    s = set()\n    d = {}\n"
        "    r = None\n    n = 0",
    ]
    for number in range(r.randint(2, 3)):
        way = r.choice(ways)
        made = [f"    x = {way}"]
        if "segments" in way:
            made = ["    gap = oneof D.segments()", "    x = gap.fresh()"]
        lines += [
            f"{r.choice(['atomic ', 'atomic ', ''])}action A{number}:",
            "    require len(q) < 3",
            *made,
            *(f"    {r.choice(STATEMENTS)}" for _ in range(r.randint(1, 3))),
        ]
    return CALM + "\n".join(lines) + "\n"


def numbers(value: Any) -> Iterator[int]:
    if isinstance(value, numbered.Numbered):
        yield value.domain_number
    for part in parts_of(value):
        yield from numbers(part)


def canonical(model: Model, state: dict[Any, Any], ranks: bool) -> frozenset[Any]:
    """The state with numbers by rank, or from 0."""
    content = {}
    for path, value in state.items():
        key = decode(path[4], model.classes) if len(path) > 4 and type(path[4]) is bytes else None
        content[path] = (key, value)
    there = sorted({n for key, value in content.values() for n in (*numbers(key), *numbers(value))})
    new = {n: i if ranks else n - there[0] for i, n in enumerate(there)}
    return frozenset(
        (path[:4], form(key, new), form(value, new))
        for path, (key, value) in content.items()
        if value is not ABSENT
    )


def form(value: Any, new: dict[int, int]) -> Any:
    """What a value is with new numbers, as nothing but tuples."""
    if isinstance(value, numbered.Numbered):
        return ("number", new[value.domain_number])
    parts = [form(part, new) for part in parts_of(value)]
    if isinstance(value, set | frozenset | FrozenBag):
        parts.sort(key=repr)
    elif isinstance(value, dict):
        half = len(parts) // 2
        parts = sorted(zip(parts[:half], parts[half:], strict=True), key=repr)
    return (type(value).__name__, *parts) if parts else encode(value)


def levels(model: Model, depth: int, seen: Callable[[dict[Any, Any]], Any]) -> list[set[Any]]:
    """What is seen of the states of each level, as they are first met."""
    known: set[Any] = set()
    found: list[set[Any]] = []
    here = {seen(dict(s)): dict(s) for s in model.initial_states}
    for _ in range(depth):
        known |= here.keys()
        found.append(set(here))
        after = {}
        for state in here.values():
            for action in model.actions:
                for outcome in model.outcomes(action, state):
                    made = model.successor(state, outcome)
                    after[seen(made)] = made
        here = {key: state for key, state in after.items() if key not in known}
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", some(range(60), every=15))
def test_random_specs_have_the_states_found_by_force(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(random_spec(seed), encoding="utf-8")
    ranks, most = "ordinal" in random_spec(seed), 5
    model = load(path)
    by_itself = levels(model, most, lambda s: canonical(model, s, ranks))
    stored = levels(model, most, lambda s: frozenset((p, encode(v)) for p, v in s.items()))

    monkeypatch.setattr(numbered, "_renumbered", lambda value, new: value)
    plain = load(path)
    every: dict[frozenset[Any], Any] = {}
    here = [dict(s) for s in plain.initial_states]
    by_force: list[set[Any]] = []
    for _ in range(most):
        fresh = {}
        for state in here:  # every state by its own numbers, whatever is one with it
            key = frozenset((p, encode(v)) for p, v in state.items())
            if key not in every:
                every[key] = canonical(plain, state, ranks)
                fresh[key] = state
        before = set().union(*by_force)
        by_force.append({every[key] for key in fresh} - before)
        steps = ((a, s) for s in fresh.values() for a in plain.actions)
        here = [plain.successor(s, o) for a, s in steps for o in plain.outcomes(a, s)]
        if len(here) > 4000:
            break

    assert by_force == by_itself[: len(by_force)]
    assert list(map(len, by_itself)) == list(map(len, stored))


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("n = str(a)", "text"),
        ('n = "%s" % a', "text"),
        ('n = "{}".format([a])', "text"),
        ("n = a + 1", "unsupported operand"),
        ("n = a < 1", "nothing in common"),
        ("n = a < E.fresh()", "in common|not supported"),
        ("n = D.segments(after=1)", "is given int"),
    ],
)
def test_what_would_tell_the_number_is_an_error(
    statement: str, words: str, checked: Checked
) -> None:
    text = ORDINAL + 'E = symmetry.interval(name="e", limit=2)\n'
    text += "action Init:\n    a = D.fresh()\n    n = 0\natomic action A:\n"

    result = checked(f"{text}    {statement}\n")

    assert "error" == result.verdict
    assert any(word in str(result) for word in words.split("|"))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("transition assertion T(before, after):\n    return before.a <= after.a", "two states"),
        ("atomic action F:\n    a = fair oneof D.values()", "fair choice"),
        ("always assertion P:\n    return a.domain_number == 0", "internal"),
        ("always assertion P:\n    return D.segments() == []", "no segments()"),
        ("E = symmetry.interval(name='e')", "limit="),
        ("E = symmetry.interval(name='e', limit=5, divergence=2)", "does not fit"),
        ("E = symmetry.interval(name='e', limit=5, materialize=True)", "materialize"),
        ("E = symmetry.ordinal(name='t', limit=1)", "other"),
    ],
)
def test_what_cannot_be_combined_is_refused_before_the_search(
    line: str, words: str, checked: Checked
) -> None:
    text = INTERVAL + line + "\naction Init:\n    a = D.fresh()\n"
    text += "atomic action Tick:\n    a = a + 1\n"

    with pytest.raises(SpecError) as caught:
        checked(text)

    assert words.lower() in caught.value.message.lower()


def test_a_look_ahead_sees_the_numbers_of_this_state(checked: Checked) -> None:
    text = INTERVAL + "action Init:\n    a = D.fresh()\natomic action Tick:\n    a = a + 1\n"
    text += "always assertion P:\n    return all([n.state.a - a == 1 for n in next_states()])\n"

    result = checked(text)

    assert ("holds", 1) == (result.verdict, result.counts.distinct)
