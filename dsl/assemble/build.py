"""From the tree of a spec to its Model: fields, initial states, actions, properties."""

from __future__ import annotations

import ast
import itertools
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from statewalk.dsl.assemble.coming import come_and_go, coming, in_a_step, of_those_there
from statewalk.dsl.assemble.step_ends import at_step_end
from statewalk.dsl.blocks.read import flow_of, flow_option
from statewalk.dsl.declared import BOUNDS, property_name
from statewalk.dsl.errors import Mistakes, Span
from statewalk.dsl.flows.run import Flows, slot_of
from statewalk.dsl.kinds import ASSUMED, KIND_OF_MARKS, KINDS, PropertyKind
from statewalk.dsl.lowering.conjuncts import checked
from statewalk.dsl.model import CONTINUED, Action, Element, FieldInfo, Picture, Property, Text
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.ranges import domains_of, no_instance, one_of, warn_of_nothing
from statewalk.dsl.source.tree import Function, SpecTree, class_span, field_span, may_crash
from statewalk.dsl.source.usage import Analysis, Reach, Usage
from statewalk.dsl.state.roles import Field, Role, default_of
from statewalk.dsl.values.canonical import encode, of_one_name
from statewalk.dsl.values.domains import ANYTHING, Domain, domain_of
from statewalk.dsl.values.stored import freeze

BUILT_IN = ("Deadlock", "Assertion", "no_error")
"""What is checked besides the properties of a spec."""


def refuse_same_names(tree: SpecTree, mistakes: Mistakes) -> None:
    """Note a mistake for classes, properties, and symmetric values of one name."""
    first: dict[str, type] = {}
    for cls in tree.every_class():
        other = first.setdefault(cls.__name__, cls)
        unused = issubclass(other, Role) and not other._instances  # others are derived from it
        if other is not cls and not (unused and issubclass(cls, Role)):
            error = of_one_name(other, cls)
            mistakes.add(
                "SW126", error.message, at=class_span(tree, cls), why=error.why, help=error.help
            )
        first[cls.__name__] = cls
    named: dict[str, object] = {}
    functions = [
        (property_name(f.function), f.function, f.span())
        for f in tree.functions
        if f.is_property and f.owner is None
    ]
    for name, thing, span in chain(functions, tree.formulas):
        if named.setdefault(name, thing) is not thing or name in BUILT_IN:
            _add_property(name, span, mistakes)
    known: set[str] = set()
    for values in tree.loading.declared.symmetric_values:
        if known & {*values}:
            said = f"{min(known & {*values})} is in two groups of symmetric values."
            why = "It would change places within each of them."
            mistakes.add("SW126", said, why=why, help="Give one of the groups another name.")
        known |= {*values}


def _add_property(name: str, span: Span | None, mistakes: Mistakes) -> None:
    built_in = name in BUILT_IN
    mistakes.add(
        "SW126",
        f"There is a check called {name} in every run."
        if built_in
        else f"There are two properties called {name}.",
        at=span,
        why="Verdicts are reported by name.",
        help="Give the property another name, or one with @named."
        if built_in
        else "Give one of them another name, or one with @named.",
    )


def refuse_same_names_made(
    actions: Iterable[Action], properties: Sequence[Property], mistakes: Mistakes
) -> None:
    """Action instances and properties of one name, which show when they have been made."""
    labels: dict[bytes, Action] = {}
    for action in actions:
        values = tuple(value for _, value in action.arguments)
        key = encode(freeze((action.name, action.actor, values)))
        if labels.setdefault(key, action) is not action:
            said = f"There are two actions called {action.label}."
            why = "The steps of a trace are identified by name."
            help = "Give one of them another name, or one with @action(name=...)."
            mistakes.add("SW126", said, at=action.span, why=why, help=help)
    names: set[str] = set()
    for prop in properties:
        if prop.name in names:
            _add_property(prop.name, prop.span, mistakes)
        names.add(prop.name)


def make_instances(
    tree: SpecTree, function: Function, kind: PropertyKind, mistakes: Mistakes
) -> Iterator[Property]:
    """Yield one property per combination of arguments: ``p(Client#0)``, ``p(Client#1)``."""
    name, span = property_name(function.function), function.span()
    domains = domains_of(tree, function, mistakes)
    doc = ast.get_docstring(function.node) or ""
    for values in itertools.product(*domains):
        shown = f"{name}({', '.join(map(repr, map(freeze, values)))})"
        holds, roles = given_to(function.function, values), coming(values)
        steps = KINDS[kind].over == "steps"
        holds = of_those_there(holds, roles, otherwise=KINDS[kind].absent, steps=steps)
        whole = checked(holds, shown, span)
        bindings = tuple(
            zip((a.arg for a in function.parameters()), map(freeze, values), strict=True)
        )
        text = None if roles else Text(function, values)
        elements = (Element(shown, bindings, whole, span=span, source=text),)
        yield Property(shown, kind, elements, whole, span=span, doc=doc, source=text)


def make_pictures(tree: SpecTree) -> Iterator[Picture]:
    """Yield the pictures of a spec."""
    for function in tree.of_kind("picture"):
        doc = ast.get_docstring(function.node) or ""
        name = property_name(function.function)
        yield Picture(name, function.function, function.span(), doc)


def given_to(function: Callable[..., bool], values: tuple[Any, ...]) -> Callable[[], bool]:
    """Return a predicate of these arguments."""
    return (lambda: function(*values)) if values else function


def property_kind(function: Function, mistakes: Mistakes) -> PropertyKind | None:
    """Return what the decorators of a property say together."""
    names = tuple(m.kind for m in function.marks if m.kind not in {"named", *BOUNDS})
    kind = KIND_OF_MARKS.get(names)
    known = (k.marks[0] for k in KINDS.values() if k.marks)
    if function.marked("assume") and kind not in ASSUMED:
        what = f"{_shown(names)} is no assumption" if names else "nothing says"
        said = f"'{function.name}' is assumed, but {what} about behaviors."
        known = (KINDS[name].marks[0] for name in sorted(ASSUMED))
        help = f"Write one of these below @assume: {', '.join(map(_shown, known))}."
    elif kind is None:
        said = f"The decorators of '{function.name}' cannot be combined: {_shown(names)}."
        help = f"Write one of these: {', '.join(map(_shown, known))}."
    else:
        return kind
    mistakes.add("SW113", said, at=function.span(), help=help)
    return None


def _shown(names: tuple[str, ...]) -> str:
    return " ".join(f"@{name}" for name in names)


def make_property(
    function: Function, kind: PropertyKind, elements: tuple[Element, ...]
) -> Property:
    """Return a property from its function; one element where it was not split."""
    name, text = property_name(function.function), Text(function)
    whole = checked(function.function, name, function.span())
    doc = ast.get_docstring(function.node) or ""
    if not elements:
        elements = (Element(name, (), whole, span=function.span(), source=text),)
    return Property(name, kind, elements, whole, span=function.span(), doc=doc, source=text)


MAX_ACTIONS = "max_actions"


def bounds_of(flows: Flows) -> tuple[list[Property], list[Property]]:
    """Return (constraints, allowed stops) for a limit on the starts of actions."""
    if flows.most_starts is None:
        return [], []

    def more() -> bool:
        return not (flows.used_up() and flows.idle())

    more.__name__ = MAX_ACTIONS
    constraint = Property(MAX_ACTIONS, "always", (Element(MAX_ACTIONS, (), more),), more)
    used = Property(MAX_ACTIONS, "always", (), flows.used_up)
    return [constraint], [used]


def named_choices(tree: SpecTree) -> dict[str, Any]:
    """Return `Model.choice_names` and `Model.choice_loops`, by (file, line).

    ``x = any_of(...)`` is called x, one in an element of a comprehension also as its loops are.
    """
    flows = [f for f in tree.functions if flow_option(f) in ("parallel", "oneof")]
    names = {(f.module.source.path, f.node.lineno): "statement" for f in flows}
    loops: dict[tuple[str, int], tuple[str, ...]] = {}
    for module in tree.loading.modules:
        path = module.source.path
        for node in walk(module.source.tree):
            if isinstance(node, ast.With) and flow_of(node, module.namespace) is not None:
                names[path, node.lineno] = "statement"
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                if node.value is not None and _chooses(node.value):
                    names[path, node.lineno] = ast.unparse(target)
            elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
                targets = [n for loop in node.generators for n in walk(loop.target)]
                bound = [n.id for n in targets if isinstance(n, ast.Name)]
                for call in (c for part in parts for c in walk(part) if _chooses(c)):
                    at = path, call.lineno  # type: ignore[attr-defined]
                    loops[at] = tuple(dict.fromkeys((*loops.get(at, ()), *bound)))
    return {"choice_names": names, "choice_loops": loops}


def _chooses(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("any_of", "maybe")


_AUXILIARY, _EPHEMERAL = "statewalk.auxiliary", "statewalk.ephemeral"


def make_fields(
    tree: SpecTree, analysis: Analysis, mistakes: Mistakes
) -> dict[tuple[str, str], Field]:
    """Turn the annotated fields of roles into descriptors, laid out as the analysis allows."""
    fields: dict[tuple[str, str], Field] = {}
    crashing = may_crash(tree)
    fresh = bool(tree.loading.declared.options.get("fresh_values"))  # all that is stored is listed
    renumbered = at_step_end(tree) is not None  # and so written by every step
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
            field.constant = not (usage.written or _reached(domain, usage.reach) or renumbered)
            if cls._room is not None:  # a step may give it its first value
                field.layout, field.constant = "whole", False
                if field.ephemeral:
                    _refuse_ephemeral(tree, cls, name, mistakes)
            fields[(cls.__name__, name)] = field
        for name in cls._fields:
            setattr(cls, name, fields[(cls.__name__, name)])
    return fields


def _refuse_ephemeral(tree: SpecTree, cls: type, name: str, mistakes: Mistakes) -> None:
    said = f"{cls.__name__}.{name} is Ephemeral, but a step can create a {cls.__name__}."
    why = "A crash resets the field to its value in the initial state, but the role may not exist "
    why += "there."
    help = "Write the crash as an action: interrupt(self), then "
    help += f"self.{name} = ..."
    mistakes.add("SW212", said, at=field_span(tree, cls, name), why=why, help=help)


def _reached(domain: Domain, reach: Reach) -> bool:
    """Return whether a field can be changed by who gets hold of so much of it."""
    if reach is Reach.ELEMENTS and domain.kind != "scalar":
        return domain.element is None or domain.element.may_contain
    return reach is not Reach.NOTHING and domain.may_contain


def _hints(tree: SpecTree, cls: type, mistakes: Mistakes) -> dict[str, Any]:
    try:
        return tree.hints(cls)
    except Exception as error:
        said = f"A type in {cls.__name__} cannot be resolved: {error}."
        help = "Define or import the name at module level. If a type is in quotes, quote all of it."
        mistakes.add("SW110", said, at=class_span(tree, cls), help=help)
        return {}


def _domain(hint: Any) -> tuple[Domain, list[str]]:
    """Return the domain of a field, and what else its annotation says of it."""
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
    """Return the action instances in file order, with those that continue or crash runs."""
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
                help = one_of(function.owner, function)
                warn_of_nothing(function, why, function.node, mistakes, help)
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
                plain = plain and at_step_end(tree) is None
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
    """Return what engines see of the fields."""
    return {
        k: FieldInfo(
            f.owner,
            f.name,
            "set" if f.kind == "frozenset" else f.kind,  # stored alike
            f.auxiliary,
            f.constant,
            f.settled,
        )
        for k, f in fields.items()
    }
