"""The readers of fields, by the text of a spec: the steps and the properties that look at each.

An update in place whose result nobody asks for (``n += 1``, ``log.append(x)``) looks at nothing, as
under a view.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from statewalk.dsl.kinds import PROPERTY_MARKS
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.nodes import parents_of, walk
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.source.usage import hides_fields, mentions
from statewalk.dsl.words.clocks import Clock
from statewalk.dsl.words.networks import Network

_WRITING = ("add", "append", "clear", "discard", "extend", "update")
_BOUNDING = ("action", "constraint", "terminal")


@dataclass
class Readers:
    """The readers of one field: ``steps`` with what bounds a search, and ``properties``, by name,
    in the order of the text.
    """

    steps: dict[str, None] = field(default_factory=dict)
    properties: dict[str, None] = field(default_factory=dict)


def readers_in(tree: SpecTree, effects: Effects) -> dict[tuple[str, str], Readers] | None:
    """Return the readers of each field by (class, name); None where the text may hide some."""
    if hides_fields(tree):
        return None
    found = {(cls.__name__, name): Readers() for cls in tree.roles for name in cls._fields}
    read: dict[int, set[tuple[str, str]]] = {}
    for name, step, function in _roots(tree, effects):
        for reached in effects.reached_from(function):
            if id(reached) not in read:
                read[id(reached)] = {key for _, key in reads(effects, reached)}
            for key in read[id(reached)]:
                of = found.setdefault(key, Readers())
                (of.steps if step else of.properties)[name] = None
    return found


def _roots(tree: SpecTree, effects: Effects) -> Iterator[tuple[str, bool, Function]]:
    """Yield what the checker calls, by name, and whether it decides which states there are. What
    nobody calls by name, such as the mapping of a refinement, counts as a property.
    """
    led = {id(p): name for name, formula, _ in tree.formulas for p in formula.predicates}
    every = tree.functions
    marked = [f for f in every if f.marks or f.gives_way or id(f.function) in led]
    reached = {id(f) for root in marked for f in effects.reached_from(root)}
    for f in every:
        if f.gives_way or any(mark.kind in _BOUNDING for mark in f.marks):
            yield _shown(f), True, f
        elif id(f.function) in led or any(mark.kind in PROPERTY_MARKS for mark in f.marks):
            yield led.get(id(f.function), f.name), False, f
        elif id(f) not in reached and not (f.owner and issubclass(f.owner, Network | Clock)):
            yield f.name, False, f


def _shown(function: Function) -> str:
    """Return the name of an action as reports have it, else that of the function."""
    given = (m.options.get("name") for m in function.marks if m.kind == "action")
    return str(next(given, None) or function.name)


def reads(effects: Effects, function: Function) -> Iterator[tuple[ast.AST, tuple[str, str]]]:
    """Yield where a function looks at a field itself, and at which."""
    receivers = effects.receivers(function)
    parents = parents_of(function.node)
    for node, meant in mentions(function.node):
        if isinstance(meant.ctx, ast.Load) and not _only_written(node, parents):
            for cls in receivers.owners(meant):
                yield node, (cls.__name__, meant.attr)
    for case in walk(function.node):
        if isinstance(case, ast.MatchClass):
            for cls in effects.tree.roles:
                by_place = getattr(cls, "__match_args__", ()) if case.patterns else ()
                for name in {*case.kwd_attrs, *by_place} & {*cls._fields}:
                    yield case, (cls.__name__, name)


def _only_written(node: ast.expr, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """``self.history.append(x)`` mentions a field without looking at it."""
    parent = parents.get(node)
    if isinstance(parent, ast.Attribute) and parent.attr in _WRITING:
        return isinstance(parents.get(parents[parent]), ast.Expr)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return not isinstance(parent.ctx, ast.Load)
    return False
