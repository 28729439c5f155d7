"""The explanation of a false property: its failing part, followed down to a comparison, with
the values in it.

The text of the property is followed as a reader would: the first false conjunct, the first element
for which ``all`` fails, the branch that was taken, the helper that said no. Each stop is a `Layer`.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import FrameType
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.content import content_of, short_names, value_of
from statewalk.checker.traces.trace import final_states
from statewalk.checker.verdict.spec_text import (
    Captured,
    captured,
    evaluate,
    function_at,
    function_named,
    line_of,
    lines_of,
    namespace_of,
    values_in,
)
from statewalk.dsl.errors import Span, StatewalkError
from statewalk.dsl.loader import load
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.view import State

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Finding
    from statewalk.dsl.model import Element, Model, Property

_MAX_LAYERS = 6
Values = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Layer:
    """One stop on the way down: a text of the spec that is false (or true), and what is in it.

    ``depth`` is greater than that of the layer that it is a part of.
    """

    text: str
    truth: bool
    bindings: Values = ()
    values: Values = ()
    span: Span | None = None
    depth: int = 0


@dataclass(frozen=True)
class Explanation:
    """The layers of an explanation, outermost first."""

    layers: tuple[Layer, ...] = ()

    @property
    def last(self) -> Layer | None:
        """The innermost layer."""
        return self.layers[-1] if self.layers else None


def explain(model: Model, finding: Finding) -> Explanation | None:
    """Return the failing part of a finding's property in its last state (or step); None where
    it has no text.
    """
    found = _explained(model, finding)
    if (found is None or not found.layers) and model.optimized and model.dialect == "python":
        # loops are compiled turn by turn: only the function as it is written shows where it ended
        try:
            plain = load(model.path, model.constants, optimize=False)
        except (StatewalkError, OSError):
            return found
        found = _explained(plain, finding) or found
    return found


def _explained(model: Model, finding: Finding) -> Explanation | None:
    prop = next((p for p in model.properties if p.name == finding.property), None)
    if prop is None or not prop.of_kind.searched or prop.of_kind.sought:
        return None
    state, before = final_states(model, finding)
    try:
        return explain_in(model, prop, state, before if prop.of_kind.over == "steps" else None)
    except Exception:
        # An explanation is a courtesy: whatever goes wrong in it must not hide the violation.
        return _by_elements(model, prop, state, before)


def explain_in(
    model: Model, prop: Property, state: State, before: State | None = None
) -> Explanation | None:
    """Return why a property is false in a state, or of the step from ``before`` to it."""
    namespace = namespace_of(prop.whole, model)
    span = prop.span
    if prop.kind in ("leads_to", "until") and prop.source is not None:
        span = prop.source.function.span()  # what is to come has a text of its own
    node = function_at(span.file, span.line) if span else None
    if namespace is None or node is None or span is None:
        return _by_elements(model, prop, state, before or state)
    follower = _Follower(model, namespace, span.file)

    def follow() -> bool:
        frame = captured(prop.whole, node.name, span.file)
        if frame is not None:
            follower.into(node, frame)
        follower.layers = [_as_it_is_now(layer, model, state) for layer in follower.layers]
        return True

    view = PlainView(state)
    model.holds(follow, view, PlainView(before) if before is not None else None)
    return Explanation(tuple(follower.layers)) if follower.layers else None


def explain_assert(
    model: Model, node: ast.Assert, frame: FrameType, view: PlainView
) -> tuple[Layer, ...]:
    """Return why an ``assert`` of a frame is false in the state of a view; the statement comes
    first.
    """
    follower = _Follower(model, frame.f_globals, frame.f_code.co_filename)
    state = apply_writes(view.base, view.writes)

    def follow() -> bool:
        follower.follow(node.test, frame.f_locals, (), False)
        follower.layers = [_as_it_is_now(layer, model, state) for layer in follower.layers]
        return True

    whole = Layer(follower.written(node), False, span=Span(frame.f_code.co_filename, node.lineno))
    try:
        model.holds(follow, view)
    except Exception:  # as above
        return (whole,)
    found = tuple(follower.layers)
    if found and found[0].text == follower.written(node.test):
        return (replace(found[0], text=whole.text, span=whole.span), *found[1:])
    return (whole, *(replace(layer, depth=layer.depth + 1) for layer in found))


def _by_elements(model: Model, prop: Property, state: State, before: State) -> Explanation | None:
    """Return the first false element, for specs without Python text."""
    for element in prop.elements:
        old = PlainView(before) if prop.of_kind.over == "steps" else None
        try:
            if model.holds(element.holds, PlainView(state), old):
                continue
        except Exception:
            continue
        if element.text:
            values = _globals_in(model, state, _written(model, element))
            layer = Layer(
                _written(model, element), False, element.bindings, values, element.span or prop.span
            )
            return Explanation((layer,))
    return None


def _globals_in(model: Model, state: State, text: str) -> Values:
    """Return the values of the shared variables that a text speaks of."""
    names = short_names(model)
    return tuple(
        (path[2], value)
        for path, value in content_of(model, state).items()
        if names.get(path[0]) == "" and re.search(rf"\b{re.escape(path[2])}\b", text)
    )


def _written(model: Model, element: Element) -> str:
    """Return the text of an element as its author wrote it: a .fizz line was translated."""
    if element.span is not None and model.dialect == "fizz":
        return line_of(element.span.file, element.span.line).removeprefix("return ")
    return element.text


class _Follower:
    """Goes down a false expression, collecting layers."""

    def __init__(self, model: Model, namespace: dict[str, Any], file: str) -> None:
        self.model = model
        self.namespace = namespace
        self.file = file
        self.layers: list[Layer] = []
        self.depth = 0

    def into(self, node: ast.FunctionDef, frame: Captured) -> None:
        """Follow the return statement by which a function gave its verdict."""
        returned = _return_at(node, frame.line)
        if returned is None or returned.value is None:
            return
        if isinstance(returned.value, ast.Constant):
            shown = tuple((n, v) for n, v in frame.values.items() if not callable(v))
            test = _deciding_test(node, returned)
            text = ast.unparse(test) if test is not None else ast.unparse(returned)
            known = {name for name, _ in shown}
            found = values_in(test, self.namespace, frame.values) if test is not None else ()
            values = tuple((n, v) for n, v in found if n not in known)
            self._add(Layer(text, test is not None, shown, values, self._span(returned)))
            return
        self.follow(returned.value, frame.values, (), bool(frame.result))

    def follow(
        self, node: ast.expr, scope: Mapping[str, Any], bindings: Values, truth: bool
    ) -> None:
        """Follow an expression that is ``truth``."""
        match node:
            case ast.BoolOp(op=op, values=parts):
                if isinstance(op, ast.Or) is truth:
                    return self._first(parts, scope, bindings, truth)
                return self._together(node, parts, scope, bindings, truth)
            case ast.UnaryOp(op=ast.Not(), operand=inner) if _leads_on(inner, not truth):
                return self.follow(inner, scope, bindings, not truth)
            case ast.Compare(ops=[ast.LtE()], comparators=[then]) if not truth:
                return self._together(node, [then], scope, bindings, truth)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                taken = body if self.evaluate(test, scope) else orelse
                return self.follow(taken, scope, bindings, truth)
            case ast.Call() if _quantifier(node) == ("any" if truth else "all"):
                return self._over(node, scope, bindings, truth)
        return self._leaf(node, scope, bindings, truth)

    def evaluate(self, node: ast.expr, scope: Mapping[str, Any]) -> Any:
        return evaluate(node, self.namespace, scope)

    def _first(
        self, parts: list[ast.expr], scope: Mapping[str, Any], bindings: Values, truth: bool
    ) -> None:
        for part in parts:
            if bool(self.evaluate(part, scope)) is truth:
                return self.follow(part, scope, bindings, truth)
        return None

    def _together(
        self,
        node: ast.expr,
        parts: list[ast.expr],
        scope: Mapping[str, Any],
        bindings: Values,
        truth: bool,
    ) -> None:
        """A whole that takes all of its ``parts``, followed by what those are made of."""
        self._leaf(node, scope, bindings, truth)
        self.depth += 1
        for part in parts:
            says_more = _has_parts(part) or self._helper_of(part, scope) is not None
            if says_more and len(self.layers) < _MAX_LAYERS:
                self.follow(part, scope, bindings, truth)
        self.depth -= 1

    def _over(
        self, call: ast.Call, scope: Mapping[str, Any], bindings: Values, truth: bool
    ) -> None:
        """The first case for which ``all`` fails, or ``any`` succeeds."""
        inner = call.args[0]
        assert isinstance(inner, ast.GeneratorExp | ast.ListComp)  # by `_quantifier`
        names = [
            n.id for g in inner.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)
        ]
        wanted = inner.elt if truth else ast.UnaryOp(ast.Not(), inner.elt)
        generators = [
            ast.comprehension(g.target, g.iter, list(g.ifs), g.is_async) for g in inner.generators
        ]
        generators[-1].ifs.append(wanted)
        found = ast.Tuple([ast.Name(n, ast.Load()) for n in names], ast.Load())
        search = ast.Call(
            ast.Name("next", ast.Load()),
            [ast.GeneratorExp(found, generators), ast.Constant(None)],
            [],
        )
        case = self.evaluate(ast.copy_location(search, call), scope)
        if case is None:
            return self._leaf(call, scope, bindings, truth)
        new = tuple(zip(names, case, strict=True))
        return self.follow(inner.elt, {**scope, **dict(new)}, (*bindings, *new), truth)

    def _leaf(
        self, node: ast.expr, scope: Mapping[str, Any], bindings: Values, truth: bool
    ) -> None:
        values = values_in(node, self.namespace, scope)
        known = {name for name, _ in bindings}
        shown = tuple((n, v) for n, v in values if n not in known)
        self._add(Layer(self.written(node), truth, bindings, shown, self._span(node)))
        if len(self.layers) < _MAX_LAYERS:
            self._into_helper(node, scope)

    def _add(self, layer: Layer) -> None:
        self.layers.append(replace(layer, depth=self.depth))

    def _helper_of(
        self, node: ast.expr, scope: Mapping[str, Any]
    ) -> tuple[ast.Call, types.FunctionType] | None:
        """Return the call of a function of the spec that an expression is, or denies."""
        call = node.operand if isinstance(node, ast.UnaryOp) else node
        if not isinstance(call, ast.Call):
            return None
        function = self.evaluate(call.func, scope)
        plain = getattr(function, "__func__", function)
        known = isinstance(plain, types.FunctionType)
        return (call, plain) if known and plain.__code__.co_filename in self.model.sources else None

    def _into_helper(self, node: ast.expr, scope: Mapping[str, Any]) -> None:
        """Follow a call into a function of the spec."""
        found = self._helper_of(node, scope)
        if found is None:
            return
        call, plain = found
        code = plain.__code__
        function = function_named(code.co_filename, plain.__name__, code.co_firstlineno)
        if function is None:
            return
        frame = captured(lambda: self.evaluate(call, scope), function.name, code.co_filename)
        if frame is None:
            return
        follower = _Follower(self.model, plain.__globals__, code.co_filename)
        follower.layers, follower.depth = self.layers, self.depth + 1
        follower.into(function, frame)

    def written(self, node: ast.AST) -> str:
        """Return an expression as it stands in the spec, on one line."""
        try:
            written = ast.get_source_segment("\n".join(lines_of(self.file)), node)
        except (IndexError, ValueError):
            written = None
        return " ".join((written or ast.unparse(node)).split())

    def _span(self, node: ast.AST) -> Span:
        return Span(self.file, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1)


def _as_it_is_now(layer: Layer, model: Model, state: State) -> Layer:
    """Return a layer with values instead of references: those can be read in the bound state
    only.
    """
    bindings, values = (
        tuple((name, value_of(thing, model, state)) for name, thing in named)
        for named in (layer.bindings, layer.values)
    )
    return replace(layer, bindings=bindings, values=values)


def _quantifier(call: ast.Call) -> str:
    """``all`` or ``any`` over a comprehension."""
    name = getattr(call.func, "id", "")
    fits = len(call.args) == 1 and isinstance(call.args[0], ast.GeneratorExp | ast.ListComp)
    return name if fits and name in ("all", "any") else ""


def _has_parts(node: ast.expr) -> bool:
    """Return whether more can be said of an expression than the values in it."""
    match node:
        case ast.BoolOp() | ast.IfExp():
            return True
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _has_parts(inner)
        case ast.Call():
            return bool(_quantifier(node))
    return False


def _leads_on(node: ast.expr, truth: bool) -> bool:
    """Return whether a part of an expression that is ``truth`` says more than the whole."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) is not truth:
        return any(map(_has_parts, node.values))
    return _has_parts(node)


def _return_at(node: ast.FunctionDef, line: int) -> ast.Return | None:
    """Return the return statement that spans a line."""
    for found in ast.walk(node):
        if isinstance(found, ast.Return) and found.lineno <= line <= (found.end_lineno or line):
            return found
    returns = [n for n in ast.walk(node) if isinstance(n, ast.Return)]
    return returns[0] if len(returns) == 1 else None


def _deciding_test(node: ast.FunctionDef, returned: ast.Return) -> ast.expr | None:
    """Return the condition of the ``if`` whose body is a return statement."""
    for found in ast.walk(node):
        if isinstance(found, ast.If) and returned in found.body:
            return found.test
    return None
