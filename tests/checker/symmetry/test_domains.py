"""Domains of .fizz text: which values are in use, and that engines and brute force agree on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from statewalk import check
from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.checker.verdict.run import Run
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from tests.cases import some
from tests.checker.native.agreement import told
from tests.checker.symmetry.specs import orbits_by_force

Checked = Callable[..., Run]
CALM = "---\noptions:\n    crash_on_yield: false\ndeadlock_detection: false\n---\n"

# Name, text, and how many orbits of states there are, told by hand.
SPECS = {
    "a cache of at most three": (
        """
IDS = symmetry.nominal(name="id", limit=3)
action Init:
    cache = {}
atomic action Put:
    id = oneof IDS.choices()
    cache[id] = "data"
atomic action Evict:
    id = oneof IDS.values()
    cache.pop(id)
""",
        4,  # none, one, two, three
    ),
    "two domains in records": (
        """
IDS = symmetry.nominal(name="id", limit=2)
TEXTS = symmetry.nominal(name="text", limit=2)
action Init:
    items = genericset()
atomic action Add:
    id = IDS.fresh()
    text = oneof TEXTS.choices()
    items.add(record(id=id, text=text))
atomic action Drop:
    item = oneof items
    items.remove(item)
""",
        4,  # none, one, two with the same text, two with different ones
    ),
    "held by suspended runs only": (
        """
IDS = symmetry.nominal(name="id", limit=3)
action Init:
    held = set()
action Take:
    require len(held) < 2
    id = IDS.fresh()
    held.add(id)
atomic action Clear:
    require len(held) == 2
    held = set()
""",
        9,  # in flight and held: 00 10 20, 01 11 21, 02 12, 03
    ),
    "a list says which came first": (
        """
IDS = symmetry.nominal(name="id", limit=3)
action Init:
    queue = []
atomic action Push:
    queue.append(IDS.fresh())
atomic action Repeat:
    require len(queue) == 1
    queue.append(queue[0])
atomic action Pop:
    require queue
    queue.pop(0)
""",
        7,  # none, a, ab, abc, aa, aab, aabc
    ),
    "all there from the start": (
        """
NODES = symmetry.nominal(name="n", limit=3, materialize=True)
action Init:
    up = set()
atomic action Start:
    n = oneof NODES.values()
    up.add(n)
atomic action Stop:
    n = oneof NODES.choices()
    up.discard(n)
""",
        4,
    ),
    "a member of a symmetric role holds one": (
        """
IDS = symmetry.nominal(name="id", limit=2)
symmetric role Worker:
    action Init:
        self.job = None
    atomic action Begin:
        require self.job == None
        self.job = oneof IDS.choices()
    atomic action End:
        require self.job != None
        self.job = None
action Init:
    workers = bag()
    for i in range(2):
        workers.add(Worker())
""",
        4,  # idle, one busy, both with the same, both with different ones
    ),
}


@pytest.fixture
def checked(tmp_path: Path) -> Checked:
    def run(text: str, engine: str = "reference") -> Run:
        path = tmp_path / "spec.fizz"
        path.write_text(CALM + text, encoding="utf-8")
        return check(path, engine=engine, liveness=False)

    return run


STATEMENTS = (
    "d[IDS.fresh()] = 1",
    "d[x] = 0",
    "d[x] = len(IDS.choices())",
    "q = q + [x]",
    "q = [i for i in q if i != x]",
    "s.add(x)",
    "s.discard(x)",
    "if x in d:\n        d.pop(x)",
    "rec = record(a=x, b=len(IDS.values()))",
)
CHOICES = ("oneof IDS.choices()", "oneof IDS.values()", "IDS.fresh()", "IDS.fresh()")


def random_spec(seed: int) -> str:
    """A spec that takes values into use and drops them, some of it in several steps."""
    r = Random(seed)
    lines = [
        f'IDS = symmetry.nominal(name="id", limit={r.randint(1, 3)})',
        "action Init:\n    d = {}\n    q = []\n    s = set()\n    rec = None\n    t = 0",
    ]
    for number in range(r.randint(2, 3)):
        lines += [
            f"{r.choice(['atomic ', 'atomic ', ''])}action A{number}:",
            f"    require t < {r.randint(3, 5)} and len(q) < 3",
            "    t += 1",
            f"    x = {r.choice(CHOICES)}",
            *(f"    {r.choice(STATEMENTS)}" for _ in range(r.randint(1, 3))),
        ]
    return CALM + "\n".join(lines) + "\n"


@pytest.mark.thorough
@pytest.mark.parametrize("seed", some(range(30), every=30))
def test_random_specs_have_the_orbits_found_by_force(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "spec.fizz"
    path.write_text(random_spec(seed), encoding="utf-8")

    model = load(path)
    expected = reference.explore(model, SearchOptions(symmetry=True, max_states=3000))
    if not expected.complete:
        pytest.skip("many states")
    plain = reference.explore(load(path, optimize=False), SearchOptions(symmetry=True))
    found = native.explore(load(path), SearchOptions(symmetry=True))

    assert expected.counts.distinct == orbits_by_force(model)[0]
    assert told(expected) == told(plain) == told(found)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", SPECS)
def test_orbits_are_those_found_by_hand_and_by_force(name: str, tmp_path: Path) -> None:
    text, orbits = SPECS[name]
    path = tmp_path / "spec.fizz"
    path.write_text(CALM + text, encoding="utf-8")
    model = load(path)

    for model in (load(path), load(path, optimize=False)):
        expected = reference.explore(model, SearchOptions(symmetry=True))
        assert expected.counts.distinct == orbits_by_force(model)[0]
        assert expected.counts.distinct == orbits
        assert told(expected) == told(native.explore(load(path), SearchOptions(symmetry=True)))
    plain = reference.explore(model, SearchOptions())
    assert told(plain) == told(native.explore(load(path), SearchOptions()))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "statements",
    [
        ["x = IDS.fresh()", "y = IDS.fresh()"],
        ["pair = (IDS.fresh(), IDS.fresh())", "x = pair[0]", "y = pair[1]"],
        ["x = oneof IDS.choices()", "y = IDS.fresh()"],
        ["x = IDS.fresh()", "y = another()"],
        ["x = IDS.fresh()", "y = other(x)"],
        ["d[1] = IDS.fresh()", "x = d.pop(1)", "y = IDS.fresh()"],
        ["d[1] = [IDS.fresh()]", "for x in d.pop(1):", "    y = IDS.fresh()"],
        ["x = [IDS.fresh()]", "z = {1: x}", "x = x[0]", "y = IDS.fresh()"],
    ],
)
def test_what_locals_of_a_step_mention_is_in_use(statements: list[str], checked: Checked) -> None:
    text = """
IDS = symmetry.nominal(name="id", limit=2)
action Init:
    d = {}
    equal = None
atomic func another():
    y = IDS.fresh()
    return y
atomic func other(taken):
    return [i for i in IDS.choices() if i != taken][0]
atomic action Act:
    BODY
    equal = x == y
always assertion Differ:
    return equal != True
exists assertion Done:
    return equal == False
"""

    for engine in ("reference", "native"):
        result = checked(text.replace("BODY", "\n    ".join(statements)), engine)
        assert result.verdict == "holds"


def test_without_a_free_value_the_step_is_disabled(checked: Checked) -> None:
    text = """
IDS = symmetry.nominal(name="id", limit=2)
action Init:
    d = {}
atomic action Put:
    d[IDS.fresh()] = len(IDS.values())
always assertion NoMore:
    return len(IDS.values()) == len(d) and len(IDS.choices()) == min(2, len(d) + 1)
always assertion First:
    return len(d) == 0 or IDS.choose() in d
"""

    result = checked(text)

    assert ("holds", 3) == (result.verdict, result.counts.distinct)


def test_a_value_that_nothing_mentions_is_free_again(checked: Checked) -> None:
    text = """
IDS = symmetry.nominal(name="id", limit=1)
action Init:
    now = IDS.choose()
    turns = 0
atomic action Renew:
    require turns < 3
    now = None
    now = IDS.fresh()
    turns += 1
"""

    assert 4 == checked(text).counts.distinct


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("D = symmetry.nominal(name='d', limit=0)", "SW153", "positive"),
        ("D = symmetry.nominal(name='', limit=1)", "SW153", "a string"),
        ("E = symmetric_values('d', 1)\nD = symmetry.nominal(name='d', limit=1)", "SW153", "other"),
        (
            "D = symmetry.nominal(name='d', limit=1)\nE = D.values()",
            "SW153",
            "depends on the state",
        ),
        ("D = symmetry.nominal(name='d', limit=1)\nE = D.min()", "SW153", "no min()"),
        ("D = symmetry.cyclic(name='d', limit=1)", "SW153", "no symmetry.cyclic"),
        ("D = symmetry.ordinal(name='d', limit=1)\nE = D.choices()", "SW153", "no choices()"),
        ("D = symmetry.interval(name='d')", "SW153", "limit="),
        ("D = symmetry.rotational(name='d', limit=2)\nE = D.min()", "SW153", "no min()"),
        ("D = [symmetry]", "SW152", "symmetry"),
    ],
)
def test_what_a_domain_cannot_be(text: str, code: str, words: str, checked: Checked) -> None:
    with pytest.raises(SpecError) as caught:
        checked(text + "\naction Init:\n    n = 0\natomic action A:\n    pass\n")

    assert code == caught.value.code
    assert words in caught.value.message


ALL = "ALL = symmetry.nominal(name='a', limit=2, materialize=True)\naction Init:\n    n = 0\n"


def test_a_domain_is_declared_at_the_top_level(checked: Checked) -> None:
    with pytest.raises(SpecError, match="top level"):
        checked(ALL + "atomic action A:\n    n = symmetry.nominal(name='b', limit=1)\n")


def test_nothing_is_fresh_where_all_is_there_from_the_start(checked: Checked) -> None:
    result = checked(ALL + "atomic action A:\n    n = ALL.fresh()\n")

    assert result.verdict == "error"
    assert "from the start" in str(result)
