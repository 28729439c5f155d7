"""Loading a spec: text in, Model out."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any, Literal

from statewalk.dsl.assemble.build import (
    bounds_of,
    field_table,
    make_actions,
    make_fields,
    make_instances,
    make_pictures,
    make_property,
    named_choices,
    property_kind,
    refuse_same_names,
    refuse_same_names_made,
)
from statewalk.dsl.assemble.coming import come_and_go
from statewalk.dsl.assemble.formulas import make_formulas
from statewalk.dsl.assemble.initial import InitialStates, crashes_of_roles
from statewalk.dsl.assemble.step_ends import at_step_end, refuse_across_states
from statewalk.dsl.binding import bound
from statewalk.dsl.blocks.expand import expand_blocks
from statewalk.dsl.declared import Configuration, Refines
from statewalk.dsl.errors import (
    Mistakes,
    Span,
    SpecError,
    StatewalkError,
    did_you_mean,
    place_of,
    raised,
    text_of,
)
from statewalk.dsl.flows.run import Flows
from statewalk.dsl.inputs import Reading
from statewalk.dsl.kinds import KINDS, PROPERTY_MARKS
from statewalk.dsl.lowering.conjuncts import split_property
from statewalk.dsl.lowering.lower import Lowering
from statewalk.dsl.model import Dialect, Model, Property, Refined
from statewalk.dsl.mutants import run_spec
from statewalk.dsl.origins import together
from statewalk.dsl.rules.all import allowed, check_tree
from statewalk.dsl.source.apart import enter
from statewalk.dsl.source.folding import fold_constants
from statewalk.dsl.source.importing import from_texts
from statewalk.dsl.source.modules import Loading, loading_of
from statewalk.dsl.source.nodes import meaning, not_python, too_nested, unchanged, walk
from statewalk.dsl.source.texts import Source, is_authored, is_ours, read_source, read_text
from statewalk.dsl.source.tree import SpecTree, read_tree, says_no_types
from statewalk.dsl.source.usage import analyse
from statewalk.dsl.state.outside import Outside
from statewalk.dsl.state.roles import Field
from statewalk.dsl.values.stored import freeze
from statewalk.dsl.words.constants import MUTANT, NO_MUTANT

ASKING = "statewalk.dsl.operations"  # the module of `linearizable`


def load(
    path: str | Path,
    constants: Mapping[str, Any] | None = None,
    *,
    config: str | None = None,
    optimize: bool = True,
    refined: bool = False,
    listed: bool = False,
) -> Model:
    """Load a spec with its constants fixed.

    ``constants`` override those of the configuration ``config``, which override the spec's
    defaults; a value of type `GivenText` is read by the constant's type. ``optimize=False`` runs
    the spec's functions as they are written; results are equal. ``refined``: as another spec
    refines it, without what it refines itself. ``listed``: with fields that expressions beside the
    spec may list; results are equal.

    Raises:  RunError for a file that cannot be read; SpecError for mistakes in the spec.
    """
    given = dict(constants or {})
    with Reading() as reading:
        source = read_spec(str(path))
    try:
        if config is not None:
            with reading:  # what it reads by other constants decides the configuration
                chosen, _run = _configuration(source, given, config)  # kept for its names
                given = {**chosen.constants, **given}
        with reading:
            loading = run_spec(source, given)
            loading.refined, loading.listed = refined, listed
            with loading.world.entered(), from_texts():
                model = model_of(loading, str(path), optimize=optimize)
            if source.dialect == "fizz":
                model = _warned_of_options(source, loading, model)
        others = [p.refined.model.origins for p in model.properties if p.refined is not None]
        with loading.world.entered(), from_texts():
            return replace(model, inputs=together(reading.inputs(loading), model.inputs, *others))
    except RecursionError as error:
        raise _too_deep(error, source) from None
    except SyntaxError as error:  # what only Python's compiler sees: a return outside a function
        raise not_python(error, source.path) from None


def _too_deep(error: RecursionError, source: Source) -> SpecError:
    """Return the error of a spec that calls itself without end, or is nested deeper than we
    follow.
    """
    if place_of(error, {source.path}) is not None:
        return raised(error, "while loading the spec", {source.path})
    return too_nested("SW150" if source.dialect == "fizz" else "SW100", Span(source.path, 1))


def _configuration(
    source: Source, given: Mapping[str, Any], name: str
) -> tuple[Configuration, Loading]:
    """Return a configuration of a spec, and the run with the defaults that it is from, whose
    modules say what its values are called. Raises SpecError[SW305].

    The defaults need not be what the spec assumes, nor fit it at all: what is declared before that
    shows will do, else what is declared where the assumptions are not looked at.
    """
    failure: StatewalkError | None = None
    for assuming in (True, False):
        loading, failed = loading_of(source, given, assuming=assuming), False
        try:
            loading.start(source)
        except StatewalkError as error:
            failure, failed = failure or error, True
        known = {c.name: c for c in loading.declared.configurations}
        if name in known:
            return known[name], loading
        if not failed:
            break
    said = f"There is no configuration {name} in {Path(source.path).name}. "
    help = f'Declare one at module level of the spec: config("{name}", CONSTANT=VALUE)'
    raise failure or SpecError(
        "SW305", said + did_you_mean(name, known), help="" if known else help
    )


def constant_types(path: str) -> dict[str, Any]:
    """Return the declared types of a spec's constants, by name and by ``module.NAME``."""
    source = read_spec(path)
    loading = loading_of(source, {}, assuming=False)
    loading.start(source)
    names = [mutant.name for mutant in loading.declared.mutants]
    mutants = {MUTANT: Literal[(NO_MUTANT, *names)]} if names else {}
    return {**loading.hints, **mutants}


def read_spec(path: str) -> Source:
    """Read and parse a spec. Raises RunError[SW302], SpecError[SW100, SW150 to SW153]."""
    if Path(path).suffix != ".fizz":
        return read_source(path)
    from statewalk.dsl.fizz.read import read_fizz
    from statewalk.dsl.fizz.rules.allowed import builtins_of_fizz

    text = read_text(path)
    spec = read_fizz(path, text)
    return Source(path, text, spec.tree, "fizz", builtins_of_fizz(), spec.warnings)


def _warned_of_options(source: Source, loading: Loading, model: Model) -> Model:
    """Return the Model with warnings of options of actions and instances that there are not."""
    from statewalk.dsl.fizz.read import options_in
    from statewalk.dsl.fizz.translate.header import warn_of_instances

    options = options_in(source.path, source.text)
    found = [*source.warnings, *warn_of_instances(options, model.roles)]
    said = [w for w in found if not allowed(loading, w)]
    return replace(model, warnings=(*model.warnings, *said)) if said else model


def model_of(loading: Loading, path: str, *, optimize: bool = True) -> Model:
    """Return the Model of modules that ran."""
    tree = read_tree(loading)
    mistakes = Mistakes()
    refuse_same_names(tree, mistakes)
    check_tree(tree, mistakes)
    mistakes.raise_if_any()
    expand_blocks(tree, mistakes)
    mistakes.raise_if_any()
    fold_constants(tree)
    with unchanged():
        analysis = analyse(tree)
    fields = make_fields(tree, analysis, mistakes)
    mistakes.raise_if_any()
    refuse_across_states(tree, mistakes)
    mistakes.raise_if_any()
    own_values = {cls.__name__: cls for cls in loading.declared.options.get("values", ())}
    classes = own_values | tree.classes | _open_records(loading)
    with bound(None, classes=classes):
        model = _assembled(tree, fields, classes, mistakes, path, optimize)
    if model.check_deadlock and not model.terminal and not model.actions:
        if not any(f.marked("action") for f in tree.functions):
            raise _without_action(path, model.dialect)
    model.outside, model.pictures = _outside(loading), tuple(make_pictures(tree))
    model.inputs = together(*_objects(tree))
    model.texts = {file: text_of(file) for file in model.sources}
    return model


def _no_initial_state(tree: SpecTree, path: str) -> SpecError:
    said = f"a require(...) is false in every run of {tree.loading.declared.init}."
    help = "Correct that require(...), or the constants that it depends on."
    at = next((f.span() for f in tree.functions if f.marked("init")), Span(path, 1))
    return SpecError("SW114", f"There is no initial state: {said}", at=at, help=help)


def _assembled(
    tree: SpecTree,
    fields: dict[tuple[str, str], Field],
    classes: dict[str, type],
    mistakes: Mistakes,
    path: str,
    optimize: bool,
) -> Model:
    """Return the Model of a tree without mistakes, in which names of classes have their meaning."""
    loading = tree.loading
    lowering = Lowering(tree, optimize=optimize)
    states, fixed = InitialStates(tree, fields, classes).compute()
    if not states:
        raise _no_initial_state(tree, path)
    flows = Flows(fields)
    flows.compile_all(lowering)
    lowering.run()
    made = make_actions(tree, flows, mistakes)
    actions = [*made, *crashes_of_roles(tree, fields, len(made))]
    properties, bounds = _properties(tree, lowering, mistakes)
    refuse_same_names(tree, mistakes)  # also roles that were made since
    refuse_same_names_made(actions, properties, mistakes)
    _check_constants(loading)
    mistakes.raise_if_any()
    limits, used_up = bounds_of(flows)
    bounds["constraints"] += limits
    bounds["terminal"] += used_up
    bounds = {name: tuple(given) for name, given in bounds.items()}
    _check_not_empty([*actions, *properties], path, loading.modules[-1].source.dialect, mistakes)
    return Model(
        name=Path(path).stem,
        path=path,
        dialect=loading.modules[-1].source.dialect,
        constants=loading.constants,
        initial_states=tuple(states),
        actions=tuple(actions),
        properties=tuple(properties),
        **bounds,
        fields=field_table(fields),
        fixed=fixed,
        configurations=tuple(loading.declared.configurations),
        mutants={mutant.name: mutant.line for mutant in loading.declared.mutants},
        sources={m.source.path: m.source.digest for m in loading.modules},
        classes=classes,
        roles={c.__name__: tuple(c._instances) for c in tree.roles},
        symmetric=tuple(c.__name__ for c in tree.roles if c._symmetric),
        max_depth=loading.declared.options.get("max_depth"),
        symmetric_values=tuple(loading.declared.symmetric_values),
        fresh_values=bool(loading.declared.options.get("fresh_values")) or come_and_go(tree),
        first_unused=loading.declared.options.get("first_unused", ""),
        counted_by=tuple(loading.declared.options.get("counted_by", ())),
        check_deadlock=loading.declared.options.get("deadlock", True),
        no_liveness=loading.declared.options.get("no_liveness", ""),
        optimized=optimize,
        warnings=tuple(w for w in mistakes.warned if not allowed(loading, w)),
        **named_choices(tree),
        flows=flows if flows.actions else None,
        functions=_functions(loading),
        tree=(tree, lowering.effects) if optimize and at_step_end(tree) is None else None,
    )


def _functions(loading: Loading) -> dict[str, Callable[[], Any]]:
    """Return the functions of the main module, by name."""
    there = loading.modules[-1].namespace
    return {name: held for name, held in there.items() if isinstance(held, FunctionType)}


def _outside(loading: Loading) -> Outside:
    """Return what the modules of a spec hold besides the state, as they are now."""
    own = {name: m for name, m in loading.by_name.items() if not is_ours(name)}
    main = loading.modules[-1].name
    return Outside(
        own, main, lambda name: name in own or is_authored(name), partial(enter, loading.world)
    )


_MOVE: dict[Dialect, str] = {
    "fizz": "Write an action as 'action Name:'",
    "python": "Write an action as a method with @action",
}


def _check_not_empty(found: list[Any], path: str, dialect: Dialect, mistakes: Mistakes) -> None:
    """Raise SpecError[SW115] where there are no actions and no properties."""
    for warning in mistakes.warned if not found else ():
        if warning.code == "SW609":  # there is one in the text
            raise SpecError(
                "SW115",
                f"{path} has nothing to check. {warning.message}",
                at=warning.at,
                help=warning.help,
            )
    if found:
        return
    raise SpecError(
        "SW115",
        f"{path} has nothing to check: no action and no property.",
        help=f"{_MOVE[dialect]}, a property "
        + ("as 'always assertion Name:'." if dialect == "fizz" else "as a function with @always."),
    )


def _without_action(path: str, dialect: Dialect) -> SpecError:
    fizz = dialect == "fizz"
    return SpecError(
        "SW115",
        f"{path} has no action, so nothing ever happens in it.",
        why="Its initial states would be deadlocks.",
        help=f"{_MOVE[dialect]}. If only the initial states are to be checked, "
        + ("say deadlock_detection: false." if fizz else "write deadlock(False)."),
    )


def _properties(
    tree: SpecTree, lowering: Lowering, mistakes: Mistakes
) -> tuple[list[Property], dict[str, Any]]:
    """Return properties, and lists of what bounds them by attribute of `Model`."""
    found: list[Property] = []
    bounds: dict[str, Any] = {
        "constraints": [], "step_constraints": [], "terminal": [], "assumptions": [],
    }  # fmt: skip
    for function in tree.functions:
        if not function.is_property:
            continue
        if function.marked("terminal"):
            bounds["terminal"].append(make_property(function, "always", ()))
        if function.marked("constraint"):
            on_step = function.marked("on_step") is not None
            bounds["step_constraints" if on_step else "constraints"].append(
                make_property(function, "on_step" if on_step else "always", ())
            )
        elif function.marked("assume"):
            if (kind := property_kind(function, mistakes)) is not None:
                bounds["assumptions"].append(make_property(function, kind, ()))
        elif any(m.kind in PROPERTY_MARKS for m in function.marks):
            kind = property_kind(function, mistakes)
            if kind is not None and function.parameters():
                found += make_instances(tree, function, kind, mistakes)
            elif kind is not None:
                elements = split_property(lowering, function) if KINDS[kind].invariant else ()
                found.append(make_property(function, kind, elements))
    for name, formula, span in tree.formulas:
        if isinstance(formula, Refines):
            if not tree.loading.refined:
                found.append(_refinement(tree, name, formula, span))
        else:
            found += make_formulas(tree, name, formula, span, mistakes)
    return found, bounds


def _refinement(tree: SpecTree, name: str, lead: Refines, span: Span) -> Property:
    """Return the property ``name = refines("other.py", by=seen)``, with the other spec loaded."""
    beside = Path(span.file).parent / lead.abstract
    library = Path(__file__).parents[1] / "models" / f"{lead.abstract}.py"
    path = library if library.exists() and not beside.exists() else beside
    refined = Refined(_other(path, lead.constants, span, refined=True), lead.by)
    return Property(name, "refines", (), lead.premise, None, span, refined=refined)


def _other(
    path: Path,
    constants: Mapping[str, Any],
    span: Span,
    *,
    optimize: bool = True,
    refined: bool = False,
) -> Model:
    """Load a spec that this one names; what has no place in it is wrong here."""
    try:
        with bound(None, classes={}):  # its classes may have the names of those here
            return load(path, constants, optimize=optimize, refined=refined)
    except StatewalkError as error:
        error.at = error.at or span
        raise


OBJECTS: dict[str, dict[str, str]] = {}
"""Files of objects that steps and properties ask about → what they were loaded from last."""


def _objects(tree: SpecTree) -> Iterator[dict[str, str]]:
    """Yield the origins of specs that ``linearizable("file.py", events, NAME=value)`` names."""
    for function in tree.functions:
        names = function.module.namespace
        for node in walk(function.node):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            if getattr(meaning(node.func, names), "__module__", None) != ASKING:
                continue
            known = {k.arg: _constant_in(k.value, names) for k in node.keywords if k.arg}
            name = _constant_in(node.args[0], names)
            path = Path(os.path.abspath(function.module.source.path)).parent / str(name)
            if isinstance(name, str) and path.is_file():
                given = {k: value for k, value in known.items() if value is not None}
                found = _other(path, given, function.module.source.span(node), optimize=False)
                OBJECTS[str(path)] = found.origins
                yield found.origins


def _constant_in(node: ast.expr, names: dict[str, Any]) -> Any:
    return node.value if isinstance(node, ast.Constant) else meaning(node, names)


def _check_constants(loading: Loading) -> None:
    """Raise SpecError[SW126, SW203] for a value of a class that traces could not tell by name."""
    for value in loading.constants.values():
        try:
            freeze(value)
        except StatewalkError as error:
            if error.code == "SW126":
                raise


def _open_records(loading: Loading) -> dict[str, type]:
    """Return the class of records without declared fields, for specs from .fizz files."""
    if not any(map(says_no_types, loading.modules)):
        return {}
    from statewalk.dsl.fizz.runtime.values import record

    return {record.__name__: record}
