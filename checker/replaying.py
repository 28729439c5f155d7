"""A search in Python that repeats what it has learned: the native engine without compiled code.

It is the reference engine's search. What an action or a predicate does is learned as the native
engine learns it (decision 0001), and followed in tries once it is known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from statewalk.checker.contract.search import (
    ASSERTION,
    Exploration,
    Finding,
    SearchOptions,
    Step,
)
from statewalk.checker.engines import reference
from statewalk.checker.engines.layout import Layout
from statewalk.checker.engines.reference import Entry, Row
from statewalk.checker.engines.repeats import Repeats
from statewalk.checker.engines.table import Kept
from statewalk.checker.native.kernels.arrays import EVENT, FIRST_RESULT, OPERATION, QUIET
from statewalk.checker.native.learn.learning import Learner, Roots, make_roots
from statewalk.checker.native.learn.plain import PlainLearned
from statewalk.checker.symmetry.breaking import Sample
from statewalk.checker.symmetry.group import Symmetry
from statewalk.dsl.model import Action, Model, Outcome, Property
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.view import Disabled, State


class Ordinal(tuple[int]):
    """In place of a step's choices: which of an action's steps it is, failed ones counted."""

    __slots__ = ()


def explore(model: Model, options: SearchOptions) -> Exploration:
    """Search as `checker.contract.search` says."""
    started = time.monotonic()
    roots = make_roots(model, options)
    symmetry = Symmetry.asked(model, options)
    sample = Sample(symmetry, options) if symmetry is not None else None
    layout = Layout(model, options.fingerprint_bits, options.view, symmetry)
    learned = PlainLearned(layout, len(roots.all), roots.end_terminal)
    search = LearningSearch(
        model, options, layout, Repeats(model), learned=learned, roots=roots,
        learner=Learner(model, roots, layout, learned=learned),
    )  # fmt: skip
    if options.wanted(model, "behaviors"):
        search.steps = reference.Steps(layout)
    found = reference.run(search, sample, started)
    kept, whole = None, ASSERTION not in search.found and search.running is None
    if search.steps is not None and whole:  # a graph has to tell what fails an assertion
        kept = Kept(model, search.steps, whole=True)
    return replace(found, engine="replaying", kept=kept)


@dataclass(kw_only=True)
class Replaying(reference.Search):
    """The state of a search that asks what is known of its roots, in the place of running them."""

    roots: Roots

    def __post_init__(self) -> None:
        """See nothing yet."""
        self._roots_of = _by_predicate(self.roots)
        self._quiet: dict[Row, int] = {}  # by row: roots, as bits, that do nothing there
        self._possible: dict[int, list[Action]] = {}  # by the quiet among the roots of actions
        self._watch()

    def _watch(self) -> None:
        """Note the roots, as bits, of the properties of states that are not decided yet."""
        checks = {id(p.whole) for p in self.options.wanted(self.model, "states")
                  if p.name not in self.found}  # fmt: skip
        self._watched = sum(1 << n for whole in checks for n in self._roots_of[whole])

    def leaves(self, number: int, row: Row, before: Row | None = None) -> list[int] | None:
        """Return what a root does in a state, or a step, other than nothing; None where it has to
        be run as it is written.
        """
        raise NotImplementedError

    def reached(self, row: Row, outcome: int) -> Row:
        """Return the row after an outcome."""
        raise NotImplementedError

    def readers(self, outcome: int) -> int:
        """Return the roots, as bits, that may read what an outcome writes."""
        raise NotImplementedError

    def how(self, at: int, outcome: int) -> Outcome | None:
        """Return what is kept of the how manieth step of an action, where steps are kept."""
        return None

    def meet(self, row: Row) -> None:
        """Take note of a row that is not from an outcome."""

    def _asked(self, number: int, row: Row, before: Row | None = None) -> list[int] | None:
        if before is not None:
            return self.leaves(number, row, before)
        if self._quiet.get(row, 0) >> number & 1:
            return []
        leaves = self.leaves(number, row)
        if not leaves and leaves is not None:
            self._quiet[row] = self._quiet.get(row, 0) | 1 << number
        return leaves

    def state_of(self, entry: Entry) -> State:
        """See `reference.Search.state_of`. It is made where a function runs as it is written."""
        return {}

    def check_state(self, entry: Entry) -> None:
        """See `reference.Search.check_state`. Nothing is to be said where all roots are quiet."""
        rest = self._watched & ~self._quiet.get(entry.row, 0)
        while rest:
            if self._asked((rest & -rest).bit_length() - 1, entry.row) != []:
                return super().check_state(entry)
            rest &= rest - 1
        return None

    def possible(self, source: Entry) -> Sequence[Action]:
        """See `reference.Search.possible`: those that are not known to be disabled."""
        first, end = self.roots.first_action, self.roots.end_action
        quiet = (self._quiet.get(source.row, 0) & ((1 << end) - 1)) >> first
        known = self._possible.get(quiet)
        if known is None:
            known = [a for a in self.model.actions if not quiet >> a.index & 1]
            self._possible[quiet] = known
        return known

    def expand(self, source: Entry, following: dict[Row, Entry], outside: dict[Row, Entry]) -> None:
        """See `reference.Search.expand`."""
        super().expand(source, following, outside)
        self._quiet.pop(source.row, None)

    def _truth(self, predicate: object, row: Row, before: Row | None = None) -> bool | None:
        """Return the truth of a predicate, if it is known."""
        numbers = self._roots_of.get(id(predicate), ())
        for number in numbers:
            leaves = self._asked(number, row, before)
            if leaves is None or (leaves and (leaves[0] != EVENT or len(numbers) > 1)):
                return None
            if leaves:
                return self.roots.all[number].sought
        return not self.roots.all[numbers[0]].sought if numbers else None

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
        row = source.row
        leaves = self._asked(self.roots.first_action + action.index, row)
        if leaves is None or max(leaves, default=FIRST_RESULT) > FIRST_RESULT:
            for target in super().targets(action, source, self.layout.state(row)):
                self.meet(target[0])
                yield target
            return
        for at, leaf in enumerate(leaves):
            outcome = FIRST_RESULT - leaf
            target_row = self.reached(row, outcome)
            if target_row not in self._quiet:  # what reads no change does nothing there either
                self._quiet[target_row] = self._quiet.get(row, 0) & ~self.readers(outcome)
            yield target_row, Ordinal((at,)), self.how(at, outcome)

    def end_stage(self) -> bool:
        """See `reference.Search.end_stage`. Only findings need to know their choices."""
        new, known = set(self.stage), self.found.copy()
        violated = super().end_stage()
        for name in new - known.keys():
            self.found[name] = self._told(self.found[name])
            self._watch()
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


def _by_predicate(roots: Roots) -> dict[int, list[int]]:
    """Return the roots that tell the truth of a predicate, by its identity."""
    found: dict[int, list[int]] = {}
    for number, root in enumerate(roots.all):
        of_state = number < roots.first_action
        whole = roots.watched[root.group].whole if of_state else root.predicate
        if whole is not None:
            found.setdefault(id(whole), []).append(number)
    return found


@dataclass(kw_only=True)
class LearningSearch(Replaying):
    """The state of a search that learns what it does not know."""

    learned: PlainLearned
    learner: Learner

    def leaves(self, number: int, row: Row, before: Row | None = None) -> list[int] | None:
        """See `Replaying.leaves`."""
        learned, learner = self.learned, self.learner
        while True:
            leaves = learned.leaves(number, row, before)
            if leaves is None:
                learner.evaluate(number, row, before)
                continue
            done = [leaf for leaf in leaves if leaf != QUIET]
            outcomes = (FIRST_RESULT - leaf for leaf in done if leaf <= FIRST_RESULT)
            missed = next(filter(None, (learned.missed(row, one) for one in outcomes)), None)
            if missed is None:
                return done
            learner.learn((number, OPERATION, *missed), lambda: row)

    def reached(self, row: Row, outcome: int) -> Row:
        """See `Replaying.reached`."""
        return self.learned.reached(row, outcome)

    def readers(self, outcome: int) -> int:
        """See `Replaying.readers`."""
        return self.learned.readers(outcome)

    def how(self, at: int, outcome: int) -> Outcome | None:
        """See `Replaying.how`: its fair choices. Its choices are found where they are asked for."""
        fair = self.learned.fair_of.get(outcome, ())
        return None if self.steps is None else Outcome(Ordinal((at,)), (), {}, None, fair)
