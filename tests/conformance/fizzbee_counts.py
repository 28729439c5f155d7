"""Fizzbee's number of "unique states", where threads make it another than ours.

Fizzbee tells more states apart: the thread that moved last is part of a state, and so are locals
that nothing will read, and which statement of a parallel block comes next, as soon as anything
else moves. It leaves out arguments of functions and how often actions were started, so that of two
such states the one found first goes on. And it does not count states that only a crash leads to.
This search does all of it, in the order in which Fizzbee searches: states first found through
fewer steps first. It is a count to compare with, not a check.
"""

from __future__ import annotations

import ast
import math
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path as File
from typing import Any

from statewalk.checker.api import search_options
from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.native import explore
from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.checker.symmetry.colours import Colouring
from statewalk.checker.symmetry.group import Symmetry
from statewalk.dsl.binding import binding
from statewalk.dsl.blocks import tree
from statewalk.dsl.files import read_text
from statewalk.dsl.fizz.names import Names, collect, gives
from statewalk.dsl.fizz.read import options_in, parsed
from statewalk.dsl.fizz.rules.allowed import builtins_of_fizz
from statewalk.dsl.fizz.text.options import Options
from statewalk.dsl.fizz.text.parse import parse, split_front_matter
from statewalk.dsl.fizz.translate.blocks import Blocks, FizzPieces
from statewalk.dsl.fizz.translate.header import of_actions
from statewalk.dsl.fizz.translate.translate import Translation
from statewalk.dsl.flows.kept import keep
from statewalk.dsl.flows.run import RUNNING, Frame
from statewalk.dsl.loader import model_of
from statewalk.dsl.model import Action, Element, Model, Outcome, Property
from statewalk.dsl.mutants import run_spec
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.texts import Source
from statewalk.dsl.values.stored import ABSENT, FrozenBag, encode, freeze, intern_key, same
from statewalk.dsl.view import Path, State

BACK = "@back to the start"


def unique_states(
    path: str | File,
    constants: Mapping[str, Any] | None = None,
    *,
    symmetry: bool | None = None,
    seconds: float = math.inf,
) -> int | None:
    """The number of states of a .fizz spec as Fizzbee tells them apart; None where time was up, or
    where a step raised something.
    """
    model = counted(str(path), constants or {})
    asked = search_options(model, CheckOptions(symmetry=symmetry, liveness=False))
    back = back_to_the_start(model)
    faults = any(action.fault for action in model.actions)
    if model.flows is not None or faults or counters_of(model.path):
        group = Symmetry.asked(model, asked)
        options = options_in(model.path, read_text(model.path))
        try:
            return Count(model, options, time.monotonic() + seconds, back is None, group).run()
        except SpecRaisedError:
            return None
    if back is None:
        return explore(model, replace(asked, properties=())).counts.distinct
    model = replace(model, properties=(back,))
    found = explore(model, replace(asked, properties=(BACK,), keep_going=True))
    return found.counts.distinct - (not found.findings)


def counted(path: str, constants: Mapping[str, Any]) -> Model:
    """The Model of a .fizz spec that tells states apart as Fizzbee does: also by what the last
    action returned.
    """
    text = read_text(path)
    translation = Counted(collect(parsed(path, text)), path, options_in(path, text))
    source = Source(path, text, translation.module(), "fizz", builtins_of_fizz())
    model = model_of(run_spec(source, constants), path)
    if model.flows is not None:
        flows: Any = model.flows
        flows.dropped = frozenset(translation.temporaries)
        flows.frozen = partial(frozen, flows.dropped)
    return model


STATEMENTS_LEFT = "statements_left_of_"  # a local of parallel blocks; a number and _ follow


def frozen(dropped: frozenset[str], frame: Frame) -> tuple[Any, ...]:
    """A frame as a stored value with all its locals, but those ``dropped``."""
    live = frame.code.instructions[frame.at].live
    live |= {n for n in frame.locals if n[0] != "@" and n not in dropped}
    kept = tuple((n, keep(v)) for n, v in sorted(frame.locals.items()) if n in live | {"self"})
    return (frame.code.name, frame.at, kept, frame.target)


class CountedBlocks(Blocks):
    """Notes every choice: a fair one is noted with one option, too."""

    def _any_of(self, options: ast.expr, at: ast.AST, fair: str) -> ast.expr:
        return super()._any_of(options, at, "strong")


class CountedPieces(FizzPieces):
    """Names the statements that a parallel block has left by their number."""

    def __init__(self, blocks: Blocks, returns: bool, temporaries: set[str]) -> None:
        super().__init__(blocks, returns)
        self.temporaries = temporaries
        self._left = "left"

    def fresh(self, word: str) -> str:
        found = super().fresh(self._left if word == "left" else word)
        self.temporaries.add(found)
        return found

    def in_any_order(
        self, made: list[list[ast.stmt]], stop: list[ast.stmt], at: ast.AST
    ) -> list[ast.stmt]:
        self._left = f"{STATEMENTS_LEFT}{len(made)}_"
        found = super().in_any_order(made, stop, at)
        self._left = "left"
        return found


class Counted(Translation):
    """A module that tells states apart as Fizzbee does."""

    def __init__(self, names: Names, file: str, options: Options) -> None:
        names.reads_returns |= any(
            isinstance(act, tree.Act) and gives(act) for act in walk(names.module)
        )
        super().__init__(names, file, options)
        self.temporaries: set[str] = set()
        if self.threaded:
            self.blocks = CountedBlocks(self.x, self.blocks.functions, self.blocks.threads)
            self.threads.pieces = CountedPieces(self.blocks, self.returns, self.temporaries)

    def _settings(self) -> list[ast.stmt]:
        """The options, without a count of starts in the state and without crashes of runs."""
        settings: list[Any] = super()._settings()
        for made in settings:
            made.value.keywords = []
        return [made for made in settings if made.value.func.id != self.x.word("crashes")]


def back_to_the_start(model: Model) -> Property | None:
    """A property that a step violates by leading back to the initial state.

    Where there is no action ``Init`` (none at all, or the older ``init:``), Fizzbee counts the
    initial state only if a step leads to it. None where the initial states always count.
    """
    text, _, _ = split_front_matter(read_text(model.path))
    module = parse(text, model.path)
    if any(isinstance(node, tree.Act) and node.name == "Init" for node in module.body):
        return None
    if len(model.initial_states) != 1:
        return None
    start = model.initial_states[0]

    def holds() -> bool:
        view = binding.view
        assert view is not None
        return any(not same(view.get(path), value) for path, value in start.items())

    element = Element(BACK, (), holds)
    return Property(BACK, "on_step", (element,), holds)


def counters_of(path: str) -> frozenset[str]:
    """The fields that count starts of single actions: Fizzbee's states do not hold these."""
    text, _, _ = split_front_matter(read_text(path))
    names = collect(parse(text, path))
    caps, _ = of_actions(names, options_in(path, read_text(path)))
    made = [(cap, cap.counter(names)) for cap in caps.values()]
    return frozenset(counter for cap, counter in made if cap.starts > 0)


_THREADS: Path = ("@module", 0, "@flow", "@threads")
_CURRENT: Path = ("@module", 0, "@flow", "@current")
# The slot that holds it, what it is, and which statement of a parallel block comes next (None: no
# such block, or not yet decided).
Thread = tuple[Path, Any, Any]
Key = tuple[Any, ...]


class SpecRaisedError(Exception):
    """A step of the specification raised something."""


@dataclass
class Node:
    """A state as Fizzbee has it: ``threads`` by Fizzbee's slots, of which one moved last.

    ``crashed``: only crashes led here so far. ``tainted``: since the last crash on the way here no
    action started and nothing was chosen; what such a way meets is not taken for reached without a
    crash.
    """

    state: dict[Path, Any]
    threads: tuple[Thread | None, ...] = ()
    current: Thread | None = None
    starts: int = 0
    crashed: bool = False
    tainted: bool = False

    @property
    def live(self) -> list[Thread]:
        """The threads in flight."""
        return [t for t in self.threads if t is not None]


@dataclass
class Count:
    """The search for the number."""

    model: Model
    options: Options
    deadline: float
    counts_start: bool
    symmetry: Symmetry | None = None
    seen: dict[Key, Node] = field(default_factory=dict)
    queue: deque[tuple[Node, int | Action]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.fingerprints = Fingerprints(self.model.fields, 64, True)
        self.colouring: Colouring | None = None
        if self.symmetry is not None:
            self.colouring = Colouring(self.symmetry.facts, self.fingerprints)
        self.counters = counters_of(self.model.path)
        self.going_on: dict[Path, Action] = {}
        self.starting: list[Action] = []
        self.crashing: list[Action] = []
        for action in self.model.actions:
            if action.fault:
                self.crashing.append(action)
            elif action.slot is not None and action.continues:
                self.going_on[action.slot] = action
            else:
                self.starting.append(action)
        self.known: dict[Any, bytes] = {}

    def run(self) -> int | None:
        """The number of unique states; None where time was up before it was known."""
        for state in self.model.initial_states:
            self.reach(Node(dict(state), crashed=not self.counts_start))
        while self.queue:
            if time.monotonic() > self.deadline:
                return None
            node, move = self.queue.popleft()
            steps = self.going(node, move) if isinstance(move, int) else self.begun(node, move)
            for found in steps:
                self.reach(found)
        return sum(not node.crashed for node in self.seen.values())

    def reach(self, node: Node) -> None:
        """Note a state; one that only crashes led to counts from now on if this is no crash."""
        key = self.key(node)
        known = self.seen.get(key)
        if known is None:
            self.seen[key] = node
            self.schedule(node)
            if not node.crashed:
                self.crash_thread(node)
                self.crash_roles(node, frozenset(self.busy(node)))
        elif known.crashed and not node.crashed:
            known.crashed = node.tainted
            self.crash_thread(known)

    def schedule(self, node: Node) -> None:
        """Queue the steps from a state: threads in the order of their slots, then new actions."""
        most = self.options.max_concurrent_actions
        for way in self.decided(node):
            self.queue += [(way, at) for at, thread in enumerate(way.threads) if thread is not None]
            if way.starts < self.options.max_actions and len(way.live) < most:
                self.queue += [(way, action) for action in self.starting]

    def decided(self, node: Node) -> list[Node]:
        """A state once for each statement of a parallel block that may come next."""
        if node.current is None or node.current[2] is not None:
            return [node]
        slot, value, _ = node.current
        at, ways = node.threads.index(node.current), []
        for option in self.statements(value)[1]:
            now = (slot, value, option)
            threads = (*node.threads[:at], now, *node.threads[at + 1 :])
            ways.append(replace(node, threads=threads, current=now, tainted=False))
        return ways or [node]

    def statements(self, frames: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return which statements of a parallel block are done and left, by number; () and () where
        a thread does not wait between two of them.
        """
        assert self.model.flows is not None
        for name, value in frames[-1][2]:
            dropped = getattr(self.model.flows, "dropped", ())
            if name.startswith(STATEMENTS_LEFT) and name in dropped:
                left = tuple(value[-1] if "@own" in value[:1] else value)  # see `dsl.flows.kept`
                count = int(name.removeprefix(STATEMENTS_LEFT).partition("_")[0])
                if left:
                    return tuple(n for n in range(count) if n not in left), left
        return (), ()

    # -- identity -----------------------------------------------------------------------------
    def key(self, node: Node) -> Key:
        """Return what tells a state apart."""
        plain = {
            path: value
            for path, value in node.state.items()
            if "@flow" not in path and path[2] not in self.counters
        }
        if self.colouring is not None:
            plain[_THREADS] = FrozenBag(self.frames(t) for t in node.live)
            plain[_CURRENT] = None if node.current is None else self.frames(node.current)
            return self.colouring.of(plain).fingerprint
        threads = sorted(self.thread(t) for t in node.live)
        current = self.thread(node.current) if node.current is not None else b""
        return self.fingerprints.of_state(plain), tuple(threads), current

    def thread(self, thread: Thread) -> bytes:
        """Return what tells a thread apart."""
        kept = (intern_key(thread[1]), thread[2])
        known = self.known.get(kept)
        if known is None:
            known = self.known[kept] = encode(self.frames(thread))
        return known

    def frames(self, thread: Thread) -> Any:
        """A thread without the arguments of its functions; without its place, where that is in a
        parallel block and it is open what comes next.
        """
        _, value, decided = thread
        frames: list[Any] = []
        for name, at, kept, _ in value:
            assert self.model.flows is not None
            given = set(self.model.flows.code[name].parameters) - {"self"}
            frames.append((name, at, tuple((n, v) for n, v in kept if n not in given)))
        done, left = self.statements(value)
        if left and decided is None:
            kept = tuple((n, v) for n, v in frames[-1][2] if not n.startswith(STATEMENTS_LEFT))
            frames[-1] = (done, kept)
        return freeze((*frames, decided))

    def stays(self, slot: Path) -> bool:
        """Return whether the options keep the threads of an action from crashing."""
        name = slot[3] if slot[0] == "@module" else f"{slot[0]}.{slot[3]}"
        given = self.options.action_options.get(name)
        return given is not None and given.crash_on_yield is False

    def outcomes(self, action: Action, state: State) -> Iterator[Outcome]:
        """Every way an action can go. Raises SpecRaisedError for what the specification raises."""
        try:
            yield from self.model.outcomes(action, state)
        except Exception as error:
            raise SpecRaisedError from error

    # -- steps --------------------------------------------------------------------------------
    def begun(self, node: Node, action: Action) -> Iterator[Node]:
        """The states after the start of an action."""
        slot = action.slot
        for outcome in self.outcomes(action, node.state):
            state = self.model.successor(node.state, outcome)
            added = _only(_threads(state, slot), _threads(node.state, slot)) if slot else None
            threads = list(node.threads)
            current = None
            if added is not None:
                assert slot is not None
                current = (slot, added, None)
                at = next((i for i, t in enumerate(threads) if t is None), len(threads))
                threads[at : at + 1] = [current]
            yield self.moved(state, threads, current, node.starts + 1)

    def going(self, node: Node, at: int) -> Iterator[Node]:
        """The states after a step of one thread."""
        thread = node.threads[at]
        assert thread is not None
        slot, value, decided = thread
        before = _threads(node.state, slot)
        for outcome in self.outcomes(self.going_on[slot], node.state):
            own = outcome.chosen[len(set(map(intern_key, before))) > 1 :]
            if not same(_chosen(outcome, before), value):
                continue
            if decided is not None and not any(same(decided, one) for one in own[:1]):
                continue
            fresh = own if decided is None else own[1:]
            state = self.model.successor(node.state, outcome)
            left = list(before)
            del left[next(i for i, thread in enumerate(left) if same(thread, value))]
            added = _only(_threads(state, slot), left)
            threads = list(node.threads)
            threads[at] = (slot, added, None) if added is not None else None
            yield self.moved(state, threads, threads[at], node.starts, node.tainted and not fresh)

    def moved(
        self,
        state: State,
        threads: list[Thread | None],
        current: Thread | None,
        starts: int,
        tainted: bool = False,
    ) -> Node:
        """After a step. Where its thread ended, the lowest that is left counts as the last."""
        while threads and threads[-1] is None:
            threads.pop()
        if current is None:
            current = next((t for t in threads if t is not None), None)
        return Node(dict(state), tuple(threads), current, starts, False, tainted)

    def crash_thread(self, node: Node) -> None:
        """The thread that moved last is gone."""
        if not self.options.crash_on_yield or node.current is None:
            return
        if self.stays(node.current[0]):
            return
        at = node.threads.index(node.current)
        threads = list(node.threads)
        threads[at] = None
        found = self.moved(without(node.state, node.current), threads, None, node.starts, True)
        found.crashed = True
        self.reach(found)

    @staticmethod
    def busy(node: Node) -> set[Any]:
        """The roles that only wait for a function they called: these do not crash."""
        found: set[Any] = set()
        for _, frames, _ in node.live:
            found |= {_self(frame) for frame in frames[:-1]} - {_self(frames[-1])}
        return found

    def crash_roles(self, node: Node, spared: frozenset[Any]) -> None:
        """Each role crashes that may, and after it each other: with all runs of its class."""
        for action in self.crashing:
            if action.actor in spared or not self.options.crash_on_yield:
                continue
            outcome = next(self.outcomes(action, node.state))
            state = dict(node.state)
            state.update({p: v for p, v in outcome.writes.items() if "@flow" not in p})
            threads = list(node.threads)
            for at, thread in enumerate(threads):
                if thread is not None and type(_self(thread[1][-1])) is type(action.actor):
                    state = without(state, thread)
                    threads[at] = None
            current = node.current if node.current in threads else None
            found = self.moved(state, threads, current, node.starts, True)
            found.crashed = True
            key = self.key(found)
            if key not in self.seen:
                self.seen[key] = found
                self.schedule(found)
                self.crash_roles(found, spared | {action.actor})


def _self(frame: Any) -> Any:
    """The role in whose function a frame is."""
    return dict(frame[2]).get("self")


def without(state: State, thread: Thread) -> dict[Path, Any]:
    """A state in which a thread is gone."""
    slot, value, _ = thread
    held = state[slot]
    left = held.adjusted(value, -1) if isinstance(held, FrozenBag) else ()
    result = {**state, slot: left, RUNNING: state.get(RUNNING, 1) - 1}
    return {p: v for p, v in result.items() if not (p in (slot, RUNNING) and not v)}


def _threads(state: State, slot: Path) -> list[Any]:
    held = state.get(slot, ABSENT)
    if held is ABSENT:
        return []
    return list(held) if isinstance(held, FrozenBag) else [held]


def _only(more: list[Any], fewer: list[Any]) -> Any:
    """Return what is in one list and not in the other; None where nothing is."""
    left = Counter(map(intern_key, fewer))
    for item in more:
        if not left[intern_key(item)]:
            return item
        left[intern_key(item)] -= 1
    return None


def _chosen(outcome: Outcome, threads: list[Any]) -> Any:
    """The thread that went on: chosen first, unless there was one only."""
    return threads[0] if all(same(t, threads[0]) for t in threads) else outcome.chosen[0]
