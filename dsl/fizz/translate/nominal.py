"""``symmetry.nominal(...)`` and what is asked of such a domain."""

from __future__ import annotations

import ast

from statewalk.dsl.fizz.translate.words import Words

# What Fizzbee's values of these kinds have beyond being told apart.
_OTHER_KINDS = {
    "ordinal": "values with an order",
    "interval": "values with distances",
    "rotational": "values on a ring",
}
_METHODS = {"fresh": "fresh", "choices": "choices", "choose": "choose", "values": "used"}
_HELP = "Only symmetry.nominal(...), of values that are told apart and no more, is supported."


def kind_of_domain(node: ast.AST) -> str | None:
    """The kind of domain that ``symmetry.kind(...)`` declares; None for any other node."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.attr if function.value.id == "symmetry" else None
    return None


def declared_domain(x: Words, node: ast.Call) -> ast.expr | None:
    """The declaration of a domain; None for any other call.

    Raises:  SpecError[SW152] for a kind that is not supported, [SW153] for what is no declaration.
    """
    kind = kind_of_domain(node)
    if kind is None or _is_shadowed(x):
        return None
    if kind in _OTHER_KINDS:
        raise x.refuse(node, f"symmetry.{kind}(...) declares {_OTHER_KINDS[kind]}", _HELP)
    if kind != "nominal":
        raise x.wrong(node, f"There is no symmetry.{kind}(...).", _HELP)
    if x.scope.state or x.scope.role is not None:
        raise x.wrong(node, "Domains are declared at the top level of the file.")
    return x.imported("nominal", node)


def asked_of_domain(x: Words, function: ast.expr) -> str | None:
    """The method that a call of a domain's becomes; None where it is no domain's.

    Raises:  SpecError[SW153] for what these domains do not have.
    """
    if not isinstance(function, ast.Attribute):
        return None
    of = function.value
    named = isinstance(of, ast.Name) and of.id in x.names.domains and of.id not in x.scope.locals
    if not named and (kind_of_domain(of) != "nominal" or _is_shadowed(x)):
        return None
    if function.attr not in _METHODS:
        raise x.wrong(
            function,
            f"A nominal domain has no {function.attr}().",
            help=f"There are: {', '.join(f'{name}()' for name in sorted(_METHODS))}.",
        )
    return _METHODS[function.attr]


def _is_shadowed(x: Words) -> bool:
    known = (x.scope.locals, x.names.constants, x.names.members, x.names.state)
    return any("symmetry" in names for names in known)
