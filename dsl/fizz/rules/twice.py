"""SW108: what a .fizz file defines twice under one name. One of the two would be left out, and
everything would seem to hold.

Constants may be assigned again, as everything at the top level runs from above to below.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.fizz.names import Names, RoleInfo, is_self, targets_of
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.state.roles import Role

_KINDS = (
    (tree.Act, "an action"), (tree.Func, "a function"), (tree.Assertion, "an assertion"),
    (tree.Role, "a role"), (ast.FunctionDef, "a function"),
)  # fmt: skip
_HELD = ("a field", "a state variable")
_OWN = frozenset(name for name in dir(Role) if name[0] != "_")  # which roles have of themselves


@dataclass(frozen=True)
class _Defined:
    name: str
    kind: str
    node: ast.AST


def check_twice(names: Names, file: str, mistakes: Mistakes) -> None:
    """Each name of the file, and each name of a role, stands for one thing."""
    _compare(_of_file(names), "", file, mistakes)
    for node in names.module.body:
        if isinstance(node, tree.Role):
            info = names.roles[node.name]
            if info.node is node:  # of two roles of one name that is said
                found = [*_members(node.body), *_fields(info, names)]
                _compare(found, f"{node.name}.", file, mistakes)


def _compare(found: Iterable[_Defined], owner: str, file: str, mistakes: Mistakes) -> None:
    first: dict[str, _Defined] = {}
    for one in sorted(
        found, key=lambda d: (Span.of(d.node, file).line, Span.of(d.node, file).column)
    ):
        if one.kind in _HELD and one.name in _OWN:
            mistakes.add(
                "SW153",
                f"'{one.name}' cannot be {one.kind}: it is the number of a role among its like.",
                at=Span.of(one.node, file),
                help="Give it another name.",
            )
            continue
        other = first.setdefault(one.name, one)
        if other is not one:
            mistakes.add(
                "SW108",
                f"'{owner}{one.name}' is defined twice: {other.kind} in line "
                f"{Span.of(other.node, file).line}, and {one.kind} here.",
                at=Span.of(one.node, file),
                why="One of them would be left out, and everything would seem to hold.",
                help="Give each a name of its own.",
            )


def _members(body: list[ast.stmt]) -> Iterator[_Defined]:
    for node in body:
        for kind, word in _KINDS:
            if isinstance(node, kind):
                yield _Defined(node.name, word, node)
        if isinstance(node, tree.InitStanza):
            yield _Defined("Init", "'init:'", node)


def _of_file(names: Names) -> Iterator[_Defined]:
    body = names.module.body
    yield from _members(body)
    for name, node in names.constants.items():
        if not isinstance(node, ast.FunctionDef):
            yield _Defined(name, "a constant", node)
    begun = [names.init] if names.init is not None else []
    for name, node in _first([*begun, *(n for n in body if isinstance(n, tree.Choice))]).items():
        if name in names.state:
            yield _Defined(name, "a state variable", node)


def _first(nodes: list[ast.stmt]) -> dict[str, ast.AST]:
    """The first assignments of names."""
    found: dict[str, ast.AST] = {}
    for part in (p for node in nodes for p in walk(node) if isinstance(p, ast.stmt)):
        for target in targets_of(part):
            if isinstance(target, ast.Name):
                found.setdefault(target.id, target)
    return found


def _fields(info: RoleInfo, names: Names) -> Iterator[_Defined]:
    """The fields of a role, where they are first assigned or given."""
    found: dict[str, ast.AST] = {}
    for part in walk(info.node):
        for target in targets_of(part) if isinstance(part, ast.stmt) else ():
            if is_self(target) and isinstance(target, ast.Attribute):
                found.setdefault(target.attr, target)
    for part in walk(names.module):
        made = isinstance(part, ast.Call) and getattr(part.func, "id", "") == info.node.name
        for keyword in part.keywords if made and isinstance(part, ast.Call) else ():
            if keyword.arg is not None:
                found.setdefault(keyword.arg, keyword)
    for name, node in found.items():
        yield _Defined(name, "a field", node)
