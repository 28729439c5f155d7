"""Names that a .fizz file may use: Starlark's and Fizzbee's functions and methods, and its fields.

A .fizz file is read by people who did not write it, so it must not reach Python.
`dsl.fizz.rules.check` holds every name and attribute against these tables before anything runs;
`builtins_of_fizz` is all that its module has of Python's functions while it runs, should a name
ever get past them. The type of a value before a dot is not known, except for ``self``: a field
counts as known there if anything in the specification, or a value of any kind, has it.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import types
from collections.abc import Iterable
from typing import Any

from statewalk.dsl.errors import did_you_mean
from statewalk.dsl.fizz.names import Names, RoleInfo, is_self
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.state.roles import Role


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Functions that may also be handed on: sorted(x, key=len).
VALUES = _words(
    "abs all any bool bytes chr dict enumerate float int len list max min ord range repr reversed "
    "set sorted str sum tuple zip"
)
# Functions that can only be called.
_CALLED = _words(
    "Channel bag deepcopy dir enum fail genericmap genericset getattr hasattr next_states print "
    "record resolve_role struct symmetric_values type"
)
MODULES = {
    "math": _words(
        "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees e exp fabs floor "
        "gamma hypot log pi pow radians remainder sin sinh sqrt tan tanh"
    ),
    "itertools": _words("chain combinations combinations_with_replacement permutations product"),
}
FUNCTIONS = VALUES | _CALLED | {*MODULES, "symmetry"}
LITERALS = ("True", "False", "None")

# Functions of Python that do no harm where a name of the file's own has no value yet.
_HARMLESS = VALUES | _words(
    "ascii bin bytearray callable complex divmod filter format frozenset hash hex id iter map next "
    "object oct pow round slice"
)


def _is_harmless(name: str) -> bool:
    found = getattr(builtins, name)
    error = isinstance(found, type) and issubclass(found, BaseException)
    return name in _HARMLESS or error or not callable(found)


# What nothing in a file may be called: a name that has no value, or not yet, is looked up among
# Python's, whatever the file says of it elsewhere.
TAKEN = (FUNCTIONS - VALUES) | {n for n in dir(builtins) if n[0] != "_" and not _is_harmless(n)}
# Of these, what a variable, a field or a parameter of a file may be called all the same, as none of
# the language's functions is. It is not called, so that it leads nowhere should it have no value;
# nor is it a name of the module, which Python would look up among its own.
OWN = (
    TAKEN
    - FUNCTIONS
    - _words("classmethod issubclass locals isinstance property setattr staticmethod super")
)

_LIST = "append clear copy count extend index insert pop remove reverse sort"
_DICT = "clear copy get items keys pop popitem setdefault update values"
_SET = (
    "add clear difference difference_update discard intersection intersection_update isdisjoint "
    "issubset issuperset pop remove symmetric_difference symmetric_difference_update union update"
)
_STRING = (
    "capitalize count endswith find format index isalnum isalpha isdigit islower isspace istitle "
    "isupper join lower lstrip partition removeprefix removesuffix replace rfind rindex rpartition "
    "rsplit rstrip split splitlines startswith strip title upper"
)
_DOMAIN = "choices choose fresh max min segments values"
METHODS = _words(f"{_LIST} {_DICT} {_SET} {_STRING} {_DOMAIN}")
# What `next_states()` gives, and the identity of a role.
PARTS = _words("__id__ action_name index kind name role_id role_ref state")

# How Python's own values show their insides: no field may be called so.
_SHOWING = (
    type, types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.FrameType,
    types.CodeType, types.TracebackType, property,
)  # fmt: skip
_PREFIXES = ("gi_", "cr_", "ag_", "f_", "co_", "tb_")
# The fields of values that steps number anew, see `dsl.fizz.runtime.numbered`.
_NUMBERED = _words("domain_left domain_limit domain_name domain_number domain_right")
INSIDES = frozenset(
    name
    for kind in _SHOWING
    for name in dir(kind)
    if name.startswith(_PREFIXES) or name in ("mro", "fget", "fset", "fdel")
) | {"format_map", *_NUMBERED}

INSTEAD = {
    "isinstance": 'Ask for its name: type(x) == "list".',
    "map": "Write a comprehension: [f(x) for x in values].",
    "filter": "Write a comprehension: [x for x in values if f(x)].",
    "frozenset": "Write set(...): sets can be elements and keys here.",
    "round": "Write x // 1, or math.floor(x).",
    "divmod": "Write (a // b, a % b).",
    "pow": "Write a ** b.",
    "next": "Write list(values)[0].",
    "hash": "It differs from run to run. Compare the values.",
    "id": "It differs from run to run. A role is compared with ==, or by role.__id__.",
    "open": "A specification reads no files.",
    "input": "What may come from outside is a choice: x = oneof values",
    "object": "A value with fields is record(a=1).",
    "super": "A role has no other above it.",
    "setattr": "Write x.field = value.",
    "print": "Call it: print(x).",
}

# What translated text calls, besides what the specification may name itself.
_GENERATED = ("locals", "isinstance", "getattr", "hasattr", "dir", "type", "__build_class__")
_IMPORTED = frozenset({
    "statewalk", "statewalk.dsl.fizz.runtime.next", "statewalk.dsl.fizz.runtime.values",
    "statewalk.dsl.fizz.runtime.numbered", "statewalk.dsl.fizz.runtime.symmetry",
    "statewalk.dsl.blocks.steps", "itertools", "math",
    "typing",
})  # fmt: skip


def builtins_of_fizz() -> dict[str, Any]:
    """Return the functions of Python that the module of a .fizz file has while it runs."""
    found = {name: getattr(builtins, name) for name in (*VALUES, *_GENERATED)}
    return {**found, "__import__": _import}


def _import(
    name: str, globals: Any = None, locals: Any = None, parts: Any = (), level: int = 0
) -> Any:
    if name == "builtins" and parts and VALUES.issuperset(parts):  # by another name
        return types.SimpleNamespace(**{part: getattr(builtins, part) for part in parts})
    if name not in _IMPORTED or level:
        raise ImportError(f"a .fizz file does not import {name}")
    return builtins.__import__(name, globals, locals, parts)


_OF_ROLES = "A field is what the role assigns, self.x = ..., or is given when it is made, R(x=...)."
_OF_ANY = "Fields are what is assigned (self.x = ...) or given by name (record(x=1))."


class Fields:
    """The names that follow a dot in a specification's own right."""

    def __init__(self, names: Names) -> None:
        nodes = list(walk(names.module))
        self.stored = {n.attr for n in nodes if isinstance(n, ast.Attribute) and not _is_read(n)}
        self.of_roles: dict[str, None] = {}
        self.members: set[str] = set()
        for info in names.roles.values():
            self.of_roles.update(dict.fromkeys([*info.fields, *info.given]))
            self.members |= set(info.members)
        self.known = self.stored | self.members | set(names.state)
        self.unknown_names = False  # whether fields are given by names that only a run knows
        for call in (n for n in nodes if isinstance(n, ast.Call)):
            self.known |= {k.arg for k in call.keywords if k.arg is not None}
            open_ended = any(k.arg is None for k in call.keywords)
            starred = any(isinstance(a, ast.Starred) for a in call.args)
            if open_ended or (isinstance(call.func, ast.Name) and call.func.id == "enum"):
                self.known |= _texts(nodes if open_ended or starred else walk(call))
            self.unknown_names |= open_ended
        self.closed = bool(names.roles) and not self.unknown_names
        self.has_records = bool({"record", "struct"} & names.used)

    def wrong(
        self, node: ast.Attribute, role: RoleInfo | None, *, called: bool
    ) -> tuple[str, str, str] | None:
        """Return what is wrong with an attribute, if anything is.

        ``role``: whose text it stands in.
        """
        word = node.attr
        if self.closed and role is not None and is_self(node):
            own = [*role.fields, *role.given]
            if word not in (*own, *role.members, *self.stored) and word not in dir(Role):
                return _wrong(f"Role {role.node.name} has no", word, own)
        elif self.closed and not _is_read(node) and not self.has_records:
            if word not in self.of_roles and word not in self.members:
                return _wrong("No role has a", word, self.of_roles)
        if word in self.known | METHODS | PARTS:
            return None
        if self.closed and not called:
            return _wrong("No role has a", word, self.of_roles)
        close = difflib.get_close_matches(word, [*sorted(self.known), *METHODS], n=1)
        help = f"Did you mean '{close[0]}'?" if close else did_you_mean(word, sorted(self.known))
        return f"There is no field or method '{word}'.", _OF_ANY, help


def _wrong(who: str, word: str, known: Iterable[str]) -> tuple[str, str, str]:
    said = f"{who} field '{word}'. {did_you_mean(word, known, quoted=True)}"
    return said, _OF_ROLES, ""


def _is_read(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def _texts(nodes: Iterable[ast.AST]) -> set[str]:
    constants = (n.value for n in nodes if isinstance(n, ast.Constant))
    return {v for v in constants if isinstance(v, str)}
