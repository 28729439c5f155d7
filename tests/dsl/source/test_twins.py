"""Two things of one name in the modules of a spec are refused: a state would take them for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import load
from statewalk.dsl.errors import SpecError

MODULE = """
from statewalk import *
from enum import Enum

class C(State):
    n: int = 0
    @action
    def up(self) -> None:
        self.n = (self.n + 1) % 3

x = C()
"""
WITNESS = "from statewalk import *\n@exists\ndef w() -> bool:\n    return True\n"


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (MODULE, MODULE, "two classes called C, in ma and mb"),
        (MODULE + "class K(Enum):\n    A = 1\n", "from statewalk import *\nfrom enum import Enum\n"
         "class K(Enum):\n    A = 1\n", "two classes called K"),
        (MODULE + "class M(Record):\n    n: int = 0\n", "from statewalk import *\n"
         "class M(Record):\n    n: int = 0\n", "two classes called M"),
        (MODULE + WITNESS, WITNESS, "two properties called w"),
    ],
)  # fmt: skip
def test_twins_are_refused(first: str, second: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "ma.py").write_text(first)
    (tmp_path / "mb.py").write_text(second)
    (tmp_path / "spec.py").write_text(
        "from statewalk import *\nimport ma, mb\n"
        "@always\ndef ok() -> bool:\n    return ma.x.n < 9\n"
    )

    with pytest.raises(SpecError) as caught:
        load(tmp_path / "spec.py")

    assert "SW126" == caught.value.code
    assert said in str(caught.value)
