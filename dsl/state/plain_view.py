"""The view that does what it is asked and remembers nothing but writes and choices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from statewalk.dsl.declared import Fairness, Promised
from statewalk.dsl.values.stored import ABSENT, encode, freeze, intern_key
from statewalk.dsl.view import (
    CallResult,
    Disabled,
    FairChoice,
    Path,
    Place,
    State,
    count_choices,
    runs,
)


class PlainView:
    """A view of one state that remembers nothing but writes and choices.

    ``script`` holds the indices of the options to take, in order; beyond its end the first option
    is taken. After a run, ``writes`` holds path → new value, ``choices`` the (index, number of
    options) taken, ``chosen`` the options as values, and ``fair`` those of them that are chosen
    fairly.
    """

    __slots__ = ("base", "choices", "chosen", "fair", "script", "writes")

    def __init__(self, base: State, script: Sequence[int] = ()) -> None:
        self.base = base
        self.script = script
        self.writes: dict[Path, Any] = {}
        self.choices: list[tuple[int, int]] = []
        self.chosen: list[Any] = []
        self.fair: list[FairChoice] = []

    @classmethod
    def runs(cls, state: State) -> Iterator[PlainView]:
        """Return a view for every run of a step from a state; see `dsl.view.runs`."""
        return runs(partial(cls, state))

    @property
    def taken(self) -> tuple[int, ...]:
        """The script that makes the same run again."""
        return tuple(index for index, _ in self.choices)

    def get(self, path: Path) -> Any:
        if path in self.writes:
            return self.writes[path]
        return self.base.get(path, ABSENT)

    def set(self, path: Path, value: Any) -> None:
        self.writes[path] = value

    def project(self, path: Path, key: object, fn: Callable[[Any], Any], place: Place = ()) -> Any:
        return fn(self.get(path))

    def update(self, path: Path, key: object, fn: Callable[[Any], Any]) -> None:
        self.writes[path] = fn(self.get(path))

    def call(self, key: tuple[object, ...], fn: CallResult) -> Any:
        return fn()

    def choose(self, options: Sequence[Any], fair: Fairness = "none") -> Any:
        if not options:
            raise Disabled
        at = len(self.choices)
        count_choices(self.choices)
        index = self.script[at] if at < len(self.script) else 0
        if index >= len(options):
            raise Disabled
        self.choices.append((index, len(options)))
        self.chosen.append(freeze(options[index]))  # as it is now, not as the step leaves it
        if fair != "none":
            self.fair.append(fair_choice(len(self.fair), options[index], fair))
        return options[index]

    def progress(self) -> object:
        return frozenset((path, intern_key(value)) for path, value in self.writes.items())

    def later(self, path: Path) -> Callable[[], Any]:
        value = self.get(path)
        return lambda: value


def fair_choice(position: int, option: Any, fairness: Promised) -> FairChoice:
    """Return what a fairness condition on a choice knows it by."""
    value = freeze(option)
    return FairChoice(position, encode(value), fairness, repr(value))


def apply_writes(state: State, writes: Mapping[Path, Any]) -> dict[Path, Any]:
    """Return the state after writes, without absent slots."""
    result = dict(state)
    for path, value in writes.items():
        if value is ABSENT:
            result.pop(path, None)
        else:
            result[path] = value
    return result
