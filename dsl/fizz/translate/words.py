"""The words of a translation: names it brings along, imports, errors, and what is in scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from statewalk.dsl.errors import Span, SpecError
from statewalk.dsl.fizz.names import Names


@dataclass
class Scope:
    """Where an expression stands: its locals, and whether ``self`` and the state are in sight."""

    role: str | None = None
    locals: set[str] = field(default_factory=set)
    state: bool = True
    before: str | None = None
    after: str | None = None


# What translated text imports, and from where. Of Python's own only what has another name here.
PYTHON = "builtins"
SOURCES = {
    PYTHON: ("bool", "dict", "int", "len", "list", "range", "set", "str", "tuple"),
    "statewalk": (
        "Bag", "Constant", "Flow", "Role", "State", "action", "always", "any_of", "atomic",
        "crashes", "deadlock", "eventually", "exists", "init", "interrupt", "old", "on_step",
        "oneof", "parallel", "require", "serial", "symmetric_values", "threads",
    ),
    "statewalk.dsl.fizz.runtime.values": (
        "Loop", "at_most", "deepcopy", "enum", "fail", "genericmap", "genericset", "in_flight",
        "keep_locals", "max_actions", "no_liveness", "record", "struct", "type_name",
    ),
    "statewalk.dsl.blocks.steps": (
        "acted", "acts", "chooses", "chose", "done", "ends", "fell", "gives_way", "next_turns",
        "over", "remaining", "settles", "took", "turn_of", "waits", "without_turn",
    ),
    "statewalk.dsl.fizz.runtime.symmetry": ("nominal",),
    "statewalk.dsl.fizz.runtime.next": ("before_step", "next_states"),
}  # fmt: skip
MODULES = ("itertools", "math")


class Words:
    """Makes what the expressions of one translated specification consist of."""

    def __init__(self, names: Names, file: str, dsl: dict[str, str], state: str) -> None:
        self.names = names
        self.file = file
        self.dsl = dsl
        self.state = state
        self.needs: set[str] = set()
        self.scope = Scope()
        self.has_state = False
        self.created: list[tuple[str, ast.Call]] = []
        self.may_create = False
        self.twins: set[str] = set()
        self.at_once = False
        self._inside = 0

    # -- building -----------------------------------------------------------------------------
    def name(self, word: str, at: ast.AST) -> ast.expr:
        """A name that the translation brings along."""
        return ast.copy_location(ast.Name(word, ast.Load()), at)

    def stored(self, word: str, at: ast.AST) -> ast.expr:
        """The same as a target."""
        return ast.copy_location(ast.Name(word, ast.Store()), at)

    def word(self, word: str) -> str:
        """What one of the `SOURCES` gives, by the name that it has in this module."""
        self.needs.add(word)
        return self.dsl[word]

    def imported(self, word: str, at: ast.AST) -> ast.expr:
        """The same as an expression."""
        return self.name(self.word(word), at)

    def type(self, text: str) -> str:
        """A type, by the names that it has in this module."""
        found = ast.parse(text, mode="eval").body
        for part in ast.walk(found):
            if isinstance(part, ast.Name) and part.id in self.dsl:
                part.id = self.word(part.id)
        return ast.unparse(found)

    def is_python(self, word: str) -> bool:
        """Whether a name that the file says is none of its own, and means one of Python's."""
        names = self.names
        own = (self.scope.locals, names.constants, names.members, names.roles, names.state)
        return not any(word in known for known in own)

    def call(self, function: ast.expr, *arguments: ast.expr) -> ast.Call:
        """A call, placed where the function's name is."""
        return ast.copy_location(ast.Call(function, list(arguments), []), function)

    def refuse(self, node: ast.AST, what: str, help: str = "") -> SpecError:
        """The error of a construct that is known and not supported."""
        return SpecError(
            "SW152", f"{what}, which is not supported.", at=Span.of(node, self.file), help=help
        )

    def wrong(self, node: ast.AST, message: str, help: str = "") -> SpecError:
        """The error of a construct that the language does not allow."""
        return SpecError("SW153", message, at=Span.of(node, self.file), help=help)

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """Translate in another scope for a while."""
        saved, self.scope = self.scope, scope
        try:
            yield
        finally:
            self.scope = saved

    @contextmanager
    def bound(self, names: set[str]) -> Iterator[None]:
        """Translate where a comprehension or lambda binds names."""
        added = names - self.scope.locals
        self.scope.locals |= added
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            self.scope.locals -= added
