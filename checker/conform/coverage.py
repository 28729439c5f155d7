"""The coverage of a spec by logs: which actions, guards and witnesses, and how many states."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from statewalk.checker.states.shortening import place
from statewalk.checker.verdict.spec_text import function_at
from statewalk.dsl.state.plain_view import PlainView

if TYPE_CHECKING:
    from statewalk.checker.conform.followed import Followed
    from statewalk.dsl.model import Model


@dataclass
class Coverage:
    """The counts of actions taken in the behaviors found, in how many runs each guard
    stopped an action somewhere on the way and each witness was met, and the states that were met,
    by content.
    """

    runs: int = 0
    fired: Counter[str] = field(default_factory=Counter)
    guards: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    states: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, followed: Followed) -> Coverage:
        """Return what one run showed, by the behavior that was found for the events accepted."""
        model, steps = followed.model, followed.steps
        found = cls(1)
        numbers, names = followed.numbers(), model.action_names()
        found.fired.update(names[step.action] for step, _ in followed.path()[1])
        found.states.update(steps.layout.fingerprint(steps.row(n)) for n in numbers)
        found.guards.update({g for n in numbers for g in steps.guards(n)})
        for prop in model.properties:
            if prop.of_kind.witness:
                views = (PlainView(steps.states[n]) for n in dict.fromkeys(numbers))
                found.met[prop.name] += any(model.holds(prop.whole, view, None) for view in views)
        return found

    def add(self, other: Coverage) -> None:
        """Add the coverage of another run."""
        self.runs += other.runs
        self.fired.update(other.fired)
        self.guards.update(other.guards)
        self.met.update(other.met)
        self.states |= other.states


def guards_in(model: Model) -> list[str]:
    """Return the guards in the actions of a Python spec, by place; those of functions that
    actions call, and of text specs, are not known before they stop something.
    """
    found = {}
    spans = {action.span for action in model.actions if action.span is not None}
    for span in sorted(spans, key=lambda span: (span.file, span.line)):
        function = function_at(span.file, span.line) if model.dialect == "python" else None
        for node in ast.walk(function) if function is not None else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require":
                found[place(span.file, node.lineno)] = True
    return list(found)


def names_in(model: Model) -> tuple[list[str], list[str]]:
    """Return the actions and the witnesses that a spec has."""
    actions = dict.fromkeys(model.action_names().values())
    witnesses = [prop.name for prop in model.properties if prop.of_kind.witness]
    return list(actions), witnesses
