"""Parsed .fizz text as a syntax tree: expressions of Python, and statements of flows."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

from lark import Token, Transformer, v_args
from lark.tree import Meta

from statewalk.dsl.blocks import tree
from statewalk.dsl.declared import Fairness
from statewalk.dsl.fizz.text.meant import Unreadable

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
_FAIRNESSES: dict[str | None, Fairness] = {None: "weak", "weak": "weak", "strong": "strong"}


def placed(node: N, meta: Meta) -> N:
    """Return a node with the place of what was parsed."""
    place: Any = node
    if not meta.empty:
        place.lineno = meta.line
        place.col_offset = meta.column - 1
        place.end_lineno = meta.end_line or meta.line
        place.end_col_offset = (meta.end_column or meta.column + 1) - 1
    return node


def stored(node: ast.expr) -> ast.expr:
    """Return the expression as a target of assignment."""
    if isinstance(node, ast.Tuple | ast.List):
        for element in node.elts:
            stored(element)
    elif not isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        help = "A comparison is written with two signs: ==."
        raise Unreadable(node, "This cannot be assigned to.", help=help)
    node.ctx = ast.Store()
    return node


def no_arguments() -> ast.arguments:
    """Return the parameters of a function that has none."""
    return ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )


def _made(make: Callable[..., Any]) -> Any:
    """Return the method of a rule: what is made of its parts, placed where they are."""

    def rule(self: object, meta: Meta, parts: Parts) -> Any:
        return placed(make(*parts), meta)

    return rule


def _node(kind: type[N], **values: object) -> N:
    """Return a node of Python's or of ours, which has more than the fields that lead to other
    nodes.
    """
    node = kind(**{name: values[name] for name in kind._fields if name in values})
    for name in values.keys() - set(kind._fields):
        setattr(node, name, values[name])
    return node


def _keyword(name: ast.expr, value: ast.expr) -> ast.keyword:
    if not isinstance(name, ast.Name):
        raise Unreadable(name, "The name of an argument is a single word: f(size=3).")
    return ast.keyword(name.id, value)


def _call(function: ast.expr, arguments: Parts | None) -> ast.expr:
    named = [a for a in arguments or () if isinstance(a, ast.keyword)]
    positional = [a for a in arguments or () if not isinstance(a, ast.keyword)]
    return ast.Call(function, positional, named)


def _unary(operator: Token, operand: ast.expr) -> ast.expr:
    value: Any = operand.value if isinstance(operand, ast.Constant) else None
    if str(operator) == "-" and type(value) in (int, float) and value > 0:
        return ast.Constant(-value)
    return ast.UnaryOp(_UNARY[str(operator)](), operand)


def _def(name: Token, parameters: ast.arguments | None, body: Parts) -> ast.stmt:
    node = ast.FunctionDef(str(name), parameters or no_arguments(), body, [], None)
    node.type_params = []  # type: ignore[attr-defined,unused-ignore]
    return node


def _assertion(*parts: Any) -> ast.stmt:
    *kinds, _, name, parameters, body = parts
    arguments = parameters or no_arguments()
    return _node(tree.Assertion, name=str(name), kinds=tuple(kinds), args=arguments, body=body)


def _if(test: ast.expr, body: Parts, *others: Any) -> ast.stmt:
    *elifs, otherwise = others
    orelse = otherwise or []
    for part in reversed(elifs):
        part.orelse = orelse
        orelse = [part]
    return ast.If(test, body, orelse)


def _choice(
    target: ast.expr, fair: Fairness | None, word: Token, options: Any, condition: Any
) -> ast.stmt:
    return _node(
        tree.Choice, target=stored(target), options=options, condition=condition,
        fair=fair or "none", word=str(word),
    )  # fmt: skip


def _augmented(target: ast.expr, operator: Token, value: ast.expr) -> ast.stmt:
    if isinstance(target, ast.Tuple | ast.List):
        raise Unreadable(target, "Only one place can be changed by an operator.")
    place: Any = stored(target)
    return ast.AugAssign(place, BINARY[str(operator)[:-1]](), value)


@v_args(meta=True)
class Build(Transformer[Token, Any]):
    """The tree built for each rule of the grammar, by its name."""

    def suite(self, meta: Meta, parts: Parts) -> Parts:
        return parts

    entry = args = suite

    def group(self, meta: Meta, parts: Parts) -> Any:
        return parts[0]

    comp_if = group

    # -- expressions ----------------------------------------------------------------------------
    name = _made(lambda word: ast.Name(str(word), ast.Load()))
    none = _made(lambda: ast.Constant(None))
    true = _made(lambda: ast.Constant(True))
    false = _made(lambda: ast.Constant(False))
    tuple = empty_tuple = _made(lambda *parts: ast.Tuple([*parts], ast.Load()))
    list = _made(lambda *parts: ast.List([*parts], ast.Load()))
    set = _made(lambda *parts: ast.Set([*parts]))
    dict = _made(lambda *entries: ast.Dict([k for k, _ in entries], [v for _, v in entries]))
    generator = _made(lambda element, *loops: ast.GeneratorExp(element, [*loops]))
    list_comprehension = _made(lambda element, *loops: ast.ListComp(element, [*loops]))
    set_comprehension = _made(lambda element, *loops: ast.SetComp(element, [*loops]))
    dict_comprehension = _made(lambda entry, *loops: ast.DictComp(entry[0], entry[1], [*loops]))
    attribute = _made(lambda of, word: ast.Attribute(of, str(word), ast.Load()))
    slice = _made(ast.Slice)
    subscripted = _made(lambda of, index: ast.Subscript(of, index, ast.Load()))
    keyword = _made(_keyword)
    splat = _made(lambda _, value: ast.Starred(value, ast.Load()))
    double_splat = _made(lambda *parts: ast.keyword(None, parts[-1]))
    call = _made(_call)
    binary = _made(lambda left, sign, right: ast.BinOp(left, BINARY[str(sign)](), right))
    unary = _made(_unary)
    compare = _made(lambda first, *more: ast.Compare(first, [*more[::2]], [*more[1::2]]))
    not_ = _made(lambda *parts: ast.UnaryOp(ast.Not(), parts[-1]))
    and_ = _made(lambda *parts: ast.BoolOp(ast.And(), [*parts]))
    or_ = _made(lambda *parts: ast.BoolOp(ast.Or(), [*parts]))
    conditional = _made(lambda value, test, other: ast.IfExp(test, value, other))
    lambda_ = _made(lambda parameters, body: ast.Lambda(parameters or no_arguments(), body))

    def number(self, meta: Meta, parts: Parts) -> ast.expr:
        text = str(parts[0])
        if len(text) > 1 and set(text) == {"0"}:
            text = "0"
        try:
            return placed(ast.Constant(ast.literal_eval(text)), meta)
        except (SyntaxError, ValueError) as error:
            node = placed(ast.Constant(0), meta)
            raise Unreadable(node, f"{text} is not a number.", "Octal: 0o17.") from error

    def string(self, meta: Meta, parts: Parts) -> ast.expr:
        try:
            value = ast.literal_eval("(" + " ".join(map(str, parts)) + ")")
        except (SyntaxError, ValueError) as error:
            node = placed(ast.Constant(""), meta)
            raise Unreadable(node, "This string cannot be read.") from error
        return placed(ast.Constant(value), meta)

    def comp_for(self, meta: Meta, parts: Parts) -> ast.comprehension:
        target, source, *conditions = parts
        return ast.comprehension(stored(target), source, conditions, is_async=0)

    def comparator(self, meta: Meta, parts: Parts) -> ast.cmpop:
        return _COMPARE[" ".join(map(str, parts))]()

    def param(self, meta: Meta, parts: Parts) -> Parameter:
        return ("args", placed(ast.arg(str(parts[0])), meta), parts[1])

    def star_param(self, meta: Meta, parts: Parts) -> Parameter:
        return ("vararg", placed(ast.arg(str(parts[-1])), meta), None)

    def double_star_param(self, meta: Meta, parts: Parts) -> Parameter:
        return ("kwarg", placed(ast.arg(str(parts[-1])), meta), None)

    def params(self, meta: Meta, parts: Parts) -> ast.arguments:
        result = no_arguments()
        for kind, argument, default in parts:
            if kind != "args":
                setattr(result, kind, argument)
            elif result.defaults and default is None:
                raise Unreadable(argument, "A parameter without default follows one with default.")
            else:
                result.args.append(argument)
                result.defaults += [default] if default is not None else []
        return result

    # -- declarations ---------------------------------------------------------------------------
    def file(self, meta: Meta, parts: Parts) -> ast.Module:
        return ast.Module(body=list(parts), type_ignores=[])

    def flow(self, meta: Meta, parts: Parts) -> str:
        return str(parts[0])

    temporal = flow

    def fairness(self, meta: Meta, parts: Parts) -> Fairness:
        word = next((str(p) for p in parts if isinstance(p, Token) and p.type == "NAME"), None)
        if word not in _FAIRNESSES:
            node = placed(ast.Constant(word), meta)
            raise Unreadable(node, f"'{word}' is not a fairness.", "There are: weak, strong.")
        return _FAIRNESSES[word]

    def decorator(self, meta: Meta, parts: Parts) -> ast.expr:
        name = placed(ast.Name(str(parts[0]), ast.Load()), meta)
        return placed(_call(name, parts[1]), meta) if parts[1] is not None else name

    def assertion_params(self, meta: Meta, parts: Parts) -> ast.arguments:
        return parts[0] or no_arguments()

    action = _made(
        lambda flow, fair, _, name, body: _node(
            tree.Act, name=str(name), flow=flow, fair=fair or "none", body=body
        )
    )
    func = _made(
        lambda flow, _, name, parameters, body: _node(
            tree.Func, name=str(name), flow=flow, args=parameters or no_arguments(), body=body
        )
    )
    role = _made(
        lambda *parts: _node(
            tree.Role, name=str(parts[-2]), symmetric=parts[-4] is not None, body=parts[-1],
            decorators=[*parts[:-4]],
        )
    )  # fmt: skip
    assertion = _made(_assertion)
    invariant = _made(lambda *parts: _node(tree.Invariant, kinds=parts[:-1], test=parts[-1]))
    invariants = _made(lambda _, *items: _node(tree.Invariants, items=[*items]))
    init_stanza = _made(lambda *parts: _node(tree.InitStanza, body=parts[-1]))
    compose = _made(lambda word, *_: _node(tree.Compose, name=str(word)))
    def_stmt = _made(_def)

    def compose_entry(self, meta: Meta, parts: Parts) -> None:
        return None

    # -- statements -----------------------------------------------------------------------------
    labelled = _made(lambda label, node: _node(tree.Labelled, label=str(label)[1:-1], body=[node]))
    if_stmt = _made(_if)
    elif_part = _made(lambda test, body: ast.If(test, body, []))
    while_stmt = _made(
        lambda flow, test, body: _node(tree.While, flow=flow, test=test, body=body, orelse=[])
    )
    for_stmt = _made(
        lambda flow, target, source, body: _node(
            tree.For, flow=flow, target=stored(target), iter=source, body=body, orelse=[],
            type_comment=None,
        )
    )  # fmt: skip
    flow_block = _made(lambda flow, body: _node(tree.FlowBlock, flow=flow, body=body))
    choice_block = _made(
        lambda fair, _, target, options, body: _node(
            tree.ChoiceBlock, target=stored(target), options=options, fair=fair or "none",
            body=body,
        )
    )  # fmt: skip
    choice = _made(_choice)

    def choice_between(self, meta: Meta, parts: Parts) -> ast.stmt:
        target, fair, word, value, condition, other = parts
        options = placed(ast.IfExp(condition, value, other), meta)
        return placed(_choice(target, fair, word, options, None), meta)

    require = _made(lambda *parts: _node(tree.Require, test=parts[-1]))
    assign = _made(lambda *parts: ast.Assign([stored(t) for t in parts[:-1]], parts[-1], lineno=0))
    augmented = _made(_augmented)
    expression = _made(ast.Expr)
    pass_stmt = _made(ast.Pass)
    break_stmt = _made(ast.Break)
    continue_stmt = _made(ast.Continue)
    return_stmt = _made(ast.Return)
