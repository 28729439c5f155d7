"""Names: fields that do not exist, assignments that stay local, statements without effect."""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator
from typing import Any

from statewalk.dsl.errors import Mistakes, did_you_mean, instead_of_field
from statewalk.dsl.rules.rule import Checked, attribute_name, shortened
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.known_effects import attribute
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.scopes import arguments
from statewalk.dsl.source.tree import SpecTree
from statewalk.dsl.source.types import Scope, bare, element_of, spec_class
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.domains import Domain, domain_of
from statewalk.dsl.values.records import Record
from statewalk.dsl.words.constants import MUTANT
from statewalk.dsl.words.declare import old
from statewalk.dsl.words.lookahead import enabled, next_steps


def check_property(checked: Checked) -> None:
    """SW103: a property that writes, chooses or guards, itself or through what it calls."""
    if not checked.is_property and not checked.function.marked("picture"):
        return
    word = "property" if checked.is_property else "picture"
    for cause, way in checked.effects.why(checked.function):
        place = way[-1] if way else checked.function
        called = getattr(getattr(cause.node, "func", None), "id", "")
        through = f", through '{way[-1].name}'" if way else ""
        name = checked.function.name
        if called in ("any_of", "maybe"):
            message = f"The {word} '{name}' chooses ({cause.text}{through})."
        elif called == "require":
            message = f"The {word} '{name}' has a guard ({cause.text}{through})."
        elif called == "interrupt" or isinstance(cause.node, ast.Yield | ast.YieldFrom):
            message = f"The {word} '{name}' does what only steps do ({cause.text}{through})."
        else:
            statement = _statement(place.node, cause.node)
            message = f"The {word} '{name}' changes the state ({shortened(statement)}{through})."
        why = "Properties only read." if checked.is_property else "Pictures only read."
        help = "To record history, write an Auxiliary field in the action."
        checked.mistakes.add("SW103", message, at=place.span(cause.node), why=why, help=help)


def _statement(function: ast.FunctionDef, node: ast.AST) -> ast.AST:
    """Return the simple statement that a node is in."""
    for statement in walk(function):
        if isinstance(
            statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete | ast.Expr
        ):
            if any(n is node for n in walk(statement)):
                return statement
    return node


def check_values(checked: Checked) -> None:
    """SW201 for literals that a field cannot hold, SW202 for changed elements of sets."""
    for node, scope in checked.types.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                _check_store(checked, target, node.value, scope)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            _check_store(checked, node.target, node.value, scope)
        elif isinstance(node, ast.AugAssign):
            _check_element(checked, node.target, scope, None)
        elif isinstance(node, ast.Compare):
            _check_comparison(checked, node, scope)


def _check_store(checked: Checked, target: ast.expr, value: ast.expr, scope: Scope) -> None:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, other in zip(target.elts, value.elts, strict=False):
            _check_store(checked, one, other, scope)
        return
    _check_element(checked, target, scope, value)
    domain = _domain(checked, target, scope)
    constant = _constant(value)
    if domain is None or constant is None or domain.admits(constant[0]):
        return
    cls = checked.types.of(target.value, scope) if isinstance(target, ast.Attribute) else None
    owner = spec_class(cls)
    what = f"{owner.__name__}.{target.attr}" if owner and isinstance(target, ast.Attribute) else ""
    close = _close(constant[0], domain)
    said = f"{what or ast.unparse(target)} cannot be {constant[0]!r}. It is {domain.text}."
    checked.wrong("SW201", said, value, help=close)


def _check_element(
    checked: Checked, target: ast.expr, scope: Scope, value: ast.expr | None
) -> None:
    if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)):
        return
    hint = checked.types.of(target.value, scope)
    cls, source = spec_class(hint), element_of(hint)
    if not source or cls is None or not issubclass(cls, Record):
        return
    name = target.value.id
    new = shortened(value) if value is not None else "..."
    said = f"'{name}' is {source}, which is immutable."
    help = f"Remove it, then add replace({name}, {target.attr}={new})."
    checked.wrong("SW202", said, target, help=help)


def _domain(checked: Checked, target: ast.expr, scope: Scope) -> Domain | None:
    """Return the finite or plain domain of a field that is assigned."""
    if not isinstance(target, ast.Attribute):
        return None
    cls = spec_class(checked.types.of(target.value, scope))
    hint = checked.types.fields(cls).get(target.attr) if cls else None
    if hint is None:
        return None
    while typing.get_origin(hint) is typing.Annotated and not any(
        isinstance(extra, range) for extra in typing.get_args(hint)[1:]
    ):
        hint = typing.get_args(hint)[0]
    domain = domain_of(hint)
    return domain if domain.kind == "scalar" else None


def _constant(node: ast.expr) -> tuple[Any] | None:
    """Return the value of a literal scalar, in a tuple; None for any other expression."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _constant(node.operand)
        return (-inner[0],) if inner and type(inner[0]) is int else None
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | bool | None):
        return (node.value,)
    return None


def _close(value: object, domain: Domain) -> str:
    known = [o for o in domain.options or () if isinstance(o, str)]
    said = did_you_mean(value, known, quoted=True) if isinstance(value, str) and known else ""
    return said if said.startswith("Did") else ""


def _check_comparison(checked: Checked, node: ast.Compare, scope: Scope) -> None:
    """SW605: a comparison with a literal that the other side can never be."""
    sides = [node.left, *node.comparators]
    for operator, one, other in zip(node.ops, sides, sides[1:], strict=False):
        if not isinstance(operator, ast.Eq | ast.NotEq):
            continue
        for value, literal in ((one, other), (other, one)):
            constant = _constant(literal)
            hint = checked.types.of(value, scope)
            if constant is None or type(constant[0]) is not str or hint is None:
                continue
            if typing.get_origin(bare(hint)) is not typing.Literal:
                continue
            domain = domain_of(bare(hint))
            if not domain.admits(constant[0]):
                said = f"{shortened(value)} is never {constant[0]!r}. It is {domain.text}."
                checked.doubtful("SW605", said, literal, help=_close(constant[0], domain))


_DECLARED = "Fields are declared in the class body with a type."


def check_fields(checked: Checked) -> None:
    """SW101: a field that a role or record does not have, where its class is known."""
    for node, scope in checked.types.nodes:
        if isinstance(node, ast.Attribute):
            _check_old(checked, node, scope)
            cls = spec_class(checked.types.of(node.value, scope))
            if cls is not None and not _has(cls, node):
                _no_field(checked, cls, node.attr, attribute_name(node))
        elif isinstance(node, ast.Call):
            _check_keywords(checked, node, dict(scope))
            _check_ahead(checked, node, scope)


def _check_old(checked: Checked, node: ast.Attribute, scope: Scope) -> None:
    """SW121: ``old.n``, as if it were the state before the step."""
    name = getattr(node.value, "id", "")
    if name not in scope and checked.function.module.namespace.get(name) is old:
        said = f"'{name}' is a function, which has no '{node.attr}'."
        help = f"Give it what you want the value before the step of: {name}(x.{node.attr})."
        checked.wrong("SW121", said, node, help=help)


def _check_ahead(checked: Checked, node: ast.Call, scope: Scope) -> None:
    """SW121: an action whose guard asks what another action can do."""
    name, function = getattr(node.func, "id", ""), checked.function
    asked = function.module.namespace.get(name)
    if name in scope or not any(asked is word for word in (enabled, next_steps)):
        return
    for action in checked.tree.functions:
        if not action.marked("action") or not any(
            reached is function for reached in checked.effects.reached_from(action, sure=True)
        ):
            continue
        by = "" if action is function else f" through '{function.name}'"
        said = f"The action '{action.name}' calls {name}(...){by}, which is for properties only."
        why = "A guard may depend on the state only, not on whether other actions are enabled."
        help = "Write the guard of the other action as a function, say ready(), and require it "
        help += "in both: require(ready()) there, require(not ready()) here."
        checked.wrong("SW121", said, node, why=why, help=help)


def _check_keywords(checked: Checked, node: ast.Call, scope: dict[str, Any]) -> None:
    name = getattr(node.func, "id", None)
    if name is None or name in scope:
        return
    value = checked.function.module.namespace.get(name)
    cls: Any = value
    if attribute(value, "__name__", "") == "replace" and node.args:
        cls = spec_class(checked.types.of(node.args[0], scope))
    if not (isinstance(cls, type) and issubclass(cls, Role | Record)) or "__init__" in vars(cls):
        return
    for keyword in node.keywords:
        if keyword.arg is not None and keyword.arg not in _family_fields(cls, down=False):
            _no_field(checked, cls, keyword.arg, keyword)


def _family_fields(cls: type, *, down: bool) -> list[str]:
    """Return the fields of a class, with those of its subclasses if it goes ``down``."""
    family = [cls, *(_subclasses(cls) if down else ())]
    return list(dict.fromkeys(n for c in family for n in getattr(c, "_fields", ())))


def _subclasses(cls: type) -> Iterator[type]:
    sub: type
    for sub in cls.__subclasses__():
        yield sub
        yield from _subclasses(sub)


def _has(cls: type, node: ast.Attribute) -> bool:
    if node.attr.startswith("__"):
        return True
    if getattr(cls, "_open", False) or node.attr in _family_fields(cls, down=True):
        return True
    family = [cls, *_subclasses(cls)]
    if isinstance(node.ctx, ast.Load):
        return any(hasattr(c, node.attr) for c in family)
    found = [getattr(c, node.attr, None) for c in family]
    return any(isinstance(f, property) and f.fset is not None for f in found)


def _no_field(checked: Checked, cls: type, name: str, node: ast.AST) -> None:
    if hasattr(cls, name) and name not in _family_fields(cls, down=True):
        said = f"'{name}' of {cls.__name__} is not a field, so it cannot be changed."
    else:
        said = f"{cls.__name__} has no field '{name}'. "
        said += did_you_mean(name, _family_fields(cls, down=True), quoted=True)
    checked.wrong("SW101", said, node, why=_DECLARED, help=instead_of_field(cls, name))


def check_assigned(checked: Checked) -> None:
    """SW102: an assignment in a function to what is a constant or variable of the module."""
    function = checked.function
    module = function.module
    parameters = arguments(function.node)
    names = [n for s in function.node.body for n in walk(s) if isinstance(n, ast.Name)]
    for node in walk(function.node):
        if isinstance(node, ast.Global):
            for name in node.names:
                _global(checked, node, name)
    declared = {n for g in walk(function.node) if isinstance(g, ast.Global) for n in g.names}
    for target in _assigned(checked):
        name = target.id
        if (
            name in parameters | declared
            or name not in module.namespace
            or callable(module.namespace[name])
        ):
            continue
        reads = [n for n in names if n.id == name and isinstance(n.ctx, ast.Load)]
        first = min((t.lineno, t.col_offset) for t in _assigned(checked) if t.id == name)
        augmented = isinstance(checked.parents[target], ast.AugAssign) and first == (
            target.lineno,
            target.col_offset,
        )
        if name not in module.constants and not augmented and reads:
            statement = checked.parents[target]
            inside = [n for n in walk(statement) if n in reads]
            if min(n.lineno for n in reads) > target.lineno or not inside:
                continue  # a local that happens to have the name of something in the module
        what = "constant" if name in module.constants else "variable"
        said = f"'{name}' is assigned here, so it is local to this function; "
        said += f"the {what} of that name does not change."
        why = "Constants stay as they are during a run." if what == "constant" else ""
        help = field_instead(name, module.namespace[name])
        checked.wrong("SW102", said, target, why=why, help=help)


def _global(checked: Checked, node: ast.Global, name: str) -> None:
    said = f"'{name}' is a variable of the module, which is not part of the state."
    why = "The checker moves between states and does not restore such a variable."
    help = field_instead(name, checked.function.module.namespace.get(name))
    checked.wrong("SW102", said, node, why=why, help=help)


def field_instead(name: str, value: object) -> str:
    """Return how to write a variable of a module as a part of the state."""
    if holds_roles(value):
        return (
            "The instances of a class are made on module level, outside of functions:\n"
            f"{name} = [Client() for _ in range(2)]"
        )
    kind = type(value).__name__ if isinstance(value, int | str | bool) else "..."
    if isinstance(value, list | dict | set):
        kind = f"{type(value).__name__}[...]"
    return f"Shared state lives in a field: class Shared(State): {name}: {kind} = {value!r}"


def holds_roles(value: object) -> bool:
    """Return whether something is a role, or a container with one in it."""
    if isinstance(value, dict):
        return any(map(holds_roles, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(holds_roles, value))
    return isinstance(value, Role)


def _assigned(checked: Checked) -> Iterator[ast.Name]:
    """Yield targets of assignments; loops and ``with`` bind names on purpose."""
    for node in walk(checked.function.node):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (t for t in targets if isinstance(t, ast.Name))


def check_statements(checked: Checked) -> None:
    """SW107: a statement that only compares, or only names something."""
    for node in walk(checked.function.node):
        if not isinstance(node, ast.Expr):
            continue
        value, text = node.value, shortened(node.value)
        if isinstance(value, ast.Compare) or (
            isinstance(value, ast.BoolOp | ast.UnaryOp) and _compares(value)
        ):
            said = "This comparison has no effect."
            help = f"A guard is require({text}); an assignment has a single '='."
        elif isinstance(value, ast.Name | ast.Attribute):
            said = f"This statement only names '{text}'; it has no effect."
            help = f"A call is {text}(), a guard is require({text})."
        else:
            continue
        if checked.is_property:
            help = f"A property gives it back: return {text}"
        checked.wrong("SW107", said, value, help=help)


def _compares(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Compare) for n in walk(node))


def check_configurations(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW301 for constants in configurations that nobody declares."""
    known = [name for m in tree.loading.modules for name in m.constants]
    known += [MUTANT] if tree.mutants else []
    qualified = {f"{m.name}.{name}" for m in tree.loading.modules for name in m.constants}
    for module in tree.loading.modules:
        for node in walk(module.source.tree):
            if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "config"):
                continue
            for keyword in node.keywords:
                if keyword.arg and keyword.arg not in {"expect", *known, *qualified}:
                    message = f"There is no constant {keyword.arg}. "
                    message += did_you_mean(keyword.arg, [*known, "expect"])
                    mistakes.add("SW301", message, at=module.source.span(keyword))
