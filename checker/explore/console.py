"""A Python prompt at a state of a spec: its names mean what they are there.

Statements only read the state, as properties do. `next`, `find`, `back` and `begin` go elsewhere.
"""

from __future__ import annotations

import code
import sys
import traceback
from types import CodeType
from typing import TYPE_CHECKING, Any

from statewalk.checker.behaviours.walk import Path, joined
from statewalk.checker.explore.expressions import Expression, names_of, unreadable
from statewalk.checker.machine import streams
from statewalk.checker.report.page import plural
from statewalk.checker.states.content import content_of
from statewalk.checker.states.diff import changes
from statewalk.checker.traces.trace import label_parts
from statewalk.checker.verdict.explain import explain_in
from statewalk.dsl.errors import RunError, StatewalkError
from statewalk.dsl.state.plain_view import PlainView

if TYPE_CHECKING:
    from statewalk.checker.behaviours.walk import Possible
    from statewalk.checker.explore.answers import Answers
    from statewalk.checker.traces.trace import Trace

HELP = """\
next()         the steps that are possible here, numbered
next(2)        take step 2; next("Client#0 · ask") the one that begins so
find("EXPR")   go to the nearest state, from here on, in which the expression is true
why("NAME")    why an action is disabled here, or a property false
back(), back(3), begin()    go back: a step, three, to the first state
trace()        the steps so far
"""


class Console(code.InteractiveConsole):
    """A prompt whose names are bound to the state at the end of ``path``."""

    def __init__(self, answers: Answers) -> None:
        own = {
            "next": self.next, "find": self.find, "why": self.why, "back": self.back,
            "begin": self.begin, "trace": self.trace,
        }  # fmt: skip
        super().__init__({**names_of(answers.model), **own}, filename="<repl>")
        self.answers, self.walk, self.model = answers, answers.walk, answers.model
        self.path = answers.start

    def runcode(self, code: CodeType) -> None:
        """Run a statement in the state; what it raises is printed, and ends nothing."""

        def statement() -> bool:
            super(Console, self).runcode(code)
            return True

        self.model.holds(statement, PlainView(self.walk.state(self.path)))

    def showtraceback(self) -> None:
        """Print a mistake of ours by its words, another one as Python does."""
        error = sys.exc_info()[1]
        if isinstance(error, StatewalkError):
            self.write(f"{error.message} {error.help}".strip() + "\n")
        elif error is not None:
            below = error.__traceback__ and error.__traceback__.tb_next
            self.write("".join(traceback.format_exception(type(error), error, below)))

    def next(self, wanted: int | str | None = None) -> None:
        """Print the possible steps, or take one."""
        enabled, _, more = self.walk.possible(self.walk.state(self.path))
        labels = [self._label(one) for one in enabled]
        if wanted is None:
            for number, label in enumerate(labels):
                self.write(f"{number:>4}  {label}\n")
            self.write("      no step is possible\n" if not labels else "")
            self.write("".join(f"      … and more of {label}\n" for label in more))
            return
        found = [at for at, label in enumerate(labels) if label.startswith(str(wanted))]
        at = wanted if isinstance(wanted, int) else found[0] if len(found) == 1 else -1
        if not 0 <= at < len(enabled):
            few = f"{len(found)} steps begin so" if isinstance(wanted, str) else "there is none"
            raise unreadable(f"next({wanted!r})", few, "next() lists them.")
        self._go(joined(self.path, (enabled[at].step,)))

    def find(self, text: str) -> None:
        """Go to the nearest state in which an expression is true."""
        found = self.answers.nearest_to(self.path, Expression(self.model, text))
        if found.steps is None:
            limit = "" if found.all else f" within {plural(found.depth, 'step')}"
            self.write(f"no such state{limit}: {plural(found.states, 'state')} looked at\n")
        else:
            self.write(f"{plural(len(found.steps), 'step')} from here\n")
            self._go(joined(self.path, found.steps))

    def why(self, name: str) -> None:
        """Print what keeps actions of a name, or a property, from being true."""
        state = self.walk.state(self.path)
        for prop in (p for p in self.model.properties if p.name == name):
            if prop.of_kind.over != "states" or self.model.holds(prop.whole, PlainView(state)):
                self.write(f"{name} is not false here\n")
            elif (told := explain_in(self.model, prop, state)) is not None:
                for one in told.layers:
                    values = " · ".join(f"{n} = {v!r}" for n, v in (*one.bindings, *one.values))
                    self.write(f"{'  ' * one.depth}{one.text}    {values}\n")
            return
        _, disabled, _ = self.walk.possible(state)
        actions = [a for a in self.model.actions if name in (a.name, a.label)]
        if not actions:
            raise unreadable(f"why({name!r})", "there is no action or property of that name", "")
        for action in actions:
            guard = self.walk.guard(action, state) if action in disabled else None
            said = f"{guard.text or guard.said}  {guard.shown}" if guard else "disabled"
            self.write(f"{action.label}: {said if action in disabled else 'possible'}\n")

    def back(self, steps: int = 1) -> None:
        """Go back some steps."""
        self._go(Path(self.path.initial, self.path.steps[: max(0, len(self.path.steps) - steps)]))

    def begin(self, initial: int = 0) -> None:
        """Go to an initial state."""
        self._go(Path(initial))

    def trace(self) -> None:
        """Print the steps so far."""
        from statewalk.checker.report.trace import trace_page

        trace_page(self.walk.trace(self.path)).show(streams.out())

    def _label(self, one: Possible) -> str:
        label = _text(self.walk.trace(self.path), one.taken.step)
        if one.taken.state is None:
            return f"{label}  raises {type(one.taken.error).__name__}"
        return label + (f"  (refused by {one.cut})" if one.cut else "")

    def _go(self, path: Path) -> None:
        """Go to a state, and print what differs there."""
        nodes = self.walk.nodes(path)
        if nodes[-1].state is None:
            raise RunError("SW370", f"This step raises {nodes[-1].error}.")
        before = content_of(self.model, self.walk.state(self.path))
        after = content_of(self.model, nodes[-1].state)
        self.path = path
        trace = self.walk.trace(path)
        label = _text(trace, trace.steps[-1]) if path.steps else "init"
        self.write(f"{len(path.steps):>4}  {label}\n")
        for change in changes(before, after, self.walk.names):
            self.write(f"        {change}\n")


def _text(trace: Trace, step: Any) -> str:
    """Return what a step is called."""
    return "".join(text for text, _ in label_parts(trace, step))
