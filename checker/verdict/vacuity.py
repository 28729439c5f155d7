"""Invariants that hold only because the case they speak of never arises.

The *premise* of an invariant is read off its text: ``all(e for x in xs if c)`` speaks of something
when some x with c exists, ``not a or b`` (and ``b if a else True``) when a is true. The premises
that are not met among the first states go along with the search as witnesses; what an exhaustive
search never meets makes its invariant vacuous.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from statewalk.checker.verdict.evaluate import namespace_of
from statewalk.checker.verdict.guards import some_states
from statewalk.checker.verdict.spec_text import function_at
from statewalk.dsl.model import Model, Property
from statewalk.dsl.source.nodes import copied
from statewalk.dsl.source.set_order import with_ordered_sets
from statewalk.dsl.state.plain_view import PlainView

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Exploration, SearchOptions

_STATES = 20  # looked at beforehand; a premise met later costs the search a few evaluations
_SUFFIX = " (premise)"


@dataclass(frozen=True)
class Watched:
    """A search that also looks for premises: the model and options to give to the engine."""

    model: Model
    options: SearchOptions
    premises: tuple[str, ...] = ()

    def vacuous(self, found: Exploration) -> frozenset[str]:
        """The invariants whose premise an exhaustive search did not meet."""
        if not found.complete or any(found.cut.values()):
            return frozenset()
        met = {f.property for f in found.witnesses}
        return frozenset(name for name in self.premises if name + _SUFFIX not in met)

    def without(self, found: Exploration) -> Exploration:
        """An exploration without the witnesses that only we asked for."""
        ours = {name + _SUFFIX for name in self.premises}
        return replace(found, witnesses=tuple(f for f in found.witnesses if f.property not in ours))


def watched(model: Model, options: SearchOptions) -> Watched:
    """The search to make so that vacuous invariants are noticed."""
    left = {
        prop.name: premise
        for prop in model.properties
        if prop.kind == "always" and options.wants(prop.name)
        if (premise := premise_of(model, prop)) is not None
    }
    if not left:
        return Watched(model, options)
    for _, state in zip(range(_STATES), some_states(model), strict=False):
        for name in [n for n, premise in left.items() if _true(model, premise, state)]:
            del left[name]
        if not left:
            return Watched(model, options)
    extra = tuple(Property(name + _SUFFIX, "exists", (), p) for name, p in left.items())
    names = options.properties
    if names is not None:
        options = replace(options, properties=(*names, *(p.name for p in extra)))
    model = replace(model, properties=(*model.properties, *extra))
    return Watched(model, options, tuple(left))


def _true(model: Model, premise: Callable[[], bool], state: Any) -> bool:
    """Whether a premise is met; one that raises is as good as met: nothing is to be said of it."""
    try:
        return model.holds(premise, PlainView(state))
    except Exception:
        return True


def premise_of(model: Model, prop: Property) -> Callable[[], bool] | None:
    """The premise of an invariant as a predicate; None where its text has none."""
    node = function_at(prop.span.file, prop.span.line) if prop.span else None
    namespace = namespace_of(prop.whole, model)
    if node is None or namespace is None:
        return None
    body = [
        s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
    ]
    if len(body) != 1 or not isinstance(body[0], ast.Return) or body[0].value is None:
        return None
    text = premise_text(body[0].value)
    if text is None:
        return None
    tree = ast.fix_missing_locations(with_ordered_sets(ast.Expression(copied(text))))
    code = compile(tree, prop.span.file if prop.span else "<premise>", "eval")

    def premise() -> bool:
        return bool(eval(code, namespace))

    premise.__name__ = prop.name
    return premise


def premise_text(node: ast.expr) -> ast.expr | None:
    """The premise of a conjunct; None where it has none."""
    match node:
        case ast.Call(func=ast.Name(id="all"), args=[ast.GeneratorExp() | ast.ListComp() as inner]):
            met = premise_text(inner.elt) or ast.Constant(True)
            cases = ast.GeneratorExp(met, inner.generators)
            return ast.Call(ast.Name("any", ast.Load()), [cases], [])
        case ast.BoolOp(op=ast.Or(), values=[ast.UnaryOp(op=ast.Not(), operand=premise), *_]):
            return premise
        case ast.IfExp(test=premise, orelse=ast.Constant(value=True)):
            return premise
    return None
