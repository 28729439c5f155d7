"""The instructions of a flow: see `dsl.flows.code` for what each does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Code:
    """A function of some locals; ``lacking`` gives the one for where some of them have no value."""

    run: Callable[..., Any]
    lacking: Callable[[tuple[str, ...]], Callable[..., Any]]


@dataclass
class Instruction:
    """One instruction. ``reads`` and ``writes`` are locals; ``to`` is where a jump goes.

    A ``callee`` with a dot before it belongs to the call's first argument; ``names`` are those of
    its last ones, if given by name. ``asks``: the test is whether the step has done something
    (`dsl.blocks.steps`). ``unbinds``: locals that have no value any more unless the code gives one.
    ``source``: the local that a loop goes through, where the loop may change it; ``stops``: whether
    there is a yield in it.
    """

    kind: str
    line: int
    code: Code | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    to: int = -1
    target: str = ""
    callee: str = ""
    names: tuple[str, ...] = ()
    live: frozenset[str] = frozenset()
    asks: bool = False
    unbinds: tuple[str, ...] = ()
    source: str = ""
    stops: bool = False


@dataclass
class FlowCode:
    """The instructions of one function; ``bind`` gives the locals that it begins with."""

    name: str
    parameters: tuple[str, ...]
    bind: Callable[..., dict[str, Any]]
    instructions: list[Instruction] = field(default_factory=list)

    def landing(self, at: int) -> int:
        """Where going on at an instruction leads: jumps are taken beforehand, so that runs with
        equal futures are equal.
        """
        while self.instructions[at].kind == "jump":
            at = self.instructions[at].to
        return at

    def resuming(self, at: int) -> int:
        """The same after a stop: what goes on has not done anything yet."""
        while self.instructions[at].kind == "jump" or self.instructions[at].asks:
            at = self.instructions[at].to
        return at
