"""Learning: run a root of the model in a state, for all choices, and remember each path."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.contract.stops import StoppedBy
from statewalk.checker.engines.hidden import numbers_of
from statewalk.checker.engines.layout import Layout
from statewalk.checker.engines.repeats import unsteady
from statewalk.checker.engines.resets import Rule
from statewalk.checker.native.kernels.arrays import (
    ASSERTION,
    EDGE,
    ERROR,
    EVENT,
    PROGRAM_MISS,
    PROJECTION,
    QUIET,
    Array,
)
from statewalk.checker.native.learn.learned import Learned
from statewalk.checker.native.learn.memo import Call, leaf_of_result
from statewalk.checker.native.learn.resetting import Resets, ResettingView
from statewalk.checker.native.learn.tracing import (
    Contradiction,
    LookAgain,
    NotOnlyReading,
    Overwritten,
    TracingView,
)
from statewalk.dsl.errors import SpecError
from statewalk.dsl.model import Action, Model, Property, Text
from statewalk.dsl.view import Disabled, next_script

_ASK_EVERY = 256  # runs of actions


@dataclass(frozen=True)
class Root:
    """A unit of learning with one trie: an action, or a predicate, of a property's element or
    whole.

    ``sought``: the search has to hear of states in which the predicate is true, not of others.
    """

    kind: str
    group: int
    label: str
    action: Action | None = None
    predicate: Callable[[], bool] | None = None
    source: Text | None = None
    sought: bool = False


@dataclass(frozen=True)
class Roots:
    """All roots of a search, in this order: checks of states, actions, terminal, checks of steps.

    ``watched`` are the properties, then the constraints; a root's ``group`` is an index into it.
    ``steps`` are the step properties, then the step constraints.
    """

    all: tuple[Root, ...]
    watched: tuple[Property, ...]
    n_properties: int
    first_action: int
    end_action: int
    end_terminal: int
    steps: tuple[Property, ...]
    n_step_properties: int

    def moving(self) -> Array:
        """Return for each root, (R,) uint8, whether its steps end a deadlock: faults do not."""
        faults = [root.action is not None and root.action.fault for root in self.all]
        return np.array([not fault for fault in faults], np.uint8)


def make_roots(model: Model, options: SearchOptions, *, whole: bool = False) -> Roots:
    """Return the roots of what the options ask for. ``whole``: each property is one."""
    checks, on_step = options.wanted(model, "states"), options.wanted(model, "steps")
    watched = (*checks, *model.constraints)
    roots: list[Root] = []
    for group, prop in enumerate(watched):
        sought, kind = prop.of_kind.sought, prop.kind if group < len(checks) else "constraint"
        if group < len(checks) and not sought and prop.elements and not whole:
            roots += [
                Root(kind, group, f"{prop.name}: {e.label}", None, e.holds, e.source)
                for e in prop.elements
            ]
        else:
            roots.append(Root(kind, group, prop.name, None, prop.whole, prop.source, sought))
    first = len(roots)
    roots += [Root("action", a.index, a.label, a, None, a.source) for a in model.actions]
    end = len(roots)
    roots += [
        Root("terminal", i, p.name, None, p.whole, p.source, sought=True)
        for i, p in enumerate(model.terminal)
    ]
    end_terminal = len(roots)
    steps = (*on_step, *model.step_constraints)
    roots += [
        Root("step", i, p.name, None, p.whole, p.source, p.of_kind.sought)
        for i, p in enumerate(steps)
    ]
    return Roots(tuple(roots), watched, len(checks), first, end, end_terminal, steps, len(on_step))


def is_repeated(count: int) -> bool:
    """Return whether a root is run again after so many evaluations, to see that it does
    the same.
    """
    return count & (count - 1) == 0 or count % 256 == 0


class Stopped(Exception):
    """The search is to stop, and what is being learned takes long: a step with many choices."""

    def __init__(self, reason: StoppedBy) -> None:
        super().__init__(reason)
        self.reason: StoppedBy = reason


def no_reason() -> StoppedBy | None:
    """None to stop."""
    return None


class Programmed(Protocol):
    """Knows the programs of some roots."""

    def complete(self, number: int, row: Sequence[int], before: Sequence[int] | None) -> int:
        """Learn what a root's program does not know in a state: how much that was."""
        ...

    def found(self, states: int) -> None:
        """Note that a search has found so many states."""
        ...

    @property
    def refused(self) -> list[str]:
        """Return why functions have no program."""
        ...

    def evaluated(self, count: int, evaluations: Array) -> None:
        """Note that a root was evaluated, after ``count`` times before."""
        ...

    def words(self) -> Array:
        """Return what one thread's runs need, as kernels take it."""
        ...


class Learner:
    """Runs the spec where the kernels do not know what it does; ``seconds`` is what that took.

    ``urgent`` is asked now and then while actions run; `Stopped` is raised where it has a reason.
    ``view`` is what actions run against, where it is to note more than a `TracingView`.
    """

    def __init__(
        self, model: Model, roots: Roots, layout: Layout,
        view: Callable[[Learned, Model], TracingView] | None = None,
        learned: Learned | None = None, rule: Rule | None = None,
    ) -> None:  # fmt: skip
        self.model = model
        self.roots = roots
        self.learned = learned or Learned(layout, len(roots.all), roots.end_terminal)
        self.evaluations: Array = np.zeros(len(roots.all), np.int64)
        self.time: Array = np.zeros(len(roots.all), np.float64)
        self.filled = 0
        self.programs: Programmed | None = None
        self.urgent: Callable[[], StoppedBy | None] = no_reason
        self._runs = 0
        self._too_deep = False  # a call of the spec ended there, not always at the same place
        self.resets = None if rule is None else Resets(self.learned, rule)
        new: Callable[..., TracingView] = TracingView
        if rule is not None:
            new = partial(ResettingView, numbers=numbers_of(model, model.fields))
        self._view = new(self.learned, None) if view is None else view(self.learned, model)
        self._after, self._before = new(self.learned, 0), new(self.learned, 1)

    @property
    def seconds(self) -> float:
        """Time spent on evaluations."""
        return float(self.time.sum())

    def learn(
        self,
        miss: Sequence[int],
        row: Callable[[], Sequence[int]],
        before: Callable[[], Sequence[int]] | None = None,
    ) -> None:
        """Fill in what a kernel missed: (root, kind, operand, value), seen in a state."""
        root, kind, operand, value = miss
        if kind == PROGRAM_MISS:
            assert self.programs is not None
            started = time.perf_counter()
            if root in self.learned.programmed:
                state, earlier = row(), before() if before else None
                self.evaluations[root] += self.programs.complete(root, state, earlier)
            self.time[root] += time.perf_counter() - started
            return
        if kind == PROJECTION:
            self.filled += 1
            self.learned.project(operand, value)
            return
        if kind != EDGE:
            self.filled += 1
            try:
                self.learned.operate(operand, value)
            except Exception:
                self._look_again(operand)
            return
        if root in self.learned.programmed:
            return  # it was a trie when the kernel missed something
        call = None if before else self.learned.missed_call(operand)
        self.evaluate(root, row(), before() if before else None, call)

    def evaluate(
        self,
        number: int,
        row: Sequence[int],
        before: Sequence[int] | None = None,
        call: Call | None = None,
    ) -> None:
        """Run a root in a state for all choices, or only a call that it makes, and remember the
        paths.

        Now and then it is run again, to see that it does the same, and changes nothing else.
        """
        run = partial(self._run, number, row, before)
        if call is not None:
            run = partial(self._run_call, number, row, call)
        started = time.perf_counter()
        count = int(self.evaluations[number])
        self.evaluations[number] = count + 1
        while True:
            try:
                run()
                if is_repeated(count):
                    run(again=True)
            except LookAgain as raised:
                self._look_again(raised.operation)
                continue
            except Overwritten as raised:
                self.learned.inline(number, raised.function)
                continue
            except NotOnlyReading as raised:
                self.learned.never_remember(raised.function)
                continue
            except Contradiction as what:
                self.model.look_outside()
                raise self._nondeterministic(number, str(what)) from None
            break
        if count < 3 or count % 256 == 0:  # each look takes about as long as a step
            self.model.look_outside()
        self.time[number] += time.perf_counter() - started
        if self.programs is not None:
            self.programs.evaluated(count, self.evaluations)

    def _nondeterministic(self, number: int, what: str) -> SpecError:
        root = self.roots.all[number]
        span = root.action.span if root.action else None
        return unsteady(root.label, what, span)

    def _look_again(self, operation: int) -> None:
        """Forget the paths on which an update was blind that turned out to raise."""
        known = self.learned.operations[operation]
        known.raising = True
        for root in known.users:
            self.learned.forget(root)
        known.users.clear()

    def _run(
        self, number: int, row: Sequence[int], before: Sequence[int] | None, again: bool = False
    ) -> None:
        """Run a root for all choices, ``again`` also for those whose path is known."""
        root = self.roots.all[number]
        view = self._view if before is None else self._after
        script: list[int] | None = []
        while script is not None:
            if root.action:
                self._pause()
            if root.action and not again:
                choices = self.learned.choices_of(number, row, script)
                if choices is not None:
                    script = next_script(choices)
                    continue
            view.begin(row, script, None, number)
            if before is not None:
                self._before.begin(before, [], view.events)
            leaf = (
                self._act(root, view)
                if root.action
                else self._judge(root, view, before is not None)
            )
            for seen in (view, self._before):
                if seen.refused is not None:
                    raise seen.refused
            if leaf in (QUIET, ASSERTION, ERROR):
                view.give_up()
            if leaf == QUIET and number < self.learned.n_bits:
                self.learned.depend(number, view.touched, view.calls)
            for operation in view.blind:
                self.learned.operations[operation].users.add(number)
            contradiction = self.learned.insert(self.learned.roots, number, view.events, leaf)
            if contradiction is not None and not self._too_deep:
                raise Contradiction(contradiction)
            script = next_script(view.choices)

    def _run_call(self, number: int, row: Sequence[int], call: Call, again: bool = False) -> None:
        """Run a call that a root makes; the root itself, where that has to be learned anew."""
        root, view = self.roots.all[number], self._view
        if call.function in self.learned.not_only_reading:
            return self._run(number, row, None, again)
        view.begin(row, [], None, number)
        if root.action is not None:
            self.model.take(root.action, view, partial(view.ask, call))
        elif root.predicate is not None:
            self.model.holds(root.predicate, view, None, partial(view.ask, call))
        if view.refused is not None:
            raise view.refused
        return None

    def _pause(self) -> None:
        self._runs += 1
        if self._runs % _ASK_EVERY == 0 and (reason := self.urgent()):
            raise Stopped(reason)

    def _act(self, root: Root, view: TracingView) -> int:
        """Run an action with the script's choices; its leaf."""
        assert root.action is not None
        try:
            self.model.take(root.action, view)
        except Disabled:
            return QUIET
        except AssertionError:
            return ASSERTION
        except Exception as error:
            self._too_deep = self._too_deep or isinstance(error, RecursionError)
            return ERROR
        return self._outcome(view)

    def _outcome(self, view: TracingView) -> int:
        slots = self.learned.layout.slots
        known: list[tuple[int, int, int]] = []
        blind: list[tuple[int, int]] = []
        for slot, value in view.written.items():
            new = self.learned.value_id(slots[slot], value)
            if slot not in view.reads:
                blind.append((slot, new))
                continue
            old = view.row[slot] if slot < len(view.row) else 0
            if new != old:
                known.append((slot, old, new))
        for slot, operation in view.pending.items():
            self.learned.operated_on(operation, view.row[slot] if slot < len(view.row) else 0)
            blind.append((slot, -1 - operation))
        if self.resets is not None:
            known, blind = self.resets.applied(known, blind, view)
        return leaf_of_result(self.learned.outcome(sorted(known), sorted(blind), tuple(view.fair)))

    def _judge(self, root: Root, view: TracingView, step: bool) -> int:
        """Run a predicate; its leaf: an event is what the search has to hear of."""
        assert root.predicate is not None
        try:
            if step:
                holds = self.model.holds(root.predicate, view, self._before)
            else:
                holds = self.model.holds(root.predicate, view)
        except Exception as error:
            self._too_deep = self._too_deep or isinstance(error, RecursionError)
            return ERROR
        return EVENT if bool(holds) is root.sought else QUIET
