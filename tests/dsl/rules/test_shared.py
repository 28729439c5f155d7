"""Changes and memory besides the state, as far as the text shows them (SW102, SW104)."""

from pathlib import Path

import pytest

from statewalk.dsl.errors import SpecErrors
from statewalk.dsl.loader import load

SPEC = """
import functools
from statewalk import *
deadlock(False)
class Job(Record):
    n: int = 0
class C(Role):
    n: int = 0
    xs: list[int] = []
    @action
    def go(self) -> None:
        {body}
SEEN, TABLE, SOME, JOB, NESTED = [], {{}}, set(), Job(), {{1: [1]}}
c = C()
cs, by = [c], {{1: [c]}}
def helper() -> None:
    SEEN.append(1)
@functools.cache
def remembered(n: int) -> int:
    return n + 1
@functools.cache
def stale() -> int:
    return c.n
@init
def begin() -> None:
    SOME.add(1)
"""
SHARED = {
    "SEEN.append(1)": "SEEN.append(1) changes 'SEEN'",
    "helper()": "SEEN.append(1) changes 'SEEN'",
    "SEEN[0] = 1": "SEEN[0] = ... changes 'SEEN'",
    "TABLE[self.n] = 1": "TABLE[self.n] = ... changes 'TABLE'",
    "del TABLE[1]": "del TABLE[1] changes 'TABLE'",
    "SOME.add(1)": "SOME.add(1) changes 'SOME'",
    "JOB.n += 1": "JOB.n = ... changes 'JOB'",
    "NESTED[1].append(2)": "NESTED[1].append(2) changes 'NESTED'",
    "cs.append(self)": "cs.append(self) changes 'cs'",
}
FINE = [
    "cs[0].n = 1",
    "by[1][0].n = 1",
    "SEEN = []; SEEN.append(1)",
    "self.xs.append(len(SEEN))",
    "self.n = remembered(1)",
    "xs = list(SEEN); xs.append(1)",
    "for JOB in [Job()]: JOB.n = 1",
]


def written(folder: Path, body: str) -> Path:
    path = folder / "spec.py"
    path.write_text(SPEC.format(body=body))
    return path


@pytest.mark.parametrize("body", SHARED)
def test_a_change_of_something_of_the_module_is_refused(body: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(written(tmp_path, body))

    [error] = caught.value.errors
    assert error.code == "SW102"
    assert (
        error.message
        == SHARED[body] + ", a variable of the module, which is not part of the state."
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", FINE)
def test_what_is_in_the_state_or_local_is_not(body: str, tmp_path: Path) -> None:
    assert load(written(tmp_path, body)).actions


def test_a_cache_of_what_is_in_the_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(written(tmp_path, "self.n = stale()"))

    [error] = caught.value.errors
    assert error.code == "SW104"
    assert "'stale' reads the state, but functools.cache returns" in error.message


CLASSES = """
import functools
from typing import ClassVar
from statewalk import *
class Node(Role):
    leader: ClassVar[int] = -1
    n: int = 0
    {inside}
    @action
    def go(self) -> None:
        require(self.n < 3)
        self.n += 1
        {step}
class Plain:
    v = 0
class Job(Record):
    n: int = 0
    @functools.cached_property
    def twice(self) -> int:
        return 2 * self.n
def total() -> int:
    return node.n
def more(n: int) -> int:
    return n + 1
node = Node()
{below}
"""
ATTRIBUTES = {
    "Node.leader = self.index": "Node.leader = ... changes an attribute of a class",
    "type(self).leader = 1": "type(self).leader = ... changes an attribute of a class",
    "self.__class__.leader += 1": "self.__class__.leader = ... changes an attribute of a class",
    "Plain.v = self.n": "Plain.v = ... changes an attribute of a class",
    "del Plain.v": "del Plain.v changes an attribute of a class",
    "total.calls = 1": "total.calls = ... changes an attribute of a function",
}
CACHES = {
    "cached = functools.cache(total)": "cached()",
    "cached = functools.lru_cache(maxsize=None)(total)": "cached()",
    "cached = functools.lru_cache(total)": "cached()",
    "cached = functools.cache(lambda: 2 * node.n)": "cached()",
}


def of_class(folder: Path, inside: str = "pass", step: str = "pass", below: str = "") -> Path:
    path = folder / "spec.py"
    path.write_text(CLASSES.format(inside=inside, step=step, below=below))
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize("value", ["[]", "{}", "set()", "[1, 2]", "Bag()", "bytearray(2)"])
def test_what_has_no_type_in_the_body_of_a_role_is_refused(value: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(of_class(tmp_path, f"entries = {value}"))

    [error] = caught.value.errors
    assert "SW102" == error.code
    assert error.message.startswith("Node.entries has no type, so it is no field:")
    assert error.at is not None
    assert (8, 5) == (error.at.line, error.at.column)


@pytest.mark.parametrize("value", ["(1, 2)", "frozenset({1})", "3", "'text'", "None", "range(3)"])
def test_constants_of_a_class_need_no_type(value: str, tmp_path: Path) -> None:
    assert load(of_class(tmp_path, f"entries = {value}")).actions


def test_a_subclass_gives_a_field_another_default(tmp_path: Path) -> None:
    below = "class Other(Node):\n    xs = [1]\nother = Other()"

    assert load(of_class(tmp_path, "xs: list[int] = []", below=below)).actions


@pytest.mark.parametrize("step", ATTRIBUTES)
def test_an_attribute_of_a_class_or_function_is_no_state(step: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(of_class(tmp_path, step=step))

    [error] = caught.value.errors
    assert "SW102" == error.code
    assert error.message == f"{ATTRIBUTES[step]}, which is not part of the state."


@pytest.mark.parametrize("below", CACHES)
def test_a_cache_that_is_no_decorator_is_refused_too(below: str, tmp_path: Path) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(of_class(tmp_path, step=f"self.n = {CACHES[below]}", below=below))

    [error] = caught.value.errors
    assert "SW104" == error.code
    assert "'cached' reads the state, but functools.cache returns" in error.message


def test_a_cached_property_of_a_role_is_refused(tmp_path: Path) -> None:
    inside = "@functools.cached_property\n    def twice(self) -> int: return 2 * self.n"
    with pytest.raises(SpecErrors) as caught:
        load(of_class(tmp_path, inside, "self.n = self.twice"))

    [error] = caught.value.errors
    assert "SW104" == error.code
    assert "functools.cached_property returns" in error.message


@pytest.mark.parametrize("step", ["self.n = cached(1)", "self.n = Job(n=2).twice"])
def test_a_cache_of_what_is_given_to_it_is_taken(step: str, tmp_path: Path) -> None:
    assert load(of_class(tmp_path, step=step, below="cached = functools.cache(more)")).actions
