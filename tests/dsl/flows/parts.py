"""The state of a naive interpreter of .fizz text: actors, and their remaining work."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.tree import is_text


class NotPossible(BaseException):
    """A guard is false, or a choice has no option."""


class Actor:
    """An instance of a role. Its attributes are its fields."""

    def __init__(self, role: str, index: int) -> None:
        self.__dict__["_id"] = (role, index)

    @property
    def role(self) -> str:
        """The name of its role."""
        return str(self.identity[0])

    @property
    def identity(self) -> tuple[str, int]:
        """Return what tells it apart."""
        found: tuple[str, int] = self.__dict__["_id"]
        return found

    def fields(self) -> dict[str, Any]:
        """Its fields by name."""
        return {n: v for n, v in self.__dict__.items() if n != "_id"}


@dataclass
class Entry:
    """Something that is not finished: a block or a loop, and the place in it.

    ``kind``: ``seq`` goes through ``body`` in order, ``any`` in any order, ``one`` does a single
    statement of it; ``for``, ``while`` and ``any for`` are loops at their head. ``at`` is the place
    in a block; ``rest`` what a loop or ``any`` has still to do.
    """

    kind: str
    body: tuple[ast.stmt, ...]
    flow: str
    at: int = 0
    rest: tuple[Any, ...] = ()
    node: ast.stmt | None = None
    over: bool = False

    def ended(self) -> bool:
        """Return whether the end of the block is reached. The head of a loop is none."""
        return self.over or (self.kind == "seq" and self.at == len(self.body))


@dataclass
class Call:
    """A call in progress: of an action or a function. Its result goes to ``target``."""

    node: tree.Act | tree.Func | tree.Assertion
    actor: Actor | None
    locals: dict[str, Any]
    target: ast.expr | None = None
    stack: list[Entry] = field(default_factory=list)


class World:
    """The variables and actors of a specification at some moment."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.actors: list[Actor] = []


def kept(statements: Sequence[ast.stmt]) -> tuple[ast.stmt, ...]:
    """Statements without texts."""
    return tuple(s for s in statements if not is_text(s))


def stored_names(statements: Sequence[ast.stmt]) -> list[str]:
    """The names that statements assign to, not those inside them."""
    found = [t for s in statements if isinstance(s, ast.Assign) for t in s.targets]
    found += [s.target for s in statements if isinstance(s, tree.Choice)]
    return [t.id for t in found if isinstance(t, ast.Name)]


def block(statements: Sequence[ast.stmt], flow: str) -> tuple[tuple[ast.stmt, ...], str]:
    """A block that is only another block is that block."""
    body = kept(statements)
    while len(body) == 1:
        (only,) = body
        if not isinstance(only, tree.FlowBlock):
            break
        body, flow = kept(only.body), only.flow
    return body, flow
