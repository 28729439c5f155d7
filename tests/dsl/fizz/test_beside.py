"""Functions and constants of ``.star`` files beside a spec."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import check
from statewalk.checker.cli import main
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load

HELPERS = '''"""Functions for counters."""
LIMIT = 3

def next(n):
    """The one after."""
    return wrap(n + 1)

def wrap(n):
    return n % LIMIT

def reset(r):
    if r.n == 1:
        return
    r.n = 1
'''
SPEC = """
role R:
    action Init:
        self.n = 0
    atomic action Reset:
        helpers.reset(self)

action Init:
    n = 0
    r = R()

atomic action Up:
    n = helpers.next(n)

always assertion Small:
    return n < helpers.LIMIT
"""


def spec(folder: Path, helpers: str = HELPERS, text: str = SPEC) -> Path:
    (folder / "helpers.star").write_text(helpers, encoding="utf-8")
    path = folder / "spec.fizz"
    path.write_text(text, encoding="utf-8")
    return path


def test_functions_and_constants_are_those_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = spec(tmp_path)

    found = check(path, engine="reference")
    more = check(path, engine="reference", constants={"helpers_LIMIT": 5})
    main(["convert", str(path)])
    converted = tmp_path / "converted.py"
    converted.write_text(capsys.readouterr().out, encoding="utf-8")

    assert ("holds", 6) == (found.verdict, found.counts.distinct)
    assert ("holds", 10) == (more.verdict, more.counts.distinct)
    assert found.counts == check(converted, engine="reference").counts
    assert str(tmp_path / "helpers.star") in load(path).inputs


def test_names_of_the_spec_come_first(tmp_path: Path) -> None:
    text = "action Init:\n    helpers = record(next=1)\natomic action A:\n    helpers.next = 2\n"
    text += "always assertion P:\n    return helpers.next < 3\n"

    assert "holds" == check(spec(tmp_path, text=text), engine="reference").verdict


@pytest.mark.parametrize(
    ("helpers", "code", "words"),
    [
        (HELPERS + "load('other.star', 'f')\n", "SW153", "cannot have this"),
        (HELPERS + "action Up:\n    pass\n", "SW153", "cannot have this"),
        (HELPERS + "def f(LIMIT):\n    return LIMIT\n", "SW153", "a local in it"),
        (HELPERS + "def f():\n    return n\n", "SW153", "no name 'n'"),
        (HELPERS + "def f():\n    return open('x')\n", "SW155", "open"),
        (HELPERS + "def f(x):\n    return x.__class__\n", "SW155", "__class__"),
        (HELPERS + "def f(:\n", "SW150", ""),
        ("def wrap(n):\n    return n\n", "SW101", "next"),
    ],
)
def test_such_a_file_is_held_against_the_same_rules(
    helpers: str, code: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(SpecError) as caught:
        load(spec(tmp_path, helpers))

    assert code == caught.value.code
    assert words in str(caught.value)
