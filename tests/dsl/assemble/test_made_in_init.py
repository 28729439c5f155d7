"""A role that @init makes has the fields that one made beside it has, however they are used."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import check
from tests.cases import some

TYPES = {
    "dict[int, int]": "{2: 0}",
    "set[int]": "{2}",
    "frozenset[int]": "frozenset({2})",
    "list[int]": "[2]",
    "tuple[int, ...]": "(2,)",
    "int | None": "2",
}
USES = {
    "dict[int, int]": (
        "{x}[1] = 3",
        "require(2 in {x})",
        "{x} = {{1: 1}}",
        "del {x}[2]",
        "len({x})",
    ),
    "set[int]": ("{x}.add(3)", "require(2 in {x})", "{x} = {{1}}", "{x} |= {{7}}", "len({x})"),
    "frozenset[int]": ("require(2 in {x})", "{x} = frozenset({{1}})", "{x} |= {{7}}", "len({x})"),
    "list[int]": ("{x}.append(3)", "require(2 in {x})", "{x} = [1]", "{x}[0] = 4", "len({x})"),
    "tuple[int, ...]": ("{x} += (1,)", "require(2 in {x})", "{x} = (1,)", "len({x})"),
    "int | None": ("{x} = 3", "require({x} == 2)", "{x} = None"),
}
WAYS = {
    "beside": "box = Box({given})",
    "init": "@init\ndef start() -> None:\n    Box({given})",
    "helper": "def make() -> Box:\n    return Box({given})\n\n"
    "@init\ndef start() -> None:\n    make()",
}
SPEC = """
from __future__ import annotations
from statewalk import Role, action, init, require

class Box(Role):
    x: {kind}{default}
    n: int = 0

    @action
    def use(self) -> None:
        require(len(range(self.n)) < 3)
        self.n += 1
        {use}

{way}
"""


GIVEN = ("default", "given")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "use", "given"),
    some(((k, u, g) for k, uses in USES.items() for u in uses for g in GIVEN), every=11),
)
def test_where_a_role_is_made_is_all_one(tmp_path: Path, kind: str, use: str, given: str) -> None:
    found = {}
    for name, way in WAYS.items():
        value = TYPES[kind]
        path = tmp_path / f"{name}.py"
        path.write_text(
            SPEC.format(
                kind=kind,
                default=f" = {value}" if given == "default" else "",
                use=use.format(x="self.x"),
                way=way.format(given="" if given == "default" else f"x={value}"),
            )
        )
        run = check(path)
        found[name] = (run.verdict, run.result.counts)

    assert found["beside"] == found["init"] == found["helper"]
