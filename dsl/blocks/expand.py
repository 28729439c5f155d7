"""Flows and blocks of the embedded language: ``flow="serial"``, ``with parallel():`` and so on.

They become functions with ``yield``, before anything else looks at them. Where a ``yield`` is put
is decided by `dsl.blocks.step_ends`, as for .fizz text, with two differences: every step is one,
also one that does nothing; and a function that says nothing is atomic, not serial.

A function with blocks is called plainly. Where it gives way, its callers do so too. In a property
or an ``@init`` function all of it happens at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from statewalk.dsl.blocks import steps as flow_steps
from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.pieces import RUNTIME, STEPS, Made, OwnPieces, Program, Statements
from statewalk.dsl.blocks.read import Reader, flow_of, has_blocks, refused, without_super
from statewalk.dsl.blocks.step_ends import Threads
from statewalk.dsl.blocks.tree import ACTED, NONE, NOT_YET, RESUMED, Status
from statewalk.dsl.errors import Mistakes
from statewalk.dsl.lowering import calls as lowered
from statewalk.dsl.lowering.compiling import install
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.nodes import (
    copied,
    parents_of,
    parts_of,
    read_word,
    walk,
    with_places,
    yields,
)
from statewalk.dsl.source.tree import Function, SpecTree


def check_handed_on(spec: SpecTree, mistakes: Mistakes) -> None:
    """Every mention of a function with blocks that gives way is a call that was translated."""
    names = {f.name for f in spec.functions if not f.marks and (f.gives_way or _may_give_way(f))}
    fields = {name for cls in spec.roles for name in cls._fields}
    fields.update(name for cls in spec.records for name in cls._fields)
    for function in spec.functions:
        if function.name in names and function.name[:2] == "__":
            said = f"'{function.name}' contains yield, but Python calls it, not an action."
            help = "Give it another name, and call that."
            mistakes.add("SW116", said, at=function.span(), help=help)
    for module in spec.loading.modules:
        if module.source.dialect == "fizz" or not names:
            continue
        read = [f for f in spec.functions if f.module is module]
        lines = {(f.node.lineno, f.node.end_lineno or f.node.lineno) for f in read}
        for name, node in _handed(spec.text_of(module), names - fields, lines):
            mistakes.add(
                "SW116",
                f"'{name}' contains yield, but is used outside an action.",
                at=module.source.span(node),
                why="That call would run the whole function in one step.",
                help=f"Write self.{name}() or {name}() in an action or in a function that actions "
                "call by name.",
            )


def _may_give_way(function: Function) -> bool:
    blocks = (node for node in walk(function.node) if isinstance(node, ast.With))
    flows = (flow_of(node, function.module.namespace) for node in blocks)
    return any(flow in ("serial", "parallel") for flow in flows)


def _handed(
    text: ast.Module, names: set[str], lines: set[tuple[int, int]]
) -> Iterator[tuple[str, ast.AST]]:
    parents = parents_of(text)
    for node in walk(text):
        word = read_word(node)
        if word is None or word not in names:
            continue
        parent = parents.get(node)
        called = isinstance(parent, ast.Call) and parent.func is node
        at: ast.AST | None = node
        while at is not None and not isinstance(at, ast.Lambda):
            at = parents.get(at)
        called = called and at is None
        line = getattr(node, "lineno", 0)
        if not called or not any(first <= line <= last for first, last in lines):
            yield word, node


ANYTHING: Status = ACTED | NOT_YET | RESUMED
_INSIDE_ATOMIC = (
    "An atomic block is one step. Move the marked code out of it, or write: with serial():"
)


class OwnProgram(Program):
    """The functions of a spec that blocks concern, as nodes of `dsl.blocks.tree`."""

    def __init__(self, tree_: SpecTree) -> None:
        self.effects = Effects(tree_)
        self.nodes: dict[int, tree.Func] = {}
        self.functions: dict[int, Function] = {}
        self._caller: Function | None = None
        taking_part = self._taking_part(tree_)
        for function in tree_.functions:
            if id(function) in taking_part:
                node = Reader(function).read()
                self.nodes[id(function)] = node
                self.functions[id(node)] = function
        self.together = {str(key): [node] for key, node in self.nodes.items()}

    def __iter__(self) -> Iterator[tuple[Function, tree.Func]]:
        return ((f, self.nodes[id(f)]) for f in self.functions.values())

    def _taking_part(self, tree_: SpecTree) -> set[int]:
        """Return functions with blocks, those that they call, and those that call these."""
        own = [f for f in tree_.functions if f.module.source.dialect != "fizz"]
        doing = {id(f): f for f in own if has_blocks(f) or self.effects.of(f) == "effects"}
        groups = [
            {one, *(id(f) for cause in self.effects.causes[one] for f in cause.callees)}
            & set(doing)
            for one in doing
        ]
        found = {one for one, function in doing.items() if has_blocks(function)}
        size = 0
        while size != len(found):
            size = len(found)
            found.update(*(group for group in groups if group & found))
        return found

    def within(self, function: Function) -> None:
        """Calls are from now on those of this function."""
        self._caller = function

    def callee(self, value: ast.expr | None) -> list[tree.Func]:
        """Return the functions that a call, or ``yield from`` a call, may mean."""
        if isinstance(value, ast.YieldFrom):
            value = value.value
        if not isinstance(value, ast.Call) or self._caller is None:
            return []
        found = self.effects.callees(value, self._caller)
        return [self.nodes[id(f)] for f in found if id(f) in self.nodes]


class OwnThreads(Threads):
    """Finds where the steps of functions of the embedded language end."""

    def __init__(self, program: OwnProgram, mistakes: Mistakes, first: int = 1) -> None:
        super().__init__(program)
        self.own = program
        self.first = first
        self.mistakes = mistakes
        self._function: Function = next(iter(program.functions.values()))
        self._atomic = False

    def begin(self) -> None:
        """Find out about every function that actions reach, or could call as a flow."""
        for node, function in self.own.functions.items():
            called = has_blocks(function) and function.is_flow
            if called or function.marked("action") is not None:
                self.facts.entered[node] = NOT_YET
        self.analyse()

    def body(self, node: tree.Func) -> Statements:
        """Return the statements of a function, with a ``yield`` where a step ends."""
        self.pieces = OwnPieces(self.first)
        return self.function(node)

    def function(self, node: tree.Act | tree.Func) -> Statements:
        self._function = self.own.functions[id(node)]
        self.own.within(self._function)
        mark = self._function.marked("action")
        self._atomic = mark is not None and mark.options.get("flow") == "atomic"
        kept = node.body
        if len(kept) == 1 and isinstance(kept[0], tree.FlowBlock):
            self._atomic |= kept[0].flow == "atomic"
        return super().function(node)

    def flow(self, kept: Statements, flow: str, status: Status, more: bool, at: ast.AST) -> Made:
        outer = self._atomic
        self._atomic |= isinstance(at, tree.FlowBlock) and flow == "atomic"
        made = super().flow(kept, flow, status, more, at)
        self._atomic = outer
        return made

    def _statement(self, node: ast.stmt, flow: str, before: Status, more: bool) -> Made:
        value = getattr(node, "value", None)
        heads = _heads(node)
        for head in heads:
            self._inside(head, value)
        gives = any(map(yields, heads))
        if gives:
            self._yields = True
            self._refuse_in_atomic(node, "there is a yield")
        if isinstance(node, ast.Assert | ast.Global | ast.Nonlocal):
            return self._translated(node), before
        if isinstance(node, ast.Expr) and isinstance(value, ast.Yield):
            return self._translated(node), RESUMED
        if gives and isinstance(node, ast.If | ast.For | ast.While):
            before = ANYTHING
        if isinstance(node, ast.Return):
            if any(id(f) in self.facts.flows for f in self._callees(value)):
                return self._return_of_call(node, before)
        return super()._statement(node, flow, before, more)

    def _return_of_call(self, node: ast.Return, before: Status) -> Made:
        """``return f()`` where f gives way."""
        assert node.value is not None
        word = self.pieces.fresh("result") if self.pieces is not None else "@result"
        target = ast.copy_location(ast.Name(word, ast.Store()), node)
        call = ast.copy_location(ast.Assign([target], node.value, lineno=0), node)
        result = ast.copy_location(ast.Name(word, ast.Load()), node)
        given = ast.copy_location(ast.Return(result), node)
        made, status = self.statement(call, "atomic", before, True)
        last, _ = self.statement(given, "atomic", status, True)
        return [*made, *last], NONE

    def _called(self, node: ast.stmt) -> ast.expr | None:
        return node.value if isinstance(node, ast.AugAssign) else super()._called(node)

    def _callees(self, value: ast.expr | None) -> list[tree.Func]:
        found = super()._callees(value)
        if any(id(f) in self.facts.flows for f in found):
            self.facts.flows |= {id(f) for f in found}
            if isinstance(value, ast.Call):
                name = self.own.functions[id(found[0])].name
                self._refuse_in_atomic(value, f"it calls '{name}'")
        return found

    def _stop(self, status: Status, at: ast.AST) -> Made:
        self._refuse_in_atomic(at, "a step ends")
        return super()._stop(status, at)

    def _took(self, status: Status, at: ast.AST) -> Statements:
        return []

    # -- what cannot be ---------------------------------------------------------------------------
    def _refuse_in_atomic(self, at: ast.AST, what: str) -> None:
        if self._atomic and self.pieces is not None:
            where = getattr(at, "source", at)
            self._refuse(where, f"{what} inside an atomic block", _INSIDE_ATOMIC)

    def _refuse(self, at: ast.AST, what: str, help: str) -> None:
        error = refused(self._function, at, what, help)
        if all(e.at != error.at for e in self.mistakes.found):  # loops are gone through repeatedly
            self.mistakes.found.append(error)

    def _inside(self, head: ast.AST, value: ast.expr | None) -> None:
        """Functions that are called inside an expression must not give way."""
        for call in walk(head):
            if not isinstance(call, ast.Call) or call is value:
                continue
            if isinstance(value, ast.YieldFrom) and call is value.value:
                continue
            for callee in self.own.callee(call):
                function = self.own.functions[id(callee)]
                known = self.facts.entered.get(id(callee), NONE)
                self.facts.entered[id(callee)] = known | ANYTHING
                if id(callee) in self.facts.flows and not function.is_flow:
                    if self.pieces is not None:
                        self._refuse(
                            call,
                            f"'{function.name}' gives way, and is called inside an expression",
                            f"Call it in a statement of its own: x = {ast.unparse(call)}",
                        )


class AtOnce(OwnThreads):
    """The same functions with no end of a step: where all happens at once."""

    def function(self, node: tree.Act | tree.Func) -> Statements:
        self.facts.entered.setdefault(id(node), NOT_YET)
        self.facts.ends = {}
        self.facts.flows = set()
        return super().function(node)

    def after_statement(self, status: Status, flow: str, more: bool, at: ast.AST) -> Made:
        return [], status

    def after_block(self, status: Status, flow: str, at: ast.AST) -> Made:
        return [], status

    def _stop(self, status: Status, at: ast.AST) -> Made:
        return [], status


def expand_blocks(spec: SpecTree, mistakes: Mistakes, first: int = 1) -> None:
    """Let every function with blocks, and every caller of one that gives way, say ``yield``.

    What such functions do at once, where they are called so, is compiled here. ``first``: the
    number by which the first statement of a parallel or oneof block is known.
    """
    if not any(map(has_blocks, spec.functions)):
        return
    for module in spec.loading.modules:
        module.namespace[RUNTIME] = lowered
        module.namespace[STEPS] = flow_steps
    program = OwnProgram(spec)
    threads, at_once = OwnThreads(program, mistakes, first), AtOnce(program, Mistakes(), first)
    threads.begin()
    reached = threads.facts.entered
    made: list[tuple[Function, ast.FunctionDef]] = []
    for function, node in program:
        if id(node) in reached:
            made.append((function, _with_body(function, threads.body(node))))
            function.gives_way = id(node) in threads.facts.flows
            if function.gives_way:
                without_super(function)
    for function, node in program:
        if has_blocks(function) and not function.is_flow:
            whole = _with_body(function, at_once.body(node))
            if id(node) not in reached:
                made.append((function, copied(whole)))
            without_super(function)
            install(function, whole)
    check_handed_on(spec, mistakes)
    for function, whole in made:
        function.node = whole


def _with_body(function: Function, body: Statements) -> ast.FunctionDef:
    """Return the definition of a function with another body."""
    result = copied(function.node)
    own = function.body()
    text = result.body[: len(result.body) - len(own)]  # a doc-string
    result.body = [*text, *(copied(statement) for statement in body)]
    with_places(result)
    return result


def _heads(node: ast.stmt) -> list[ast.AST]:
    """Return the expressions of a statement itself; all of one that is not looked into."""
    if isinstance(node, ast.If | ast.While):
        return [node.test]
    if isinstance(node, ast.For):
        return [node.iter]
    if isinstance(node, tree.FlowBlock):
        return []
    if isinstance(node, ast.With | ast.Try | ast.Match | ast.FunctionDef | ast.ClassDef):
        return [node]
    return [n for n in parts_of(node) if isinstance(n, ast.expr)]
