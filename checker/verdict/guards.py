"""The guard that disables an action."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.search import Pass
from statewalk.checker.engines.layout import Layout
from statewalk.checker.states.content import content_of, short_names, value_of
from statewalk.checker.symmetry.group import is_of_members
from statewalk.checker.verdict.evidence import Guard, NeverFired
from statewalk.checker.verdict.spec_text import (
    function_at,
    line_of,
    namespace_of,
    parsed,
    values_in,
)
from statewalk.dsl.model import Element, Model, Property, Text
from statewalk.dsl.source.nodes import WITH_ASSERTIONS, copied
from statewalk.dsl.source.set_order import with_ordered_sets
from statewalk.dsl.state.plain_view import PlainView, apply_writes
from statewalk.dsl.state.roles import Role
from statewalk.dsl.view import Disabled, State

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Exploration, SearchOptions
    from statewalk.checker.verdict.judge import Checked
    from statewalk.dsl.model import Action


# what text specs have where a step ends, which is possible only if it did something
_NO_GUARD = re.compile(r"((atomic|serial|parallel|oneof|fair(<\w+>)?)\s+)*action\b|return\b")
_FAULT = Guard("", 0, why="possible, but a fault is no way out of a deadlock")
RUNS = 1000  # of actions, which take some ten milliseconds in most specs
_STATES = 1000


def guard_of(model: Model, action: Action, state: State, *, values: bool = True) -> Guard | None:
    """Return the furthest line at which every way of taking an action ends in a state; None
    where it is possible. Without ``values`` it is only said where.
    """
    furthest: Guard | None = None
    for view in PlainView.runs(state):
        try:
            model.take(action, view)
        except Disabled as disabled:
            found = _guard(disabled, model, action, view, values)
            furthest = found if furthest is None else _further(furthest, found)
        except Exception:
            return None
        else:
            return None
    return furthest


def _further(one: Guard, other: Guard) -> Guard:
    """Return which of two got further: where a step does nothing, it went past every guard."""
    return other if (other.idle, other.line) > (one.idle, one.line) else one


def _guard(
    error: BaseException, model: Model, action: Action, view: PlainView, values: bool
) -> Guard:
    """Return the innermost line of the spec that a traceback passes through, with its values."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in model.sources:
            found = (trace.tb_frame, trace.tb_lineno, _column(trace))
        trace = trace.tb_next
    if found is None:
        return Guard("", 0, why=str(error))
    frame, line, column = found
    file = frame.f_code.co_filename
    if model.dialect == "fizz" and _NO_GUARD.match(line_of(file, line, column)):
        return Guard(file, line, idle=True)
    if not values:
        return Guard(file, line)
    if model.dialect == "fizz":
        return Guard(file, line, _named(model, action, line_of(file, line), view))
    return Guard(file, line, _values(model, frame, line, view))


def _column(trace: TracebackType) -> int:
    """Return where on its line what raised begins."""
    places = trace.tb_frame.f_code.co_positions()
    return next(itertools.islice(places, trace.tb_lasti // 2, None))[2] or 0


def _named(model: Model, action: Action, text: str, view: PlainView) -> tuple[tuple[str, Any], ...]:
    """Return the variables, and the actor's fields, that a line of a text spec speaks of."""
    names, actor = short_names(model), action.actor
    found = []
    for path, value in content_of(model, apply_writes(view.base, view.writes)).items():
        if names.get(path[0]) == "" and re.search(rf"(?<![.\w]){re.escape(path[2])}\b", text):
            found.append((path[2], value))
        elif actor is not None and path[:2] == (type(actor).__name__, actor.index):
            if re.search(rf"\bself\.{re.escape(path[2])}\b", text):
                found.append((f"self.{path[2]}", value))
    return tuple(found)


def _values(
    model: Model, frame: FrameType, line: int, view: PlainView
) -> tuple[tuple[str, Any], ...]:
    """Return what the condition on a line is made of, in the state in which it was false."""
    node = condition_at(frame.f_code.co_filename, line)
    if node is None:
        return ()
    found: list[tuple[str, Any]] = []

    def look() -> bool:
        values = values_in(node, frame.f_globals, frame.f_locals)
        state = apply_writes(view.base, view.writes)
        found.extend((text, value_of(value, model, state)) for text, value in values)
        return True

    try:
        model.holds(look, view)
    except Exception:  # the values are a courtesy: the guard is named without them
        return ()
    return tuple(found)


def condition_at(file: str, line: int) -> ast.expr | None:
    """Return what a line of a Python spec asks for: the condition of ``require``, the options of a
    choice, the test of an ``if``.
    """
    tree = parsed(file)
    for node in ast.walk(tree) if tree is not None else ():
        if not getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", 0) or 0):
            continue
        if isinstance(node, ast.Call) and node.args:
            if getattr(node.func, "id", "") in ("require", "any_of", "oneof"):
                return node.args[0]
    return None


def never_fired(
    model: Model, fired: Iterable[int], distinct: int, *, whole: bool
) -> tuple[NeverFired, ...]:
    """Return the actions of which no instance fired, each with the guard that got furthest.

    ``distinct`` states were searched, all there are if ``whole``. A small search of its own finds
    some of them again to try the actions in.
    """
    names = model.action_names()
    done = {names[index] for index in fired}
    idle = [a for a in model.actions if names[a.index] not in done]
    if not idle:
        return ()
    guards: dict[str, Guard] = {}
    possible: set[str] = set()
    tried = 0
    for state in itertools.islice(some_states(model), distinct):
        tried += 1
        for action in idle:
            if not _has_run(action, state):
                continue
            name, guard = names[action.index], guard_of(model, action, state, values=False)
            if guard is None:
                possible.add(name)
            elif guard.file:
                guards[name] = _further(guards.get(name, guard), guard)
    result = []
    unbegun = {a.slot for a in idle if not a.continues and not a.fault} - {None}
    told = [a for a in idle if a.slot not in unbegun or not (a.continues or a.fault)]
    for name in dict.fromkeys(names[a.index] for a in told):
        span = next(a.span for a in idle if names[a.index] == name)
        guard = guards.get(name) if name not in possible else None
        idle_ = guard is not None and guard.idle
        text, line = (guard.text, guard.line) if guard and not idle_ else ("", 0)
        found = NeverFired(name, span, text, line, tried, whole and tried >= distinct, idle_)
        result.append(found)
    return tuple(result)


def _has_run(action: Action, state: State) -> bool:
    """Return whether there is a suspended run to go on with, or to crash, where an action does
    that.
    """
    return action.slot is None or not (action.continues or action.fault) or action.slot in state


def some_states(model: Model) -> Iterable[State]:
    """Reachable states, the nearest first: those that the first `RUNS` runs of actions lead to.

    A count bounds the search, and no clock: results depend on which states these are.
    """
    layout = Layout(model)
    left = RUNS
    queue: list[Any] = []
    seen: set[tuple[int, ...]] = set()

    def meet(state: State) -> None:
        row = layout.row(state)
        if row not in seen and len(seen) < _STATES:
            seen.add(row)
            queue.append(state)

    for state in model.initial_states:
        meet(state)
    at = 0
    while at < len(queue) and left > 0:
        state = queue[at]
        at += 1
        yield state
        for action in model.actions:
            try:
                for after in _after_runs(model, action, state):
                    if after is not None:
                        meet(after)
                    left -= 1
                    if left <= 0:  # one step may have millions of outcomes
                        return
            except Exception:  # the search reports what raises; here it is only left out
                continue


def _after_runs(model: Model, action: Action, state: State) -> Iterator[State | None]:
    """Yield the state after each run of an action; None for a run that is disabled."""
    for view in PlainView.runs(state):
        try:
            model.take(action, view)
        except Disabled:
            yield None
        else:
            yield apply_writes(state, view.writes)


def blocked(model: Model, state: State) -> tuple[tuple[str, Guard | None], ...]:
    """Return what stops each action instance in a state (of a deadlock): its label and the guard.

    Going on with a run is left out where none is suspended. A fault may be possible there.
    """
    found = []
    for action in model.actions:
        if _has_run(action, state):
            guard = guard_of(model, action, state)
            found.append((action.label, _FAULT if guard is None and action.fault else guard))
    return tuple(found)


_BEFOREHAND = 20  # looked at beforehand; a premise met later costs the search a few evaluations
_PREFIX = "premise of "
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.Pass)
_NEGATIVE = (ast.NotEq, ast.NotIn, ast.IsNot)


@dataclass
class Premises(Pass):
    """Search for premises too, so that vacuous invariants are noticed.

    These are those that no state of a small sample meets. A search that is resumed goes on with the
    premises that it began with (``saved``): which ones the sample leaves may depend on the version
    that began it. ``families`` are the names of invariants, those with one premise together.
    """

    checked: Checked
    saved: Collection[str] | None = None
    families: dict[str, list[str]] = field(default_factory=dict)

    def before(self, model: Model, asked: SearchOptions) -> tuple[Model, SearchOptions]:
        """Add the premises as witnesses that only we ask for."""
        left: dict[str, dict[str, Property]] = {}
        for prop in model.properties:
            if prop.of_kind.invariant and asked.wants(prop.name):
                premise = premise_of(model, prop)
                if premise is not None:
                    left.setdefault(family_of(prop), {})[prop.name] = premise
        if self.saved is None:
            for state in itertools.islice(some_states(model) if left else (), _BEFOREHAND):
                for name in [n for n, of in left.items() if _any_true(model, of, state)]:
                    del left[name]
                if not left:
                    break
        else:
            known = self.saved
            left = {n: of for n, of in left.items() if any(p.name in known for p in of.values())}
        self.families = {name: [*of] for name, of in left.items()}
        extra = tuple(premise for of in left.values() for premise in of.values())
        own = tuple(p.name for p in extra)
        names = None if asked.properties is None else (*asked.properties, *own)
        asked = replace(asked, properties=names, premises=own)
        return (replace(model, properties=(*model.properties, *extra)) if extra else model), asked

    def after(self, found: Exploration) -> Exploration:
        """Note the invariants whose premise an exhaustive search did not meet."""
        if found.complete and not any(found.cut.values()):
            met = {f.property.removeprefix(_PREFIX) for f in found.witnesses}
            unmet = (names for names in self.families.values() if met.isdisjoint(names))
            self.checked.vacuous |= {name for names in unmet for name in names}
        own = tuple(f for f in found.witnesses if not f.property.startswith(_PREFIX))
        return replace(found, witnesses=own)


def roles_come(roles: list[Role]) -> bool:
    """Return whether some of the roles need not be there."""
    return any(type(role)._room is not None for role in roles)


def family_of(prop: Property) -> str:
    """Return the name under which those of all arguments go."""
    return prop.name.partition("(")[0] if is_of_members(prop) else prop.name


def _any_true(model: Model, premises: dict[str, Property], state: Any) -> bool:
    """Return whether one is met; one that raises is as good as met: nothing is to be said of it."""
    try:
        return any(model.holds(p.whole, PlainView(state)) for p in premises.values())
    except Exception:
        return True


def premise_of(model: Model, prop: Property) -> Property | None:
    """Return the premise of an invariant as a witness to look for; None where its text has none."""
    node = function_at(prop.span.file, prop.span.line) if prop.span else None
    namespace = namespace_of(prop.whole, model)
    if node is None or namespace is None or prop.span is None:
        return None
    bindings = prop.elements[0].bindings if is_of_members(prop) else ()
    text = _text(node)
    if text is None or len(node.args.args) != len(bindings):
        return None
    function = _function(text, namespace, prop.span.file)
    values = tuple(value for _, value in bindings)
    roles = [value for value in values if isinstance(value, Role)]

    def premise() -> bool:
        return all(role.there for role in roles) and bool(function(*values))

    name = premise.__name__ = _PREFIX + prop.name
    source = None
    if prop.source is not None and not roles_come(roles):
        made = replace(prop.source.function, node=text, function=function, marks=[])
        source = Text(made, values, as_bool=True)
    return Property(
        name, "exists", (Element(name, bindings, premise, source=source),), premise, source=source
    )


def _text(node: ast.FunctionDef) -> ast.FunctionDef | None:
    """Return the text that tells whether the premise of an invariant is met."""
    made: ast.FunctionDef = copied(node)
    body = [*_met(made.body)]
    if None in body or not any(map(_says_when, body)):
        return None
    made.body = [statement for statement in body if statement is not None]
    made.decorator_list, made.returns = [], None
    for argument in made.args.args:
        argument.annotation = None
    made.args.defaults = []
    return made


def _function(made: ast.FunctionDef, namespace: dict[str, Any], file: str) -> Callable[..., Any]:
    tree = ast.fix_missing_locations(with_ordered_sets(ast.Module([copied(made)], [])))
    found: dict[str, Any] = {}
    exec(compile(tree, file, "exec", optimize=WITH_ASSERTIONS), namespace, found)
    return found[made.name]  # type: ignore[no-any-return]


def _met(body: list[ast.stmt]) -> Iterator[ast.stmt | None]:
    """Yield statements that return whether what was returned decides; None for what is not read."""
    for statement in body:
        match statement:
            case ast.Return(value=None | ast.Constant(value=False)):
                yield None
            case ast.Return(value=value):
                yield ast.copy_location(ast.Return(premise_text(value) or _TRUE), statement)
            case ast.If(test=test, body=then, orelse=otherwise):
                branches = [[*_met(then)], [*_met(otherwise)]]
                read = [[s for s in branch if s is not None] for branch in branches]
                whole = read == branches
                yield ast.copy_location(ast.If(test, *read), statement) if whole else None
            case _:
                doc = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                yield statement if doc or isinstance(statement, _SIMPLE) else None


_TRUE, _FALSE = ast.Constant(True), ast.Constant(False)


def _says_when(statement: ast.stmt | None) -> bool:
    """Return whether a statement can return that nothing was decided."""
    returned = [n for n in ast.walk(statement or ast.Pass()) if isinstance(n, ast.Return)]
    return any(r.value is not _TRUE for r in returned)


def premise_text(node: ast.expr | None) -> ast.expr | None:
    """Return when an expression, which is true, is so for its last part; None where there are no
    parts.
    """
    match node:
        case ast.Constant(value=True):
            return _FALSE
        case ast.Call(func=ast.Name(id="all"), args=[ast.GeneratorExp() | ast.ListComp() as inner]):
            cases = ast.GeneratorExp(premise_text(inner.elt) or _TRUE, inner.generators)
            return ast.Call(ast.Name("any", ast.Load()), [cases], [])
        case ast.BoolOp(op=ast.Or(), values=[*first, last]) if not _alternatives(first, last):
            further = premise_text(last)
            parts = [*map(_not, first), *([further] if further else [])]
            return ast.BoolOp(ast.And(), parts) if len(parts) > 1 else parts[0]
        case ast.IfExp(test=test, body=body, orelse=otherwise):
            one, two = premise_text(body), premise_text(otherwise)
            return ast.IfExp(test, one or _TRUE, two or _TRUE) if one or two else None
    return None


def _not(node: ast.expr) -> ast.expr:
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
    return ast.UnaryOp(ast.Not(), node)


def _alternatives(first: list[ast.expr], last: ast.expr) -> bool:
    """Return whether the last part says another thing of what an earlier one speaks of."""
    subjects = _subjects(last)
    return any(not subjects.isdisjoint(_subjects(part)) for part in first)


def _subjects(node: ast.expr) -> set[str]:
    """Return what is said to be something, by a comparison or by several that are true together."""
    match node:
        case (
            ast.Compare(left=ast.Constant(), ops=[op, *_], comparators=[left, *_])
            | ast.Compare(left=left, ops=[op, *_])
        ) if not isinstance(op, _NEGATIVE):
            return {ast.unparse(left)}
        case ast.BoolOp(op=ast.And(), values=parts):
            return {subject for part in parts for subject in _subjects(part)}
    return set()
