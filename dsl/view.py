"""The View: what the code of a spec sees of a state, and what it does to it.

A state is a set of *slots*, each a path and a stored value. Paths are tuples:

    (role class, index, field)              a field
    (role class, index, field, "key", k)    an entry of a dict field, k an `intern_key`
    (role class, index, field, "keys")      the set of that dict's keys, where the spec lists them
    (role class, index, field, "in", e)     an element of a set field that is only asked pointwise

An absent slot reads as `ABSENT`; writing `ABSENT` removes it. Two views exist:
`dsl.state.plain_view` does what it is asked (it defines the meaning), a tracing view in an engine
also remembers what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from statewalk.dsl.declared import Fairness, Promised
from statewalk.dsl.errors import SpecError

Path = tuple[Any, ...]
Place = tuple[tuple[str, Any], ...]
WHOLE = "whole"
MAX_CHOICES = 1000
State = Mapping[Path, Any]


class Disabled(BaseException):
    """The signal that a guard is false or a choice has no option.

    Not an `Exception`, so that ``except Exception`` in a spec does not catch it.
    """


class FairChoice(NamedTuple):
    """A choice under fairness: its place among the step's fair choices, and what was chosen."""

    position: int
    option: bytes
    fairness: Promised
    shown: str = ""


class CallResult(Protocol):
    """The result of a call. That of one that ``lasts`` may be asked for again in any other
    state, with the same meaning: it was given nothing that is in a state.
    """

    def __call__(self) -> Any: ...
    def lasts(self) -> bool: ...


class View(Protocol):
    """The interface of lowered code to a state.

    Contract
      1. `project` and `update` take a *key*: equal keys at one path mean equal functions, so an
         engine may remember results by (path, value, key). The functions are pure and may raise; a
         raise is not remembered. A projection with a *place* follows these steps into the value
         first (see `dsl.state.detaching.sub_key`); the key `WHOLE` gives what is there.
      2. `update` is ``set(path, fn(get(path)))`` without promising that the old value is looked at.
      3. `call` runs a function that only reads; equal keys in equal states give equal results.
         Keys begin with the (two) names of the function.
      4. `choose` returns one of the options; a search returns each of them in some run.
      5. `progress` gives a hashable value that stays the same as long as nothing is changed.
      6. `later` returns a function that yields what ``get(path)`` would yield now.
    """

    def get(self, path: Path) -> Any: ...
    def set(self, path: Path, value: Any) -> None: ...
    def project(
        self, path: Path, key: object, fn: Callable[[Any], Any], place: Place = ()
    ) -> Any: ...
    def update(self, path: Path, key: object, fn: Callable[[Any], Any]) -> None: ...
    def call(self, key: tuple[object, ...], fn: CallResult) -> Any: ...
    def choose(self, options: Sequence[Any], fair: Fairness = "none") -> Any: ...
    def progress(self) -> object: ...
    def later(self, path: Path) -> Callable[[], Any]: ...


class Endless(BaseException):
    """A step goes on choosing: nothing more can be said of the spec. ``error`` is for the reader.

    Not an `Exception`, since trying the step's other ways would take for ever.
    """

    def __init__(self) -> None:
        super().__init__()
        self.error = SpecError(
            "SW154",
            f"One step made more than {MAX_CHOICES} choices.",
            why="A loop with a choice probably does not end.",
            help="Bound the loop, or let each turn be a step of its own.",
        )


def count_choices(choices: Sequence[object]) -> None:
    """Raise `Endless` for a step that makes too many choices."""
    if len(choices) >= MAX_CHOICES:
        raise Endless


def next_script(choices: Sequence[tuple[int, int]]) -> list[int] | None:
    """Return the choice indices of the next run in lexicographic order; None at the end."""
    script = [index for index, _ in choices]
    for at in range(len(script) - 1, -1, -1):
        if script[at] + 1 < choices[at][1]:
            return [*script[:at], script[at] + 1]
    return None


class Scripted(Protocol):
    """A chooser that records the (index, number of options) of each choice of a run."""

    choices: list[tuple[int, int]]


Run = TypeVar("Run", bound=Scripted)


def runs(begin: Callable[[list[int]], Run]) -> Iterator[Run]:
    """Yield every run of a step, choices in lexicographic order: ``begin`` makes one from its
    script.

    A run is given out before it is made; whoever gets it makes it before asking for the next.
    """
    script: list[int] | None = []
    while script is not None:
        run = begin(script)
        yield run
        script = next_script(run.choices)
