"""The states that were looked at: a tree of steps, each state made once, when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from statewalk.checker.behaviours.guided import ways
from statewalk.checker.contract.search import Step
from statewalk.checker.engines.layout import Layout
from statewalk.checker.states.content import Content, content_of, short_names
from statewalk.checker.traces.trace import Taken, Trace, TraceStep, said_of, take_step
from statewalk.checker.traces.truths import truths
from statewalk.checker.verdict.guards import guard_of
from statewalk.dsl.errors import RunError
from statewalk.dsl.state.plain_view import PlainView

if TYPE_CHECKING:
    from statewalk.checker.verdict.evidence import Guard
    from statewalk.dsl.model import Action, Model
    from statewalk.dsl.view import State

MOST_WAYS = 200  # of one action in a state
MOST_NODES = 20_000


@dataclass(frozen=True)
class Path:
    """A way from an initial state: which, and what was chosen at each step."""

    initial: int = 0
    steps: tuple[Step, ...] = ()


@dataclass
class Node:
    """A state that was looked at. The last of a path may have none: its step raised."""

    state: State | None
    content: Content
    truths: dict[str, bool | None]
    step: TraceStep | None = None
    error: BaseException | None = None
    children: dict[Step, Node] = field(default_factory=dict)


@dataclass(frozen=True)
class Possible:
    """A step that is possible in a state; ``cut`` names a constraint that a search stops at."""

    step: Step
    taken: Taken
    cut: str = ""


class Walk:
    """Goes through a model's states on foot."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.layout = Layout(model)
        self.names = short_names(model)
        self._forget()

    def _forget(self) -> None:
        self._roots: dict[int, Node] = {}
        self._count = 0

    def nodes(self, path: Path) -> list[Node]:
        """The states along a path. Raises RunError[SW370] where the spec does not go that way."""
        if self._count > MOST_NODES:
            self._forget()
        if not 0 <= path.initial < len(self.model.initial_states):
            raise off_the_way(0, f"there is no initial state {path.initial + 1}")
        if path.initial not in self._roots:
            state = self.model.initial_states[path.initial]
            self._roots[path.initial] = self._node(state, None)
        found = [self._roots[path.initial]]
        for number, step in enumerate(path.steps, 1):
            last = found[-1]
            if step not in last.children:
                last.children[step] = self._taken(last, step, number)
            found.append(last.children[step])
        return found

    def _taken(self, last: Node, step: Step, number: int) -> Node:
        if last.state is None:
            raise off_the_way(number, "the step before it raises")
        if not 0 <= step.action < len(self.model.actions):
            raise off_the_way(number, "there is no such action")
        action = self.model.actions[step.action]
        taken = take_step(self.model, last.state, action, step.choices)
        if taken is None:
            raise off_the_way(number, f"{action.label} is not possible there with these choices")
        if taken.state is None:
            return Node(None, {}, {}, taken.step, taken.error)
        node = self._node(taken.state, last.state)
        node.step = taken.step
        return node

    def _node(self, state: State, before: State | None) -> Node:
        self._count += 1
        states = [state] if before is None else [before, state]
        told = {name: values[-1] for name, values in truths(self.model, states).items()}
        return Node(state, content_of(self.model, state), told)

    def trace(self, path: Path) -> Trace:
        """A path as a trace, with all that is shown of one."""
        nodes = self.nodes(path)
        whole = [node for node in nodes if node.state is not None]
        error = nodes[-1].error
        return Trace(
            spec=self.model.path,
            constants=self.model.constants,
            sources=self.model.origins,
            property="",
            kind="exists",
            contents=tuple(node.content for node in whole),
            steps=tuple(node.step for node in nodes if node.step is not None),
            initial=path.initial,
            error=said_of(error),
            error_type=type(error).__name__ if error else "",
            names=self.names,
            truths={
                name: tuple(node.truths.get(name) for node in whole) for name in whole[-1].truths
            },
            classes=self.model.classes,
        )

    def state(self, path: Path) -> State:
        """The state at the end of a path. Raises RunError[SW370] where there is none."""
        found = self.nodes(path)[-1].state
        if found is None:
            raise off_the_way(len(path.steps), "it raises, so there is no state after it")
        return found

    def possible(self, state: State) -> tuple[list[Possible], list[Action], list[str]]:
        """The steps that are possible in a state, the actions that are not, and those of which not
        all ways are listed.
        """
        enabled: list[Possible] = []
        disabled: list[Action] = []
        more: list[str] = []
        for action in self.model.actions:
            found = list(islice(ways(self.model, state, action), MOST_WAYS + 1))
            if not found:
                disabled.append(action)
            if len(found) > MOST_WAYS:
                more.append(action.label)
            for choices, taken in found[:MOST_WAYS]:
                cut = "" if taken.state is None else self.cut(state, taken.state)
                enabled.append(Possible(Step(action.index, choices), taken, cut))
        return enabled, [a for a in disabled if _may_go_on(a, state)], more

    def cut(self, before: State, after: State) -> str:
        """The constraint that keeps a search from a step; empty where none does."""
        view, old = PlainView(after), PlainView(before)
        for prop in self.model.constraints:
            if not self.model.holds(prop.whole, view):
                return prop.name
        for prop in self.model.step_constraints:
            if not self.model.holds(prop.whole, view, old):
                return prop.name
        return ""

    def guard(self, action: Action, state: State) -> Guard | None:
        """What keeps an action from happening in a state."""
        return guard_of(self.model, action, state)

    def row(self, state: State) -> tuple[int, ...]:
        """What tells states apart."""
        return self.layout.row(state)

    def path_of(self, trace: Trace) -> Path:
        """The path of a trace that was repeated on this model."""
        steps: list[Any] = [
            Step(step.index, tuple(choice.index for choice in step.choices)) for step in trace.steps
        ]
        return Path(trace.initial, tuple(steps))


def _may_go_on(action: Action, state: State) -> bool:
    """Whether there is a suspended run to go on with, where an action does that."""
    return action.slot is None or not (action.continues or action.fault) or action.slot in state


def off_the_way(number: int, why: str) -> RunError:
    """The error of a path that the spec does not go."""
    return RunError(
        "SW370",
        f"Step {number} of the path is not possible: {why}.",
        why="The address holds which choices were made; of another spec, or of other constants, "
        "they mean something else.",
        help="Begin again, from an initial state.",
    )


def read_path(data: Any) -> Path:
    """A path as the page sends it: ``[initial, [[action, choice, …], …]]``. Raises ValueError."""
    match data:
        case [int(initial), list(steps)] if all(map(_is_step, steps)):
            return Path(initial, tuple(Step(one[0], tuple(one[1:])) for one in steps))
    raise ValueError("a path")


def _is_step(data: Any) -> bool:
    numbers = isinstance(data, list) and all(type(n) is int and n >= 0 for n in data)
    return numbers and len(data) > 0


def write_path(path: Path) -> list[Any]:
    """The same, to be sent."""
    return [path.initial, [written(step) for step in path.steps]]


def written(step: Step) -> list[int]:
    """A step as the page keeps it."""
    return [step.action, *step.choices]


def joined(path: Path, more: Sequence[Step]) -> Path:
    """A path that goes on."""
    return Path(path.initial, (*path.steps, *more))
