"""The parts of a picture of a state: what a function with ``@picture`` puts together.

A part holds values and other parts, never markup: whoever shows it decides how. Values are kept as
they are when the part is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from statewalk.dsl.values.stored import freeze

Kind: TypeAlias = Literal["box", "token", "row", "column", "ring", "grid", "arrow"]
COLORS = ("blue", "orange", "green", "violet", "red", "teal", "gray")


@dataclass(frozen=True)
class Part:
    """A part: of which kind, what is in it, its title, and the value that it has its color by.

    ``content`` are parts and values; of a grid its rows, of which each is a tuple. A ``strong`` one
    is drawn with a strong edge; a title or color that is ``...`` is none.
    """

    kind: Kind
    content: tuple[Any, ...]
    title: Any = ...
    color: Any = ...
    strong: bool = False

    @property
    def titled(self) -> bool:
        return self.title is not ...

    @property
    def colored(self) -> bool:
        return self.color is not ...


def box(*content: object, title: object = ..., color: object = ..., strong: bool = False) -> Part:
    """Return a box with values and parts below each other."""
    return Part("box", _kept(content), _value(title), _value(color), strong)


def token(value: object = "", *, color: object = ..., strong: bool = False) -> Part:
    """Return a round spot with a value in it."""
    return Part(
        "token", _kept([value]), color=_value(value if color is ... else color), strong=strong
    )


def row(*content: object, title: object = ...) -> Part:
    """Return parts beside each other, below a title."""
    return Part("row", _kept(content), _value(title))


def column(*content: object, title: object = ...) -> Part:
    """Return parts below each other, below a title."""
    return Part("column", _kept(content), _value(title))


def ring(*content: object, title: object = ...) -> Part:
    """Return parts in a circle, each with an arrow to the next."""
    return Part("ring", _kept(content), _value(title))


def grid(*rows: Iterable[object], columns: Iterable[object] = (), title: object = ...) -> Part:
    """Return a table of rows, with the names of its ``columns`` above."""
    named = [_kept(columns)] if columns else []
    return Part("grid", (*named, *map(_kept, rows)), _value(title), strong=bool(named))


def arrow(text: object = "", *, back: bool = False) -> Part:
    """Return an arrow from the part before it to the one after it, or ``back``."""
    return Part("arrow", _kept([text]), strong=back)


def _kept(content: Iterable[object]) -> tuple[Any, ...]:
    return tuple(_value(one) for one in content)


def _value(thing: Any) -> Any:
    return thing if thing is ... or isinstance(thing, Part) else freeze(thing)
