"""What may follow a dot in .fizz text: fields of roles and records, and methods of any value.

What a name that is not of ``self`` refers to is not known, so a name counts as known there if
anything in the specification, or a value of any kind, has it.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from statewalk.dsl.errors import did_you_mean
from statewalk.dsl.fizz.names import Names, RoleInfo, is_self
from statewalk.dsl.fizz.rules.allowed import METHODS, PARTS
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.state.roles import Role

_OF_ROLES = "A field is what the role assigns, self.x = ..., or is given when it is made, R(x=...)."
_OF_ANY = "Fields are what is assigned (self.x = ...) or given by name (record(x=1))."


@dataclass(frozen=True)
class Wrong:
    """What to say of an attribute that there is not."""

    message: str
    why: str
    help: str = ""


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

    def wrong(self, node: ast.Attribute, role: RoleInfo | None, *, called: bool) -> Wrong | None:
        """What is wrong with an attribute, if anything is. ``role``: whose text it stands in."""
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
        return Wrong(f"There is no field or method '{word}'.", _OF_ANY, help)


def _wrong(who: str, word: str, known: Iterable[str]) -> Wrong:
    said = f"{who} field '{word}'. {did_you_mean(word, known, quoted=True)}"
    return Wrong(said, _OF_ROLES)


def _is_read(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def _texts(nodes: Iterable[ast.AST]) -> set[str]:
    constants = (n.value for n in nodes if isinstance(n, ast.Constant))
    return {v for v in constants if isinstance(v, str)}
