"""From the tree of a spec to its Model: fields, initial states, actions, properties."""

from __future__ import annotations

import ast
import itertools
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from dsl import refs
from dsl.analysis import Analysis, Reach, Usage
from dsl.crashing import keep_starts, may_crash
from dsl.domains import ANYTHING, Domain, domain_of
from dsl.errors import Mistakes, Span, SpecError, StatewalkError
from dsl.flow_run import Flows, is_flow, slot_of
from dsl.model import Action, FieldInfo
from dsl.ranges import domains_of, no_instance, warn_of_nothing
from dsl.roles import Field, Role, default_of, empty_for
from dsl.runtime import binding, bound
from dsl.tree import Function, SpecTree
from dsl.values import ABSENT, freeze, intern_key
from dsl.view import Disabled, Path, PlainView, apply_writes, next_script

_AUXILIARY, _EPHEMERAL = "statewalk.auxiliary", "statewalk.ephemeral"


def make_fields(
    tree: SpecTree, analysis: Analysis, mistakes: Mistakes
) -> dict[tuple[str, str], Field]:
    """Turn the annotated fields of roles into descriptors, laid out as the analysis allows."""
    fields: dict[tuple[str, str], Field] = {}
    crashing = may_crash(tree)
    listed = bool(tree.loading.declared.options.get("fresh_values"))  # all that is stored
    for cls in [*tree.records, *tree.roles]:
        hints = _hints(tree, cls, mistakes)
        if not issubclass(cls, Role):
            cls._domains = {n: domain_of(h) for n, h in hints.items()}  # type: ignore[attr-defined]
            continue
        defaults = {}
        for name in cls._fields:
            domain, notes = _domain(hints.get(name))
            field = Field(cls.__name__, name, domain, _AUXILIARY in notes, _EPHEMERAL in notes)
            usage = analysis.usage[(cls.__name__, name)]
            if field.ephemeral and crashing:
                usage = Usage(written=True, listed=True, pointwise=False)
            if domain.kind == "set" and usage.pointwise and not listed:
                field.layout = "elements"
            field.keys = usage.listed or listed
            field.constant = not (usage.written or _reached(domain, usage.reach))
            fields[(cls.__name__, name)] = field
            defaults[name] = default_of(cls, name)
        cls._defaults = defaults  # type: ignore[attr-defined]
        for name in cls._fields:
            setattr(cls, name, fields[(cls.__name__, name)])
    return fields


def _reached(domain: Domain, reach: Reach) -> bool:
    """Whether a field can be changed by who gets hold of so much of it."""
    if reach is Reach.ELEMENTS and domain.kind != "scalar":
        return domain.element is None or domain.element.may_contain
    if reach in (Reach.ELEMENTS, Reach.CONTENT):
        return domain.may_contain
    return reach is Reach.ANYTHING


def _hints(tree: SpecTree, cls: type, mistakes: Mistakes) -> dict[str, Any]:
    try:
        namespace = {c.__name__: c for c in [*tree.roles, *tree.records, *tree.enums]}
        return typing.get_type_hints(
            cls, localns=_module_of(tree, cls) | namespace, include_extras=True
        )
    except Exception as error:
        mistakes.add(
            "SW110",
            f"A type in {cls.__name__} cannot be understood: {error}.",
            at=_class_span(tree, cls),
            help="Annotations are evaluated after the module has run; their names must exist then.",
        )
        return {}


def _module_of(tree: SpecTree, cls: type) -> dict[str, Any]:
    for module in tree.loading.modules:
        if module.namespace.get(cls.__name__) is cls:
            return dict(module.namespace)
    return {}


def _class_span(tree: SpecTree, cls: type) -> Span | None:
    for module in tree.loading.modules:
        for node in module.source.tree.body:
            if isinstance(node, ast.ClassDef) and module.namespace.get(node.name) is cls:
                return module.source.span(node)
    return None


def _domain(hint: Any) -> tuple[Domain, list[str]]:
    """The domain of a field, and what else its annotation says of it."""
    if hint is None:
        return ANYTHING, []
    if typing.get_origin(hint) is not typing.Annotated:
        return domain_of(hint), []
    bare, *extras = typing.get_args(hint)
    notes = [e for e in extras if e in (_AUXILIARY, _EPHEMERAL)]
    for extra in extras:
        if extra not in (_AUXILIARY, _EPHEMERAL):
            bare = typing.Annotated[bare, extra]
    return domain_of(bare), notes


class InitialStates:
    """Computes the initial states: defaults, then every run of the ``@init`` functions."""

    def __init__(
        self, tree: SpecTree, fields: dict[tuple[str, str], Field], classes: dict[str, type]
    ) -> None:
        self.tree = tree
        self.fields = fields
        self.classes = classes
        self.constant = {key for key, field in fields.items() if field.constant}
        self.made: dict[type, int] = {}

    def compute(self) -> tuple[list[dict[Path, Any]], dict[Path, Any]]:
        """(states, fixed slots). Fields that turn out constant keep their value on the role."""
        for field in self.fields.values():
            field.constant = False
        inits = list(self.tree.of_kind("init"))
        static = {cls: len(cls._instances) for cls in self.tree.roles}
        defaults = self._defaults()
        states: list[dict[Path, Any]] = []
        script: list[int] | None = []
        while script is not None:
            view = PlainView(defaults, script)
            for cls, count in static.items():
                view.writes[(cls.__name__, -1, "@count")] = count
            try:
                with bound(view, classes=self.classes):
                    for function in inits:
                        function.function()
            except Disabled:
                pass
            else:
                states.append(self._finish(apply_writes(defaults, view.writes), static))
            script = next_script(view.choices)
        if states and may_crash(self.tree):
            keep_starts(self.tree.roles, self.fields, states, _value_in)
        return states, self._fix(states)

    def _defaults(self) -> dict[Path, Any]:
        state: dict[Path, Any] = {}
        for cls in self.tree.roles:
            for role in cls._instances:
                for name in cls._fields:
                    field = self.fields[(cls.__name__, name)]
                    value = role.__dict__.get(name, ABSENT)
                    state.update(self._slots(field, role, value))
        return state

    def _slots(self, field: Field, role: Any, value: Any) -> Iterator[tuple[Path, Any]]:
        if value is ABSENT:
            value = empty_for(field.kind)
            if value is ABSENT:
                return iter(())
        try:
            value = refs.stored(value, field.path(role), ())
            if not field.domain.admits(value):
                raise refs.outside(refs.show_place(field.path(role), ()), value, field.domain)
        except StatewalkError as error:
            error.at = error.at or _class_span(self.tree, type(role))
            raise
        return field.slots(role, value)

    def _finish(self, state: dict[Path, Any], static: dict[Any, int]) -> dict[Path, Any]:
        """Drop the counters, and note how many roles the run made. Raises SpecError[SW111]."""
        made = {cls: state.pop((cls.__name__, -1, "@count"), n) for cls, n in static.items()}
        for cls, count in made.items():
            if self.made.setdefault(cls, count) != count:
                raise SpecError(
                    "SW111",
                    f"Initial states differ in how many {cls.__name__} they have: "
                    f"{self.made[cls]} and {count}.",
                    at=_class_span(self.tree, cls),
                    help="Make equally many in every run of @init.",
                )
        return state

    def _fix(self, states: list[dict[Path, Any]]) -> dict[Path, Any]:
        """Fields that no action writes and all initial states agree on become constant."""
        fixed: dict[Path, Any] = {}
        for key in sorted(self.constant):
            field = self.fields[key]
            cls = self.classes[field.owner]
            contents = [
                {p: v for p, v in s.items() if p[0] == key[0] and len(p) > 2 and p[2] == key[1]}
                for s in states
            ]
            if any(c != contents[0] for c in contents):
                continue
            for role in cls._instances:  # type: ignore[attr-defined]
                if states:
                    with bound(PlainView(states[0]), classes=self.classes):
                        role.__dict__[key[1]] = _value_of(field, role, contents[0])
            field.constant = True
            fixed.update(contents[0] if contents else {})
            for state in states:
                for path in contents[0]:
                    state.pop(path, None)
        return fixed


def _value_in(field: Field, role: Any, state: Mapping[Path, Any]) -> Any:
    """The value of a field in a state; ABSENT where it has none."""
    path = field.path(role)
    return _value_of(field, role, {p: v for p, v in state.items() if p[: len(path)] == path})


def _value_of(field: Field, role: Any, content: Mapping[Path, Any]) -> Any:
    path = field.path(role)
    if field.layout == "whole":
        return content.get(path, ABSENT)
    at = {p[4]: v for p, v in content.items() if p[:3] == path and len(p) == 5}
    if field.layout == "entries":
        if field.keys:
            return freeze(
                {
                    k: content[(*path, "key", intern_key(k))]
                    for k in content.get((*path, "keys"), ())
                }
            )
        return freeze({_decoded(k): v for k, v in at.items()})
    return freeze({_decoded(k) for k in at})


def _decoded(key: Any) -> Any:
    if type(key) is bytes:
        from dsl.decode import decode

        return decode(key, binding.classes)
    return key


CONTINUED = " (continued)"
CRASHED = " (crashed)"


def make_actions(tree: SpecTree, flows: Flows, mistakes: Mistakes) -> list[Action]:
    """One action instance per role instance and combination of arguments, in file order.

    A flow has one more per role instance, which continues a suspended run of it.
    """
    actions: list[Action] = []
    for function in tree.of_kind("action"):
        mark = function.marked("action")
        options = mark.options if mark else {}
        names = [argument.arg for argument in function.parameters()]
        domains = domains_of(tree, function, mistakes)
        actors: list[Any] = [None]
        if function.owner is not None:
            everyone = tree.instances(function.owner)
            actors = [r for r in everyone if _is_own(r, function)]
            if not everyone:
                why = no_instance(tree, function.owner)
                warn_of_nothing(function, why, function.node, mistakes)
        name = options.get("name") or function.name
        fair = options.get("fair", "none")
        concurrent = int(options.get("concurrent", 1))
        resumed = options.get("resume", fair)
        span = function.span()
        for actor in actors:
            slot = slot_of(actor, function.name) if is_flow(function) else None
            for values in itertools.product(*domains):
                run = _runner(function, actor, values, flows)
                if is_flow(function):
                    run = partial(flows.start, function, actor, values, concurrent)
                arguments = tuple(zip(names, values, strict=True))
                fault = bool(options.get("fault", False))
                made = Action(
                    len(actions), name, actor, arguments, run, fair, span, slot, fault=fault
                )
                actions.append(made)
            if is_flow(function):
                run = partial(flows.proceed, function, actor, concurrent)
                name_ = name + CONTINUED
                made = Action(len(actions), name_, actor, (), run, resumed, span, slot, True)
                actions.append(made)
                if slot is not None and flows.crashes and options.get("crash", True):
                    run = partial(flows.crash, slot)
                    made = Action(
                        len(actions),
                        name + CRASHED,
                        actor,
                        (),
                        run,
                        span=span,
                        slot=slot,
                        fault=True,
                    )
                    actions.append(made)
    return actions


def _is_own(role: Any, function: Function) -> bool:
    found = getattr(type(role), function.name, None)
    return getattr(found, "__code__", 0) is getattr(function.function, "__code__", None)


def _runner(
    function: Function, actor: Any, values: tuple[Any, ...], flows: Flows
) -> Callable[[], object]:
    arguments = (actor, *values) if actor is not None else values
    call = function.function
    mark = function.marked("action")
    if not flows.guarded or (mark is not None and mark.options.get("fault")):
        return lambda: call(*arguments)

    def run() -> object:
        flows.enter()
        return call(*arguments)

    return run


def field_table(fields: dict[tuple[str, str], Field]) -> dict[tuple[str, str], FieldInfo]:
    """What engines see of the fields."""
    return {
        k: FieldInfo(f.owner, f.name, f.kind, f.auxiliary, f.constant) for k, f in fields.items()
    }
