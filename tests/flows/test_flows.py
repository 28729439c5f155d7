"""Flows: what they mean, that both lowerings and a naive interpreter agree, and what identity they
have.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checker.engine import Exploration, SearchOptions
from checker.fingerprints import Fingerprints
from checker.native import explore as explore_natively
from checker.reference import explore
from dsl.errors import SpecError
from dsl.loader import load
from dsl.model import Model
from dsl.view import Endless, PlainView

_path = Path(__file__).parent / "naive.py"
_spec = importlib.util.spec_from_file_location("statewalk_naive_flows", _path)
assert _spec is not None and _spec.loader is not None
naive = importlib.util.module_from_spec(_spec)
sys.modules["statewalk_naive_flows"] = naive
_spec.loader.exec_module(naive)

MANY = int(os.environ.get("FLOW_SPECS", "400"))
HEAD = "from dsl import *\ndeadlock(False)\n"

SPECS = {
    "a lost update": """
class C(State):
    n: int = 0
class P(Role):
    done: int = 0
    @action
    def add(self) -> Flow[None]:
        require(self.done == 0)
        seen = c.n
        yield
        c.n = seen + 1
        self.done = 1
c = C()
ps = [P() for _ in range(2)]
@always
def nothing_lost() -> bool:
    return c.n == sum(p.done for p in ps)
""",
    "loops, break, continue and calls": """
class S(State):
    log: list[int] = []
class P(Role):
    runs: int = 0
    @action
    def work(self) -> Flow[None]:
        require(self.runs < 1)
        self.runs += 1
        total = 0
        for n in [1, 2, 3, 4]:
            if n == 2:
                continue
            if n == 4:
                break
            got = yield from self.step(n)
            total += got
        while total < 6:
            total += 1
            yield
        s.log.append(total)
    def step(self, n: int) -> Flow[int]:
        yield
        require(len(s.log) < 2)
        return n if len(s.log) == 0 else 2 * n
s = S()
ps = [P() for _ in range(2)]
@always
def short() -> bool:
    return len(s.log) <= 2 and all(n <= 8 for n in s.log)
""",
    "references across yields, and an interrupt": """
class Op(Record):
    stage: int = 0
class P(Role):
    op: Op = Op()
    crashes: int = 0
    wrote: int = 0
    @action
    def work(self) -> Flow[None]:
        require(self.wrote < 2)
        op = self.op
        op.stage += 1
        yield
        op.stage += 1
        x = any_of([1, 2])
        yield
        self.wrote += x
        self.op = Op()
    @action
    def crash(self) -> None:
        require(self.op.stage > 0 and self.crashes < 1)
        self.crashes += 1
        self.op = Op()
        interrupt(self)
ps = [P() for _ in range(2)]
@always
def staged() -> bool:
    return all(p.op.stage <= 2 for p in ps)
@always
def little() -> bool:
    return sum(p.wrote for p in ps) < 6
""",
    "several runs at once are anonymous": """
class P(Role):
    n: int = 0
    sent: int = 0
    @action(concurrent=2)
    def send(self, value: Literal[1, 2]) -> Flow[None]:
        require(self.sent < 2)
        self.sent += 1
        yield
        self.n += value
p = P()
@always
def bounded() -> bool:
    return p.n <= 4
""",
    "runs crash where they wait, and few are in flight": """
class S(State):
    n: int = 0
class P(Role):
    done: int = 0
    @action
    def add(self) -> Flow[None]:
        require(self.done == 0 and s.n < 3)
        self.done = 1
        seen = s.n
        yield
        s.n = seen + 1
        yield
        self.done = 2
    @action
    def again(self) -> None:
        require(self.done == 1)
        self.done = 0
s = S()
ps = [P() for _ in range(3)]
threads(2)
crashes(True)
@always
def small() -> bool:
    return s.n < 3
""",
    "a guard after a yield waits": """
class G(State):
    open: bool = False
    @action
    def unlock(self) -> None:
        self.open = True
class P(Role):
    at: int = 0
    @action
    def go(self) -> Flow[None]:
        require(self.at == 0)
        self.at = 1
        yield
        require(g.open)
        self.at = 2
g = G()
ps = [P() for _ in range(2)]
@always
def only_when_open() -> bool:
    return g.open or all(p.at < 2 for p in ps)
""",
}


def _load(folder: Path, text: str, *, optimize: bool = True) -> Model:
    path = folder / "spec.py"
    path.write_text(HEAD + "from typing import Literal\n" + text)
    return load(path, optimize=optimize)


def _plain_states(model: Model) -> set[int]:
    """Fingerprints of the reachable states without their flow slots."""
    fingerprints = Fingerprints(model.fields)
    seen, found = set(), set()
    todo: list[Any] = [dict(s) for s in model.initial_states]
    while todo:
        state = todo.pop()
        key = fingerprints.of_state(state)
        if key in seen:
            continue
        seen.add(key)
        found.add(fingerprints.of_state({p: v for p, v in state.items() if "@flow" not in p}))
        for action in model.actions:
            todo += [model.successor(state, o) for o in model.outcomes(action, state)]
    return found


def _facts(result: Exploration) -> object:
    return (
        result.counts,
        {f.property: (f.steps, f.failing) for f in result.findings},
        result.fired,
    )


def _violated(result: Exploration) -> set[str]:
    return {f.property for f in result.findings}


def _agree(folder: Path, text: str) -> None:
    options = SearchOptions(keep_going=True)
    model = _load(folder, text)
    lowered = explore(model, options)
    plain = explore(_load(folder, text, optimize=False), options)
    native = explore_natively(model, options)
    states, violated = naive.reachable(model)

    assert not [f.error for f in lowered.findings if f.error]
    assert _facts(plain) == _facts(lowered) == _facts(native)
    assert states == _plain_states(model)
    assert violated == _violated(lowered)


@pytest.mark.parametrize("name", SPECS)
def test_compiled_flows_agree_with_generators(name: str, tmp_path: Path) -> None:
    _agree(tmp_path, SPECS[name])


def test_dead_locals_do_not_split_states(tmp_path: Path) -> None:
    text = """
class P(Role):
    n: int = 0
    @action
    def go(self) -> Flow[None]:
        x = any_of([1, 2, 3])
        y = x - x
        yield
        self.n = y
p = P()
@always
def zero() -> bool:
    return p.n == 0
"""
    model = _load(tmp_path, text)

    assert explore(model, SearchOptions()).counts.distinct == 2


def test_the_result_of_an_earlier_call_is_dead(tmp_path: Path) -> None:
    text = """
class P(Role):
    n: int = 0
    @action
    def go(self) -> Flow[None]:
        require(self.n == 0)
        for _ in [1, 2]:
            got = yield from self.pick()
        self.n = 1
    def pick(self) -> Flow[int]:
        x = any_of([1, 2])
        yield
        return x
p = P()
"""
    model = _load(tmp_path, text)

    # 1, two in the first call, two in the second, and the end
    assert explore(model, SearchOptions()).counts.distinct == 6


def test_a_place_that_is_gone_is_reported(tmp_path: Path) -> None:
    text = """
class F(Record):
    size: int = 0
class S(State):
    files: dict[str, F] = {"a": F()}
    @action
    def drop(self) -> None:
        require("a" in self.files)
        del self.files["a"]
class P(Role):
    @action
    def grow(self) -> Flow[None]:
        require("a" in s.files)
        file = s.files["a"]
        yield
        file.size = 1
s = S()
p = P()
@always
def fine() -> bool:
    return True
"""
    result = explore(_load(tmp_path, text), SearchOptions(keep_going=True))
    errors = [f.error for f in result.findings if isinstance(f.error, SpecError)]

    assert "SW206" in [e.code for e in errors]


# -- generated flows
# -----------------------------------------------------------------------------------
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
            lines.append(f"self.op = Op(n={draw(_ATOMS)})")
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


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]
@given(text=flows())
def test_generated_flows_agree(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    try:
        _agree(tmp_path_factory.mktemp("flow"), text)
    except (OverflowError, Endless):  # too large for the naive interpreter; a loop without end
        return


@pytest.mark.slow
@settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck))  # pyright: ignore[reportArgumentType]
@given(text=flows())
def test_many_generated_flows_agree(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    try:
        _agree(tmp_path_factory.mktemp("flow"), text)
    except (OverflowError, Endless):
        return


def test_the_state_before_and_after_is_plain(tmp_path: Path) -> None:
    model = _load(tmp_path, SPECS["a lost update"])
    action = next(a for a in model.actions if a.name == "add")
    view = PlainView(model.initial_states[0])
    model.take(action, view)
    slot = ("P", 0, "@flow", "add")

    assert view.writes[slot] == (("P.add", 2, (("seen", 0), ("self", action.actor)), ""),)
