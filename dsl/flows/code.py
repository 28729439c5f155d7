"""Flows as instructions: a function with ``yield`` becomes code that can stop and go on.

    do f        run a piece of straight code; its locals come from and go back to the frame
    test f, n   go on at n unless f
    jump n
    each f, x, r  start a loop over f: what is kept of it is in the hidden local r
    next x, r, n  bind the next element, or go on at n
    call t, g, f  call the flow g with the arguments f; its result goes to the local t
    give f      return
    stop        let others act

Statements without yields, and without jumps out of them, stay together in one piece.
"""

from __future__ import annotations

import ast
import copy

from statewalk.dsl.blocks.read import refused
from statewalk.dsl.blocks.steps import asks_for_notes
from statewalk.dsl.flows.instructions import LATE, Code, FlowCode, closures, find_live
from statewalk.dsl.flows.kept import made_by_turns
from statewalk.dsl.flows.order import InOrder
from statewalk.dsl.source.nodes import copied, expression, leaves, walk, yields
from statewalk.dsl.source.nodes import statement as made
from statewalk.dsl.source.scopes import bound, free, names


class Compiler(InOrder):
    """Compiles one function."""

    def run(self) -> FlowCode:
        """Return the instructions, with what is live at each."""
        self.block(copy.deepcopy(self.function.body()))
        self.emit("give", self.function.node, *self.expression(ast.Constant(None)))
        find_live(self.result.instructions)
        for at, statement in self.made:
            self.stays_in_piece(statement, self.result.instructions[at + 1].live)
        return self.result

    def stays_in_piece(self, statement: ast.stmt, live: frozenset[str]) -> None:
        """Refuse a closure that is used after a local it reads was bound again."""
        for name, looks in closures(statement).items():
            changed = sorted(looks & (self.rebound | (self.shared & self.locals)))
            if name in live and changed:
                what = f"the inner function '{name}' reads '{changed[0]}', which may be assigned "
                what += f"again before '{name}' is called"
                help = f"Pass '{changed[0]}' to '{name}' as an argument."
                raise refused(self.function, statement, what, help)

    # -- statements ------------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt]) -> None:
        straight: list[ast.stmt] = []
        for statement in statements:
            if not yields(statement) and not leaves(statement):
                straight.append(statement)
                continue
            if straight:
                self.piece(straight)
                straight = []
            self.statement(statement)
        if straight:
            self.piece(straight)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Yield(value=given)):
                if given is not None:
                    self.statement(ast.copy_location(ast.Expr(given), node))
                self.emit("stop", node)
            case ast.Expr(value=ast.YieldFrom() as called):
                self.pulled(called)
            case ast.Return(value=value):
                given = self.pulled(value or ast.copy_location(ast.Constant(None), node))
                self.emit("give", node, *self.expression(given))
            case ast.If():
                self.branch(node)
            case ast.While():
                self.loop(node)
            case ast.For():
                self.for_each(node)
            case ast.Match():
                self.match(node)
            case ast.Break() | ast.Continue():
                self.jump(node)
            case ast.Assert(msg=ast.expr() as message) if yields(message):
                text = "if not TEST:\n raise AssertionError(WHY)"
                failed = made(text, node, TEST=node.test, WHY=message)
                self.statement(failed)
            case ast.Assign():
                self.assigned(node)
            case ast.AugAssign():
                self.augmented(node)
            case ast.Delete(targets=targets):
                for target in targets:
                    self.piece([ast.copy_location(ast.Delete([self.pulled(target)]), node)])
            case ast.AnnAssign(value=ast.expr() as value):
                node.value = self.pulled(value)
                self.simple(node)
            case ast.Expr() | ast.Assert() | ast.Raise():
                self.operands(node)
                self.simple(node)
            case _:
                self.simple(node)

    def simple(self, node: ast.stmt) -> None:
        """Add a statement without a yield, a return or a jump."""
        if yields(node) or leaves(node):
            what = "a yield" if yields(node) else "a return or jump"
            raise self.refused(node, f"there is {what} inside '{type(node).__name__.lower()}'")
        self.piece([node])

    def jump(self, node: ast.Break | ast.Continue) -> None:
        if not self.loops:
            raise self.refused(node, "there is a jump out of a block that cannot be suspended")
        top, breaks = self.loops[-1]
        at = self.emit("jump", node, to=top)
        if isinstance(node, ast.Break):
            breaks.append(at)

    def match(self, node: ast.Match) -> None:
        """Write the test of the case, then its statements."""
        which, bodies = self.temporary("case"), [case.body for case in node.cases]
        node.subject = self.pulled(node.subject)
        for number, case in enumerate(node.cases):
            case.body = [made("WHICH = N", case.body[0], WHICH=which, N=number)]
        self.piece([made("WHICH = -1", node, WHICH=which)])
        self.simple(node)
        leave = []
        for number, body in enumerate(bodies):
            same = made("WHICH == N", body[0], WHICH=which, N=number)
            assert isinstance(same, ast.Expr)
            test = self.emit("test", body[0], *self.expression(same.value))
            self.block(body)
            leave.append(self.emit("jump", node))
            self.here(test)
        for at in leave:
            self.here(at)

    def branch(self, node: ast.If) -> None:
        asks = asks_for_notes(node.test, self.function.module.namespace)
        test = self.emit("test", node, *self.expression(self.pulled(node.test)), asks=asks)
        self.block(node.body)
        over = self.emit("jump", node) if node.orelse else -1
        self.here(test)
        if node.orelse:
            self.block(node.orelse)
            self.here(over)

    def loop(self, node: ast.While) -> None:
        top = len(self.result.instructions)
        test = self.emit("test", node, *self.expression(self.pulled(node.test)))
        self.inside(node, top, test)

    def for_each(self, node: ast.For) -> None:
        stops = any(map(yields, node.body))
        if stops:
            self.counted(node)
        target = node.target.id if isinstance(node.target, ast.Name) else self.temporary("item")
        if target[:1] == "@":  # for x, y in ...: x, y = item
            item = ast.copy_location(ast.Name(target, ast.Load()), node)
            node.body.insert(0, ast.copy_location(ast.Assign([node.target], item), node))
        rest = self.temporary("rest")
        local, view = "", ""
        if stops:
            code, reads, local, view = self.iterated(node)
        else:
            code, reads = self.expression(self.pulled(node.iter))
        self.emit("each", node, code, reads, writes=(rest,), target=rest, source=local, stops=stops)
        top = len(self.result.instructions)
        reads = [rest, local] if local else [rest]
        following = self.emit(
            "next", node, None, reads, writes=(target, rest), target=target, source=local,
            callee=view, stops=stops,
        )  # fmt: skip
        self.inside(node, top, following)

    def counted(self, node: ast.For) -> None:
        """``for i, x in enumerate(e)`` as ``for x in e`` with a count."""
        match node.iter:
            case ast.Call(ast.Name("enumerate"), [source], []):
                start = 0
            case ast.Call(
                ast.Name("enumerate"), [source, ast.Constant(int() as start)], []
            ) | ast.Call(
                ast.Name("enumerate"),
                [source],
                [ast.keyword("start", ast.Constant(int() as start))],
            ):
                pass
            case _:
                return
        if not self.is_python("enumerate") or isinstance(source, ast.Starred):
            return
        count, item = self.temporary("count"), self.temporary("item")
        words = {"COUNT": count, "ITEM": item}
        self.piece([made(f"COUNT = {start}", node, **words)])
        both = [
            made("T = COUNT, ITEM", node, T=node.target, **words),
            made("COUNT += 1", node, **words),
        ]
        node.target, node.iter = ast.copy_location(ast.Name(item, ast.Store()), node), source
        node.body = [*both, *node.body]

    def is_python(self, word: str) -> bool:
        """Return whether a name means Python's own."""
        return word not in self.locals and word not in self.function.module.namespace

    def iterated(self, node: ast.For) -> tuple[Code, list[str], str, str]:
        """(what a loop goes through, and d if that is ``d.items()``; what it reads; the local d if
        the loop may change it; ``items``)
        """
        view = ""
        match node.iter:
            case ast.GeneratorExp():
                raise refused(self.function, node.iter, *made_by_turns("a generator"))
            case ast.Call(ast.Name(word)) if word in LATE and self.is_python(word):
                raise refused(self.function, node.iter, *made_by_turns(f"'{word}'"))
            case ast.Call(ast.Attribute(owner, "keys" | "items" | "values" as view), [], []):
                pass
            case owner:
                pass
        owner = self.pulled(owner)
        if bound(owner):
            owner = self.saved(owner)
        local = ""
        if isinstance(owner, ast.Name) and _is_still(owner.id, node.body):
            local = owner.id
        text = f"((WORD := OWNER).{view}(), WORD)" if view else "((WORD := OWNER), WORD)"
        both = expression(text, node.iter, WORD="@source", OWNER=owner)
        given = ast.copy_location(ast.Return(both), node.iter)
        reads = sorted(free(owner) & self.locals)
        return self.compiled([given], reads), reads, local, view

    def inside(self, node: ast.While | ast.For, top: int, leave: int) -> None:
        self.loops.append((top, []))
        self.block(node.body)
        self.emit("jump", node, to=top)
        _, breaks = self.loops.pop()
        self.here(leave)
        self.block(node.orelse)
        for at in breaks:
            self.here(at)


def _is_still(name: str, body: list[ast.stmt]) -> bool:
    """Return whether a local that statements mention is the same object after them: ``+=`` keeps
    it.
    """
    inside = ast.Module([copied(n) for n in body], [])
    for node in walk(inside):
        if isinstance(node, ast.AugAssign):
            node.target = ast.Name("", ast.Load())
    return any(name in names(n) for n in body) and name not in bound(inside)
