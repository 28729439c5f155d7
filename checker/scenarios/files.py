"""Scenarios as files: JSON, and a module for pytest that needs nothing of ours."""

from __future__ import annotations

import json
import pprint
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.machine.files import write_text
from statewalk.checker.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from statewalk.dsl.model import Model

_SCHEMA = 1
_TEMPLATE = '''"""Scenarios of {spec}: what a system is told, and what it has to show after that.

Made by statewalk; change the spec rather than this file. The fixture `system` is yours, an object
for each test, at its beginning, with

    take(action, actor, given)  does a step: "write", "Store#0", {{"client": "Client#1"}}
    fields()                    what can be seen, by field: {{"Store#0.newest": 1}}; sets as sets,
                                roles and enums as text, records as dicts
    offers()                    may be left out: the steps that it would take next by itself, as
                                events {{"action": ..., "actor": ..., "with": {{...}}}}
"""

# ruff: noqa
# fmt: off

import pytest


@pytest.mark.parametrize("scenario", range({count}), ids=lambda at: SCENARIOS[at]["name"])
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


SCENARIOS = {scenarios}
'''


def as_json(model: Model, scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Scenarios for programs."""
    return {
        "schema": _SCHEMA,
        "spec": model.path,
        "constants": {name: repr(value) for name, value in model.constants.items()},
        "scenarios": [scenario.as_json() for scenario in scenarios],
    }


def as_pytest(model: Model, scenarios: Sequence[Scenario]) -> str:
    """A module with a test for each scenario."""
    written = pprint.pformat([s.as_json() for s in scenarios], width=120, sort_dicts=False)
    spec = model.path.replace("\\", "/").replace('"', "'")
    return _TEMPLATE.format(spec=spec, count=len(scenarios), scenarios=written)


def write(
    model: Model, scenarios: Sequence[Scenario], events: str | None, module: str | None
) -> str:
    """Write scenarios to the files that were asked for; what is to be said of that. A file without
    scenarios would test nothing, so there is none.
    """
    files = [file for file in (events, module) if file]
    if not files or not scenarios:
        return "nothing: there are no scenarios" if files else ""
    if events:
        text = json.dumps(as_json(model, scenarios), indent=1, ensure_ascii=False)
        write_text(Path(events), text + "\n")
    if module:
        write_text(Path(module), as_pytest(model, scenarios))
    several = "s" if len(scenarios) > 1 else ""
    return f"{', '.join(files)}: {len(scenarios):,} scenario{several}"
