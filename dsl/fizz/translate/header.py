"""The top of a module made of .fizz text: imports, the shared state, what the options become."""

from __future__ import annotations

import ast
import itertools

from statewalk.dsl.fizz.names import Names, RoleInfo, returns_values
from statewalk.dsl.fizz.text.options import Options
from statewalk.dsl.fizz.translate.caps import Caps
from statewalk.dsl.fizz.translate.exprs import Expressions
from statewalk.dsl.fizz.translate.words import MODULES, PYTHON, SOURCES
from statewalk.dsl.source.nodes import placed

MOST_COUNTED = 20


class Header:
    """Everything of a translated module but its functions, roles and properties."""

    def __init__(self, names: Names, file: str, options: Options, counting: bool) -> None:
        self.names = names
        self.file = file
        self.options = options
        taken = names.used
        self.aliases = {}
        for word in ("Any", *MODULES, *itertools.chain(*SOURCES.values())):
            alias = word
            while alias in names.bound:
                alias += "_"
            self.aliases[word] = alias
        state = next(w for w in ("state", "shared", "world", names.make("state")) if w not in taken)
        named = ("Shared", "World", names.make("Shared"))
        self.state_class = next(w for w in named if w not in taken)
        self.x = Expressions(names, file, self.aliases, state)
        self.counting = counting
        self.returns = names.reads_returns or (counting and returns_values(names))
        self.caps = Caps(names, options, self.x)
        self.threaded = False
        self.temporaries: set[str] = set()
        self.has_state = bool(names.state or self.caps.shared) or self.returns
        self.x.has_state = self.has_state

    def _settings(self) -> list[ast.stmt]:
        """What the options become."""
        counted = self.threaded and self.options.max_actions <= MOST_COUNTED
        counted = counted and not self.counting
        counts = ", counted=True" if counted else ""
        word = self.x.word
        lines = [f"{word('max_actions')}({self.options.max_actions}{counts})"]
        if self.threaded:
            lines.append(f"{word('threads')}({self.at_most()})")
            if self.options.crash_on_yield and not self.counting:
                lines.append(f"{word('crashes')}(True)")
        if self.threaded and self.counting:
            listed = ", ".join(map(repr, sorted(self.temporaries)))
            lines.append(f"{word('keep_locals')}({listed})")
        if not self.options.checks_liveness:
            lines.append(f"{word('no_liveness')}({self.options.liveness!r})")
        if not self.options.deadlock_detection:
            lines.append(f"{word('deadlock')}(False)")
        return ast.parse("\n".join(lines)).body

    def _imports(self) -> list[ast.stmt]:
        needed = self.x.needs
        lines = ["from typing import " + self._import_name("Any")] if "Any" in needed else []
        lines += [f"import {self._import_name(m)}" for m in MODULES if m in needed]
        for source, words in SOURCES.items():
            if not needed.isdisjoint(words):
                listed = [self._import_name(w) for w in sorted(needed.intersection(words))]
                if source == PYTHON:
                    listed = [name for name in listed if " as " in name]
                lines += [f"from {source} import " + ", ".join(listed)] if listed else []
        return ast.parse("\n".join(lines)).body

    def _import_name(self, word: str) -> str:
        alias = self.aliases[word]
        return word if alias == word else f"{word} as {alias}"

    def _state(self) -> list[ast.stmt]:
        lines = [f"class {self.state_class}({self.x.word('State')}):"]
        lines += [f"    {name}: {self._annotation('', name)}" for name in self.names.state]
        lines += [f"    {name}: {self.x.type('int')} = 0" for name in self.caps.shared]
        if self.returns:
            held = self.x.type("dict[str, Any]")
            lines.append(f"    {self.names.make('returns')}: {held} = {{}}")
        lines.append(f"{self.x.state} = {self.state_class}()")
        return ast.parse("\n".join(lines)).body

    def crashing(self, info: RoleInfo) -> bool:
        """Whether the instances of a role may crash."""
        return info.crashes and self.options.crash_on_yield

    def _kept(self, info: RoleInfo, at: ast.AST) -> list[ast.stmt]:
        """At the end of a role's Init: what its ephemeral fields go back to in a crash."""
        if not self.crashing(info):
            return []
        return placed([f"self.{self.start(n)} = self.{n}" for n in info.ephemeral], at)

    def start(self, name: str) -> str:
        """The field that keeps what an ephemeral one goes back to."""
        return self.names.make(name, "at_start")

    def _crash(self, info: RoleInfo) -> list[ast.stmt]:
        """The crash of a role: its runs end, its ephemeral fields start again."""
        if not self.crashing(info):
            return []
        lines = [
            f"@{self.x.word('action')}(fault=True)",
            f"def {self.names.make('crash')}(self) -> None:",
            f"    {self.x.word('interrupt')}(self)",
            *(f"    self.{n} = self.{self.start(n)}" for n in info.ephemeral),
        ]
        return placed(["\n".join(lines)], info.node)

    def at_most(self) -> int:
        """How many runs may be in flight."""
        return min(self.options.max_concurrent_actions, self.options.max_actions)

    def _annotation(self, owner: str, name: str) -> str:
        return self.x.type(self.names.annotation(owner, name))
