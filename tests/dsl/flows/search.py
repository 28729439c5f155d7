"""Every state of a .fizz specification by the naive interpreter, and what holds of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import yaml

from statewalk.dsl.blocks import tree
from statewalk.dsl.fizz.names import targets_of
from statewalk.dsl.fizz.text.parse import parse, split_front_matter
from statewalk.dsl.view import next_script
from tests.dsl.flows.bisimilar import Graph
from tests.dsl.flows.machine import Machine
from tests.dsl.flows.parts import Actor, Call, Entry, NotPossible, World

START = "@start"  # field with what an ephemeral field goes back to


@dataclass(frozen=True)
class Frozen:
    """A state: values of variables and fields, and suspended threads in any order."""

    variables: tuple[Any, ...]
    actors: tuple[Any, ...]
    threads: tuple[Any, ...] = ()
    starts: int = 0


@dataclass
class Found:
    """The result of a search. ``unfit`` names the assertions that are violated."""

    graph: Graph = field(default_factory=Graph)
    violated: set[str] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)


class TooMany(Exception):
    """More states than the search may look at."""


class Search:
    """The search of one specification."""

    def __init__(self, text: str) -> None:
        body, front, _ = split_front_matter(text)
        self.module = parse(body, "spec.fizz")
        options = yaml.safe_load(front) or {}
        bounds = options.get("options", {})
        self.crash = self.role_crash = bounds.get("crash_on_yield", True)
        self.most_starts = bounds.get("max_actions")
        self.most = min(bounds.get("max_concurrent_actions", 2), self.most_starts or 100)
        self.deadlock = options.get("deadlock_detection", True)
        self.of_action: dict[str, Any] = options.get("action_options", {})
        self.actions: list[tuple[str, tree.Act]] = []
        self.ephemeral: dict[str, list[str]] = {}
        self.assertions: list[tree.Assertion] = []
        self.init: tree.Act | None = None
        for part in self.module.body:
            if isinstance(part, tree.Act) and part.name == "Init":
                self.init = part
            elif isinstance(part, tree.Act):
                self.actions.append(("", part))
            elif isinstance(part, tree.Assertion):
                self.assertions.append(part)
            elif isinstance(part, tree.Role):
                acts = [m for m in part.body if isinstance(m, tree.Act) and m.name != "Init"]
                self.actions += [(part.name, a) for a in acts]
                for decorator in part.decorators:
                    self.ephemeral[part.name] = _ephemeral(decorator, part)

    def run(self, most: int = 2000) -> Found:
        """All states that can be reached. Raises `TooMany` beyond ``most`` states."""
        found = Found()
        todo = list(self.beginnings())
        found.graph.initial = [self.key(s) for s in todo]
        while todo:
            state = todo.pop()
            if self.key(state) in found.graph.steps:
                continue
            if len(found.graph.steps) >= most:
                raise TooMany
            steps = found.graph.steps[self.key(state)] = []
            found.graph.labels[self.key(state)] = self.shown(state)
            self.judge(found, state)
            if state.starts == self.most_starts and not state.threads:
                continue
            free = False
            for label, fault, after in self.successors(state):
                free |= not fault
                steps.append((label, self.key(after)))
                todo.append(after)
                self.judge_step(found, state, after)
            if self.deadlock and not free and state.starts != self.most_starts:
                found.violated.add("Deadlock")
        return found

    def key(self, state: Frozen) -> Any:
        """Return what tells states apart: threads have no order."""
        return replace(state, threads=tuple(sorted(map(_told, state.threads))))

    # -- steps ------------------------------------------------------------------------------------
    def beginnings(self) -> Iterator[Frozen]:
        """The initial states."""
        assert self.init is not None
        for machine in self.ways(None, lambda m: m.whole(self.init)):
            for actor in machine.world.actors:
                for name in self.ephemeral.get(actor.role, ()):
                    setattr(actor, name + START, getattr(actor, name))
            yield self.frozen(machine, ())

    def machine(self, state: Frozen | None, choose: Any) -> Machine:
        """Return what takes a step from a state."""
        return Machine(self.module, thawed(state), choose)

    def ways(self, state: Frozen | None, run: Any) -> Iterator[Machine]:
        """Machines that have taken one step from a state, one for each way to choose."""
        script: list[int] | None = []
        while script is not None:
            taken: list[tuple[int, int]] = []

            def choose(options: Sequence[Any], script: Any = script, taken: Any = taken) -> Any:
                at = script[len(taken)] if len(taken) < len(script) else 0
                taken.append((at, len(options)))
                return options[at]

            machine = self.machine(state, choose)
            try:
                run(machine)
            except NotPossible:
                pass
            else:
                yield machine
            script = next_script(taken)

    def successors(self, state: Frozen) -> Iterator[tuple[str, bool, Frozen]]:
        """(what happens, whether it is a fault, state) of each step."""
        for at, thread in enumerate(state.threads):
            others = state.threads[:at] + state.threads[at + 1 :]
            name = _name_of(thread)
            for machine in self.ways(state, lambda m, t=thread: m.proceed(_calls(m, t))):
                yield f"{name} goes on", False, self.frozen(machine, others, state.starts)
            if self.crash and self.own(thread[0]).get("crash_on_yield", True):
                yield f"{name} crashes", True, replace(state, threads=others)
        for role, node in self.actions:
            for actor in self.actors_of(state, role):
                yield from self.begun(state, node, role, actor)
        if self.role_crash:
            for role in self.ephemeral:
                for index in self.actors_of(state, role):
                    yield f"{role}#{index} crashes", True, self.crashed(state, role, index)

    def actors_of(self, state: Frozen, role: str) -> list[int | None]:
        """The indices of the instances of a role; None for what belongs to none."""
        return [i for (r, i), _ in state.actors if r == role] if role else [None]

    def own(self, call: Any) -> dict[str, Any]:
        """The options of the action that a thread runs."""
        name = call[0].name if call[1] is None else f"{call[1][0]}#.{call[0].name}"
        plain = name.replace("#", "")
        return {**self.of_action.get(name, {}), **self.of_action.get(plain, {})}

    def full(self, state: Frozen, role: str, node: tree.Act) -> bool:
        """Return whether bounds keep an action from starting."""
        return bool(len(state.threads) >= self.most or state.starts == self.most_starts)

    def begun(
        self, state: Frozen, node: tree.Act, role: str, index: int | None
    ) -> Iterator[tuple[str, bool, Frozen]]:
        """The first steps of an action."""
        if self.full(state, role, node):
            return
        me = None if index is None else (role, index)
        mine = sum(t[0][:2] == (node, me) for t in state.threads)
        if mine >= self.own((node, me)).get("max_concurrent_actions", self.most):
            return
        starts = state.starts + (self.most_starts is not None)
        for machine in self.ways(state, lambda m: m.start(node, _actor(m.world, me))):
            name = node.name if me is None else f"{role}#{index}.{node.name}"
            yield name, False, self.frozen(machine, state.threads, starts)

    def crashed(self, state: Frozen, role: str, index: Any) -> Frozen:
        """After the crash of a role: its calls are gone, its ephemeral fields as they began."""
        threads = tuple(t for t in state.threads if all(c[1] != (role, index) for c in t))
        world = thawed(state)
        actor = _actor(world, (role, index))
        for name in self.ephemeral[role]:
            setattr(actor, name, getattr(actor, name + START))
        return replace(state, actors=_frozen_actors(world), threads=threads)

    def frozen(self, machine: Machine, others: tuple[Any, ...], starts: int = 0) -> Frozen:
        """The state after a step."""
        variables = machine.world.variables
        mine = (tuple(_frozen_call(c) for c in machine.calls),) if machine.calls else ()
        return Frozen(
            tuple(sorted((n, freeze(v)) for n, v in variables.items())),
            _frozen_actors(machine.world),
            (*others, *mine),
            starts,
        )

    # -- what is seen ---------------------------------------------------------------------------
    def shown(self, state: Frozen) -> Any:
        """Return what can be seen of a state: everything but where its threads are."""
        fields = [((*a, n), v) for a, fs in state.actors for n, v in fs if START not in n]
        variables = [(("", 0, n), v) for n, v in state.variables if type(v) is not Actor]
        seen = {k: v for k, v in [*variables, *fields] if not _is_actor(v)}
        return tuple(sorted(seen.items())), len(state.threads), state.starts

    def judge(self, found: Found, state: Frozen) -> None:
        """Evaluate the assertions about states."""
        for node in self.assertions:
            if node.kinds not in (("always",), ("exists",)):
                continue
            machine = self.machine(state, lambda options: options[0])
            holds = machine.whole(node)
            if node.kinds == ("exists",) and holds:
                found.reached.add(node.name)
            elif node.kinds == ("always",) and not holds:
                found.violated.add(node.name)

    def judge_step(self, found: Found, before: Frozen, after: Frozen) -> None:
        """Evaluate the assertions about steps."""
        for node in self.assertions:
            if node.kinds != ("transition",):
                continue
            worlds = [SimpleNamespace(**thawed(s).variables) for s in (before, after)]
            names = dict(zip([a.arg for a in node.args.args], worlds, strict=True))
            result = node.body[0]
            assert isinstance(result, ast.Return) and result.value is not None
            if not eval(compile(ast.Expression(result.value), "<fizz>", "eval"), {}, names):
                found.violated.add(node.name)


def _ephemeral(decorator: ast.expr, role: tree.Role) -> list[str]:
    """The fields that a crash sets back."""
    assert isinstance(decorator, ast.Call)
    (given,) = decorator.keywords
    listed = ast.literal_eval(given.value)
    init = next(m for m in role.body if isinstance(m, tree.Act) and m.name == "Init")
    targets = [t for s in init.body for t in targets_of(s)]
    fields = [t.attr for t in targets if isinstance(t, ast.Attribute)]
    return [f for f in fields if (f in listed) == (given.arg == "ephemeral")]


# -- values that states hold, and values that can be worked with ----------------------------------
def freeze(value: Any) -> Any:
    """A value as states hold it."""
    if isinstance(value, Actor):
        return ("@actor", *value.identity)
    return ("@list", *map(freeze, value)) if isinstance(value, list | range) else value


def _is_actor(value: Any) -> bool:
    return isinstance(value, tuple) and ("@actor" in value or any(map(_is_actor, value)))


def thaw(value: Any, world: World) -> Any:
    """A value of a state, to be worked with."""
    if not isinstance(value, tuple):
        return value
    if value[0] == "@actor":
        return _actor(world, value[1:])
    return [thaw(v, world) for v in value[1:]]


def _actor(world: World, me: tuple[Any, ...] | None) -> Any:
    if me is None:
        return None
    return next(a for a in world.actors if a.identity == me)


def thawed(state: Frozen | None) -> World:
    """A state to be worked with."""
    world = World()
    if state is not None:
        world.actors = [Actor(*who) for who, _ in state.actors]
        for actor, (_, fields) in zip(world.actors, state.actors, strict=True):
            for name, value in fields:
                setattr(actor, name, thaw(value, world))
        world.variables = {n: thaw(v, world) for n, v in state.variables}
    return world


def _frozen_actors(world: World) -> tuple[Any, ...]:
    return tuple(
        (a.identity, tuple(sorted((n, freeze(v)) for n, v in a.fields().items())))
        for a in world.actors
    )


def _frozen_call(call: Call) -> tuple[Any, ...]:
    me = call.actor.identity if call.actor is not None else None
    held = tuple(sorted((n, freeze(v)) for n, v in call.locals.items()))
    stack = tuple(
        (e.kind, e.body, e.flow, e.at, tuple(map(freeze, e.rest)), e.node, e.over)
        for e in call.stack
    )
    return call.node, me, held, call.target, stack


def _calls(machine: Machine, thread: tuple[Any, ...]) -> list[Call]:
    calls = []
    for node, me, held, target, stack in thread:
        values = {n: thaw(v, machine.world) for n, v in held}
        entries = [
            Entry(kind, body, flow, at, tuple(thaw(r, machine.world) for r in rest), node_, over)
            for kind, body, flow, at, rest, node_, over in stack
        ]
        calls.append(Call(node, _actor(machine.world, me), values, target, entries))
    return calls


def _name_of(thread: Any) -> str:
    node, me = thread[0][:2]
    return node.name if me is None else f"{me[0]}#{me[1]}.{node.name}"


def _told(thread: Any) -> str:
    return repr(
        [
            (
                id(node),
                me,
                held,
                id(target),
                [(e[0], *map(id, e[1]), *e[2:5], id(e[5]), e[6]) for e in stack],
            )
            for node, me, held, target, stack in thread
        ]
    )
