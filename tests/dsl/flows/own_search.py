"""Specs of the embedded language for the naive interpreter: read as if they were .fizz text.

The functions are taken as they are written, with ``yield`` and blocks in them. In this language
every step is one, also one that does nothing, and a function is atomic unless it says otherwise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from statewalk.dsl.blocks import tree
from tests.dsl.flows.machine import Machine
from tests.dsl.flows.parts import Actor
from tests.dsl.flows.search import START, Frozen, Search

BLOCKS = ("atomic", "serial", "parallel", "oneof")


class OwnMachine(Machine):
    """The rules of the embedded language."""

    default_flow = "atomic"

    def check(self) -> None:
        return None


class OwnSearch(Search):
    """The search of one spec."""

    def __init__(self, text: str) -> None:
        self.spec = ast.parse(text)
        self.module = ast.Module([], [])
        self.most, self.most_starts = 10**6, None
        self.crash = self.role_crash = False
        self.deadlock = True
        self.of_action = {}
        self.actions, self.assertions, self.ephemeral = [], [], {}
        self.init = None
        self.inits: list[tree.Func] = []
        self.defaults: dict[str, dict[str, Any]] = {}
        self.made: list[tuple[str, str]] = []
        self.faults: set[str] = set()
        for part in self.spec.body:
            self._read(part)

    def _read(self, part: ast.stmt) -> None:
        if isinstance(part, ast.ClassDef):
            role = tree.Role()
            role.name, role.body = part.name, []
            self.defaults[part.name] = {}
            self.module.body.append(role)
            for member in part.body:
                if isinstance(member, ast.FunctionDef):
                    self._function(member, role.body, part.name)
                elif isinstance(member, ast.AnnAssign):
                    assert isinstance(member.target, ast.Name) and member.value is not None
                    value = ast.literal_eval(member.value)
                    self.defaults[part.name][member.target.id] = value
                    if "Ephemeral" in ast.unparse(member.annotation):
                        self.ephemeral.setdefault(part.name, []).append(member.target.id)
        elif isinstance(part, ast.FunctionDef):
            self._function(part, self.module.body, "")
        elif isinstance(part, ast.Assign):
            assert isinstance(part.value, ast.Call)
            self.made.append((ast.unparse(part.targets[0]), ast.unparse(part.value.func)))
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            self._option(part.value)

    def _option(self, call: ast.Call) -> None:
        word = ast.unparse(call.func)
        value = ast.literal_eval(call.args[0]) if call.args else None
        if word == "threads":
            self.most = value
        elif word == "deadlock":
            self.deadlock = value
        elif word == "crashes":
            given = {k.arg: ast.literal_eval(k.value) for k in call.keywords}
            self.crash = given.get("runs", value or False)
            self.role_crash = given.get("roles", value or False)

    def _function(self, node: ast.FunctionDef, into: list[ast.stmt], role: str) -> None:
        marks = {ast.unparse(d).partition("(")[0]: d for d in node.decorator_list}
        body = [_read(s) for s in node.body]
        made: Any
        if "action" in marks:
            made = tree.Act()
            call = marks["action"]
            assert isinstance(call, ast.Call)
            given = {k.arg: ast.literal_eval(k.value) for k in call.keywords}
            made.flow = given.get("flow")
            whole = f"{role}#.{node.name}" if role else node.name
            most = given.get("concurrent", 1)
            crash = given.get("crash", True)
            self.of_action[whole] = {"max_concurrent_actions": most, "crash_on_yield": crash}
            if given.get("fault"):
                self.faults.add(whole)
            self.actions.append((role, made))
        elif "always" in marks or "exists" in marks:
            made = tree.Assertion()
            made.kinds = tuple(marks)
            self.assertions.append(made)
        else:
            made = tree.Func()
            made.flow, made.args = None, node.args
            made.args.args = [a for a in node.args.args if a.arg != "self"]
            if "init" in marks:
                self.inits.append(made)
            into.append(made)
        made.name, made.body = node.name, body

    # -- what differs -----------------------------------------------------------------------------
    def machine(self, state: Frozen | None, choose: Any) -> Machine:
        made = super().machine(state, choose)
        result = OwnMachine(self.module, made.world, choose)
        for word in ("interrupt", "crash"):
            result.makers[word] = lambda actor, w=word: self._fall(result, actor, w == "crash")
        return result

    def _fall(self, machine: Machine, actor: Actor, loses: bool) -> None:
        machine.gone.append(actor.identity)
        for name in self.ephemeral.get(actor.role, ()) if loses else ():
            setattr(actor, name, getattr(actor, name + START))

    def beginnings(self) -> Iterator[Frozen]:
        def begin(machine: Machine) -> None:
            world = machine.world
            for name, role in self.made:
                actor = Actor(role, sum(a.role == role for a in world.actors))
                for field, value in self.defaults[role].items():
                    setattr(actor, field, value)
                world.actors.append(actor)
                world.variables[name] = actor
            for function in self.inits:
                machine.whole(function)

        for machine in self.ways(None, begin):
            for actor in machine.world.actors:
                for name in self.ephemeral.get(actor.role, ()):
                    setattr(actor, name + START, getattr(actor, name))
            yield self.frozen(machine, ())

    def successors(self, state: Frozen) -> Iterator[tuple[str, bool, Frozen]]:
        for label, fault, after in super().successors(state):
            yield label, fault or label.replace("#0", "#").replace("#1", "#") in self.faults, after

    def full(self, state: Frozen, role: str, node: tree.Act) -> bool:
        whole = f"{role}#.{node.name}" if role else node.name
        return whole not in self.faults and super().full(state, role, node)

    def frozen(self, machine: Machine, others: tuple[Any, ...], starts: int = 0) -> Frozen:
        left = tuple(t for t in others if not any(c[1] in machine.gone for c in t))
        return super().frozen(machine, left, starts)

    def shown(self, state: Frozen) -> Any:
        seen, threads, starts = super().shown(state)
        named = {("" if k[0] == "Shared" else k[0], *k[1:]): v for k, v in seen}
        return tuple(sorted(named.items())), threads, starts


def _read(node: ast.stmt) -> ast.stmt:
    """A statement with blocks, guards and choices as .fizz text has them."""
    for name in ("body", "orelse"):
        if isinstance(getattr(node, name, None), list):
            setattr(node, name, [_read(s) for s in getattr(node, name)])
    if isinstance(node, ast.With):
        block = tree.FlowBlock()
        word: Any = ast.unparse(node.items[0].context_expr).removesuffix("()")
        assert word in BLOCKS
        block.flow, block.body = word, node.body
        return block
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    word = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    if word == "require":
        assert isinstance(value, ast.Call)
        guard = tree.Require()
        guard.test = value.args[0]
        return guard
    if word == "any_of":
        assert isinstance(value, ast.Call) and isinstance(node, ast.Assign)
        choice = tree.Choice()
        choice.target, choice.options, choice.condition = node.targets[0], value.args[0], None
        return choice
    return node
