"""Names whose effect is known, and which locals of a function hold something new."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterator
from typing import Any

from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.scopes import arguments, bindings, stored
from statewalk.dsl.values.frozen import SET_METHODS

# What a spec imports from `dsl`: what makes a step depend on more than the state, and what only
# computes.
CHOOSING = frozenset({"any_of", "maybe", "require", "interrupt", "crash", "end"})
PURE_NAMES = frozenset(
    {"pairs", "replace", "symmetric_values", "Bag", "unreachable", "Record", "Message"}
)

# What making a record, also by `replace`, runs of its class.
MAKING = ("__init__", "__post_init__")
DOING_BUILTINS = frozenset({
    "print", "open", "input", "exec", "eval", "setattr", "delattr", "__import__", "breakpoint",
    "next", "iter", "globals", "vars",
})  # fmt: skip
PURE_LIBRARIES = frozenset({
    "math", "itertools", "operator", "functools", "collections", "string", "re", "typing",
    "typing_extensions", "enum", "fractions", "statistics", "heapq", "bisect", "copy",
    "textwrap",
})  # fmt: skip

# What in these changes what it is given, or makes what calls a method of it.
_DOING_LIBRARY = frozenset({
    "insort", "insort_left", "insort_right", "heapify", "heappop", "heappush", "heappushpop",
    "heapreplace", "setitem", "delitem", "methodcaller", "call", "iadd", "iand", "iconcat",
    "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior", "ipow", "irshift", "isub",
    "itruediv", "ixor",
})  # fmt: skip


# Where these take a function that they call; those without a place take it by name.
_CALLING = {
    "map": 0, "filter": 0, "reduce": 0, "starmap": 0, "takewhile": 0, "dropwhile": 0,
    "filterfalse": 0, "partial": 0, "accumulate": 1, "groupby": 1, "nlargest": 2, "nsmallest": 2,
    "sorted": None, "sort": None, "min": None, "max": None, "merge": None,
}  # fmt: skip


def called_back(node: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments that are functions for the callee to call."""
    name = getattr(node.func, "id", None) or getattr(node.func, "attr", "")
    if name in _CALLING:
        at = _CALLING[name]
        if at is not None:
            yield from node.args[at : at + 1]
        yield from (k.value for k in node.keywords if k.arg in ("key", "func"))


def attribute(value: object, name: str, default: Any = None) -> Any:
    """Return an attribute of a value, whose own ``__getattr__`` may raise anything."""
    try:
        return getattr(value, name, default)
    except Exception:
        return default


def is_pure_library(value: object) -> bool:
    """Return whether this is a function of a library that only computes: not an object that it
    made.
    """
    name, module = attribute(value, "__name__", ""), attribute(value, "__module__")
    library = str(module).partition(".")[0].lstrip("_")
    if library not in PURE_LIBRARIES or name in _DOING_LIBRARY:
        return False
    return any(getattr(sys.modules.get(m), name, None) is value for m in (str(module), library))


# Methods of containers, strings and numbers that only look.
LOOKING_METHODS = SET_METHODS | frozenset({
    "get", "items", "keys", "values", "copy", "count", "index", "startswith", "endswith",
    "removeprefix", "removesuffix", "split", "rsplit", "partition", "rpartition", "join",
    "strip", "lstrip", "rstrip", "upper", "lower", "title", "capitalize", "replace", "format",
    "find", "rfind", "isdigit", "isalpha", "isalnum", "isupper", "islower", "zfill", "ljust",
    "rjust", "center", "bit_length", "bit_count", "as_integer_ratio", "encode", "splitlines",
    "fromkeys",
})  # fmt: skip

_DISPLAYS = (
    ast.List, ast.Set, ast.Dict, ast.Tuple, ast.ListComp, ast.SetComp, ast.DictComp, ast.Constant,
    ast.JoinedStr,
)  # fmt: skip


def own_nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """Return the nodes of a body; decorators, defaults and annotations of the function are
    left out.
    """
    return [node for statement in function.body for node in walk(statement)]


def nested_functions(function: ast.FunctionDef) -> set[str]:
    """Return names of functions defined within, or of lambdas bound to a local, and of
    nothing else.
    """
    nodes = own_nodes(function)
    found = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    others = arguments(function.args)
    for target, value in bindings(nodes):
        (found if isinstance(value, ast.Lambda) else others).update(stored(target))
    return found - others


def fresh_locals(function: ast.FunctionDef, constructs: Callable[[ast.Call], bool]) -> set[str]:
    """Return locals that only hold values made in this function: no part of the state."""
    fresh: set[str] = set()
    spoilt = arguments(function)
    nodes = own_nodes(function)
    for target, value in bindings(nodes):
        if isinstance(target, ast.Name) and value is not None and _makes(value, constructs):
            fresh.add(target.id)
        else:
            spoilt |= stored(target)
    for node in nodes:
        if isinstance(node, ast.Global | ast.Nonlocal):
            spoilt |= set(node.names)
    return fresh - spoilt


def _makes(value: ast.expr, constructs: Callable[[ast.Call], bool]) -> bool:
    if isinstance(value, ast.IfExp):
        return _makes(value.body, constructs) and _makes(value.orelse, constructs)
    return isinstance(value, _DISPLAYS) or (isinstance(value, ast.Call) and constructs(value))


def scalar_arguments(function: ast.FunctionDef) -> set[str]:
    """Return the arguments annotated as numbers or strings."""
    found = (n for n in walk(function.args) if isinstance(n, ast.arg) and n.annotation is not None)
    return {n.arg for n in found if ast.unparse(n.annotation) in ("int", "str", "bool")}  # type: ignore[arg-type]


def is_number(node: ast.AugAssign | ast.expr) -> bool:
    """Return whether this surely is a number, or takes one: a container is changed by no number."""
    match node:
        case ast.AugAssign(op=ast.Mult()):  # a list is repeated
            return False
        case ast.AugAssign(op=ast.Add() | ast.Sub() | ast.BitOr() | ast.BitAnd() | ast.BitXor()):
            return is_number(node.value)
        case ast.AugAssign() | ast.Compare() | ast.UnaryOp():
            return True
        case ast.Constant(value=value):
            return isinstance(value, int)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return is_number(left) and is_number(right)
        case ast.BinOp(left=left, right=right):
            return is_number(left) or is_number(right)
        case ast.IfExp(body=left, orelse=right):
            return is_number(left) and is_number(right)
        case ast.Call(func=ast.Name(id=name)):
            return name in ("len", "int", "ord", "abs")
    return False


_OTHER_NAMES = {
    "mult": "mul", "div": "truediv", "bitor": "or", "bitxor": "xor", "bitand": "and",
    "usub": "neg", "uadd": "pos", "noteq": "ne", "lte": "le", "gte": "ge", "notin": "in",
}  # fmt: skip
# What else a construct, operator or builtin function comes to, besides the method of its own name.
_BESIDES = {
    "ne": "eq", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "not": "bool len",
    "mod": "str repr",  # of text
    "in": "contains iter getitem eq hash",
    "bool": "len", "int": "index", "str": "repr", "format": "str repr",
    "sum": "iter add radd", "min": "iter lt gt", "max": "iter lt gt", "sorted": "iter lt gt",
    "list": "iter len getitem", "tuple": "iter len getitem", "set": "iter hash eq",
    "frozenset": "iter hash eq", "dict": "iter hash eq", "any": "iter bool len",
    "all": "iter bool len", "print": "str repr", "enumerate": "iter next getitem",
    "zip": "iter next getitem", "iter": "getitem", "divmod": "rdivmod", "pow": "rpow",
    "for": "iter next getitem", "comprehension": "iter next getitem bool len", "with": "enter exit",
    "starred": "iter getitem", "formattedvalue": "format str repr", "boolop": "bool len",
    "if": "bool len", "ifexp": "bool len", "while": "bool len", "assert": "bool len",
    "subscript": "getitem setitem delitem missing index", "matchvalue": "eq",
}  # fmt: skip


def called_by_python(node: ast.AST) -> Iterator[str]:
    """Yield the methods by which a class may answer an operator, a statement or a builtin
    function.
    """
    words = [type(node).__name__.lower()]
    match node:
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            word = _plain(op)
            words = [word, f"r{word}", f"i{word}"]
        case ast.UnaryOp(op=op):
            words = [_plain(op)]
        case ast.Compare(ops=ops):
            words = [_plain(op) for op in ops]
        case ast.Call(func=ast.Name(id=name)) if hasattr(builtins, name):
            words = [name]
    for word in words:
        for part in (word, *_BESIDES.get(word, "").split()):
            yield f"__{part}__"


def _plain(op: ast.AST) -> str:
    name = type(op).__name__.lower()
    return _OTHER_NAMES.get(name, name)
