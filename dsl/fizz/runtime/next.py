"""Other states than the one an assertion is about: after a possible step (`next_states`), and
before the step in a transition assertion (`before_step`).

Each is looked at as it is then, its roles too: ``n.state.server.cache`` is the cache after the
step. Such a role is equal to the role itself.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from statewalk.dsl.binding import before_the_step
from statewalk.dsl.fizz.runtime.values import deepcopy, record
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.ordered_sets import OrderedSet
from statewalk.dsl.values.records import parts_of
from statewalk.dsl.values.stored import (
    FrozenDict,
    FrozenList,
    FrozenSet,
    freeze,
    intern_key,
    same,
)
from statewalk.dsl.words.lookahead import NextStep, next_steps

Look = Callable[[Callable[[], Any]], Any]


class Transition:
    """A step that is possible: ``name``, ``kind`` ("action", or "thread" where a suspended run goes
    on), ``action_name``, ``role_ref`` (the role's text), ``role_id`` (the role), and the ``state``
    after it. Of a suspended run the last four but ``state`` are None.
    """

    __slots__ = ("action_name", "kind", "name", "role_id", "role_ref", "state")

    def __init__(self, step: NextStep, state: Any) -> None:
        starts = step.kind == "action"
        self.kind = step.kind
        self.action_name = step.action if starts else None
        self.role_id = step.actor if starts else None
        self.role_ref = None if self.role_id is None else str(self.role_id)
        self.name = step.kind
        if starts:
            self.name = step.action if step.actor is None else f"{step.actor}.{step.action}"
        self.state = _Other(step.look, state)


def next_states(state: Any = None) -> list[Transition]:
    """Return the possible transitions without faults; equal states of one name count once."""
    found: dict[object, Transition] = {}
    for step in next_steps():
        transition = Transition(step, state)
        found.setdefault((transition.name, _changes(step)), transition)
    return list(found.values())


def _changes(step: NextStep) -> object:
    """Return what a step changes."""
    view = step._view
    changed = ((p, v) for p, v in view.writes.items() if not same(view.around.get(p), v))
    return frozenset((path, intern_key(value)) for path, value in changed)


def before_step(expression: Callable[[], Any]) -> Any:
    """Return what an expression gives in the state before the step."""
    value = _before(lambda: _stored(expression()))
    return _Other(_before, None)._method(value) if callable(value) else _shown(_before, value)


def _before(expression: Callable[[], Any]) -> Any:
    with before_the_step():
        return expression()


def _stored(value: Any) -> Any:
    """Return a value as it is now; methods are left as they are."""
    return value if callable(value) else freeze(value)


class _Other:
    """The state variables, or a role, as in another state; ``look`` evaluates there."""

    __slots__ = ("_look", "_of")

    def __init__(self, look: Look, of: Any) -> None:
        self._look = look
        self._of = of

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_" and name not in type(self._of)._fields:
            raise AttributeError(name)

        value = self._look(lambda: _stored(getattr(self._of, name)))
        if callable(value):
            return self._method(value)
        return _shown(self._look, value)

    def _method(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(other: _Other, *arguments: Any) -> Any:
            return _shown(other._look, other._look(lambda: freeze(method(*arguments))))

        return MethodType(call, self)  # whose it is keeps such calls from being remembered


class _OtherRole(_Other):
    """A role as it is in another state."""

    __slots__ = ()

    def _freeze(self) -> Any:
        return self._of

    def __eq__(self, other: object) -> bool:
        return self._of is (other._of if isinstance(other, _OtherRole) else other)

    def __hash__(self) -> int:
        return hash(self._of)

    def __repr__(self) -> str:
        return repr(self._of)


def _shown(look: Look, value: Any) -> Any:
    """Return a copy of a stored value, in which roles are as in the other state."""
    if isinstance(value, Role):
        return _OtherRole(look, value)
    if not _has_roles(value):
        return deepcopy(value)
    if type(value) is FrozenDict:
        return {_shown(look, k): _shown(look, v) for k, v in value.items()}
    if isinstance(value, record):
        return record(**{k: _shown(look, v) for k, v in value._content().items()})
    kept = (_shown(look, part) for part in value)
    unhashable = (FrozenList, FrozenDict, record)
    if type(value) is FrozenSet and not any(type(part) in unhashable for part in value):
        return OrderedSet(kept)
    return tuple(kept) if type(value) is tuple else list(kept)


def _has_roles(value: Any) -> bool:
    return isinstance(value, Role) or any(map(_has_roles, parts_of(value)))
