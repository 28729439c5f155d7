"""A function with blocks does in one step what its caller hides from the checker; it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.api import check
from statewalk.dsl.errors import SpecErrors, StatewalkError

SPEC = """
import functools, operator
from typing import Any
from statewalk import *
{head}
class A(State):
    n: int = 0
    m: int = 0
    def h(self) -> None:
        with serial():
            self.n += 1
            self.m += 1
    {inside}
    @action
    def go(self) -> None:
        require(self.n < 2)
        {body}
{after}
a = A()
deadlock(False)
@always
def same() -> bool:
    return a.n == a.m
"""
WAYS = {
    "a variable": ("", "f = self.h; f()", ""),
    "another name in the class": ("hh = h", "self.hh()", ""),
    "getattr": ("", "getattr(self, 'h')()", ""),
    "an argument": ("", "run(self.h)", "def run(f: Any) -> None:\n    f()"),
    "partial": ("", "functools.partial(self.h)()", ""),
    "map": ("", "list(map(A.h, [self]))", ""),
    "methodcaller": ("", "operator.methodcaller('h')(self)", ""),
    "a lambda of the module": ("", "run(self)", "run = lambda w: w.h()"),
    "a table": ("", "OPS['h'](self)", "OPS = {'h': A.h}"),
    "a default": (
        "", "do(self)", "def do(w: A, f: Any = lambda w: w.h()) -> None:\n    f(w)",
    ),
    "a method of Python's": (
        "def __call__(self) -> None:\n        with serial():\n            self.n += 1\n"
        "            self.m += 1",
        "self()",
        "",
    ),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("way", WAYS)
def test_a_function_that_gives_way_is_not_handed_on(way: str, tmp_path: Path) -> None:
    inside, body, after = WAYS[way]
    path = tmp_path / "spec.py"
    path.write_text(SPEC.format(head="", inside=inside, body=body, after=after))

    with pytest.raises(SpecErrors, match=r"SW116 '(h|__call__)' contains yield"):
        check(path, engine="reference")


def test_called_by_its_name_it_gives_way(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SPEC.format(head="", inside="", body="self.h()", after=""))

    assert "violated" == check(path, engine="reference").verdict


@pytest.mark.parametrize("how", ["a decorator", "another name of the block"])
def test_a_block_that_nobody_read_is_an_error_when_it_is_entered(how: str, tmp_path: Path) -> None:
    own = "def own(f: Any) -> Any:\n    return functools.wraps(f)(lambda *a: f(*a))\n"
    text = SPEC.format(head=own, inside="", body="self.h()", after="")
    if how == "a decorator":
        text = text.replace("    def h(self)", "    @own\n    def h(self)")
    else:
        text = text.replace("with serial():", "block = serial\n        with block():")
    path = tmp_path / "spec.py"
    path.write_text(text)

    found = check(path, engine="reference")

    assert "error" == found.verdict
    assert "SW116 with serial() runs in a function that cannot be suspended." in str(found)


@pytest.mark.parametrize("way", ["blocks", "yield"])
def test_super_in_what_gives_way_is_refused_before_the_search(way: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    block = "with serial():\n            self.n += 1\n            self.n += 1"
    body = block if way == "blocks" else "yield"
    called = "super().h()" if way == "blocks" else "yield from super().h()"
    path.write_text(
        "from statewalk import *\nclass A(State):\n    n: int = 0\n"
        f"    def h(self) -> None:\n        {body}\nclass B(A):\n    m: int = 0\n"
        "    @action\n    def go(self) -> None:\n        require(self.m < 2)\n"
        f"        self.m += 1\n        {called}\nb = B()\n"
    )

    with pytest.raises(StatewalkError, match=r"SW116 'go' cannot be suspended: it uses super\(\)"):
        check(path, engine="reference")
