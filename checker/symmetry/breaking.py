"""The check that a spec keeps its declared symmetry: tried out on a sample of the search.

Exchanging two members in a state must exchange them in everything that can happen there, and leave
the truth of every property as it is. What picks a member by name, place or order does neither.
Where steps take the first value that nothing mentions, exchanging may give another one of these:
there it is enough that the states reached are the same up to renaming. A text spec may put members
into a list in the order of a set or dict, as long as no order of such a list makes a difference:
that is tried out too.

The sample: in each of the first 100 levels, the two states with the least fingerprints; there, four
exchanges of two neighbours, eight instances of each action, and each property, in turn. It is part
of the engine contract, so that all engines find the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.states.attempts import Attempt, attempts
from statewalk.checker.states.fingerprints import Fingerprints
from statewalk.checker.states.shortening import text_of
from statewalk.checker.symmetry.colours import Colouring
from statewalk.checker.symmetry.group import Renaming, Symmetry, action_name, name_of
from statewalk.dsl.errors import Span, SpecError
from statewalk.dsl.model import Action, Property
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.state.refs import show_place
from statewalk.dsl.values.stored import ABSENT, intern_key
from statewalk.dsl.view import Path, State

LEVELS, STATES, EXCHANGES, INSTANCES, STEPS = 100, 2, 4, 8, 4
_WHY = "Members of a symmetric class are interchangeable: no order, index or name may decide."
_HELP = (
    "Choose with any_of(...), or do not declare them symmetric (--symmetry off leaves it alone)."
)
# What an attempt comes to: what it changes, or the class of what it raises.
_Effect = frozenset[tuple[Path, Any]] | str


class Sample:
    """Tries exchanges of members on the states of one search."""

    def __init__(self, symmetry: Symmetry, options: SearchOptions) -> None:
        self.symmetry = symmetry
        self.model = model = symmetry.model
        self._exchanges = symmetry.exchanges()
        self._colouring = Colouring(symmetry.facts, Fingerprints(model.fields))
        wanted = [p for p in model.properties if options.wants(p.name)]
        states, steps = options.wanted(model, "states"), options.wanted(model, "steps")
        self._of_states = (*states, *model.constraints, *model.terminal)
        self._of_steps = (*steps, *model.step_constraints)
        self._families: dict[tuple[str, str], list[Action]] = {}
        self._by_name: dict[object, Action] = {}
        self._values: dict[tuple[Path, Any], Any] = {}
        for action in model.actions:
            self._families.setdefault((action.name, type(action.actor).__name__), []).append(action)
            self._by_name[action_name(symmetry, action, {})] = action
        groups = (wanted, model.constraints, model.terminal, model.step_constraints)
        self._group = {id(p): number for number, group in enumerate(groups) for p in group}
        self._unordered = False  # whether lists of members are compared without their order
        every = (*self._of_states, *self._of_steps)
        self._properties = {self._key(p, {}): p for p in every}

    def wants(self, depth: int) -> bool:
        """Return whether states of a level are to be looked at."""
        return bool(self._exchanges) and depth < LEVELS

    def look(self, depth: int, states: Sequence[State]) -> None:
        """Look at the first states of a level, which are those of the least fingerprints.

        Raises:  SpecError[SW209] where an exchange makes a difference
        """
        for number, state in enumerate(states[:STATES]):
            turn = depth * STATES + number
            chosen = list(self._instances(turn))
            effects = {a.index: list(attempts(self.model, a, state)) for a in chosen}
            for at in range(min(EXCHANGES, len(self._exchanges))):
                place = turn * EXCHANGES + at
                exchange = self._exchanges[place % len(self._exchanges)]
                other = self.symmetry.renamed(state, exchange)
                for action in chosen:
                    self._compare_action(action, state, effects[action.index], other, exchange)
                self._compare_properties(state, other, effects, exchange)
            if self._unordered:
                self._compare_orders(turn, state, effects)

    def _instances(self, turn: int) -> Iterator[Action]:
        """Yield some instances of each action, others in each turn."""
        for family in self._families.values():
            for at in range(min(INSTANCES, len(family))):
                yield family[(turn * INSTANCES + at) % len(family)]

    # -- actions ---------------------------------------------------------------------------------

    def _compare_action(
        self, action: Action, state: State, found: list[Attempt], other: State, exchange: Renaming
    ) -> None:
        image = self._by_name.get(action_name(self.symmetry, action, exchange))
        if image is None:
            raise _broken(
                action.span, exchange, f"{action.label} has no counterpart",
                "There is no action that does the same for the other one.",
            )  # fmt: skip
        before = Counter(self._effect(state, a, {}) for a in found)
        expected = Counter(self._effect(state, a, exchange) for a in found)
        others = list(attempts(self.model, image, other))
        actual = Counter(self._effect(other, a, {}) for a in others)
        if expected == actual or self._same_orbits(state, found, other, others):
            return
        if self._same_in_any_order((state, found, exchange), (other, others, {})):
            self._unordered = True
            return
        first = [f"In a reachable state {action.label} leads to {self._shown(before)}."]
        if not before:
            first = [f"There is a reachable state where {action.label} is disabled."]
        wanted = self._shown(expected - actual) if expected else "nothing"
        got = self._shown(actual - expected) if actual else "nothing: it is disabled"
        then = f"Exchanged, {image.label} should lead to {wanted}, but leads to {got}."
        raise _broken(
            image.span, exchange, f"{image.label} does something else",
            "\n".join([*first, then]),
        )  # fmt: skip

    def _same_orbits(
        self, state: State, found: list[Attempt], other: State, others: list[Attempt]
    ) -> bool:
        """Return whether two states are followed by the same up to renaming, where that
        is enough.
        """

        def orbits(before: State, ways: list[Attempt]) -> Counter[object]:
            return Counter(
                type(way.error).__name__
                if way.error is not None
                else self._colouring.of(apply_writes(before, way.writes)).fingerprint
                for way in ways
            )

        return self.model.fresh_values and orbits(state, found) == orbits(other, others)

    def _same_in_any_order(self, *sides: tuple[State, list[Attempt], Renaming]) -> bool:
        """Return whether two states are followed by the same up to the order of lists of members,
        where that is enough.
        """
        if self.model.dialect != "fizz":
            return False
        plain = self.symmetry.facts.without_order
        one, two = (
            Counter(self._effect(state, way, renaming, plain) for way in ways)
            for state, ways, renaming in sides
        )
        return one == two

    def _compare_orders(
        self, turn: int, state: State, effects: Mapping[int, list[Attempt]]
    ) -> None:
        """Compare a state with one in which lists of members have another order."""
        facts = self.symmetry.facts
        other = {p: v if v is ABSENT else facts.reordered(v, turn) for p, v in state.items()}
        if all(other[path] is value for path, value in state.items()):
            return
        for number, ways in effects.items():
            action = self.model.actions[number]
            others = list(attempts(self.model, action, other))
            if not self._same_in_any_order((state, ways, {}), (other, others, {})):
                raise _ordered(action.span, action.label)
        steps = [a for found in effects.values() for a in found if a.error is None][:STEPS]
        for prop in (*self._of_states, *self._of_steps):
            if prop in self._of_states and self._truth(prop, state) != self._truth(prop, other):
                raise _ordered(prop.span, prop.name)
            for attempt in steps if prop in self._of_steps else ():
                after = apply_writes(state, attempt.writes)
                moved = {
                    p: v if v is ABSENT else facts.reordered(v, turn) for p, v in after.items()
                }
                if self._truth(prop, after, state) != self._truth(prop, moved, other):
                    raise _ordered(prop.span, prop.name)

    def _effect(
        self, state: State, attempt: Attempt, renaming: Renaming,
        seen: Callable[[Any], Any] = lambda value: value,
    ) -> _Effect:  # fmt: skip
        if attempt.error is not None:
            return type(attempt.error).__name__
        changes = []
        for path, value in attempt.writes.items():
            if intern_key(seen(value)) == intern_key(seen(state.get(path, ABSENT))):
                continue
            place = self.symmetry.renamed_path(path, renaming)
            new = value if value is ABSENT else seen(self.symmetry.rename(value, renaming))
            changes.append((place, intern_key(new)))
            self._values[changes[-1]] = new
        return frozenset(changes)

    def _shown(self, effects: Counter[_Effect]) -> str:
        """Return the first of some effects in words, always the same one."""
        texts = []
        for effect in effects:
            if isinstance(effect, str):
                texts.append(effect)
                continue
            parts = sorted(
                f"{show_place(path, ())} = {text_of(self._values[path, key])}"
                for path, key in effect
                if "keys" not in path[3:4] and path[2] != "@flow"
            )
            more = len(effect) > len(parts[:3])
            texts.append(", ".join(parts[:3] + ["and more"] * more) if effect else "no change")
        return min(texts, default="as much, fewer times")

    # -- properties ------------------------------------------------------------------------------

    def _compare_properties(
        self, state: State, other: State, effects: Mapping[int, list[Attempt]], exchange: Renaming
    ) -> None:
        for prop in self._of_states:
            image = self._image(prop, exchange)
            one, two = self._truth(prop, state), self._truth(image, other)
            if one != two:
                raise _changed(prop, exchange, "state", one, two)
        if not self._of_steps:
            return
        steps = [a for found in effects.values() for a in found if a.error is None][:STEPS]
        for attempt in steps:
            after = apply_writes(state, attempt.writes)
            moved = self.symmetry.renamed(after, exchange)
            for prop in self._of_steps:
                image = self._image(prop, exchange)
                one, two = self._truth(prop, after, state), self._truth(image, moved, other)
                if one != two:
                    raise _changed(prop, exchange, "step", one, two)

    def _key(self, prop: Property, exchange: Renaming) -> tuple[object, ...]:
        """Return what tells a property apart: a constraint and a terminal predicate may share a
        name.
        """
        return self._group[id(prop)], prop.kind, *name_of(self.symmetry, prop, exchange)

    def _image(self, prop: Property, exchange: Renaming) -> Property:
        """Return what a property says of the members in whose places others are."""
        found = self._properties.get(self._key(prop, exchange))
        if found is None:
            said = "There is no property that says the same of the other one."
            raise _broken(prop.span, exchange, f"{prop.name} has no counterpart", said)
        return found

    def _truth(self, prop: Property, state: State, before: State | None = None) -> str:
        """Return the truth of a property, or the class of what it raises."""
        try:
            return str(
                self.model.holds(
                    prop.whole, PlainView(state), None if before is None else PlainView(before)
                )
            )
        except Exception as error:
            return type(error).__name__


def _ordered(span: Span | None, what: str) -> SpecError:
    return SpecError(
        "SW209",
        f"{what} depends on the order of a list of interchangeable members.",
        at=span,
        why="The list was made in the order of a set or dict, which has none among them.\n" + _WHY,
        help=_HELP,
    )


def _changed(prop: Property, exchange: Renaming, what: str, one: str, two: str) -> SpecError:
    return _broken(
        prop.span, exchange, f"{prop.name} is no longer the same",
        f"It gives {one} in a reachable {what}, and {two} with both exchanged.",
    )  # fmt: skip


def _broken(span: Span | None, exchange: Renaming, what: str, why: str) -> SpecError:
    one, other = exchange
    return SpecError(
        "SW209",
        f"{what} when {text_of(one)} and {text_of(other)} are exchanged.",
        at=span,
        why=f"{why}\n{_WHY}",
        help=_HELP,
    )
