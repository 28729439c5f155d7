"""A naive interpreter of .fizz text, as an oracle: threads as explicit continuations.

It walks over the syntax tree that the parser gives and keeps, for each thread, what is still to be
done: for each call a stack of blocks and loops with the place in them, and all locals, whether
anything reads them or not. Whether a step has done something is noted while it runs. Nothing is
known beforehand, and nothing is shared with the translation of .fizz files but the parser.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from statewalk.dsl.blocks import tree
from tests.dsl.flows.parts import (
    Actor,
    Call,
    Entry,
    NotPossible,
    World,
    block,
    kept,
    stored_names,
)

Choose = Callable[[Sequence[Any]], Any]


class Names(dict[str, Any]):
    """Names as a statement sees them: locals before variables; what is new is local."""

    def __init__(self, machine: Machine, call: Call) -> None:
        super().__init__()
        self.machine, self.call = machine, call

    def __getitem__(self, name: str) -> Any:
        if name == "self" and self.call.actor is not None:
            return self.call.actor
        for names in (self.call.locals, self.machine.world.variables, self.machine.makers):
            if name in names:
                return names[name]
        raise KeyError(name)

    def __setitem__(self, name: str, value: Any) -> None:
        known = name not in self.call.locals and name in self.machine.world.variables
        (self.machine.world.variables if known else self.call.locals)[name] = value


class Machine:
    """Runs one step of one thread. ``flag`` says what it has done so far:

    idle: nothing; resumed: nothing, but it goes on with a suspended run; acted: something;
    chose: a choice was made, and nothing came after it.

    ``gone`` are actors whose runs ended in this step.
    """

    default_flow = "serial"

    def __init__(self, module: ast.Module, world: World, choose: Choose) -> None:
        self.world = world
        self.choose = choose
        self.flag = "idle"
        self.at_once = False
        self.here = False  # the step ends at this place, before anything else
        self.gone: list[Any] = []
        self.result: Any = None
        self.calls: list[Call] = []
        self.functions: dict[tuple[str, str], tree.Func] = {}
        self.inits: dict[str, tree.Act] = {}
        self.makers: dict[str, Any] = {}
        for part in module.body:
            role = part.name if isinstance(part, tree.Role) else ""
            for member in part.body if isinstance(part, tree.Role) else [part]:
                if isinstance(member, tree.Func):
                    self.functions[role, member.name] = member
                elif isinstance(member, tree.Act) and role and member.name == "Init":
                    self.inits[role] = member
            if role:
                self.makers[role] = lambda role=role: self.make(role)

    # -- whole steps --------------------------------------------------------------------------
    def start(self, node: tree.Act | tree.Func | tree.Assertion, actor: Actor | None) -> None:
        """The first step of an action."""
        self.enter(Call(node, actor, {}))
        self.run()

    def proceed(self, calls: list[Call]) -> None:
        """A further step of a suspended thread."""
        self.calls, self.flag = calls, "resumed"
        self.run()

    def whole(self, node: tree.Act | tree.Func | tree.Assertion, actor: Actor | None = None) -> Any:
        """Run something that is one step, whatever it calls; what it returns."""
        saved = (self.calls, self.at_once)
        self.calls, self.at_once = [], True
        self.start(node, actor)
        self.calls, self.at_once = saved
        return self.result

    def make(self, role: str) -> Actor:
        """A new actor, after its Init."""
        actor = Actor(role, sum(a.role == role for a in self.world.actors))
        self.world.actors.append(actor)
        if role in self.inits:
            self.whole(self.inits[role], actor)
        return actor

    def enter(self, call: Call) -> None:
        """Begin a call."""
        body, flow = block(call.node.body, getattr(call.node, "flow", None) or self.default_flow)
        self.calls.append(call)
        self.push(body, flow)

    def run(self) -> None:
        """Run until the step ends. No calls are left when the thread is over."""
        while self.calls:
            while self.calls and self.top.ended():
                if self.end_block():
                    return self.check()
            if self.calls and self.step():
                while not self.here and self.calls and self.top.ended():
                    self.end_block(pending=True)
                return self.check()
        return self.check()

    def check(self) -> None:
        """A step that did nothing does not exist."""
        if self.flag == "idle" and not self.at_once:
            raise NotPossible

    # -- places -------------------------------------------------------------------------------
    @property
    def call(self) -> Call:
        """The innermost call."""
        return self.calls[-1]

    @property
    def top(self) -> Entry:
        """The innermost block or loop."""
        return self.call.stack[-1]

    def push(self, body: tuple[ast.stmt, ...], flow: str) -> None:
        """Enter a block. Entering one whose order or choice is open is a choice."""
        kind = {"parallel": "any", "oneof": "one"}.get(flow, "seq")
        entry = Entry(kind, body, flow, rest=tuple(range(len(body))) if kind == "any" else ())
        self.call.stack.append(entry)
        if kind != "seq":
            self.flag = "idle"
        if kind == "one":
            entry.at = self.choose(range(len(body)))

    def inherited(self) -> str:
        """The flow of branches and loops: in blocks without an order they are atomic."""
        return self.top.flow if self.top.kind == "seq" else "atomic"

    def end_statement(self, pending: bool = False) -> bool:
        """Move on after a statement; whether the step ends with it."""
        top, acted = self.top, self.flag == "acted" and not self.at_once
        if top.kind == "seq":
            top.at += 1
            return top.flow == "serial" and acted
        if top.kind == "one":
            top.over = True
            return False
        if top.kind == "any":
            # where a step ended inside one of several statements, the block is left in the next
            top.over = not top.rest and not (pending and len(top.body) > 1)
            return bool(top.rest) and acted
        return top.flow in ("serial", "parallel") and acted

    def end_block(self, pending: bool = False) -> bool:
        """Leave a block, and perhaps its function; whether the step ends with it."""
        self.call.stack.pop()
        if self.call.stack:
            return self.end_statement(pending)
        return self.leave(None, pending)

    def leave(self, value: Any, pending: bool = False) -> bool:
        """Leave a function; whether the step ends with it."""
        left = self.calls.pop()
        if isinstance(left.node, tree.Act) and left.node.name == "Init" and left.actor is None:
            self.world.variables = {n: left.locals[n] for n in stored_names(left.node.body)}
        self.result, target = value, left.target
        if not self.calls:
            return True
        if target is not None:
            self.assign(target, value)
            self.flag = "acted"
        return self.end_statement(pending)

    # -- expressions --------------------------------------------------------------------------
    def value(self, node: ast.expr, **more: Any) -> Any:
        """The value of an expression."""
        names = Names(self, self.call)
        if more:
            names.call = Call(self.call.node, self.call.actor, {**self.call.locals, **more})
        return eval(compile(ast.Expression(node), "<fizz>", "eval"), {}, names)

    def execute(self, node: ast.stmt) -> None:
        """Do a simple statement."""
        module = ast.Module([node], [])
        exec(compile(module, "<fizz>", "exec"), {}, Names(self, self.call))

    def assign(self, target: ast.expr, value: Any) -> None:
        """Give a name or a field a value."""
        if isinstance(target, ast.Name):
            Names(self, self.call)[target.id] = value
        else:
            assert isinstance(target, ast.Attribute)
            setattr(self.value(target.value), target.attr, value)

    def called(self, node: ast.stmt) -> tuple[ast.Call, tree.Func, Actor | None] | None:
        """The function of the specification that a statement calls, and whose it is."""
        value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
        value = value.value if isinstance(value, ast.YieldFrom) else value
        if not isinstance(value, ast.Call):
            return None
        if isinstance(value.func, ast.Name):
            found = self.functions.get(("", value.func.id))
            return (value, found, None) if found else None
        assert isinstance(value.func, ast.Attribute)
        actor = self.value(value.func.value)
        if not isinstance(actor, Actor) or (actor.role, value.func.attr) not in self.functions:
            return None
        return value, self.functions[actor.role, value.func.attr], actor

    # -- statements ---------------------------------------------------------------------------
    def step(self) -> bool:
        """Do what the place says; whether the step ends after it."""
        top = self.top
        if self.flag == "chose":
            self.flag = "idle"
        if top.kind in ("for", "while", "any for"):
            return self.turn(top)
        if top.kind == "any":
            if not top.rest:
                top.over = True
                return False
            top.at = self.choose(top.rest)
            top.rest = tuple(r for r in top.rest if r != top.at)
        return self.statement(top.body[top.at])

    def turn(self, loop: Entry) -> bool:
        """Begin the next turn of a loop, or leave it."""
        node: Any = loop.node
        more = self.value(node.test) if loop.kind == "while" else loop.rest
        if not more:
            self.call.stack.pop()
            return self.end_statement()
        at = self.choose(range(len(loop.rest))) if loop.kind == "any for" else 0
        if loop.kind != "while":
            self.call.locals[node.target.id] = loop.rest[at]
            loop.rest = loop.rest[:at] + loop.rest[at + 1 :]
        self.push(kept(node.body), loop.flow)
        return False

    def statement(self, node: ast.stmt) -> bool:
        """Do a statement; whether the step ends after it."""
        found = self.called(node)
        if found is not None:
            value, function, actor = found
            names = [a.arg for a in function.args.args]
            given = dict(zip(names, map(self.value, value.args), strict=True))
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            self.enter(Call(function, actor, given, target))
            return False
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Yield):
            self.end_statement()
            self.here = True
            return True
        if isinstance(node, ast.Pass):
            self.flag = "acted"
            if self.top.kind == "seq":
                self.top.at += 1
                return False
            return self.end_statement()
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr):
            self.execute(node)
            self.flag = "acted"
            return self.end_statement()
        if isinstance(node, tree.Require):
            return self.require(node)
        if isinstance(node, tree.Choice):
            return self.choice(node)
        if isinstance(node, ast.Return):
            value_ = None if node.value is None else self.value(node.value)
            if len(self.calls) == 1 and value_ is not None:
                self.flag = "acted"
            return self.leave(value_)
        return self.compound(node)

    def require(self, node: tree.Require) -> bool:
        """A guard; after it going on is no longer reason enough for a step."""
        if not self.value(node.test):
            raise NotPossible
        if self.flag == "resumed":
            self.flag = "idle"
        return self.end_statement()

    def choice(self, node: tree.Choice) -> bool:
        """A choice; what was done before it no longer counts."""
        options = list(self.value(node.options))
        if node.condition is not None:
            assert isinstance(node.target, ast.Name)
            word = node.target.id
            options = [o for o in options if self.value(node.condition, **{word: o})]
        if not options:
            raise NotPossible
        self.assign(node.target, options[self.choose(range(len(options)))])
        self.flag = "chose"
        self.end_statement()
        return False

    def compound(self, node: ast.stmt) -> bool:
        """A statement with statements in it, or one that leaves such a statement."""
        flow = self.inherited()
        if isinstance(node, ast.If):
            taken = node.body if self.value(node.test) else node.orelse
            if not taken:
                return self.end_statement()
            if taken is node.orelse and len(taken) == 1 and isinstance(taken[0], ast.If):
                return self.compound(taken[0])
            self.push(kept(taken), flow)
        elif isinstance(node, tree.FlowBlock):
            self.push(kept(node.body), node.flow)
        elif isinstance(node, ast.For | ast.While):
            flow = getattr(node, "flow", None) or ("parallel" if self.top.kind == "any" else flow)
            if isinstance(node, ast.While) and self.top.kind == "any":
                flow = flow if getattr(node, "flow", None) else "atomic"
            kind = "while" if isinstance(node, ast.While) else "for"
            rest = tuple(self.value(node.iter)) if isinstance(node, ast.For) else ()
            kind = "any for" if flow == "parallel" else kind
            self.call.stack.append(Entry(kind, (), flow, rest=rest, node=node))
        elif isinstance(node, tree.ChoiceBlock):
            assert isinstance(node.target, ast.Name)
            options = list(self.value(node.options))
            if self.flag == "resumed":
                self.flag = "idle"
            if not options:
                return self.end_statement()
            self.call.locals[node.target.id] = options[self.choose(range(len(options)))]
            self.flag = "idle"
            self.push(kept(node.body), flow)
        else:
            assert isinstance(node, ast.Break | ast.Continue)
            while self.top.node is None:
                self.call.stack.pop()
            if isinstance(node, ast.Break):
                self.call.stack.pop()
            return self.end_statement()
        return False
