"""Roles and their fields.

Outside the checker a role is an ordinary object. When a spec is loaded, its fields become
descriptors that read and write the bound view; the values they had then are the initial ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, dataclass_transform

from statewalk.dsl.binding import binding
from statewalk.dsl.declared import declaring
from statewalk.dsl.errors import SpecError, no_delete, no_field
from statewalk.dsl.state import refs
from statewalk.dsl.state.containers import ElementsReference
from statewalk.dsl.state.detaching import Fixed, forget, taken_for_constant
from statewalk.dsl.state.dicts import entries, replace_entries
from statewalk.dsl.state.refs import (
    Reference,
    current_view,
    fitting,
    forbid_change,
    make,
    place,
    place_in,
)
from statewalk.dsl.values.canonical import ROLE_TAG, int_bytes, text_bytes
from statewalk.dsl.values.domains import Domain, Kind
from statewalk.dsl.values.records import (
    LOOKING,
    check_kept,
    check_own,
    declared_fields,
    own,
    private,
)
from statewalk.dsl.values.stored import ABSENT, FrozenSet, freeze, intern_key, is_there
from statewalk.dsl.view import Path


def check_room(cls: Any, role: Any, room: object, symmetric: object) -> None:
    """Raise SpecError[SW119, SW212] for wrong options of a class of roles."""
    if type(symmetric) is not bool:
        raise SpecError(
            "SW119", f"symmetric= of {cls.__name__} must be True or False, not {symmetric!r}."
        )
    for base in cls.__mro__[1:]:
        if issubclass(base, role) and base._room is not None:
            said = f"{cls.__name__} is derived from {base.__name__}, which has at_most."
            why = "at_most counts the roles of one class, without those of derived classes."
            help = "Move what they share to a class without at_most, and derive both from it: "
            help += f"class {base.__name__}(Shared, at_most={base._room})."
            raise SpecError("SW212", said, why=why, help=help)
    if room is not None and (type(room) is not int or room < 1):
        said = f"at_most of {cls.__name__} must be an integer from 1 on, not {room!r}."
        raise SpecError("SW212", said, help=f"For example: class {cls.__name__}(Role, at_most=3)")


def no_room(cls: Any) -> SpecError:
    """Return the error of one role too many."""
    return SpecError(
        "SW212",
        f"There is no room for another {cls.__name__}: there are at most {cls._room}.",
        why="One that ends in this step makes room from the next step on."
        if any(type(role) is cls for role in binding.gone)
        else "A silent bound would hide the states after it.",
        help=f"Raise it at the top of the file: AT_MOST_{cls.__name__} = {2 * (cls._room or 1)}"
        if cls._fizz
        else f"Raise it, class {cls.__name__}(Role, at_most=...), or end one before; or say that "
        f"the step waits: require(len(instances({cls.__name__})) < {cls._room}).",
    )


RoleLayout = Literal["whole", "entries", "elements"]


@dataclass(eq=False, slots=True)
class Field:
    """A field of a role as part of the state.

    ``layout`` tells how it is laid out in slots (see `dsl.view`); ``keys`` whether the key set of
    a dict is kept. A ``constant`` field has no slot: each role holds its value. An ``ephemeral``
    one is set back by crashes. ``settled`` tells that it has a value in every state, ``given`` that
    it has one while its role is there; any other is one slot, which is not there until it has.
    ``mentions`` tells that its values may mention roles that come and go.
    """

    owner: str
    name: str
    domain: Domain
    auxiliary: bool = False
    ephemeral: bool = False
    keys: bool = True
    constant: bool = False
    settled: bool = False
    given: bool = False
    mentions: bool = True
    kind: Kind = field(init=False)
    layout: RoleLayout = field(init=False)

    def __post_init__(self) -> None:
        self.kind = self.domain.kind
        self.layout = "entries" if self.kind == "dict" else "whole"

    def path(self, role: Role) -> Path:
        """Return the slot of a role's field."""
        return (type(role).__name__, role.index, self.name)

    def has_value(self, role: Role) -> bool:
        """Return whether it has a value, which is asked of the slot only where nothing else tells
        it.
        """
        if self.settled:
            return True
        if self.given:
            return role.there
        found: bool = current_view().project(self.path(role), "present", is_there)
        return found

    def __get__(self, role: Role | None, cls: type | None = None) -> Any:
        if role is None:
            return self
        if self.constant:
            if self.name not in role.__dict__:
                raise no_value(role, self.name)
            return role.__dict__[self.name]
        path = (type(role).__name__, role.index, self.name)
        if self.layout == "whole":
            if self.kind == "scalar":
                return self._scalar(role, path)
            if not self.has_value(role):
                raise no_value(role, self.name)
            return place(path, (), self.domain)
        known = binding.references.get(path)
        if known is not None and () in known:
            return known[()]
        current_view()
        if self.layout == "elements":
            return make(ElementsReference, path, (), self.domain)
        return entries(path, self.domain, keys=self.keys)

    def fix(self, role: Role, value: Any) -> None:
        """Let a role hold the (frozen) value of a constant field."""
        path = self.path(role)
        if self.kind != "frozenset":
            value = place_in(Fixed(value, refs.show_place(path, ())), path, (), self.domain)
        role.__dict__[self.name] = value

    def _scalar(self, role: Role, path: Path) -> Any:
        if self.domain.options is not None:
            value = current_view().get(path)
        else:
            value = place(path, (), self.domain)
        if value is ABSENT:
            raise no_value(role, self.name)
        return value

    def __set__(self, role: Role, value: Any) -> None:
        path = self.path(role)
        if isinstance(value, Reference) and value._path == path and value._cell is None:
            if not value._sub:
                return
        value = fitting(value, path, (), self.domain)
        if self.constant:
            raise taken_for_constant(refs.show_place(path, ()))
        forbid_change(path)
        view = current_view()
        if self.layout == "whole":
            forget(path)
            view.set(path, value)
        elif self.layout == "entries":
            replace_entries(path, self.domain, value, keys=self.keys)
        else:
            said = f"{refs.show_place(path, ())} is replaced, but kept by element."
            raise SpecError("SW901", said)

    def __delete__(self, role: Role) -> None:
        raise no_delete(refs.show_place(self.path(role), ()))

    def held(self, role: Role) -> Iterator[tuple[Path | None, Any]]:
        """Yield the slots of the field, each with None; what it holds for good without a slot."""
        path = self.path(role)
        if self.constant:
            yield None, freeze(role.__dict__.get(self.name))
        elif self.layout != "entries":
            yield path, None
        elif (keys := current_view().get((*path, "keys"))) is not ABSENT:
            yield None, keys
            yield from (((*path, "key", intern_key(key)), None) for key in keys)

    def slots(self, role: Role, value: Any) -> Iterator[tuple[Path, Any]]:
        """Yield the slots that hold a (frozen) value of the field."""
        path = self.path(role)
        if self.layout == "entries":
            for key, item in value.items():
                yield (*path, "key", intern_key(key)), item
            if self.keys:
                yield (*path, "keys"), FrozenSet(value)
        elif self.layout == "elements":
            for element in value:
                yield (*path, "in", intern_key(element)), True
        else:
            yield path, value


_MAKING = dict.fromkeys(
    ("__init__", "__post_init__", "__new__"),
    (
        "The fields of a role are declared in the class body, with a type and a default; instances "
        "are made with fields by name.",
        "Write n: int = 0 in the body and {}(n=3). What is chosen or computed at the beginning "
        "goes into @init.",
    ),
)
_INDEX = ("It is the built-in number of a role instance.", "Give it another name.")
_THERE = ("It says whether a role of a class with at_most is there.", "Give it another name.")


@dataclass_transform(kw_only_default=True, eq_default=False)
class Role:
    """A kind of actor: annotated fields are state, methods with ``@action`` are actions."""

    _fields: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[dict[str, Any]] = {}
    _symmetric: ClassVar[bool] = False
    _instances: ClassVar[list[Any]] = []
    _laid_by: ClassVar[list[Any]] = []  # instances that other runs of @init made
    _kinds: ClassVar[tuple[type[Role], ...]] = ()  # the class, and those derived from it
    _room: ClassVar[int | None] = None  # how many there may be, where steps make and end them
    _collected: ClassVar[bool] = False  # whether one ends by itself when nothing leads to it
    _fizz: ClassVar[bool] = False  # written as a role, or as global variables, of a .fizz file

    def __init_subclass__(
        cls,
        *,
        symmetric: bool = False,
        at_most: int | None = None,
        collected: bool = False,
        **options: Any,
    ) -> None:
        super().__init_subclass__(**options)
        check_room(cls, Role, at_most, symmetric)
        reserved = {"index": _INDEX} | ({} if at_most is None else {"there": _THERE})
        check_own(cls, Role, {**_MAKING, **LOOKING, **reserved})
        check_kept(cls, Role, {*private(Role), "_bytes", "_index"})
        cls._room, cls._collected = at_most, collected and at_most is not None
        if at_most is not None:
            cls.there = True  # type: ignore[method-assign, assignment]
        own = [*declared_fields(cls), *(["there"] if at_most is not None else [])]
        inherited = [
            n for base in reversed(cls.__mro__[1:]) for n in base.__dict__.get("_fields", ())
        ]
        cls._fields = tuple(dict.fromkeys([*inherited, *own]))
        cls._symmetric = symmetric
        cls._instances, cls._laid_by, cls._kinds = [], [], (cls,)
        if declaring:
            for base in declaring[-1].roles:
                if issubclass(cls, base):
                    base._kinds = (*base._kinds, cls)
            declaring[-1].roles.append(cls)
            cls._fizz = declaring[-1].fizz

    def __new__(cls, *values: Any, **fields: Any) -> Any:
        if values:
            shown = ", ".join(f"{name}=..." for name in cls._fields[: len(values)])
            raise TypeError(f"{cls.__name__} takes its fields by name: {cls.__name__}({shown})")
        if binding.view is not None:
            return _instance_in_run(cls)
        if len(cls._instances) == cls._room:
            raise no_room(cls)
        return cls._spare()

    @classmethod
    def _spare(cls) -> Any:
        """Return one more instance, of which the state knows nothing yet."""
        if cls._laid_by:
            role = cls._laid_by.pop()
        else:
            role = object.__new__(cls)
            role.__dict__["_index"] = len(cls._instances)
        cls._instances.append(role)
        return role

    @classmethod
    def _lay_by(cls, count: int) -> None:
        """Have so many instances only; those that are made again are the ones laid by."""
        while len(cls._instances) > count:
            cls._laid_by.append(cls._instances.pop())

    def __init__(self, **fields: Any) -> None:
        cls = type(self)
        for name in fields:
            if name not in cls._fields or (name == "there" and cls._room is not None):
                raise no_field(cls, name, cls._fields)
        for name in cls._fields:
            value = fields.get(name, ABSENT)
            if value is ABSENT:
                value = default_of(cls, name)
            if value is ABSENT:
                continue
            if binding.view is None:
                self.__dict__[name] = value
            else:
                object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_":
            raise AttributeError(name)
        if name in type(self)._fields:
            raise no_value(self, name)
        raise no_field(type(self), name, type(self)._fields)

    def __setattr__(self, name: str, value: Any) -> None:
        cls = type(self)
        if name not in cls._fields and not isinstance(getattr(cls, name, None), property):
            raise no_field(cls, name, cls._fields)
        if name == "there" and cls._room is not None:
            help = f"{cls.__name__}(...) creates a role, end({self!r}) ends it."
            raise SpecError("SW212", f"{self!r}.there cannot be assigned.", help=help)
        if cls._room is not None and binding.view is not None and not self.there:
            raise _not_there(self, f"{self!r}.{name} cannot be given a value")
        object.__setattr__(self, name, value)

    @property
    def index(self) -> int:
        """0, 1, 2, ... in order of creation within its class."""
        number: int = self.__dict__["_index"]
        return number

    @property
    def there(self) -> bool:
        """Return whether a role of a class with ``at_most`` is there; one of another class always
        is.
        """
        return True

    def _freeze(self) -> Any:
        return self

    def _canonical(self) -> bytes:
        known: bytes | None = self.__dict__.get("_bytes")
        if known is None:
            known = ROLE_TAG + text_bytes(type(self).__name__) + int_bytes(self.index)
            self.__dict__["_bytes"] = known
        return known

    def __repr__(self) -> str:
        return f"{type(self).__name__}#{self.index}"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise no_copy(self)


def no_copy(role: Role) -> SpecError:
    """Return the error of a role that is copied or pickled: to change that would change the
    role.
    """
    name = role._fields[0] if role._fields else "field"
    why = "A role is an identity: a state has one set of fields for it, and none for a copy."
    help = f"Copy the fields that you need, such as {name} = copy.deepcopy(role.{name}).\n"
    help += "copy.copy of a list or a record that refers to roles keeps the same roles."
    return SpecError("SW213", f"{role!r} cannot be copied.", why=why, help=help)


def no_value(role: Role, name: str) -> SpecError:
    """Return the error of a field that is read before it has a value."""
    cls = type(role)
    if cls._room is not None and binding.view is not None and not role.there:
        return _not_there(role, f"{role!r}.{name} has no value")
    if cls._fizz:
        shared = isinstance(role, State)
        said = f"{name if shared else f'{role!r}.{name}'} has no value yet."
        why = "Neither the action Init nor a step assigned it before it was read."
        help = f"Assign it in the action Init{'' if shared else f' of {cls.__name__}'}."
        return SpecError("SW208", said, why=why, help=help)
    why = "It has no default, and neither the constructor nor an @init gave it one."
    help = (
        f"Give it a default in the class body, or create the role with {cls.__name__}({name}=...)."
    )
    return SpecError("SW208", f"{role!r}.{name} has no value yet.", why=why, help=help)


def _not_there(role: Role, so: str) -> SpecError:
    said = f"{role!r} does not exist in this state, so {so}."
    help = f"Test role.there first, or loop over instances({type(role).__name__})."
    return SpecError("SW208", said, why="No step has made it yet, or it has ended.", help=help)


class State(Role):
    """Shared state that does not act, usually with one instance."""


def default_of(cls: type, name: str) -> Any:
    """Return a fresh copy of a field's default; ABSENT where it has none."""
    defaults = cls.__dict__.get("_defaults")
    value = defaults.get(name, ABSENT) if defaults is not None else getattr(cls, name, ABSENT)
    if isinstance(value, Field):
        return ABSENT
    return own(freeze(value)) if isinstance(value, list | set | dict) else value


def _instance_in_run(cls: type[Role]) -> Any:
    """Return a role made in @init, the next one; in a step, the first not there."""
    if current_view().get((cls.__name__, -1, "@init")) is ABSENT:
        return _made_in_step(cls)
    if len(cls._instances) == cls._room:
        raise no_room(cls)
    return cls._spare()


def _made_in_step(cls: type[Role]) -> Any:
    if cls._room is None:
        why = "The number of roles must be bounded before the search, since each has its actions."
        help = f"Declare the bound: class {cls.__name__}(Role, at_most=3)."
        raise SpecError(
            "SW211", f"{cls.__name__}(...) creates a role in a step.", why=why, help=help
        )
    for role in cls._instances:
        if not role.there and role not in binding.gone:
            return role
    raise no_room(cls)
