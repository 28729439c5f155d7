"""Roles that come and go: what guards what they do, and what is asked after a step that ends one.

All that there may be are instances from the beginning (``at_most``), each with its actions. A field
``there`` says which of them are. So engines, symmetry and fairness know nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from statewalk.dsl.assemble.step_ends import at_step_end
from statewalk.dsl.binding import binding
from statewalk.dsl.errors import SpecError
from statewalk.dsl.flows.run import slots_of_runs
from statewalk.dsl.source.tree import SpecTree
from statewalk.dsl.state.refs import current_view, show_place
from statewalk.dsl.state.roles import Field, Role
from statewalk.dsl.values.domains import Domain
from statewalk.dsl.values.records import parts_of
from statewalk.dsl.values.stored import is_there
from statewalk.dsl.view import Disabled, Path
from statewalk.dsl.words.declare import end, old

_RUN = "a suspended run of"


def come_and_go(tree: SpecTree) -> bool:
    """Return whether a spec has roles that steps make and end."""
    return any(cls._room is not None for cls in tree.roles)


def coming(values: Iterable[Any]) -> tuple[Role, ...]:
    """Return those of an actor and arguments that need not be there."""
    return tuple(v for v in values if isinstance(v, Role) and type(v)._room is not None)


def in_a_step(
    tree: SpecTree, run: Callable[[], Any], needed: tuple[Role, ...]
) -> Callable[[], Any]:
    """Return the run of an action: possible while those it ``needs`` are there, and whole
    after it.
    """
    if not come_and_go(tree) and at_step_end(tree) is None:
        return run

    def go() -> Any:
        for role in needed:
            if not role.there:
                raise Disabled(f"{role!r} is not there")
        found = run()
        settle(tree, "this step")
        return found

    return go


def of_those_there(
    holds: Callable[[], bool], roles: tuple[Role, ...], *, otherwise: bool, steps: bool = False
) -> Callable[[], bool]:
    """Return a property that is ``otherwise`` where a role is not there, or was not before."""
    if not roles:
        return holds

    def holds_there() -> bool:
        for role in roles:
            before: Any = old(lambda role=role: role.there) if steps else True
            if not role.there or not before:
                return otherwise
        return holds()

    return holds_there


def settle(tree: SpecTree, where: str) -> None:
    """Refuse mentions of roles that ended, and end roles that nothing leads to."""
    for role in binding.gone:
        _check_gone(tree, role, where)
    _collect(tree)
    end_of_step = at_step_end(tree)
    if end_of_step is not None:
        end_of_step()


def _collect(tree: SpecTree) -> None:
    """End the roles of ``collected`` classes that nothing in the state leads to any more."""
    left = {r for cls in tree.roles if cls._collected for r in cls._instances if r.there}
    if not left:
        return
    lead: dict[Role | None, set[Role]] = {}
    for owner, _, found in _mentions(tree):
        lead.setdefault(owner if owner in left else None, set()).update(found)
    todo = list(lead.get(None, ()))
    while todo:
        role = todo.pop()
        if role in left:
            left.remove(role)
            todo += lead.get(role, ())
    for role in sorted(left, key=lambda r: (type(r).__name__, r.index)):
        end(role)


def _check_gone(tree: SpecTree, role: Role, where: str) -> None:
    """Raise SpecError[SW212] where the state mentions a role that ended."""
    for _, place, found in _mentions(tree):
        if role in found:
            forget = f"Remove that reference in {where}, too."
            if place.startswith(_RUN):
                forget = (
                    "Return after end(self): an ended role takes no further step, so nothing may "
                    "yield.\nIn a run of another role, drop it before the yield: `worker = None`."
                )
            said = f"{role!r} ended in {where}, and {place} still refers to it."
            why = f"The next {type(role).__name__} may reuse its identity, and would be confused "
            why += "with it."
            raise SpecError("SW212", said, why=why, help=forget)


def _mentions(tree: SpecTree) -> Iterator[tuple[Role | None, str, tuple[Role, ...]]]:
    """Yield (owner, place, roles it mentions) for each slot; a run mentions its actor."""
    view = current_view()

    def roles_in(slot: Path) -> tuple[Role, ...]:
        found: tuple[Role, ...] = view.project(slot, ("mentions",), _roles_in)
        return found

    for cls in tree.roles:
        for one in cls._instances:
            for name in cls._fields:
                field: Field = getattr(cls, name)
                if not field.mentions:
                    continue
                path = field.path(one)
                for slot, fixed in field.held(one):
                    found = _roles_in(fixed) if slot is None else roles_in(slot)
                    yield one, show_place(path, ()), found
    for action, actor, slot in slots_of_runs(tree.roles):
        found = roles_in(slot)
        if actor is not None and view.project(slot, "waits", is_there):
            found = (*found, actor)
        yield None, f"{_RUN} {action}", found


def may_mention(domain: Domain, above: tuple[type, ...] = ()) -> bool:
    """Return whether values of a domain may mention roles; ``above`` are the records it
    is part of.
    """
    if domain.kind == "record":
        records: tuple[Any, ...] = domain.records
        known = {cls: vars(cls).get("_domains") for cls in records if cls not in above}
        return any(
            fields is None
            or cls._open
            or any(may_mention(d, (*above, cls)) for d in fields.values())
            for cls, fields in known.items()
        )
    inner = (d for d in (domain.key, domain.element) if d is not None)
    parts = [*domain.parts, *domain.either, *inner]
    if parts:
        return any(may_mention(part, above) for part in parts)
    return domain.may_contain or not domain.records_only


def _roles_in(value: Any) -> tuple[Role, ...]:
    """Return the roles that may come and go in a stored value, in order."""
    found = {(type(r).__name__, r.index): r for r in _inside(value)}
    return tuple(found[key] for key in sorted(found))


def _inside(value: Any) -> Iterator[Role]:
    if isinstance(value, Role) and type(value)._room is not None:
        yield value
    for part in parts_of(value):
        yield from _inside(part)
