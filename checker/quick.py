"""A search in Python that runs programs: for a few states, where kernels are not compiled yet.

It is the reference engine's search, which asks a function's program (decision 0048) in place of
the function. What has no program runs as it is written.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, repeat

from statewalk.checker.contract.search import Exploration, Finding, Progress, SearchOptions, Step
from statewalk.checker.engines import reference
from statewalk.checker.engines.layout import Layout
from statewalk.checker.engines.reference import Entry, Row
from statewalk.checker.engines.repeats import Repeats
from statewalk.checker.machine.ahead import Background, are_kept
from statewalk.checker.native.kernels.arrays import EVENT, FIRST_RESULT
from statewalk.checker.native.learn.learned import Learned
from statewalk.checker.native.learn.learning import Roots, make_roots
from statewalk.checker.native.programs.operations import GaveUp
from statewalk.checker.native.programs.programs import Programs
from statewalk.dsl.model import Action, Model, Outcome, Property
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.view import Disabled, State

STATES = 200_000
"""More than these are searched by kernels, compiled first if need be."""


class Ordinal(tuple[int]):
    """In place of a step's choices: which of an action's steps it is, failed ones counted."""

    __slots__ = ()


def fits(model: Model, options: SearchOptions) -> bool:
    """Return whether a search can be done here: nobody asks for more than its states."""
    return (
        model.tree is not None
        and options.programs != "none"
        and not (options.symmetry or options.view)
        and all(p.of_kind.searched for p in model.properties if options.wants(p.name))
    )


def explore_uncompiled(model: Model, options: SearchOptions) -> Exploration | None:
    """Search as long as kernels are not compiled, which another process does meanwhile.

    None where they are there, or where the search has more states than this is good for.
    """
    if not fits(model, options) or are_kept():
        return None
    large = False
    with Background(getattr(options.on_progress, "compiling", _nothing)) as compiling:

        def interrupted() -> bool:
            nonlocal large
            large = large or compiling.is_done()
            return large or options.interrupted()

        def told(progress: Progress) -> None:
            nonlocal large
            large = large or progress.distinct > STATES
            if options.on_progress is not None:
                options.on_progress(progress)

        found = explore(model, replace(options, interrupted=interrupted, on_progress=told))
    if found is None or large:
        return None
    return replace(found, engine="native", statistics={**found.statistics, "small": True})


def explore(model: Model, options: SearchOptions) -> Exploration | None:
    """Search as `checker.contract.search` says; None where a program turns out not to serve."""
    started = time.monotonic()
    programs = Programs(model, replace(options, program_after=0))
    roots = make_roots(model, options, whole=True)
    layout = Layout(model, options.fingerprint_bits)
    layout.explode(programs.exploded)
    learned = Learned(layout, len(roots.all), roots.end_terminal)
    for state in model.initial_states:
        layout.row(state)
    learned.contribute_all()
    search = QuickSearch(
        model, options, layout, Repeats(model), programs=programs, learned=learned, roots=roots
    )
    try:
        programs.attach(learned, roots.all)
        return reference.run(search, None, started)
    except GaveUp:
        return None


@dataclass(kw_only=True)
class QuickSearch(reference.Search):
    """The state of such a search."""

    programs: Programs
    learned: Learned
    roots: Roots

    def __post_init__(self) -> None:
        """See nothing yet."""
        self._roots_of = {
            id(root.predicate): number
            for number, root in enumerate(self.roots.all) if root.predicate is not None
        }  # fmt: skip
        self._seen: tuple[Row, Row | None] | None = None
        self._held: array[int] = array("I")  # code has its address
        self._quiet: dict[Row, int] = {}  # by row: roots, as bits, that do nothing there
        self._touched: dict[int, int] = {}  # by outcome: roots that may read what it writes

    def _leaves(self, number: int, row: Row, before: Row | None = None) -> list[int] | None:
        """Return the leaves of a root's program; None where it has none."""
        if number not in self.programs.roots:
            return None
        quiet = self._quiet.get(row, 0) >> number & 1 if before is None else 0
        if quiet:
            return []
        if self._seen is None or self._seen[0] is not row or self._seen[1] is not before:
            self._seen = row, before
            if before is None:
                self._held = array("I", row)
            else:
                pairs = zip(row, chain(before, repeat(0)), strict=False)
                self._held = array("q", chain.from_iterable(pairs))
            address = self._held.buffer_info()[0]
            self.programs.look(address, len(row), with_before=before is not None)
        leaves = self.programs.answer(number, row, before)
        if not leaves and before is None:
            self._quiet[row] = self._quiet.get(row, 0) | 1 << number
        return leaves

    def _reached(self, row: Row, target: Row, outcome: int) -> None:
        """Note what does nothing in a state, since it did nothing before and reads no change."""
        if target in self._quiet:
            return
        touched = self._touched.get(outcome)
        if touched is None:
            touched, start = 0, int(self.learned.start.data[outcome])
            for at in range(start, start + int(self.learned.count.data[outcome])):
                path = self.layout.slots[int(self.learned.write_slot.data[at])].path
                touched |= self.programs.readers(path[2]) if len(path) > 2 else -1
            self._touched[outcome] = touched
        self._quiet[target] = self._quiet.get(row, 0) & ~touched

    def state_of(self, entry: Entry) -> State:
        """See `reference.Search.state_of`. It is made where a function runs as it is written."""
        return {}

    def _truth(self, predicate: object, row: Row, before: Row | None = None) -> bool | None:
        number = self._roots_of.get(id(predicate))
        leaves = self._leaves(number, row, before) if number is not None else None
        if number is None or leaves is None or (leaves and leaves[0] != EVENT):
            return None
        return bool(leaves) == self.roots.all[number].sought

    def check(self, predicate: Callable[[], bool], entry: Entry, state: State) -> bool | None:
        """See `reference.Search.check`."""
        found = self._truth(predicate, entry.row)
        if found is not None:
            return found
        return super().check(predicate, entry, self.layout.state(entry.row))

    def step_holds(self, prop: Property, source: Entry, target: Row) -> bool:
        """See `reference.Search.step_holds`."""
        found = self._truth(prop.whole, target, source.row)
        return super().step_holds(prop, source, target) if found is None else found

    def targets(
        self, action: Action, source: Entry, state: State
    ) -> Iterator[tuple[Row, tuple[int, ...], Outcome | None]]:
        """See `reference.Search.targets`."""
        leaves = self._leaves(self.roots.first_action + action.index, source.row)
        if leaves is None or max(leaves, default=FIRST_RESULT) > FIRST_RESULT:
            for target in super().targets(action, source, self.layout.state(source.row)):
                self.programs.see(target[0])  # programs are asked of it next
                yield target
            return
        row = list(source.row)
        for at, leaf in enumerate(leaves):
            after = self.learned.apply(row, FIRST_RESULT - leaf)
            while after and after[-1] == 0:
                after.pop()
            reached = tuple(after)
            self._reached(source.row, reached, FIRST_RESULT - leaf)
            yield reached, Ordinal((at,)), None

    def end_stage(self) -> bool:
        """See `reference.Search.end_stage`. Only findings need to know their choices."""
        new, known = set(self.stage), self.found.copy()
        violated = super().end_stage()
        for name in new - known.keys():
            self.found[name] = self._told(self.found[name])
        return violated

    def _told(self, found: Finding) -> Finding:
        state = self.model.initial_states[found.initial]
        row, steps = self.layout.row(state), []
        for step in found.steps:
            told, row = self._chosen(row, step)
            steps.append(told)
        failing = found.failing and self._chosen(row, found.failing)[0]
        return replace(found, steps=tuple(steps), failing=failing)

    def _chosen(self, row: Row, step: Step) -> tuple[Step, Row]:
        """Return a step with its choices, and where it leads."""
        at = 0
        for view in PlainView.runs(self.layout.state(row)):
            try:
                self.model.take(self.model.actions[step.action], view)
            except Disabled:
                continue
            except Exception:
                pass
            wanted = at == step.choices[0] if isinstance(step.choices, Ordinal) else (
                view.taken == step.choices
            )  # fmt: skip
            if wanted:
                return Step(step.action, view.taken), self.layout.changed(row, view.writes)
            at += 1
        raise AssertionError(f"{step} is no step")


def _nothing() -> None:
    """Tell nobody."""
