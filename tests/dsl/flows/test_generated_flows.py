"""Generated flows with ``yield``: compiled, plain and optimised, by the reference and the native
engine, and by an interpreter that replays real generators.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from statewalk.dsl.view import Endless
from tests.cases import examples
from tests.dsl.flows.replayed import agree

MANY = int(os.environ.get("FLOW_SPECS", "400"))

_NAMES = st.sampled_from(["x", "y", "self.f", "s.g", "op.n"])
_ATOMS = st.one_of(_NAMES, st.sampled_from(["0", "1", "2"]))
_SUMS = st.builds(lambda a, b: f"({a} + {b}) % 3", _ATOMS, _ATOMS)
_TESTS = st.builds(
    lambda a, o, b: f"{a} {o} {b}", _ATOMS, st.sampled_from(["<", "==", "!="]), _ATOMS
)


def _indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines] or ["    pass"]


@st.composite
def blocks(draw: st.DrawFn, depth: int = 2, looping: bool = False) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kinds = ["assign", "assign", "yield", "choose", "require", "call", "return", "replace"]
        kinds += ["if", "for", "while"] if depth else []
        kinds += ["break", "continue"] if looping else []
        kind = draw(st.sampled_from(kinds))
        if kind == "assign":
            lines.append(f"{draw(_NAMES)} = {draw(_SUMS)}")
        elif kind == "yield":
            lines.append("yield")
        elif kind == "choose":
            lines.append(f"{draw(st.sampled_from('xy'))} = any_of([0, 2])")
        elif kind == "require":
            lines.append(f"require({draw(_TESTS)})")
        elif kind == "return":
            lines += [f"if {draw(_TESTS)}:", f"    return {draw(_SUMS)}"]
        elif kind == "replace":
            lines += [f"self.op = Op(n={draw(_ATOMS)})", "op = self.op"]
        elif kind == "call":
            lines.append(f"{draw(st.sampled_from('xy'))} = yield from self.helper({draw(_ATOMS)})")
        elif kind == "if":
            lines += [f"if {draw(_TESTS)}:", *_indent(draw(blocks(depth - 1, looping)))]
            if draw(st.booleans()):
                lines += ["else:", *_indent(draw(blocks(depth - 1, looping)))]
        elif kind == "for":
            lines += ["for i in [0, 1]:", *_indent(draw(blocks(depth - 1, True)))]
        elif kind == "while":
            k = f"k{depth}"  # another one than that of a loop around
            inside = [f"{k} += 1", *draw(blocks(depth - 1, True))]
            lines += [f"{k} = 0", f"while {k} < 2:", *_indent(inside)]
        else:
            lines.append(f"if {draw(_TESTS)}:")
            lines += _indent([kind])
    return lines


@st.composite
def flows(draw: st.DrawFn) -> str:
    body = ["require(self.runs < 1)", "self.runs += 1", "x = 0", "y = 1", "op = self.op"]
    body += [*draw(blocks()), "yield"]
    body += [f"self.f = {draw(_SUMS)}"]
    helper = ["x = n", "y = n", "op = self.op", *draw(blocks(1)), "yield", f"return {draw(_SUMS)}"]
    # what its caller refers to must stay where it is
    helper = [line.replace("self.op = Op(n=", "op.n = (") for line in helper]
    lines = [
        "class Op(Record):",
        "    n: int = 0",
        "class S(State):",
        "    g: int = 0",
        "class P(Role):",
        "    f: int = 0",
        "    op: Op = Op()",
        "    runs: int = 0",
    ]
    lines += ["    @action", "    def go(self) -> Flow[None]:", *_indent(_indent(body))]
    lines += ["    def helper(self, n: int) -> Flow[int]:", *_indent(_indent(helper))]
    lines = [
        line.replace("yield from self.helper", "yield from self.leaf")
        if "helper(" in line and "def" not in line and at > 0 and _in_helper(lines, at)
        else line
        for at, line in enumerate(lines)
    ]
    lines += [
        "    def leaf(self, n: int) -> Flow[int]:",
        "        yield",
        "        return (n + s.g) % 3",
    ]
    lines += [
        "s = S()",
        "ps = [P() for _ in range(2)]",
        "@always",
        "def two() -> bool:",
        "    return s.g + ps[0].f < 4",
    ]
    return "\n".join(lines) + "\n"


def _in_helper(lines: list[str], at: int) -> bool:
    return any("def helper" in line for line in lines[:at])


@pytest.mark.thorough
@settings(max_examples=examples(40), deadline=None, suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]
@given(text=flows())
def test_generated_flows_agree(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    try:
        agree(tmp_path_factory.mktemp("flow"), text)
    except (OverflowError, Endless):  # too large for the naive interpreter; a loop without end
        return


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]
@given(text=flows())
def test_many_generated_flows_agree(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    try:
        agree(tmp_path_factory.mktemp("flow"), text)
    except (OverflowError, Endless):
        return
