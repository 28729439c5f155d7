"""Calls: what differs from run to run, flows called plainly, the index of a symmetric role."""

from __future__ import annotations

import ast
import builtins
import typing
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

from statewalk.dsl.asking import UNTRACED
from statewalk.dsl.blocks.read import without_super
from statewalk.dsl.errors import Mistakes
from statewalk.dsl.rules.rule import Checked, attribute_name, shortened
from statewalk.dsl.source.known_effects import attribute
from statewalk.dsl.source.nodes import made_text, meaning, once, walk
from statewalk.dsl.source.scopes import around, locals_of
from statewalk.dsl.source.tree import Function, SpecTree
from statewalk.dsl.source.types import Scope, bare, element, spec_class
from statewalk.dsl.source.usage import Receivers
from statewalk.dsl.state.roles import Role

# What differs between two runs of the same step, by where it comes from.
_RANDOM = ("random", "secrets", "uuid", "numpy.random")
_CLOCK = ("time", "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today",
          "datetime.date.today", "email.utils.localtime", "email.utils.formatdate",
          "email.utils.make_msgid")  # fmt: skip
_OUTSIDE = ("os", "socket", "subprocess", "threading", "multiprocessing", "asyncio", "sys",
            "pathlib", "shutil", "tempfile", "gc", "inspect", "genericpath", "getpass", "nt",
            "ntpath", "posix", "posixpath", "signal", "_thread",
            *sorted(UNTRACED - {"argparse", "importlib", "pkgutil", "runpy"}))  # fmt: skip
_ON_PATHS = {"altsep", "basename", "commonpath", "commonprefix", "curdir", "dirname", "extsep",
             "isabs", "join", "normcase", "normpath", "pardir", "sep", "split", "splitdrive",
             "splitext", "splitroot"}  # fmt: skip  # what paths say, without looking at files
_BUILTINS = {
    "id": "an address in memory",
    "hash": "a hash",
    "input": "what somebody types",
    "open": "a file",
    "object": "an object with nothing but an address",
}
_CHOICE = "Choices that matter are made with any_of(...); the checker tries them all."
_CLOCK_HELP = "Model time as a field that an action advances, or as a choice with any_of(...)."
_OUTSIDE_HELP = (
    "A step depends on the state and on choices only. Read such data at module level, before the "
    "search."
)


def check_calls(checked: Checked) -> None:
    """SW104: what differs from run to run."""
    if not checked.running:
        return
    origins = _imported(checked)
    local = set(checked.types.locals)
    for node, scope in checked.types.nodes:
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            if not isinstance(checked.parents.get(node), ast.Attribute):
                _check_origin(checked, node, origins, local)
        for part in made_text(node):
            _check_text(checked, part, scope)
        if isinstance(node, ast.Name):
            _check_builtin(checked, node, local)
        elif isinstance(node, ast.Attribute) and node.attr == "__hash__":
            _check_hash(checked, node, attribute_name(node))
        elif isinstance(node, ast.Call):
            for given in node.args:
                if isinstance(given, ast.Constant) and given.value == "__hash__":
                    _check_hash(checked, given, given)
            if isinstance(node.func, ast.Attribute):
                _check_pop(checked, node, checked.types.of(node.func.value, scope))
        elif isinstance(node, ast.ExceptHandler):
            _check_except(checked, node)


# What stands at the top of a module, and brings no name from elsewhere into it.
_NO_IMPORTS = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign | ast.Expr


def _imported(checked: Checked) -> dict[str, str]:
    """Return names that the module or function imports → where they come from."""
    found: dict[str, str] = {}
    top = checked.function.module.source.tree.body
    outside = [s for s in top if not isinstance(s, _NO_IMPORTS)]
    for root in (*outside, checked.function.node):
        found |= once(_imported_in, root)
    return found


def _imported_in(root: ast.AST) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in walk(root):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                found[name] = alias.name if alias.asname else name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _check_origin(
    checked: Checked, node: ast.expr, origins: dict[str, str], local: set[str]
) -> None:
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id in local or root.id not in origins:
        return
    origin = origins[root.id] + ast.unparse(node)[len(root.id) :]
    if origin in ("time", "random") or origin.startswith("time.struct_time"):
        return
    module, _, name = origin.rpartition(".")
    if module in ("os.path", "posixpath", "ntpath") and name in _ON_PATHS:
        return
    for names, help in ((_RANDOM, _CHOICE), (_CLOCK, _CLOCK_HELP), (_OUTSIDE, _OUTSIDE_HELP)):
        if any(origin == n or origin.startswith(n + ".") for n in names):
            checked.wrong("SW104", f"'{origin}' differs from run to run.", node, help=help)


def _check_builtin(checked: Checked, node: ast.Name, local: set[str]) -> None:
    name = node.id
    if name not in _BUILTINS or name in local or name in checked.function.module.namespace:
        return
    parent = checked.parents.get(node)
    called = isinstance(parent, ast.Call) and parent.func is node
    for_sets = name == "hash" and checked.function.name == "__hash__"
    if not for_sets and (called or name != "object"):
        said = f"'{name}(...)' gives {_BUILTINS[name]}, which differs from run to run."
        checked.wrong("SW104", said, node, help=_CHOICE if name == "hash" else _OUTSIDE_HELP)


def _check_hash(checked: Checked, node: ast.expr, at: ast.expr) -> None:
    if checked.function.name != "__hash__":
        said = f"'{shortened(node)}' gives a hash, which differs from run to run."
        checked.wrong("SW104", said, at, help=_CHOICE)


def _check_text(checked: Checked, node: ast.expr, scope: Scope) -> None:
    found = meaning(node, checked.function.module.namespace)
    if isinstance(found, FunctionType) and getattr(node, "id", "") not in scope:
        said = f"str(...) of the function '{shortened(node)}' contains its memory address, which "
        said += "differs from run to run."
        checked.wrong("SW104", said, node, help=f"Write its name: '{found.__name__}'.")


def _check_pop(checked: Checked, node: ast.Call, hint: object) -> None:
    assert isinstance(node.func, ast.Attribute)
    kind = typing.get_origin(bare(hint)) or bare(hint)
    if node.func.attr == "pop" and not node.args and kind in (set, frozenset):
        what, help = "an element that Python picks", _CHOICE
    elif node.func.attr == "popitem" and spec_class(hint) is None:
        what = "an item that depends on how the dict was built"
        help = "Choose a key with any_of(...), then pop it."
    else:
        return
    said = f"'{shortened(node)}' takes {what}."
    checked.wrong("SW104", said, attribute_name(node.func), help=help)


def _check_except(checked: Checked, node: ast.ExceptHandler) -> None:
    names = [ast.unparse(n) for n in walk(node.type)] if node.type is not None else []
    if node.type is None or "BaseException" in names:
        said = "This 'except' also catches guards that are false."
        help = "Name the exceptions that you mean: except KeyError: ..."
        checked.wrong("SW104", said, node.type or node, help=help)


def check_flow(checked: Checked) -> None:
    """SW105: a flow called without ``yield from``, of which nothing would happen; ``super()``."""
    if checked.function.is_flow:
        without_super(checked.function)
    for node in walk(checked.function.node):
        if not isinstance(node, ast.Call) or isinstance(checked.parents.get(node), ast.YieldFrom):
            continue
        called = checked.effects.callees(node, checked.function, sure=True)
        flows = [f for f in called if f.is_flow]
        if flows:
            said = f"'{flows[0].name}' contains yield, so call it with: "
            said += f"yield from {shortened(node)}"
            why = "Without `yield from`, the call would do nothing."
            checked.wrong("SW105", said, node, why=why)


def check_index(checked: Checked) -> None:
    """SW106: the number of an interchangeable role decides something."""
    for node, scope in checked.types.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "index":
            cls = spec_class(checked.types.of(node.value, scope))
            if cls is not None and _symmetric(cls) and not _compares_equal(checked, node):
                _decides(checked, cls, "'index' decides something here", attribute_name(node))
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            value = checked.function.module.namespace.get(node.value.id)
            if node.value.id in scope or not isinstance(value, list | tuple):
                continue
            cls = spec_class(element(checked.types.of(node.value, scope)))
            if cls is not None and _symmetric(cls) and isinstance(node.slice, ast.Constant):
                said = f"'{shortened(node)}' singles one of them out"
                _decides(checked, cls, said, node)


def _symmetric(cls: type) -> bool:
    return issubclass(cls, Role) and cls._symmetric


def _compares_equal(checked: Checked, node: ast.Attribute) -> bool:
    """``a.index == b.index`` says no more than that they are the same."""
    parent = checked.parents.get(node)
    if not isinstance(parent, ast.Compare):
        return False
    sides = [parent.left, *parent.comparators]
    return all(isinstance(o, ast.Eq | ast.NotEq) for o in parent.ops) and all(
        isinstance(s, ast.Attribute) and s.attr == "index" for s in sides
    )


def _decides(checked: Checked, cls: type, said: str, node: ast.AST) -> None:
    why = "Instances of a symmetric role are interchangeable: swapping two must change nothing."
    help = (
        "Test a field that a step assigns, such as leader: bool = False, or remove symmetric=True."
    )
    checked.wrong("SW106", f"{cls.__name__} is symmetric, but {said}.", node, why=why, help=help)


_NO_ANSWER = "Only a comparison may give it, to say that it cannot tell."


def check_truths(tree: SpecTree, mistakes: Mistakes) -> None:
    """Note everything that is asked or given back as a truth, and is true whatever it is about."""
    for function in tree.functions:
        asked = _TruthTests(tree, function)
        is_property = function.is_property or function.function in tree.led
        found = [part for node in walk(function.node) for part in asked.of(node, is_property)]
        for node in dict.fromkeys(found):
            why, help = asked.always_true(node)
            if why:
                text = f"'{shortened(node)}' is always true."
                mistakes.add("SW128", text, at=function.span(node), why=why, help=help)


class _TruthTests:
    """The truth tests of one function."""

    def __init__(self, tree: SpecTree, function: Function) -> None:
        self.tree = tree
        self.function = function
        self.locals = locals_of(function.node)
        self.names = around(function.node, function.module.namespace, self.locals)

    def of(self, node: ast.AST, is_property: bool) -> Iterator[ast.expr]:
        """Yield the expressions in a node of which only the truth counts."""
        match node:
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                yield from _parts(test)
            case ast.Assert(test=test) | ast.match_case(guard=ast.expr() as test):
                yield from _parts(test)
            case ast.Return(value=ast.expr() as value) if is_property:
                yield from _parts(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from _parts(operand)
            case ast.BoolOp(values=[*first, _]):
                for value in first:
                    yield from _parts(value)
            case ast.comprehension(ifs=ifs):
                for test in ifs:
                    yield from _parts(test)
            case ast.Call(func=func, args=[argument]) if _is_asking(self.means(func)):
                yield from _parts(argument)
            case ast.Call(func=func, args=[ast.GeneratorExp(elt=elt) | ast.ListComp(elt=elt)]) if (
                self.means(func) in (all, any)
            ):
                yield from _parts(elt)

    def means(self, node: ast.expr) -> Any:
        """Return what a name stands for; None for a local."""
        if isinstance(node, ast.Name):
            found = self.names.get(node.id, getattr(builtins, node.id, None))
            return None if node.id in self.locals else found
        return meaning(node, self.names)

    def always_true(self, node: ast.expr) -> tuple[str, str]:
        """(why it is, what to do about it); empty where it may be false"""
        if isinstance(node, ast.Lambda):
            return "It is a function.", "Write what it gives, without lambda."
        if isinstance(node, ast.GeneratorExp):
            return "It is a generator, whatever comes out of it.", "Write all(...) or any(...)."
        value = self.means(node)
        if value is NotImplemented:
            return _NO_ANSWER, "Return True or False."
        if value is None and isinstance(node, ast.Attribute):
            cls = Receivers(self.tree, self.function).receiver(node.value)
            value = getattr(cls, node.attr, None) if cls is not None else None
        name = getattr(node, "attr", getattr(node, "id", ""))  # others may stand for None too
        if isinstance(value, FunctionType | BuiltinFunctionType) and value.__name__ == name:
            return "It is a function, and not called.", f"Call it: {shortened(node)}()"
        return "", ""


def _is_asking(value: Any) -> bool:
    """Return whether this is ``bool`` or ``require``."""
    own = str(attribute(value, "__module__", "")).startswith("statewalk.dsl")
    return value is bool or (own and attribute(value, "__name__", "") == "require")


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what decides about the truth of an expression."""
    match node:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _parts(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _parts(operand)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _parts(body)
            yield from _parts(orelse)
        case _:
            yield node
