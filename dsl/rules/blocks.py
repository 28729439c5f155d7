"""Blocks (``with serial():`` and its kin) where they cannot be, and flows that do not exist."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from statewalk.dsl.blocks.read import FLOWS, block_named, flow_of
from statewalk.dsl.declared import BOUNDS, FAIRNESSES, marks
from statewalk.dsl.errors import Mistakes, Span, did_you_mean
from statewalk.dsl.rules.rule import Checked
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.nodes import meaning, parts_of, walk
from statewalk.dsl.source.scopes import locals_of
from statewalk.dsl.source.tree import SpecTree, definition_of, statements
from statewalk.dsl.words.declare import is_count

_OPTIONS: dict[str, tuple[str, ...]] = {
    "fair": FAIRNESSES, "name": (), "flow": FLOWS, "concurrent": (), "resume": FAIRNESSES,
    "crash": (), "fault": (),
}  # fmt: skip
_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "name": ("a nonempty string", lambda given: isinstance(given, str) and given != ""),
    "concurrent": ("a number from 1 on", is_count),
    "crash": ("True or False", lambda given: type(given) is bool),
    "fault": ("True or False", lambda given: type(given) is bool),
}
_MAY_BE_NONE = ("name", "resume")
_IN_STEPS = "A block divides an action, or a function that it calls, into steps."


def check_blocks(checked: Checked) -> None:
    """SW118 for blocks in a wrong place, SW119 for flows that do not exist."""
    _check_options(checked)
    written: set[int] = set()
    for node in walk(checked.function.node):
        if isinstance(node, ast.With):
            for item in node.items:
                flow = _named(checked, item.context_expr)
                if flow is not None:
                    written.add(id(item.context_expr))
                    _check_item(checked, node, item, flow)
    for node in walk(checked.function.node):
        if isinstance(node, ast.Call) and id(node) not in written:
            flow = _named(checked, node)
            if flow is not None:
                _misplaced(checked, node, f"{flow}() does nothing by itself", _as_block(flow))


def _named(checked: Checked, node: ast.expr) -> str | None:
    root = node.func if isinstance(node, ast.Call) else node
    if isinstance(root, ast.Name) and root.id in checked.types.locals:
        return None
    return block_named(node, checked.function.module.namespace)


def _as_block(flow: str) -> str:
    return f"Write it as a block: with {flow}():"


def _check_item(checked: Checked, node: ast.With, item: ast.withitem, flow: str) -> None:
    call = item.context_expr
    if not isinstance(call, ast.Call):
        _misplaced(checked, call, f"'{ast.unparse(call)}' is not called", _as_block(flow))
    elif call.args or call.keywords:
        argument = [*call.args, *(k.value for k in call.keywords)][0]
        said = f"{flow}() takes no arguments"
        _misplaced(checked, argument, said, _as_block(flow))
    elif item.optional_vars is not None:
        said = f"{flow}() returns nothing that `as` could name"
        _misplaced(checked, item.optional_vars, said, _as_block(flow))
    elif len(node.items) > 1:
        said = f"{flow}() shares its `with` with something else"
        _misplaced(checked, call, said, f"Give it a block of its own: with {flow}():")
    elif checked.is_property:
        name = checked.function.name
        _misplaced(checked, call, f"The property '{name}' has no steps", "Remove the block.")
    else:
        _check_around(checked, node, flow)


def _check_around(checked: Checked, node: ast.With, flow: str) -> None:
    """Return what a block is in: statements that a flow can stop in."""
    at: ast.AST | None = checked.parents.get(node)
    while at is not None and at is not checked.function.node:
        kind = type(at).__name__.lower()
        if isinstance(at, ast.FunctionDef):
            said = f"'{at.name}' is a function inside a function, which has no steps of its own"
            _misplaced(checked, node, said, "Write it at module level, or as a method.")
            return
        other = flow_of(at, checked.function.module.namespace) if isinstance(at, ast.With) else ""
        if isinstance(at, ast.Try | ast.Match) or other is None:
            said = f"with {flow}() is inside '{kind}', where a flow cannot be suspended"
            _misplaced(
                checked, node, said, "Write blocks inside if, while, for or other blocks only."
            )
            return
        at = checked.parents.get(at)


def _misplaced(checked: Checked, node: ast.AST, said: str, help: str) -> None:
    checked.wrong("SW118", f"{said}.", node, why=_IN_STEPS, help=help)


def _check_options(checked: Checked) -> None:
    """SW119: what ``@action`` does not know."""
    function = checked.function
    mark = function.marked("action")
    for name, value in mark.options.items() if mark is not None else ():
        at = _option(function.node, name) or function.node
        if name not in _OPTIONS:
            close = did_you_mean(name, _OPTIONS, quoted=True)
            checked.wrong("SW119", f"@action has no option '{name}'.", at, help=close)
        elif value is None and name in _MAY_BE_NONE:
            continue
        elif _OPTIONS[name] and value not in _OPTIONS[name]:
            close = did_you_mean(str(value).lower(), _OPTIONS[name], quoted=True)
            what = "flow" if name == "flow" else "fairness"
            checked.wrong("SW119", f"There is no {what} {value!r}.", at, help=close)
        elif name in _KINDS and not _KINDS[name][1](value):
            said = f"{name}= of @action is {_KINDS[name][0]}, not {value!r}."
            checked.wrong("SW119", said, at)
        elif name == "flow" and value == "atomic":
            _check_atomic(checked)


def _check_atomic(checked: Checked) -> None:
    stops = [n for n in walk(checked.function.node) if isinstance(n, ast.Yield | ast.YieldFrom)]
    if stops:
        said = f"'{checked.function.name}' is declared atomic, and cannot be suspended."
        help = 'Take flow="atomic" away: an action with yield has the steps that it says.'
        checked.wrong("SW116", said, stops[0], help=help)


def _option(function: ast.FunctionDef, name: str) -> ast.AST | None:
    for decorator in function.decorator_list:
        for keyword in getattr(decorator, "keywords", ()):
            if keyword.arg == name:
                value: ast.AST = keyword.value
                return value
    return None


def check_strays(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW118: blocks outside functions."""
    for module in tree.loading.modules:
        if module.source.dialect == "fizz":
            continue
        for node in _outside_functions(module.source.tree):
            if isinstance(node, ast.With):
                flow = flow_of(node, module.namespace)
                if flow is not None:
                    said = f"with {flow}() is outside an action."
                    help = "Code at module level runs once, before the first step."
                    mistakes.add(
                        "SW118", said, at=module.source.span(node), why=_IN_STEPS, help=help
                    )


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in parts_of(node):
        if not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield child
            yield from _outside_functions(child)


_WHERE = "A spec consists of the bodies of its modules and of its role classes."
_HELP = (
    "Write it there. What varies can be a parameter of an action (k: int = any_of([0, 1])) or a "
    "loop in a property (all(... for k in ...))."
)
_WRAPPED = "If your own decorator replaces the function: move what it adds into the function."


def check_marked(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW108, for everything that was declared while the modules ran and is not in the tree."""
    read = {id(f.function) for f in tree.functions}
    said = set()
    for function in tree.loading.declared.marked:
        at = tree.loading.span_of(function)
        if id(function) not in read and (at is None or at.line not in said):
            _add(tree, mistakes, function, at)
            said.add(at.line if at is not None else 0)
    named = {id(formula) for _, formula, _ in tree.formulas}
    for formula in tree.loading.declared.formulas:
        if id(formula) not in named and not formula.inner:
            mistakes.add(
                "SW108",
                f"{formula} has no name in the body of a module, and would not be checked.",
                help=f"Give each a name there: answered = {formula.operator}(...)",
            )
    for role in tree.loading.declared.roles:
        if role not in tree.roles and role._instances:
            mistakes.add(
                "SW108",
                f"The role {role.__qualname__} has instances, but is not defined in the body of a "
                "module.",
                why=_WHERE,
                help="Define the class there. Instances may be made anywhere.",
            )


def check_replaced(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW108: a method that is given to its class from elsewhere, where its text is not read."""
    own = {(id(f.function), f.owner) for f in tree.functions}
    for cls in (*tree.roles, *tree.records):
        defined = definition_of(tree, cls)
        if defined is None:
            continue
        module, node = defined
        methods = {m.name: m for m in statements(node.body) if isinstance(m, ast.FunctionDef)}
        for name, method in methods.items():
            found = vars(cls).get(name)
            if method.decorator_list or not callable(found) or (id(found), cls) in own:
                continue
            mistakes.add(
                "SW108",
                f"'{name}' of {cls.__name__} is not this function in the end: the class is given "
                "another.",
                at=module.source.span(method),
                why=_WHERE,
                help="Declare a deliberate defect as a mutant: "
                f"@mutant({cls.__name__}.{name})\n"
                "Write other variants in the class, with if.",
            )


def check_mutants(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW129: a mutant that a function calls or hands on, as if it were part of the spec."""
    mutants = {id(f.function): f.name for f in tree.mutants}
    for function in (*tree.functions, *tree.mutants) if mutants else ():
        local = locals_of(function.node)
        names = {n: v for n, v in function.module.namespace.items() if n not in local}
        for node in walk(function.node):
            found = meaning(node, names) if isinstance(node, ast.Name | ast.Attribute) else None
            if id(found) in mutants:
                said = f"The mutant '{mutants[id(found)]}' cannot be used by name."
                why = "A mutant only replaces the function that @mutant(...) names."
                help = "Use that function, or move what both need into a function of its own."
                mistakes.add("SW129", said, at=function.span(node), why=why, help=help)


def check_decorated(tree: SpecTree, effects: Effects, mistakes: Mistakes) -> None:
    """SW113: methods marked as properties, and parameters where nothing can be passed."""
    for function in tree.functions:
        kinds = [m.kind for m in function.marks if m.kind not in ("action", "named")]
        if not kinds:
            continue
        name, kind = function.name, kinds[0]
        owner = function.owner.__name__ if function.owner is not None else ""
        each = not {"init", "picture", *BOUNDS} & set(kinds)
        if owner and not function.is_static:
            instance = f"def {name}({owner[0].lower()}: {owner}) -> bool"
            mistakes.add(
                "SW113",
                f"'{name}' is a method of {owner}, but @{kind} is for functions at module level.",
                at=function.span(),
                help=f"Write it outside the class, with the instance as its parameter: {instance}"
                if each
                else "Write it outside the class, as a function without arguments.",
            )
        elif function.parameters() and not each:
            said = f"'{name}' has parameters, but a function with @{kind} takes none."
            help = "Loop over the instances in it: all(... for c in clients)."
            mistakes.add("SW113", said, at=function.span(), help=help)


def _add(
    tree: SpecTree, mistakes: Mistakes, function: Callable[..., object], at: Span | None
) -> None:
    name, kind = _name(function), marks(function)[0].kind
    qualified = getattr(function, "__qualname__", name)
    again = [
        f.node.lineno
        for f in tree.functions
        if f.function.__qualname__ == qualified and at and f.module.source.path == at.file
    ]
    if inspect.iscoroutinefunction(function):
        help = "Use def, and write yield where other actions may run."
        mistakes.add("SW108", f"'{name}' is an async function.", at=at, help=help)
    elif again:
        said = f"'{name}' is defined again in line {again[0]}, which replaces this one."
        mistakes.add("SW108", said, at=at, help="Give each a name of its own.")
    else:
        said = f"'{name}' is marked with @{kind} where the checker does not look."
        help = _HELP if "<" in qualified else f"{_HELP}\n{_WRAPPED}"
        mistakes.add("SW108", said, at=at, why=_WHERE, help=help)


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", function))
