"""The Model: what a front end makes of a spec, and all that an engine sees of it.

An engine never looks at syntax. It gets initial states, actions and properties as functions to be
run against a `View`, and moves states. A *state* here is a mapping path → stored value (see
`dsl.view`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from statewalk.dsl.binding import bound
from statewalk.dsl.declared import Configuration, Fairness
from statewalk.dsl.errors import Span, SpecError
from statewalk.dsl.kinds import OfKind, PropertyKind
from statewalk.dsl.state.outside import Outside, in_steps
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.view import Disabled, FairChoice, Path, State, View

Dialect = Literal["python", "fizz"]
"""The language that a spec is written in; both become the same tree."""
Term: TypeAlias = tuple[Any, ...]
"""See `dsl.assemble.formulas`."""
CONTINUED = " (continued)"  # ends the names of actions that go on with a suspended run


@dataclass(frozen=True)
class Text:
    """The text of a function with its arguments, or of an expression over ``names``."""

    function: Any
    arguments: tuple[Any, ...] = ()
    expression: Any = None
    names: tuple[str, ...] = ()
    as_bool: bool = False


@dataclass(frozen=True)
class Action:
    """One action instance: an actor's move with its arguments fixed. ``index`` orders them.

    Suspended runs of an action are in its ``slot``; one that ``continues`` goes on with such a
    run. A ``fault`` is not what a state needs to be no deadlock.
    """

    index: int
    name: str
    actor: Any | None
    arguments: tuple[tuple[str, Any], ...]
    run: Callable[[], object]
    fairness: Fairness = "none"
    span: Span | None = None
    slot: Path | None = None
    continues: bool = False
    fault: bool = False
    source: Text | None = None

    @property
    def label(self) -> str:
        """``Client#0.send(broker=Broker#1)``"""
        actor = f"{self.actor!r}." if self.actor is not None else ""
        shown = ", ".join(f"{name}={value!r}" for name, value in self.arguments)
        return f"{actor}{self.name}({shown})" if self.arguments else actor + self.name

    @property
    def owner(self) -> str:
        """The class of its actor; empty where it has none."""
        return "" if self.actor is None else type(self.actor).__name__


@dataclass(frozen=True)
class Element:
    """One conjunct of a property: holds in a state, or in a step for `on_step` properties."""

    label: str
    bindings: tuple[tuple[str, Any], ...]
    holds: Callable[[], bool]
    text: str = ""
    span: Span | None = None
    source: Text | None = None


@dataclass(frozen=True)
class Property(OfKind):
    """A property is the conjunction of its elements. ``whole`` evaluates it in one go, unsplit.

    Liveness kinds have no elements; ``whole`` is the predicate P, ``premise`` that of P leads to Q
    (and of P until Q). A ``formula`` is a term over its ``parts``, of kind always
    where they are about states, of kind on_step where about steps. ``refined`` is of kind refines:
    the other model, and what a state is there.
    """

    name: str
    kind: PropertyKind
    elements: tuple[Element, ...]
    whole: Callable[[], bool]
    premise: Callable[[], bool] | None = None
    span: Span | None = None
    doc: str = ""
    refined: Refined | None = None
    source: Text | None = None
    premise_source: Text | None = None
    parts: tuple[Property, ...] = ()
    formula: Term = ()

    @property
    def units(self) -> tuple[Property, ...]:
        """The properties whose predicates it is made of: its parts, or itself."""
        return self.parts or (self,)

    @property
    def asks_steps(self) -> bool:
        """Return whether a predicate of it is one of steps."""
        return any(unit.of_kind.of_steps for unit in self.units)


@dataclass(frozen=True)
class Picture:
    """A picture of states that a spec declares: ``draw`` returns a part of `dsl.words.draw`."""

    name: str
    draw: Callable[[], Any]
    span: Span | None = None
    doc: str = ""


@dataclass(frozen=True)
class Refined:
    """The model that another refines. ``seen`` gives, in a state of that one, values by the names
    of this one's fields; None: fields of equal names are looked at.
    """

    model: Model
    seen: Callable[[], Mapping[str, Any]] | None


@dataclass(frozen=True)
class FieldInfo:
    """The description of a field: its declared kind, and whether it is left out by the view, but
    of the instances of which it is ``shown``. A ``settled`` one has a value in every state, and is
    empty where it has no slot.
    """

    owner: str
    name: str
    kind: Literal["scalar", "list", "set", "bag", "dict", "record"]
    auxiliary: bool = False
    constant: bool = False
    settled: bool = True
    shown: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Outcome:
    """One way a step can go: the choices taken (indices and options) and the writes."""

    choices: tuple[int, ...]
    chosen: tuple[Any, ...]
    writes: Mapping[Path, Any]
    returned: object = None
    fair: tuple[FairChoice, ...] = ()


class Flows(Protocol):
    """The functions that give way: their compiled ``code`` by name, how many runs there may be at
    a time (``limit``), and how many starts in all (``most_starts``).
    """

    @property
    def code(self) -> Mapping[str, Any]: ...
    @property
    def limit(self) -> int | None: ...
    @property
    def most_starts(self) -> int | None: ...


@dataclass
class Model:
    """A spec with its constants fixed.

    ``constraints`` cut states, ``step_constraints`` cut steps, ``terminal`` says where stopping is
    right, ``assumptions`` say of which behaviors liveness is asked. ``flows`` knows the suspended
    runs. ``fixed`` holds the slots that no action writes (folded into the code; part of every
    state's content all the same). ``outside`` is what the spec's modules hold besides the state.
    ``fresh_values``: steps
    take the first symmetric value that nothing mentions. ``first_unused`` is a domain whose values
    are offered by that rule. ``counted_by`` says of values with numbers what of these counts.
    ``sources`` maps each file of the spec to the hash of its text, ``texts`` to what is quoted of
    it, ``inputs`` what else it was loaded from: other files to their hashes, installed packages to
    their versions. ``functions`` are those of the main module by name.
    ``no_liveness`` says why liveness properties are not to be checked. ``mutants`` says of each
    that the spec has what it does wrong. ``tree`` is
    the syntax tree with the effects of its functions, where they may be translated further.
    """

    name: str
    path: str
    dialect: Dialect
    constants: Mapping[str, Any]
    initial_states: tuple[State, ...]
    actions: tuple[Action, ...]
    properties: tuple[Property, ...]
    constraints: tuple[Property, ...] = ()
    step_constraints: tuple[Property, ...] = ()
    terminal: tuple[Property, ...] = ()
    pictures: tuple[Picture, ...] = ()
    assumptions: tuple[Property, ...] = ()
    fields: Mapping[tuple[str, str], FieldInfo] = field(default_factory=dict)
    fixed: State = field(default_factory=dict)
    configurations: tuple[Configuration, ...] = ()
    mutants: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    classes: dict[str, type] = field(default_factory=dict)
    roles: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    symmetric: tuple[str, ...] = ()
    symmetric_values: tuple[tuple[str, ...], ...] = ()
    fresh_values: bool = False
    first_unused: str = ""
    counted_by: tuple[str, ...] = ()
    check_deadlock: bool = True
    no_liveness: str = ""
    max_depth: int | None = None
    optimized: bool = True
    warnings: tuple[SpecError, ...] = ()
    choice_names: Mapping[tuple[str, int], str] = field(default_factory=dict)
    choice_loops: Mapping[tuple[str, int], tuple[str, ...]] = field(default_factory=dict)
    flows: Flows | None = None
    outside: Outside = field(default_factory=Outside)
    functions: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    tree: tuple[Any, Any] | None = None

    @property
    def origins(self) -> dict[str, str]:
        """All that the model was loaded from: where it is the same, so is the model."""
        return {**self.sources, **self.inputs}

    def action_names(self, *beside: Model) -> dict[int, str]:
        """Return the name that each action instance is counted under, beside other models."""
        of_name: dict[str, set[str]] = {}
        for a in (a for model in (self, *beside) for a in model.actions):
            of_name.setdefault(a.name, set()).add(a.owner)
        return {
            a.index: f"{a.owner}.{a.name}" if len(of_name[a.name]) > 1 and a.owner else a.name
            for a in self.actions
        }

    def take(self, action: Action, view: View, part: Callable[[], object] | None = None) -> object:
        """Run an action against a view; what it returns. Raises `Disabled`, or what the spec
        raises.

        ``part`` is run in its place, as something that the action calls.
        """
        self.outside.runs(action)
        with bound(view, classes=self.classes):
            return (part or action.run)()

    def holds(
        self,
        predicate: Callable[[], bool],
        view: View,
        before: View | None = None,
        part: Callable[[], object] | None = None,
    ) -> bool:
        """Return whether a predicate (an element's ``holds``, a property's ``whole``) is true of a
        state.

        With ``before``, of the step from ``before`` to ``view``; ``part`` as in `take`.
        """
        self.outside.runs(predicate)
        name = getattr(predicate, "__name__", "property")
        with bound(view, before, self.classes, name, self.actions):
            if part is None:
                return predicate()
            part()
            return True

    def look_outside(self) -> None:
        """Raise SpecError[SW102] where something was changed that is no part of the state,
        SpecError[SW104] where a step or a property asked for more than the state.

        Engines ask now and then, and always before they say what they found.
        """
        for (file, line), event in in_steps.items():
            in_steps.clear()
            said = f"A step or a property reads more than the state: {event}."
            why = "The checker runs a step once and reuses its result."
            help = "Read such data at module level, before the search."
            raise SpecError("SW104", said, at=Span(file, line), why=why, help=help)
        found = self.outside.look()
        if found is None:
            return
        changed, by = found
        who, span = self._named(by)
        said = f"{who} changed {changed}, which is not part of the state."
        why = "The checker moves between states and does not restore such a value."
        help = "Declare it as a field with a type, in the body of a Role or State.\n"
        help += "To cache the result of a pure function, use functools.cache."
        raise SpecError("SW102", said, at=span, why=why, help=help)

    def _named(self, ran: Any) -> tuple[str, Span | None]:
        """Return an action or a predicate, for the reader; None: any."""
        if isinstance(ran, Action):
            return ran.label, ran.span
        bounds = (self.constraints, self.step_constraints, self.terminal, self.assumptions)
        groups = (self.properties, *bounds)
        for prop in (unit for p in itertools.chain(*groups) for unit in (p, *p.parts)):
            parts = [prop.whole, prop.premise, *(e.holds for e in prop.elements)]
            if ran is not None and any(part is ran for part in parts):
                return prop.name, prop.span
        return "A step or a property", None

    def outcomes(
        self, action: Action, state: State, raised: list[Exception] | None = None
    ) -> Iterator[Outcome]:
        """Yield each outcome of an action in a state; errors go to ``raised`` where it is given."""
        for view in PlainView.runs(state):
            try:
                returned = self.take(action, view)
            except Disabled:
                continue
            except Exception as error:
                if raised is None:
                    raise
                raised.append(error)
                continue
            chosen, fair = tuple(view.chosen), tuple(view.fair)
            yield Outcome(view.taken, chosen, view.writes, returned, fair)

    def successor(self, state: State, outcome: Outcome) -> dict[Path, Any]:
        """Return the state after an outcome."""
        return apply_writes(state, outcome.writes)
