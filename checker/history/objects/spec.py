"""An object that is a spec: its actions are the operations, its states have numbers.

What an operation does in a state is learned from the spec once for each (state, action, arguments,
answer), and remembered by numbers.
"""

from __future__ import annotations

import ast
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

from statewalk.checker.conform.values import fits
from statewalk.checker.engines.layout import Layout
from statewalk.checker.history.errors import HistoryError
from statewalk.checker.history.objects.operations import ABSENT, Operation, Operations
from statewalk.checker.library import library_folder
from statewalk.checker.states.content import content_of, short_names, show_field
from statewalk.checker.states.shortening import fit
from statewalk.checker.verdict.guards import guard_of
from statewalk.dsl.errors import RunError, StatewalkError, did_you_mean
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.values.stored import encode, freeze
from statewalk.dsl.view import Disabled, runs

if TYPE_CHECKING:
    from statewalk.dsl.model import Action, Model
    from statewalk.dsl.view import Path, State

KEY, ITEM, CLIENT = "key", "item", "client"
_SHOWN = 60
_PAIR = 2
_GIVES = " → "
_FIELD, _ENTRY = 3, 5


Family = tuple[str, bool | None]


@dataclass(frozen=True)
class Kind:
    """All operations with the same action, arguments and answer: they do the same."""

    number: int
    call: int  # the number of the action with its arguments
    family: Family  # the action, with the answer where that is true or false
    name: str
    action: Action
    answer: Any
    shown: str


@dataclass(frozen=True)
class Bound:
    """A recorded operation as one of the object. One that is not ``required`` may have happened,
    at any time since its begin.
    """

    op: Operation
    kind: Kind
    key: Any
    required: bool


class _Noting(PlainView):
    """A view that also notes which fields are read."""

    __slots__ = ("reads",)

    def __init__(self, base: State, script: Sequence[int] = ()) -> None:
        super().__init__(base, script)
        self.reads: set[Path] = set()

    def get(self, path: Path) -> Any:
        self.reads.add(path)
        return super().get(path)

    def update(self, path: Path, key: object, fn: Callable[[Any], Any]) -> None:
        """Change a field; of the keys of a dict, nothing is seen by that."""
        if is_keys(path):
            self.writes[path] = fn(super().get(path))
        else:
            super().update(path, key, fn)


@dataclass
class _Signature:
    """The action of a name: who has it, its parameters with the values that the spec gives them."""

    action: Action
    actor: tuple[Any, ...]
    function: Callable[..., object]
    parameters: tuple[str, ...]
    known: dict[str, dict[bytes, Any]]
    returns: str


@dataclass
class Object:
    """A spec as a sequential object."""

    model: Model
    nil_is_unknown: bool = False
    states: list[State] = field(default_factory=list)
    learned: int = 0

    def __post_init__(self) -> None:
        self._layout = Layout(self.model)
        self._rows: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._kinds: dict[tuple[int, bytes | None], Kind] = {}
        self._calls: dict[tuple[str, bytes], int] = {}
        self._steps: list[dict[int, tuple[int, ...]]] = []
        self._runs: list[dict[int, tuple[tuple[Any, int], ...]]] = []
        self.changing: set[Family] = set()  # those that were seen to change a state
        self._names = short_names(self.model)
        self.touched: dict[int, tuple[set[Path], set[Path]]] = {}  # by call: read, written
        self.signatures = _signatures(self.model)
        self.first = [self._number(self._layout.row(s)) for s in self.model.initial_states]

    @property
    def in_library(self) -> bool:
        """Return whether it is one of our own objects, of which more is known."""
        return File(self.model.path).resolve().parent == library_folder().resolve() / "objects"

    # -- states and steps ------------------------------------------------------------------------

    def _number(self, row: tuple[int, ...]) -> int:
        number = self._numbers.get(row)
        if number is None:
            number = self._numbers[row] = len(self.states)
            self.states.append(self._layout.state(row))
            self._rows.append(row)
            self._steps.append({})
            self._runs.append({})
        return number

    def after(self, state: int, kind: Kind) -> tuple[int, ...]:
        """Return the states in which an operation can leave the object; none where it is disabled
        or gives another answer.
        """
        found = self._steps[state].get(kind.number)
        if found is None:
            found = self._steps[state][kind.number] = self._learn(state, kind)
        return found

    def _learn(self, state: int, kind: Kind) -> tuple[int, ...]:
        done = self.done(state, kind)
        return tuple({to: None for told, to in done if answers(kind.answer, told)})

    def done(self, state: int, kind: Kind) -> tuple[tuple[Any, int], ...]:
        """Return (answer, state after it) for each way in which an action can go in a state."""
        done = self._runs[state].get(kind.call)
        if done is None:
            done = self._runs[state][kind.call] = tuple(self._run(state, kind))
            for told, to in done:
                if to != state:
                    self.changing |= {(kind.name, None), (kind.name, _truth(told))}
        return done

    def _run(self, state: int, kind: Kind) -> Iterator[tuple[Any, int]]:
        """Run an action in a state; yield (answer, state after it) for each way it can go."""
        self.learned += 1
        base = self.states[state]
        reads, written = self.touched.setdefault(kind.call, (set(), set()))
        for view in runs(lambda script: _Noting(base, script)):
            returned = self._returned(kind, view, state)
            reads.update(view.reads)
            written.update(view.writes)
            if returned is not ABSENT:
                row = self._layout.changed(self._rows[state], view.writes)
                yield returned, self._number(row)

    def _returned(self, kind: Kind, view: PlainView, state: int) -> Any:
        """Return what an action returns; ABSENT where it is disabled. Raises RunError[SW711]."""
        try:
            return self.model.take(kind.action, view)
        except Disabled:
            return ABSENT
        except StatewalkError:
            raise
        except Exception as error:
            raise RunError(
                "SW711",
                f"{kind.shown} fails in {self.show(state)}: {type(error).__name__}: {error}.",
                help="An action takes all arguments of the history, and returns what clients get.",
            ) from error

    def returns(self, state: int, kind: Kind) -> list[Any]:
        """Return what an operation can answer in a state."""
        views = PlainView.runs(self.states[state])
        found = (self._returned(kind, view, state) for view in views)
        return [one for one in found if one is not ABSENT]

    def why_not(self, state: int, kind: Kind) -> str:
        """Return why an operation cannot have happened in a state."""
        found = dict.fromkeys(fit(one, _SHOWN) for one in self.returns(state, kind))
        if found:
            return f"it returns {' or '.join(found)}"
        guard = guard_of(self.model, kind.action, self.states[state])
        if guard is None:
            return "it is disabled"
        values = " · ".join(f"{name} = {fit(value, _SHOWN)}" for name, value in guard.values)
        text = guard.text or "a choice has no option"
        return f"{text} is false: {values}" if values else f"{text} is false"

    def show(self, state: int) -> str:
        """Return a state in one line."""
        content = content_of(self.model, self.states[state])
        fields = (f"{show_field(p, self._names)} = {fit(v, _SHOWN)}" for p, v in content.items())
        return " · ".join(fields) or "the one state"

    def show_path(self, path: Path) -> str:
        """Return a field, or an entry of it, as the author of the spec would write it."""
        return (
            show_field(path[:_FIELD], self._names)
            if len(path) < _ENTRY
            else self._layout.show(path)
        )

    # -- operations ------------------------------------------------------------------------------

    def bind(self, history: Operations) -> list[Bound]:
        """Return the operations that happened or may have, as those of this object.

        Raises:  HistoryError[SW701] for an operation that the spec does not have.
        """
        return [self._bound(history, op) for op in history.all if op.status != "fail"]

    def _bound(self, history: Operations, op: Operation) -> Bound:
        signature = self.signatures.get(op.name)
        if signature is None:
            raise _wrong(
                history,
                op,
                f"{self.model.path} has no action {op.name}",
                did_you_mean(op.name, self.signatures).rstrip(".") or "one of its actions",
            )
        if not op.exact and not signature.returns:
            raise RunError(
                "SW711",
                f"{self.model.path}: {op.name} does not say what it returns.",
                why="In histories of Jepsen that tells whether a completion has an answer, or "
                "repeats what was asked.",
                help="Write the type after the parameters: -> bool, -> int, -> None.",
            )
        arguments, told = _arguments(history, op, signature)
        values = tuple(
            _of_spec(history, op, signature, name, value) for name, value in arguments.items()
        )
        answer = told if signature.returns != "None" else ABSENT
        if op.exact and answer is ABSENT and told is not ABSENT and told is not None:
            raise _wrong(
                history,
                op,
                f"the history has an answer of {op.name}, which returns nothing",
                "no answer",
            )
        if op.status != "ok":
            answer = ABSENT
        elif signature.returns == "bool" and not (op.exact or isinstance(told, bool)):
            answer = True  # a completion repeats what was asked
        elif answer is None and self.nil_is_unknown:
            answer = ABSENT
        kind = self._kind(history, op, signature, values, answer)
        key = arguments.get(KEY, arguments.get(ITEM, ABSENT))
        return Bound(op, kind, key, op.status == "ok")

    def relaxed(self, bound: Bound) -> Bound:
        """Return an operation of which only is known that it may have happened."""
        kind = bound.kind
        of = kind.call, None
        if of not in self._kinds:
            shown = kind.shown.partition(_GIVES)[0]
            self._kinds[of] = replace(
                kind, number=len(self._kinds), family=(kind.name, None), answer=ABSENT, shown=shown
            )
        return replace(bound, kind=self._kinds[of], required=False)

    def _kind(
        self,
        history: Operations,
        op: Operation,
        signature: _Signature,
        values: tuple[Any, ...],
        answer: Any,
    ) -> Kind:
        try:
            frozen = freeze(values)
            call = self._calls.setdefault((op.name, encode(frozen)), len(self._calls))
            of = call, None if answer is ABSENT else encode(freeze(answer))
        except (StatewalkError, TypeError) as error:
            raise _wrong(
                history, op, f"{op.name} has a value that no spec has: {error}", "other values"
            ) from None
        found = self._kinds.get(of)
        if found is None:
            function, actor = signature.function, signature.actor
            names = tuple(zip(signature.parameters, frozen, strict=True))
            action = replace(
                signature.action,
                arguments=names,
                run=lambda: freeze(function(*actor, *values)),
                source=None,
            )
            inside = ", ".join(fit(v, _SHOWN) for n, v in names if n != CLIENT)
            shown = f"{op.name}({inside})"
            shown += "" if answer is ABSENT else f"{_GIVES}{fit(freeze(answer), _SHOWN)}"
            found = self._kinds[of] = Kind(
                len(self._kinds), call, (op.name, _truth(answer)), op.name, action, answer, shown
            )
        return found


def is_keys(path: Path) -> bool:
    """Return whether a field is the set of a dict's keys, which follows from its entries."""
    return path[_FIELD:] == ("keys",)


def _truth(answer: Any) -> bool | None:
    return answer if isinstance(answer, bool) else None


def answers(said: Any, returned: Any) -> bool:
    """Return whether what was recorded as an answer is what an action returned."""
    return said is ABSENT or fits(said, returned)


def _signatures(model: Model) -> dict[str, _Signature]:
    """Return the actions of a spec by name. Raises RunError[SW711] for a spec that is no object."""
    found: dict[str, _Signature] = {}
    for action in model.actions:
        if action.source is None or action.fault:
            raise _no_object(model, action, "takes several steps, or is a fault")
        function, whole = action.source.function, action.source.arguments
        actor = whole[:1] if action.actor is not None else ()
        names = tuple(name for name, _ in action.arguments)
        known = found.get(action.name)
        if known is None:
            space = function.module.namespace
            text = _returned_by(function.node, function.function, space)
            empty: dict[str, dict[bytes, Any]] = {name: {} for name in names}
            known = _Signature(action, actor, function.function, names, empty, text)
            found[action.name] = known
        elif known.action.actor is not action.actor:
            raise _no_object(model, action, "is one of several instances")
        for (name, value), given in zip(action.arguments, whole[len(actor) :], strict=True):
            known.known[name].setdefault(encode(value), given)
    return found


def _returned_by(
    node: ast.FunctionDef, function: Callable[..., object], space: dict[str, Any]
) -> str:
    """Return the type that an action says it returns; empty where it says none, and may return
    something.
    """
    if node.returns is None:
        given = (one.value for one in ast.walk(node) if isinstance(one, ast.Return))
        return "" if any(one is not None for one in given) else "None"
    try:
        hint = typing.get_type_hints(function, space)["return"]
    except Exception:  # another annotation may have a name that is only there for types
        return ast.unparse(node.returns).strip("'")
    return "None" if hint is type(None) else "bool" if hint is bool else "a value"


def _no_object(model: Model, action: Action, why: str) -> RunError:
    return RunError(
        "SW711",
        f"{model.path} is no object: {action.label} {why}.",
        help="The actions of an object are its operations: each takes effect in one step, and "
        "there is one instance that has it. The clients are parameters.",
    )


def _wrong(history: Operations, op: Operation, what: str, expected: str) -> HistoryError:
    return HistoryError(what, source=history.source, where=op.where, expected=expected)


def _arguments(
    history: Operations, op: Operation, signature: _Signature
) -> tuple[dict[str, Any], Any]:
    """Return the arguments of an operation by name, and what it was told."""
    names, asked, told = signature.parameters, op.asked, op.told
    found: dict[str, Any] = {CLIENT: op.client} if CLIENT in names else {}
    if KEY not in names and op.key is not ABSENT:
        raise _wrong(history, op, f"{op.name} has no parameter key", "no key, or another object")
    if KEY in names and op.key is not ABSENT:
        found[KEY] = op.key
    elif KEY in names and not op.exact:  # as jepsen.independent has it
        if not isinstance(asked, list) or len(asked) != _PAIR:
            raise _wrong(
                history, op, f"{op.name} is an operation of no key", "a :key, or [key value]"
            )
        found[KEY], asked = asked
        if isinstance(told, list) and len(told) == _PAIR and told[0] == found[KEY]:
            told = told[1]
    rest = [name for name in names if name not in found]
    if isinstance(asked, Mapping) and op.exact:
        given = dict(asked)
    elif op.exact or len(rest) > 1:
        values = asked if isinstance(asked, list) else [asked]
        given = dict(zip(rest, values, strict=False)) if len(values) == len(rest) else {"": values}
    else:
        given = {} if asked is ABSENT else dict.fromkeys(rest, asked)
    if given.keys() != set(rest):
        expected = f"{', '.join(rest) or 'no'} as arguments"
        raise _wrong(
            history, op, f"{op.name} is called with other arguments: {asked!r:.60}", expected
        )
    return {name: {**found, **given}[name] for name in names}, told


def _of_spec(history: Operations, op: Operation, of: _Signature, name: str, value: Any) -> Any:
    """Return the value of the spec that a recorded argument says; itself, where that is no enum's
    member and no role.
    """
    known = of.known[name].values()
    for one in known:
        if fits(value, freeze(one)):
            return one
    if known and not any(isinstance(one, bool | int | str | tuple | None) for one in known):
        expected = ", ".join(map(repr, known))
        raise _wrong(history, op, f"{name} of {op.name} is {value!r:.60}", expected)
    return _unchangeable(value)


def _unchangeable(value: Any) -> Any:
    return tuple(map(_unchangeable, value)) if isinstance(value, list) else value
