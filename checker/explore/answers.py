"""The page's questions and answers: each question is a function from JSON to JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from statewalk.checker.behaviours.walk import (
    MOST,
    Path,
    Possible,
    Walk,
    around,
    drawn,
    joined,
    read_path,
    write_path,
)
from statewalk.checker.behaviours.walk import written as step_written
from statewalk.checker.explore.expressions import Expression, instances_in, names_of
from statewalk.checker.explore.seek import SECONDS, Sought, another, being, nearest, search
from statewalk.checker.page.data import always_of, changed, code_of, head, of_path, told
from statewalk.checker.report.page import plural
from statewalk.checker.states.content import content_of
from statewalk.checker.states.diff import changes
from statewalk.checker.states.shortening import place
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.dsl.model import Model

_EDITOR = "vscode://file{file}:{line}"
MOST_WATCHED = 20
NEAR, NEAR_SECONDS = 1000, 1.0  # looked at on foot, before an engine is asked
MOST_UNFOLDED = 100
MOST_STEPS = 1000  # of a graph around a state
Answer = Callable[[Any], dict[str, Any]]


class Answers:
    """Answers the page's questions about a model; ``start`` is where it begins. ``waiting`` says
    that there is another question: looking for a state ends then.
    """

    def __init__(self, model: Model, start: Path | None = None) -> None:
        self.model = model
        self.shown: Trace | None = None  # what the path it begins with is a trace of
        self.walk = Walk(model)
        self.start = start or Path()
        self.waiting: Callable[[], bool] = lambda: False
        self.questions: Mapping[str, Answer] = {
            "start": self._start,
            "path": self._asked_path,
            "next": lambda asked: self._next(read_path(asked["path"])),
            "watch": self._watch,
            "find": self._find,
            "another": self._another,
            "around": self._around,
        }

    def answer(self, question: str, asked: Any) -> dict[str, Any]:
        """Return the answer to a question. Raises StatewalkError; KeyError, ValueError,
        TypeError where it is not asked as the page asks.
        """
        return self.questions[question](asked)

    def _start(self, asked: Any) -> dict[str, Any]:
        return {
            **head(self.model.path, self.model.constants.items()),
            "kinds": {p.kind: p.of_kind.word for p in self.model.properties},
            "always": always_of(self.model.properties),
            "code": code_of(
                (a.span.file, a.span.line) for a in self.model.actions if a.span is not None
            ),
            "traces": [],
            "folder": os.getcwd(),
            "editor": os.environ.get("STATEWALK_EDITOR", _EDITOR),
            "start": write_path(self.start),
            "initial": len(self.model.initial_states),
            "python": self.model.dialect == "python",
            "names": instances_in(names_of(self.model)),
            "properties": [p.name for p in self.model.properties],
        }

    def _asked_path(self, asked: Any) -> dict[str, Any]:
        """Return a path; of a link the one through the same states, if the spec has changed."""
        path, prints = read_path(asked["path"]), [str(p) for p in asked.get("prints", ())]
        if not prints:
            return self._path(path)
        found = None
        with suppress(RunError):  # choices have other numbers now
            found = self._path(path)
        if found is not None and found["prints"][: len(prints)] == prints:
            return found
        try:
            again = self.walk.path_along(prints)
        except RunError:
            if found is None:
                raise
            return {**found, "said": "The spec has changed: the same steps, but other states."}
        found, reached = self._path(again), len(again.steps)
        if reached == len(prints) - 1:
            return found
        said = f"The spec has changed: of the link's {len(prints) - 1} steps, "
        return {**found, "said": f"{said}the first {reached} lead to the same states."}

    def _path(self, path: Path) -> dict[str, Any]:
        trace, shown = self.walk.trace(path), self.shown
        if shown is not None and path == self.start:
            trace = replace(trace, property=shown.property, kind=shown.kind, loop=shown.loop)
        found = of_path(replace(trace, model=self.model))
        found["code"] = code_of(found.pop("places"))  # of what actions call
        nodes = self.walk.nodes(path)
        prints = [self.walk.print_of(node.state) for node in nodes if node.state is not None]
        return {**found, "path": write_path(path), "back": self._back(path), "prints": prints}

    def _back(self, path: Path) -> list[int | None]:
        """Per state, an earlier one that is the same."""
        first: dict[tuple[int, ...], int] = {}
        found: list[int | None] = []
        for at, node in enumerate(self.walk.nodes(path)):
            row = None if node.state is None else self.walk.row(node.state)
            found.append(None if row is None else first.get(row))
            if row is not None:
                first.setdefault(row, at)
        return found

    def _next(self, path: Path) -> dict[str, Any]:
        state = self.walk.state(path)
        enabled, disabled, more = self.walk.possible(state)
        trace = self.walk.trace(path)
        rows = {self.walk.row(n.state): i for i, n in enumerate(self.walk.nodes(path)) if n.state}
        before = content_of(self.model, state)

        def said(one: Possible) -> dict[str, Any]:
            taken = one.taken
            base = {**told(trace, taken.step, ()), "step": step_written(one.step), "cut": one.cut}
            if taken.state is None:
                return base | {"raises": f"{type(taken.error).__name__}: {taken.error}"}
            after = content_of(self.model, taken.state)
            found = changes(before, after, self.walk.names)
            back = rows.get(self.walk.row(taken.state))
            return base | {"changes": [changed(change) for change in found], "back": back}

        return {
            "enabled": [said(one) for one in enabled],
            "disabled": [self._stopped(action, state) for action in disabled],
            "more": more,
        }

    def _stopped(self, action: Any, state: Any) -> dict[str, Any]:
        guard = self.walk.guard(action, state)
        if guard is None:
            return {"label": action.label, "guard": "", "place": "", "values": ""}
        where = place(guard.file, guard.line) if guard.file else ""
        text = guard.said if guard.idle else guard.text or guard.said
        return {"label": action.label, "guard": text, "place": where, "values": guard.shown}

    def _watch(self, asked: Any) -> dict[str, Any]:
        path, texts = read_path(asked["path"]), [str(t) for t in asked["expressions"]]
        states = [node.state for node in self.walk.nodes(path) if node.state is not None]
        rows: list[Any] = []
        for text in texts[:MOST_WATCHED]:
            try:
                expression = Expression(self.model, text)
            except RunError as error:
                rows.append({"text": text, "error": error.one_line})
                continue
            rows.append({"text": text, "values": [expression.shown(state) for state in states]})
        return {"watched": rows}

    def _find(self, asked: Any) -> dict[str, Any]:
        path, expression = read_path(asked["path"]), Expression(self.model, str(asked["text"]))
        found = self.nearest_to(path, expression)
        if found.steps == ():
            return {"said": "It is true in this state already."}
        told = self._found(found, path, "No state like this")
        if expression.error:
            told["said"] += f" In some of them it raised {expression.error.rstrip('.')}."
        return told

    def nearest_to(self, path: Path, wanted: Expression) -> Sought:
        """On foot, which begins at once; then by an engine, which sees thousands of times more."""
        start = self.walk.state(path)
        near = nearest(self.walk, [start], wanted.holds, states=NEAR, seconds=NEAR_SECONDS)
        if near.steps is not None or near.all:
            return near
        far = search(self.model, (start,), wanted.here, self.waiting)
        if far is None or (
            far.steps and not wanted.holds(self.walk.state(joined(path, far.steps)))
        ):
            return nearest(self.walk, [start], wanted.holds, interrupted=self.waiting)
        return far

    def _another(self, asked: Any) -> dict[str, Any]:
        path = read_path(asked["path"])
        if not path.steps:
            return {"said": "This is an initial state: nothing leads here."}
        found = another(self.walk, path, states=NEAR, seconds=NEAR_SECONDS)
        if found.steps is None and not found.all:
            if (far := self._avoiding(path)) is not None:
                avoids = f"that avoids state {len(path.steps) - 1}"
                none, way = f"No way to this state {avoids}", f"a shortest trace {avoids}"
                return self._found(far, Path(far.start), none, way)
            found = another(self.walk, path, interrupted=self.waiting)
        return self._found(found, Path(found.start), "No other last step to this state")

    def _avoiding(self, path: Path) -> Sought | None:
        """Return a way to the end of a path that avoids the state before it, by an engine;
        None where none can tell.
        """
        before, last = self.walk.state(Path(path.initial, path.steps[:-1])), self.walk.state(path)
        target = self.walk.row(last)
        if target == self.walk.row(before):
            return None
        starts = self.model.initial_states
        far = search(self.model, starts, being(last), self.waiting, avoid=being(before))
        if far is None or far.steps is None:
            return far
        end = self.walk.state(joined(Path(far.start), far.steps))
        return far if self.walk.row(end) == target else None

    def _around(self, asked: Any) -> dict[str, Any]:
        path, depth = read_path(asked["path"]), min(max(int(asked["depth"]), 1), MOST_STEPS)
        text = str(asked.get("by", "")).strip()
        by = Expression(self.model, text).shown if text else None
        paths = [read_path(one) for one in asked.get("unfolded", ())][:MOST_UNFOLDED]
        rows = {self.walk.row(self.walk.state(one)) for one in paths}
        along = read_path(asked.get("along", asked["path"]))
        on = {self.walk.row(n.state) for n in self.walk.nodes(along) if n.state is not None}
        found = around(self.walk, path, depth, by, unfolded=rows, on=on)
        said = f"{plural(found.states, 'state')} within {plural(found.depth, 'step')}"
        if rows:
            states, far = plural(found.states, "state"), plural(depth, "step")
            said = f"{states}: {far} far, and what is unfolded"
        if text:
            said += f", {plural(len(found.spots), 'value')}"
        if found.states >= MOST and not found.whole:
            said += f"; {MOST:,} are the most that are drawn"
        elif found.late:
            said += "; for more there was no time"
        if any(spot.is_marked("wrong") for spot in found.spots):
            said += "; red: what has to hold does not"
        return {**drawn(found, path), "said": said}

    def _found(
        self, found: Sought, origin: Path, none: str, way: str = "a shortest trace"
    ) -> dict[str, Any]:
        looked = f"{found.states:,} states looked at"
        if found.steps is not None:
            steps = plural(len(found.steps), "step")
            return {
                "path": write_path(joined(origin, found.steps)),
                "said": f"Found after {steps}, {way}; {looked}.",
            }
        if found.all:
            return {"said": f"{none}: these are all that can be reached ({looked})."}
        within = plural(found.depth, "step")
        if self.waiting():
            return {"said": f"{none} within {within}; given up, as something else was asked for."}
        return {
            "said": f"{none} within {within}; {looked}, and {SECONDS:.0f} seconds are the limit."
        }
