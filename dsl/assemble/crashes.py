"""Crashes of roles: what an instance loses, and what it starts again with.

A field annotated ``Ephemeral[T]`` goes back, in a crash, to what it held when the run began: after
the ``@init`` functions. Where all initial states agree on that, it is known beforehand; elsewhere
it is a slot of its own, which never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from statewalk.dsl.model import Action
from statewalk.dsl.source.tree import SpecTree, crash_alone
from statewalk.dsl.state.detaching import forget
from statewalk.dsl.state.refs import current_view
from statewalk.dsl.state.roles import Field, Role
from statewalk.dsl.values.stored import ABSENT, encode
from statewalk.dsl.view import Path
from statewalk.dsl.words import declare

CRASH = "crash"
Fields = Mapping[tuple[str, str], Field]


def start_slot(role: Role, name: str) -> Path:
    """Where it is kept what a field starts again with, if that differs between runs."""
    return (type(role).__name__, role.index, f"{name} at start")


def keep_starts(
    classes: Iterable[type[Role]],
    fields: Fields,
    states: Sequence[dict[Path, Any]],
    value_of: Callable[[Field, Role, Mapping[Path, Any]], Any],
) -> None:
    """Note what the ephemeral fields of each instance start again with."""
    for cls in classes:
        lost: dict[tuple[int, str], Any] = {}
        for role in cls._instances:
            for field in (fields[(cls.__name__, n)] for n in cls._fields):
                if field.ephemeral:
                    found = [value_of(field, role, state) for state in states]
                    if len({None if v is ABSENT else encode(v) for v in found}) == 1:
                        lost[(role.index, field.name)] = found[0]
                        continue
                    for state, value in zip(states, found, strict=True):
                        if value is not ABSENT:
                            state[start_slot(role, field.name)] = value
        names = tuple(n for n in cls._fields if fields[(cls.__name__, n)].ephemeral)
        cls._lose = partial(_lose, names, lost)  # type: ignore[attr-defined]


def _lose(names: Sequence[str], known: Mapping[tuple[int, str], Any], role: Role) -> None:
    """Let the ephemeral fields of a role start again."""
    for name in names:
        value = known.get((role.index, name), ABSENT)
        if (role.index, name) not in known:
            value = current_view().get(start_slot(role, name))
        if value is not ABSENT:
            setattr(role, name, value)
            continue
        path = (type(role).__name__, role.index, name)
        forget(path)
        current_view().set(path, ABSENT)


def crashes_of_roles(tree: SpecTree, fields: Fields, first: int) -> list[Action]:
    """The crash of each instance that has something to lose. ``first``: number of the first one."""
    if not crash_alone(tree):
        return []
    made: list[Action] = []
    for cls in tree.roles:
        if not any(fields[(cls.__name__, n)].ephemeral for n in cls._fields):
            continue
        taken = {f.name for f in tree.of_kind("action") if f.owner and issubclass(cls, f.owner)}
        name = CRASH if CRASH not in taken else f"{CRASH} of the role"
        for role in cls._instances:
            run = partial(declare.crash, role)
            made.append(Action(first + len(made), name, role, (), run, fault=True))
    return made
