"""Resets: which slots lose their value where a guard has one, since nothing reads them after that.

A `Rule` is a guess. A slot that is reset holds a `Reset`, which no step or property may look at:
whatever does ends the search (`ResetRead`). So verdicts rest on no analysis, see
docs/explanation/soundness.md#resets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from statewalk.checker.contract.search import SearchOptions
from statewalk.dsl.errors import RunError
from statewalk.dsl.view import Path


class Reset:
    """The value of a slot that was reset, in the place of any."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _canonical(self) -> bytes:
        return b"\xff" + self.name.encode()

    def __repr__(self) -> str:
        return self.name


RESET = Reset("reset")
"""Until it is written."""
ENDED = Reset("ended")
"""For ever: what is written is not read either."""


class ResetRead(BaseException):
    """Something looked at a slot that was reset: the rule for it is wrong.

    Not an `Exception`, so that a spec does not swallow it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path


def refuse_reduce(options: SearchOptions, others: dict[str, bool]) -> None:
    """Raises RunError[SW358] for what a search of reduced states cannot do."""
    given = {
        "--view on": options.view, "--symmetry on": options.symmetry, "resume": options.resume,
        **others,
    }  # fmt: skip
    for name in (name for name, there in given.items() if there):
        raise RunError(
            "SW358",
            f"--reduce cannot be used with {name}.",
            why="Its states have no values in the fields that nothing reads any more.",
            help="Leave one of them out.",
        )


Guard = tuple[Path, Any]
"""A slot and the `intern_key` of its value."""


@dataclass(frozen=True)
class Rule:
    """The slots to reset, by path: where a guard gets a value they are not read again before they
    are written (``resets``), or never (``ends``).

    Slots of one of the ``kinds`` are left out together.
    """

    resets: Mapping[Guard, frozenset[Path]] = field(default_factory=dict)
    ends: Mapping[Guard, frozenset[Path]] = field(default_factory=dict)
    kinds: Mapping[Path, Any] = field(default_factory=dict)

    def without(self, path: Path) -> Rule:
        """Return the rule without a slot, and without others of its kind."""
        kind = self.kinds[path]
        left = {p for p, of in self.kinds.items() if of != kind}

        def kept(part: Mapping[Guard, frozenset[Path]]) -> dict[Guard, frozenset[Path]]:
            return {guard: some for guard, paths in part.items() if (some := paths & left)}

        kinds = {p: of for p, of in self.kinds.items() if p in left}
        return replace(self, resets=kept(self.resets), ends=kept(self.ends), kinds=kinds)

    def guards_of(self, path: Path) -> list[Guard]:
        """Return the guards that reset a slot."""
        parts = (self.resets, self.ends)
        return [guard for part in parts for guard, paths in part.items() if path in paths]

    @property
    def fields(self) -> list[str]:
        """Return the fields of which slots are reset, as the spec names them."""
        paths = {p for part in (self.resets, self.ends) for some in part.values() for p in some}
        return sorted({f"{p[0]}.{p[2]}" for p in paths if len(p) > 2})
