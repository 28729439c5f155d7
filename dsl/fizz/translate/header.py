"""The top of a module made of .fizz text: imports, the shared state, what the options become."""

from __future__ import annotations

import ast

from statewalk.dsl.fizz.names import Names, RoleInfo, returns_values
from statewalk.dsl.fizz.text.options import Options
from statewalk.dsl.fizz.translate.caps import Caps
from statewalk.dsl.fizz.translate.exprs import Expressions
from statewalk.dsl.source.nodes import placed

_DSL_NAMES = (
    "Any", "Bag", "Constant", "Flow", "Role", "State", "action", "always", "any_of", "deadlock",
    "eventually", "exists", "init", "named", "old", "next_states", "on_step", "require",
    "symmetric_values", "record", "struct", "enum", "genericset", "genericmap", "max_actions",
    "Loop", "deepcopy", "fail", "type_name", "math", "itertools", "acts", "waits", "chooses",
    "acted", "took", "ends", "gives_way", "over", "chose", "settles", "done", "fell", "threads",
    "crashes", "interrupt", "nominal", "before_step", "at_most", "in_flight",
)  # fmt: skip


MOST_COUNTED = 20


class Header:
    """Everything of a translated module but its functions, roles and properties."""

    def __init__(self, names: Names, file: str, options: Options, counting: bool) -> None:
        self.names = names
        self.file = file
        self.options = options
        taken = names.used
        self.aliases = {}
        for word in _DSL_NAMES:
            alias = word
            while alias in names.bound:
                alias += "_"
            self.aliases[word] = alias
        state = next(w for w in ("state", "shared", "world", "globals_") if w not in taken)
        self.state_class = next(w for w in ("Shared", "World", "Globals_") if w not in taken)
        self.x = Expressions(names, file, self.aliases, state)
        self.counting = counting
        self.returns = names.reads_returns or (counting and returns_values(names))
        self.caps = Caps(names, file, options, self.x)
        self.threaded = False
        self.temporaries: set[str] = set()
        self.has_state = bool(names.state or self.caps.shared) or self.returns
        self.x.has_state = self.has_state

    def _settings(self) -> list[ast.stmt]:
        """What the options become."""
        counted = self.threaded and self.options.max_actions <= MOST_COUNTED
        counted = counted and not self.counting
        counts = ", counted=True" if counted else ""
        lines = [f"{self.aliases['max_actions']}({self.options.max_actions}{counts})"]
        self.x.needs.runtime.add("max_actions")
        if self.threaded:
            lines.append(f"{self.aliases['threads']}({self.at_most()})")
            self.x.needs.dsl.add("threads")
            if self.options.crash_on_yield and not self.counting:
                lines.append(f"{self.aliases['crashes']}(True)")
                self.x.needs.dsl.add("crashes")
        if self.threaded and self.counting:
            listed = ", ".join(map(repr, sorted(self.temporaries)))
            lines.append(f"keep_locals({listed})")
            self.x.needs.runtime.add("keep_locals")
        if not self.options.deadlock_detection:
            lines.append(f"{self.aliases['deadlock']}(False)")
            self.x.needs.dsl.add("deadlock")
        return ast.parse("\n".join(lines)).body

    def _imports(self) -> list[ast.stmt]:
        lines = []
        needed = self.x.needs
        if "Any" in needed.dsl:
            needed.dsl.discard("Any")
            lines.append("from typing import " + self._import_name("Any"))
        for runtime in sorted(needed.runtime & {"math", "itertools"}):
            alias = self.aliases[runtime]
            lines.append(f"import {runtime}" + (f" as {alias}" if alias != runtime else ""))
        for source, words in (
            ("statewalk", needed.dsl),
            ("statewalk.dsl.fizz.runtime.values", needed.runtime - {"math", "itertools"}),
            ("statewalk.dsl.blocks.steps", needed.steps),
            ("statewalk.dsl.fizz.runtime.symmetry", needed.domains),
            ("statewalk.dsl.fizz.runtime.next", needed.ahead),
        ):
            if words:
                lines.append(
                    f"from {source} import " + ", ".join(map(self._import_name, sorted(words)))
                )
        return ast.parse("\n".join(lines)).body

    def _import_name(self, word: str) -> str:
        alias = self.aliases.get(word, word)
        return word if alias == word else f"{word} as {alias}"

    def _state(self) -> list[ast.stmt]:
        self.x.needs.dsl.add("State")
        lines = [f"class {self.state_class}({self.aliases['State']}):"]
        lines += [f"    {name}: {self._annotation('', name)}" for name in self.names.state]
        lines += [f"    {name}: int = 0" for name in self.caps.shared]
        if self.returns:
            lines.append(f"    returns: dict[str, {self._any()}] = {{}}")
        lines.append(f"{self.x.state} = {self.state_class}()")
        return ast.parse("\n".join(lines)).body

    def crashing(self, info: RoleInfo) -> bool:
        """Whether the instances of a role may crash."""
        return info.crashes and self.options.crash_on_yield

    def _kept(self, info: RoleInfo, at: ast.AST) -> list[ast.stmt]:
        """At the end of a role's Init: what its ephemeral fields go back to in a crash."""
        if not self.crashing(info):
            return []
        return placed([f"self.{n}_at_start = self.{n}" for n in info.ephemeral], at)

    def _crash(self, info: RoleInfo) -> list[ast.stmt]:
        """The crash of a role: its runs end, its ephemeral fields start again."""
        if not self.crashing(info):
            return []
        self.x.needs.dsl |= {"interrupt", "action"}
        name = "crash" if "crash" not in info.members else "crash_of_role"
        lines = [
            f"@{self.aliases['action']}(fault=True)",
            f"def {name}(self) -> None:",
            f"    {self.aliases['interrupt']}(self)",
            *(f"    self.{n} = self.{n}_at_start" for n in info.ephemeral),
        ]
        return placed(["\n".join(lines)], info.node)

    def at_most(self) -> int:
        """How many runs may be in flight."""
        return min(self.options.max_concurrent_actions, self.options.max_actions)

    def _any(self) -> str:
        self.x.needs.dsl.add("Any")
        return self.aliases["Any"]

    def _annotation(self, owner: str, name: str) -> str:
        text = self.names.annotation(owner, name)
        if "Bag" in text:
            self.x.needs.dsl.add("Bag")
        return text.replace("Any", self._any()).replace("Bag", self.aliases["Bag"])
