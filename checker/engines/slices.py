"""Searches for one group of properties after the other, each without the fields it does not read.

A field that no step reads decides about no step: states that differ in it only can do the same, and
what a property that does not read it says of them is the same too. So each group of properties is
searched with the unread fields that they read, and without the others (`checker.engines.hidden`).
The text only suggests who reads what. Whoever looks at a field that is left out ends the search,
and gets that field: nothing rests on the suggestion.

Elements of an invariant are apart where they read fields of different instances. One that reads
nothing but unread slots, of which every step replaces all or none, is true of all states
if it is true of the first ones and after each step: a step writes the same wherever it can be
taken. So it is watched during the search without those slots. Witnesses are looked for as
violations: their search ends where all are reached.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from statewalk.checker.contract.search import (
    NO_ERROR,
    Engine,
    Exploration,
    Finding,
    Key,
    SearchOptions,
    parted,
)
from statewalk.checker.contract.stops import from_outside
from statewalk.checker.engines.fields import readers_of
from statewalk.checker.engines.hidden import HiddenRead, HidingModel, HidingView, hiding
from statewalk.checker.engines.table import Kept, SmallFirst
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model, Property
from statewalk.dsl.source.readers import Readers
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.state.roles import Role
from statewalk.dsl.view import Path

EVERY = -1  # instance of a role
_MOST = 16  # groups, of which more are joined
_PAYS = 3.0  # times the states, from which slices are made where that is left to us
_PROBE = 30_000  # states that tell

Slot = tuple[str, int, str]
Part = tuple[str, int | None]
"""A property by name, and its element where those are searched apart."""


def refuse_slices(options: SearchOptions, others: dict[str, bool]) -> None:
    """Raises RunError[SW357] for what a search in slices cannot do."""
    given = {"--view on": options.view, "resume": options.resume, **others}
    for name in (name for name, there in given.items() if there):
        raise RunError(
            "SW357",
            f"--slice cannot be used with {name}.",
            why="Each group of properties is a search of its own; none of them sees every state.",
            help="Leave one of them out.",
        )


@dataclass(frozen=True)
class Slice:
    """The search for a group of properties: the fields it was made ``without``, and those left out
    ``partly``, of some instances. It ``ended`` early if it reached all it was for.
    """

    properties: tuple[str, ...]
    without: tuple[str, ...]
    partly: tuple[str, ...]
    distinct: int
    ended: bool = False


@dataclass(frozen=True)
class Unread:
    """Fields that no step was seen to read, and the state ``graph`` without them, if it was kept
    for properties that read none.
    """

    fields: frozenset[Key]
    graph: Any = None

    def hidden_from(self, model: Model, properties: Sequence[Property]) -> HidingModel:
        """Return the model without the fields that some properties do not read, by their text."""
        left = self.fields - _read_by(properties, readers_of(model))
        shown = {k: replace(info, auxiliary=k in left) for k, info in model.fields.items()}
        return hiding(replace(model, fields=shown))


def _read_by(properties: Sequence[Property], readers: Mapping[Key, Readers]) -> set[Key]:
    """Return the fields that some properties read, by their text."""
    names = {prop.name.partition("(")[0] for prop in properties}
    return {key for key, of in readers.items() if not names.isdisjoint(of.properties)}


@dataclass(frozen=True)
class Keeping:
    """An engine that keeps the state graph, for ``properties`` that are decided on it by their
    ``predicates``.
    """

    engine: Engine
    properties: tuple[Property, ...]
    predicates: tuple[Callable[[], bool], ...]


@dataclass(frozen=True)
class Sliced:
    """An engine: another one, and a search for each group of properties; the first is by the one
    that ``keeps`` the graph, if its properties read none of what is left out.
    """

    engine: Engine
    always: bool = True
    keeps: Keeping | None = None

    def explore(self, model: Model, options: SearchOptions) -> Exploration:
        """See `checker.contract.search`."""
        if self.always or self._promises(model, options):
            return _Slices(model, options, self.engine, self.keeps).explore()
        return self.engine.explore(model, options)

    def _promises(self, model: Model, options: SearchOptions) -> bool:
        """Return whether the first states are many times as many for fields that no step reads."""
        most = min(_PROBE, options.max_states or _PROBE)
        found = self.engine.explore(
            model, replace(options, max_states=most, checkpoint=None, on_progress=None)
        )
        counts = [found.counts.distinct / max(1.0, one.without) for one in found.fields]
        return found.stopped == "states" and max(counts, default=1.0) >= _PAYS


class _Noting(HidingView):
    """A view that notes which slots are looked at."""

    def __init__(self, view: Any) -> None:
        super().__init__(view, {}, frozenset())
        self.noted: set[Slot] = set()

    def _look(self, path: Path) -> None:
        self.noted.add((path[0], path[1], path[2]))


@dataclass
class _Slices:
    """The groups of a search. ``reads`` says which slots of unread fields a part looks at, but for
    those that are ``watched`` in the first search.
    """

    model: Model
    options: SearchOptions
    engine: Engine
    keeps: Keeping | None
    unread: set[Key] = field(default_factory=set)
    reads: dict[Part, frozenset[Slot]] = field(default_factory=dict)
    watched: dict[Part, frozenset[Slot]] = field(default_factory=dict)
    known: dict[Any, tuple[Exploration, Slice]] = field(default_factory=dict)

    def explore(self) -> Exploration:
        """Search until nobody looks at what is left out."""
        self.began = time.monotonic()
        fresh = self.model.fresh_values or self.model.first_unused  # a step asks every field
        self.readers = {} if fresh else readers_of(self.model)
        self.unread = {
            key for key, info in self.model.fields.items()
            if not info.constant and key in self.readers and not self.readers[key].steps
        }  # fmt: skip
        self.properties = {
            p.name: p
            for p in self.model.properties
            if p.of_kind.searched and self.options.wants(p.name)
        }
        self._suggest(split=not self.options.symmetry)
        while True:
            try:
                done = [*self._searched()]
            except HiddenRead as read:
                if self.keeps is not None and read.predicate in self.keeps.predicates:
                    self.keeps = None
                else:
                    self._give(read)
                continue
            errors = any(f.property == NO_ERROR for one, _ in done for f in one.findings)
            if errors and any(index is not None for _, index in self.reads):
                self._suggest(split=False)  # an element may raise only where one before is false
                continue
            return self._joined(done)

    # -- groups ------------------------------------------------------------------------------------

    def _suggest(self, *, split: bool) -> None:
        """Say which slots each part reads, by the text and by its reads in the first state."""
        self.reads, self.watched = {}, {}
        for prop in self.properties.values():
            name = prop.name.partition("(")[0]
            fields = {key for key in self.unread if name in self.readers[key].properties}
            apart = split and not prop.of_kind.sought and prop.of_kind.invariant
            for at, element in enumerate(prop.elements) if fields and apart else ():
                self._suggest_for((prop.name, at), element.holds, fields)
            if (prop.name, 0) not in self.reads:
                self.reads[prop.name, None] = frozenset((o, EVERY, f) for o, f in fields)

    def _suggest_for(self, part: Part, predicate: Callable[[], bool], fields: set[Key]) -> None:
        """Note the slots of some fields, of the instances that a predicate looks at."""
        noted: set[Slot] = set()
        try:
            first = True
            for state in self.model.initial_states:
                view = _Noting(PlainView(state))
                first = self.model.holds(predicate, view) and first
                noted |= view.noted
        except Exception:
            self.reads[part] = frozenset((owner, EVERY, name) for owner, name in fields)
            return
        own = {slot for slot in noted if (slot[0], slot[2]) in self.unread}
        slots = frozenset((o, at, n) for o, n in fields for p, at, _ in own if p == o)
        roles = (cls for cls in self.model.classes.values() if issubclass(cls, Role))
        come = any(cls._room is not None for cls in roles)
        watch = bool(own) and own == noted and first and not come
        self.reads[part] = frozenset() if watch else slots
        if watch:
            self.watched[part] = frozenset(own)

    def _groups(self) -> dict[frozenset[Slot], list[Part]]:
        """Return the parts by what they read, those that read nothing unread first."""
        groups: dict[frozenset[Slot], list[Part]] = {frozenset(): []}
        for part, slots in self.reads.items():
            groups.setdefault(slots, []).append(part)
        for slots in sorted(groups, key=len):
            wider = next((other for other in groups if slots and slots < other), None)
            if wider is not None:
                groups[wider] += groups.pop(slots)
        if len(groups) > _MOST and any(slot[1] != EVERY for slots in groups for slot in slots):
            for part, slots in self.reads.items():
                self.reads[part] = frozenset((o, EVERY, f) for o, _, f in slots)
            return self._groups()
        return dict(sorted(groups.items(), key=lambda of: (len(of[0]), sorted(of[0]))))

    def _give(self, read: HiddenRead) -> None:
        """Let whoever looked at a slot have it; a step lets everybody have the field."""
        owner, index, name = read.path[:3]
        parts = [part for part in self.reads if read.predicate in self._predicates(part)]
        if read.parted:
            parts = [part for part, slots in self.watched.items() if (owner, index, name) in slots]
        own = [part for part in parts if part in self.watched]
        for part in own:
            self.reads[part] |= self.watched.pop(part)
        self.known = {key: one for key, one in self.known.items() if parts}
        if not parts:
            if (owner, name) not in self.unread:
                raise read
            self.unread.discard((owner, name))
        for part, slots in self.reads.items():
            if part in parts:
                more = part not in own and any((o, f) == (owner, name) for o, _, f in slots)
                all_of = more or part[1] is None or self.options.symmetry
                slots |= {(owner, EVERY if all_of else index, name)}
            kept = {(o, EVERY, f) for o, i, f in slots if i == EVERY}
            self.reads[part] = frozenset(
                slot for slot in slots
                if (slot[0], slot[2]) in self.unread
                and (slot in kept or (slot[0], EVERY, slot[2]) not in kept)
            )  # fmt: skip

    def _predicates(self, part: Part) -> list[Any]:
        name, index = part
        prop = self.properties[name]
        every = [element.holds for element in prop.elements]
        return [prop.whole, *every] if index is None else [every[index]]

    # -- searches ----------------------------------------------------------------------------------

    def _searched(self) -> Iterator[tuple[Exploration, Slice]]:
        """Yield the search of each group; none goes further than one before it
        that found a violation.
        """
        last: int | None = None
        for slots, parts in self._groups().items():
            key = (frozenset(self.unread), slots, tuple(parts), last)
            if key not in self.known:
                self.known[key] = self._search(slots, parts, last)
            found = self.known[key][0]
            yield self.known[key]
            if isinstance(self.engine, SmallFirst) and "small" not in found.statistics:
                self.engine = self.engine.large  # what has more fields is no smaller
            if found.running is not None or from_outside(found.stopped):
                return
            if not self.options.keep_going and not self.options.awaited:
                stages = [stage_of(f) for f in found.findings]
                last = min(stages if last is None else [*stages, last], default=None)

    def _search(
        self, slots: frozenset[Slot], parts: Sequence[Part], last: int | None
    ) -> tuple[Exploration, Slice]:
        """Search for a group, not after a stage that finds what ends the search."""
        hidden = {
            (owner, name): frozenset(i for o, i, f in slots if (o, f) == (owner, name))
            for owner, name in self.unread
            if (owner, EVERY, name) not in slots
        }
        ending = bool(slots) and all(self.properties[n].kind == "exists" for n, _ in parts)
        watched = {part: self.watched[part] for part in parts if part in self.watched}
        properties = [*self._asked([p for p in parts if p not in watched], ending)]
        own = {f"{name} ({at})": (name, at) for name, at in watched}
        for said, (name, at) in own.items():
            element = self.properties[name].elements[at or 0]
            properties.append(Property(said, "on_step", (), element.holds, source=None))
        model = replace(
            self.model,
            properties=tuple(properties),
            check_deadlock=self.model.check_deadlock and not slots,
            fields={
                key: replace(info, auxiliary=key in hidden, shown=hidden.get(key, frozenset()))
                for key, info in self.model.fields.items()
            },
        )
        options = replace(self.options, view=True, checkpoint=None)
        if ending:
            names = tuple(p.name for p in properties)
            options = replace(options, keep_going=False, awaited=names, same={})
        if options.properties is not None:
            options = replace(options, properties=(*options.properties, *own))
        if last is not None:
            options = replace(options, max_depth=min(last + 2, options.max_depth or last + 2))
        if options.timeout is not None:
            left = options.timeout - (time.monotonic() - self.began)
            options = replace(options, timeout=max(0.001, left))
        keeps = None if slots else self.keeps
        if keeps is not None and _read_by(keeps.properties, self.readers) & self.unread:
            keeps = None
        try:
            rules = {self._predicates(part)[0]: watched[part] for part in own.values()}
            engine = self.engine if keeps is None else keeps.engine
            found = engine.explore(hiding(model, rules), options)
        except HiddenRead as read:
            read.predicate = self._meant(properties, read.predicate)
            raise
        graph = None if keeps is None or isinstance(found.kept, Kept) else found.kept
        findings = tuple(_of_state(f, own) for f in found.findings)
        found = replace(found, findings=findings, kept=graph)
        return self._as_asked(found, last, ending), Slice(
            tuple(dict.fromkeys(name for name, _ in parts)),
            tuple(sorted(f"{o}.{n}" for (o, n), shown in hidden.items() if not shown)),
            tuple(sorted(f"{o}.{n}" for (o, n), shown in hidden.items() if shown)),
            found.counts.distinct,
            ending and found.stopped == "violation",
        )

    def _asked(self, parts: Sequence[Part], ending: bool) -> Iterator[Property]:
        """Yield the properties of a group, with those of their elements that are in it."""
        for name in dict.fromkeys(name for name, _ in parts):
            prop = self.properties[name]
            indices = [index for n, index in parts if n == name]
            if ending:
                yield replace(prop, kind="always", elements=(), whole=_not(prop.whole), source=None)
            elif None in indices:
                yield prop
            else:
                elements = tuple(e for at, e in enumerate(prop.elements) if at in indices)
                whole = _all_of([e.holds for e in elements])
                yield replace(prop, elements=elements, whole=whole, source=None)

    def _meant(self, properties: Sequence[Property], predicate: object) -> object:
        """Return the spec's own predicate where one was made of it, any of several."""
        for prop in properties:
            if predicate == prop.whole and prop.kind != "on_step":
                own = self.properties[prop.name]
                return prop.elements[0].holds if prop.elements else own.whole
        return predicate

    def _as_asked(self, found: Exploration, last: int | None, ending: bool) -> Exploration:
        """Return what was found as a search of everything would say it."""
        if ending:
            kinds = {f: self.properties.get(f.property) for f in found.findings}
            findings, reached = parted(
                f if prop is None else replace(f, kind=prop.kind) for f, prop in kinds.items()
            )
            found = replace(found, findings=findings, witnesses=(*found.witnesses, *reached))
            if found.stopped == "violation" and not findings:
                found = replace(found, stopped=None, complete=True)
        if found.stopped == "depth" and last is not None:
            if self.options.max_depth is None or last + 2 <= self.options.max_depth:
                found = replace(found, stopped=None, complete=True)
        return found

    # -- what is said of them ----------------------------------------------------------------------

    def _joined(self, done: Sequence[tuple[Exploration, Slice]]) -> Exploration:
        """Return one exploration: the counts are those of the largest search."""
        every = [one for one, _ in done]
        best: dict[str, Finding] = {}
        for f in (f for one in every for f in (*one.findings, *one.witnesses)):
            known = best.get(f.property)
            if known is None or stage_of(f) < stage_of(known):
                best[f.property] = f
        end = self._end(best)
        both = parted(f for f in best.values() if end is None or stage_of(f) <= end)
        whole = [one for one, said in done if not said.ended]
        largest = max(whole, key=lambda one: one.counts.distinct)
        stopped = next((o.stopped for o in every if o.stopped not in (None, "violation")), None)
        if end is not None and not from_outside(stopped):
            stopped = "error" if NO_ERROR in {f.property for f in both[0]} else "violation"
        slices = [vars(said) for _, said in done]
        return replace(
            largest,
            findings=both[0],
            witnesses=both[1],
            complete=stopped is None,
            stopped=stopped,
            seconds=sum(one.seconds for one in every),
            queue=sum(one.queue for one in every),
            cut={name: n for one in reversed(every) for name, n in one.cut.items()},
            statistics={**largest.statistics, "slices": slices},
            warnings=tuple(dict.fromkeys(text for one in every for text in one.warnings)),
            running=next((one.running for one in every if one.running is not None), None),
            fields=(),
            kept=Unread(frozenset(self.unread), every[0].kept),
        )

    def _end(self, best: dict[str, Finding]) -> int | None:
        """Return the stage that ends a search of everything; None where none does."""
        stages = {f.property: stage_of(f) for f in best.values() if not f.of_kind.witness}
        if NO_ERROR in stages and (self.options.keep_going or self.options.awaited):
            return stages[NO_ERROR]
        if not stages or self.options.keep_going:
            return None
        ends = [
            at for at in sorted(set(stages.values()))
            if self.options.ends_with([f for f in best.values() if stage_of(f) <= at])
        ]  # fmt: skip
        return ends[0] if ends else None


def stage_of(found: Finding) -> int:
    """Return the stage that finds it: see the contract, rule 4."""
    return found.length if found.kind == "deadlock" else found.length - 1


def _of_state(found: Finding, own: Mapping[str, Part]) -> Finding:
    """Return what a watched element found, as a violation in the state after the step."""
    if found.property not in own or found.failing is None:
        return found
    steps = (*found.steps, found.failing)
    return replace(found, property=own[found.property][0], kind="always", steps=steps, failing=None)


def _not(predicate: Callable[[], bool]) -> Callable[[], bool]:
    def holds() -> bool:
        return not predicate()

    return holds


def _all_of(predicates: Sequence[Callable[[], bool]]) -> Callable[[], bool]:
    def holds() -> bool:
        return all(predicate() for predicate in predicates)

    return holds
