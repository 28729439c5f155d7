"""The programs of a search: which roots have one, how they are compiled, and what they miss."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.native.kernels.arrays import ASSERTION, ERROR, EVENT, FIRST_RESULT, Array
from statewalk.checker.native.learn.learned import Learned
from statewalk.checker.native.learn.learning import Root, make_roots
from statewalk.checker.native.programs.assembler import compiled
from statewalk.checker.native.programs.machine import Machine
from statewalk.checker.native.programs.operations import GaveUp
from statewalk.checker.native.programs.runtime import DONE, ERRED, RUN, entry, runtime
from statewalk.checker.native.programs.statements import Statements
from statewalk.checker.native.programs.tables import Room
from statewalk.checker.native.programs.translate import Purpose
from statewalk.checker.native.programs.values import Kind, Untranslatable
from statewalk.dsl.model import Model, Text
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.view import Disabled

_MOST_PASSES = 6
_STATES_A_CHARACTER = 3  # of the text of programs: fewer are searched sooner than it is optimised
_SIGNATURE = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32
)
_UNEXPECTED = "a fault of the translator:"
_ROW, _WIDTH, _SHIFT, _STRIDE = map(RUN.index, ("row", "width", "shift", "stride"))
_IN_ALL = 5  # times the evaluations of one root, before any gets a program


class _Revised(Exception):
    """A program wrote what was assumed never to be written."""


@dataclass(frozen=True)
class Wanted:
    """A function that is to have a program: its text, and the answer that is an event."""

    text: Text
    purpose: Purpose
    event_on: bool | None

    @property
    def key(self) -> tuple[int, Purpose, bool | None]:
        """Return what one program serves."""
        return (id(self.text.expression or self.text.function), self.purpose, self.event_on)

    @property
    def name(self) -> str:
        """The qualified name of the function."""
        return str(self.text.function.qualified)


class Translation:
    """The programs of functions, as text of LLVM."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.parts: list[str] = []
        self.names: dict[Any, str] = {}
        self.reads: dict[str, frozenset[str]] = {}
        self.refused: dict[Any, str] = {}
        self._wholes: dict[int, tuple[str, frozenset[str]]] = {}

    def forget_wholes(self) -> None:
        """Translate whole properties again where they are needed in another module."""
        self._wholes = {}

    def add(self, wanted: Wanted) -> None:
        """Translate what is wanted, or take down why not."""
        if wanted.key in self.refused or wanted.key in self.names:
            return
        name = f"p{len(self.machine.program_names)}"
        self.machine.program_names.append(wanted.name)
        try:
            whole, also = self._whole(wanted)
            body = self._translated(wanted, name + "b")
            reads = self.reads[name] = frozenset(body.reads) | also
            if seen := sorted(reads & self.machine.hidden):
                raise Untranslatable(f"{seen[0]} is hidden: reads of it have to be noticed")
        except Untranslatable as why:
            self.refused[wanted.key] = f"{wanted.name}, {why}"
            return
        except Exception as error:  # a function without a program is learned, and that is slower
            self.refused[wanted.key] = f"{wanted.name}, {_UNEXPECTED} {error!r}"
            return
        self.parts += [body.a.text(), entry(name, name + "b", wanted.event_on, whole)]
        self.names[wanted.key] = name

    def _whole(self, wanted: Wanted) -> tuple[str, frozenset[str]]:
        """Return the program of the whole property of which a part is wanted; what it reads."""
        function = wanted.text.function
        if wanted.text.expression is None:
            return "", frozenset()
        if id(function) not in self._wholes:
            name = f"w{len(self.machine.program_names)}"
            body = self._translated(Wanted(Text(function), "predicate", False), name)
            self.parts.append(body.a.text())
            self._wholes[id(function)] = name, frozenset(body.reads)
        return self._wholes[id(function)]

    def _translated(self, wanted: Wanted, name: str) -> Statements:
        text = wanted.text
        names = text.names
        if text.expression is None:
            names = tuple(argument.arg for argument in text.function.node.args.args)
        kinds: dict[Any, Kind] = {}
        for _ in range(_MOST_PASSES):
            body = Statements(self.machine, text.function, name, wanted.purpose, kinds)
            body.jumps, body.as_bool = [], text.as_bool
            try:
                self._fill(body, wanted, names)
            except Untranslatable as why:
                known = "line " in str(why) or body.at is None
                raise why if known else body.no_here(str(why)) from None
            if not body.changed:
                return body
        raise Untranslatable("what its locals hold is not settled")

    def _fill(self, body: Statements, wanted: Wanted, names: Sequence[str]) -> None:
        """Translate a function, or a part of one, into a body."""
        text = wanted.text
        body.enter(text.function, ())
        for at, argument in enumerate(names):
            sort, domain = self.machine.known_of(self.machine.arguments[wanted.key[0]][at])
            body.bind(argument, body.argument(body.a.load("%args", str(at)), sort, domain))
        if text.expression is not None:
            body.answer(body.expression(text.expression), text.as_bool)
        else:
            body.statements(text.function.body())
            body.a.ret(str(DONE if wanted.purpose == "action" else ERRED))


def wanted_of(root: Root) -> Wanted | None:
    """Return what a root of a search wants; None where it has no text."""
    if root.source is None:
        return None
    if root.action is not None:
        return Wanted(root.source, "action", None)
    purpose: Purpose = "step" if root.kind == "step" else "predicate"
    return Wanted(root.source, purpose, root.sought)


class Programs:
    """The programs of a search.

    Where the spec goes through sets of the state, all is translated before the search begins, and
    each element of such a set has a slot of its own (``exploded``). Else a root is learned as a
    trie at first, which is faster as long as it is small; what is asked for often gets a program.
    """

    def __init__(self, model: Model, options: SearchOptions) -> None:
        assert model.tree is not None
        self.model, self.excluded = model, options.without
        self._after = options.program_after
        self.machine = Machine(model, *model.tree)
        self._translation = Translation(self.machine)
        self._refused_at_first: dict[Any, str] = {}
        self._next = max(1, _IN_ALL * self._after)
        self.comparisons = 0
        self.roots: dict[int, Root] = {}
        self._wanted: dict[int, Wanted] = {}
        self._arguments: dict[int, Array] = {}
        self._calls: dict[int, Any] = {}
        self._runs: dict[int, int] = {}
        self._at: dict[int, int] = {}  # where the code of a root is in the table of programs
        self._rooms: list[Room] = []
        self._engines: list[Any] = []
        self._texts: list[str] = []
        self._fully = False
        self._names: list[str] = []
        self._reads: dict[str, int] = {}
        self._leaves = np.zeros(1 << 10, np.int32)
        self._leaves_at = self._leaves.ctypes.data
        self._room()
        if options.programs == "all" and not options.symmetry:
            self._explode(options)

    def _explode(self, options: SearchOptions) -> None:
        """Give the elements of sets slots, if all that runs has a program then."""
        self.machine.explode()
        if not self.machine.exploded:
            return
        roots = make_roots(self.model, options, whole=True).all
        found = [wanted_of(root) for root in roots]
        wanted = [one for one in found if one is not None and one.name not in self.excluded]
        if len(wanted) == len(roots):
            self.translate(wanted)
            if not self._translation.refused:
                return
        self._refused_at_first = self._translation.refused
        self.machine = Machine(self.model, *self.model.tree)  # type: ignore[misc]
        self._translation = Translation(self.machine)
        self._room()

    def _room(self) -> None:
        self.room = Room(self.machine.tables)
        self._words = self.room.words.ctypes.data

    @property
    def exploded(self) -> set[tuple[str, str]]:
        """The fields, by class and name, whose elements have slots: everything is a program."""
        return self.machine.exploded

    @property
    def refused(self) -> list[str]:
        """Return why functions have no program."""
        found, names = self._translation.refused, self._translation.names
        before = {k: why for k, why in self._refused_at_first.items() if k not in names}
        return list(dict.fromkeys((before | found).values()))

    def translate(self, wanted: Sequence[Wanted]) -> None:
        """Translate what is wanted of some roots."""
        for one in wanted:
            columns = self.machine.arguments.setdefault(
                one.key[0], [[] for _ in one.text.arguments]
            )
            for column, value in zip(columns, one.text.arguments, strict=True):
                column.append(value)
            self.machine.arguments.setdefault(id(one.text.function), [])
        for one in wanted:
            self._translation.add(one)

    def attach(self, learned: Learned, roots: Sequence[Root]) -> None:
        """Serve the roots of a search; compile what is translated."""
        self.learned = self.machine.learned = learned
        self.layout = self.machine.layout = learned.layout
        learned.before_kernels = self.refresh
        self._all = roots
        if self.exploded:
            self._install(range(len(roots)))
        elif not self._after:
            self._switch(np.ones(len(roots), np.int64), 1)
        self.refresh()

    def refresh(self) -> None:
        """Let compiled code see values that were met since."""
        self.machine.note_values()
        self.machine.tables.publish()
        self._revise()

    def see(self, row: Sequence[int]) -> None:
        """Let compiled code see the values of a row that was not made by the search's learner."""
        new = self.machine.unseen(row)
        if new:
            self.learned.contribute_all()
            assert self.learned.grown is not None
            self.learned.grown += new
            self.refresh()

    def _revise(self) -> None:
        """Drop the programs that read what has turned out to be otherwise than assumed."""
        names = {name if owner else f".{name}" for owner, name in self.machine.broken}
        if not names:
            return
        self.machine.broken.clear()
        translation = self._translation
        stale = {n for n, reads in translation.reads.items() if not reads.isdisjoint(names)}
        for key, name in list(translation.names.items()):
            if name in stale:
                del translation.names[key]
        for number in [n for n, w in self._wanted.items() if w.key not in translation.names]:
            self._uninstall(number)
        self._next = 0

    def _uninstall(self, number: int) -> None:
        self.learned.uninstall(number)
        del self.roots[number], self._wanted[number]

    def evaluated(self, count: int, evaluations: Array) -> None:
        """Let roots be programs that were learned often; what has none stays as it is."""
        if count < self._after:
            return
        total = int(evaluations.sum())
        if total >= self._next:
            self._next = 2 * total  # compiling takes a while: not for each root by itself
            self._switch(evaluations, max(1, self._after // 4))

    def _switch(self, evaluations: Array, some: int) -> None:
        numbers = [
            n for n in np.flatnonzero(evaluations >= some).tolist()
            if n not in self.roots and (w := wanted_of(self._all[n])) is not None
            and w.key not in self._translation.refused and w.name not in self.excluded
        ]  # fmt: skip
        if not numbers:
            return
        if self._after:
            self.machine.assume_from_values()
        whole = [wanted_of(root) for root in self._all]
        keys = {w.key for n in numbers if (w := whole[n]) is not None}
        self.translate([w for w in whole if w is not None and w.key in keys])
        self._install(numbers)
        self.refresh()

    def _install(self, numbers: Iterable[int]) -> None:
        machine, translation = self.machine, self._translation
        if translation.parts:
            text = "\n".join([runtime(), *translation.parts])
            self._texts.append(text)
            self._engines.append(compiled(text, fully=self._fully))
            translation.parts = []
            translation.forget_wholes()
        machine.tables.operation(3 + len(machine.operations.all))
        for number in numbers:
            wanted = wanted_of(self._all[number])
            if wanted is None or wanted.key not in translation.names:
                continue
            name = translation.names[wanted.key]
            code = self._code(name)
            held = np.array([machine.numbers.of(a) for a in wanted.text.arguments] or [0], np.int32)
            self._arguments[number] = held
            self._calls[number] = _SIGNATURE(code), held.ctypes.data
            self.roots[number], self._wanted[number] = self._all[number], wanted
            self._at[number] = self.learned.install(number, code, held.ctypes.data)
            for read in translation.reads[name] if number < self.learned.n_bits else ():
                self._reads[read] = self._reads.get(read, 0) | 1 << number
        self.learned.read_by(self._reads)

    def _code(self, name: str) -> int:
        """Return the address of a compiled function."""
        return next(c for e in self._engines if (c := int(e.get_function_address(name))))

    def found(self, states: int) -> None:
        """Optimise what is compiled once a search has found so many states that it is worth it."""
        if self._fully or states < _STATES_A_CHARACTER * sum(map(len, self._texts)):
            return
        if not self._texts:
            return
        self._fully = True
        old, self._engines = self._engines, [compiled(text, fully=True) for text in self._texts]
        for number, wanted in self._wanted.items():
            code = self._code(self._translation.names[wanted.key])
            self._calls[number] = _SIGNATURE(code), self._calls[number][1]
            self.learned.programs[self._at[number], 0] = code
        del old

    def words(self) -> Array:
        """Return what one thread's runs need, as kernels take it."""
        self._rooms.append(Room(self.machine.tables))
        return self._rooms[-1].words

    def complete(self, number: int, row: Sequence[int], before: Sequence[int] | None) -> int:
        """Learn what a root's program does not know in a state: the number of operations.

        Raises:  `GaveUp` where it cannot go on and no trie can take its place
        """
        asked = self.machine.asked
        try:
            self._complete(number, row, before)
        except _Revised:  # the kernel asks again, for this program or for a trie
            pass
        except GaveUp as why:
            if self.exploded or why.every:
                raise
            if not self._assumed_too_much(number):
                self._exclude(number, why)
        self._revise()
        return self.machine.asked - asked

    def _assumed_too_much(self, number: int) -> bool:
        """Give up what a program assumed of records; whether it was anything."""
        assumed = self.machine.assumed_of_records
        reads = self._translation.reads[self._translation.names[self._wanted[number].key]]
        found = [name for name in assumed if f".{name}" in reads]
        for name in found:
            self.machine.unexpected(("", name))
        return bool(found)

    def _exclude(self, number: int, why: GaveUp) -> None:
        """Let a function have no program any more."""
        name = self._wanted[number].name
        self.excluded |= {name}
        self._translation.refused[self._wanted[number].key] = f"{name}, {why}"
        for root in [n for n, wanted in self._wanted.items() if wanted.name == name]:
            self._uninstall(root)

    def _complete(self, number: int, row: Sequence[int], before: Sequence[int] | None) -> None:
        held = (
            np.array(row, np.uint32) if before is None
            else np.array([row, _as_long(before, row)], np.int64).T.reshape(-1).copy()
        )  # fmt: skip
        self.look(held.ctypes.data, len(row), with_before=before is not None)
        self.answer(number, row, before)

    def answer(
        self, number: int, row: Sequence[int], before: Sequence[int] | None = None
    ) -> list[int]:
        """Return the leaves of a root in the row that is looked at, as `leaves` does.

        In the first, second, fourth, ... state that teaches it something, and wherever it raises,
        the spec as it is written is asked too.
        """
        asked = self.machine.asked
        leaves = self.leaves(number)
        count = self._runs.get(number, 0)
        taught = self.machine.asked != asked
        if taught:
            self._runs[number] = count + 1
        if (taught and count & (count + 1) == 0) or ERROR in leaves:
            earlier = None if before is None else list(before)
            self._compare(number, list(row), earlier, leaves)
        return leaves

    def look(self, address: int, width: int, *, with_before: bool = False) -> None:
        """Let programs run in a row of uint32; or in two of int64, interleaved: after, before."""
        words = self.room.words
        words[_ROW], words[_WIDTH] = address, width
        words[_SHIFT], words[_STRIDE] = (3, 2) if with_before else (2, 1)

    def readers(self, field: str) -> int:
        """Return the roots, as bits, that may read a field of this name."""
        return self._reads.get(field, 0)

    def leaves(self, number: int) -> list[int]:
        """Return the leaves of a root in the row that is looked at; Python answers what is missed.

        Raises:  `GaveUp` where the program cannot go on
        """
        call, arguments = self._calls[number]
        while True:
            leaves = self._leaves
            found = call(self._words, arguments, self._leaves_at, len(leaves))
            if found >= 0:
                return leaves[:found].tolist() if found else []
            if found == -1:
                self._learn(number)
            elif found == -2:
                self._leaves = np.zeros(2 * len(leaves), np.int32)
                self._leaves_at = self._leaves.ctypes.data
            else:
                raise self._gave_up(number, "gave up")

    def _learn(self, number: int) -> None:
        try:
            self.machine.learn(self.room.missed())
        except GaveUp as why:
            if why.every:
                raise
            raise GaveUp(str(why), self._wanted[number].name) from None
        if self.machine.broken:
            raise _Revised

    def _compare(
        self, number: int, row: list[int], before: list[int] | None, leaves: list[int]
    ) -> None:
        """Compare a program's answer with that of the spec as it is written. Raises `GaveUp`."""
        self.comparisons += 1
        state = self.layout.state(row)
        root, wanted = self.roots[number], self._wanted[number]
        if root.predicate is not None:
            earlier = PlainView(self.layout.state(before)) if before is not None else None
            try:
                holds = self.model.holds(root.predicate, PlainView(state), earlier)
                code = [EVENT] if holds is wanted.event_on else []
            except Exception:
                code = [ERROR]
            if leaves != code:
                raise self._gave_up(number, "answers otherwise")
            return
        expected: list[Any] = []
        action = root.action
        assert action is not None
        for view in PlainView.runs(state):
            try:
                self.model.take(action, view)
            except Disabled:
                continue
            except AssertionError:
                expected.append(ASSERTION)
                continue
            except Exception:
                expected.append(ERROR)
                continue
            expected.append(self.layout.changed(row, view.writes))
        found: list[Any] = []
        for leaf in leaves:
            if leaf > FIRST_RESULT:
                found.append(leaf)
                continue
            after = self.learned.apply(row, FIRST_RESULT - leaf)
            while after and after[-1] == 0:
                after.pop()
            found.append(tuple(after))
        if found != expected:
            raise self._gave_up(number, "does otherwise")

    def _gave_up(self, number: int, what: str) -> GaveUp:
        name = self._wanted[number].name
        return GaveUp(f"{name}: the program {what}", name)


def _as_long(row: Sequence[int], other: Sequence[int]) -> list[int]:
    return [*row, *([0] * (len(other) - len(row)))][: len(other)]
