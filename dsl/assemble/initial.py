"""The initial states of a spec, and how its fields are laid out in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from statewalk.dsl.assemble.coming import may_mention, settle
from statewalk.dsl.binding import binding, bound
from statewalk.dsl.errors import SpecError, StatewalkError, place_of, raised
from statewalk.dsl.model import Action
from statewalk.dsl.source.tree import SpecTree, class_span, crash_alone, field_span, may_crash
from statewalk.dsl.state import refs
from statewalk.dsl.state.detaching import forget
from statewalk.dsl.state.packing import decode
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.state.refs import current_view
from statewalk.dsl.state.roles import Field, Role, RoleLayout
from statewalk.dsl.values.stored import ABSENT, encode, freeze, intern_key, same_state
from statewalk.dsl.view import Disabled, Path
from statewalk.dsl.words import declare

CRASH = "crash"
Fields = Mapping[tuple[str, str], Field]


def start_slot(role: Role, name: str) -> Path:
    """Return where it is kept what a field starts again with, if that differs between runs."""
    return (type(role).__name__, role.index, f"{name} at start")


def keep_starts(
    classes: Iterable[type[Role]],
    fields: Fields,
    states: Sequence[dict[Path, Any]],
) -> None:
    """Note what the ephemeral fields of each instance start again with."""
    for cls in classes:
        lost: dict[tuple[int, str], Any] = {}
        for role in cls._instances:
            for field in (fields[(cls.__name__, n)] for n in cls._fields):
                if field.ephemeral:
                    found = [_value_in(field, role, state) for state in states]
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
    """Return the crash of each instance that has something to lose.

    ``first``: number of the first one.
    """
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


class InitialStates:
    """Computes the initial states: defaults, then every run of the ``@init`` functions."""

    def __init__(
        self, tree: SpecTree, fields: dict[tuple[str, str], Field], classes: dict[str, type]
    ) -> None:
        self.tree = tree
        self.fields = fields
        self.classes = classes
        self.constant = {key for key, field in fields.items() if field.constant}
        self.made: dict[type, int] = {}

    def compute(self) -> tuple[list[dict[Path, Any]], dict[Path, Any]]:
        """Return (states, fixed slots); the value of a constant field stays on the role."""
        for field in self.fields.values():
            field.constant = False
            field.mentions = may_mention(field.domain)
        wanted = self._as_a_whole()
        inits = list(self.tree.of_kind("init"))
        paths = {module.source.path for module in self.tree.loading.modules}
        static = {cls: len(cls._instances) for cls in self.tree.roles}
        defaults = self._defaults()
        states: list[dict[Path, Any]] = []
        for view in PlainView.runs(defaults):
            for cls, count in static.items():
                cls._lay_by(count)
                view.writes[(cls.__name__, -1, "@init")] = True
            try:
                with bound(view, classes=self.classes):
                    for function in inits:
                        function.function()
                    settle(self.tree, self.tree.loading.declared.init)
            except Disabled:
                pass
            except StatewalkError as error:
                error.at = error.at or place_of(error, paths) or inits[-1].span()
                raise
            except Exception as error:
                when = "while computing the initial state"
                raise raised(error, when, paths) from error
            else:
                states.append(self._finish(apply_writes(defaults, view.writes)))
        self._leave_room(states)
        self._lay_out(states, wanted)
        if states and may_crash(self.tree):
            keep_starts(self.tree.roles, self.fields, states)
        return states, self._fix(states)

    def _leave_room(self, states: list[dict[Path, Any]]) -> None:
        """Make as many instances as any initial state has, or as there is room for."""
        for cls in self.tree.roles:
            count = self.made.get(cls, len(cls._instances)) if cls._room is None else cls._room
            cls._lay_by(count)
            while len(cls._instances) < count:
                cls._spare()
            for index in range(cls._room or 0):
                for state in states:
                    state.setdefault((cls.__name__, index, "there"), False)

    def _as_a_whole(self) -> dict[Field, RoleLayout]:
        """Keep each field in one slot while @init runs; return the layouts that they get then."""
        wanted: dict[Field, RoleLayout] = {}
        for field in self.fields.values():
            if field.layout != "whole":
                wanted[field], field.layout = field.layout, "whole"
        return wanted

    def _lay_out(self, states: list[dict[Path, Any]], wanted: Mapping[Field, RoleLayout]) -> None:
        """Lay out the fields that have a value in every state as wanted, and note which do."""
        for field in self.fields.values():
            cls: Any = self.classes[field.owner]
            roles = cls._instances
            field.given = cls._room is not None and cls._defaults.get(field.name) is not ABSENT
            always = cls._room is None  # else a step may end it, and what it holds
            field.settled = always and all(
                field.path(role) in state for state in states for role in roles
            )
            if field not in wanted or not field.settled:
                continue
            field.layout = wanted[field]
            for state, role in itertools.product(states, roles):
                state.update(field.slots(role, state.pop(field.path(role))))

    def _defaults(self) -> dict[Path, Any]:
        state: dict[Path, Any] = {}
        for cls in self.tree.roles:
            for role in cls._instances:
                for name in cls._fields:
                    field = self.fields[(cls.__name__, name)]
                    value = role.__dict__.get(name, ABSENT)
                    state.update(self._slots(field, role, value))
        return state

    def _slots(self, field: Field, role: Any, value: Any) -> Iterator[tuple[Path, Any]]:
        if value is ABSENT:
            return iter(())
        try:
            value = refs.fitting(value, field.path(role), (), field.domain)
        except StatewalkError as error:
            error.at = error.at or field_span(self.tree, type(role), field.name)
            raise
        return field.slots(role, value)

    def _finish(self, state: dict[Path, Any]) -> dict[Path, Any]:
        """Drop what tells a run of @init from a step; count its roles. Raises SpecError[SW111]."""
        for cls in self.tree.roles:
            state.pop((cls.__name__, -1, "@init"), None)
            count = len(cls._instances)
            if self.made.setdefault(cls, count) != count and cls._room is None:
                said = f"Initial states differ in how many {cls.__name__} they have: "
                said += f"{self.made[cls]} and {count}."
                help = f"Make equally many in every run of {self.tree.loading.declared.init}."
                raise SpecError("SW111", said, at=class_span(self.tree, cls), help=help)
        return state

    def _fix(self, states: list[dict[Path, Any]]) -> dict[Path, Any]:
        """Make fields constant that no action writes and all initial states agree on."""
        fixed: dict[Path, Any] = {}
        for key in sorted(self.constant):
            field = self.fields[key]
            cls = self.classes[field.owner]
            contents = [
                {p: v for p, v in s.items() if p[0] == key[0] and len(p) > 2 and p[2] == key[1]}
                for s in states
            ]
            if not all(same_state(contents[0], c) for c in contents):
                continue
            for role in cls._instances:  # type: ignore[attr-defined]
                if states:
                    with bound(PlainView(states[0]), classes=self.classes):
                        value = _value_of(field, role, contents[0])
                    role.__dict__.pop(key[1], None)
                    if value is not ABSENT:
                        field.fix(role, value)
            field.constant = True
            fixed.update(contents[0] if contents else {})
            for state in states:
                for path in contents[0]:
                    state.pop(path, None)
        return fixed


def _value_in(field: Field, role: Any, state: Mapping[Path, Any]) -> Any:
    """Return the value of a field in a state; ABSENT where it has none."""
    path = field.path(role)
    return _value_of(field, role, {p: v for p, v in state.items() if p[: len(path)] == path})


def _value_of(field: Field, role: Any, content: Mapping[Path, Any]) -> Any:
    path = field.path(role)
    if field.layout == "whole":
        return content.get(path, ABSENT)
    at = {p[4]: v for p, v in content.items() if p[:3] == path and len(p) == 5}
    if field.layout == "entries":
        if field.keys:
            keys = content.get((*path, "keys"), ())
            return freeze({k: content[(*path, "key", intern_key(k))] for k in keys})
        return freeze({_decoded(k): v for k, v in at.items()})
    return freeze({_decoded(k) for k in at})


def _decoded(key: Any) -> Any:
    return decode(key, binding.classes) if type(key) is bytes else key
