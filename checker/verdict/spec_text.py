"""The facts and quotations that reports take from the text of a spec."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from statewalk.dsl.errors import source_lines, text_of
from statewalk.dsl.lowering.compiling import Old
from statewalk.dsl.source.nodes import WITH_ASSERTIONS, copied
from statewalk.dsl.source.set_order import with_ordered_sets

if TYPE_CHECKING:
    from statewalk.dsl.model import Model


def lines_of(file: str) -> tuple[str, ...]:
    """Return the lines of a file, with those that networks add; none when it cannot be read."""
    return _lines(text_of(file))


@lru_cache(maxsize=64)
def _lines(text: str) -> tuple[str, ...]:
    return tuple(source_lines(text)) if text else ()


def line_of(file: str, number: int, column: int = 0) -> str:
    """Return one line of a file, counted from 1, from a column on, without the blanks around it."""
    lines = lines_of(file)
    return lines[number - 1][column:].strip() if 0 < number <= len(lines) else ""


def has_assertions(model: Model) -> bool:
    """Return whether steps of a spec may fail an ``assert``."""
    return any(_asserts(file) for file in model.sources)


def _asserts(file: str) -> bool:
    text = "\n".join(lines_of(file))
    if re.search(r"^[ \t]+assert\b", text, re.MULTILINE) is None:
        return False
    tree = parsed(file)
    if tree is None:
        return False
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    return any(isinstance(n, ast.Assert) for f in functions for n in ast.walk(f))


def parsed(file: str) -> ast.Module | None:
    """Return the syntax tree of a Python file; None for others."""
    return _parsed(text_of(file)) if file.endswith(".py") else None


@lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse("\n".join(_lines(text)))
    except (SyntaxError, ValueError, RecursionError):
        return None


def function_at(file: str, line: int) -> ast.FunctionDef | None:
    """Return the function whose ``def`` (or first decorator) is on a line."""
    tree = parsed(file)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first <= line <= node.lineno:
                return node
    return None


def function_named(file: str, name: str, line: int) -> ast.FunctionDef | None:
    """Return the function of a name in a file; of several, the one that starts nearest to a
    line.
    """
    tree = parsed(file)
    found = [
        n
        for n in (ast.walk(tree) if tree else ())
        if isinstance(n, ast.FunctionDef) and n.name == name
    ]
    return min(found, key=lambda n: abs(n.lineno - line), default=None)


def assert_at(file: str, line: int) -> ast.Assert | None:
    """Return the innermost ``assert`` that spans a line of a Python file."""
    tree = parsed(file)
    found = [
        n
        for n in (ast.walk(tree) if tree else ())
        if isinstance(n, ast.Assert) and n.lineno <= line <= (n.end_lineno or line)
    ]
    return max(found, key=lambda n: n.lineno, default=None)


_MAX_VALUES = 8
_NAMED = (ast.Name, ast.Attribute, ast.Subscript)


@dataclass
class Captured:
    """A function at its return: the line, its variables (arguments included), the result."""

    line: int = 0
    values: dict[str, Any] = field(default_factory=dict)
    result: Any = None


def captured(call: Callable[[], Any], name: str, file: str) -> Captured | None:
    """Make a call; the outermost function of a name and file that returned in it."""
    found: Captured | None = None

    def profile(frame: FrameType, event: str, result: Any) -> None:
        nonlocal found
        code = frame.f_code
        if event == "return" and code.co_name == name and code.co_filename == file:
            found = Captured(frame.f_lineno, dict(frame.f_locals), result)

    saved = sys.getprofile()
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(saved)
    return found


def namespace_of(
    predicate: Callable[..., Any], model: Model, depth: int = 0
) -> dict[str, Any] | None:
    """Return the globals of the spec's module in which a predicate was written."""
    code = getattr(predicate, "__code__", None)
    if code is not None and code.co_filename in model.sources:
        return getattr(predicate, "__globals__", None)
    for cell in getattr(predicate, "__closure__", None) or ():
        content = cell.cell_contents
        if callable(content) and depth < 4:
            found = namespace_of(content, model, depth + 1)
            if found is not None:
                return found
    return None


def evaluate(node: ast.expr, namespace: dict[str, Any], scope: Mapping[str, Any]) -> Any:
    """Return the value of an expression of the spec in the state that is bound."""
    known = {**namespace, **scope}  # in one: comprehensions look names up in globals only
    return eval(compiled(node, known), known)


def compiled(node: ast.expr, known: dict[str, Any]) -> CodeType:
    """Return an expression of the spec, to be evaluated with the names that are known."""
    tree = with_ordered_sets(ast.Expression(Old(node, known).visit(copied(node))))
    ast.fix_missing_locations(tree)
    return compile(tree, "<explanation>", "eval", optimize=WITH_ASSERTIONS)


def values_in(
    node: ast.expr, namespace: dict[str, Any], scope: Mapping[str, Any]
) -> tuple[tuple[str, Any], ...]:
    """Return the values of the operands in an expression, by their text; at most a handful."""
    found: dict[str, Any] = {}
    for part in _operands(node):
        text = _written(part)
        if text in found or len(found) >= _MAX_VALUES:
            continue
        try:
            value = evaluate(part, namespace, scope)
        except Exception:  # an operand that is not reached may well raise
            continue
        if not callable(value) or hasattr(type(value), "_canonical"):
            found[text] = value
    return tuple(found.items())


def _written(node: ast.expr) -> str:
    """Return an expression as one writes it: ``sum(x for x in xs)`` needs one pair of
    parentheses.
    """
    match node:
        case ast.Call(func=func, args=[ast.GeneratorExp() as over], keywords=[]):
            return ast.unparse(func) + ast.unparse(over)
    return ast.unparse(node)


def _operands(node: ast.expr) -> list[ast.expr]:
    """Return what a reader would want the value of: both sides of comparisons, and what connectives
    connect.
    """
    match node:
        case ast.Constant():
            return []
        case ast.BoolOp(values=parts):
            return [o for part in parts for o in _operands(part)]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _operands(operand)
        case ast.Compare(left=left, comparators=rest):
            return [o for side in (left, *rest) for o in _side(side)]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return [o for part in (test, body, orelse) for o in _operands(part)]
        case ast.Call(args=args):
            return [a for a in args if isinstance(a, ast.Name | ast.Attribute | ast.Subscript)]
        case _:
            return [node]


def _side(node: ast.expr) -> list[ast.expr]:
    """Return a side of a comparison; of a tuple or a list its parts, of a sum also what is
    added up.
    """
    match node:
        case ast.Constant():
            return []
        case ast.Set(elts=parts) if all(isinstance(e, ast.Constant) for e in parts):
            return []
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [o for e in parts for o in _side(e)]
        case ast.BinOp(left=left, right=right):
            return [node, *(p for p in (left, right) if isinstance(p, _NAMED))]
        case ast.NamedExpr(value=value):
            return _side(value)
        case _:
            return [node]
