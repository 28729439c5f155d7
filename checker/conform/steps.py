"""The steps of a spec, run once for each combination of values read.

A step depends on the fields that it reads, in the order in which it reads them; so what all ways
of an action do is remembered in a trie, whose nodes are fields and whose branches are values. The
same idea is compiled in `checker.native`; here it is as plain as it can be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from statewalk.checker.engines.layout import Layout
from statewalk.checker.states.shortening import place
from statewalk.checker.traces.trace import Choice, TellingView
from statewalk.checker.verdict.guards import guard_of
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.values.stored import intern_key
from statewalk.dsl.view import Disabled, runs

if TYPE_CHECKING:
    from statewalk.dsl.model import Action, Model, Property
    from statewalk.dsl.view import Path, State


@dataclass(frozen=True)
class Way:
    """A way of taking an action: its choices, those with one option too; the number of the state it
    leads to, or what it raises.
    """

    script: tuple[int, ...]
    choices: tuple[Choice, ...]
    after: int = -1
    error: Exception | None = None


@dataclass(frozen=True)
class _Done:
    """The writes of one outcome, for every state in which the step reads the same."""

    script: tuple[int, ...]
    choices: tuple[Choice, ...]
    writes: Mapping[Path, Any]
    error: Exception | None


@dataclass
class _Node:
    """A field that is read next, and where each of its values leads."""

    path: Path
    branches: dict[Any, _Node | tuple[_Done, ...]] = field(default_factory=dict)


class _NotingView(TellingView):
    """A view that also notes what is read of the state, in order."""

    __slots__ = ("reads",)

    def __init__(
        self, base: State, script: Sequence[int], model: Model, reads: dict[Path, Any]
    ) -> None:
        super().__init__(base, script, model)
        self.reads = reads

    def get(self, path: Path) -> Any:
        value = super().get(path)
        if path not in self.writes:
            self.reads.setdefault(path, intern_key(value))
        return value


class Steps:
    """The states that were met, by number, and the steps between them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.layout = Layout(model)
        self.states: list[State] = []
        self._rows: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._tries: dict[int, _Node | tuple[_Done, ...]] = {}
        self._known: dict[tuple[int, int], tuple[Way, ...]] = {}
        self._violated: dict[int, int] = {}
        self._guards: dict[int, frozenset[str]] = {}
        self._broken: dict[tuple[int, int], int] = {}
        self.invariants = [
            p for p in model.properties if p.of_kind.over == "states" and not p.of_kind.witness
        ]
        self.of_steps = [p for p in model.properties if p.of_kind.over == "steps"]
        self.ran = 0

    def number(self, state: State) -> int:
        """Return the number of a state."""
        return self._number_of(self.layout.row(state), state)

    def row(self, number: int) -> tuple[int, ...]:
        """Return the row of a state."""
        return self._rows[number]

    def _number_of(self, row: tuple[int, ...], state: State | None = None) -> int:
        number = self._numbers.get(row)
        if number is None:
            number = self._numbers[row] = len(self.states)
            self.states.append(self.layout.state(row) if state is None else state)
            self._rows.append(row)
        return number

    def ways(self, number: int, action: Action) -> tuple[Way, ...]:
        """Every way an action can go in a state, choices in lexicographic order."""
        key = (number, action.index)
        if key not in self._known:
            self._known[key] = tuple(self._applied(number, done) for done in self._done(*key))
        return self._known[key]

    def _applied(self, number: int, done: _Done) -> Way:
        if done.error is not None:
            return Way(done.script, done.choices, error=done.error)
        row = self.layout.changed(self._rows[number], done.writes)
        return Way(done.script, done.choices, self._number_of(row))

    def _done(self, number: int, index: int) -> tuple[_Done, ...]:
        state = self.states[number]
        node = self._tries.get(index)
        while isinstance(node, _Node):
            node = node.branches.get(intern_key(PlainView(state).get(node.path)))
        return self._learn(state, index) if node is None else node

    def _learn(self, state: State, index: int) -> tuple[_Done, ...]:
        reads: dict[Path, Any] = {}
        found = tuple(self._run(state, self.model.actions[index], reads))
        self.ran += 1
        leaf: _Node | tuple[_Done, ...] = found
        node, last = self._tries.get(index), None
        for path, value in reads.items():
            if not isinstance(node, _Node):
                node = _Node(path)
                self._hang(index, last, node)
            assert node.path == path  # what is read next depends on what was read
            last = (node, value)
            node = node.branches.get(value)
        self._hang(index, last, leaf)
        return found

    def _hang(
        self, index: int, last: tuple[_Node, Any] | None, what: _Node | tuple[_Done, ...]
    ) -> None:
        if last is None:
            self._tries[index] = what
        else:
            last[0].branches[last[1]] = what

    def _run(self, state: State, action: Action, reads: dict[Path, Any]) -> list[_Done]:
        found = []
        for view in runs(lambda script: _NotingView(state, script, self.model, reads)):
            error: Exception | None = None
            try:
                self.model.take(action, view)
            except Disabled:
                continue
            except Exception as raised:
                error = raised
            choices = tuple(given for given, _ in view.told)
            found.append(_Done(view.taken, choices, view.writes, error))
        return found

    def guards(self, number: int) -> frozenset[str]:
        """Return the guards that stop an action in a state, by place."""
        if number not in self._guards:
            state = self.states[number]
            stopped = (a for a in self.model.actions if not self.ways(number, a))
            found = (guard_of(self.model, a, state, values=False) for a in stopped)
            places = {place(g.file, g.line) for g in found if g is not None and g.file}
            self._guards[number] = frozenset(places)
        return self._guards[number]

    def violated(self, number: int) -> int:
        """Return the invariants that are violated in a state, a bit each."""
        if number not in self._violated:
            view = PlainView(self.states[number])
            self._violated[number] = _bits(self.model, self.invariants, view, None)
        return self._violated[number]

    def broken(self, before: int, after: int) -> int:
        """Return the properties that a state, or the step to it, violates: those of steps in
        bits above those of invariants.
        """
        if not self.of_steps:
            return self.violated(after)
        key = (before, after)
        if key not in self._broken:
            views = PlainView(self.states[after]), PlainView(self.states[before])
            of_step = _bits(self.model, self.of_steps, *views) << len(self.invariants)
            self._broken[key] = self.violated(after) | of_step
        return self._broken[key]


def _bits(
    model: Model, properties: Sequence[Property], view: PlainView, before: PlainView | None
) -> int:
    holding = (model.holds(p.whole, view, before) is p.of_kind.sought for p in properties)
    return sum(1 << at for at, found in enumerate(holding) if found)
