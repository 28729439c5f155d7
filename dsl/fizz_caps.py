"""``action_options``: how often an action may start, counted in the state."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from dsl import fizz_tree as tree
from dsl.errors import Span, SpecError, did_you_mean
from dsl.fizz_exprs import Expressions
from dsl.fizz_names import Names
from dsl.fizz_options import Options


@dataclass(frozen=True)
class Cap:
    """A bound on the starts of an action: of all instances together, or of each (``each``)."""

    role: str | None
    action: str
    most: int
    each: bool

    @property
    def counter(self) -> str:
        """The field that counts."""
        return (
            f"starts_{self.action}"
            if self.each or not self.role
            else f"starts_{self.role}_{self.action}"
        )


class Caps:
    """The bounds of one specification."""

    def __init__(self, names: Names, file: str, options: Options, x: Expressions) -> None:
        self.x = x
        known: dict[str, tuple[str | None, str]]
        known = {n: (None, n) for n, m in names.members.items() if isinstance(m, tree.Act)}
        for role, info in names.roles.items():
            acts = [n for n, m in info.members.items() if isinstance(m, tree.Act)]
            known |= {f"{role}.{n}": (role, n) for n in acts}
        self.caps: list[Cap] = []
        for key, bounds in options.action_options.items():
            role, hash_sign, rest = key.partition("#")
            plain = role + rest if hash_sign else key
            if hash_sign and not rest.startswith("."):
                at = Span(file, 1)
                raise SpecError(
                    "SW152", f"Options of one instance, as of {key}, are not supported.", at=at
                )
            if plain not in known:
                raise SpecError(
                    "SW151", f"There is no action '{key}' to give options to.", at=Span(file, 1),
                    help=did_you_mean(plain, known),
                )  # fmt: skip
            owner, action = known[plain]
            if bounds.max_concurrent_actions > 0 and owner is not None and not hash_sign:
                raise SpecError(
                    "SW152",
                    f"A bound on the runs of {key} in all instances together is not supported.",
                    at=Span(file, 1),
                    help=f"For each instance by itself: {owner}#.{action}",
                )
            if bounds.max_actions > 0:
                self.caps.append(Cap(owner, action, bounds.max_actions, bool(hash_sign)))

    @property
    def shared(self) -> list[str]:
        """Counters among the state variables."""
        return [c.counter for c in self.caps if not c.each]

    def of_role(self, role: str) -> list[str]:
        """Counters among the fields of a role."""
        return [c.counter for c in self.caps if c.each and c.role == role]

    def guard(self, role: str | None, action: str, at: ast.AST) -> list[ast.stmt]:
        """What begins the action: the bound checked, the start counted."""
        result: list[ast.stmt] = []
        for cap in self.caps:
            if (cap.role, cap.action) == (role, action):
                owner = "self" if cap.each else self.x.state
                self.x.needs.dsl.add("require")
                require = self.x.dsl.get("require", "require")
                text = f"{require}({owner}.{cap.counter} < {cap.most})\n{owner}.{cap.counter} += 1"
                made = ast.parse(text).body
                for statement in made:
                    for part in ast.walk(statement):
                        if hasattr(part, "lineno"):
                            ast.copy_location(part, at)
                result += made
        return result
