"""Warnings about changes of replaced values (SW608)."""

from pathlib import Path

import pytest

from statewalk.dsl.loader import load

HEAD = """
from statewalk import *
class Op(Record):
    stage: int = 0
    parts: list[int] = []
class C(Role):
    op: Op = Op()
    xs: list[int] = []
    table: dict[int, Op] = {}
    to: "C | None" = None
    kept: list[Op] = []
    @action
    def go(self, other: "C") -> None:
"""
TAIL = "cs = [C(), C()]\n"

LOST = {
    "a record": "op = self.op; self.op = Op(); op.stage = 1",
    "a list": "xs = self.xs; self.xs = []; xs.append(1)",
    "a dict": "table = self.table; self.table = {}; table[1] = Op()",
    "something in a record": "parts = self.op.parts; self.op = Op(); parts.clear()",
    "on both ways": "op = self.op\nif self.xs: self.op = Op()\nelse: self.op = Op(1)\nop.stage = 1",
    "of another role": "op = other.op; other.op = Op(); op.stage += 1",
}
FINE = {
    "stored as it is": "op = self.op; self.op = op; op.stage = 1",
    "stored elsewhere after the change": (
        "op = self.op; self.op = Op(); op.stage = 1; self.kept.append(op)"
    ),
    "looked at after the change": "op = self.op; self.op = Op(); op.stage = 1; require(op.stage)",
    "read again": "op = self.op; self.op = Op(); op = self.op; op.stage = 1",
    "replaced on one way": "op = self.op\nif self.xs: self.op = Op()\nop.stage = 1",
    "changed before": "op = self.op; op.stage = 1; self.op = Op()",
    "another's": "op = self.op; other.op = Op(); op.stage = 1",
    "a role is itself": "to = self.to; self.to = other; require(to is not None); to.xs = [1]",
    "the role is another one": "op = other.op; other = self; other.op = Op(); op.stage = 1",
    "in a loop": "op = self.op\nfor n in range(2):\n    op.stage = n\n    self.op = Op()",
}


def warned(folder: Path, body: str) -> bool:
    path = folder / "spec.py"
    lines = [f"        {line}\n" for line in body.split("\n")]
    path.write_text(HEAD + "".join(lines) + TAIL)
    return "SW608" in [w.code for w in load(path).warnings]


@pytest.mark.parametrize("name", LOST)
def test_what_is_lost_is_warned_of(name: str, tmp_path: Path) -> None:
    assert warned(tmp_path, LOST[name])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FINE)
def test_what_is_not_lost_is_not(name: str, tmp_path: Path) -> None:
    assert not warned(tmp_path, FINE[name])
