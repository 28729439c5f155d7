"""What steps are called: learned together with what they do.

The engine tells outcomes apart by what they write. While a graph is collected it tells them apart
also by what was chosen, so that an outcome has one text for its choices. It does so the way it
tells fair choices apart: what was chosen is noted among them.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from statewalk.checker.native.learn.tracing import TracingView
from statewalk.checker.states.content import choice_shown, choice_text, short_names
from statewalk.checker.states.showing import text_of
from statewalk.dsl.declared import Fairness
from statewalk.dsl.values.stored import freeze

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from statewalk.checker.native.learn.learned import Learned
    from statewalk.dsl.model import Model


class Chosen(NamedTuple):
    """A choice as a trace shows it."""

    text: str


class NamingView(TracingView):
    """A tracing view that also notes what was chosen, and under which name."""

    def __init__(self, learned: Learned, model: Model) -> None:
        super().__init__(learned)
        self._sources = model.sources
        self._model = model

    def choose(self, options: Sequence[Any], fair: Fairness = "none") -> Any:
        """As in `TracingView`; the chosen option is noted as a trace's `Choice` shows it."""
        chosen = super().choose(options, fair)
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename not in self._sources:
            frame = frame.f_back
        name = self._model.choice_names.get((frame.f_code.co_filename, frame.f_lineno), "")
        value, name = choice_shown(self._model, freeze(chosen), name)
        text = choice_text(name, text_of(value))
        self.fair.append(Chosen(text))  # type: ignore[arg-type]
        return chosen


class Labels:
    """The columns of steps: action, actor, arguments by action index; choices by number."""

    def __init__(self, model: Model) -> None:
        names = short_names(model)
        self.action = [a.name for a in model.actions]
        self.actor = [_actor(a.actor, names) for a in model.actions]
        self.arguments = [
            ", ".join(f"{n}={text_of(v)}" for n, v in a.arguments) or None for a in model.actions
        ]
        self.choices: dict[str | None, int] = {None: 0}
        self._of: NDArray[np.int32] = np.zeros(0, np.int32)

    def choices_of(
        self, outcomes: NDArray[np.int32], known: Mapping[int, tuple[Any, ...]], learned: int
    ) -> NDArray[np.int32]:
        """The number in ``choices`` of each outcome; ``learned`` outcomes are known by now."""
        done = len(self._of)
        if done < learned:
            texts = (choices_text(known.get(o, ())) for o in range(done, learned))
            new = [self.choices.setdefault(text, len(self.choices)) for text in texts]
            self._of = np.concatenate([self._of, np.array(new, np.int32)])
        result: NDArray[np.int32] = self._of[outcomes]
        return result


def choices_text(chosen: Iterable[Any]) -> str | None:
    """The choices of a step as one text; None where there was none."""
    texts = [c.text for c in chosen if type(c) is Chosen]
    return ", ".join(texts) or None


def _actor(actor: Any, names: Mapping[str, str]) -> str | None:
    if actor is None:
        return None
    shown = repr(actor)
    return names.get(shown.partition("#")[0], shown) or None
