"""The text of a function says where it is in memory: no spec makes one."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import StatewalkError

PYTHON = """
from statewalk import *
def f(x): return x
g = lambda x: x
class S(State):
    t: str = ""
    @action
    def go(self) -> None:
        self.t = TEXT
s = S()
"""
FIZZ = """
def f(x):
    return x
g = lambda x: x
action Init:
    t = ""
atomic action Go:
    t = TEXT
"""
TEXTS = ["str(f)", "repr(g)", "str([f])", "'%s' % f", "'%s %s' % (1, g)", "'{}'.format(f)"]
FINE = ["str(f(1))", "'%s' % len('f')", "'{}'.format(g(2))", "str([str(f) for f in [1]])[:1]"]


def written(folder: Path, dialect: str, text: str) -> Path:
    path = folder / f"spec.{dialect}"
    path.write_text((PYTHON if dialect == "py" else FIZZ).replace("TEXT", text))
    return path


@pytest.mark.parametrize("dialect", ["py", "fizz"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_of_a_function_is_refused(dialect: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(StatewalkError, match="differs from run"):
        check(written(tmp_path, dialect, text), engine="reference")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dialect", ["py", "fizz"])
@pytest.mark.parametrize("text", FINE)
def test_a_text_of_what_it_gives_is_not(dialect: str, text: str, tmp_path: Path) -> None:
    assert "holds" == check(written(tmp_path, dialect, text), engine="reference").verdict


def test_nor_is_there_one_in_a_text_with_holes(tmp_path: Path) -> None:
    with pytest.raises(StatewalkError, match="differs from run"):
        check(written(tmp_path, "py", "f'{f}'"), engine="reference")
