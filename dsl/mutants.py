"""Mutants: a spec runs with the text of one of them in the place of what that stands in for.

A run of the spec shows which mutants there are and what they are of. Where one is chosen, the spec
runs again, and the function it stands in for is the mutant's from its definition on: nothing that
is computed, stored or imported while modules run can have been given the other one. In the tree of
the spec it has the name, the place and the decorators of that, and its own text and module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from statewalk.dsl.declared import Mutant
from statewalk.dsl.errors import Mistakes
from statewalk.dsl.lowering.compiling import compile_function
from statewalk.dsl.source.modules import Loading, StandIn, loading_of
from statewalk.dsl.source.nodes import copied, meaning, walk
from statewalk.dsl.source.texts import Source
from statewalk.dsl.source.tree import Function, SpecTree, read_tree
from statewalk.dsl.words.constants import MUTANT, NO_MUTANT

_WAY = (
    "Write it above a function at module level, as its only decorator: @mutant(Broker.may_commit)"
)


def run_spec(source: Source, given: Mapping[str, Any] | None = None) -> Loading:
    """Run a spec's modules with the mutant that ``MUTANT`` names. Raises SpecError[SW129]."""
    loading = loading_of(source, given or {})
    loading.start(source)
    if not loading.declared.mutants:
        return loading
    found = _stand_ins(loading)
    if loading.mutant == NO_MUTANT:
        return loading
    again = loading_of(source, given or {}, stand_ins=found)
    again.start(source)
    return again


def _stand_ins(loading: Loading) -> dict[tuple[str, int], StandIn]:
    """Return the chosen mutant, by the place of what it stands in for; all of them are looked
    at.
    """
    tree, mistakes = read_tree(loading), Mistakes()
    _refuse_constant(loading, mistakes)
    found: dict[tuple[str, int], StandIn] = {}
    known: set[str] = set()
    for mutant in loading.declared.mutants:
        function = next((f for f in tree.mutants if f.function is mutant.function), None)
        target = _target(tree, mutant)
        if function is None or function.owner is not None:
            made = mutant.function or mutant.target
            text = f"'{_name(made)}' cannot be a mutant here."
            if mutant.name in known:
                text = f"There are two mutants called {mutant.name}."
            mistakes.add("SW129", text, at=loading.span_of(made), help=_WAY)
        else:
            for message, help in _wrong(tree, mutant, function, target):
                mistakes.add("SW129", message, at=function.span(), help=help)
            if mutant.name in known:
                mistakes.add(
                    "SW129",
                    f"There are two mutants called {mutant.name}.",
                    at=function.span(),
                    help="Rename one of them.",
                )
            if target is not None and mutant.name == loading.mutant:
                code = compile_function(function, copied(function.node)).__code__
                place = (target.module.source.path, target.node.lineno)
                found[place] = StandIn(function.module, function.node, code)
        known.add(mutant.name)
    mistakes.raise_if_any()
    return found


def _refuse_constant(loading: Loading, mistakes: Mistakes) -> None:
    for module in loading.modules:
        for node in module.source.tree.body if MUTANT in module.constants else ():
            if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == MUTANT:
                said = f"{MUTANT} cannot be declared in a spec with mutants."
                why = "statewalk declares the constant that selects the mutant itself."
                help = "Leave it out, or give it another name."
                mistakes.add("SW129", said, at=module.source.span(node), why=why, help=help)


def _wrong(
    tree: SpecTree, mutant: Mutant, function: Function, target: Function | None
) -> Iterator[tuple[str, str]]:
    """Yield what keeps a mutant from standing in for what it names, and the way out."""
    decorators = function.node.decorator_list
    if mutant.name == NO_MUTANT:
        yield f"A mutant is called {NO_MUTANT}, which means that there is none.", "Rename it."
    if len(decorators) != 1 or not isinstance(decorators[0], ast.Call):
        way = "A mutant gets the decorators of the function that it replaces."
        yield f"@mutant must be the only decorator of '{mutant.name}'.", f"{way} {_WAY}"
        return
    text = ast.unparse(decorators[0].args[0]) if decorators[0].args else ""
    if target is None:
        way = "Name a function or method at module level: @mutant(Broker.may_commit)"
        if any(f.function is mutant.target for f in tree.mutants):
            way = "It is a mutant itself. Name the function that it replaces."
        yield f"The mutant '{mutant.name}' names {text}, which is not a function of the spec.", way
        return
    _, dot, name = text.rpartition(".")
    cls = _class_before_dot(decorators[0].args[0], function) if dot else None
    if cls is not None and target.owner is not None and name not in vars(cls):
        yield (
            f"{text} is defined in {target.owner.__name__}.",
            f"Write @mutant({target.qualified}), which applies to all classes derived from it.",
        )
    own, others = _parameters(function), _parameters(target)
    if own != others:
        yield (
            f"{target.qualified} takes ({others}), but '{mutant.name}' takes ({own}).",
            "Give it the same parameters, with the same defaults.",
        )
    if {"super", "__class__"} & {n.id for n in walk(function.node) if isinstance(n, ast.Name)}:
        yield (
            f"'{mutant.name}' calls super() outside a class.",
            "Name the class whose method you mean: Base.method(self)",
        )


def _target(tree: SpecTree, mutant: Mutant) -> Function | None:
    """Return what a mutant stands in for."""
    wanted = mutant.target.fget if isinstance(mutant.target, property) else mutant.target
    wanted = getattr(wanted, "__func__", wanted)
    return next((f for f in tree.functions if f.function is wanted), None)


def _class_before_dot(node: ast.expr, function: Function) -> type | None:
    value = node.value if isinstance(node, ast.Attribute) else node
    found = meaning(value, function.module.namespace)
    return found if isinstance(found, type) else None


def _parameters(function: Function) -> str:
    """Return the parameters of a function with their defaults, as text."""
    found = copied(function.node.args)
    for argument in walk(found):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    return ast.unparse(found)


def _name(thing: object) -> str:
    return str(getattr(thing, "__name__", thing))
