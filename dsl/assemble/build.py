"""From the tree of a spec to its Model: fields, initial states, actions, properties."""

from __future__ import annotations

import itertools
import typing
from collections.abc import Callable
from functools import partial
from typing import Any

from statewalk.dsl.assemble.coming import come_and_go, coming, in_a_step
from statewalk.dsl.errors import Mistakes
from statewalk.dsl.flows.run import Flows, slot_of
from statewalk.dsl.model import CONTINUED, Action, FieldInfo, Text
from statewalk.dsl.source.ranges import domains_of, no_instance, warn_of_nothing
from statewalk.dsl.source.tree import Function, SpecTree, class_span, field_span, may_crash
from statewalk.dsl.source.usage import Analysis, Reach, Usage
from statewalk.dsl.state.roles import Field, Role, default_of
from statewalk.dsl.values.domains import ANYTHING, Domain, domain_of
from statewalk.dsl.values.stored import freeze

_AUXILIARY, _EPHEMERAL = "statewalk.auxiliary", "statewalk.ephemeral"


def make_fields(
    tree: SpecTree, analysis: Analysis, mistakes: Mistakes
) -> dict[tuple[str, str], Field]:
    """Turn the annotated fields of roles into descriptors, laid out as the analysis allows."""
    fields: dict[tuple[str, str], Field] = {}
    crashing = may_crash(tree)
    fresh = bool(tree.loading.declared.options.get("fresh_values"))  # all that is stored is listed
    listed = fresh or tree.loading.listed or come_and_go(tree)
    for role in tree.roles:  # of all, before the fields of one hide what another inherits
        role._defaults = {name: default_of(role, name) for name in role._fields}
    for cls in [*tree.records, *tree.roles]:
        hints = _hints(tree, cls, mistakes)
        if not issubclass(cls, Role):
            cls._domains = {n: domain_of(h) for n, h in hints.items()}  # type: ignore[attr-defined]
            continue
        for name in cls._fields:
            domain, notes = _domain(hints.get(name))
            field = Field(cls.__name__, name, domain, _AUXILIARY in notes, _EPHEMERAL in notes)
            usage = analysis.usage[(cls.__name__, name)]
            if field.ephemeral and crashing:
                usage = Usage(written=True, listed=True, pointwise=False)
            if domain.kind in ("set", "frozenset") and usage.pointwise and not listed:
                field.layout = "elements"
            field.keys = usage.listed or listed
            field.constant = not (usage.written or _reached(domain, usage.reach))
            if cls._room is not None:  # a step may give it its first value
                field.layout, field.constant = "whole", False
                if field.ephemeral:
                    _refuse_ephemeral(tree, cls, name, mistakes)
            fields[(cls.__name__, name)] = field
        for name in cls._fields:
            setattr(cls, name, fields[(cls.__name__, name)])
    return fields


def _refuse_ephemeral(tree: SpecTree, cls: type, name: str, mistakes: Mistakes) -> None:
    mistakes.add(
        "SW212",
        f"{cls.__name__}.{name} is Ephemeral, and a {cls.__name__} may be made in a step.",
        at=field_span(tree, cls, name),
        why="A crash gives back what a field held when the run began, and there was none then.",
        help="Write the crash as an action: interrupt(self), and the fields as they begin.",
    )


def _reached(domain: Domain, reach: Reach) -> bool:
    """Whether a field can be changed by who gets hold of so much of it."""
    if reach is Reach.ELEMENTS and domain.kind != "scalar":
        return domain.element is None or domain.element.may_contain
    if reach in (Reach.ELEMENTS, Reach.CONTENT):
        return domain.may_contain
    return reach is Reach.ANYTHING


def _hints(tree: SpecTree, cls: type, mistakes: Mistakes) -> dict[str, Any]:
    try:
        return tree.hints(cls)
    except Exception as error:
        mistakes.add(
            "SW110",
            f"A type in {cls.__name__} cannot be understood: {error}.",
            at=class_span(tree, cls),
            help="Annotations are evaluated after the module has run; their names must exist then. "
            "Quotes go around a whole type.",
        )
        return {}


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
        resumed = options.get("resume") or fair
        span = function.span()
        fault = bool(options.get("fault", False))
        for actor in actors:
            slot = slot_of(actor, function.name) if function.is_flow else None
            make = partial(Action, actor=actor, span=span, slot=slot)
            for values in itertools.product(*domains):
                run = _runner(function, actor, values, flows)
                if slot is not None:
                    run = partial(flows.start, function, actor, values, concurrent)
                run = in_a_step(tree, run, coming((actor, *values)))
                given = tuple(zip(names, map(freeze, values), strict=True))
                plain = slot is None and not flows.guarded and not come_and_go(tree)
                whole = (actor, *values) if actor is not None else values
                text = Text(function, whole) if plain else None
                made = make(
                    len(actions), name, arguments=given, run=run, fairness=fair, fault=fault,
                    source=text,
                )  # fmt: skip
                actions.append(made)
            if slot is None:
                continue
            run = in_a_step(tree, partial(flows.proceed, function, actor, concurrent), ())
            again, at = name + CONTINUED, len(actions)
            made = make(at, again, arguments=(), run=run, fairness=resumed, continues=True)
            actions.append(made)
            if flows.crashes and options.get("crash", True):
                run = in_a_step(tree, partial(flows.crash, slot), ())
                made = make(len(actions), name + CRASHED, arguments=(), run=run, fault=True)
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
        k: FieldInfo(
            f.owner,
            f.name,
            "set" if f.kind == "frozenset" else f.kind,  # stored alike
            f.auxiliary,
            f.constant,
        )
        for k, f in fields.items()
    }
