"""Two things of one name in the modules of a spec are refused where a name is all that tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import check, load, replay
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
ACTION = "from statewalk import *\n@action\ndef go() -> None:\n    pass\n"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (MODULE, MODULE, "two classes called C: ma.C and mb.C"),
        (MODULE + "class K(Enum):\n    A = 1\n", "from statewalk import *\nfrom enum import Enum\n"
         "class K(Enum):\n    A = 1\n", "two classes called K"),
        (MODULE + "class M(Record):\n    n: int = 0\n", "from statewalk import *\n"
         "class M(Record):\n    n: int = 0\n", "two classes called M"),
        (MODULE + "class C2(Role):\n    n: int = 0\n", "from statewalk import *\n"
         "class C2(Record):\n    n: int = 0\n", "two classes called C2"),
        (MODULE + WITNESS, WITNESS, "two properties called w"),
        (MODULE + WITNESS, "from statewalk import *\nw = leads_to(lambda: True, lambda: True)\n",
         "two properties called w"),
        (MODULE + WITNESS.replace("def w", "@named('Deadlock')\ndef w"), "", "in every run"),
        (MODULE + ACTION, ACTION, "two actions called go"),
        (MODULE + ACTION, ACTION.replace("go()", "other()").replace("action", 'action(name="go")'),
         "two actions called go"),
        (MODULE + 'K = symmetric_values("k", 3)\n',
         'from statewalk import *\nK = symmetric_values("k", 2)\n', "k0 is in two groups"),
    ],
)  # fmt: skip
def test_two_things_of_one_name_are_refused(
    first: str, second: str, said: str, tmp_path: Path
) -> None:
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


def test_a_role_may_be_derived_from_one_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "ma.py").write_text(MODULE.replace("x = C()", ""))
    (tmp_path / "spec.py").write_text(
        "from statewalk import *\nimport ma\nclass C(ma.C):\n    m: int = 0\nx = C()\n"
        "@always\ndef ok() -> bool:\n    return x.n < 2\n"
    )

    run = check(tmp_path / "spec.py", engine="reference")

    assert ("violated", 3) == (run.verdict, run.counts.depth)


def test_the_one_with_instances_is_meant_wherever_it_is(tmp_path: Path) -> None:
    (tmp_path / "ma.py").write_text(MODULE)
    (tmp_path / "spec.py").write_text(
        "from statewalk import *\nimport ma\nclass C(Role):\n    z: set[int] = set()\n"
        "    n: str = ''\n"
        "    @action\n    def more(self) -> None:\n        self.z.add(1)\n"
        "@always\ndef ok() -> bool:\n    return ma.x.n < 2\n"
    )

    run = check(tmp_path / "spec.py", engine="reference", out=tmp_path / "run")

    assert ("violated", 3) == (run.verdict, run.counts.depth)
    assert replay(tmp_path / "run" / "ok.trace.json").reproduced


def test_one_that_is_made_in_the_beginning_is_a_twin_too(tmp_path: Path) -> None:
    (tmp_path / "ma.py").write_text(MODULE)
    (tmp_path / "spec.py").write_text(
        "from statewalk import *\nimport ma\nclass C(State):\n    n: int = 0\n"
        "@init\ndef begin() -> None:\n    C()\n"
        "@always\ndef ok() -> bool:\n    return ma.x.n < 9\n"
    )

    with pytest.raises(SpecError, match="SW126 There are two classes called C"):
        load(tmp_path / "spec.py")


def test_a_type_means_what_its_module_calls_so(tmp_path: Path) -> None:
    (tmp_path / "ma.py").write_text(
        "from __future__ import annotations\nfrom enum import Enum\n"
        + MODULE
        + "class Size(Enum):\n    A = 1\n"
    )
    (tmp_path / "spec.py").write_text(
        "from __future__ import annotations\nfrom typing import Literal\n"
        "from statewalk import *\nimport ma\nSize = Literal['s', 'm']\n"
        "class D(State):\n    size: Size = 's'\n"
        "    @action\n    def grow(self) -> None:\n        self.size = 'm'\n"
        "d = D()\n"
        "@always\ndef ok() -> bool:\n    return d.size == 's'\n"
    )

    run = check(tmp_path / "spec.py", engine="reference")

    assert ("violated", 2) == (run.verdict, run.counts.depth)


def test_looking_ahead_tells_an_action_of_a_module_from_that_of_a_role(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(
        "from statewalk import *\n"
        "class D(Role):\n    n: int = 0\n"
        "    @action\n    def go(self) -> None:\n        require(self.n < 1)\n"
        "        self.n += 1\n"
        "d = D()\n"
        "@action\ndef go() -> None:\n    pass\n"
        "@always\ndef ok() -> bool:\n    return enabled(D.go)\n"
    )

    run = check(tmp_path / "spec.py", engine="reference")

    assert "violated" == run.verdict
