"""Running flows: starting, suspending and continuing them.

A suspended flow is a value in the slot ``(role class, index, "@flow", action)``: a tuple of
frames, outermost first, each (function, place in it, live locals, where its result goes). Where
several runs of an action may be suspended at once, the slot holds a bag of these: they are
anonymous.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.flows.code import Compiler
from statewalk.dsl.flows.instructions import FlowCode, Instruction
from statewalk.dsl.flows.kept import begun, following, keep, restored, turns
from statewalk.dsl.lowering.compiling import RUNTIME, definition_of, install
from statewalk.dsl.lowering.lower import Lowering
from statewalk.dsl.source.known_effects import attribute
from statewalk.dsl.source.nodes import copied
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.state.refs import current_view, forbid_change
from statewalk.dsl.state.roles import Field, Role
from statewalk.dsl.values.stored import ABSENT, FrozenBag
from statewalk.dsl.view import Path
from statewalk.dsl.words.declare import any_of, require

MAX_FRAMES = 16
STARTS: Path = ("@module", 0, "@flow", "@starts")  # how many actions started, if limited
RUNNING: Path = ("@module", 0, "@flow", "@running")  # how many runs are in flight, if limited


class Flows:
    """The flows of one spec."""

    def __init__(self, fields: Mapping[tuple[str, str], Field]) -> None:
        self.fields = fields
        self.code: dict[str, FlowCode] = {}
        self.named: dict[str, Function] = {}
        self.by_name: dict[str, list[Function]] = {}  # by all names that they have in classes too
        self.known: dict[int, Function] = {}
        self.actions: dict[str, list[tuple[str, int]]] = {}
        self.limit: int | None = None
        self.most_starts: int | None = None
        self.crashes = False

    def compile_all(self, lowering: Lowering) -> None:
        """Compile every function of the spec that contains a yield, whatever the constants are."""
        found = [f for f in lowering.tree.functions if f.gives_way or f.is_flow]
        for function in found:
            same = self.named.setdefault(function.qualified, function)
            if same is not function:
                raise SpecError(
                    "SW116",
                    f"'{function.name}' cannot be suspended: {same.module.source.path} has a flow "
                    "of that name too.",
                    at=function.span(),
                    help="Give one of them another name.",
                )
            self.by_name.setdefault(function.name, []).append(function)
            self.known[id(function.function)] = function
            mark = function.marked("action")
            if mark is not None and function.is_flow:
                owner = function.owner.__name__ if function.owner else "@module"
                concurrent = int(mark.options.get("concurrent", 1))
                self.actions.setdefault(owner, []).append((function.name, concurrent))
        for function in found:
            self.code[function.qualified] = Compiler(lowering, function).run()
        self._find_other_names(lowering.tree)
        for function in found:
            refuse_plain_calls(function)
        options = lowering.tree.loading.declared.options
        self.limit = options.get("threads") if self.actions else None
        self.most_starts = options.get("most_starts")
        self.crashes = bool(options.get("crashes", False))
        for cls in lowering.tree.roles:
            cls._flows = self  # type: ignore[attr-defined]

    def _find_other_names(self, tree: SpecTree) -> None:
        """``other = flow`` in the body of a class, or in a module that is imported."""
        modules = [module.namespace for module in tree.loading.modules]
        for names in (*map(vars, tree.every_class()), *modules):
            for name, value in names.items():
                function = self.known.get(id(attribute(value, "__func__", value)))
                if function is not None and function.name != name:
                    self.by_name.setdefault(name, []).append(function)

    # -- the moves -------------------------------------------------------------------------------

    def start(
        self, function: Function, actor: Any, values: tuple[Any, ...], concurrent: int
    ) -> None:
        """Run the first step of a flow."""
        self.enter()
        path = slot_of(actor, function.name)
        held = current_view().get(path)
        if not getattr(current_view(), "unbounded", False):
            require(held is ABSENT or (concurrent > 1 and len(held) < concurrent))
        code = self.code[function.qualified]
        arguments = (actor, *values) if actor is not None else values
        frame = Frame(code, 0, code.bind(*arguments), "")
        suspended = self.run([frame])
        self._keep(path, suspended, concurrent)
        self._count(suspended is not ABSENT)

    def proceed(self, function: Function, actor: Any, concurrent: int) -> None:
        """Run a further step of a suspended flow."""
        path = slot_of(actor, function.name)
        held = current_view().get(path)
        require(held is not ABSENT)
        chosen: Any = held
        rest: Any = ABSENT
        if concurrent > 1:
            chosen = any_of([element for element, _ in held.counts()])
            rest = held.adjusted(chosen, -1)
        frames = [self.thawed(frame) for frame in chosen]
        # what it interrupts is suspended; it is not
        current_view().set(path, ABSENT if rest is ABSENT or not len(rest) else rest)
        binding.step = "resumed"
        suspended = self.run(frames)
        self._keep(path, suspended, concurrent)
        self._count(-(suspended is ABSENT))

    @property
    def guarded(self) -> bool:
        """Return whether every action has a guard of this class: see `enter`."""
        return self.limit is not None or self.most_starts is not None

    def enter(self) -> None:
        """Check the limits on running flows and on starts along a path."""
        if getattr(current_view(), "unbounded", False):
            return
        if self.limit is not None:
            running = current_view().get(RUNNING)
            require(running is ABSENT or running < self.limit)
        if self.most_starts is not None:
            starts = current_view().get(STARTS)
            starts = 0 if starts is ABSENT else starts
            require(starts < self.most_starts)
            current_view().set(STARTS, starts + 1)

    def used_up(self) -> bool:
        """Return whether no action may start any more on this path."""
        return self.most_starts is not None and current_view().get(STARTS) == self.most_starts

    def idle(self) -> bool:
        """Return whether nothing is suspended, where runs in flight are counted."""
        return current_view().get(RUNNING) is ABSENT

    def crash(self, slot: Path) -> None:
        """End a suspended flow at its current yield point."""
        held = current_view().get(slot)
        require(held is not ABSENT)
        left: Any = ABSENT
        if isinstance(held, FrozenBag):
            rest = held.adjusted(any_of([element for element, _ in held.counts()]), -1)
            left = rest if len(rest) else ABSENT
        current_view().set(slot, left)
        self._count(-1)

    def _count(self, more: int) -> None:
        """Keep the number of runs in flight."""
        if self.limit is not None and more:
            running = current_view().get(RUNNING)
            now = (0 if running is ABSENT else running) + int(more)
            current_view().set(RUNNING, now or ABSENT)

    @staticmethod
    def _keep(path: Path, suspended: Any, concurrent: int) -> None:
        if concurrent > 1:
            held = current_view().get(path)
            rest = FrozenBag() if held is ABSENT else held
            rest = rest if suspended is ABSENT else rest.adjusted(suspended, 1)
            suspended = rest if len(rest) else ABSENT
        current_view().set(path, suspended)

    def interrupt(self, role: Any) -> None:
        """End the suspended flows of a role, and those in the middle of a function of it."""
        for name, _ in self.actions.get("@module", ()):
            if self._may_call(name, type(role)):
                self._interrupt(slot_of(None, name), role)
        for cls in binding.classes.values():
            for name, _ in self.actions.get(cls.__name__, ()):
                for actor in getattr(cls, "_instances", ()):
                    if actor is role:
                        self._end_all(slot_of(actor, name))
                    elif self._may_call(f"{cls.__name__}.{name}", type(role)):
                        self._interrupt(slot_of(actor, name), role)

    def _end_all(self, path: Path) -> None:
        forbid_change(path)
        held = current_view().get(path) if self.limit is not None else ABSENT
        current_view().set(path, ABSENT)
        if held is not ABSENT:
            self._count(-(len(held) if isinstance(held, FrozenBag) else 1))

    def _interrupt(self, path: Path, role: Any) -> None:
        forbid_change(path)
        held = current_view().get(path)
        if held is ABSENT:
            return
        runs = list(held) if isinstance(held, FrozenBag) else [held]
        left = [r for r in runs if not any(("self", role) in kept for _, _, kept, _ in r)]
        if len(left) < len(runs):
            now: Any = FrozenBag(left) if isinstance(held, FrozenBag) else ABSENT
            current_view().set(path, now if left else ABSENT)
            self._count(len(left) - len(runs))

    def _may_call(self, action: str, other: type) -> bool:
        """Return whether an action may be suspended in a function of another role."""
        pending, seen = [action], set()
        while pending:
            qualified = pending.pop()
            if qualified in seen or qualified not in self.code:
                continue
            seen.add(qualified)
            if qualified.partition(".")[0] in {c.__name__ for c in other.__mro__}:
                return True
            called = {i.callee for i in self.code[qualified].instructions if i.kind == "call"}
            words = {word.lstrip(".") for word in called}
            pending += [f.qualified for word in words for f in self.by_name.get(word, ())]
        return False

    # -- running ---------------------------------------------------------------------------------

    def run(self, frames: list[Frame]) -> Any:
        """Run to the next yield or the end; what is suspended, or ABSENT."""
        while frames:
            frame = frames[-1]
            one = frame.code.instructions[frame.at]
            frame.at += 1
            kind = one.kind
            if kind == "stop":
                frame.at = frame.code.resuming(frame.at)
                return tuple(self.frozen(f) for f in frames)
            if kind == "do":
                given = frame.value(one)
                for name in one.unbinds:
                    frame.locals.pop(name, None)
                frame.locals.update(given)
            elif kind == "test":
                if not frame.value(one):
                    frame.at = one.to
            elif kind == "jump":
                frame.at = one.to
            elif kind == "each":
                values = frame.value(one)
                frame.locals[one.target] = begun(values, one) if one.stops else turns(values)
            elif kind == "next":
                self._next(frame, one)
            elif kind == "call":
                frame.at = frame.code.landing(frame.at)
                frame.locals.pop(one.target, None)  # what the call before it gave
                frames.append(self._called(one, frame.value(one), len(frames)))
            else:
                result = frame.value(one)
                frames.pop()
                if frames:
                    frames[-1].locals[frame.target] = result
        return ABSENT

    def _next(self, frame: Frame, one: Instruction) -> None:
        """Begin the next turn of a loop, or continue after the loop."""
        word, here = one.reads[0], frame.locals
        if one.stops:
            found = following(here[word], here.get(one.source), one, self.fields)
        else:
            found = next(((item, here[word]) for item in here[word]), None)
        if found is None:
            frame.at = one.to
        else:
            here[one.target], here[word] = found

    def _called(self, one: Instruction, arguments: tuple[Any, ...], depth: int) -> Frame:
        name = one.callee.lstrip(".")
        if depth >= MAX_FRAMES:
            raise SpecError(
                "SW117",
                f"'{name}' calls itself deeper than {MAX_FRAMES} levels of suspended calls.",
                help="Use a loop, and a field or list for what is left to do.",
            )
        function, arguments = self._meant(one.callee, arguments)
        if function is None:
            said = f"'{name}' is called with yield from, but is not a flow of the spec."
            why = "A flow is a function of a module or of a class, with a yield in it."
            raise SpecError("SW105", said, why=why, help="Call anything else without yield from.")
        code, split = self.code[function.qualified], len(arguments) - len(one.names)
        named = dict(zip(one.names, arguments[split:], strict=True))
        return Frame(code, 0, code.bind(*arguments[:split], **named), one.target)

    def _meant(
        self, callee: str, arguments: tuple[Any, ...]
    ) -> tuple[Function | None, tuple[Any, ...]]:
        """Return what a call means, and the arguments without what was before the dot if it takes
        none.
        """
        if callee[:1] != ".":
            return self.named.get(callee), arguments
        receiver = arguments[0]
        kind = receiver if isinstance(receiver, type | ModuleType) else type(receiver)
        found = self.known.get(id(getattr(kind, callee[1:], None)))
        plain = kind is receiver or (found is not None and found.is_static)
        return found, arguments[1:] if plain else arguments

    # -- suspending ------------------------------------------------------------------------------

    def frozen(self, frame: Frame) -> tuple[Any, ...]:
        """Return a frame as a stored value, with the locals that are live."""
        live = frame.code.instructions[frame.at].live
        if "self" in frame.locals:
            live = live | {"self"}  # whose it is: a crash of that role ends it
        kept = tuple((n, keep(v)) for n, v in sorted(frame.locals.items()) if n in live)
        return (frame.code.name, frame.at, kept, frame.target)

    def thawed(self, stored: tuple[Any, ...]) -> Frame:
        """Return a frame as it was when it was suspended; references are bound again."""
        name, at, kept, target = stored
        code = self.code[name]
        return Frame(code, at, {n: restored(v, self.fields) for n, v in kept}, target)


@dataclass(eq=False, slots=True)
class Frame:
    """A call in progress."""

    code: FlowCode
    at: int
    locals: dict[str, Any]
    target: str

    def value(self, one: Instruction) -> Any:
        """Return the value of an instruction's code. A local without a value is one there too."""
        assert one.code is not None
        missing = tuple(name for name in one.reads if name not in self.locals)
        run = one.code.lacking(missing) if missing else one.code.run
        return run(*map(self.locals.get, one.reads))


def slot_of(actor: Any, name: str) -> Path:
    """Return where the suspended runs of a flow are."""
    if isinstance(actor, Role):
        return (type(actor).__name__, actor.index, "@flow", name)
    return ("@module", 0, "@flow", name)


def slots_of_runs(roles: Iterable[type]) -> Iterator[tuple[str, Any, Path]]:
    """Yield (action, actor, slot of suspended runs) of each flow of a spec with these roles."""
    flows = next((f for f in (getattr(cls, "_flows", None) for cls in roles) if f), None)
    for owner, actions in flows.actions.items() if flows is not None else ():
        actors = [None] if owner == "@module" else binding.classes[owner]._instances  # type: ignore[attr-defined]
        for action, _ in actions:
            yield from ((action, actor, slot_of(actor, action)) for actor in actors)


def refuse_plain_calls(function: Function) -> None:
    """Make plain calls of a flow an error."""
    if not inspect.isgeneratorfunction(function.function) or function.function.__closure__:
        return
    text = f"{RUNTIME}.called_plainly({function.name!r})"
    definition = definition_of(function.name, [], ast.parse(text).body, function.node)
    definition.args = copied(function.node.args)
    install(function, definition)
