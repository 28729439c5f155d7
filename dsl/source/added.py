"""Definitions that are added to the text of a module when it is read.

They are text, with lines below those of the module, and part of its digest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import indent

from statewalk.dsl.errors import Span, SpecError
from statewalk.dsl.source.nodes import walk

WRITTEN_OUT = ("Clock", "Network", "Timeout", "on_message")
_WORDS = ("Bag", "Record", "Role", "action", "any_of", "instances", "maybe", "require", "terminal")


@dataclass
class Text:
    """A module that is being widened; ``lines`` are those of its text and of what is added."""

    path: str
    tree: ast.Module
    lines: list[str]

    def add(self, code: str) -> list[ast.stmt]:
        """Return the statements of code, with lines of their own."""
        made = ast.parse(code)
        ast.increment_lineno(made, len(self.lines))
        self.lines += code.splitlines()
        return made.body

    def wrong(self, said: str, node: ast.AST, *, why: str = "", help: str = "") -> SpecError:
        return SpecError("SW130", said, at=Span.of(node, self.path), why=why, help=help)

    def add_field(self, role: ast.ClassDef, name: str, code: str) -> None:
        """Add a field to a class, after those that it has."""
        for node in role.body:
            named = node.target if isinstance(node, ast.AnnAssign) else node
            if getattr(named, "id", getattr(named, "name", "")) == name:
                said = f"{role.name} gets a field '{name}', and has that name already."
                help = "Rename it, or the class of the network or clock: the field has its name."
                raise self.wrong(said, node, help=help)
        fields = [at for at, n in enumerate(role.body) if isinstance(n, ast.AnnAssign)]
        first = role.body[0]
        told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
        at = fields[-1] + 1 if fields else int(told)
        role.body[at:at] = self.add(code)

    def instance_of(self, node: ast.ClassDef) -> str:
        """Return the name of the one instance of a class."""
        found = {
            target.id
            for target, value in _assigned(self.tree)
            if isinstance(target, ast.Name) and isinstance(value, ast.Call)
            if getattr(value.func, "id", "") == node.name
        }
        if len(found) == 1:
            return found.pop()
        said = f"There {'are several' if found else 'is no'} {node.name} in this module."
        why = "Its class says who takes part, so a class has one instance."
        help = f"Write {node.name.lower()} = {node.name}()"
        raise self.wrong(said, node, why=why, help=help if not found else "Write a class for each.")

    def receivers_of(
        self, node: ast.ClassDef, names: list[str], classes: dict[str, ast.ClassDef]
    ) -> list[ast.ClassDef]:
        """Return the classes of roles that take part."""
        for name in names:
            if name not in classes:
                said = f"{name} takes part in {node.name}, and is not defined in this module."
                why = f"{node.name} adds fields to its class."
                help = f"Write {node.name} in the module of {name}, or let {name} derive from a "
                raise self.wrong(said, node, why=why, help=help + "role of this module.")
        return [classes[name] for name in names]

    def import_line(self, code: str) -> None:
        """Import more, before all else but the doc-string."""
        at = 0
        for at, node in enumerate(self.tree.body):  # noqa: B007
            told = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            if not told and not future:
                break
        self.tree.body[at:at] = self.add(code)

    def import_words(self) -> None:
        """Import the words that what is added is written in."""
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name in _WORDS:
                said = f"'{node.name}' is defined here, and networks are written in that word."
                raise self.wrong(said, node, help="Give it another name.")
        self.import_line(f"from statewalk import {', '.join(_WORDS)}")


def _assigned(tree: ast.Module) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the targets of assignments with their values."""
    for node in walk(tree):
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            yield node.target, node.value
        elif isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                yield from zip(target.elts, value.elts, strict=False)
            else:
                yield target, value


def imported(tree: ast.Module) -> dict[str, str]:
    """Return the names by which a module knows the words that are written out."""
    found = {
        alias.name: alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "statewalk"
        for alias in node.names
    }
    known = {word: word for word in WRITTEN_OUT} if "*" in found else found
    return {word: name for word, name in known.items() if word in WRITTEN_OUT}


def types_in(node: ast.expr) -> list[str]:
    """Return the names of a union, also of one in quotes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval").body
    if isinstance(node, ast.BinOp):
        return [*types_in(node.left), *types_in(node.right)]
    return [ast.unparse(node)]


def under(given: str, code: str) -> str:
    """Return code that is there where an option is on."""
    if given in ("", "True") or given.isdigit():
        return code if given else ""
    return f"if {given}:\n{indent(code, '    ')}"


def method(head: str, *parts: str) -> str:
    """Return a definition of its head and the statements that there are."""
    body = "\n".join(part for part in parts if part)
    return f"{head}\n{indent(body or 'pass', '    ')}\n"
