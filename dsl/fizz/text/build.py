"""Statements and declarations of parsed .fizz text as its syntax tree."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

from lark import Token, v_args
from lark.tree import Meta

from statewalk.dsl.declared import Fairness
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.fizz.text.build_exprs import (
    BINARY,
    BuildError,
    BuildExpressions,
    Parts,
    always,
    no_arguments,
    placed,
    stored,
)

N = TypeVar("N", bound=ast.AST)

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
