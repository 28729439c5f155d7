"""A spec may import its own modules in every way that Python has; they are run as part of it."""

import sysconfig
from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from statewalk.dsl.source.texts import is_installed
from tests.cases import some

MODEL = """
from statewalk import Constant, Role, action, always, require
LIMIT: Constant[int] = 2
class Node(Role):
    n: int = 0
    @action
    def up(self) -> None:
        require(self.n < LIMIT)
        self.n += step(1)
def step(k: int) -> int:
    return k
"""
USE = """
from statewalk import always, deadlock
{line}
deadlock(False)
node = {name}()
@always
def small() -> bool:
    return node.n <= 9
"""
ABSOLUTE = [
    ("import pkg.model", "pkg.model.Node"),
    ("import pkg.model as m", "m.Node"),
    ("from pkg import model", "model.Node"),
    ("from pkg import model as m, plain", "m.Node"),
    ("from pkg.model import Node", "Node"),
    ("from pkg.model import *", "Node"),
    ("import pkg.plain, pkg.model", "pkg.model.Node"),
    ("import pkg.model\nimport pkg.plain", "pkg.model.Node"),
    ("import pkg.inner.model", "pkg.inner.model.Node"),
    ("import pkg.inner.model as m", "m.Node"),
    ("from pkg.inner import model", "model.Node"),
    ("from pkg.inner.model import Node", "Node"),
    ("from pkg.inner.again import Node", "Node"),
    ("import pkg.inner.again", "pkg.inner.again.Node"),
]
INSIDE = [
    ("from . import model", "model.Node"),
    ("from .model import Node", "Node"),
    ("from .inner import model", "model.Node"),
    ("from .inner.model import Node", "Node"),
    ("from .inner.again import Node", "Node"),
    ("import pkg.model", "pkg.model.Node"),
    ("from pkg import model", "model.Node"),
]
FIRST = {
    "nothing": "",
    "a function": "from statewalk import always",
    "the model": "from .model import Node",
    "the module": "from . import model",
    "everything": "from pkg.model import *\nfrom pkg import inner",
    "plain": "from .plain import NUMBER",
}


def written(folder: Path, first: str | None) -> Path:
    package = folder / "pkg"
    (package / "inner").mkdir(parents=True)
    if first is not None:
        (package / "__init__.py").write_text(first + "\n")
        (package / "inner" / "__init__.py").write_text("")
    (package / "plain.py").write_text("NUMBER = 3\n")
    (package / "model.py").write_text(MODEL)
    (package / "inner" / "model.py").write_text(MODEL)
    (package / "inner" / "again.py").write_text("from ..model import Node, LIMIT\n")
    return package


BELOW = [(line, name, first) for line, name in ABSOLUTE for first in (None, *FIRST.values())]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("line", "name", "first"), some(BELOW, every=8))
def test_a_module_below_a_package_is_part_of_the_spec(
    line: str, name: str, first: str | None, tmp_path: Path
) -> None:
    written(tmp_path, first)
    path = tmp_path / "spec.py"
    path.write_text(USE.format(line=line, name=name))

    given = [dict.fromkeys(load(path).constants, n) for n in (2, 4)]

    counts = [check(path, constants=each, engine="reference").counts for each in given]

    assert [3, 5] == [c.distinct for c in counts]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
@pytest.mark.parametrize(("line", "name"), some(INSIDE, every=2))
def test_a_spec_inside_a_package_imports_what_is_beside_it(
    line: str, name: str, first: str, tmp_path: Path
) -> None:
    path = written(tmp_path, first) / "spec.py"
    path.write_text(USE.format(line=line, name=name))

    assert 3 == check(path, engine="reference").counts.distinct


def test_two_loads_share_nothing(tmp_path: Path) -> None:
    written(tmp_path, "")
    path = tmp_path / "spec.py"
    path.write_text(USE.format(line="import pkg.model", name="pkg.model.Node"))

    first, second = (load(path).classes["Node"] for _ in range(2))

    assert first is not second


@pytest.mark.parametrize(
    "line", ["import pkg.nothing", "from pkg import nothing", "import nothing.x"]
)
def test_a_module_that_is_not_there_is_named_with_its_place(line: str, tmp_path: Path) -> None:
    written(tmp_path, "")
    path = tmp_path / "spec.py"
    path.write_text(f"{line}\n")

    with pytest.raises(SpecError, match="nothing") as refused:
        load(path)

    assert ("SW303", 1) == (refused.value.code, refused.value.at and refused.value.at.line)


def test_python_is_not_asked_where_it_lies_while_a_spec_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.13 imports a module to find out, which would ask us again before there is an
    answer.
    """
    monkeypatch.setattr(sysconfig, "get_path", {}.__getitem__)
    is_installed.cache_clear()
    (tmp_path / "spec.py").write_text("from typing import Literal\n" + MODEL + "node = Node()\n")

    assert 3 == check(str(tmp_path / "spec.py"), engine="reference").counts.distinct
