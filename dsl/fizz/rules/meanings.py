"""Names of a .fizz file that would not mean one thing, or not yet.

SW108: defined twice; one of the two would be left out, and everything would seem to hold.
SW152: defaults of parameters that would have to be worked out at each call.
SW153: a name that would be shared state in one place of a body and a local in another. Fizzbee
decides while it runs: the variable of a loop is a local from its first turn on, and what is
assigned before the shared state is there is one, too.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from statewalk.dsl.blocks import tree
from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.fizz.names import (
    Names,
    RoleInfo,
    all_targets,
    loop_names,
    parameters,
    self_targets,
    stored_names,
    targets_of,
)
from statewalk.dsl.source.nodes import made_text, parts_of, walk
from statewalk.dsl.source.scopes import names as names_in
from statewalk.dsl.state.roles import Role


def check_defaults(names: Names, file: str, mistakes: Mistakes) -> None:
    """Refuse defaults that ask for what there is only while a step runs."""
    asked = {n: f"the func '{n}'" for n, m in names.members.items() if isinstance(m, tree.Func)}
    asked |= {name: f"the state variable '{name}'" for name in names.state}
    asked["self"] = "'self'"
    in_roles = [member for role in names.roles.values() for member in role.node.body]
    functions: list[tree.Func | ast.FunctionDef] = [
        m for m in [*names.members.values(), *in_roles] if isinstance(m, tree.Func)
    ]
    functions += [m for m in in_roles if isinstance(m, ast.FunctionDef)]
    for function in functions:
        for default in function.args.defaults:
            for part in walk(default):
                if isinstance(part, ast.Name) and part.id in asked:
                    said = f"A default of {function.name} reads {asked[part.id]}, which is not "
                    said += "supported."
                    why = "A default is computed once, before there is a state."
                    help = "Give the value at each call."
                    mistakes.add("SW152", said, at=Span.of(part, file), why=why, help=help)


def early_reads(names: Names) -> Iterator[tuple[str, ast.Name]]:
    """Yield locals that are read above their first assignment, loops aside."""
    for function in walk(names.module):
        if isinstance(function, tree.Act | tree.Func | tree.Assertion | ast.FunctionDef):
            yield from _of(function, names)


def _of(function: ast.AST, names: Names) -> Iterator[tuple[str, ast.Name]]:
    body: list[ast.stmt] = function.body  # type: ignore[attr-defined]
    arguments = getattr(function, "args", None)
    is_init = isinstance(function, tree.Act) and function.name == "Init"
    local = set(stored_names(body)) - loop_names(body) - set(names.constants) - set(names.members)
    local -= set(parameters(arguments)) if arguments is not None else set()
    if not is_init and not isinstance(function, ast.FunctionDef):
        local -= set(names.state)
    if getattr(function, "flow", None) == "parallel":
        return
    reads: dict[str, ast.Name] = {}
    known: set[str] = set()
    for statement in body:
        _in_order(statement, local, known, reads)
    yield from reads.items()


def _in_order(node: ast.AST, local: set[str], known: set[str], reads: dict[str, ast.Name]) -> None:
    """Note what is read before anything above assigns it; afterwards the names are known."""
    if isinstance(node, ast.For | ast.While | ast.Lambda | ast.FunctionDef) or (
        isinstance(node, tree.FlowBlock) and node.flow == "parallel"
    ):
        known |= set(stored_names([node]))
        return
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        _read(node.target, local, known, reads)
    targets = targets_of(node) if isinstance(node, ast.stmt) else ()
    bound = [t.id for t in targets if isinstance(t, ast.Name)]
    if isinstance(node, tree.ChoiceBlock | tree.Choice):  # its condition asks about the target
        _expression(node.options, local, known, reads)
        known |= set(bound)
    for child in parts_of(node):
        if isinstance(child, ast.expr):
            _expression(child, local, known, reads)
    known |= set(bound)
    for child in parts_of(node):
        if isinstance(child, ast.stmt):
            _in_order(child, local, known, reads)


def _expression(
    node: ast.AST, local: set[str], known: set[str], reads: dict[str, ast.Name]
) -> None:
    if isinstance(node, ast.Lambda):
        return
    inner = names_in(*(g.target for g in getattr(node, "generators", ())))
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        _read(node, local, known, reads)
    for child in parts_of(node):
        _expression(child, local - inner, known, reads)


def _read(node: ast.Name, local: set[str], known: set[str], reads: dict[str, ast.Name]) -> None:
    if node.id in local - known:
        reads.setdefault(node.id, node)


def functions_as_text(names: Names) -> Iterator[ast.Name]:
    """Yield where a name that only stands for a function is made text of."""
    nodes = list(walk(names.module))
    given = Counter(word for node in nodes for word in _given(node))
    constants = [(n, c) for n, c in names.constants.items() if isinstance(c, ast.Assign)]
    lambdas = {name for name, node in constants if isinstance(node.value, ast.Lambda)}
    own = {n for n, member in names.members.items() if isinstance(member, _FUNCTIONS)}
    known = {n for n in own if not given[n]} | {n for n in lambdas if given[n] == 1}
    for node in nodes:
        for part in made_text(node):
            if isinstance(part, ast.Name) and part.id in known:
                yield part


_FUNCTIONS = ast.FunctionDef | tree.Func


def _given(node: ast.AST) -> tuple[str, ...]:
    """Return the name to which a node gives a value."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return (node.id,)
    return (node.arg,) if isinstance(node, ast.arg) else ()


_KINDS = (
    (tree.Act, "an action"), (tree.Func, "a function"), (tree.Assertion, "an assertion"),
    (tree.Role, "a role"), (ast.FunctionDef, "a function"),
)  # fmt: skip
_HELD = ("a field", "a state variable")
_OWN = frozenset(name for name in dir(Role) if name[0] != "_")  # which roles have of themselves


@dataclass(frozen=True)
class _Defined:
    name: str
    kind: str
    node: ast.AST


def check_twice(names: Names, file: str, mistakes: Mistakes) -> None:
    """Each name of the file, and each name of a role, stands for one thing."""
    _compare(_of_file(names), "", file, mistakes)
    for node in names.module.body:
        if isinstance(node, tree.Role):
            info = names.roles[node.name]
            if info.node is node:  # of two roles of one name that is said
                found = [*_members(node.body), *_fields(info, names)]
                _compare(found, f"{node.name}.", file, mistakes)


def _compare(found: Iterable[_Defined], owner: str, file: str, mistakes: Mistakes) -> None:
    first: dict[str, _Defined] = {}
    for one in sorted(
        found, key=lambda d: (Span.of(d.node, file).line, Span.of(d.node, file).column)
    ):
        if one.kind in _HELD and one.name in _OWN:
            said = (
                f"'{one.name}' cannot be {one.kind}: it is the built-in number of a role instance."
            )
            mistakes.add(
                "SW153",
                said,
                at=Span.of(one.node, file),
                help=f"Give it another name, such as {one.name}_.",
            )
            continue
        other = first.setdefault(one.name, one)
        if other is not one:
            mistakes.add(
                "SW108",
                f"'{owner}{one.name}' is defined twice: {other.kind} in line "
                f"{Span.of(other.node, file).line}, and {one.kind} here.",
                at=Span.of(one.node, file),
                why="One of them would be ignored.",
                help="Give each a name of its own.",
            )


def _members(body: list[ast.stmt]) -> Iterator[_Defined]:
    for node in body:
        for kind, word in _KINDS:
            if isinstance(node, kind):
                yield _Defined(node.name, word, node)
        if isinstance(node, tree.InitStanza):
            yield _Defined("Init", "'init:'", node)


def _of_file(names: Names) -> Iterator[_Defined]:
    body = names.module.body
    yield from _members(body)
    for name, node in names.constants.items():
        if not isinstance(node, ast.FunctionDef):
            yield _Defined(name, "a constant", node)
    begun = [names.init] if names.init is not None else []
    for name, node in _first([*begun, *(n for n in body if isinstance(n, tree.Choice))]).items():
        if name in names.state:
            yield _Defined(name, "a state variable", node)


def _first(nodes: list[ast.stmt]) -> dict[str, ast.AST]:
    """Return the first assignments of names."""
    found: dict[str, ast.AST] = {}
    for target in all_targets(nodes):
        if isinstance(target, ast.Name):
            found.setdefault(target.id, target)
    return found


def _fields(info: RoleInfo, names: Names) -> Iterator[_Defined]:
    """Yield the fields of a role, where they are first assigned or given."""
    found: dict[str, ast.AST] = {}
    for target in self_targets(info.node):
        found.setdefault(target.attr, target)
    for part in walk(names.module):
        made = isinstance(part, ast.Call) and getattr(part.func, "id", "") == info.node.name
        for keyword in part.keywords if made and isinstance(part, ast.Call) else ():
            if keyword.arg is not None:
                found.setdefault(keyword.arg, keyword)
    for name, node in found.items():
        yield _Defined(name, "a field", node)


_RANGING = (ast.For, tree.ChoiceBlock)


def check_meanings(names: Names, file: str, mistakes: Mistakes) -> None:
    """Every name of a body means one thing in it."""
    for node in walk(names.module):
        if isinstance(node, tree.Act | tree.Func | tree.Assertion):
            for word, at in _outside_of_loops(node, names):
                said = f"'{word}' is shared state, and the variable of a loop or a choice here."
                why = "Whether it means the one or the other would depend on what has run."
                help = "Give the variable another name."
                mistakes.add("SW153", said, at=Span.of(at, file), why=why, help=help)
            if id(node) in names.both_ways:
                for word, at in _assigned(node, names):
                    said = f"'{word}' would be shared state in a step, and a local in Init."
                    why = "While Init runs there is no shared state yet. This runs in both."
                    help = "Give the local another name, or write a function for each."
                    mistakes.add("SW153", said, at=Span.of(at, file), why=why, help=help)


def _outside_of_loops(node: ast.AST, names: Names) -> Iterator[tuple[str, ast.AST]]:
    """Yield the first use of each state variable outside of the loops whose variable has its
    name.
    """
    body: list[ast.stmt] = node.body  # type: ignore[attr-defined]
    if node is names.init or id(node) in names.from_init_only:
        return
    arguments = getattr(node, "args", None)
    shared = loop_names(body) & set(names.state)
    shared -= set(parameters(arguments)) if arguments is not None else set()
    for word in sorted(shared):
        found = next((n for statement in body for n in _uses(statement, word)), None)
        if found is not None:
            yield word, found


def _uses(node: ast.AST, word: str) -> Iterator[ast.AST]:
    """Yield where a name stands outside of the loops and comprehensions that bind it."""
    if isinstance(node, ast.Name) and node.id == word:
        yield node
    left_out: list[object] = []
    if isinstance(node, _RANGING) and any(_is(t, word) for t in targets_of(node)):
        left_out = [node.target, *node.body, getattr(node, "condition", None)]
    elif any(_is(n, word) for g in getattr(node, "generators", ()) for n in walk(g.target)):
        yield from _uses(node.generators[0].iter, word)  # type: ignore[attr-defined]
        return
    if isinstance(node, ast.Lambda) and word in parameters(node.args):
        return
    for child in parts_of(node):
        if child not in left_out:
            yield from _uses(child, word)


def _is(node: ast.AST, word: str) -> bool:
    return isinstance(node, ast.Name) and node.id == word


def _assigned(node: ast.AST, names: Names) -> Iterator[tuple[str, ast.AST]]:
    """State variables that a body assigns to, as names."""
    for part in walk(node):
        if isinstance(part, ast.stmt) and not isinstance(part, _RANGING):
            for target in targets_of(part):
                if isinstance(target, ast.Name) and target.id in names.state:
                    yield target.id, target
