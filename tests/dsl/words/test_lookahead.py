"""Looking one step ahead in properties, and properties per role instance."""

from pathlib import Path
from types import ModuleType

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from tests.cases import slow

SPEC = """
from statewalk import *

class C(Role):
    n: int = 0

    @action(fair="weak")
    def inc(self, by: int = any_of([1, 2])) -> None:
        require(self.n + by <= 4)
        self.n += by

    @action
    def reset(self) -> None:
        require(self.n == 4)
        self.n = any_of([0, 1])

cs = [C() for _ in range(2)]
"""


BOTH = pytest.mark.parametrize(
    ("engine", "optimize"),
    [(reference, False), (native, True), slow(reference, True), slow(native, False)],
)


@pytest.mark.sampled(4)
@BOTH
@pytest.mark.parametrize(
    ("length", "text"),
    [
        (None, "return all(enabled(c.inc) or enabled(c.reset) for c in cs)"),
        (None, "return all(not enabled(c.inc, 2) for c in cs if c.n >= 3)"),
        (None, "return all(s.after(lambda: all(c.n <= 4 for c in cs)) for s in next_steps())"),
        (None, "return all(s.changes for s in next_steps('inc'))"),
        (None, "return len(next_steps(C.reset)) == 2 * sum(c.n == 4 for c in cs)"),
        (2, "return not enabled('reset')"),
        (2, "return enabled(C.inc, 2) and enabled(cs[0].inc)"),
        (4, "return enabled(C.inc)"),
        (1, "return all(s.after(lambda: cs[0].n != 3) for s in next_steps())"),
    ],
)
def test_properties_look_one_step_ahead(
    length: int | None, text: str, optimize: bool, engine: ModuleType, tmp_path: Path
) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(f"{SPEC}\n@always\ndef p() -> bool:\n    {text}\n")
    found = engine.explore(load(spec, optimize=optimize), SearchOptions()).findings

    assert ([] if length is None else [length]) == [f.length for f in found]


def test_an_action_that_does_not_exist_is_a_mistake_of_the_spec(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(f"{SPEC}\n@always\ndef p() -> bool:\n    return enabled('incr')\n")
    found = reference.explore(load(spec), SearchOptions()).findings

    assert isinstance(found[0].error, SpecError)
    assert "There is no action incr. Did you mean inc?" in str(found[0].error)


def test_a_property_with_a_role_is_one_property_per_instance(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(f"""{SPEC}
@always
def low(c: C) -> bool:
    return c.n < 4

@always
@eventually
def moves(c: C, high: bool) -> bool:
    return (c.n > 2) == high

def top(c: C) -> bool:
    return c.n == 4

def rest(c: C) -> bool:
    return c.n <= 1

def quiet() -> bool:
    return all(c.n <= 1 for c in cs)

back = leads_to(top, rest)
calm = leads_to(top, quiet)
""")
    model = load(spec)
    found = reference.explore(model, SearchOptions(properties=("low",))).findings

    assert [
        *("low(C#0)", "low(C#1)"),
        *("moves(C#0, False)", "moves(C#0, True)", "moves(C#1, False)", "moves(C#1, True)"),
        *("back(C#0)", "back(C#1)", "calm(C#0)", "calm(C#1)"),
    ] == [p.name for p in model.properties]
    assert {"low(C#0)", "low(C#1)"} == {f.property for f in found}


@BOTH
@pytest.mark.parametrize(
    "text",
    [
        "@always\ndef p():\n    return old(cs[0].n) <= cs[0].n",
        "@exists\ndef p():\n    return old(cs[0].n) == 0",
        "@action\ndef keep():\n    cs[0].n = old(cs[0].n)",
    ],
)
def test_what_was_before_is_asked_of_steps_only(
    text: str, optimize: bool, engine: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SPEC + text)

    found = engine.explore(load(path, optimize=optimize), SearchOptions()).findings

    assert isinstance(found[0].error, SpecError)
    assert found[0].error.code == "SW121"
    assert "old(...) is called outside a property of steps." in found[0].error.message


GIVEN = """
from statewalk import *
from statewalk.dsl.values.stored import freeze

class Item(Record):
    k: int = 0
    xs: list[int] = []

class Box(State):
    xs: list[int] = []
    s: set[int] = set()
    d: dict[str, list[int]] = {"a": []}
    item: Item = Item()
    items: list[Item] = [Item()]

    @action
    def go(self) -> None:
        require(len(self.xs) < 2)
        self.xs.append(1)
        self.s.add(len(self.xs))
        self.d["a"].append(1)
        self.item.k += 1
        self.item.xs.append(1)
        self.items[0].k += 1

box = Box()
deadlock(False)

def item() -> Item:
    return box.item

@on_step
def there() -> bool:
    given = old(GIVEN)
    return READ + 1 == (lambda given: READ)(GIVEN)

@always
def ahead() -> bool:
    here = (lambda given: READ)(GIVEN)
    return all((lambda given: READ)(s.after(lambda: GIVEN)) == here + 1 for s in next_steps())
"""


@pytest.mark.sampled(6)
@BOTH
@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("box.xs", "len(given)"),
        ("box.xs", "sum(x for x in given)"),
        ("box.s", "len(given)"),
        ("box.d", "len(given['a'])"),
        ("box.d['a']", "len(given)"),
        ("box.d.values()", "sum(len(v) for v in given)"),
        ("box.d.items()", "sum(len(v) for k, v in given)"),
        ("dict(box.d).values()", "sum(len(v) for v in given)"),
        ("box.item", "given.k"),
        ("box.item", "len(given.xs)"),
        ("box.item.xs", "len(given)"),
        ("box.items", "given[0].k"),
        ("box.items[0]", "given.k"),
        ("item()", "given.k"),
        ("(box.item, [box.xs])", "given[0].k"),
        ("(box.item, [box.xs])", "len(given[1][0])"),
        ("{'x': box.xs}", "len(given['x'])"),
        ("{box.item}", "next(iter(given)).k"),
        ("[i for i in box.items]", "given[0].k"),
        ("Item(1, box.xs)", "len(given.xs)"),
        ("len(box.xs) / 1", "given"),
        ("freeze(box.d)", "len(given['a'])"),
    ],
)
def test_what_is_given_out_of_another_state_is_a_value_of_that_state(
    given: str, read: str, optimize: bool, engine: ModuleType, tmp_path: Path
) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(GIVEN.replace("GIVEN", given).replace("READ", read))
    found = engine.explore(load(spec, optimize=optimize), SearchOptions())

    assert () == tuple(found.findings)
    assert 3 == found.counts.distinct


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "given",
    ["(x for x in box.xs)", "iter(box.xs)", "map(abs, box.xs)", "lambda: box.xs", "box.xs.count"],
)
@pytest.mark.parametrize("word", ["old", "after"])
def test_what_would_look_at_a_state_later_is_not_given_out(
    word: str, given: str, tmp_path: Path
) -> None:
    spec = tmp_path / "spec.py"
    asked = (
        f"old({given})" if word == "old" else f"[s.after(lambda: {given}) for s in next_steps()]"
    )
    mark = "on_step" if word == "old" else "always"
    text = GIVEN.partition("@on_step")[0]
    spec.write_text(f"{text}\n@{mark}\ndef p() -> bool:\n    return bool({asked})\n")
    error = reference.explore(load(spec), SearchOptions()).findings[0].error

    assert isinstance(error, SpecError)
    assert "SW121" == error.code
    assert f"{word}(...) cannot return" in error.message
