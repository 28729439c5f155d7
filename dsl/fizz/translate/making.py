"""Making nodes of the embedded language: new roles with their Init, truth values."""

from __future__ import annotations

import ast

from statewalk.dsl.fizz.names import Names
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.fizz.translate.exprs import Expressions
from statewalk.dsl.source.nodes import Transformer, walk
from statewalk.dsl.source.templates import statement


def with_created(x: Expressions, node: ast.stmt, name: str) -> list[ast.stmt]:
    """A statement, with the Init of a role that it makes run right after the making.

    ``name`` is for a role that the statement gives no name of its own.
    """
    created, x.created = x.created, []
    if not created:
        return [node]
    if len(created) > 1:
        raise x.wrong(
            created[1][1], "Two roles are made in one statement.", "Make one per statement."
        )
    word, call = created[0]
    if "Init" not in x.names.roles[word].members:
        return [node]
    if isinstance(node, ast.Assign) and node.value is call and len(node.targets) == 1:
        place = _loaded(node.targets[0])
        if place is not None:
            return [node, _initialise(place, node)]
    making = statement("NAME = CALL", call, NAME=name, CALL=call)
    _Swap(call, x.name(name, call)).visit(node)
    return [making, _initialise(x.name(name, call), call), node]


ROOM = 8  # how many roles of a class steps make, where the file does not say


def room_of(x: Expressions, role: tree.Role) -> list[ast.keyword]:
    """What the class of a role says of how many there may be, where steps make some.

    A constant ``AT_MOST_Role`` says it. Raises SpecError[SW153] for one that comes too late.
    """
    if role.name not in _made_in_steps(x.names):
        return []
    said = f"AT_MOST_{role.name}"
    most: ast.expr = ast.Constant(ROOM)
    if said in x.names.constants:
        most, given = ast.Name(said, ast.Load()), x.names.constants[said]
        if getattr(given, "lineno", 0) > role.lineno:
            raise x.wrong(given, f"{said} is given below the role.", "Write it above.")
    return [ast.keyword("at_most", most), ast.keyword("collected", ast.Constant(True))]


def _made_in_steps(names: Names) -> set[str]:
    found: set[str] = set()
    for node in walk(names.module):
        if not isinstance(node, tree.Act | tree.Func) or node is names.init:
            continue
        if id(node) not in names.from_init_only:
            calls = (n.func for n in walk(node) if isinstance(n, ast.Call))
            found |= {f.id for f in calls if isinstance(f, ast.Name) and f.id in names.roles}
    return found


def _initialise(role: ast.expr, at: ast.AST) -> ast.stmt:
    return statement("ROLE.Init()", at, ROLE=role)


class _Swap(Transformer):
    """Puts one node in place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old = old
        self.new = new

    def visit(self, node: ast.AST) -> ast.AST:
        """The node, or what takes its place."""
        return self.new if node is self.old else self.generic_visit(node)


def _loaded(target: ast.expr) -> ast.expr | None:
    """A target of assignment as an expression, where it is a single place."""
    found: ast.expr | None = None
    if isinstance(target, ast.Name):
        found = ast.Name(target.id, ast.Load())
    elif isinstance(target, ast.Attribute):
        found = ast.Attribute(target.value, target.attr, ast.Load())
    elif isinstance(target, ast.Subscript):
        found = ast.Subscript(target.value, target.slice, ast.Load())
    return found and ast.copy_location(found, target)


def is_truth(x: Expressions, node: ast.expr) -> bool:
    """Whether an expression certainly gives True or False."""
    if isinstance(node, ast.Compare):
        return True
    if isinstance(node, ast.Constant):
        return isinstance(node.value, bool)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.BoolOp):
        return all(is_truth(x, v) for v in node.values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        truths = ("any", "all", "bool", "isinstance", "hasattr")
        return node.func.id in (*truths, x.word("bool")) and x.is_python(node.func.id)
    return False
