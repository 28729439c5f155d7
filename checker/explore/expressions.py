"""What a person writes to be evaluated: Python, with the names of the spec's main module.

It runs in the process of the person who asks, whose spec is a program already. A text spec (.fizz)
must not reach Python, so it has no such expressions; its properties can be asked for by name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any

from statewalk.checker.explore.names import mistake_in
from statewalk.checker.states.content import value_of
from statewalk.checker.states.shortening import fit
from statewalk.checker.verdict.evaluate import compiled, namespace_of
from statewalk.dsl.errors import EngineError, RunError
from statewalk.dsl.state.plain_view import PlainView

if TYPE_CHECKING:
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import State

_LONGEST = 2000  # characters of an expression
_SHOWN = 400  # of a value


class Expression:
    """An expression over the states of a model. Raises RunError[SW371] where it is none."""

    def __init__(self, model: Model, text: str) -> None:
        self.model = model
        self.text = text
        self.error = ""  # what it raised last, where it did
        self._code: CodeType | None = None
        found = next((p for p in model.properties if p.name == text.strip()), None)
        self._property = None if found is None else found.whole
        if found is not None and found.of_kind.over in ("steps", "specs"):
            why = "it is a property of steps or behaviours, not of states"
            raise unreadable(text, why, "Ask for what is true in a state.")
        if found is not None:
            return
        if model.dialect == "fizz":
            raise unreadable(
                text,
                "in a text spec only properties can be asked for",
                f"There are: {', '.join(p.name for p in model.properties) or 'none'}.",
            )
        try:
            if len(text) > _LONGEST:
                raise ValueError(f"it is longer than {_LONGEST} characters")
            node = ast.parse(text.strip(), mode="eval").body
            self._names = names_of(model)
            if (wrong := mistake_in(node, self._names, model)) is not None:
                raise unreadable(text, *wrong)
            self._code = compiled(node, self._names)
        except (SyntaxError, ValueError, RecursionError) as error:
            why = getattr(error, "msg", None) or str(error)
            raise unreadable(text, why, "Write one Python expression.") from None

    def value(self, state: State) -> Any:
        """Its value in a state; what it raises, it raises."""
        found: list[Any] = []

        def look() -> bool:
            found.append(value_of(self._thing(), self.model, state))
            return True

        self.model.holds(look, PlainView(state))
        return found[0]

    def holds(self, state: State) -> bool:
        """Whether it is true in a state; where it raises it is not."""
        return self.model.holds(self.here, PlainView(state))

    def here(self) -> bool:
        """Whether it is true in the state that is bound; where it raises it is not."""
        try:
            return bool(self._thing())
        except EngineError:  # ours: it says nothing of the state
            raise
        except Exception as error:
            self.error = _said(error)
            return False

    def _thing(self) -> Any:
        if self._property is not None:
            return bool(self._property())
        if self._code is None:
            return None
        thing = eval(self._code, {**self._names})
        if callable(thing) and not hasattr(thing, "_canonical"):
            raise TypeError(f"{self.text.strip()} is a function: call it")
        return thing

    def shown(self, state: State) -> str:
        """Its value in a state in words, or what it raises."""
        try:
            return fit(self.value(state), _SHOWN)
        except Exception as error:
            return _said(error)


def _said(error: Exception) -> str:
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first}"[:_SHOWN]


def names_of(model: Model) -> dict[str, Any]:
    """The names that a spec's main module has."""
    functions: list[Callable[..., Any]] = [
        f for f in model.functions.values() if f.__code__.co_filename in model.sources
    ]
    main = [f for f in functions if f.__code__.co_filename == model.path]
    for function in (*main, *functions):
        return function.__globals__
    for prop in model.properties:
        if (found := namespace_of(prop.whole, model)) is not None:
            return found
    return {}


def unreadable(text: str, why: str, help: str) -> RunError:
    """The error of an expression that cannot be evaluated."""
    return RunError("SW371", f"{text.strip()[:80]!r} cannot be evaluated: {why}.", help=help)
