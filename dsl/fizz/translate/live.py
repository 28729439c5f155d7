"""Which locals a loop may still look at when it begins another turn: a backward analysis."""

from __future__ import annotations

import ast

from statewalk.dsl.fizz.names import targets_of
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.source.scopes import read

Live = frozenset[str]


def live_at_loops(statements: list[ast.stmt]) -> dict[int, Live]:
    """For each ``while`` loop (by identity) of a function: the names live where a turn begins."""
    analysis = _Analysis()
    analysis.block(statements, frozenset(), frozenset(), frozenset())
    return analysis.loops


class _Analysis:
    def __init__(self) -> None:
        self.loops: dict[int, Live] = {}

    def block(self, statements: list[ast.stmt], after: Live, broken: Live, continued: Live) -> Live:
        """Names live before statements; ``broken``, ``continued``: after break, continue."""
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
