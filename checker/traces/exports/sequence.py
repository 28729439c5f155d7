"""Sequence diagrams: roles are lanes; a record put into another role's field is an arrow to it.

A record that a step takes out of a field of its actor, or out of shared state, is named in the
step's note, as what was received. A step that changes other fields of another instance has called
it: an arrow says which; where shared state acts and takes records away, they are lost. Variables
that belong to no instance have no lane.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from statewalk.checker.states.content import show_field
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record, fields_of

if TYPE_CHECKING:
    from statewalk.checker.states.diff import Change
    from statewalk.checker.traces.trace import Trace, TraceStep

_OUTSIDE = "environment"
_LIMIT = 120  # characters of a text in the formats of others


@dataclass(frozen=True)
class Note:
    """A change in a lane: its text and place; ``whole`` if no part of it may be left out."""

    text: str
    place: str = ""
    whole: bool = False


@dataclass(frozen=True)
class Event:
    """Something to draw of a step, by its number: what an actor does, with the records it
    ``received``; or an arrow to a target, which is a record ("message") or
    what it changes there ("call"; "lost" where nobody takes records away). ``changes`` are those
    of the actor's own fields, or of the target's.
    """

    step: int
    source: str
    text: str
    target: str = ""
    kind: Literal["step", "message", "call", "lost"] = "step"
    received: tuple[str, ...] = ()
    changes: tuple[Note, ...] = ()

    @property
    def note(self) -> str:
        """Return what a step says, with its number and what it received."""
        got = f" ← {', '.join(self.received)}" if self.received else ""
        return f"{self.step}. {self.text}{got}"


def events(trace: Trace) -> Iterator[Event]:
    """Yield the events of a trace, step by step."""
    shared = set(trace.names.values())
    actors = [lane(step.actor, trace.names) for step in trace.steps]
    parties = {*actors, *_instances(trace)}
    reads = trace.reason.reads if trace.reason is not None else ()
    for number, (step, changes) in enumerate(trace, 1):
        actor = actors[number - 1]
        own = {actor} if actor in shared else {actor, *shared}
        got = [c for c in changes if is_message(c, "-") and owner_of(c) in own]
        mine = [c for c in changes if owner_of(c) == actor and c not in got]
        received = tuple(_name(c.before) for c in got)
        told = tuple(_note(c, actor, reads) for c in mine)
        yield Event(number, actor, _call(step), received=received, changes=told)
        for change in changes:
            if is_message(change, "+") and (owner := owner_of(change)) != actor:
                yield Event(number, actor, _name(change.after), owner, "message")
        left = [c for c in changes if c not in got]
        for owner, found in _touched(left, parties - {actor}).items():
            nobody = actor == _OUTSIDE or actor in shared
            lost = nobody and all(is_message(c, "-") for c in found)
            notes = tuple(_note(c, owner, reads) for c in found)
            text = "\n".join(str(c).replace(f"{owner}.", "", 1) for c in found)
            yield Event(number, actor, text, owner, "lost" if lost else "call", changes=notes)


def _note(change: Change, owner: str, reads: Iterable[str]) -> Note:
    text = str(change).replace(f"{owner}.", "", 1).replace("  ", " ")
    return Note(text, change.place, any(change.place.startswith(place) for place in reads))


def _instances(trace: Trace) -> set[str]:
    """Return the instances that have a field in a state of the trace."""
    fields = {path for content in trace.contents for path in content}
    shown = (show_field(path, trace.names) for path in fields)
    return {owner for owner, dot, _ in (text.partition(".") for text in shown) if dot}


def _touched(changes: Iterable[Change], others: set[str]) -> dict[str, list[Change]]:
    """Return what a step changes in the fields of others, by owner, without the records it puts
    there.
    """
    found: dict[str, list[Change]] = {}
    for change in changes:
        if (owner := owner_of(change)) in others and not is_message(change, "+"):
            found.setdefault(owner, []).append(change)
    return found


def is_message(change: Change, mark: str) -> bool:
    """Return whether a change puts a record somewhere ("+"), or takes one away ("-")."""
    value = change.after if mark == "+" else change.before
    return change.mark == mark and change.element and isinstance(value, Record)


def owner_of(change: Change) -> str:
    """Return the role instance whose field a change is in."""
    return change.place.partition(".")[0]


def lane(actor: Any, names: Mapping[str, str]) -> str:
    """Return the lane of an actor, called as ``names`` says where it is shared state."""
    if not isinstance(actor, Role):
        return _OUTSIDE
    return names.get(type(actor).__name__) or repr(actor)


def _call(step: TraceStep) -> str:
    chosen = [str(c) for c in step.choices if not isinstance(c.value, Record)]
    return " ".join([step.call, *chosen])


def _name(record: Any) -> str:
    shown = ", ".join(f"{n}={getattr(record, n)!r}" for n in fields_of(record) if n != "source")
    return f"{type(record).__name__}({shown})"


def _cut(text: str) -> str:
    return text if len(text) <= _LIMIT else text[: _LIMIT - 1] + "…"


def lanes(trace: Trace) -> dict[str, str]:
    """Return the lanes that something happens in, in order of appearance, each with a short
    name.
    """
    found = [name for event in events(trace) for name in (event.source, event.target) if name]
    return {name: f"L{at}" for at, name in enumerate(dict.fromkeys(found))}


# What mermaid would take for a line's end, a directive, a formula, a tag or a character's code.
_MERMAID = str.maketrans(
    {c: f"#{ord(c)};" for c in ";#%$<&"} | {"\n": "<br/>", "\r": "", "\u2028": "", "\u2029": ""}
)
# What PlantUML would: a function, a tag, a break, and two of what marks words, as in //word//.
_PLANTUML = re.compile(r"""[%<~\\&$]|(?<=([*/_\-"\[|=.]))\1""")


def _plain(text: str) -> str:
    return text.translate(_MERMAID)


def _plain_for_plantuml(text: str) -> str:
    shown = _PLANTUML.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)
    return "\\n".join(shown.splitlines())


def _false(trace: Trace, ids: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what is false at the end, and the lane that it is said of."""
    reason = trace.reason
    if reason is not None and reason.innermost is not None and ids:
        owner = next((lane for lane in reason.lanes if lane in ids), next(iter(ids)))
        yield owner, f"✗ {trace.property}: {reason.said}"


def to_mermaid(trace: Trace) -> str:
    """Return a trace as a mermaid ``sequenceDiagram``."""
    ids = lanes(trace)
    lines = ["sequenceDiagram", f"  %% {_plain(trace.property)} of {_plain(trace.spec)}"]
    lines += [f"  participant {i} as {_plain(name)}" for name, i in ids.items()]
    for event in events(trace):
        if event.target:
            text = "\n".join(map(_cut, event.text.split("\n")))
            lines.append(f"  {ids[event.source]}->>{ids[event.target]}: {_plain(text)}")
        else:
            lines.append(f"  Note over {ids[event.source]}: {_plain(_cut(event.note))}")
    lines += [f"  Note over {ids[owner]}: {_plain(said)}" for owner, said in _false(trace, ids)]
    if trace.loop is not None and ids:
        lines.append(f"  Note over L0: back to state {trace.loop}, for ever")
    return "\n".join(lines) + "\n"


def to_plantuml(trace: Trace) -> str:
    """Return a trace as a PlantUML sequence diagram."""
    ids = lanes(trace)
    lines = ["@startuml", f"title {_plain_for_plantuml(trace.property)}"]
    for name, i in ids.items():
        shown = _plain_for_plantuml(name).replace('"', "<U+0022>")
        lines.append(f'participant "{shown}" as {i}')
    for event in events(trace):
        if event.target:
            text = _plain_for_plantuml("\n".join(map(_cut, event.text.split("\n"))))
            lines.append(f"{ids[event.source]} -> {ids[event.target]} : {text}")
        else:
            lines.append(f"note over {ids[event.source]} : {_plain_for_plantuml(_cut(event.note))}")
    for owner, said in _false(trace, ids):
        lines.append(f"note over {ids[owner]} #pink : {_plain_for_plantuml(said)}")
    return "\n".join([*lines, "@enduml"]) + "\n"
