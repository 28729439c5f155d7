"""Statements of which one is chosen, or that come in any order."""

from __future__ import annotations

import ast
from abc import abstractmethod

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.notes import Made, Notes, Statements
from statewalk.dsl.blocks.status import NONE, NOT_YET, Status, certainly_some, passed, settled


class Orders(Notes):
    """Blocks and loops that choose; what a single statement becomes is said elsewhere."""

    _any_order = False  # whether something in the present function comes in any order

    @abstractmethod
    def statement(self, node: ast.stmt, flow: str, status: Status, more: bool) -> Made:
        """One statement and what its end does."""

    @abstractmethod
    def after_statement(self, status: Status, flow: str, more: bool, at: ast.AST) -> Made:
        """What the end of a statement does."""

    @abstractmethod
    def _branch(self, body: Statements, flow: str, before: Status, more: bool, at: ast.AST) -> Made:
        """A nested block and what its end does."""

    @abstractmethod
    def _turns(
        self, node: ast.For | ast.While, flow: str, before: Status
    ) -> tuple[Statements, Status, Status]:
        """(body, statuses where a turn may begin, statuses at breaks)"""

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
        """Statements in any order: which comes next is chosen when the run goes on."""
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
        """The turns of a loop in any order; a body of several statements as well."""
        inner = ast.copy_location(tree.FlowBlock(), node)
        inner.flow, inner.body = "parallel", list(node.body)
        turn = ast.copy_location(ast.For(node.target, node.iter, [inner], [], None), node)
        body, head, breaks = self._turns(turn, "serial", before)
        stop, after = self.after_statement(head | settled(breaks), flow, more, node)
        if self.pieces is None:
            return [ast.copy_location(ast.Pass(), node)], after
        return [*self.pieces.turns_in_any_order(node, body), *stop], after


def _flow_in(child: ast.stmt) -> str:
    """The flow of a statement in a parallel block: turns come in any order, the rest is atomic."""
    while isinstance(child, tree.Labelled):
        child = child.body[0]
    return "parallel" if isinstance(child, ast.For) else "atomic"
