"""Parsed .fizz text as a syntax tree: expressions of Python, and statements of flows."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

from lark import Token, Transformer, v_args
from lark.tree import Meta

from statewalk.dsl.declared import Fairness
from statewalk.dsl.fizz.text import tree

N = TypeVar("N", bound=ast.AST)
Parts = list[Any]
Parameter = tuple[str, ast.arg, ast.expr | None]

BINARY: dict[str, type[ast.operator]] = {
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


def placed(node: N, meta: Meta) -> N:
    """A node with the place of what was parsed."""
    place: Any = node
    if not meta.empty:
        place.lineno = meta.line
        place.col_offset = meta.column - 1
        place.end_lineno = meta.end_line or meta.line
        place.end_col_offset = (meta.end_column or meta.column + 1) - 1
    return node


def stored(node: ast.expr) -> ast.expr:
    """The expression as a target of assignment."""
    if isinstance(node, ast.Tuple | ast.List):
        for element in node.elts:
            stored(element)
    elif not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        raise BuildError(
            node,
            "This cannot be assigned to.",
            help="A comparison is written with two signs: ==.",
        )
    node.ctx = ast.Store()
    return node


def no_arguments() -> ast.arguments:
    """The parameters of a function that has none."""
    return ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )


def always(make: Callable[[], ast.AST]) -> Any:
    """What is made of a rule that is always the same."""

    def rule(self: object, meta: Meta, parts: Parts) -> ast.AST:
        return placed(make(), meta)

    return rule


@v_args(meta=True)
class BuildExpressions(Transformer[Token, Any]):
    """Expressions."""

    def name(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.Name(str(parts[0]), ast.Load()), meta)

    def number(self, meta: Meta, parts: Parts) -> ast.expr:
        text = str(parts[0])
        if len(text) > 1 and text.isdigit() and set(text) == {"0"}:
            text = "0"
        try:
            return placed(ast.Constant(ast.literal_eval(text)), meta)
        except (SyntaxError, ValueError) as error:
            node = placed(ast.Constant(0), meta)
            raise BuildError(node, f"{text} is not a number.", "Octal: 0o17.") from error

    def string(self, meta: Meta, parts: Parts) -> ast.expr:
        try:
            value = ast.literal_eval("(" + " ".join(map(str, parts)) + ")")
        except (SyntaxError, ValueError) as error:
            node = placed(ast.Constant(""), meta)
            raise BuildError(node, "This string cannot be read.") from error
        return placed(ast.Constant(value), meta)

    none = always(lambda: ast.Constant(None))
    true = always(lambda: ast.Constant(True))
    false = always(lambda: ast.Constant(False))

    def group(self, meta: Meta, parts: Parts) -> ast.expr:
        inner: ast.expr = parts[0]
        return inner

    def empty_tuple(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.Tuple([], ast.Load()), meta)

    def tuple(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.Tuple(parts, ast.Load()), meta)

    def list(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.List(parts, ast.Load()), meta)

    def set(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.Set(parts), meta)

    def entry(self, meta: Meta, parts: Parts) -> Parts:
        return parts

    def dict(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.Dict([key for key, _ in parts], [value for _, value in parts]), meta)

    def comp_for(self, meta: Meta, parts: Parts) -> ast.comprehension:
        target, source, *conditions = parts
        return ast.comprehension(stored(target), source, conditions, is_async=0)

    def comp_if(self, meta: Meta, parts: Parts) -> ast.expr:
        condition: ast.expr = parts[0]
        return condition

    def generator(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.GeneratorExp(parts[0], parts[1:]), meta)

    def list_comprehension(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.ListComp(parts[0], parts[1:]), meta)

    def set_comprehension(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.SetComp(parts[0], parts[1:]), meta)

    def dict_comprehension(self, meta: Meta, parts: Parts) -> ast.expr:
        (key, value), *generators = parts
        return placed(ast.DictComp(key, value, generators), meta)

    def attribute(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.Attribute(parts[0], str(parts[1]), ast.Load()), meta)

    def slice(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.Slice(*parts), meta)

    def subscripted(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.Subscript(parts[0], parts[1], ast.Load()), meta)

    def keyword(self, meta: Meta, parts: Parts) -> ast.keyword:
        name, value = parts
        if not isinstance(name, ast.Name):
            raise BuildError(name, "The name of an argument is a single word: f(size=3).")
        return placed(ast.keyword(name.id, value), meta)

    def splat(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.Starred(parts[-1], ast.Load()), meta)

    def double_splat(self, meta: Meta, parts: Parts) -> ast.keyword:
        return placed(ast.keyword(None, parts[-1]), meta)

    def args(self, meta: Meta, parts: Parts) -> Parts:
        return parts

    def call(self, meta: Meta, parts: Parts) -> ast.expr:
        arguments = parts[1] or []
        positional = [a for a in arguments if not isinstance(a, ast.keyword)]
        named = [a for a in arguments if isinstance(a, ast.keyword)]
        return placed(ast.Call(parts[0], positional, named), meta)

    def binary(self, meta: Meta, parts: Parts) -> ast.expr:
        left, operator, right = parts
        return placed(ast.BinOp(left, BINARY[str(operator)](), right), meta)

    def unary(self, meta: Meta, parts: Parts) -> ast.expr:
        operator, operand = parts
        if str(operator) == "-" and isinstance(operand, ast.Constant):
            value: Any = operand.value
            if type(value) in (int, float) and value > 0:
                return placed(ast.Constant(-value), meta)
        return placed(ast.UnaryOp(_UNARY[str(operator)](), operand), meta)

    def comparator(self, meta: Meta, parts: Parts) -> ast.cmpop:
        return _COMPARE[" ".join(map(str, parts))]()

    def compare(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.Compare(parts[0], parts[1::2], parts[2::2]), meta)

    def not_(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.UnaryOp(ast.Not(), parts[-1]), meta)

    def and_(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.BoolOp(ast.And(), parts), meta)

    def or_(self, meta: Meta, parts: Parts) -> ast.expr:
        return placed(ast.BoolOp(ast.Or(), parts), meta)

    def conditional(self, meta: Meta, parts: Parts) -> ast.expr:
        value, condition, other = parts
        return placed(ast.IfExp(condition, value, other), meta)

    def lambda_(self, meta: Meta, parts: Parts) -> ast.expr:
        parameters, body = parts
        return placed(ast.Lambda(parameters or no_arguments(), body), meta)

    def param(self, meta: Meta, parts: Parts) -> Parameter:
        return ("plain", placed(ast.arg(str(parts[0])), meta), parts[1])

    def star_param(self, meta: Meta, parts: Parts) -> Parameter:
        return ("star", placed(ast.arg(str(parts[-1])), meta), None)

    def double_star_param(self, meta: Meta, parts: Parts) -> Parameter:
        return ("stars", placed(ast.arg(str(parts[-1])), meta), None)

    def params(self, meta: Meta, parts: Parts) -> ast.arguments:
        result = no_arguments()
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


_FAIRNESSES: dict[str | None, Fairness] = {None: "weak", "weak": "weak", "strong": "strong"}


@v_args(meta=True)
class Build(BuildExpressions):  # pyright: ignore[reportGeneralTypeIssues]
    """Statements and declarations."""

    def file(self, meta: Meta, parts: Parts) -> ast.Module:
        return ast.Module(body=list(parts), type_ignores=[])

    def suite(self, meta: Meta, parts: Parts) -> Parts:
        return parts

    def flow(self, meta: Meta, parts: Parts) -> str:
        return str(parts[0])

    def fairness(self, meta: Meta, parts: Parts) -> Fairness:
        word = next((str(p) for p in parts if isinstance(p, Token) and p.type == "NAME"), None)
        if word not in _FAIRNESSES:
            node = placed(ast.Constant(word), meta)
            raise BuildError(node, f"'{word}' is not a fairness.", "There are: weak, strong.")
        return _FAIRNESSES[word]

    def temporal(self, meta: Meta, parts: Parts) -> str:
        return "temporal:" + str(parts[0])

    def _node(self, meta: Meta, kind: type[N], **values: object) -> N:
        node = kind(**{name: values[name] for name in kind._fields if name in values})
        for name in values.keys() - set(kind._fields):
            setattr(node, name, values[name])
        return placed(node, meta)

    def action(self, meta: Meta, parts: Parts) -> ast.stmt:
        flow, fair, _, name, body = parts
        return self._node(meta, tree.Act, name=str(name), flow=flow, fair=fair or "none", body=body)

    def func(self, meta: Meta, parts: Parts) -> ast.stmt:
        flow, _, name, parameters, body = parts
        return self._node(
            meta, tree.Func, name=str(name), flow=flow, args=parameters or no_arguments(), body=body
        )

    def role(self, meta: Meta, parts: Parts) -> ast.stmt:
        *decorators, symmetric, _, name, body = parts
        return self._node(
            meta, tree.Role, name=str(name), symmetric=symmetric is not None, body=body,
            decorators=decorators,
        )  # fmt: skip

    def decorator(self, meta: Meta, parts: Parts) -> ast.expr:
        name = placed(ast.Name(str(parts[0]), ast.Load()), meta)
        return self.call(meta, [name, parts[1]]) if parts[1] is not None else name

    def assertion_params(self, meta: Meta, parts: Parts) -> ast.arguments:
        return parts[0] or no_arguments()

    def assertion(self, meta: Meta, parts: Parts) -> ast.stmt:
        kinds = tuple(p[9:] for p in parts if isinstance(p, str) and p.startswith("temporal:"))
        _, name, parameters, body = parts[len(kinds) :]
        return self._node(
            meta, tree.Assertion, name=str(name), kinds=kinds, args=parameters or no_arguments(),
            body=body,
        )  # fmt: skip

    def invariant(self, meta: Meta, parts: Parts) -> ast.stmt:
        kinds = tuple(p[9:] for p in parts[:-1])
        return self._node(meta, tree.Invariant, kinds=kinds, test=parts[-1])

    def invariants(self, meta: Meta, parts: Parts) -> ast.stmt:
        return self._node(meta, tree.Invariants, items=_without(parts, "K_INVARIANTS"))

    def init_stanza(self, meta: Meta, parts: Parts) -> ast.stmt:
        return self._node(meta, tree.InitStanza, body=parts[-1])

    def compose(self, meta: Meta, parts: Parts) -> ast.stmt:
        return self._node(meta, tree.Compose, name=str(parts[0]))

    def compose_entry(self, meta: Meta, parts: Parts) -> None:
        return None

    def def_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        name, parameters, body = parts
        node = ast.FunctionDef(str(name), parameters or no_arguments(), body, [], None)
        node.type_params = []  # type: ignore[attr-defined,unused-ignore]
        return placed(node, meta)

    def labelled(self, meta: Meta, parts: Parts) -> ast.stmt:
        return self._node(meta, tree.Labelled, label=str(parts[0])[1:-1], body=[parts[1]])

    def if_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        test, body, *elifs, otherwise = parts
        orelse = otherwise or []
        for part in reversed(elifs):
            part.orelse = orelse
            orelse = [part]
        return placed(ast.If(test, body, orelse), meta)

    def elif_part(self, meta: Meta, parts: Parts) -> ast.stmt:
        test, body = parts
        return placed(ast.If(test, body, []), meta)

    def while_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        flow, test, body = parts
        return self._node(meta, tree.While, flow=flow, test=test, body=body, orelse=[])

    def for_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        flow, target, source, body = _without(parts, "IN")
        return self._node(
            meta, tree.For, flow=flow, target=stored(target), iter=source, body=body, orelse=[],
            type_comment=None,
        )  # fmt: skip

    def flow_block(self, meta: Meta, parts: Parts) -> ast.stmt:
        return self._node(meta, tree.FlowBlock, flow=parts[0], body=parts[1])

    def choice_block(self, meta: Meta, parts: Parts) -> ast.stmt:
        fair, _, target, options, body = _without(parts, "IN")
        return self._node(
            meta, tree.ChoiceBlock, target=stored(target), options=options, fair=fair or "none",
            body=body,
        )  # fmt: skip

    def choice(self, meta: Meta, parts: Parts) -> ast.stmt:
        target, fair, word, options, condition = parts
        return self._node(
            meta, tree.Choice, target=stored(target), options=options, condition=condition,
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
        return placed(ast.Assign([stored(t) for t in targets], value, lineno=meta.line), meta)

    def augmented(self, meta: Meta, parts: Parts) -> ast.stmt:
        target, operator, value = parts
        if isinstance(target, ast.Tuple | ast.List):
            raise BuildError(target, "Only one place can be changed by an operator.")
        place: Any = stored(target)
        return placed(ast.AugAssign(place, BINARY[str(operator)[:-1]](), value), meta)

    def expression(self, meta: Meta, parts: Parts) -> ast.stmt:
        return placed(ast.Expr(parts[0]), meta)

    pass_stmt = always(ast.Pass)
    break_stmt = always(ast.Break)
    continue_stmt = always(ast.Continue)

    def return_stmt(self, meta: Meta, parts: Parts) -> ast.stmt:
        return placed(ast.Return(parts[0]), meta)


def _without(parts: Parts, kind: str) -> Parts:
    return [p for p in parts if not (isinstance(p, Token) and p.type == kind)]
