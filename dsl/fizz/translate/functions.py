"""The functions of a .fizz specification: callees, choices, live locals, and roles they make."""

from __future__ import annotations

import ast

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.pieces import Program
from statewalk.dsl.fizz.names import Names, is_self, targets_of
from statewalk.dsl.fizz.translate.exprs import Expressions
from statewalk.dsl.source.nodes import Transformer, statement, walk
from statewalk.dsl.source.scopes import read

Live = frozenset[str]


def live_at_loops(statements: list[ast.stmt]) -> dict[int, Live]:
    """Return the names live at the start of a turn, for each ``while`` loop by identity."""
    analysis = _Analysis()
    analysis.block(statements, frozenset(), frozenset(), frozenset())
    return analysis.loops


class _Analysis:
    def __init__(self) -> None:
        self.loops: dict[int, Live] = {}

    def block(self, statements: list[ast.stmt], after: Live, broken: Live, continued: Live) -> Live:
        """Return names live before statements; ``broken``, ``continued``: after break, continue."""
        for node in reversed(statements):
            after = self.statement(node, after, broken, continued)
        return after

    def statement(self, node: ast.stmt, after: Live, broken: Live, continued: Live) -> Live:
        if isinstance(node, ast.Break):
            return broken
        if isinstance(node, ast.Continue):
            return continued
        if isinstance(node, ast.Return):
            return read(node.value) if node.value is not None else frozenset()
        if isinstance(node, ast.If):
            body = self.block(node.body, after, broken, continued)
            orelse = self.block(node.orelse, after, broken, continued)
            return body | orelse | read(node.test)
        if isinstance(node, ast.While):
            return self._loop(node, read(node.test), frozenset(), after)
        if isinstance(node, ast.For):
            return self._loop(node, frozenset(), _stored(node), after) | read(node.iter)
        if isinstance(node, tree.FlowBlock | tree.Labelled):
            if isinstance(node, tree.FlowBlock) and node.flow == "oneof":
                found = [self.statement(s, after, broken, continued) for s in node.body]
                return frozenset().union(after, *found)
            return self.block(node.body, after, broken, continued)
        if isinstance(node, tree.ChoiceBlock):
            body = self.block(node.body, after, broken, continued) - _stored(node)
            return body | after | read(node.options)
        if isinstance(node, ast.AugAssign):
            return after | _stored(node) | read(node)
        return (after - _stored(node)) | read(node)

    def _loop(self, node: ast.For | ast.While, tested: Live, bound: Live, after: Live) -> Live:
        head = tested | after
        while True:
            body = self.block(node.body, head, after, head)
            again = head | (body - bound)
            if again == head:
                break
            head = again
        self.loops[id(node)] = head
        return head


def _stored(node: ast.stmt) -> Live:
    return frozenset(t.id for t in targets_of(node) if isinstance(t, ast.Name))


class Functions(Program):
    """The answers of a specification to `dsl.blocks.step_ends`."""

    def __init__(self, names: Names) -> None:
        self.names = names
        nodes = walk(names.module)
        self.acts = [n for n in nodes if isinstance(n, tree.Act)]
        self.together: dict[str, list[tree.Func]] = {}
        for part in (n for n in nodes if isinstance(n, tree.Func)):
            self.together.setdefault(part.name, []).append(part)

    def callee(self, value: ast.expr | None) -> list[tree.Func]:
        """Return the functions of the specification that a call may mean."""
        if not isinstance(value, ast.Call):
            return []
        if isinstance(value.func, ast.Name):
            found = self.names.members.get(value.func.id)
            return [found] if isinstance(found, tree.Func) else []
        if isinstance(value.func, ast.Attribute):
            found = self.names.members.get(value.func.attr)
            return [f for f in self.together.get(value.func.attr, []) if f is not found]
        return []

    def nearer(self, found: list[tree.Func], value: ast.expr, caller: ast.AST) -> list[tree.Func]:
        """Of ``self``, only the functions of its own role."""
        if not (isinstance(value, ast.Call) and is_self(value.func)):
            return found
        roles = self.names.roles.values()
        own = next((r.node for r in roles if caller in r.node.body), None)
        return [f for f in found if own is None or f in own.body]

    def chooses(self, node: ast.AST, seen: frozenset[int] = frozenset()) -> bool:
        """Return whether a choice may be made in a statement, in functions it calls included."""
        for part in walk(node):
            if isinstance(part, tree.Choice | tree.ChoiceBlock):
                return True
            if getattr(part, "flow", None) == "oneof":
                return True
            if isinstance(part, ast.Call):
                inside = [f for f in self.callee(part) if id(f) not in seen]
                if any(self.chooses(f, seen | {id(f)}) for f in inside):
                    return True
        return False


def with_created(x: Expressions, node: ast.stmt, name: str) -> list[ast.stmt]:
    """Return a statement in which the Init of a new role, called ``name``, runs at once."""
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
    """Return ``at_most`` of a role that steps make, from ``AT_MOST_Role``. Raises SW153."""
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
        """Return the node, or what takes its place."""
        return self.new if node is self.old else self.generic_visit(node)


def _loaded(target: ast.expr) -> ast.expr | None:
    """Return a target of assignment as an expression, where it is a single place."""
    found: ast.expr | None = None
    if isinstance(target, ast.Name):
        found = ast.Name(target.id, ast.Load())
    elif isinstance(target, ast.Attribute):
        found = ast.Attribute(target.value, target.attr, ast.Load())
    elif isinstance(target, ast.Subscript):
        found = ast.Subscript(target.value, target.slice, ast.Load())
    return found and ast.copy_location(found, target)


def is_truth(x: Expressions, node: ast.expr) -> bool:
    """Return whether an expression certainly gives True or False."""
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
