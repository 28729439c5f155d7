"""The top of a module made of .fizz text: imports, the shared state, what the options become."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from statewalk.dsl.blocks import tree
from statewalk.dsl.errors import SpecError, did_you_mean
from statewalk.dsl.fizz.names import Names, RoleInfo
from statewalk.dsl.fizz.text.options import Bounds, Options
from statewalk.dsl.fizz.translate.exprs import MODULES, PYTHON, SOURCES, Expressions
from statewalk.dsl.source.nodes import placed

_KEY = re.compile(r"(?:(?P<role>\w+?)(?P<each>#(?P<index>\d*))?\.)?(?P<action>\w+)")


@dataclass(frozen=True)
class Cap:
    """Bounds of an action of a role: for all instances, each, or one. 0 is no bound."""

    role: str | None
    action: str
    each: bool = False
    index: int | None = None
    starts: int = 0
    runs: int = 0

    @staticmethod
    def of(key: str, bounds: Bounds) -> Cap | None:
        """Return the bounds that a key of the options gives; None for what is no key."""
        found = _KEY.fullmatch(key)
        if found is None:
            return None
        index = int(found["index"]) if found["index"] else None
        return Cap(
            found["role"], found["action"], found["each"] is not None, index,
            bounds.max_actions, bounds.max_concurrent_actions,
        )  # fmt: skip

    @property
    def name(self) -> str:
        """The action as a specification has it: ``Role.Action``."""
        return f"{self.role}.{self.action}" if self.role else self.action

    def counter(self, names: Names) -> str:
        """Return the field that counts starts: of each instance, or of the shared state."""
        if self.index is not None:
            return names.make("starts", str(self.index), self.action)
        of = [] if self.each or self.role is None else [self.role]
        return names.make("starts", *of, self.action)


def of_actions(names: Names, options: Options) -> tuple[dict[str, Cap], list[SpecError]]:
    """Return bounds by key, and warnings (SW613) of unknown actions. Raises SpecError[SW151]."""
    known = [n for n, m in names.members.items() if isinstance(m, tree.Act)]
    for role, info in names.roles.items():
        known += [f"{role}.{n}" for n, m in info.members.items() if isinstance(m, tree.Act)]
    found: dict[str, Cap] = {}
    warnings: list[SpecError] = []
    for key, bounds in options.action_options.items():
        of, at = Cap.of(key, bounds), options.places[key]
        if of is None:
            said = f"'{key}' cannot be an action to give options to."
            help = "It is written Action, Role.Action, Role#.Action or Role#2.Action."
            raise SpecError("SW151", said, at=at, help=help)
        if of.name in known:
            found[key] = of
            continue
        said = f"There is no action '{key}' to give options to, so they change nothing."
        warnings.append(SpecError("SW613", said, at=at, help=did_you_mean(of.name, known)))
    return found, warnings


class Caps:
    """The bounds of one specification.

    Raises:  SpecError[SW151] for what is no key, or given twice; [SW153] for one of several
             instances that are interchangeable.
    """

    def __init__(self, names: Names, options: Options, x: Expressions) -> None:
        self.x = x
        found, self.warnings = of_actions(names, options)
        self.caps: list[Cap] = []
        for key, cap in found.items():
            at = options.places[key]
            same = [c for c in self.caps if c.counter(names) == cap.counter(names)]
            if any((c.role, c.each) == (cap.role, cap.each) for c in same):
                said = f"The options of {key} are given already, by another key for the same."
                raise SpecError("SW151", said, at=at, help="Write them together.")
            if cap.index is not None and cap.role and names.roles[cap.role].node.symmetric:
                said = f"{key} is about one {cap.role}, but these are symmetric."
                help = f"For each of them: {cap.role}#.{cap.action}"
                raise SpecError("SW153", said, at=at, help=help)
            self.caps.append(cap)
        for cap in self.caps:  # before any other name is made: `counts.counters_of` does so too
            cap.counter(names)

    def runs_of_each(self, role: str | None, action: str, most: int) -> int:
        """Return how many runs of an action an instance may have in flight, at most ``most``."""
        own = [c for c in self.caps if (c.role, c.action) == (role, action) and c.runs > 0]
        each = [c.runs for c in own if role is None or (c.each and c.index is None)]
        return min([most, *each])

    def counters(self, role: str | None = None) -> list[str]:
        """Return the counters among the fields of a role, or among the state variables."""
        own = [c for c in self.caps if c.starts > 0 and (c.role if c.each else None) == role]
        return [c.counter(self.x.names) for c in own]

    def guard(
        self, role: str | None, action: str, at: ast.AST, *, suspended: bool
    ) -> list[ast.stmt]:
        """Return what begins an action: bounds checked, the start counted."""
        lines: list[str] = []
        for cap in self.caps:
            if (cap.role, cap.action) != (role, action):
                continue
            found = self._lines(cap, suspended)
            if found and cap.index is not None:
                found = [f"if self.index == {cap.index}:", *(f"    {line}" for line in found)]
            lines += found
        return placed(lines, at)

    def _lines(self, cap: Cap, suspended: bool) -> list[str]:
        lines = []
        if cap.starts > 0:
            counter = f"{'self' if cap.each else self.x.state}.{cap.counter(self.x.names)}"
            lines += [f"{self.x.word('at_most')}({cap.starts}, {counter} + 1)", f"{counter} += 1"]
        if cap.runs > 0 and suspended and cap.role and (not cap.each or cap.index is not None):
            of = "self" if cap.each else cap.role
            flying = f"{self.x.word('in_flight')}({of}, {cap.action!r})"
            lines.insert(0, f"{self.x.word('at_most')}({cap.runs}, {flying} + 1)")
        return lines


def warn_of_instances(
    options: Options, roles: Mapping[str, tuple[Any, ...]]
) -> Iterator[SpecError]:
    """Yield warnings (SW613) of bounds of instances that Init did not make."""
    for key, bounds in options.action_options.items():
        of = Cap.of(key, bounds)
        if of is None or of.role is None or of.index is None or of.role not in roles:
            continue
        there = roles[of.role]
        if of.index >= len(there):
            made = f"Init made {', '.join(map(repr, there)) or f'no {of.role}'}."
            yield SpecError(
                "SW613",
                f"There is no {of.role}#{of.index} to give options to: {made}",
                at=options.places[key],
                help=f"For each of them: {of.role}#.{of.action}",
            )


MOST_COUNTED = 20


class Header:
    """Everything of a translated module but its functions, roles and properties."""

    def __init__(self, names: Names, file: str, options: Options) -> None:
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
        self.returns = names.reads_returns
        self.caps = Caps(names, options, self.x)
        self.threaded = False
        self.has_state = bool(names.state or self.caps.counters()) or self.returns
        self.x.has_state = self.has_state

    def _settings(self) -> list[ast.stmt]:
        """Return what the options become."""
        counted = self.threaded and self.options.max_actions <= MOST_COUNTED
        counts = ", counted=True" if counted else ""
        word = self.x.word
        lines = [f"{word('max_actions')}({self.options.max_actions}{counts})"]
        if self.threaded:
            lines.append(f"{word('threads')}({self.at_most()})")
            if self.options.crash_on_yield:
                lines.append(f"{word('crashes')}(True)")
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
        lines += [f"    {name}: {self.x.type('int')} = 0" for name in self.caps.counters()]
        if self.returns:
            held = self.x.type("dict[str, Any]")
            lines.append(f"    {self.names.make('returns')}: {held} = {{}}")
        lines.append(f"{self.x.state} = {self.state_class}()")
        return ast.parse("\n".join(lines)).body

    def crashing(self, info: RoleInfo) -> bool:
        """Return whether the instances of a role may crash."""
        return info.crashes and self.options.crash_on_yield

    def _kept(self, info: RoleInfo, at: ast.AST) -> list[ast.stmt]:
        """Return the end of a role's Init: it stores the values that a crash restores."""
        if not self.crashing(info):
            return []
        return placed([f"self.{self.start(n)} = self.{n}" for n in info.ephemeral], at)

    def start(self, name: str) -> str:
        """Return the field that keeps what an ephemeral one goes back to."""
        return self.names.make(name, "at_start")

    def _crash(self, info: RoleInfo) -> list[ast.stmt]:
        """Return the crash of a role: its runs end, its ephemeral fields start again."""
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
        """Return how many runs may be in flight."""
        return min(self.options.max_concurrent_actions, self.options.max_actions)

    def _annotation(self, owner: str, name: str) -> str:
        return self.x.type(self.names.annotation(owner, name))
