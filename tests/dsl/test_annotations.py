from __future__ import annotations

import sys
from typing import Any, ClassVar

import pytest

from statewalk.checker.states.json import Classes
from statewalk.dsl.annotations import annotations_of, copy_annotations, unevaluated
from statewalk.dsl.values.records import Record, field_names

lazy = pytest.mark.skipif(sys.version_info < (3, 14), reason="lazy from Python 3.14 on")


def ran(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "annotated", "ClassVar": ClassVar, "Record": Record}
    exec(compile(text, "annotated.py", "exec", dont_inherit=True), names)
    return names


def test_annotations_are_those_of_the_body_alone_in_its_order() -> None:
    text = """
class Base:
    inherited: int = 0
class Own(Base):
    number: int = 0
    label: str
    shared: ClassVar[int] = 1
    quoted: "Missing | None" = None
class Bare(Own): pass
"""
    names = ran(text)

    own = {"number": int, "label": str, "shared": ClassVar[int], "quoted": "Missing | None"}
    assert own == annotations_of(names["Own"])
    assert list(own) == [*annotations_of(names["Own"])]
    assert {} == annotations_of(names["Bare"]) == annotations_of(object)


def test_future_annotations_are_strings() -> None:
    text = "from __future__ import annotations\nclass Own:\n    peer: Own | None = None"

    assert {"peer": "Own | None"} == annotations_of(ran(text)["Own"])


def test_a_class_that_is_made_by_a_call_has_annotations() -> None:
    made = type("Made", (Record,), {"__annotations__": {"a": Any, "b": Any}})

    assert {"a": Any, "b": Any} == annotations_of(made)
    assert ("a", "b") == field_names(made)
    assert ("a", "b") == field_names(Classes({"Read": {"record": ["a", "b"]}}).known["Read"])


@lazy
def test_names_that_come_later_or_never_do_not_hide_a_field() -> None:
    text = """
class Node(Record):
    peer: Node | None = None
    others: list[Later] = []
    shared: ClassVar[Later] = None
    unknown: Nowhere.Here = None
class Later(Record): pass
"""
    node = ran(text)["Node"]

    assert ("peer", "others", "unknown") == field_names(node)
    assert ["peer", "others", "shared", "unknown"] == [*annotations_of(node)]


def test_annotations_of_functions_are_copied_and_not_evaluated() -> None:
    names = ran("def f(a: int, b: 'Later') -> bool: pass\ndef g(): pass")
    copy_annotations(names["f"], names["g"])

    assert {"a": int, "b": "Later", "return": bool} == names["g"].__annotations__
    assert unevaluated(names["f"]) == unevaluated(names["g"])


@lazy
def test_copying_annotations_evaluates_no_name() -> None:
    names = ran("def f(a: Nowhere) -> bool: pass\ndef g(): pass")
    copy_annotations(names["f"], names["g"])

    with pytest.raises(NameError):
        names["g"].__annotations__  # noqa: B018  # evaluated when asked
