"""SW128: what is always true is asked whether it is: a function that is not called, a generator."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

from statewalk.dsl.errors import Mistakes
from statewalk.dsl.rules.rule import shortened
from statewalk.dsl.source.known_effects import attribute
from statewalk.dsl.source.nodes import meaning, walk
from statewalk.dsl.source.scopes import around, locals_of
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.source.usage import Receivers

_NO_ANSWER = "Only a comparison may give it, to say that it cannot tell."


def check_truths(tree: SpecTree, mistakes: Mistakes) -> None:
    """Note everything that is asked or given back as a truth, and is true whatever it is about."""
    for function in tree.functions:
        asked = _Asked(tree, function)
        is_property = function.is_property or function.function in tree.led
        found = [part for node in walk(function.node) for part in asked.of(node, is_property)]
        for node in dict.fromkeys(found):
            why, help = asked.always_true(node)
            if why:
                text = f"'{shortened(node)}' is always true."
                mistakes.add("SW128", text, at=function.span(node), why=why, help=help)


class _Asked:
    """What one function asks for its truth."""

    def __init__(self, tree: SpecTree, function: Function) -> None:
        self.tree = tree
        self.function = function
        self.locals = locals_of(function.node)
        self.names = around(function.node, function.module.namespace, self.locals)

    def of(self, node: ast.AST, is_property: bool) -> Iterator[ast.expr]:
        """The expressions in a node of which only the truth counts."""
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield from _parts(test)
            case ast.Assert(test=test) | ast.match_case(guard=ast.expr() as test):
                yield from _parts(test)
            case ast.Return(value=ast.expr() as value) if is_property:
                yield from _parts(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from _parts(operand)
            case ast.BoolOp(values=[*first, _]):
                for value in first:
                    yield from _parts(value)
            case ast.comprehension(ifs=ifs):
                for test in ifs:
                    yield from _parts(test)
            case ast.Call(func=func, args=[argument]) if _is_asking(self.means(func)):
                yield from _parts(argument)
            case ast.Call(func=func, args=[ast.GeneratorExp(elt=elt) | ast.ListComp(elt=elt)]) if (
                self.means(func) in (all, any)
            ):
                yield from _parts(elt)

    def means(self, node: ast.expr) -> Any:
        """What a name stands for; None for a local."""
        if isinstance(node, ast.Name):
            found = self.names.get(node.id, getattr(builtins, node.id, None))
            return None if node.id in self.locals else found
        return meaning(node, self.names)

    def always_true(self, node: ast.expr) -> tuple[str, str]:
        """(why it is, what to do about it); empty where it may be false"""
        if isinstance(node, ast.Lambda):
            return "It is a function.", "Write what it gives, without lambda."
        if isinstance(node, ast.GeneratorExp):
            return "It is a generator, whatever comes out of it.", "Write all(...) or any(...)."
        value = self.means(node)
        if value is NotImplemented:
            return _NO_ANSWER, "Return True or False."
        if value is None and isinstance(node, ast.Attribute):
            cls = Receivers(self.tree, self.function).receiver(node.value)
            value = getattr(cls, node.attr, None) if cls is not None else None
        name = getattr(node, "attr", getattr(node, "id", ""))  # others may stand for None too
        if isinstance(value, FunctionType | BuiltinFunctionType) and value.__name__ == name:
            return "It is a function, and not called.", f"Call it: {shortened(node)}()"
        return "", ""


def _is_asking(value: Any) -> bool:
    """Whether this is ``bool`` or ``require``."""
    own = str(attribute(value, "__module__", "")).startswith("statewalk.dsl")
    return value is bool or (own and attribute(value, "__name__", "") == "require")


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """What decides about the truth of an expression."""
    match node:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _parts(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _parts(operand)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _parts(body)
            yield from _parts(orelse)
        case _:
            yield node
