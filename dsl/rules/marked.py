"""Actions, properties and roles that were made where a spec is not read (SW108): they would be left
out, and everything would seem to hold. Decorators where they do not fit (SW113).
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from typing import Any

from statewalk.dsl.declared import marks
from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.nodes import meaning, walk
from statewalk.dsl.source.scopes import locals_of
from statewalk.dsl.source.tree import SpecTree, definition_of, statements

_WHERE = "A spec is what stands in the bodies of its modules and of its role classes."
_HELP = (
    "Write it there. What varies can be a parameter of an action (k: int = any_of([0, 1])) or a "
    "loop in a property (all(... for k in ...))."
)
_WRAPPED = "If a decorator of yours stands in for it: say what that adds in the function itself."


def check_marked(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW108, for everything that was declared while the modules ran and is not in the tree."""
    read = {id(f.function) for f in tree.functions}
    said = set()
    for function in tree.loading.declared.marked:
        at = _span(tree, function)
        if id(function) not in read and (at is None or at.line not in said):
            _add(tree, mistakes, function, at)
            said.add(at.line if at is not None else 0)
    leads = {id(lead) for _, lead, _ in tree.leads}
    for lead in tree.loading.declared.leads:
        if id(lead) not in leads:
            mistakes.add(
                "SW108",
                f"{lead.kind}({_name(lead.premise)}, {_name(lead.conclusion)}) has no name in the "
                "body of a module, and would not be checked.",
                help=f"Give each a name there: answered = {lead.kind}(...)",
            )
    for role in tree.loading.declared.roles:
        if role not in tree.roles and role._instances:
            mistakes.add(
                "SW108",
                f"The role {role.__qualname__} has instances, but is not defined in the body of a "
                "module.",
                why=_WHERE,
                help="Define the class there. Instances may be made anywhere.",
            )


def check_replaced(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW108: a method that is given to its class from elsewhere, where its text is not read."""
    own = {(id(f.function), f.owner) for f in tree.functions}
    for cls in (*tree.roles, *tree.records):
        defined = definition_of(tree, cls)
        if defined is None:
            continue
        module, node = defined
        methods = {m.name: m for m in statements(node.body) if isinstance(m, ast.FunctionDef)}
        for name, method in methods.items():
            found = vars(cls).get(name)
            if method.decorator_list or not callable(found) or (id(found), cls) in own:
                continue
            mistakes.add(
                "SW108",
                f"'{name}' of {cls.__name__} is not this function in the end: the class is given "
                "another.",
                at=module.source.span(method),
                why=_WHERE,
                help="A defect put in on purpose is a mutant of the function: "
                f"@mutant({cls.__name__}.{name})\n"
                "What a variant does differently stands in the class, under if.",
            )


def check_mutants(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW129: a mutant that a function calls or hands on, as if it were part of the spec."""
    mutants = {id(f.function): f.name for f in tree.mutants}
    for function in (*tree.functions, *tree.mutants) if mutants else ():
        local = locals_of(function.node)
        names = {n: v for n, v in function.module.namespace.items() if n not in local}
        for node in walk(function.node):
            found = meaning(node, names) if isinstance(node, ast.Name | ast.Attribute) else None
            if id(found) in mutants:
                mistakes.add(
                    "SW129",
                    f"'{mutants[id(found)]}' is a mutant, and stands in for what it names alone.",
                    at=function.span(node),
                    help="What both need can be a function of its own.",
                )


def check_decorated(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW113: methods marked as properties, and parameters where nothing can be passed."""
    for function in tree.functions:
        kinds = [m.kind for m in function.marks if m.kind not in ("action", "named")]
        if not kinds:
            continue
        name, kind = function.name, kinds[0]
        owner = function.owner.__name__ if function.owner is not None else ""
        each = not {"init", "terminal", "constraint"} & set(kinds)
        if owner and not function.is_static:
            instance = f"def {name}({owner[0].lower()}: {owner}) -> bool"
            mistakes.add(
                "SW113",
                f"'{name}' is a method of {owner}, and @{kind} stands above functions of a module.",
                at=function.span(),
                help=f"Outside the class, true of each instance: {instance}"
                if each
                else "Write it outside the class, as a function without arguments.",
            )
        elif function.parameters() and not each:
            mistakes.add(
                "SW113",
                f"'{name}' has parameters, and a function with @{kind} has none.",
                at=function.span(),
                help="Go through the instances in it: all(... for c in clients).",
            )


def _add(
    tree: SpecTree, mistakes: Mistakes, function: Callable[..., object], at: Span | None
) -> None:
    name, kind = _name(function), marks(function)[0].kind
    qualified = getattr(function, "__qualname__", name)
    again = [
        f.node.lineno
        for f in tree.functions
        if f.function.__qualname__ == qualified and at and f.module.source.path == at.file
    ]
    if inspect.iscoroutinefunction(function):
        mistakes.add(
            "SW108",
            f"'{name}' is an async function.",
            at=at,
            help="Write def. What lets others act in between says yield.",
        )
    elif again:
        mistakes.add(
            "SW108",
            f"'{name}' is defined again in line {again[0]}, which replaces this one.",
            at=at,
            help="Give each a name of its own.",
        )
    else:
        mistakes.add(
            "SW108",
            f"'{name}' is marked with @{kind} where a spec is not read.",
            at=at,
            why=_WHERE,
            help=_HELP if "<" in qualified else f"{_HELP}\n{_WRAPPED}",
        )


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", function))


def _span(tree: SpecTree, function: Any) -> Span | None:
    """Where a function was made, if that is in the spec's own text."""
    code = getattr(function, "__code__", None)
    paths = {m.source.path for m in tree.loading.modules}
    if code is None or code.co_filename not in paths:
        return None
    return Span(code.co_filename, code.co_firstlineno, 1)
