"""The values that stand beside a line of code: of its names, of fields of roles and records, and
of constants.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import FrameType
from typing import Any

from statewalk.checker.states.shortening import fit
from statewalk.checker.verdict.spec_text import parsed
from statewalk.dsl.values.stored import freeze

Chain = tuple[str, ...]
"""A name, and the attributes that follow it"""

Values = dict[str, str]

_VALUE, _VALUES, _LINE = 40, 6, 240  # letters of a value, values of a line, letters of all
_PLAIN = 12  # letters of a value that may stand there twice
_NOTHING = object()


def values_of(frame: FrameType, file: str, number: int) -> Values:
    """Return the values that what a line names has in a frame."""
    return values_in(file, number, frame.f_locals, frame.f_globals)


def values_in(
    file: str, number: int, own: Mapping[str, Any], namespace: Mapping[str, Any]
) -> Values:
    """Return the values that what a line names has: by local names, else by those of the module."""
    found: Values = {}
    for chain in named_in(file).get(number, ()):
        if len(found) < _VALUES and (text := _text(chain, own, namespace)):
            if len(text) <= _PLAIN or text not in found.values():
                found[".".join(chain)] = text
    return found


def result_of(frame: FrameType, file: str, number: int, value: Any) -> Values:
    """Return what a function returns, where that does not stand in the line."""
    node = _returns(_tree(file)).get(number)
    if node is None or frame.f_code.co_name.startswith("<"):
        return {}
    return {"returns": text} if (text := _shown(value)) else {}


def said(values: Values) -> str:
    """Return values as they stand beside a line."""
    told = " · ".join(f"{name} = {text}" for name, text in values.items() if name != "returns")
    result = f"returns {values['returns']}" if "returns" in values else ""
    return " · ".join(filter(None, [told[:_LINE], result]))


def _text(chain: Chain, own: Mapping[str, Any], namespace: Mapping[str, Any]) -> str:
    """Return the value of the longest part of a chain that has one; of the module alone only that
    of constants.
    """
    first, *rest = chain
    value = own.get(first, namespace.get(first, _NOTHING))
    if value is _NOTHING or callable(value) or (first not in own and not rest and first.islower()):
        return ""
    for name in rest:
        try:
            value = getattr(value, name)
        except Exception:  # it is a courtesy
            return ""
        if callable(value):
            return ""
    return "" if chain == ("self",) else _shown(value)


def _shown(value: Any) -> str:
    try:
        return fit(freeze(value), _VALUE)
    except Exception:  # no value of a state
        return ""


def _tree(file: str) -> ast.Module:
    return parsed(file) or ast.Module([], [])


def named_in(file: str) -> Mapping[int, tuple[Chain, ...]]:
    """By line what is named in it, in order, each once."""
    return _named(_tree(file))


@lru_cache(maxsize=64)
def _named(tree: ast.Module) -> Mapping[int, tuple[Chain, ...]]:
    found: dict[int, dict[Chain, None]] = {}
    for line, _, chain in sorted(_chains(tree)):
        found.setdefault(line, {})[chain] = None
    return {line: tuple(chains) for line, chains in found.items()}


def _chains(node: ast.AST, called: bool = False) -> Iterator[tuple[int, int, Chain]]:
    """Yield places and chains of names; of a method that is called, what it is called on."""
    if isinstance(node, ast.Name | ast.Attribute):
        chain, inner = _chain(node)
        chain = chain[:-1] if called else chain
        if not isinstance(inner, ast.Name):
            yield from _chains(inner)
        elif chain:
            yield node.lineno, node.col_offset, chain
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.arguments) or child in getattr(node, "decorator_list", ()):
            continue
        yield from _chains(child, isinstance(node, ast.Call) and child is node.func)


def _chain(node: ast.expr) -> tuple[Chain, ast.expr]:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return (node.id, *names) if isinstance(node, ast.Name) else tuple(names), node


@lru_cache(maxsize=64)
def _returns(tree: ast.Module) -> Mapping[int, ast.Return]:
    """By line the statements that return what does not stand there."""
    return {
        node.lineno: node
        for node in ast.walk(tree)
        if isinstance(node, ast.Return) and not isinstance(node.value, ast.Constant | None)
    }
