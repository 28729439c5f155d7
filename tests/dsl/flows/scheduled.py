"""Specs with calls that give way anywhere in expressions, and Python itself running the same text.

The oracle has nothing of this package: roles and states are plain objects, flows are generators,
and every schedule of the processes is run from the start.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.engines.reference import explore
from statewalk.checker.native import explore as explore_natively
from statewalk.dsl.model import Model
from tests.checker.native.agreement import told
from tests.dsl.flows.replayed import load_text

MOST_SCHEDULES = 1000
Final = tuple[Any, ...]

_HEAD = """
class World(State):
    a: int = 1
    b: int = 0
    xs: list[int] = [1, 0, 2]
    d: dict[int, int] = {0: 1, 1: 0}
w = World()
class Process(Role):
    f: int = 0
    done: bool = False
    started: bool = False
    def later(self, n: int = 1) -> Flow[int]:
        w.b = (w.b + n) % 5
        yield
        return (n + w.a) % 5
    def twice(self, n: int) -> Flow[int]:
        return n + (yield from self.later(w.a)) + w.b + (yield from self.later(n))
    def mix(self, a: int, b: int = 2, c: int = 3) -> int:
        w.b = (w.b + a) % 5
        return (a * 4 + b * 2 + c) % 7
"""
_FORMS = (
    "({} + {}) % 7", "({} - {}) % 5", "({} and {})", "({} or {})", "({} and {} or {})",
    "({} if {} else {})", "int({} < {})", "int({} < {} <= {})", "int(not {})",
    "self.mix({}, {})", "self.mix({}, c={}, b={})", "self.mix(*[{}, {}], c={})",
    "self.mix(*w.xs[:2], c={})", "self.mix({}, **{{'c': {}}})", "[{}, *w.xs, {}][{} % 3]",
    "({}, {})[{} % 2]", "{{{}: {}, 5: {}}}.get({}, 0)", "len(f'{{{}}}{{{}:0{{{} % 3 + 1}}}}')",
    "(x := {} % 5)", "(y := {} % 5)", "sum([v + x for v in [{}, {}]])", "max(v + x for v in w.xs)",
    "sum([(x := v % 5) for v in [{}, {}]])", "(lambda v: v + x)({})", "w.xs[{} % 3]",
    "sum(w.xs[{} % 2:{} % 4])", "w.d.get({} % 3, {})", "int({} in [{}, {}])",
)  # fmt: skip
_ATOMS = ("0", "1", "2", "x", "y", "w.a", "w.b", "self.f", "len(w.xs)", "w.xs[-1]", "sum(w.xs)")
_CALLS = ("(yield from self.later({}))", "(yield from self.twice({}))", "(yield from self.later())")
_SIMPLE = (
    "x = {}", "y = {}", "w.a = {} % 5", "w.a += {}", "self.f -= {}", "w.xs[{} % 3] += {}",
    "x += {}", "w.d[{} % 3] = {}", "w.d[{} % 2] += {}", "w.a = w.b = {} % 5", "self.mix({}, {})",
    "yield", "assert {} > -99, {}", "if len(w.xs) < 6:\n    w.xs.append({} % 5)",
    "for x in w.xs[:2]: w.a += x",
    "try:\n    x = 6 // y\nexcept ZeroDivisionError as e:\n    x = len(str(e))",
    "match ({}, {}):\n    case (0, y): pass\n    case (x, _): pass",
    "x, *rest = [{}, {}, 3]\ny = len(rest)",
    "del y\nyield\ntry:\n    x += y\nexcept NameError:\n    y = 2", "if {}: return",
    "def add(n):\n    return n + x\ny = add(3)",
)  # fmt: skip
_HEADS = (
    "if {}:", "if {} < {}:", "for x in [{}, {}]:", "for x in w.xs:", "for x, y in enumerate(w.xs):",
    "for y in range({} % 3):", "for x in sorted(w.d):", "for x, y in list(zip(w.xs, [{}, 2])):",
)  # fmt: skip


class Bodies:
    """Makes texts of processes."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.calls = 0

    def expression(self, depth: int) -> str:
        if self.calls and self.random.random() < 0.25:
            self.calls -= 1
            form = self.random.choice(_CALLS)
        elif not depth or self.random.random() < 0.25:
            return self.random.choice(_ATOMS)
        else:
            form = self.random.choice(_FORMS)
        flat = form.startswith(("len(f", "sum([", "max("))  # Python has no := or quotes there
        return self.filled(form, 0 if flat else depth - 1)

    def filled(self, form: str, depth: int) -> str:
        given = [self.expression(max(depth, 0)) for _ in range(form.replace("{{", "").count("{}"))]
        return form.format(*given, *["0"] * 4)

    def block(self, depth: int, looping: bool = False) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            if depth and self.random.random() < 0.4:
                head = self.filled(self.random.choice(_HEADS), 1)
                inside = self.block(depth - 1, looping or head.startswith("for"))
                lines += [head, *("    " + line for line in inside)]
                if self.random.random() < 0.3:
                    lines += ["else:", "    " + self.filled("w.b += {}", 1)]
            elif looping and self.random.random() < 0.15:
                word = self.random.choice(["break", "continue"])
                lines += [self.filled("if {} > 2:", 1), f"    {word}"]
            else:
                lines += self.filled(self.random.choice(_SIMPLE), 2).split("\n")
        return lines

    def body(self) -> list[str]:
        self.calls = self.random.randint(1, 3)
        start = ["require(not self.started)", "self.started = True", "x = 1", "y = 2"]
        return [*start, *self.block(2), "self.f = x * 5 + y"]

    def spec(self) -> str:
        """Two processes, or one alone."""
        text = _HEAD
        for number in range(self.random.choice([1, 2, 2])):
            text += f"class P{number}(Process):\n    @action\n    def go(self) -> Flow[None]:\n"
            text += "        yield from self.work()\n        self.done = True\n"
            text += "    def work(self) -> Flow[None]:\n"
            text += "".join(f"        {line}\n" for line in [*self.body(), "yield"])
            text += f"p{number} = P{number}()\n"
        return text


class _Plain:
    """A role or state of the oracle: its fields are those of its class."""

    def __init__(self) -> None:
        for cls in reversed(type(self).__mro__):
            for name in cls.__dict__.get("__annotations__", {}):
                setattr(self, name, copy.deepcopy(getattr(type(self), name)))


def _world(code: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"State": _Plain, "Role": _Plain, "Flow": list}
    given |= {"action": lambda f: f, "require": lambda condition: None}
    exec(code, given)
    return given


def by_python(text: str) -> set[Final] | None:
    """Return what there is at the end of every schedule; None if one of them ends with an
    exception.

    Raises:  OverflowError for too many schedules.
    """
    code = compile("from __future__ import annotations\n" + text, "text", "exec")
    found: set[Final] = set()
    todo: list[tuple[int, ...]] = [()]
    for _ in range(MOST_SCHEDULES):
        if not todo:
            return found
        schedule = todo.pop()
        world = _world(code)
        processes = [world[name] for name in ("p0", "p1") if name in world]
        running = {at: p.go() for at, p in enumerate(processes)}
        try:
            for at in schedule:
                if next(running[at], "over") == "over":
                    del running[at]
        except Exception:
            return None
        if running:
            todo += [(*schedule, at) for at in running]
        else:
            w = world["w"]
            seen = (w.a, w.b, tuple(w.xs), tuple(sorted(w.d.items())))
            found.add((*seen, *(p.f for p in processes)))
    raise OverflowError


def by_checker(model: Model) -> set[Final]:
    """The same of the reachable states in which everyone is done."""
    whole = ({**model.fixed, **state} for state in _states(model))
    return {_final(s) for s in whole if all(v for p, v in s.items() if p[2] == "done")}


def _final(state: Any) -> Final:
    w = {path[2:]: value for path, value in state.items() if path[0] == "World"}
    entries = {path[2]: value for path, value in w.items() if path[:2] == ("d", "key")}
    d = entries or dict(w[("d",)].items())
    fs = [state[path] for path in sorted(p for p in state if p[2:] == ("f",))]
    return (w[("a",)], w[("b",)], tuple(w[("xs",)]), tuple(sorted(d.items())), *fs)


def _states(model: Model) -> Iterator[Any]:
    seen, todo = set(), [dict(s) for s in model.initial_states]
    while todo:
        state = todo.pop()
        key = frozenset(state.items())
        if key not in seen:
            seen.add(key)
            yield state
            for action in model.actions:
                todo += [model.successor(state, o) for o in model.outcomes(action, state)]


def compare(folder: Path, seed: int) -> bool:
    """Compare what Python and the engines say of a seed; whether it was small enough."""
    text = Bodies(seed).spec()
    try:
        expected = by_python(text)
    except OverflowError:
        return False
    model = load_text(folder, text)
    options = SearchOptions(keep_going=True)
    result = explore(model, options)
    errors = [str(f.error) for f in result.findings if f.error]

    assert (expected is None) == bool(errors), (errors, text)
    if expected is not None:
        assert told(result) == told(explore_natively(model, options)), text
        assert expected == by_checker(model), text
    return True
