"""Statements of serial and parallel flows: where a step ends, a ``yield`` is put.

Fizzbee's rule, which both languages follow, is that in serial flow the end of a statement ends the
step if the step has done something by then; `dsl.blocks.tree` says whether it has. Where only
some ways through the text have done something, a note kept by the step decides
(`dsl.blocks.steps`). The same pass, run until nothing changes, finds beforehand which functions
give way, with which statuses they are entered, and how they end.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.pieces import Ends, Loop, Made, Notes, Program, Statements
from statewalk.dsl.blocks.tree import (
    ACTED,
    CHOSE,
    NONE,
    NOT_YET,
    OVER,
    RESUMED,
    Status,
    certainly_some,
    is_text,
    passed,
    settled,
)
from statewalk.dsl.source.nodes import IF, statement, walk


class Threads(Notes):
    """Translates functions that give way. ``pieces`` does the statements without steps in them."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.program = program
        self._node: tree.Act | tree.Func = tree.Act()
        self._ends = Ends()
        self._yields = False
        self._any_order = False  # whether something in the present function comes in any order
        self._unsure = False  # whether it calls a function that may have done something or not
        self._loops: list[Loop] = []

    # -- facts --------------------------------------------------------------------------------
    def analyse(self, uncalled: Sequence[tree.Func] = ()) -> None:
        """Find out about functions that actions reach, and ``uncalled`` ones that give way."""
        pending: list[tree.Act | tree.Func]
        pending = [a for a in self.program.acts if a.name != "Init"]
        known: object = None
        while known != self.facts.size():
            known = self.facts.size()
            for function in uncalled:
                if id(function) not in self.facts.entered and self._calls_flows(function):
                    self.facts.entered[id(function)] = NOT_YET
            for node in [*pending, *self._entered()]:
                self.function(node)
            for same in self.program.together.values():
                if any(id(f) in self.facts.flows for f in same):
                    self.facts.flows |= {id(f) for f in same if id(f) in self.facts.entered}

    def _calls_flows(self, function: tree.Func) -> bool:
        self._node = function
        calls = [node for node in walk(function) if isinstance(node, ast.Call)]
        return any(id(f) in self.facts.flows for call in calls for f in self._callees(call))

    def reached(self) -> set[int]:
        """Return functions (by identity) that run as part of suspended actions, or keep notes."""
        return set(self.facts.entered) if self.facts.flows or self.facts.noting else set()

    def _entered(self) -> list[tree.Act | tree.Func]:
        known = [f for same in self.program.together.values() for f in same]
        return [f for f in known if id(f) in self.facts.entered]

    # -- functions ----------------------------------------------------------------------------
    def function(self, node: tree.Act | tree.Func) -> Statements:
        """Return the statements of an action or function, with a ``yield`` where a step ends."""
        self._begin(node)
        entry = NOT_YET if isinstance(node, tree.Act) else self.facts.entered[id(node)]
        flow, kept = tree.flow_and_body(node)
        result, status = self.flow(kept, flow, entry, False, node)
        if isinstance(node, tree.Act):
            result += self._took(status, node)
            if self._any_order or (self._unsure and self._asked):
                self.facts.noting.add(id(node))
        else:
            if self._any_order:
                self.facts.noting.add(id(node))
            if "Y" in status:
                self._ends.yielded = True
            self._ends.fell |= status - OVER
            if id(node) in self.facts.announcing and status:
                result += self._note("ends", node, "fell")
        self.facts.ends[id(node)] = self._ends
        if self._yields:
            self.facts.flows.add(id(node))
        elif id(node) in self.facts.flows:
            result += self._never(node)
        return result or [statement("pass", node)]

    def _begin(self, node: tree.Act | tree.Func) -> None:
        self._node, self._ends, self._yields, self._loops = node, Ends(), False, []
        self._any_order = self._unsure = self._asked = False

    def status_after(self, node: ast.stmt, before: Status, act: tree.Act) -> Status:
        """Return the status after a statement of an action in which no step ends."""
        self._begin(act)
        self._loops.append(Loop())
        _, after = self.statement(node, "atomic", before, False)
        return (after - OVER) | ACTED if after & OVER else after

    def _never(self, at: ast.AST) -> Statements:
        """Return a function of a name that others give way under is called as they are."""
        return [statement("for _ in []:\n yield", at)]

    def flow(self, kept: Statements, flow: str, status: Status, more: bool, at: ast.AST) -> Made:
        """Return the statements of a block with a flow of its own."""
        if flow == "oneof":
            return self._oneof(kept, status, more, at)
        if flow == "parallel":
            return self._parallel(kept, status, more, at)
        return self.block(kept, flow, status, more)

    def block(self, statements: Statements, flow: str, status: Status, more: bool) -> Made:
        """Return statements in sequence. ``more``: text follows in the function."""
        kept = [s for s in statements if not is_text(s)]
        result: Statements = []
        for index, node in enumerate(kept):
            if not status:
                break
            made, status = self.statement(node, flow, status, more or index + 1 < len(kept))
            result += made
        return result, status

    # -- the ends of steps ----------------------------------------------------------------------
    def _stop(self, status: Status, at: ast.AST) -> Made:
        """End the step where something was done."""
        self._yields = True
        if self.pieces is not None:
            return self.pieces.ended(at), (status - ACTED) | RESUMED
        return [statement("pass", at)], (status - ACTED) | RESUMED

    def _stop_where(self, status: Status, on: Status, at: ast.AST) -> Made:
        """End the step on the ways with a status of ``on``."""
        stop, after = self._stop(ACTED, at)
        rest = status - on
        if rest and stop:
            word = "done" if on >= ACTED | OVER else "acted" if "T" in on else "gives_way"
            return [self._if_asked(word, stop, at)], rest | after
        return stop, rest | after

    def _if_asked(self, word: str, stop: Statements, at: ast.AST) -> ast.stmt:
        return statement("if TEST:\n STOP", at, TEST=self._ask(word, at), STOP=stop)

    def after_statement(self, status: Status, flow: str, more: bool, at: ast.AST) -> Made:
        """Return what the end of a statement does: nothing left to run, the function ends
        with it.
        """
        if flow != "serial" or "T" not in status:
            return [], status
        if more:
            return self._stop_where(status, ACTED, at)
        return self._note("over", at), (status - ACTED) | OVER

    def after_block(self, status: Status, flow: str, at: ast.AST) -> Made:
        """Return what the end of a nested block does: the run is suspended even with
        nothing left.
        """
        if flow != "serial" or "T" not in status:
            return [], status
        return self._stop_where(status, ACTED, at)

    # -- statements -----------------------------------------------------------------------------
    def statement(self, node: ast.stmt, flow: str, status: Status, more: bool) -> Made:
        """Return one statement and what its end does."""
        made, after = self._statement(node, flow, settled(status), more)
        return [*self._settled(status, node), *made], after

    def _statement(self, node: ast.stmt, flow: str, before: Status, more: bool) -> Made:
        if isinstance(node, tree.Choice):
            return [*self._translated(node), *self._note("chose", node)], CHOSE
        if isinstance(node, tree.Require):
            made = [*self._translated(node), *self._waits(before, node)]
            stop, after = self.after_statement(passed(before), flow, more, node)
            return [*made, *stop], after
        if isinstance(node, ast.If):
            return self._if(node, flow, before, more)
        if isinstance(node, ast.For):
            return self._for(node, flow, before, more)
        if isinstance(node, ast.While):
            return self._while(node, flow, before, more)
        if isinstance(node, tree.FlowBlock):
            kept = [s for s in node.body if not is_text(s)]
            inner, after = self.flow(kept, node.flow, before, more, node)
            stop, after = self.after_block(after, flow, node)
            return [*inner, *stop], after
        if isinstance(node, tree.ChoiceBlock):
            return self._choice_block(node, flow, before, more)
        if isinstance(node, tree.Labelled):
            return self.block(node.body, flow, before, more)
        if isinstance(node, ast.Return):
            return self._return(node, before)
        if isinstance(node, ast.Break | ast.Continue):
            if isinstance(node, ast.Break):
                self._loops[-1].breaks |= before
            else:
                self._loops[-1].continues |= before
            return [node], NONE
        if isinstance(node, tree.Node):
            raise NotImplementedError(f"whether a {type(node).__name__} has done something")
        return self._simple(node, flow, before, more)  # what Python has, and no step ends in

    def _simple(self, node: ast.stmt, flow: str, before: Status, more: bool) -> Made:
        callees = self._callees(self._called(node))
        if callees:
            return self._call(node, callees, flow, before, more)
        made = self._translated(node)
        if isinstance(node, ast.Pass) or flow != "serial" or not more:
            if before != ACTED:
                made = [*made, *self._note("acts", node)]
        if isinstance(node, ast.Pass):
            return made, ACTED
        stop, after = self.after_statement(ACTED, flow, more, node)
        return [*made, *stop], after

    def _called(self, node: ast.stmt) -> ast.expr | None:
        """Return what may be a call of a function that gives way."""
        return node.value if isinstance(node, ast.Assign | ast.Expr) else None

    def _callees(self, value: ast.expr | None) -> list[tree.Func]:
        """Return the functions that a call may mean."""
        found = self.program.callee(value)
        return self.program.nearer(found, value, self._node) if value is not None else []

    def _call(
        self, node: ast.stmt, callees: list[tree.Func], flow: str, before: Status, more: bool
    ) -> Made:
        """Return a call statement: the called function may end the step, or leave that to the
        end here.
        """
        known = [self.facts.ends.get(id(f), Ends()) for f in callees]
        for function in callees:
            now = self.facts.entered.get(id(function), NONE)
            self.facts.entered[id(function)] = now | before
        flows = any(id(f) in self.facts.flows for f in callees)
        self._yields |= flows
        self._any_order |= any(id(f) in self.facts.noting for f in callees)
        made = self._translated(node, flows=flows)
        returned = NONE.union(*(e.returned for e in known))
        fell = NONE.union(*(e.fell for e in known))
        if isinstance(node, ast.Assign | ast.AugAssign):
            made = [*made, *self._note("acts", node)]
            returned, fell = (ACTED if returned else NONE), (ACTED if fell else NONE)
        status = returned | fell | (OVER if any(e.yielded for e in known) else NONE)
        self._unsure |= "F" in status and bool(status & (ACTED | OVER))
        if more:
            on = status & (OVER | (ACTED if flow == "serial" else NONE))
            stop, status = self._stop_where(status, on, node) if on else ([], status)
            return [*made, *stop], status
        if flow == "serial" and "T" in fell and "T" in returned:
            self.facts.announcing |= {id(f) for f in callees}
            stop, after = self._stop(ACTED, node)
            made.append(self._if_asked("fell", stop, node))
            status |= after
        elif flow == "serial" and "T" in fell:
            stop, status = self._stop_where(status, ACTED, node)
            return [*made, *stop], status
        stop, status = self.after_statement(status, flow, False, node)
        return [*made, *stop], status

    def _translated(self, node: ast.stmt, flows: bool = False) -> Statements:
        """Return a statement without steps in it, in the embedded language."""
        if self.pieces is None:
            return [statement("pass", node)]
        return self.pieces.plain(node, flows)

    # -- branches and loops -----------------------------------------------------------------------
    def _if(self, node: ast.If, flow: str, before: Status, more: bool) -> Made:
        body, first = self._branch(node.body, flow, before, more, node)
        if node.orelse and not (len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)):
            orelse, second = self._branch(node.orelse, flow, before, more, node)
        elif node.orelse:
            orelse, second = self.block(node.orelse, flow, before, more)
        else:
            orelse, second = self.after_statement(before, flow, more, node)
        test, body = self._expression(node.test), body or [statement("pass", node)]
        return [statement(IF, node, TEST=test, BODY=body, ORELSE=orelse)], first | second

    def _branch(self, body: Statements, flow: str, before: Status, more: bool, at: ast.AST) -> Made:
        made, status = self.block(body, flow, before, more)
        stop, status = self.after_block(status, flow, at)
        return [*made, *stop], status

    def _turns(
        self, node: ast.For | ast.While, flow: str, before: Status
    ) -> tuple[Statements, Status, Status]:
        """(body, statuses where a turn may begin, statuses at breaks), repeated until stable."""
        head = before
        while True:
            self._loops.append(Loop())
            body, after = self.block(node.body, flow, head, True)
            stop, after = self.after_block(after, flow, node)
            loop = self._loops.pop()
            extra, again = self.after_statement(loop.continues, flow, True, node)
            if extra:
                body = _before_continues(body, extra)
            now = head | settled(after | again)
            if now == head:
                return [*body, *stop, *self._settled(after, node)], head, loop.breaks
            head = now

    def _for(self, node: ast.For, flow: str, before: Status, more: bool) -> Made:
        inner = getattr(node, "flow", None) or flow
        if inner in ("parallel", "oneof"):
            return self._parallel_for(node, flow, before, more)
        body, head, breaks = self._turns(node, inner, before)
        stop, after = self.after_statement(head | settled(breaks), flow, more, node)
        target, source = node.target, node.iter
        if self.pieces is not None:
            target, source = self.pieces.loop_head(node)
        made = ast.For(target, source, body or [statement("pass", node)], [], None)
        return [ast.copy_location(made, node), *stop], after

    def _while(self, node: ast.While, flow: str, before: Status, more: bool) -> Made:
        inner = getattr(node, "flow", None) or flow
        endless = isinstance(node.test, ast.Constant) and node.test.value is True
        body, head, breaks = self._turns(node, inner, before)
        left = settled(breaks) if endless else head | settled(breaks)
        stop, after = self.after_statement(left, flow, more, node)
        made = ast.While(self._expression(node.test), body or [statement("pass", node)], [])
        return [ast.copy_location(made, node), *stop], after

    # -- choices, and statements in any order ----------------------------------------------------
    def _choice_block(self, node: tree.ChoiceBlock, flow: str, before: Status, more: bool) -> Made:
        inside, chosen = self._branch(node.body, flow, NOT_YET, more, node)
        inside = [*self._forget(before, node), *inside]
        if certainly_some(node.options):
            skipped: Made = [], NONE
        else:
            stop, after = self.after_statement(passed(before), flow, more, node)
            skipped = [*self._waits(before, node), *stop], after
        if self.pieces is None:
            return [ast.copy_location(ast.Pass(), node)], chosen | skipped[1]
        made = self.pieces.choice_block(node, inside, skipped[0])
        return made, chosen | skipped[1]

    def _oneof(self, children: Statements, status: Status, more: bool, at: ast.AST) -> Made:
        made: list[Statements] = []
        after: Status = NONE
        for child in children:
            inside, left = self.statement(child, "atomic", NOT_YET, more)
            made.append(inside)
            after |= left
        forget = self._forget(status, at)
        if self.pieces is None or len(children) == 1:
            return [*forget, *made[0]] if made else [], after
        return [*forget, *self.pieces.alternatives(made, at)], after

    def _parallel(self, children: Statements, status: Status, more: bool, at: ast.AST) -> Made:
        """Return statements in any order: which comes next is chosen when the run goes on."""
        begin = self._forget(status, at)
        self._any_order = True
        if len(children) == 1:
            inside, left = self.statement(children[0], _flow_in(children[0]), NOT_YET, more)
            return [*begin, *inside], left
        made: list[Statements] = []
        head = NOT_YET
        while True:
            made, after = [], NONE
            for child in children:
                inside, left = self.statement(child, _flow_in(child), head, True)
                made.append(inside)
                after |= left
            stop, again = self.after_statement(after, "serial", True, at)
            if head | settled(again) == head:
                break
            head |= settled(again)
        if self.pieces is None:
            return [ast.copy_location(ast.Pass(), at)], after
        between = [*stop, *self._settled(after, at)]
        return [*begin, *self.pieces.in_any_order(made, between, at)], after

    def _parallel_for(self, node: ast.For, flow: str, before: Status, more: bool) -> Made:
        """Translate a loop whose turns, and statements in a turn, run in any order."""
        inner = ast.copy_location(tree.FlowBlock(), node)
        inner.flow, inner.body = "parallel", list(node.body)
        turn = ast.copy_location(ast.For(node.target, node.iter, [inner], [], None), node)
        body, head, breaks = self._turns(turn, "serial", before)
        stop, after = self.after_statement(head | settled(breaks), flow, more, node)
        if self.pieces is None:
            return [ast.copy_location(ast.Pass(), node)], after
        return [*self.pieces.turns_in_any_order(node, body), *stop], after

    def _return(self, node: ast.Return, before: Status) -> Made:
        result: Statements = []
        if isinstance(self._node, tree.Act):
            if tree.gives_nothing(node):
                result = self._took(before, node)
        else:
            self._ends.returned |= before
            if id(self._node) in self.facts.announcing:
                result = self._note("ends", node, "return")
        return [*result, *self._translated(node)], NONE


def _before_continues(body: Statements, extra: Statements) -> Statements:
    """Return a body in which each ``continue`` of its loop comes after some statements."""
    result: Statements = []
    for node in body:
        if isinstance(node, ast.Continue):
            result += extra
        elif isinstance(node, ast.If):
            node.body = _before_continues(node.body, extra)
            node.orelse = _before_continues(node.orelse, extra)
        result.append(node)
    return result


def _flow_in(child: ast.stmt) -> str:
    """Return the flow of a statement in a parallel block: turns come in any order, the rest
    is atomic.
    """
    while isinstance(child, tree.Labelled):
        child = child.body[0]
    return "parallel" if isinstance(child, ast.For) else "atomic"
