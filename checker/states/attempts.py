"""Every way an action can go in a state, those that raise included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from statewalk.dsl.errors import EngineError
from statewalk.dsl.model import Action, Model
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.view import Disabled, Path, State


def unrepeatable(code: str, message: str) -> EngineError:
    """Return the error of a step that was found and does not go the same way when it is
    repeated.
    """
    return EngineError(
        code,
        message,
        why="Usually an action of the spec is not deterministic: it depends on time, on random "
        "numbers, or on something that an earlier run left behind.",
        help="Look for iterators, files and helpers with a memory. If there are none, this is a "
        "bug in statewalk: please report it with the spec.",
    )


@dataclass(frozen=True)
class Attempt:
    """One run of an action: the choices, and the writes or what the spec raised."""

    choices: tuple[int, ...]
    writes: Mapping[Path, Any]
    error: Exception | None = None


def attempts(model: Model, action: Action, state: State) -> Iterator[Attempt]:
    """Yield every run of an action in a state that is not disabled, choices in lexicographic
    order.
    """
    for view in PlainView.runs(state):
        error: Exception | None = None
        try:
            model.take(action, view)
        except Disabled:
            continue
        except Exception as raised:
            error = raised
        yield Attempt(view.taken, view.writes, error)
