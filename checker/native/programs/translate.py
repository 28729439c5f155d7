"""From a function of a spec to a program: the body, its frames and its state."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from statewalk.checker.native.programs.assembler import Assembler
from statewalk.checker.native.programs.operations import FALSE, NONE, TRUE, Operation
from statewalk.checker.native.programs.runtime import (
    BASE,
    DISABLED,
    DONE,
    ERRED,
    FALSE_ANSWER,
    FULL,
    GAVE_UP,
    MISSED,
    MISSING,
    MOST_KEPT,
    NOTHING,
    of_run,
    set_run,
)  # fmt: skip
from statewalk.checker.native.programs.values import (
    Kind,
    Sort,
    Temporary,
    Untranslatable,
    Value,
    frozen,
    joined,
    may_change,
    sort_of_value,
)
from statewalk.dsl.source.tree import Function
from statewalk.dsl.values.domains import Domain

if TYPE_CHECKING:
    from statewalk.checker.native.programs.machine import Machine

_DEEPEST = 12  # calls in calls
Held = Value | Temporary
Purpose = Literal["action", "predicate", "step"]


@dataclass(frozen=True)
class Place:
    """A place that can be changed: of the state, or a local that nobody else knows. What it leads
    through was looked at when it was ``born``; ``field`` is the field that it is in.
    """

    get: Callable[[], Value]
    put: Callable[[Value], None]
    field: str
    born: int
    loose: bool = False  # new, but what is in it is not


@dataclass
class Frame:
    """A function being translated, in the place where it is called."""

    function: Function
    key: tuple[Any, ...]
    names: dict[str, Held] = field(default_factory=dict)  # bound to what never changes
    places: dict[str, Place] = field(default_factory=dict)  # names for places
    variables: dict[str, str] = field(default_factory=dict)
    born: dict[str, int] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)  # containers that nobody else knows
    result: str = ""
    end: str = ""

    def alias(self, name: str) -> str:
        """Return the name by which other values refer to what a local holds, as to a field."""
        return f"${'.'.join(map(str, self.key))}:{name}"

    def own_aliases(self, name: str) -> frozenset[str]:
        """Return the aliases of what a local holds, and of what is in it."""
        return frozenset({self.alias(name), self.alias(name) + "."})


class Body:
    """The translation of one function, with what it calls, into one assembler function.

    ``kinds`` are what is known of each local, by frame; where a translation finds less to be known
    than it has relied on, it is made again.
    """

    def __init__(
        self, machine: Machine, function: Function, name: str, purpose: Purpose,
        kinds: dict[Any, Kind],
    ) -> None:  # fmt: skip
        self.machine, self.root, self.kinds, self.purpose = machine, function, kinds, purpose
        self.a = Assembler(name, "ptr %run, ptr %args")
        self.frames: list[Frame] = []
        self.side = 0
        self.clock = 1
        self.touched: dict[str, int] = {}
        self.replaced: dict[str, int] = {}
        self.reads: set[str] = set()  # names of fields
        self.sources: dict[int, ast.expr] = {}  # of arguments, by their identity
        self._kept: list[Held] = []
        self.changed = False  # whether a kind was weakened
        self.calls = 0
        self.at: ast.stmt | None = None  # the statement that is being translated

    # -- what is translated in later parts ---------------------------------------------------------

    def branch(self, node: ast.expr, yes: str, no: str) -> None:
        """Go on at one of two labels, by a condition."""
        raise NotImplementedError

    def statements(self, body: list[ast.stmt]) -> None:
        """Translate statements one after the other."""
        raise NotImplementedError

    def is_role(self, value: Held) -> bool:
        """Return whether a value is a role, which is changed field by field."""
        raise NotImplementedError

    def hold(self, node: ast.expr) -> Place | None:
        """Return the place that an expression is, as it is now; None where it is none."""
        raise NotImplementedError

    def inlined(self, function: Function, first: Sequence[Held], node: ast.expr) -> Held:
        """Translate a call of one of the spec's functions, by its text."""
        raise NotImplementedError

    # -- frames ----------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        """The function that is being translated."""
        return self.frames[-1]

    def no(self, node: ast.AST | None, why: str) -> Untranslatable:
        """Return the error of what is not translated."""
        line = getattr(node, "lineno", self.frame.function.node.lineno if self.frames else 0)
        shown = f" `{ast.unparse(node)}`" if isinstance(node, ast.expr) else ""
        inside = self.frame.function.qualified if len(self.frames) > 1 else ""
        place = f"{inside} line {line}: ".lstrip() if line else ""
        return Untranslatable(f"{place}{why}{shown}")

    def no_here(self, why: str) -> Untranslatable:
        """Return the same for the statement that is being translated."""
        return self.no(self.at, why)

    def enter(self, function: Function, key: tuple[Any, ...]) -> Frame:
        """Begin to translate a function in the place of a call."""
        if len(self.frames) >= _DEEPEST or any(f.function is function for f in self.frames):
            raise self.no_here(f"{function.qualified} calls itself, or is called too deep")
        if function.is_generator:
            raise self.no_here(f"{function.qualified} yields")
        frame = Frame(function, key)
        frame.result = self.a.var(str(NONE))
        frame.end = self.a.fresh("return")
        self.frames.append(frame)
        return frame

    def mutated_names(self, function: Function) -> frozenset[str]:
        """Return the locals of a function that are changed in place."""
        return self.machine.mutated(function)

    # -- locals ------------------------------------------------------------------------------------

    def learn_kind(self, key: tuple[Any, ...], kind: Kind) -> Kind:
        """Take down what is known of a local, and return what is known of it now."""
        before = self.kinds.get(key)
        after = joined(before, kind)
        if after != before:
            self.kinds[key] = after
            self.changed = True
        return after

    def bind(self, name: str, value: Held) -> None:
        """Let a local hold a value."""
        frame = self.frame
        if isinstance(value, Temporary):
            if name not in frame.variables and self.machine.bound_once(frame.function, name):
                frame.names[name] = value
                return
            value = self.number(value)
        self.check(value)
        key = (*frame.key, name)
        aliases = value.aliases - frame.own_aliases(name)
        self.learn_kind(key, Kind(value.sort, value.domain, aliases))
        variable = frame.variables.get(name)
        if variable is None:
            variable = frame.variables[name] = self.a.var()
            self.a.first(variable, str(NOTHING))
        frame.names.pop(name, None)
        self.a.set(variable, value.operand)
        frame.born[name] = self.clock

    def local(self, name: str, node: ast.AST) -> Held | None:
        """Return what a local holds; None where there is none of the name."""
        frame = self.frame
        if name in frame.names:
            return frame.names[name]
        if name in frame.places:
            return self.place_of(name).get()
        variable = frame.variables.get(name)
        if variable is None:
            if name in self.machine.locals(frame.function):
                raise self.no(node, f"{name} may have no value")
            return None
        kind = self.kinds[(*frame.key, name)]
        held = self.a.get(variable)
        with self.a.when(self.a.test("eq", held, str(NOTHING))):  # not bound on this way
            self.erred()
        found = Value(held, kind.sort, kind.domain, kind.aliases, frame.born.get(name, 0))
        if not self.is_own(name) or not may_change(kind.domain):
            return found
        self.check(found)
        return replace(found, aliases=found.aliases | {frame.alias(name)}, born=self.clock)

    def is_own(self, name: str) -> bool:
        """Return whether a local is changed in place, and no name for a place."""
        mutated = self.mutated_names(self.frame.function)
        return name in mutated and name not in self.frame.places

    def place_of(self, name: str) -> Place:
        """Return the place that a local is a name for."""
        place = self.frame.places[name]
        if self.replaced.get(place.field, 0) > place.born:
            raise self.no_here(f"{name} is a name for a place that was replaced")
        return place

    def replace(self, name: str) -> None:
        """Note that something in a field was replaced by something else, or moved."""
        self.clock += 1
        self.replaced[name] = self.clock

    # -- aliases -----------------------------------------------------------------------------------

    def touch(self, name: str, inside: bool) -> None:
        """Note a change in place of a field's container, or of something in it too."""
        self.clock += 1
        self.touched[name] = self.clock
        if inside:
            self.touched[name + "."] = self.clock

    def check(self, value: Held) -> None:
        """Refuse a live reference into what has been changed since."""
        if isinstance(value, Value):
            for name in value.aliases:
                if self.touched.get(name, 0) > value.born:
                    raise self.no_here(f"a reference into {name} is used after it was changed")

    @contextmanager
    def turn(self, body: list[ast.stmt] | ast.AST, source: Held | None = None) -> Iterator[None]:
        """Translate a loop: what is touched in it must not be read through references of before."""
        before, started = dict(self.touched), self.clock
        replaced = dict(self.replaced)
        yield
        for place in self.frame.places.values():
            if self.replaced.get(place.field, 0) > replaced.get(place.field, 0):
                raise self.no_here("a loop replaces what a name is for")
        late = {n for n, at in self.touched.items() if at > before.get(n, 0) and at > started}
        if not late:
            return
        if isinstance(source, Value) and source.aliases & late:
            raise self.no_here("a loop goes through what it changes")
        nodes = body if isinstance(body, list) else [body]
        read = {n.id for part in nodes for n in ast.walk(part) if isinstance(n, ast.Name)}
        frame = self.frame
        for name in read & frame.variables.keys():
            if self.kinds[(*frame.key, name)].aliases & late:
                raise self.no_here(f"{name} refers to what a loop changes")

    # -- values ------------------------------------------------------------------------------------

    def argument(self, number: str, sort: Sort, domain: Domain | None) -> Value:
        """Return an argument of the root."""
        return Value(number, sort, domain, born=self.clock)

    def constant(self, value: Any) -> Value:
        """Return a value that is known now."""
        stored = frozen(value)
        sort = sort_of_value(stored)
        if sort == "int" and not -BASE < stored < BASE:
            sort = "any"
        domain = self.machine.domain_of_value(stored)
        return Value(str(self.machine.numbers.of(stored)), sort, domain, constant=(stored,))

    def fail_on(self, found: str) -> None:
        """Leave where an operation raised, or is not known yet."""
        with self.a.when(self.a.test("sle", found, str(NOTHING))):
            missing = self.a.test("eq", found, str(MISSING))
            self.a.ret(self.a.select(missing, str(MISSED), str(ERRED)))

    def apply(
        self, operation: Operation, arguments: list[Value], domain: Domain | None = None,
        scalar: bool = False,
    ) -> Value:  # fmt: skip
        """Return the result of an operation."""
        for argument in arguments:
            self.check(argument)
        found = self.asked(operation, [argument.operand for argument in arguments])
        aliases: frozenset[str] = frozenset()
        if operation.claim == "any" and not scalar and (domain is None or may_change(domain)):
            aliases = frozenset(
                name if name[-1:] == "." else name + "."
                for argument in arguments for name in argument.aliases
            ) | frozenset(name for argument in arguments for name in argument.aliases)  # fmt: skip
        return Value(found, operation.claim, domain, aliases, self.clock)

    def asked(self, operation: Operation, operands: list[str]) -> str:
        """Return the number that an operation gives for some arguments."""
        if len(operands) in (1, 2):
            function = ("unary", "pair")[len(operands) - 1]
            parts = ", ".join(f"i32 {part}" for part in (operation.number, *operands))
            found = self.a.call(function, f"ptr %run, {parts}")
        else:
            room = self.a.room(len(operands) + 1)
            self.a.store(room, "0", str(operation.number))
            for at, operand in enumerate(operands, 1):
                self.a.store(room, str(at), operand)
            found = self.a.call("memo", f"ptr %run, ptr {room}, i32 {len(operands) + 1}")
        self.fail_on(found)
        return found

    def number(self, value: Held) -> Value:
        """Return a value of the language: a temporary list as the number of what it makes."""
        if isinstance(value, Value):
            return value
        operation = self.machine.making(value.kind)
        before = self.a.op("sub", self.a.get(value.first), "1")
        arena = of_run(self.a, "arena")
        self.a.store(arena, before, str(operation.number))
        key = self.a.at(arena, before)
        length = self.a.op("add", self.a.get(value.length), "1")
        found = self.a.call("memo", f"ptr %run, ptr {key}, i32 {length}")
        self.fail_on(found)
        return Value(found, "any", None, value.element.aliases, self.clock)

    def give_up_unless(self, bit: str) -> None:
        """Leave for good where something that was relied on is not so."""
        negated = self.a.bit("xor", bit, "true")
        with self.a.when(negated):
            self.a.ret(str(GAVE_UP))

    # -- truth -------------------------------------------------------------------------------------

    def boolean(self, bit: str) -> Value:
        """Return a truth as a value."""
        return Value(self.a.select(bit, str(TRUE), str(FALSE)), "bool")

    def truth(self, value: Held) -> str:
        """Return whether a value counts as true, as a bit."""
        if isinstance(value, Temporary):
            return self.a.test("ne", self.a.get(value.length), "0")
        if value.constant:
            return "true" if value.constant[0] else "false"
        if value.sort == "int":
            return self.a.test("ne", value.operand, "0")
        if value.sort == "bool":
            return self.a.test("eq", value.operand, str(TRUE))
        if value.sort == "role":
            return "true"
        asked = self.apply(self.machine.builtin("bool(a0)", 1, "bool"), [value])
        return self.a.test("eq", asked.operand, str(TRUE))

    # -- slots -------------------------------------------------------------------------------------

    def read(self, slot: str) -> str:
        """Return the number of what a slot holds: now, or before the step."""
        if self.side:
            return self.a.call("number", f"ptr %run, i32 {slot}, i32 1")
        if self.purpose != "action":
            return self.a.call("number", f"ptr %run, i32 {slot}, i32 0")
        return self.a.call("get", f"ptr %run, i32 {slot}")

    def write(self, slot: str, number: str) -> None:
        """Let a slot hold a number, if its type allows it."""
        if self.purpose != "action":
            raise self.no_here("it writes where only reading is expected")
        found = self.a.call("put", f"ptr %run, i32 {slot}, i32 {number}")
        with self.a.when(self.a.test("ne", found, "0")):
            missing = self.a.test("eq", found, str(MISSING))
            self.a.ret(self.a.select(missing, str(MISSED), str(ERRED)))

    # -- temporaries -------------------------------------------------------------------------------

    def temporary(self, fill: Callable[[Callable[[Value], None]], None], kind: str) -> Temporary:
        """Return a list of what ``fill`` adds by the function that it is given.

        Lists are filled one inside another, so each is put together beyond the one it is in and
        moved when it is complete: a list has its own region once its length is known.

        Until its first choice or write, a run repeats the one before it, and the arena keeps the
        lists made there: they are not made again.
        """
        a = self.a
        items, base = a.var("0"), a.var()
        if self.purpose != "action":
            return Temporary(base, items, self._made(fill, items, base), kind)
        at = of_run(a, "n_kept", "i32")
        set_run(a, "n_kept", a.op("add", at, "1"))
        kept = a.at(of_run(a, "kept"), a.op("mul", at, "3"))
        known, new, end = a.fresh("known"), a.fresh("new"), a.fresh("end")
        keeps = a.bit("and", self._untouched(), a.test("slt", at, str(MOST_KEPT)))
        first = a.var("-1")
        with a.when(a.bit("and", keeps, a.test("ne", of_run(a, "script_length", "i32"), "0"))):
            a.set(first, a.load(kept, "0"))
        a.branch(a.test("sge", a.get(first), "0"), known, new)
        a.label(new)
        with a.when(keeps):
            a.store(kept, "0", "-1")
        element = self._made(fill, items, base)
        with a.when(a.bit("and", keeps, self._untouched())):
            for k, part in enumerate((a.get(base), a.get(items), of_run(a, "n_kept", "i32"))):
                a.store(kept, str(k), part)
        a.jump(end)
        a.label(known)
        a.set(base, a.get(first))
        a.set(items, a.load(kept, "1"))
        set_run(a, "n_kept", a.load(kept, "2"))
        set_run(a, "arena_top", a.op("add", a.op("add", a.get(first), a.get(items)), "1"))
        a.label(end)
        return Temporary(base, items, element, kind)

    def _untouched(self) -> str:
        a = self.a
        words = (of_run(a, name, "i32") for name in ("n_choices", "n_trail"))
        return a.test("eq", a.op("or", *words), "0")

    def _made(
        self, fill: Callable[[Callable[[Value], None]], None], items: str, base: str
    ) -> Value:
        """Put a list together; return what its elements are."""
        a = self.a
        found: list[Value] = []
        # A chain through the arena: each item is (number, previous); turned around at the end.
        last = a.var("-1")

        def add(value: Value) -> None:
            found.append(value)
            top = of_run(a, "arena_top", "i32")
            self.room_for(top, "2")
            arena = of_run(a, "arena")
            a.store(arena, top, value.operand)
            a.store(arena, a.op("add", top, "1"), a.get(last))
            a.set(last, top)
            set_run(a, "arena_top", a.op("add", top, "2"))
            a.set(items, a.op("add", a.get(items), "1"))

        fill(add)
        length = a.get(items)
        top = a.op("add", of_run(a, "arena_top", "i32"), "1")  # one place for an operation before
        self.room_for(top, a.op("add", length, "1"))
        a.set(base, top)
        arena = of_run(a, "arena")
        at = a.var(a.op("add", top, length))
        with a.repeat():
            link = a.get(last)
            with a.when(a.test("slt", link, "0")):
                a.leave()
            a.set(at, a.op("sub", a.get(at), "1"))
            a.store(arena, a.get(at), a.load(arena, link))
            a.set(last, a.load(arena, a.op("add", link, "1")))
        set_run(a, "arena_top", a.op("add", a.op("add", top, length), "1"))
        kind_of: Kind | None = None
        for value in found:
            kind_of = joined(kind_of, Kind(value.sort, value.domain, value.aliases))
        known = kind_of or Kind("any", None)
        return Value("0", known.sort, known.domain, known.aliases, self.clock)

    def room_for(self, top: str, more: str) -> None:
        """Leave where the arena has no room for so many numbers more."""
        needed = self.a.op("add", self.a.op("add", top, more), "2")
        with self.a.when(self.a.test("sgt", needed, of_run(self.a, "arena_size", "i32"))):
            self.a.ret(str(FULL))

    # -- the whole ---------------------------------------------------------------------------------

    def answer(self, value: Held, as_bool: bool) -> None:
        """End a predicate with its answer."""
        if as_bool:
            bit = self.truth(value)
            self.a.ret(self.a.select(bit, str(DONE), str(FALSE_ANSWER)))
            return
        found = self.number(value)
        with self.a.when(self.a.test("eq", found.operand, str(TRUE))):
            self.a.ret(str(DONE))
        with self.a.when(self.a.test("eq", found.operand, str(FALSE))):
            self.a.ret(str(FALSE_ANSWER))
        self.a.ret(str(ERRED))

    def disable(self) -> None:
        """End a step that is not possible."""
        self.a.ret(str(DISABLED))

    def erred(self) -> None:
        """End where the spec raises."""
        self.a.ret(str(ERRED))
