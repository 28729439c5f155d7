"""A scenario: where a system begins, and events with what is to be seen after each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from statewalk.checker.conform.steps import Steps, Way
from statewalk.checker.contract.search import Step
from statewalk.checker.machine import streams
from statewalk.checker.machine.files import written_bit_by_bit
from statewalk.checker.states.content import content_of, show_field
from statewalk.checker.states.json import plain
from statewalk.dsl.values.stored import ABSENT, same

if TYPE_CHECKING:
    from statewalk.dsl.model import Action, Model


_KEPT = 5_000  # states of which what is said is kept


@dataclass(frozen=True)
class Scenario:
    """``initial`` holds all fields; an event is one as logs have it (`checker.conform.events`),
    whose ``after`` are the fields that it changes. ``possible`` are, after each event, all that may
    come next, without what they would change. ``goals`` are what it is for.
    """

    name: str
    initial: Mapping[str, Any]
    events: tuple[Mapping[str, Any], ...]
    possible: tuple[tuple[Mapping[str, Any], ...], ...]
    goals: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As it is written to a file."""
        steps = zip(self.events, self.possible, strict=True)
        return {
            "name": self.name,
            "goals": list(self.goals),
            "initial": self.initial,
            "steps": [{"event": event, "possible": list(after)} for event, after in steps],
        }


def scenario_of(
    told: Fields, begin: int, way: Sequence[Step], goals: Sequence[str], name: str
) -> Scenario:
    """Return the scenario of steps from a state on."""
    events, possible, number = [], [], begin
    for step in way:
        action = told.model.actions[step.action]
        taken = next(w for w in told.steps.ways(number, action) if w.script == step.choices)
        old, new = (content_of(told.model, told.steps.states[n]) for n in (number, taken.after))
        changed = {
            show_field(path): plain(value)
            for path, value in new.items()
            if not same(value, old.get(path, ABSENT))
        }
        events.append(said_of(action, taken) | ({"after": changed} if changed else {}))
        number = taken.after
        possible.append(told.possible(number))
    return Scenario(name, told.of(begin), tuple(events), tuple(possible), tuple(goals))


def said_of(action: Action, way: Way) -> dict[str, Any]:
    """Return a step as an event, without fields."""
    made: dict[str, Any] = {"action": action.name}
    if action.actor is not None:
        made["actor"] = repr(action.actor)
    named = [*action.arguments, *((c.name, c.value) for c in way.choices)]
    given = {name.removeprefix("self."): plain(value) for name, value in named if name}
    return made | ({"with": given} if given else {})


class Fields:
    """The fields of states by number, with a cache of recent ones."""

    def __init__(self, model: Model, steps: Steps) -> None:
        self.model = model
        self.steps = steps
        self._said: dict[int, dict[str, Any]] = {}
        self._possible: dict[int, tuple[dict[str, Any], ...]] = {}

    def of(self, number: int) -> dict[str, Any]:
        """Return all fields, as JSON."""
        if number not in self._said:
            if len(self._said) > _KEPT:
                self._said.clear()
            content = content_of(self.model, self.steps.states[number])
            self._said[number] = {show_field(path): plain(value) for path, value in content.items()}
        return self._said[number]

    def possible(self, number: int) -> tuple[dict[str, Any], ...]:
        """Return the events that may come next, each once."""
        if number not in self._possible:
            if len(self._possible) > _KEPT:
                self._possible.clear()
            ways = (
                said_of(action, way)
                for action in self.model.actions
                for way in self.steps.ways(number, action)
                if way.error is None
            )
            once = {json.dumps(said, sort_keys=True): said for said in ways}
            self._possible[number] = tuple(once.values())
        return self._possible[number]


STDOUT = "-"
_SCHEMA = 2
_ELSEWHERE = "Give another place with --events or --pytest."
_TEMPLATE = '''"""Scenarios of {spec}: what a system is told, and what it has to show after that.

Made by statewalk; change the spec rather than this file. The scenarios lie beside it in a file of
the same name that ends in .json. The fixture `system` is yours, an object for each test, at its
beginning; `request.module.CONSTANTS` are the constants that the scenarios were made with. It has

    take(action, actor, given)  does a step: "write", "Store#0", {{"client": "Client#1"}}
    fields()                    what can be seen, by field: {{"Store#0.newest": 1}}; sets as sets,
                                roles and enums as text, records as dicts
    offers()                    may be left out: the steps that it would take next by itself, as
                                events {{"action": ..., "actor": ..., "with": {{...}}}}
"""

# ruff: noqa
# fmt: off

import json
from pathlib import Path

import pytest

MADE = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
CONSTANTS, SCENARIOS = MADE["constants"], MADE["scenarios"]


@pytest.mark.parametrize("scenario", range(len(SCENARIOS)), ids=lambda at: SCENARIOS[at]["name"])
def test_the_system_does_what_the_spec_says(system, scenario):
    expected = dict(SCENARIOS[scenario]["initial"])
    look(system, expected, "at the beginning")
    for number, step in enumerate(SCENARIOS[scenario]["steps"], 1):
        event = step["event"]
        system.take(event["action"], event.get("actor"), event.get("with", {{}}))
        expected.update(event.get("after", {{}}))
        told = f"after step {{number}}, {{event}}"
        look(system, expected, told)
        for offered in getattr(system, "offers", tuple)():
            known = any(offered.items() <= event.items() for event in step["possible"])
            assert known, f"{{told}}, it would go on with {{offered}}; the spec forbids that"


def look(system, expected, when):
    """Whatever can be seen of the system is as the spec says."""
    for name, seen in system.fields().items():
        assert name in expected, f"the spec has no field {{name}}"
        told = f"{{when}}, {{name}} is {{seen!r}}; the spec says {{expected[name]!r}}"
        assert same(seen, expected[name]), told


def same(seen, expected):
    """Whether a value is the one of the spec, written as JSON has it."""
    if isinstance(seen, (set, frozenset)):
        left = list(expected) if isinstance(expected, list) else [None]
        for one in seen:
            found = next((at for at, other in enumerate(left) if same(one, other)), None)
            if found is None:
                return False
            del left[found]
        return not left
    if isinstance(seen, (list, tuple)):
        both = isinstance(expected, list) and len(seen) == len(expected)
        return both and all(map(same, seen, expected))
    if isinstance(seen, dict):
        named = {{name if isinstance(name, str) else repr(name): seen[name] for name in seen}}
        both = isinstance(expected, dict) and named.keys() == expected.keys()
        return both and all(same(named[name], expected[name]) for name in named)
    return type(seen) is type(expected) and seen == expected

'''


def as_pytest(model: Model) -> str:
    """Return a module with a test for each scenario in the file beside it."""
    spec = model.path.replace("\\", "/").replace('"', "'")
    return _TEMPLATE.format(spec=spec)


class Files:
    """Scenarios on their way into files, one after the other."""

    def __init__(self, model: Model, events: str | None, module: str | None) -> None:
        self.model = model
        self.module = module
        beside = Path(module).with_suffix(".json") if module else None
        self.files = list(dict.fromkeys(Path(file) for file in (events, beside) if file))
        self.count = self.bytes = 0
        self.said = "nothing: there are no scenarios" if self.files else ""
        self._streams: list[IO[str]] = []

    @contextmanager
    def open(self) -> Iterator[None]:
        """While entered, scenarios can be added. A file without any would test nothing, so there is
        none.
        """
        try:
            with ExitStack() as stack:
                for file in self.files:
                    self._streams.append(
                        stack.enter_context(
                            _at_the_end() if str(file) == STDOUT
                            else written_bit_by_bit(file, _ELSEWHERE)
                        )
                    )  # fmt: skip
                if self.module:  # one that cannot be written is told before the work
                    stream = stack.enter_context(written_bit_by_bit(Path(self.module), _ELSEWHERE))
                    stream.write(as_pytest(self.model))
                self._write(self._head())
                yield
                if not self.count:
                    raise _Nothing
                self._write("\n]}\n")
        except _Nothing:
            return
        if self.files:
            names = [self.module] if self.module else []
            several = "s" if self.count > 1 else ""
            names += ["standard output" if str(f) == STDOUT else str(f) for f in self.files]
            self.said = f"{', '.join(names)}: {self.count:,} scenario{several}"

    def add(self, scenario: Scenario) -> None:
        """Write a scenario."""
        text = json.dumps(scenario.as_json(), ensure_ascii=False)
        self._write((",\n" if self.count else "\n") + text)
        self.count += 1
        self.bytes += len(text)

    def _write(self, text: str) -> None:
        for stream in self._streams:
            stream.write(text)

    def _head(self) -> str:
        head = {
            "schema": _SCHEMA,
            "spec": self.model.path,
            "constants": {name: plain(value) for name, value in self.model.constants.items()},
        }
        return json.dumps(head, ensure_ascii=False)[:-1] + ', "scenarios": ['


@contextmanager
def _at_the_end() -> Iterator[IO[str]]:
    """A stream to standard output, if all is written."""
    held = StringIO()
    yield held
    streams.out().write(held.getvalue())


class _Nothing(Exception):
    """There is nothing to write."""
