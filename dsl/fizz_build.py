"""From parsed .fizz text to its syntax tree: called by the parser at every reduction, bottom up."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from lark import Token, Transformer, v_args
from lark.tree import Meta

from dsl import fizz_tree as tree

N = TypeVar("N", bound=ast.AST)
Parts = list[Any]

_BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod,
    "@": ast.MatMult, "**": ast.Pow, "|": ast.BitOr, "&": ast.BitAnd, "^": ast.BitXor,
    "<<": ast.LShift, ">>": ast.RShift,
}  # fmt: skip
_UNARY: dict[str, type[ast.unaryop]] = {"-": ast.USub, "+": ast.UAdd, "~": ast.Invert}
_COMPARE: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt, ">": ast.Gt, "==": ast.Eq, "!=": ast.NotEq, "<=": ast.LtE, ">=": ast.GtE,
    "in": ast.In, "not in": ast.NotIn, "is": ast.Is, "is not": ast.IsNot,
}  # fmt: skip


class BuildError(Exception):
    """Text that the grammar lets through and the language does not."""

    def __init__(self, node: ast.AST, message: str, help: str = "") -> None:
        super().__init__(message)
        self.node = node
        self.message = message
        self.help = help


def _place(node: N, meta: Meta) -> N:
    place: Any = node
    if not meta.empty:
        place.lineno = meta.line
        place.col_offset = meta.column - 1
        place.end_lineno = meta.end_line or meta.line
        place.end_col_offset = (meta.end_column or meta.column + 1) - 1
    return node


def _store(node: ast.expr) -> ast.expr:
    """The expression as a target of assignment."""
    if isinstance(node, ast.Tuple | ast.List):
        for element in node.elts:
            _store(element)
    elif not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        raise BuildError(
            node,
            "This cannot be assigned to.",
            help="A comparison is written with two signs: ==.",
        )
    node.ctx = ast.Store()
    return node


def _words(parts: Parts) -> Iterator[str]:
    return (str(part) for part in parts if isinstance(part, Token))


def _nodes(parts: Parts) -> Parts:
    return [part for part in parts if not isinstance(part, Token)]


def _arguments() -> ast.arguments:
    return ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )


@v_args(meta=True)
class _Expressions(Transformer[Token, Any]):
    """Expressions."""

    def name(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Name(str(parts[0]), ast.Load()), meta)

    def number(self, meta: Meta, parts: Parts) -> ast.expr:
        text = str(parts[0])
        if len(text) > 1 and text.isdigit() and set(text) == {"0"}:
            text = "0"
        try:
            return _place(ast.Constant(ast.literal_eval(text)), meta)
        except (SyntaxError, ValueError) as error:
            node = _place(ast.Constant(0), meta)
            raise BuildError(node, f"{text} is not a number.", "Octal: 0o17.") from error

    def string(self, meta: Meta, parts: Parts) -> ast.expr:
        try:
            value = ast.literal_eval("(" + " ".join(map(str, parts)) + ")")
        except (SyntaxError, ValueError) as error:
            node = _place(ast.Constant(""), meta)
            raise BuildError(node, "This string cannot be read.") from error
        return _place(ast.Constant(value), meta)

    def none(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Constant(None), meta)

    def true(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Constant(True), meta)

    def false(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Constant(False), meta)

    def group(self, meta: Meta, parts: Parts) -> ast.expr:
        inner: ast.expr = parts[0]
        return inner

    def empty_tuple(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Tuple([], ast.Load()), meta)

    def tuple(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Tuple(parts, ast.Load()), meta)

    def list(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.List(parts, ast.Load()), meta)

    def set(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Set(parts), meta)

    def entry(self, meta: Meta, parts: Parts) -> Parts:
        return parts

    def dict(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Dict([key for key, _ in parts], [value for _, value in parts]), meta)

    def comp_for(self, meta: Meta, parts: Parts) -> ast.comprehension:
        target, source, *conditions = parts
        return ast.comprehension(_store(target), source, conditions, is_async=0)

    def comp_if(self, meta: Meta, parts: Parts) -> ast.expr:
        condition: ast.expr = parts[0]
        return condition

    def generator(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.GeneratorExp(parts[0], parts[1:]), meta)

    def list_comprehension(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.ListComp(parts[0], parts[1:]), meta)

    def set_comprehension(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.SetComp(parts[0], parts[1:]), meta)

    def dict_comprehension(self, meta: Meta, parts: Parts) -> ast.expr:
        (key, value), *generators = parts
        return _place(ast.DictComp(key, value, generators), meta)

    def attribute(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Attribute(parts[0], str(parts[1]), ast.Load()), meta)

    def slice(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Slice(*parts), meta)

    def subscripted(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Subscript(parts[0], parts[1], ast.Load()), meta)

    def keyword(self, meta: Meta, parts: Parts) -> ast.keyword:
        name, value = parts
        if not isinstance(name, ast.Name):
            raise BuildError(name, "The name of an argument is a single word: f(size=3).")
        return _place(ast.keyword(name.id, value), meta)

    def splat(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Starred(parts[-1], ast.Load()), meta)

    def double_splat(self, meta: Meta, parts: Parts) -> ast.keyword:
        return _place(ast.keyword(None, parts[-1]), meta)

    def args(self, meta: Meta, parts: Parts) -> Parts:
        return parts

    def call(self, meta: Meta, parts: Parts) -> ast.expr:
        arguments = parts[1] or []
        positional = [a for a in arguments if not isinstance(a, ast.keyword)]
        named = [a for a in arguments if isinstance(a, ast.keyword)]
        return _place(ast.Call(parts[0], positional, named), meta)

    def binary(self, meta: Meta, parts: Parts) -> ast.expr:
        left, operator, right = parts
        return _place(ast.BinOp(left, _BINARY[str(operator)](), right), meta)

    def unary(self, meta: Meta, parts: Parts) -> ast.expr:
        operator, operand = parts
        if str(operator) == "-" and isinstance(operand, ast.Constant):
            value = operand.value
            if type(value) in (int, float) and value > 0:
                return _place(ast.Constant(-value), meta)
        return _place(ast.UnaryOp(_UNARY[str(operator)](), operand), meta)

    def comparator(self, meta: Meta, parts: Parts) -> ast.cmpop:
        return _COMPARE[" ".join(map(str, parts))]()

    def compare(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.Compare(parts[0], parts[1::2], parts[2::2]), meta)

    def not_(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.UnaryOp(ast.Not(), parts[-1]), meta)

    def and_(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.BoolOp(ast.And(), parts), meta)

    def or_(self, meta: Meta, parts: Parts) -> ast.expr:
        return _place(ast.BoolOp(ast.Or(), parts), meta)

    def conditional(self, meta: Meta, parts: Parts) -> ast.expr:
        value, condition, other = parts
        return _place(ast.IfExp(condition, value, other), meta)

    def lambda_(self, meta: Meta, parts: Parts) -> ast.expr:
        parameters, body = parts
        return _place(ast.Lambda(parameters or _arguments(), body), meta)

    def param(self, meta: Meta, parts: Parts) -> tuple[str, ast.arg, ast.expr | None]:
        return ("plain", _place(ast.arg(str(parts[0])), meta), parts[1])

    def star_param(self, meta: Meta, parts: Parts) -> tuple[str, ast.arg, None]:
        return ("star", _place(ast.arg(str(parts[-1])), meta), None)

    def double_star_param(self, meta: Meta, parts: Parts) -> tuple[str, ast.arg, None]:
        return ("stars", _place(ast.arg(str(parts[-1])), meta), None)

    def params(self, meta: Meta, parts: Parts) -> ast.arguments:
        result = _arguments()
        for kind, argument, default in parts:
            if kind == "star":
                result.vararg = argument
            elif kind == "stars":
                result.kwarg = argument
            elif result.defaults and default is None:
                raise BuildError(argument, "A parameter without default follows one with default.")
            else:
                result.args.append(argument)
                result.defaults += [default] if default is not None else []
        return result


_LEVELS: dict[str | None, tree.FairName] = {None: "weak", "weak": "weak", "strong": "strong"}


@v_args(meta=True)
class Build(_Expressions):
    """Statements and declarations."""

    def file(self, meta: Meta, parts: Parts) -> ast.Module:
        return ast.Module(body=list(parts), type_ignores=[])

    def suite(self, meta: Meta, parts: Parts) -> Parts:
        return parts

    def flow(self, meta: Meta, parts: Parts) -> str:
        return str(parts[0])

    def fairness(self, meta: Meta, parts: Parts) -> tree.FairName:
        level = next((str(p) for p in parts if isinstance(p, Token) and p.type == "NAME"), None)
        if level not in _LEVELS:
            node = _place(ast.Constant(level), meta)
            raise BuildError(node, f"'{level}' is not a fairness.", "There are: weak, strong.")
        return _LEVELS[level]

    def temporal(self, meta: Meta, parts: Parts) -> str:
        return "temporal:" + str(parts[0])

    def _node(self, meta: Meta, kind: Callable[[], N], **values: object) -> N:
        node = kind()
        for name, value in values.items():
            setattr(node, name, value)
        return _place(node, meta)

    def action(self, meta: Meta, parts: Parts) -> ast.stmt:
        flow, fair, _, name, body = parts
        return self._node(meta, tree.Act, name=str(name), flow=flow, fair=fair or "none", body=body)

    def func(self, meta: Meta, parts: Parts) -> ast.stmt:
        flow, _, name, parameters, body = parts
        return self._node(
            meta, tree.Func, name=str(name), flow=flow, args=parameters or _arguments(), body=body
        )

    def role(self, meta: Meta, parts: Parts) -> ast.stmt:
        *decorators, symmetric, _, name, body = parts
        return self._node(
            meta, tree.Role, name=str(name), symmetric=symmetric is not None, body=body,
            decorators=decorators,
        )  # fmt: skip

    def decorator(self, meta: Meta, parts: Parts) -> ast.expr:
        name = _place(ast.Name(str(parts[0]), ast.Load()), meta)
        return self.call(meta, [name, parts[1]]) if parts[1] is not None else name

    def assertion_params(self, meta: Meta, parts: Parts) -> ast.arguments:
        return parts[0] or _arguments()

    def assertion(self, meta: Meta, parts: Parts) -> ast.stmt:
        kinds = tuple(p[9:] for p in parts if isinstance(p, str) and p.startswith("temporal:"))
        _, name, parameters, body = parts[len(kinds) :]
        return self._node(
            meta, tree.Assertion, name=str(name), kinds=kinds, args=parameters or _arguments(),
            body=body,
        )  # fmt: skip

    def invariant(self, meta: Meta, parts: Parts) -> ast.stmt:
        kinds = tuple(p[9:] for p in parts[:-1])
        return self._node(meta, tree.Invariant, kinds=kinds, test=parts[-1])

    def invariants(self, meta: Meta, parts: Parts) -> ast.stmt:
        return self._node(meta, tree.Invariants, items=_nodes(parts))

    def init_stanza(self, meta: Meta, parts: Parts) -> ast.stmt:
        return self._node(meta, tree.InitStanza, body=parts[-1])

    def compose(self, meta: Meta, parts: Parts) -> ast.stmt:
        return self._node(meta, tree.Compose, name=str(parts[0]))

    def compose_entry(self, meta: Meta, parts: Parts) -> None:
        return None

    def def_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        name, parameters, body = parts
        node = ast.FunctionDef(str(name), parameters or _arguments(), body, [], None)
        node.type_params = []  # type: ignore[attr-defined,unused-ignore]
        return _place(node, meta)

    def labelled(self, meta: Meta, parts: Parts) -> ast.stmt:
        return self._node(meta, tree.Labelled, label=str(parts[0])[1:-1], body=[parts[1]])

    def if_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        test, body, *elifs, otherwise = parts
        orelse = otherwise or []
        for part in reversed(elifs):
            part.orelse = orelse
            orelse = [part]
        return _place(ast.If(test, body, orelse), meta)

    def elif_part(self, meta: Meta, parts: Parts) -> ast.stmt:
        test, body = parts
        return _place(ast.If(test, body, []), meta)

    def while_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        flow, test, body = parts
        return self._node(meta, tree.While, flow=flow, test=test, body=body, orelse=[])

    def for_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        flow, target, source, body = _without(parts, "IN")
        return self._node(
            meta, tree.For, flow=flow, target=_store(target), iter=source, body=body, orelse=[],
            type_comment=None,
        )  # fmt: skip

    def flow_block(self, meta: Meta, parts: Parts) -> ast.stmt:
        return self._node(meta, tree.FlowBlock, flow=parts[0], body=parts[1])

    def choice_block(self, meta: Meta, parts: Parts) -> ast.stmt:
        fair, _, target, options, body = _without(parts, "IN")
        return self._node(
            meta, tree.ChoiceBlock, target=_store(target), options=options, fair=fair or "none",
            body=body,
        )  # fmt: skip

    def choice(self, meta: Meta, parts: Parts) -> ast.stmt:
        target, fair, word, options, condition = parts
        return self._node(
            meta, tree.Choice, target=_store(target), options=options, condition=condition,
            fair=fair or "none", word=str(word),
        )  # fmt: skip

    def choice_between(self, meta: Meta, parts: Parts) -> ast.stmt:
        target, fair, word, value, condition, other = parts
        options = self.conditional(meta, [value, condition, other])
        return self.choice(meta, [target, fair, word, options, None])

    def require(self, meta: Meta, parts: Parts) -> ast.stmt:
        return self._node(meta, tree.Require, test=parts[-1])

    def assign(self, meta: Meta, parts: Parts) -> ast.stmt:
        *targets, value = parts
        return _place(ast.Assign([_store(t) for t in targets], value, lineno=meta.line), meta)

    def augmented(self, meta: Meta, parts: Parts) -> ast.stmt:
        target, operator, value = parts
        if isinstance(target, ast.Tuple | ast.List):
            raise BuildError(target, "Only one place can be changed by an operator.")
        place: Any = _store(target)
        return _place(ast.AugAssign(place, _BINARY[str(operator)[:-1]](), value), meta)

    def expression(self, meta: Meta, parts: Parts) -> ast.stmt:
        return _place(ast.Expr(parts[0]), meta)

    def pass_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        return _place(ast.Pass(), meta)

    def break_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        return _place(ast.Break(), meta)

    def continue_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        return _place(ast.Continue(), meta)

    def return_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        return _place(ast.Return(parts[0]), meta)


def _without(parts: Parts, kind: str) -> Parts:
    return [p for p in parts if not (isinstance(p, Token) and p.type == kind)]
