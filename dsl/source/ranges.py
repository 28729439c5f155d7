"""The values over which the parameters of actions and properties range.

``i: int = any_of(range(3))`` says it as a default.
"""

from __future__ import annotations

import ast
from typing import Any

from statewalk.dsl.declared import BOUNDS
from statewalk.dsl.errors import Mistakes, SpecError, placed
from statewalk.dsl.kinds import PROPERTY_MARKS
from statewalk.dsl.source.nodes import WITH_ASSERTIONS, copied, meaning, walk
from statewalk.dsl.source.set_order import with_ordered_sets
from statewalk.dsl.source.texts import defaults, is_range
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.state.refs import NeedsState
from statewalk.dsl.state.roles import Field, Role
from statewalk.dsl.values.domains import ANYTHING, domain_of
from statewalk.dsl.values.stored import encode, freeze
from statewalk.dsl.view import Disabled
from statewalk.dsl.words.declare import is_choice


def domains_of(tree: SpecTree, function: Function, mistakes: Mistakes) -> list[list[Any]]:
    """By parameter of an action or property: the values over which it ranges."""
    found = [_options(tree, function, argument, mistakes) for argument in function.parameters()]
    for argument, values in zip(function.parameters(), found, strict=True):
        if values == []:
            role = _annotated(function, argument)
            is_role = isinstance(role, type) and issubclass(role, Role)
            why = no_instance(tree, role) if is_role else f"there is no value for '{argument.arg}'"
            help = one_of(role, function) if is_role else "Give the parameter at least one value."
            warn_of_nothing(function, why, argument, mistakes, help)
    others = function.node.args
    for extra in (*others.kwonlyargs, others.vararg, others.kwarg):
        if extra is not None:
            mistakes.add(
                "SW112",
                f"'{extra.arg}' of {said(function)} cannot range over anything.",
                at=function.span(extra),
                help="Move it before any * and make it a positional parameter.",
            )
    return [
        list({encode(freeze(value)): value for value in values or ()}.values()) for values in found
    ]


def check_ranges(tree: SpecTree, _: object, mistakes: Mistakes) -> None:
    """SW112 where a default chooses and nobody goes through its values."""
    for function in tree.functions:
        marks = {m.kind for m in function.marks} - BOUNDS
        if marks & {"action", *PROPERTY_MARKS} or function.function in tree.led:
            continue
        for argument, default in defaults(function.node.args):
            if _chooses(function, default):
                mistakes.add(
                    "SW112",
                    f"'{argument.arg}' of {said(function)} has values that nothing tries.",
                    at=function.span(default),
                    why="Only the parameters of actions and properties range over values.",
                    help=f"Choose in the body: {argument.arg} = {ast.unparse(default)}",
                )


def said(function: Function) -> str:
    """Return what a function is to the reader."""
    marks = {m.kind for m in function.marks}
    word = "action" if "action" in marks else "property" if marks & PROPERTY_MARKS else "function"
    return f"the {word} '{function.name}'"


def warn_of_nothing(
    function: Function, why: str, at: ast.AST, mistakes: Mistakes, help: str
) -> None:
    """SW609: an action or property of which there is not one, and why, where that is known."""
    if not why:
        return
    never = "never happens" if function.marked("action") else "is vacuous"
    what = said(function)
    text = f"{what[0].upper()}{what[1:]} {never}: {why}."
    mistakes.warn("SW609", text, at=function.span(at), help=help)


def no_instance(tree: SpecTree, role: type) -> str:
    """Return a hint that the text makes no instance of a role; empty where it does."""
    name = role.__name__
    if any(
        name in (getattr(node.func, "id", ""), getattr(node.func, "attr", ""))
        for module in tree.loading.modules
        for node in walk(tree.text_of(module))
        if isinstance(node, ast.Call)
    ):
        return ""
    return f"no {name} is created"


def one_of(role: type, function: Function) -> str:
    """Return the help to create an instance of a role."""
    where = "the action Init" if function.module.source.dialect == "fizz" else "the module"
    return f"Create one in the body of {where}: {role.__name__.lower()} = {role.__name__}()"


def _options(
    tree: SpecTree, function: Function, argument: ast.arg, mistakes: Mistakes
) -> list[Any] | None:
    """Return the values of a parameter; None where a mistake is noted."""
    default = next((d for a, d in defaults(function.node.args) if a is argument), None)
    if isinstance(default, ast.Call) and _chooses(function, default):
        return _looked_up(function, argument, default, mistakes)
    hint = _annotated(function, argument)
    if isinstance(hint, type) and issubclass(hint, Role):
        return tree.instances(hint)
    domain = domain_of(hint) if hint is not None else ANYTHING
    if domain.options is not None:
        return list(domain.options)
    mistakes.add(
        "SW112",
        f"Parameter '{argument.arg}' of {said(function)} has no set of values.",
        at=function.span(argument),
        why="Parameters of role, enum, Literal and bool type range over their type.",
        help=f"Give it such a type or a default: {argument.arg}: int = any_of(range(3))",
    )
    return None


def _chooses(function: Function, default: ast.expr) -> bool:
    """Return whether a default says over what its parameter ranges."""
    if not isinstance(default, ast.Call) or not is_range(default):
        return False
    found = meaning(default.func, function.module.namespace)
    return found is None or is_choice(found)


def _annotated(function: Function, argument: ast.arg) -> Any:
    """Return the type of a parameter; None where it cannot be found."""
    if argument.annotation is None:
        return None
    try:
        hint = _evaluated(function, argument.annotation)
        return eval(hint, function.module.namespace) if isinstance(hint, str) else hint
    except Exception:
        return None


def _looked_up(
    function: Function, argument: ast.arg, default: ast.Call, mistakes: Mistakes
) -> list[Any] | None:
    """Return the values that a default names."""
    what = f"'{argument.arg}' of {said(function)}"
    help = f"Choose in the body: {argument.arg} = {ast.unparse(default)}"
    try:
        if getattr(default.func, "id", "") == "maybe":
            return [False, True]
        if len(default.args) == 1 and not default.keywords:
            return list(map(_value, _evaluated(function, default.args[0])))
        wrong = f"{what} takes a collection of values, and no other argument."
        help = "For fairness to every argument, write @action(fair=...)."
    except (NeedsState, Exception, Disabled) as error:
        if isinstance(error, SpecError) and error.code == "SW203":
            placed(error, what[0].upper() + what[1:])
            mistakes.add("SW203", error.message, at=function.span(default), why=error.why)
            return None
        if isinstance(error, NeedsState) or _is_own(function, error):
            wrong = f"The values of {what} depend on the state."
        else:
            wrong = f"The values of {what} cannot be found: {type(error).__name__}: {error}."
            help = ""
    why = "The values of a parameter are looked up once, before there is a state."
    mistakes.add("SW112", wrong, at=function.span(default), why=why, help=help)
    return None


def _value(value: Any) -> Any:
    """Return what an action gets: a value, so that no run can change what the next one gets."""
    frozen = freeze(value)
    return value if type(value) is frozenset else frozen


def _is_own(function: Function, error: BaseException) -> bool:
    """Return whether a name that is not known means the role, or a field of it."""
    if not isinstance(error, NameError) or function.owner is None:
        return False
    first = [*function.node.args.posonlyargs, *function.node.args.args][:1]
    fields = getattr(function.owner, "_fields", ())
    return error.name in (*(a.arg for a in first), *fields)


def _evaluated(function: Function, node: ast.expr) -> Any:
    """Return the value of an expression in the head of a function."""
    source = function.module.source
    tree = with_ordered_sets(ast.Expression(copied(node)), source.imported)
    code = compile(tree, source.path, "eval", optimize=WITH_ASSERTIONS)
    own = vars(function.owner) if function.owner is not None else {}
    plain = {n: v for n, v in own.items() if not isinstance(v, Field)}
    return eval(code, {**plain, **function.module.namespace})
