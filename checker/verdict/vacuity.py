"""Invariants that hold only because the case they speak of never arises.

The *premise* of an invariant is read off its text: in which states the part that comes last
decides. Of ``a or b`` that is where a is false, and of ``not a or b`` where a is true; of
``b if a else True``, and of ``if a: return b`` above ``return True``, where a is true;
``all(e for x in xs if c)`` speaks of something when some x with c exists. A property with
parameters speaks of something when it does for some of them. The premises that are not met among
the first states go along with the search as witnesses; what an exhaustive search never meets makes
its invariant vacuous.

``x == 1 or x == 2`` and ``x <= 5 or x == NONE`` say what x may be: alternatives of one thing, of
which some never come. They have no premise, and neither has what says ``return False``.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from statewalk.checker.contract.search import Pass
from statewalk.checker.symmetry.families import is_of_members
from statewalk.checker.verdict.evaluate import namespace_of
from statewalk.checker.verdict.guards import some_states
from statewalk.checker.verdict.spec_text import function_at
from statewalk.dsl.model import Element, Model, Property, Text
from statewalk.dsl.source.nodes import WITH_ASSERTIONS, copied
from statewalk.dsl.source.set_order import with_ordered_sets
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.state.roles import Role

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Exploration, SearchOptions
    from statewalk.checker.verdict.judge import Checked

_STATES = 20  # looked at beforehand; a premise met later costs the search a few evaluations
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
            for state in itertools.islice(some_states(model) if left else (), _STATES):
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
    """The name under which those of all arguments go."""
    return prop.name.partition("(")[0] if is_of_members(prop) else prop.name


def _any_true(model: Model, premises: dict[str, Property], state: Any) -> bool:
    """Whether one is met; one that raises is as good as met: nothing is to be said of it."""
    try:
        return any(model.holds(p.whole, PlainView(state)) for p in premises.values())
    except Exception:
        return True


def premise_of(model: Model, prop: Property) -> Property | None:
    """The premise of an invariant as a witness to look for; None where its text has none."""
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
    """The text that tells whether the premise of an invariant is met."""
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
    """Statements that return whether what was returned decides; None for what is not read."""
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
    """Whether a statement can return that nothing was decided."""
    returned = [n for n in ast.walk(statement or ast.Pass()) if isinstance(n, ast.Return)]
    return any(r.value is not _TRUE for r in returned)


def premise_text(node: ast.expr | None) -> ast.expr | None:
    """When an expression, which is true, is so for its last part; None where there are no parts."""
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
    """Whether the last part says another thing of what an earlier one speaks of."""
    subjects = _subjects(last)
    return any(not subjects.isdisjoint(_subjects(part)) for part in first)


def _subjects(node: ast.expr) -> set[str]:
    """What is said to be something, by a comparison or by several that are true together."""
    match node:
        case (
            ast.Compare(left=ast.Constant(), ops=[op, *_], comparators=[left, *_])
            | ast.Compare(left=left, ops=[op, *_])
        ) if not isinstance(op, _NEGATIVE):
            return {ast.unparse(left)}
        case ast.BoolOp(op=ast.And(), values=parts):
            return {subject for part in parts for subject in _subjects(part)}
    return set()
