"""Functions and constants of ``.star`` files beside a specification: ``helpers.next(n)``.

Such a file is parsed as a specification is, and never run: what it defines joins the module under
names of its own, held against the same rules. There it stands where the specification first names
it, so that errors point to this place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from statewalk.dsl.blocks import tree
from statewalk.dsl.errors import Mistakes, Span, did_you_mean
from statewalk.dsl.fizz.text.parse import parse
from statewalk.dsl.source.nodes import Transformer, walk
from statewalk.dsl.source.texts import read_text

_BUILT_IN = frozenset({"itertools", "math", "self", "symmetry"})
_HELP = "A .star file has functions, def f(x): ..., and constants."


def with_files_beside(module: ast.Module, path: str) -> ast.Module:
    """Return a specification with what it takes from files beside it.

    Raises SpecError[SW150, SW153].
    """
    own = set(_bound(module))
    named: dict[str, ast.Attribute] = {}
    for node in walk(module):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            word = node.value.id
            if word not in own | _BUILT_IN and word not in named and _file(path, word).is_file():
                named[word] = node
    if not named:
        return module
    taken = own | {text for node in walk(module) for text in _texts(node)}
    mistakes = Mistakes()
    meant: dict[tuple[str, str], str] = {}
    found: list[ast.stmt] = []
    for word, at in named.items():
        found += _Beside(_file(path, word), at, taken, own).body(word, meant, mistakes)
    mistakes.raise_if_any()
    _Replaced(meant, path, mistakes).visit(module)
    mistakes.raise_if_any()
    module.body[:0] = found
    return module


def _file(path: str, word: str) -> Path:
    return Path(path).parent / f"{word}.star"


class _Beside:
    """One ``.star`` file."""

    def __init__(self, file: Path, at: ast.Attribute, taken: set[str], others: set[str]) -> None:
        self.file, self.at, self.taken, self.others = str(file), at, taken, others
        self.module = parse(read_text(self.file), self.file)

    def body(
        self, word: str, meant: dict[tuple[str, str], str], mistakes: Mistakes
    ) -> list[ast.stmt]:
        """Return its statements, renamed; ``meant`` takes the new names."""
        kept = [node for node in self.module.body if not tree.is_text(node)]
        for node in kept:
            if not isinstance(node, ast.FunctionDef | ast.Assign):
                self._wrong(node, "A .star file cannot have this.", mistakes)
        top = {name for node in kept for name in _defined(node)}
        new: dict[str, str] = {}
        for name in sorted(top):
            made = f"{word}_{name}"
            while made in self.taken:
                made += "_"
            self.taken.add(made)
            new[name] = meant[word, name] = made
        for node in kept:
            self._check(node, top, mistakes)
        _Renamed(new, self.at).visit(self.module)
        return kept

    def _check(self, node: ast.stmt, top: set[str], mistakes: Mistakes) -> None:
        """Note the names in a statement that mean two things, or none of this file."""
        inside = set(_inner(node))
        for part in walk(node):
            name = part.id if isinstance(part, ast.Name) else ""
            if name in inside & top:
                self._wrong(part, f"'{name}' is a name of this file and a local in it.", mistakes)
            elif name in self.others - top - inside:
                self._wrong(part, f"There is no name '{name}' in this file.", mistakes)

    def _wrong(self, node: ast.AST, message: str, mistakes: Mistakes) -> None:
        mistakes.add("SW153", message, at=Span.of(node, self.file), help=_HELP)


class _Renamed(Transformer):
    """Gives the names of a file their new ones, and all of it one place."""

    def __init__(self, new: dict[str, str], at: ast.AST) -> None:
        self.new, self.at = new, at

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if hasattr(node, "lineno"):
            ast.copy_location(node, self.at)
        for field in ("id", "name"):
            word = getattr(node, field, None)
            if isinstance(word, str) and isinstance(node, ast.Name | ast.FunctionDef):
                setattr(node, field, self.new.get(word, word))
        return super().generic_visit(node)


class _Replaced(Transformer):
    """Replaces ``helpers.next`` by the name that it has in the module."""

    def __init__(self, meant: dict[tuple[str, str], str], path: str, mistakes: Mistakes) -> None:
        self.meant, self.path, self.mistakes = meant, path, mistakes
        self.words = {word for word, _ in meant}

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        root = node.value.id if isinstance(node.value, ast.Name) else ""
        name = self.meant.get((root, node.attr))
        if name is None and root in self.words:
            known = [known for word, known in self.meant if word == root]
            said = f"{root}.star defines no '{node.attr}'."
            help = did_you_mean(node.attr, known)
            self.mistakes.add("SW101", said, at=Span.of(node, self.path), help=help)
        return node if name is None else ast.copy_location(ast.Name(name, node.ctx), node)


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module defines there."""
    if isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (n.id for t in node.targets for n in walk(t) if isinstance(n, ast.Name))


def _inner(node: ast.stmt) -> Iterator[str]:
    """Yield the names that are bound inside of a statement of a module."""
    if isinstance(node, ast.FunctionDef):
        yield from (n for n in _bound(node) if n != node.name)
    elif isinstance(node, ast.Assign):
        yield from _bound(node.value)


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that something gives a meaning to, at any depth."""
    for part in walk(node):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            yield part.id
        elif isinstance(part, ast.arg):
            yield part.arg
        elif isinstance(getattr(part, "name", None), str):
            yield part.name  # type: ignore[attr-defined]


def _texts(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node has."""
    for field in ("id", "attr", "arg", "name", "value"):
        word = getattr(node, field, None)
        if isinstance(word, str):
            yield word
