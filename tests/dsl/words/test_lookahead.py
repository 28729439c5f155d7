"""Looking one step ahead in properties, and properties per role instance."""

from pathlib import Path
from types import ModuleType

import pytest

from statewalk.checker import native
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load

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


@pytest.mark.parametrize("engine", [reference, native])
@pytest.mark.parametrize("optimize", [True, False])
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


@pytest.mark.parametrize("engine", [reference, native])
@pytest.mark.parametrize("optimize", [True, False])
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
    assert "old(...) is asked where no step is looked at." in found[0].error.message
