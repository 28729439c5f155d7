"""Splitting an invariant into its conjuncts, each a small root of its own for an engine.

``all(e for x in xs if c)`` becomes one element per x, as far as the loops and conditions need no
state; ``a and b`` one element each. It also tells which element is false.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from statewalk.dsl.declared import property_name
from statewalk.dsl.errors import Span, SpecError
from statewalk.dsl.lowering.compiling import compile_function, definition_of
from statewalk.dsl.lowering.lower import Lowering, Rewriter
from statewalk.dsl.model import Element, Text
from statewalk.dsl.source.nodes import copied, walk, with_places
from statewalk.dsl.source.scopes import free
from statewalk.dsl.source.tree import Function
from statewalk.dsl.state.refs import NeedsState

MAX_ELEMENTS = 4096
_PLAIN = (int, str, float, bytes)
Environment = dict[str, Any]


def split_property(lowering: Lowering, function: Function) -> tuple[Element, ...]:
    """Return the elements of an invariant; empty where it stays whole."""
    body = function.body()
    if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
        return ()
    if any(isinstance(n, ast.NamedExpr) for n in walk(body[0])):
        return ()  # what one conjunct binds, another may read
    splitter = _Splitter(lowering, function)
    elements = splitter.split(body[0].value, {}, as_bool=False)
    return tuple(elements) if 0 < len(elements) <= MAX_ELEMENTS else ()


class _Splitter:
    def __init__(self, lowering: Lowering, function: Function) -> None:
        self.lowering = lowering
        self.function = function
        self.name = property_name(function.function)
        self.eager = False  # a list is made whole before one looks whether all of it is true

    def split(self, node: ast.expr, environment: Environment, *, as_bool: bool) -> list[Element]:
        """Return elements for one conjunct, with the loop variables bound so far."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return [
                e for value in node.values for e in self.split(value, environment, as_bool=as_bool)
            ]
        call = node
        if (
            isinstance(call, ast.Call)
            and getattr(call.func, "id", "") == "all"
            and self.function.module.namespace.get("all", all) is all
            and len(call.args) == 1
        ):
            inner = call.args[0]
            if isinstance(inner, ast.GeneratorExp | ast.ListComp) and _is_clear(inner, environment):
                self.eager |= isinstance(inner, ast.ListComp)
                return self._over(inner, environment)
        return [self._element(node, environment, as_bool=as_bool)]

    def _over(
        self, inner: ast.GeneratorExp | ast.ListComp, environment: Environment
    ) -> list[Element]:
        environments = [environment]
        generators = [copied(g) for g in inner.generators]
        conditions: list[ast.expr] = []
        while generators:
            found = self._unrolled(generators[0], environments)
            if found is None:
                break
            environments, left = found
            conditions += left
            generators.pop(0)
            if len(environments) > MAX_ELEMENTS:
                whole = ast.Call(ast.Name("all", ast.Load()), [inner], [])
                return [self._element(whole, environment, as_bool=True)]
        body: ast.expr = copied(inner.elt)
        if generators:
            body = ast.Call(ast.Name("all", ast.Load()), [ast.GeneratorExp(body, generators)], [])
        for condition in reversed(conditions):
            body = ast.BoolOp(ast.Or(), [ast.UnaryOp(ast.Not(), condition), body])
        if not generators and not conditions:
            made = [e for env in environments for e in self.split(body, env, as_bool=True)]
        else:
            ast.copy_location(body, inner.elt)
            shown = inner.elt
            made = [self._element(body, e, as_bool=True, shown=shown) for e in environments]
        return made or [_TRUE(self.name)]

    def _unrolled(
        self, generator: ast.comprehension, environments: list[Environment]
    ) -> tuple[list[Environment], list[ast.expr]] | None:
        """Return a loop's bindings and the conditions that need state; None if it needs state."""
        result: list[Environment] = []
        names = [n.id for n in walk(generator.target) if isinstance(n, ast.Name)]
        for environment in environments:
            try:
                made = self._compiled(generator.iter, sorted(environment))
                values, again = (list(made(*_ordered(environment))) for _ in range(2))
            except (NeedsState, Exception):
                return None
            if len(values) != len(again) or not all(map(_is_same, values, again)):
                return None  # made anew for each state
            for value in values:
                if isinstance(generator.target, ast.Name):
                    result.append({**environment, names[0]: value})
                elif isinstance(value, tuple) and len(value) == len(names):
                    result.append({**environment, **dict(zip(names, value, strict=True))})
                else:
                    return None
        left: list[ast.expr] = []
        for condition in generator.ifs:
            kept = self._filtered(condition, result) if not left else None
            if kept is None:
                left.append(condition)
            else:
                result = kept
        return result, left

    def _filtered(
        self, condition: ast.expr, environments: list[Environment]
    ) -> list[Environment] | None:
        try:
            return [e for e in environments if self._compiled(condition, sorted(e))(*_ordered(e))]
        except (NeedsState, Exception):
            return None

    def _compiled(
        self, node: ast.expr, names: list[str], *, lowered: bool = False
    ) -> Callable[..., Any]:
        definition = definition_of(self.function.name, names, [ast.Return(copied(node))], node)
        if lowered and self.lowering.optimize:
            definition = Rewriter(self.lowering, self.function, frozenset(names)).visit(definition)
        compiled: Callable[..., Any] = compile_function(self.function, definition)
        return compiled

    def _element(
        self, node: ast.expr, environment: Environment, *, as_bool: bool,
        shown: ast.expr | None = None,
    ) -> Element:  # fmt: skip
        ast.copy_location(node, shown or node)
        with_places(node)
        function = self._compiled(node, sorted(environment), lowered=True)
        plain, values, name = self.function.function, _ordered(environment), self.name
        whole = checked(plain, name, self.function.span())

        def holds() -> bool:
            try:
                result = function(*values)
            except Exception:
                # An earlier element may be false, which would have kept this one from being asked.
                if plain() is False:
                    return True
                raise
            if self.eager and not result:
                plain()  # raises where Python does: at an element that comes after a false one
            if type(result) is bool:
                return result
            return bool(result) if as_bool else whole()

        holds.__name__ = name
        bindings = tuple(sorted(environment.items()))
        label = name + (f"[{', '.join(f'{k}={v!r}' for k, v in bindings)}]" if bindings else "")
        source = shown or node
        text = ast.unparse(source)
        read = None if self.eager else Text(
            self.function, tuple(values), copied(node), tuple(sorted(environment)), as_bool
        )  # fmt: skip
        return Element(label, bindings, holds, text, self.function.span(source), read)


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two things are one, or equal and made of what does not change."""
    if one is other or type(one) is not type(other):
        return one is other
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, frozenset):
        return one == other and all(isinstance(part, _PLAIN) for part in one)
    return isinstance(one, _PLAIN) and one == other


def _is_clear(inner: ast.GeneratorExp | ast.ListComp, environment: Environment) -> bool:
    """Return whether no name is bound twice, or read before its loop."""
    rows = [
        g.target.elts if isinstance(g.target, ast.Tuple | ast.List) else [g.target]
        for g in inner.generators
    ]
    if not all(isinstance(part, ast.Name) for row in rows for part in row):
        return False
    later = [name.id for row in rows for name in row if isinstance(name, ast.Name)]
    if len({*later, *environment}) < len(later) + len(environment):
        return False
    for at, generator in enumerate(inner.generators):
        if at and free(generator.iter) & set(later):
            return False
        later = later[len(rows[at]) :]
        if free(*generator.ifs) & set(later):
            return False
    return True


def checked(predicate: Callable[[], bool], name: str, span: Span | None) -> Callable[[], bool]:
    """Return a predicate that insists on a bool. Raises SpecError[SW207]."""

    def holds() -> bool:
        result = predicate()
        if type(result) is not bool:
            raise SpecError(
                "SW207",
                f"The property '{name}' returned {result!r}, which is neither True nor False.",
                at=span,
                help="Return a comparison, all(...), any(...) or bool(...).",
            )
        return result

    holds.__name__ = name
    return holds


def _ordered(environment: Environment) -> list[Any]:
    return [environment[name] for name in sorted(environment)]


def _TRUE(name: str) -> Element:  # noqa: N802
    holds = checked(lambda: True, name, None)
    return Element(name, (), holds, "nothing to check with these constants")
