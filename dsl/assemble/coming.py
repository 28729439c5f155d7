"""Roles that come and go: what guards what they do, and what is asked after a step that ends one.

All that there may be are instances from the beginning (``at_most``), each with its actions. A field
``there`` says which of them are. So engines, symmetry and fairness know nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.flows.run import slot_of
from statewalk.dsl.source.tree import SpecTree
from statewalk.dsl.state.refs import current_view, show_place
from statewalk.dsl.state.roles import Field, Role
from statewalk.dsl.values.records import Record, fields_of
from statewalk.dsl.values.stored import (
    ABSENT,
    FrozenBag,
    FrozenDict,
    FrozenList,
    FrozenSet,
    freeze,
)
from statewalk.dsl.view import Path
from statewalk.dsl.words.declare import old, require


def come_and_go(tree: SpecTree) -> bool:
    """Whether a spec has roles that steps make and end."""
    return any(cls._room is not None for cls in tree.roles)


def coming(values: Iterable[Any]) -> tuple[Role, ...]:
    """Those of an actor and arguments that need not be there."""
    return tuple(v for v in values if isinstance(v, Role) and type(v)._room is not None)


def in_a_step(
    tree: SpecTree, run: Callable[[], Any], needed: tuple[Role, ...]
) -> Callable[[], Any]:
    """The run of an action: possible while those it ``needs`` are there, and whole after it."""
    if not come_and_go(tree):
        return run

    def go() -> Any:
        for role in needed:
            require(role.there)
        found = run()
        for role in binding.gone:
            _check_gone(tree, role)
        return found

    return go


def of_those_there(
    holds: Callable[[], bool], roles: tuple[Role, ...], *, otherwise: bool, steps: bool = False
) -> Callable[[], bool]:
    """A property about roles, which is as said ``otherwise`` where one of them is not there. Of
    ``steps``: not there before it, or after.
    """
    if not roles:
        return holds

    def holds_there() -> bool:
        for role in roles:
            before: Any = old(lambda role=role: role.there) if steps else True
            if not role.there or not before:
                return otherwise
        return holds()

    return holds_there


def _check_gone(tree: SpecTree, role: Role) -> None:
    """Raises SpecError[SW212] where the state mentions a role that ended."""
    for place in _places(tree, role):
        raise SpecError(
            "SW212",
            f"{role!r} ended in this step, and {place} still mentions it.",
            why=f"The next {type(role).__name__} may be made in its place, and would be taken for "
            "it.",
            help="Remove what mentions it in the same step.",
        )


def _places(tree: SpecTree, role: Role) -> Iterator[str]:
    """What mentions a role in the state."""
    view, key = current_view(), ("mentions", type(role).__name__, role.index)

    def mentioned(value: Any) -> bool:
        return _mentions(value, role)

    def in_slot(path: Path) -> bool:
        return bool(view.project(path, key, mentioned))

    for cls in tree.roles:
        for one in cls._instances:
            for name in cls._fields:
                field = getattr(cls, name)
                if isinstance(field, Field) and _in_field(field, one, mentioned, in_slot):
                    yield show_place(field.path(one), ())
    flows = getattr(type(role), "_flows", None)
    for owner, actions in flows.actions.items() if flows is not None else ():
        actors = [None] if owner == "@module" else binding.classes[owner]._instances  # type: ignore[attr-defined]
        for action, _ in actions:
            for actor in actors:
                if in_slot(slot_of(actor, action)) or (
                    actor is role and view.get(slot_of(actor, action)) is not ABSENT
                ):
                    yield f"a suspended run of {action}"


def _in_field(
    field: Field, role: Role, mentioned: Callable[[Any], bool], in_slot: Callable[[Path], bool]
) -> bool:
    if field.constant:
        return mentioned(freeze(role.__dict__.get(field.name)))
    path = field.path(role)
    if field.layout != "entries":
        return in_slot(path)
    keys = current_view().get((*path, "keys"))
    if keys is ABSENT:
        return False
    entries = (slot for slot, _ in field.slots(role, dict.fromkeys(keys)) if slot[3] == "key")
    return mentioned(keys) or any(map(in_slot, entries))


def _mentions(value: Any, role: Role) -> bool:
    """Whether a stored value holds a role; in a suspended run it is its class and index."""
    kind = type(value)
    if value is role:
        return True
    parts: Iterable[Any] = ()
    if kind is FrozenDict:
        parts = (part for item in value.items() for part in item)
    elif kind in (tuple, FrozenList, FrozenSet, FrozenBag):
        parts = value
    elif isinstance(value, Record):
        parts = (getattr(value, name) for name in fields_of(value))
    return any(_mentions(part, role) for part in parts)
