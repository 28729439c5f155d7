"""The texts of spec modules: read, parsed, and the heads of functions as Python is to run them.

``i: int = any_of(range(3))``: what is in the brackets is looked up once, when the spec has been
read, and not when Python meets the function. It may be empty, and use names declared further below.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from statewalk.dsl.errors import RunError, Span, SpecError, one_line
from statewalk.dsl.files import MOST_OF_A_TEXT, read_bytes
from statewalk.dsl.model import Dialect
from statewalk.dsl.source.nodes import longest_line, not_python, too_deep, too_nested, walk
from statewalk.dsl.source.set_order import imported_names

_NAMES = ("any_of", "maybe")


@dataclass(eq=False)
class Source:
    """The text of a spec module and its syntax tree, which nobody changes.

    ``builtins`` are all that its code has without importing it; None: Python's.
    ``warnings`` are those of reading it.
    """

    path: str
    text: str
    tree: ast.Module
    dialect: Dialect = "python"
    builtins: Mapping[str, Any] | None = None
    warnings: tuple[SpecError, ...] = ()

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that it imports, see `dsl.source.set_order`."""
        return imported_names(self.tree)

    @property
    def digest(self) -> str:
        return sha256(self.text.encode()).hexdigest()

    def span(self, node: ast.AST) -> Span:
        """Where a node is."""
        return Span.of(node, self.path)


def read_source(path: str) -> Source:
    """Read and parse a module in Python. Raises RunError[SW302], SpecError[SW100]."""
    return parse_source(path, read_text(path))


def read_text(path: str) -> str:
    """The text of a spec. Raises RunError[SW302], SpecError[SW100]."""
    file = Path(path)
    if file.is_dir():
        said = f"{one_line(path)} is a directory, not a spec."
        raise RunError("SW302", said, help="Name a .py or .fizz file in it.")
    if not file.exists():
        raise no_file(path)
    try:
        data = read_bytes(file, MOST_OF_A_TEXT)
    except OSError as error:
        raise RunError("SW302", f"{one_line(path)} cannot be read: {error.strerror}.") from error
    try:
        return data.decode("utf-8-sig")  # some editors write a mark at the start
    except UnicodeDecodeError as error:
        raise SpecError(
            "SW100",
            f"{path} is not text (byte {error.start}).",
            help="A spec is a UTF-8 text file.",
        ) from None


def no_file(path: str) -> RunError:
    """The error of a spec that is not there, with those that are."""
    folder = Path(path).parent
    specs = sorted(p.name for p in folder.glob("*.*") if p.suffix in (".py", ".fizz"))
    listed = f"In {folder}: {', '.join(specs[:8])}." if specs else ""
    return RunError("SW302", f"There is no file {one_line(path)}.", help=listed)


@lru_cache(maxsize=32)  # a sweep, a comparison and mutants load the same texts again and again
def parse_source(path: str, text: str) -> Source:
    """Parse the text of a spec module. Raises SpecError[SW100]."""
    if "\x00" in text:
        raise SpecError(
            "SW100",
            f"{path} is not text (it holds a zero byte).",
            help="A spec is a UTF-8 text file.",
        )
    try:
        tree = ast.parse(text, "")  # given a file, Python takes columns from 1 kB of it
    except SyntaxError as error:
        raise not_python(error, path) from None
    except (RecursionError, MemoryError):
        raise too_nested("SW100", longest_line(path, text)) from None
    source = Source(path, text, tree)
    if (node := too_deep(tree)) is not None:
        raise too_nested("SW100", source.span(node))
    _refuse_unread(source)
    return source


_TEMPLATE = getattr(ast, "TemplateStr", type(None))  # from Python 3.14 on
_UNREAD = "A t-string", 'Write an f-string: f"...".'
_UNPACKED = "Unpacking in a comprehension", "Write a loop more: [y for x in xs for y in x]."
_UNPACKED_DICT = _UNPACKED[0], "Write a loop more: {k: v for d in ds for k, v in d.items()}."


def _refuse_unread(source: Source) -> None:
    """Raise SpecError[SW100] for syntax of newer Pythons that no spec may use; older ones have
    refused it themselves.
    """
    for node in walk(source.tree):
        if isinstance(node, _TEMPLATE):
            name, help = _UNREAD
        elif isinstance(node, ast.DictComp) and getattr(node, "value", None) is None:
            name, help = _UNPACKED_DICT
        elif isinstance(getattr(node, "elt", None), ast.Starred):
            name, help = _UNPACKED
        else:
            continue
        raise SpecError("SW100", f"{name} is not read in a spec.", at=source.span(node), help=help)


# -- heads of functions --------------------------------------------------------------------------
def is_range(node: ast.expr | None) -> bool:
    """Whether a default says over what its parameter ranges."""
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in _NAMES


def defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    yield from zip(positional[::-1], arguments.defaults[::-1], strict=False)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield argument, default


def without_ranges(tree: ast.Module) -> ast.Module:
    """A module as Python is to run it: nothing is chosen where a function is defined. It is
    changed.
    """
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef):
            found = node.args
            found.defaults = [_nothing(d) if is_range(d) else d for d in found.defaults]
            found.kw_defaults = [_nothing(d) if d and is_range(d) else d for d in found.kw_defaults]
    return tree


def _nothing(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(None), node)


_HIDDEN = frozenset({"bool", "bytes", "dict", "frozenset", "int", "list", "set", "str", "tuple"})


def check_hidden_types(source: Source) -> None:
    """Raise SpecError[SW110] for a field such as ``dict: dict[str, str] = {}``.

    Python assigns the value before it evaluates the annotation, so the name means the value there
    and below.
    """
    for cls in walk(source.tree):
        hidden: dict[str, ast.AnnAssign] = {}
        for field in cls.body if isinstance(cls, ast.ClassDef) else ():
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            name = field.target.id
            if name in _HIDDEN and field.value is not None:
                hidden.setdefault(name, field)
            for node in walk(field.annotation) if hidden else ():
                if isinstance(node, ast.Name) and node.id in hidden:
                    raise SpecError(
                        "SW110",
                        f"The field '{node.id}' hides the type {node.id} here.",
                        at=source.span(hidden[node.id].target),
                        why="Python assigns the default first, and the annotation means that.",
                        help=f"Give the field another name, such as {node.id}_.",
                    )
