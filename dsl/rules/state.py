"""The state: properties that change it, values that do not fit, elements changed in place."""

from __future__ import annotations

import ast
import typing
from typing import Any

from statewalk.dsl.errors import did_you_mean
from statewalk.dsl.rules.rule import Checked, shortened
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.types import Scope, bare, element_of, spec_class
from statewalk.dsl.values.domains import Domain, domain_of
from statewalk.dsl.values.records import Record


def check_property(checked: Checked) -> None:
    """SW103: a property that writes, chooses or guards, itself or through what it calls."""
    if not checked.is_property:
        return
    for cause, way in checked.effects.why(checked.function):
        place = way[-1] if way else checked.function
        called = getattr(getattr(cause.node, "func", None), "id", "")
        through = f", through '{way[-1].name}'" if way else ""
        name = checked.function.name
        if called in ("any_of", "maybe"):
            message = f"The property '{name}' chooses ({cause.text}{through})."
        elif called == "require":
            message = f"The property '{name}' has a guard ({cause.text}{through})."
        elif called == "interrupt" or isinstance(cause.node, ast.Yield | ast.YieldFrom):
            message = f"The property '{name}' does what only steps do ({cause.text}{through})."
        else:
            statement = _statement(place.node, cause.node)
            message = f"The property '{name}' changes the state ({shortened(statement)}{through})."
        checked.mistakes.add(
            "SW103",
            message,
            at=place.span(cause.node),
            why="Properties only read.",
            help="To record history, write an Auxiliary field in the action.",
        )


def _statement(function: ast.FunctionDef, node: ast.AST) -> ast.AST:
    """The simple statement that a node is in."""
    for statement in walk(function):
        if isinstance(
            statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete | ast.Expr
        ):
            if any(n is node for n in walk(statement)):
                return statement
    return node


def check_values(checked: Checked) -> None:
    """SW201 for literals that a field cannot hold, SW202 for changed elements of sets."""
    for node, scope in checked.types.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _check_store(checked, target, node.value, scope)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            _check_store(checked, node.target, node.value, scope)
        elif isinstance(node, ast.AugAssign):
            _check_element(checked, node.target, scope, None)
        elif isinstance(node, ast.Compare):
            _check_comparison(checked, node, scope)


def _check_store(checked: Checked, target: ast.expr, value: ast.expr, scope: Scope) -> None:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, other in zip(target.elts, value.elts, strict=False):
            _check_store(checked, one, other, scope)
        return
    _check_element(checked, target, scope, value)
    domain = _domain(checked, target, scope)
    constant = _constant(value)
    if domain is None or constant is None or domain.admits(constant[0]):
        return
    cls = checked.types.of(target.value, scope) if isinstance(target, ast.Attribute) else None
    owner = spec_class(cls)
    what = f"{owner.__name__}.{target.attr}" if owner and isinstance(target, ast.Attribute) else ""
    close = _close(constant[0], domain)
    checked.wrong(
        "SW201",
        f"{what or ast.unparse(target)} cannot be {constant[0]!r}. It is {domain.text}.",
        value,
        help=close,
    )


def _check_element(
    checked: Checked, target: ast.expr, scope: Scope, value: ast.expr | None
) -> None:
    if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)):
        return
    hint = checked.types.of(target.value, scope)
    cls, source = spec_class(hint), element_of(hint)
    if not source or cls is None or not issubclass(cls, Record):
        return
    name = target.value.id
    new = shortened(value) if value is not None else "..."
    checked.wrong(
        "SW202",
        f"'{name}' is {source}, which is a value and does not change.",
        target,
        help=f"Remove it, then put in replace({name}, {target.attr}={new}).",
    )


def _domain(checked: Checked, target: ast.expr, scope: Scope) -> Domain | None:
    """The finite or plain domain of a field that is assigned."""
    if not isinstance(target, ast.Attribute):
        return None
    cls = spec_class(checked.types.of(target.value, scope))
    hint = checked.types.fields(cls).get(target.attr) if cls else None
    if hint is None:
        return None
    while typing.get_origin(hint) is typing.Annotated and not any(
        isinstance(extra, range) for extra in typing.get_args(hint)[1:]
    ):
        hint = typing.get_args(hint)[0]
    domain = domain_of(hint)
    return domain if domain.kind == "scalar" else None


def _constant(node: ast.expr) -> tuple[Any] | None:
    """The value of a literal scalar, in a tuple; None for any other expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _constant(node.operand)
        return (-inner[0],) if inner and type(inner[0]) is int else None
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | bool | None):
        return (node.value,)
    return None


def _close(value: object, domain: Domain) -> str:
    known = [o for o in domain.options or () if isinstance(o, str)]
    said = did_you_mean(value, known, quoted=True) if isinstance(value, str) and known else ""
    return said if said.startswith("Did") else ""


def _check_comparison(checked: Checked, node: ast.Compare, scope: Scope) -> None:
    """SW605: a comparison with a literal that the other side can never be."""
    sides = [node.left, *node.comparators]
    for operator, one, other in zip(node.ops, sides, sides[1:], strict=False):
        if not isinstance(operator, ast.Eq | ast.NotEq):
            continue
        for value, literal in ((one, other), (other, one)):
            constant = _constant(literal)
            hint = checked.types.of(value, scope)
            if constant is None or type(constant[0]) is not str or hint is None:
                continue
            if typing.get_origin(bare(hint)) is not typing.Literal:
                continue
            domain = domain_of(bare(hint))
            if not domain.admits(constant[0]):
                checked.doubtful(
                    "SW605",
                    f"{shortened(value)} is never {constant[0]!r}. It is {domain.text}.",
                    literal,
                    help=_close(constant[0], domain),
                )
