"""The ends of steps: a statement counts only if it did something."""

import ast
from collections.abc import Mapping, Sequence

import pytest

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.pieces import Program
from statewalk.dsl.blocks.step_ends import Threads
from statewalk.dsl.blocks.tree import NOT_YET


class Nothing(Program):
    """A specification without functions to call."""

    together: Mapping[str, Sequence[tree.Func]] = {}

    def callee(self, value: ast.expr | None) -> list[tree.Func]:
        return []


class Wait(tree.Node):
    """A statement that no language has yet."""


def test_a_statement_that_nobody_decided_on_is_an_error() -> None:
    threads = Threads(Nothing())

    with pytest.raises(NotImplementedError, match="Wait"):
        threads.status_after(Wait(), NOT_YET, tree.Act())


def test_a_statement_of_python_has_done_something() -> None:
    threads = Threads(Nothing())

    assert frozenset("T") == threads.status_after(ast.parse("x = 1").body[0], NOT_YET, tree.Act())
