"""Statements of .fizz text as statements of the embedded language, alone and as pieces of flows."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.pieces import Pieces
from statewalk.dsl.blocks.step_ends import Threads
from statewalk.dsl.blocks.tree import ACTED, NOT_YET, Status, certainly_some, is_text, settled
from statewalk.dsl.errors import SpecError
from statewalk.dsl.fizz.translate.exprs import Expressions
from statewalk.dsl.fizz.translate.functions import Functions, is_truth, live_at_loops, with_created
from statewalk.dsl.source.nodes import IF, expression, statement

_NO_CHOICE = "A choice is made here, where the state may only be read."

Kind = Literal["action", "func", "init", "property", "def", "constant"]
Statements = list[ast.stmt]


class NeedsFlag(Exception):
    """A signal that a variable is needed: only a run shows whether anything enabling ran."""


@dataclass
class Body:
    """The function whose statements are translated; ``act`` where it is an action."""

    kind: Kind
    name: str = ""
    role: str | None = None
    flag: str | None = None
    returns: str | None = None
    act: tree.Act | None = None


class Blocks:
    """Translates statements; `Expressions` does what is inside them."""

    def __init__(self, expressions: Expressions, functions: Functions, threads: Threads) -> None:
        self.x = expressions
        self.functions = functions
        self.threads = threads  # follows statuses, and makes nothing
        self.body = Body("func")
        self.live: dict[int, frozenset[str]] = {}

    def fresh(self, word: str) -> str:
        """Return a name that the specification does not use."""
        while word in self.x.names.used or word == self.x.state:
            word += "_"
        return word

    # -- blocks -------------------------------------------------------------------------------
    def function(self, statements: Statements, flow: str | None) -> Statements:
        """Return a whole function's body."""
        kept: list[ast.stmt] = [s for s in statements if not is_text(s)]
        if flow == "oneof":
            block = ast.copy_location(tree.FlowBlock(), statements[0])
            block.flow, block.body = "oneof", kept
            kept = [block]
        self.live.update(live_at_loops(kept))
        return self.block(kept, NOT_YET, last=True) or [statement("pass", statements[0])]

    def block(self, statements: Statements, status: Status, last: bool) -> Statements:
        """Return statements in sequence. ``last``: the function ends with them."""
        result: Statements = []
        kept = [s for s in statements if not is_text(s)]
        for index, node in enumerate(kept):
            ends = last and index + 1 == len(kept)
            result += self._statement(node, status, ends)
            status = self._after(node, status)
            if ends and status and not isinstance(node, _ENDS_ITSELF):
                result += self._exit(status, node)
        return result

    def _after(self, node: ast.stmt, status: Status) -> Status:
        """Return the status after a statement of an action; elsewhere nothing depends on it."""
        act = self.body.act
        return status if act is None else self.threads.status_after(node, status, act)

    def suite(self, statements: Statements, status: Status, last: bool, at: ast.AST) -> Statements:
        """Return the same for a block that must not be empty."""
        return self.block(statements, status, last) or [statement("pass", at)]

    def _exit(self, status: Status, at: ast.AST) -> Statements:
        """Return what to check where an action ends: that something enabling ran."""
        if self.body.kind != "action" or not status & NOT_YET:
            return []
        if status <= NOT_YET:
            return [self._require(ast.Constant(False), at)]
        if self.body.flag is None:
            raise NeedsFlag
        return [self._require(self.x.name(self.body.flag, at), at)]

    def _require(self, condition: ast.expr, at: ast.AST) -> ast.stmt:
        return statement("F(TEST)", at, F=self.x.imported("require", at), TEST=condition)

    def _note(self, acted: bool, at: ast.AST) -> Statements:
        if self.body.kind != "action" or self.body.flag is None:
            return []
        return [statement("FLAG = ACTED", at, FLAG=self.body.flag, ACTED=acted)]

    # -- statements ---------------------------------------------------------------------------
    def _statement(self, node: ast.stmt, status: Status, last: bool) -> Statements:
        before = settled(status)
        if isinstance(node, tree.Choice):
            return [*self._choice(node), *self._note(last, node)]
        if isinstance(node, ast.If):
            return self._if(node, before, last)
        if isinstance(node, ast.For):
            return self._for(node, before)
        if isinstance(node, ast.While):
            return self._while(node, before)
        if isinstance(node, tree.FlowBlock):
            if node.flow == "oneof":
                return self._oneof(node, last)
            return self.block(node.body, before, last)
        if isinstance(node, tree.ChoiceBlock):
            return self._choice_block(node, before, last)
        if isinstance(node, tree.Labelled):
            return self.block(node.body, before, last)
        if isinstance(node, ast.Return):
            return self._return(node, before)
        if isinstance(node, tree.Require):
            return [self._require(self.x(node.test), node)]
        noted = [] if before == ACTED else self._note(True, node)
        if noted and isinstance(node, ast.Expr) and not self._after(node, before) & ACTED:
            noted = []
        return [*self._simple(node), *noted]

    def _made(self, node: ast.stmt) -> Statements:
        return with_created(self.x, node, self.fresh("made"))

    def _simple(self, node: ast.stmt) -> Statements:
        if isinstance(node, ast.Expr):
            return self._expression(node)
        if isinstance(node, ast.Assign):
            value = self.x(node.value)
            targets = [self._target(t) for t in node.targets]
            return self._made(ast.copy_location(ast.Assign(targets, value, lineno=0), node))
        if isinstance(node, ast.AugAssign):
            target = self._target(node.target)
            made = ast.AugAssign(target, node.op, self.x(node.value))  # type: ignore[arg-type]
            return [ast.copy_location(made, node)]
        if isinstance(node, ast.FunctionDef):
            return [self.nested(node)]
        if isinstance(node, ast.Pass | ast.Break | ast.Continue):
            return [node]
        raise self.x.wrong(node, "This cannot stand inside a block.")

    def _expression(self, node: ast.Expr) -> Statements:
        value = node.value
        if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "print":
            return [statement("pass", node)]
        return self._made(ast.copy_location(ast.Expr(self.x(value)), node))

    def _target(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name):
            word = node.id
            known = word in self.x.scope.locals or self.x.is_state(word)
            if word in self.x.names.constants and not known and self.body.kind != "constant":
                said = f"'{word}' is assigned here, but it is a constant, and does not change."
                why = "Fizzbee would silently ignore the assignment."
                help = f"To make it shared state, assign it in the action Init: {word} = ..."
                raise SpecError("SW102", said, at=self.x.wrong(node, "").at, why=why, help=help)
        return self.x(node)

    def nested(self, node: ast.FunctionDef) -> ast.stmt:
        """Return a function inside a function."""
        inner = {a.arg for a in node.args.args}
        saved, self.body = self.body, Body("def", node.name)
        with self.x.bound(inner):
            body = self.function(node.body, None)
        self.body = saved
        made = ast.FunctionDef(node.name, node.args, body, [], None)
        made.type_params = []  # type: ignore[attr-defined,unused-ignore]
        return ast.copy_location(made, node)

    # -- choices ------------------------------------------------------------------------------
    def _any_of(self, options: ast.expr, at: ast.AST, fair: str) -> ast.expr:
        text = "F(OPTIONS, fair='strong')" if fair != "none" else "F(OPTIONS)"
        return expression(text, at, F=self.x.imported("any_of", at), OPTIONS=options)

    def _choice(self, node: tree.Choice) -> Statements:
        if self.body.kind in ("property", "def", "constant"):
            if node.word == "any" and node.condition is None:
                parts = {"TARGET": node.target, "OPTIONS": node.options}
                return self._simple(statement("TARGET = any(OPTIONS)", node, **parts))
            raise self.x.wrong(node, _NO_CHOICE, "Choose in an action, and pass the value on.")
        options = self.x.iterable(node.options)
        if node.condition is not None:
            word = node.target.id if isinstance(node.target, ast.Name) else self.fresh("option")
            with self.x.bound({word}):
                condition = self.x(node.condition)
            options = expression(
                "[E for T in OPTIONS if TEST]", node.options, OPTIONS=options, TEST=condition,
                E=self.x.name(word, node.target), T=self.x.stored(word, node.target),
            )  # fmt: skip
        value = self._any_of(options, node.options, node.fair)
        return self._made(statement("T = V", node, T=self._target(node.target), V=value))

    def _choice_block(self, node: tree.ChoiceBlock, before: Status, last: bool) -> Statements:
        """Without options the block is skipped. At an action's end that is being disabled."""
        self._single(node.target)
        options = self.x.iterable(node.options)
        target = self._target(node.target)
        skipped_disables = self.body.kind == "action" and last and before <= NOT_YET
        body = self.suite(node.body, NOT_YET, last, node)
        if skipped_disables or certainly_some(node.options):
            choice = self._any_of(options, node.options, node.fair)
            return [statement("T = V", node, T=target, V=choice), *self._note(False, node), *body]
        skipped = self._exit(before, node) if last else []
        inside = [*self._note(False, node), *body]
        return self.chosen_unless_empty(node, self.fresh("options"), inside, skipped)

    def chosen_unless_empty(
        self, node: tree.ChoiceBlock, word: str, inside: Statements, skipped: Statements
    ) -> Statements:
        """Return a block with a choice, whose options are kept in a local."""
        listed = self.x.call(self.x.imported("list", node.options), self.x.iterable(node.options))
        keep = statement("WORD = LISTED", node, WORD=word, LISTED=listed)
        choice = self._any_of(self.x.name(word, node), node.options, node.fair)
        chosen = statement("T = V", node, T=self._target(node.target), V=choice)
        return [keep, statement(IF, node, TEST=word, BODY=[chosen, *inside], ORELSE=skipped)]

    def _oneof(self, node: tree.FlowBlock, last: bool) -> Statements:
        children = [s for s in node.body if not is_text(s)]
        if self.body.kind in ("property", "def", "constant"):
            raise self.x.wrong(node, _NO_CHOICE, "Choose in an action, and pass the value on.")
        if len(children) == 1:
            return self.block(children, NOT_YET, last)
        same = self._same_place(children)
        if same is not None:
            return [same, *self._note(True, node)]
        given = [c.value for c in children if isinstance(c, ast.Return)]
        if self.body.kind == "func" and len(given) == len(children):
            constants = [v for v in given if isinstance(v, ast.Constant)]
            if len(constants) == len(given):
                listed = ast.copy_location(ast.List([*constants], ast.Load()), node)
                return [statement("return V", node, V=self._any_of(listed, node, "none"))]
        word = self.fresh("branch")
        numbers = expression("F(N)", node, F=self.x.imported("range", node), N=len(children))
        chosen = statement("WORD = V", node, WORD=word, V=self._any_of(numbers, node, "none"))
        branches: Statements = []
        for index, child in reversed(list(enumerate(children))):
            body = self.suite([child], NOT_YET, last, child)
            if not branches and index:
                branches = body
                continue
            test = expression("WORD == INDEX", child, WORD=word, INDEX=index)
            branches = [statement(IF, child, TEST=test, BODY=body, ORELSE=branches)]
        return [chosen, *self._note(False, node), *branches]

    def _same_place(self, children: Statements) -> ast.stmt | None:
        """``oneof`` between constants for one name is a choice of a constant."""
        targets = {ast.unparse(c.targets[0]) for c in children if isinstance(c, ast.Assign)}
        plain = [
            c for c in children if isinstance(c, ast.Assign) and isinstance(c.value, ast.Constant)
        ]
        if len(plain) != len(children) or len(targets) != 1:
            return None
        first = plain[0]
        values = ast.copy_location(ast.List([c.value for c in plain], ast.Load()), first)
        value = self._any_of(values, first, "none")
        return statement("T = V", first, T=self._target(first.targets[0]), V=value)

    # -- branching, loops, returns ------------------------------------------------------------
    def _if(self, node: ast.If, before: Status, last: bool) -> Statements:
        test = self.x(node.test)
        if last and self.body.kind == "action" and not node.orelse and before <= NOT_YET:
            return [self._require(test, node), *self.block(node.body, before, True)]
        body = self.suite(node.body, before, last, node)
        orelse = self.block(node.orelse, before, last)
        if last and not node.orelse:
            orelse = self._exit(before, node)
        return [statement(IF, node, TEST=test, BODY=body, ORELSE=orelse)]

    def _for(self, node: ast.For, before: Status) -> Statements:
        self._single(node.target)
        source = self.x.iterable(node.iter)
        if not isinstance(node.iter, ast.List | ast.Tuple) and not self._is_range(node.iter):
            source = self.x.call(self.x.imported("list", node.iter), source)
        held: Statements = []
        if self.x.names.domains:  # what is still to come is in use: see `dsl.fizz.runtime.symmetry`
            word = self.fresh("coming")
            held = [statement("T = V", node, T=self.x.stored(word, node.iter), V=source)]
            source = self.x.name(word, node.iter)
        body = self.suite(node.body, before | ACTED, False, node)
        made = ast.For(self._target(node.target), source, body, [], None)
        return [*held, ast.copy_location(made, node)]

    def _is_range(self, node: ast.expr) -> bool:
        called = node.func if isinstance(node, ast.Call) else None
        return isinstance(called, ast.Name) and called.id == "range" and self.x.is_python("range")

    def _while(self, node: ast.While, before: Status) -> Statements:
        body = self.suite(node.body, before | ACTED, False, node)
        made: ast.stmt = ast.While(self.x(node.test), body, [])
        ast.copy_location(made, node)
        if self.body.kind not in ("action", "func") or not self.functions.chooses(node):
            return [made]
        word = self.fresh("loop")
        live = self.live.get(id(node), frozenset()) & self.x.scope.locals - {"self"}
        names = "".join(f", {name!r}" for name in sorted(live))
        body.insert(0, statement(f"LOOP.again(locals(){names})", node, LOOP=word))
        loop = self.x.imported("Loop", node)
        return [statement("WORD = LOOP()", node, WORD=word, LOOP=loop), made]

    def _single(self, target: ast.expr) -> None:
        if not isinstance(target, ast.Name):
            said = "Only a single name can run through the values here."
            help = "Take the parts inside: for item in pairs: a = item[0]"
            raise self.x.wrong(target, said, help=help)

    def _return(self, node: ast.Return, before: Status) -> Statements:
        checked = self._exit(before, node) if tree.gives_nothing(node) else []
        return [*checked, *self.returned(node)]

    def returned(self, node: ast.Return) -> Statements:
        """Return a return, what an action gives being kept where something asks for it."""
        result: Statements = []
        value = self.x.optional(node.value)
        if self.body.kind == "action" and value is not None and self.body.returns:
            result.append(self._record_return(value, node))
        if self.body.kind == "property" and value is not None and not is_truth(self.x, value):
            value = self.x.call(self.x.imported("bool", node), value)
        return [*result, *self._made(ast.copy_location(ast.Return(value), node))]

    def _record_return(self, value: ast.expr, at: ast.stmt) -> ast.stmt:
        name = self.body.name
        of = f"{self.x.word('str')}(self) + "
        key = repr(name) if self.body.role is None else of + repr(f".{name}")
        return self.set_returns(expression(f"{{{key}: VALUE}}", at, VALUE=value), at)

    def set_returns(self, value: ast.expr, at: ast.AST) -> ast.stmt:
        """Store what the last action returned."""
        name = self.x.names.make("returns")
        return statement(f"STATE.{name} = VALUE", at, STATE=self.x.state, VALUE=value)


_ENDS_ITSELF = (
    ast.If, ast.Return, tree.FlowBlock, tree.ChoiceBlock, tree.Labelled, ast.Break, ast.Continue,
)  # fmt: skip


class FizzPieces(Pieces):
    """Makes what `step_ends` puts together, with the translation of single statements."""

    def __init__(self, blocks: Blocks, returns: bool) -> None:
        self.b = blocks
        self.returns = returns
        self.x = blocks.x
        self._made = 0

    def fresh(self, word: str) -> str:
        self._made += 1
        found = self.b.fresh(word if self._made == 1 else f"{word}{self._made}")
        self.x.scope.locals.add(found)
        return found

    def plain(self, node: ast.stmt, flows: bool) -> Statements:
        made = self._translated(node)
        if flows:
            assert isinstance(node, ast.Assign | ast.Expr)
            for statement in made:
                if isinstance(statement, ast.Assign | ast.Expr):
                    value = ast.YieldFrom(statement.value)
                    statement.value = ast.copy_location(value, statement)
        return made

    def _translated(self, node: ast.stmt) -> Statements:
        if isinstance(node, tree.Choice):
            return self.b._choice(node)
        if isinstance(node, tree.Require):
            return [self.require(self.x(node.test), node)]
        if isinstance(node, ast.Return):
            return self.b.returned(node)
        return self.b._simple(node)

    def expression(self, node: ast.expr) -> ast.expr:
        return self.x(node)

    def require(self, condition: ast.expr, at: ast.AST) -> ast.stmt:
        return self.b._require(condition, at)

    def call(self, word: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        return self.x.call(self.x.imported(word, at), *arguments)

    def any_of(self, options: ast.expr, at: ast.AST) -> ast.expr:
        return self.b._any_of(options, at, "none")

    def ended(self, at: ast.AST) -> Statements:
        found = [statement("yield", at)]
        if self.returns:
            found.append(self.b.set_returns(expression("{}", at), at))
        return found

    def loop_head(self, node: ast.For) -> tuple[ast.expr, ast.expr]:
        self.b._single(node.target)
        return self.b._target(node.target), self.listed(node.iter)

    def listed(self, node: ast.expr) -> ast.expr:
        """Return the elements of something, as a list of their own."""
        return self.x.call(self.x.imported("list", node), self.x.iterable(node))

    def python(self, word: str, at: ast.AST, *arguments: ast.expr) -> ast.expr:
        return self.call(word, at, *arguments)

    def choice_block(
        self, node: tree.ChoiceBlock, inside: Statements, skipped: Statements
    ) -> Statements:
        self.b._single(node.target)
        return self.b.chosen_unless_empty(node, self.fresh("options"), inside, skipped)
