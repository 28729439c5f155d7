"""Going through syntax trees, quickly: loading a spec does little else.

Sources: `ast.walk`, `ast.iter_child_nodes`, `ast.NodeTransformer` and `ast.fix_missing_locations`
of Python's library, whose order they keep.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
from functools import cache
from types import ModuleType
from typing import Any, TypeVar

from statewalk.dsl.annotations import annotations_of
from statewalk.dsl.errors import Span, SpecError, source_lines

_T = TypeVar("_T")

WITH_ASSERTIONS = 0  # `optimize` of compile: `python -O` removes none from a spec
MAX_DEPTH = 100  # of what is nested in a spec: each term of a sum, each elif counts as one

# Fields that hold no nodes, or only what tells reading from writing, which is never asked for.
_LEAVES = frozenset({"id", "ctx", "attr", "arg", "kind", "type_comment", "conversion"})
# Fields whose lists hold nothing but nodes, in every kind of node that has them.
_NODES = frozenset(
    {"args", "body", "comparators", "decorator_list", "elts", "handlers", "keywords", "ops"}
    | {"orelse", "targets", "values"}
)


class _Fields(dict[type, tuple[str, ...]]):
    """By kind of node: the fields that may hold nodes."""

    def __missing__(self, kind: Any) -> tuple[str, ...]:
        found = self[kind] = tuple(f for f in kind._fields if f not in _LEAVES)
        return found


_FIELDS = _Fields({ast.Constant: (), ast.Global: (), ast.Nonlocal: (), ast.alias: ()})


_known: ContextVar[dict[Any, Any] | None] = ContextVar("known", default=None)


@contextmanager
def unchanged() -> Iterator[None]:
    """While entered, no tree is changed: what `walk` and `once` find is kept."""
    known = _known.get()
    token = _known.set({} if known is None else known)
    try:
        yield
    finally:
        _known.reset(token)


def walk(root: ast.AST) -> list[ast.AST]:
    """Return a node and all nodes below it, those nearer first.

    `ast.Load` and its like are left out.
    """
    known = _known.get()
    found: list[ast.AST] | None = known.get(root) if known is not None else None
    if found is None:
        found = [root]
        _add_parts(found, found)
        if known is not None:
            known[root] = found
    return found


def once(look: Callable[[ast.AST], _T], node: ast.AST) -> _T:
    """Return what a function finds in a node; it is asked once while trees are `unchanged`."""
    known = _known.get()
    if known is None:
        return look(node)
    if (look, node) not in known:
        known[look, node] = look(node)
    found: _T = known[look, node]
    return found


def parts_of(node: ast.AST) -> list[ast.AST]:
    """Return the nodes directly below a node. `ast.Load` and its like are left out."""
    found: list[ast.AST] = []
    _add_parts([node], found)
    return found


def _add_parts(nodes: list[ast.AST], found: list[ast.AST]) -> None:
    """Add what is directly below nodes; where both are one list, all that is below them."""
    for node in nodes:
        fields = _FIELDS[type(node)]
        if not fields:
            continue
        content = node.__dict__
        for field in fields:
            value = content.get(field)
            if not value:
                continue
            if type(value) is not list:
                if isinstance(value, ast.AST):
                    found.append(value)
            elif field in _NODES:
                found += value
            else:
                found += [item for item in value if isinstance(item, ast.AST)]


class Transformer(ast.NodeTransformer):
    """Replaces nodes with what a visit returns: a node; in a list also several, or none."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        content = node.__dict__
        for field in _FIELDS[type(node)]:
            value = content.get(field)
            if isinstance(value, ast.AST):
                content[field] = self.visit(value)
            elif type(value) is list:
                value[:] = self._visited(value)
        return node

    def _visited(self, items: list[Any]) -> Iterator[Any]:
        for item in items:
            made = self.visit(item) if isinstance(item, ast.AST) else item
            if type(made) is list:
                yield from made
            elif made is not None or item is None:
                yield made


def with_places(root: _Node) -> _Node:
    """Return a tree in which nodes without a place have that of the node above. It is changed."""
    above: list[tuple[ast.AST, ast.AST]] = [(root, _FIRST)]
    for node, outer in above:
        here = outer
        if node._attributes:
            content, given = node.__dict__, outer.__dict__
            for name in _PLACE:
                if content.get(name) is None:
                    content[name] = given[name]
            here = node
        above += [(part, here) for part in parts_of(node)]
    return root


_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")
_FIRST = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)


def too_deep(root: ast.AST) -> ast.AST | None:
    """Return a node that is nested deeper than `MAX_DEPTH`, if there is one."""
    level = [root]
    for _ in range(MAX_DEPTH):
        below: list[ast.AST] = []
        _add_parts(level, below)
        if not below:
            return None
        level = below
    return next((node for node in level if hasattr(node, "lineno")), None)


def not_python(error: SyntaxError, path: str) -> SpecError:
    """Return the error of a text that Python does not read, or reads and does not compile."""
    at = Span(error.filename or path, error.lineno or 1, max(1, error.offset or 1))
    return SpecError("SW100", f"This is not Python: {error.msg.rstrip('?.')}.", at=at)


def longest_line(path: str, text: str) -> Span:
    """Return where a text is probably nested that Python's parser gives up on without
    saying where.
    """
    lines = source_lines(text)
    number = max(range(len(lines)), key=lambda i: len(lines[i]))
    return Span(path, number + 1 if len(lines[number]) > MAX_DEPTH else 1)


def too_nested(code: str, at: Span) -> SpecError:
    """Return the error of a text that is nested deeper than it can be gone through."""
    why = "Each nested expression or block, term of a sum and elif counts as one level; "
    why += f"the limit is {MAX_DEPTH}."
    help = "Move a part into a variable or a function."
    return SpecError(code, "This is nested too deeply.", at=at, why=why, help=help)


_Node = TypeVar("_Node", bound=ast.AST)


def copied(node: _Node) -> _Node:
    """Return a copy of a syntax tree that shares no node with it that could be changed.

    Only what makes up a tree is copied: others may have written on its nodes, for instance which
    node is above (``executing``, which notebooks use, does), and on operators, which Python shares
    between all trees.
    """
    kind: Any = type(node)
    result: _Node = kind.__new__(kind)
    content, made = node.__dict__, result.__dict__
    own, holding = _parts(kind)
    if content.keys() <= own:
        made.update(content)
    else:
        made.update((name, content[name]) for name in content if name in own)
    for name in holding:
        value = content.get(name)
        if type(value) is list:
            made[name] = [copied(item) if isinstance(item, ast.AST) else item for item in value]
        elif isinstance(value, ast.AST) and not isinstance(value, _SHARED):
            made[name] = copied(value)
    return result


_HOLDING = (ast.Module, ast.ClassDef, ast.If, ast.Try, ast.ExceptHandler, ast.With)


def exchanged(node: _Node, instead: Mapping[ast.AST, list[ast.stmt]]) -> _Node:
    """Return a module, class or ``if`` with some statements replaced, functions aside."""
    made = copy(node)
    for name in ("body", "orelse", "handlers", "finalbody"):
        block: list[Any] = []
        for item in getattr(node, name, ()):
            inner = exchanged(item, instead) if isinstance(item, _HOLDING) else item
            block += instead.get(item, [inner])
        if hasattr(node, name):
            setattr(made, name, block)
    return made


_SHARED = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)


@cache
def _parts(kind: type[ast.AST]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the attributes that make up a node, and those of them that hold nodes."""
    own = [
        name
        for base in kind.__mro__
        if base.__module__ not in ("ast", "_ast", "builtins")
        for name in annotations_of(base)
    ]
    found = dict.fromkeys([*kind._fields, *own, "source"])
    holding = tuple(name for name in found if name not in _LEAVES)
    return frozenset([*found, *kind._attributes]), holding


def yields(node: ast.AST) -> bool:
    """Return whether there is a ``yield`` in a node, the functions that it defines aside."""
    return once(_yields, node)


def _yields(node: ast.AST) -> bool:
    nodes, met = [node], 0
    while met < len(nodes):
        inside = [n for n in nodes[met:] if not isinstance(n, ast.FunctionDef)]
        if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in inside):
            return True
        met = len(nodes)
        _add_parts(inside, nodes)
    return False


def parents_of(root: ast.AST) -> Mapping[ast.AST, ast.AST]:
    """Return the parent of every node below the root."""
    return once(_parents, root)


def _parents(root: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: node for node in walk(root) for child in parts_of(node)}


def placed(lines: list[str], at: ast.AST) -> list[ast.stmt]:
    """Return statements from text, all of them placed somewhere."""
    made = ast.parse("\n".join(lines)).body
    for statement in made:
        for part in walk(statement):
            if hasattr(part, "lineno"):
                ast.copy_location(part, at)
    return made


def meaning(node: ast.expr, namespace: dict[str, Any]) -> Any:
    """Return what a name of the module, or a name in a module that it imports, stands for."""
    if isinstance(node, ast.Name):
        return namespace.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = namespace.get(node.value.id)
        return getattr(module, node.attr, None) if isinstance(module, ModuleType) else None
    return None


def made_text(node: ast.AST) -> list[ast.expr]:
    """Return what a node makes text of, e.g. by ``str(x)`` or ``f"{x}"``; of a list its parts."""
    found: list[ast.expr] = []
    match node:
        case ast.Call(func=ast.Name("str" | "repr" | "format" | "ascii"), args=args):
            found = args[:1]
        case ast.Call(func=ast.Attribute(ast.Constant(str()), "format"), args=args, keywords=named):
            found = [*args, *(keyword.value for keyword in named)]
        case ast.FormattedValue(value=value):
            found = [value]
        case ast.BinOp(left=ast.Constant(str()), op=ast.Mod(), right=right):
            found = [right]
    parts: list[ast.expr] = []
    while found:
        part = found.pop()
        inside = isinstance(part, ast.List | ast.Tuple | ast.Set | ast.Dict)
        found += [n for n in parts_of(part) if isinstance(n, ast.expr)] if inside else []
        parts += [] if inside else [part]
    return parts


def leaves(node: ast.AST, in_loop: bool = False) -> bool:
    """Return whether a statement may jump out of itself: return, or leave an outer loop."""
    if isinstance(node, ast.Return):
        return True
    if isinstance(node, ast.Break | ast.Continue):
        return not in_loop
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.expr):
        return False
    if isinstance(node, ast.For | ast.While):
        return any(leaves(n, True) for n in node.body) or any(
            leaves(n, in_loop) for n in node.orelse
        )
    return any(leaves(child, in_loop) for child in parts_of(node))


def read_word(node: ast.AST) -> str | None:
    """Return the name that a node reads, as a name, an attribute or a text; None where it
    reads none.
    """
    word = node.value if isinstance(node, ast.Constant) else None
    word = word or getattr(node, "id", None) or getattr(node, "attr", None)
    is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
    return word if is_read and isinstance(word, str) else None


def is_identity(node: ast.AST) -> bool:
    """``a is b``, in whatever words; not ``a is None``."""
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        return any(
            isinstance(op, ast.Is | ast.IsNot)
            and not any(isinstance(n, ast.Constant) for n in operands[at : at + 2])
            for at, op in enumerate(node.ops)
        )
    name = getattr(node, "id", None) or getattr(node, "attr", None)
    return name in ("id", "is_", "is_not")


IF = "if TEST:\n BODY\nelse:\n ORELSE"


def expression(text: str, at: ast.AST, **parts: Any) -> ast.expr:
    """Return an expression. A part is a node, the name to stand there, or another constant."""
    made: ast.expr = _filled(_parsed(text).value, at, parts)  # type: ignore[attr-defined]
    return made


def statement(text: str, at: ast.AST, **parts: Any) -> ast.stmt:
    """Return a statement; a part that is a list of statements stands on a line of its own."""
    made: ast.stmt = _filled(_parsed(text), at, parts)
    return made


@cache
def _parsed(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def _filled(node: Any, at: ast.AST, parts: dict[str, Any]) -> Any:
    """Return a copy of a template's node with its holes filled."""
    if isinstance(node, list):
        return [made for item in node for made in _line(item, at, parts)]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Name) and node.id in parts:
        part = parts[node.id]
        if isinstance(part, str):
            made: ast.expr = ast.Name(part, node.ctx)
        else:
            made = part if isinstance(part, ast.expr) else ast.Constant(part)
        return made if hasattr(made, "lineno") else ast.copy_location(made, at)
    content = {name: _filled(value, at, parts) for name, value in ast.iter_fields(node)}
    return ast.copy_location(type(node)(**content), at)


def _line(item: Any, at: ast.AST, parts: dict[str, Any]) -> list[Any]:
    alone = isinstance(item, ast.Expr) and isinstance(item.value, ast.Name)
    part = parts.get(item.value.id) if alone else None
    return part if isinstance(part, list) else [_filled(item, at, parts)]
