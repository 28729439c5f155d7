"""Fields of roles that nothing ever gives a value: misspelt names, found before anything runs.

What a name that is not of ``self`` refers to is not known, so a name counts as known there if
anything in the specification, or a method of any value, has it.
"""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterable, Iterator

from statewalk.dsl.errors import Mistakes, did_you_mean
from statewalk.dsl.fizz.names import Names, RoleInfo, is_self, targets_of
from statewalk.dsl.fizz.runtime import values as fizz_runtime
from statewalk.dsl.fizz.runtime.next import Transition
from statewalk.dsl.fizz.runtime.symmetry import Nominal
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.fizz.text.parse import span
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Bag

_TYPES: tuple[object, ...] = (
    str, int, list, dict, set, tuple, Bag, Role, Nominal, Transition, math, itertools,
    fizz_runtime.genericset, fizz_runtime.genericmap, fizz_runtime.record,
)  # fmt: skip
_ELSEWHERE = frozenset({"state", "role_ref", "role_id", "action_name", "kind", "name", "index"})
_MODULES = frozenset({"symmetry", "math", "itertools"})
_WHY = "A field is what the role assigns, self.x = ..., or is given when it is made, R(x=...)."


def check_fields(names: Names, file: str, mistakes: Mistakes) -> None:
    """SW101: a field of a role that is looked at, and nothing gives it a value."""
    if not names.roles or _gives_unknown_names(names):
        return
    statements = (s for s in ast.walk(names.module) if isinstance(s, ast.stmt))
    targets = [t for s in statements for t in targets_of(s) if isinstance(t, ast.Attribute)]
    stored = {target.attr for target in targets}
    reported: set[ast.AST] = set()
    for info in names.roles.values():
        for node in _attributes(info.node):
            if is_self(node) and node.attr not in stored and not _has(info, node.attr):
                reported.add(node)
                _wrong(node, f"Role {info.node.name}", _fields(info), file, mistakes)
    of_roles = set(itertools.chain.from_iterable(map(_all, names.roles.values())))
    known = stored | of_roles | set(names.state) | _ELSEWHERE | _words(names.module)
    known |= {name for kind in _TYPES for name in dir(kind)}
    called = {id(n.func) for n in ast.walk(names.module) if isinstance(n, ast.Call)}
    fields = [f for info in names.roles.values() for f in _fields(info)]
    for node in _attributes(names.module):
        if node in reported or is_self(node) or _is_hidden(node) or id(node) in called:
            continue
        allowed = of_roles if node in targets and not _has_records(names) else known
        if node.attr not in allowed:
            _wrong(node, "No role", fields, file, mistakes)


def _wrong(
    node: ast.Attribute, who: str, known: Iterable[str], file: str, mistakes: Mistakes
) -> None:
    has = "has a" if who == "No role" else "has no"
    said = f"{who} {has} field '{node.attr}'. {did_you_mean(node.attr, known, quoted=True)}"
    mistakes.add("SW101", said, at=span(node, file), why=_WHY)


def _attributes(root: ast.AST) -> Iterator[ast.Attribute]:
    """Attributes that something evaluates; assertions in roles are not looked at."""
    pending, inside = [root], isinstance(root, tree.Role)
    while pending:
        node = pending.pop(0)
        if isinstance(node, tree.Assertion) and inside:
            continue
        if isinstance(node, tree.Role) and node is not root:
            pending += [c for c in node.body if not isinstance(c, tree.Assertion)]
            continue
        if isinstance(node, ast.Attribute):
            yield node
        pending += ast.iter_child_nodes(node)


def _fields(info: RoleInfo) -> list[str]:
    return [*info.fields, *info.given]


def _all(info: RoleInfo) -> list[str]:
    return [*info.fields, *info.given, *info.members]


def _has(info: RoleInfo, name: str) -> bool:
    return name in (*_all(info), "__id__") or name in dir(Role)


def _is_hidden(node: ast.Attribute) -> bool:
    """Whether an attribute is of a module, or one that only Python has."""
    of = node.value
    return node.attr[:1] == "_" or (isinstance(of, ast.Name) and of.id in _MODULES)


def _gives_unknown_names(names: Names) -> bool:
    """Whether a call passes fields by names that are only known when it runs."""
    calls = (n for n in ast.walk(names.module) if isinstance(n, ast.Call))
    return any(k.arg is None for call in calls for k in call.keywords)


def _has_records(names: Names) -> bool:
    """Whether there are values that get fields by assigning to them."""
    return bool({"record", "struct"} & names.used)


def _words(module: ast.Module) -> set[str]:
    """Names given in calls, and texts that may be names of an enum."""
    words: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.keyword) and node.arg:
            words.add(node.arg)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.add(node.value)
    return words
