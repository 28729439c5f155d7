"""Properties of single members: ``small(A#0)``, ``small(A#1)``.

Only one state of each orbit is seen, so the search sees of each member what others may do just as
well. What is true of one of them is true of all that may take its place: they are asked together,
and what is found of one is found of the others, along the same way with members renamed. That
takes initial states that are the same when members are exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from statewalk.checker.contract.search import (
    Exploration,
    Finding,
    Pass,
    SearchOptions,
    Step,
    parted,
)
from statewalk.checker.states.showing import text_of
from statewalk.checker.symmetry.group import Renaming, Symmetry
from statewalk.dsl.errors import EngineError, SpecError
from statewalk.dsl.model import Action, Model, Property
from statewalk.dsl.state.plain_view import apply_writes
from statewalk.dsl.values.stored import ABSENT, encode, freeze, intern_key
from statewalk.dsl.view import Path, State


def is_of_members(prop: Property) -> bool:
    """Whether a property is one of a family."""
    return len(prop.elements) == 1 and prop.elements[0].label == prop.name and _bound(prop) != ()


def _bound(prop: Property) -> tuple[tuple[str, object], ...]:
    return prop.elements[0].bindings


def name_of(symmetry: Symmetry, prop: Property, renaming: Renaming) -> tuple[object, ...]:
    """What tells a property apart from others, with members renamed."""
    if not is_of_members(prop):
        return (prop.name,)
    values = (symmetry.rename(value, renaming) for _, value in _bound(prop))
    return (prop.name.partition("(")[0], *map(encode, values))


def action_name(symmetry: Symmetry, action: Action, renaming: Renaming) -> tuple[object, ...]:
    """What tells an action apart from others, with members renamed."""
    values = (action.actor, *(value for _, value in action.arguments))
    return action.name, *(encode(symmetry.rename(freeze(v), renaming)) for v in values)


@dataclass
class Families(Pass):
    """By name of a property: which others are true where it is, and how members are renamed to
    get there.
    """

    others: dict[str, dict[str, Renaming]] = field(default_factory=dict)
    symmetry: Symmetry = field(init=False)
    asked: SearchOptions = field(init=False)

    def before(self, model: Model, asked: SearchOptions) -> tuple[Model, SearchOptions]:
        """Ask for all that can take the place of what is asked for. Raises SpecError[SW209]."""
        self.asked = asked
        if not asked.symmetry:
            return model, asked
        of_members = [p for p in model.properties if p.of_kind.searched and is_of_members(p)]
        wanted = [p for p in of_members if asked.wants(p.name)]
        symmetry = Symmetry.asked(model, asked) if wanted else None
        if symmetry is None:
            return model, asked
        by_name = {name_of(symmetry, p, {}): p for p in of_members}
        others = {p.name: _orbit(symmetry, p, by_name) for p in wanted}
        moved = [p for p in wanted if len(others[p.name]) > 1]
        if moved and not symmetry.starts_evenly():
            raise _uneven(moved[0])
        if not moved:
            return model, asked
        self.others, self.symmetry = others, symmetry
        names = asked.properties
        if names is not None:
            names = tuple(dict.fromkeys((*names, *(n for of in others.values() for n in of))))
        awaited = tuple(min(others.get(n, {n: {}})) for n in asked.awaited)
        same = {n: min(of) for of in others.values() for n in of}
        return model, replace(asked, properties=names, awaited=awaited, same=same)

    def after(self, found: Exploration) -> Exploration:
        """Say what was found of one of all that were asked for."""
        known = {f.property: f for f in (*found.findings, *found.witnesses)}
        for name, others in self.others.items():
            of = [known[n] for n in others if n in known]
            if of and (name not in known or min(f.length for f in of) < known[name].length):
                first = min(of, key=lambda f: f.length)
                known[name] = self._moved(first, _inverse(others[first.property]), name)
        names = {n for others in self.others.values() for n in others}
        kept = (f for n, f in known.items() if n not in names or self.asked.wants(n))
        findings, witnesses = parted(kept)
        return replace(found, findings=findings, witnesses=witnesses)

    def _moved(self, found: Finding, renaming: Renaming, name: str) -> Finding:
        """A finding with its members renamed."""
        model = self.symmetry.model
        state: State = model.initial_states[found.initial]
        steps: list[Step] = []
        here: State = self.symmetry.renamed(state, renaming)
        starts = [_content(s) for s in model.initial_states]
        initial = starts.index(_content(here))
        for step in (*found.steps, *([found.failing] if found.failing is not None else [])):
            action = model.actions[step.action]
            state = _after(model, action, state, step)
            there = self.symmetry.renamed(state, renaming)
            made, here = self._step(action, here, there, renaming)
            steps.append(made)
        failing = steps.pop() if found.failing is not None else None
        return replace(
            found, property=name, initial=initial, steps=tuple(steps), failing=failing
        )  # fmt: skip

    def _step(
        self, action: Action, here: State, there: State, renaming: Renaming
    ) -> tuple[Step, State]:
        """The step that leads from one state to another, and where it leads."""
        model = self.symmetry.model
        wanted = action_name(self.symmetry, action, renaming)
        likely = [a for a in model.actions if action_name(self.symmetry, a, {}) == wanted]
        for other in (*likely, *(a for a in model.actions if a not in likely)):
            for outcome in model.outcomes(other, here, []):
                after = apply_writes(here, outcome.writes)
                if _content(after) == _content(there):
                    return Step(other.index, outcome.choices), after
        raise SpecError(
            "SW209",
            f"{action.label} has no counterpart when members are exchanged.",
            at=action.span,
            why="What it does in a reachable state, no action does with the members exchanged.",
            help="--symmetry off leaves symmetry alone.",
        )


def _orbit(
    symmetry: Symmetry, prop: Property, by_name: dict[tuple[object, ...], Property]
) -> dict[str, Renaming]:
    """The properties that one becomes when members change places, and by which renaming."""
    found: dict[str, Renaming] = {prop.name: {}}
    left = [(prop, dict[object, object]())]
    for here, renaming in left:
        for exchange in symmetry.exchanges():
            other = by_name.get(name_of(symmetry, here, exchange))
            if other is not None and other.name not in found:
                further = {m: exchange.get(n, n) for m, n in (*renaming.items(),)}
                further |= {m: n for m, n in exchange.items() if m not in further}
                found[other.name] = further
                left.append((other, further))
    return found


def _inverse(renaming: Renaming) -> Renaming:
    return {new: old for old, new in renaming.items()}


def _after(model: Model, action: Action, state: State, step: Step) -> State:
    for outcome in model.outcomes(action, state, []):
        if outcome.choices == step.choices:
            return apply_writes(state, outcome.writes)
    raise EngineError("SW310", f"{action.label} does not go the same way again.")


def _content(state: State) -> frozenset[tuple[Path, object]]:
    return frozenset((p, intern_key(v)) for p, v in state.items() if v is not ABSENT)


def _uneven(prop: Property) -> SpecError:
    shown = ", ".join(text_of(value) for _, value in _bound(prop))
    return SpecError(
        "SW209",
        f"{prop.name} speaks of one member, and the initial states are not the same for all.",
        at=prop.span,
        why="Of states that differ by an exchange of members only one is looked at, and what is "
        f"true of the others there may not be true of {shown}.",
        help="Check it without: --symmetry off.",
    )
