"""Declarations outside the parts that are read are an error (SW108)."""

import textwrap
from pathlib import Path

import pytest

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines import reference
from statewalk.dsl.errors import SpecErrors
from statewalk.dsl.loader import load

SPEC = """
import functools
from statewalk import *
deadlock(False)
class C(Role):
    n: int = 0
    @action
    def go(self) -> None:
        require(self.n < 3)
        self.n += 1
{inside}
{after}
c = C()
@always
def small() -> bool:
    return c.n < 9
"""


def written(folder: Path, inside: str, after: str) -> Path:
    path = folder / "spec.py"
    lines = "".join(f"    {line}\n" for line in inside.splitlines())
    path.write_text(SPEC.format(inside=lines, after=after))
    return path


MARKED = "@action\ndef {name}(self) -> None:\n    self.n = 0"
AGAIN = "'{}' is defined again in line {}, which replaces this one."
WRAPS = "def wraps(f):\n    return functools.wraps(f)(lambda self: f(self))"
LEFT_OUT = [
    (f"{WRAPS}\n@wraps\n{MARKED.format(name='a')}", "", "'a' is marked with @action where"),
    (MARKED.format(name="go"), "", AGAIN.format("go", 12)),
    ("", "@always\ndef small():\n    return False", AGAIN.format("small", 17)),
    (MARKED.replace("def", "async def").format(name="stop"), "", "'stop' is an async function."),
    ("for _ in range(2):\n    " + MARKED.format(name="a").replace("\n", "\n    "), "", "'a' is"),
    ("", "for k in range(2):\n    @always\n    def p():\n        return c.n > k", "'p' is marked"),
    (
        "",
        "def f():\n    @always\n    def p():\n        return False\n    return p\nq = f()",
        "'p' is",
    ),
    (
        "",
        "def f():\n    @exists\n    def p():\n        return False\nf()",
        "'p' is marked with @ex",
    ),
    ("", "q = always(lambda: False)", "'<lambda>' is marked with @always where"),
    ("", "exec('@always\\ndef p():\\n    return False')", "'p' is marked with @always where"),
    ("", "C.late = action(lambda self: None)", "'<lambda>' is marked with @action"),
    (
        "",
        "def wrong(f):\n    return lambda: True\n@wrong\n@always\ndef p():\n    return False",
        "'p'",
    ),
    (
        "",
        "ps = [leads_to(lambda: True, lambda: False)]",
        "leads_to(<lambda>, <lambda>) has no name",
    ),
    (
        "",
        "def f():\n    class D(Role):\n        n: int = 0\n    return D()\nd = f()",
        "The role f.",
    ),
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("inside", "after", "message"), LEFT_OUT)
def test_what_would_be_left_out_is_said(
    inside: str, after: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(written(tmp_path, inside, after))

    [error] = caught.value.errors
    assert error.code == "SW108"
    assert error.message.startswith(message)


BACK = MARKED.format(name="back")
IN_A_BLOCK = textwrap.indent(BACK, "    ")
OTHER = "    @action\n    def back(self) -> None:\n        self.n = 7"
READ = [
    f"if True:\n{IN_A_BLOCK}",
    f"try:\n{IN_A_BLOCK}\nfinally:\n    pass",
    f"if False:\n{OTHER}\nelse:\n{IN_A_BLOCK}",
]


@pytest.mark.parametrize("inside", READ)
def test_what_stands_in_a_body_is_read(inside: str, tmp_path: Path) -> None:
    model = load(written(tmp_path, inside, ""))

    assert "back" in [a.name for a in model.actions]
    # n goes from 0 to 3 and back to 0
    assert reference.explore(model, SearchOptions()).counts.distinct == 4


def test_an_annotated_leads_to_is_read(tmp_path: Path) -> None:
    after = "lead: object = leads_to(lambda: c.n == 1, lambda: c.n == 2)"

    model = load(written(tmp_path, "", after))

    assert "lead" in [p.name for p in model.properties]


MISPLACED = [
    ("@always\ndef p(self) -> bool:\n    return True", "", "'p' is a method of C, but @always"),
    ("@exists\ndef p(self) -> bool:\n    return True", "", "'p' is a method of C, but @exists"),
    ("@init\ndef p(self) -> None:\n    self.n = 1", "", "'p' is a method of C, but @init"),
    ("", "@terminal\ndef p(c: C) -> bool:\n    return True", "'p' has parameters, but a function"),
    ("", "@constraint\ndef p(c: C) -> bool:\n    return True", "'p' has parameters, but a"),
    ("", "@init\ndef p(c: C) -> None:\n    c.n = 1", "'p' has parameters, but a function"),
]


@pytest.mark.parametrize(("inside", "after", "message"), MISPLACED)
def test_a_decorator_that_does_not_fit(
    inside: str, after: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecErrors) as caught:
        load(written(tmp_path, inside, after))

    [error] = caught.value.errors
    assert error.code == "SW113"
    assert error.message.startswith(message)


def test_a_property_of_each_instance(tmp_path: Path) -> None:
    model = load(written(tmp_path, "", "@always\ndef p(c: C) -> bool:\n    return c.n < 9"))

    assert reference.explore(model, SearchOptions()).counts.distinct == 4
