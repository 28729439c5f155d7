"""Conditions, comparisons and arithmetic of a spec as code."""

from __future__ import annotations

import ast
from typing import Any

from statewalk.checker.native.programs.loops import Loops
from statewalk.checker.native.programs.operations import FALSE, TRUE
from statewalk.checker.native.programs.runtime import BASE, GAVE_UP, NOTHING
from statewalk.checker.native.programs.translate import Held
from statewalk.checker.native.programs.values import (
    Kind,
    Sort,
    Value,
    is_plain,
    joined,
)
from statewalk.checker.native.programs.whole import TEXT
from statewalk.dsl.state.roles import Role

_RELATIONS = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge",
}  # fmt: skip
_SUMS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_PARTS = (ast.Slice, ast.Starred, ast.FormattedValue, ast.JoinedStr)  # no values themselves


class Expressions(Loops):
    """Translates expressions."""

    # -- conditions --------------------------------------------------------------------------------

    def branch(self, node: ast.expr, yes: str, no: str) -> None:
        """Go on at one of two labels, by a condition."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.branch(node.operand, no, yes)
            return
        if isinstance(node, ast.BoolOp):
            for part in node.values[:-1]:
                following = self.a.fresh("more")
                if isinstance(node.op, ast.And):
                    self.branch(part, following, no)
                else:
                    self.branch(part, yes, following)
                self.a.label(following)
            self.branch(node.values[-1], yes, no)
            return
        self.a.branch(self.truth(self.expression(node)), yes, no)

    def _by_branching(self, node: ast.expr) -> Value:
        yes, no, end = (self.a.fresh(name) for name in ("yes", "no", "end"))
        found = self.a.var()
        self.branch(node, yes, no)
        for label, number in ((yes, TRUE), (no, FALSE)):
            self.a.label(label)
            self.a.set(found, str(number))
            self.a.jump(end)
        self.a.label(end)
        return Value(self.a.get(found), "bool")

    def _unaryop(self, node: ast.UnaryOp) -> Held:
        if isinstance(node.op, ast.Not):
            return self._by_branching(node)
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub) and value.sort == "int":
            return Value(self.a.op("sub", "0", value.operand), "int")
        sign = "-" if isinstance(node.op, ast.USub) else "+"
        return self.apply(self.machine.builtin(f"{sign}a0", 1, "any"), [value], scalar=True)

    def _boolop(self, node: ast.BoolOp) -> Held:
        if self.inferred(node)[0] == "bool" or all(self._is_test(part) for part in node.values):
            return self._by_branching(node)
        a, end = self.a, self.a.fresh("end")
        found = a.var()
        kind: Kind | None = None
        for at, part in enumerate(node.values):
            value = self.value(part)
            kind = joined(kind, Kind(value.sort, value.domain, value.aliases))
            a.set(found, value.operand)
            if at < len(node.values) - 1:
                following = a.fresh("more")
                bit = self.truth(value)
                pair = (following, end) if isinstance(node.op, ast.And) else (end, following)
                a.branch(bit, *pair)
                a.label(following)
        a.label(end)
        assert kind is not None
        return Value(a.get(found), kind.sort, kind.domain, kind.aliases, self.clock)

    def _is_test(self, node: ast.expr) -> bool:
        if isinstance(node, ast.BoolOp):
            return all(map(self._is_test, node.values))
        return isinstance(node, ast.Compare) or self.inferred(node)[0] == "bool"

    def _ifexp(self, node: ast.IfExp) -> Held:
        a = self.a
        yes, no, end = (a.fresh(name) for name in ("yes", "no", "end"))
        found = a.var()
        self.branch(node.test, yes, no)
        kind: Kind | None = None
        for label, part in ((yes, node.body), (no, node.orelse)):
            a.label(label)
            value = self.value(part)
            kind = joined(kind, Kind(value.sort, value.domain, value.aliases))
            a.set(found, value.operand)
            a.jump(end)
        a.label(end)
        assert kind is not None
        return Value(a.get(found), kind.sort, kind.domain, kind.aliases, self.clock)

    def _compare(self, node: ast.Compare) -> Held:
        if len(node.ops) == 1:
            left = self._membership(node)
            if left is not None:
                return left
            one, other = self.expression(node.left), self.expression(node.comparators[0])
            return self.compared(node.ops[0], self.number(one), self.number(other), node)
        a, end = self.a, self.a.fresh("end")
        found = a.var()
        one = self.value(node.left)
        for at, relation in enumerate(node.ops):
            other = self.value(node.comparators[at])
            answer = self.compared(relation, one, other, node)
            a.set(found, answer.operand)
            if at < len(node.ops) - 1:
                following = a.fresh("more")
                a.branch(self.truth(answer), following, end)
                a.label(following)
            one = other
        a.label(end)
        return Value(a.get(found), "bool")

    def _membership(self, node: ast.Compare) -> Value | None:
        """``x in`` a set or dict with a slot for each element."""
        if not isinstance(node.ops[0], ast.In | ast.NotIn):
            return None
        owner = node.comparators[0]
        held = self.apart(owner)
        if held is None:
            return None
        assert isinstance(owner, ast.Attribute)
        element = self.value(node.left)
        role = self.value(owner.value)
        self.check(element)
        self.reads.add(held.name)
        slot = self.asked(self.machine.asking_operation(held), [role.operand, element.operand])
        there = self.a.test("ne", self.read(slot), str(NOTHING))
        if isinstance(node.ops[0], ast.NotIn):
            there = self.a.bit("xor", there, "true")
        return self.boolean(there)

    def compared(self, relation: ast.cmpop, one: Value, other: Value, node: ast.expr) -> Value:
        """Return what a comparison of two values gives."""
        a = self.a
        self.check(one)
        self.check(other)
        if isinstance(relation, ast.Is | ast.IsNot):
            if not (self._is_identity(one) or self._is_identity(other)):
                raise self.no(node, "identity of what may be copied")
            same = a.test("eq", one.operand, other.operand)
            if isinstance(relation, ast.IsNot):
                same = a.bit("xor", same, "true")
            return self.boolean(same)
        if type(relation) in _RELATIONS and one.sort == other.sort == "int":
            return self.boolean(a.test(_RELATIONS[type(relation)], one.operand, other.operand))
        if isinstance(relation, ast.Eq | ast.NotEq) and self._clean(one) and self._clean(other):
            return self.boolean(a.test(_RELATIONS[type(relation)], one.operand, other.operand))
        sign = ast.unparse(ast.Compare(ast.Name("a0"), [relation], [ast.Name("a1")]))
        return self.apply(self.machine.builtin(sign, 2, "bool"), [one, other])

    def _is_identity(self, value: Value) -> bool:
        if value.constant:
            return value.constant[0] is None or type(value.constant[0]) is bool
        return value.sort == "role" or self.machine.is_role_domain(value.domain)

    def _clean(self, value: Value) -> bool:
        if value.constant:
            return (
                value.constant[0] is None
                or type(value.constant[0]) is str
                or isinstance(value.constant[0], Role)
            )
        return (
            value.sort == "role" or is_plain(value.domain)
            or self.machine.is_role_domain(value.domain)
        )  # fmt: skip

    # -- arithmetic --------------------------------------------------------------------------------

    def _binop(self, node: ast.BinOp) -> Held:
        one = self.value(node.left)
        other = self.value(node.right)
        return self.combined(node.op, one, other)

    def combined(self, operator: ast.operator, one: Value, other: Value) -> Value:
        """Return what an arithmetic operator gives."""
        if one.sort == other.sort == "int" and type(operator) in _SUMS:
            return self._sum(_SUMS[type(operator)], one.operand, other.operand)
        both = one.sort == other.sort == "int"
        text = ast.unparse(ast.BinOp(ast.Name("a0"), operator, ast.Name("a1")))
        claim: Sort = "int" if both and isinstance(operator, ast.Mod | ast.FloorDiv) else "any"
        if isinstance(operator, ast.Add) and (one.domain is TEXT or other.domain is TEXT):
            made = self.machine.builtin(text, 2, claim, TEXT)
            return self.apply(made, [one, other], TEXT)
        same = one.domain is not None and one.domain is other.domain
        domain = one.domain if same and self.machine.is_container(one.domain) else None
        return self.apply(self.machine.builtin(text, 2, claim), [one, other], domain)

    def _sum(self, operation: str, one: str, other: str) -> Value:
        a = self.a
        if operation == "mul":
            wide = [a.value(f"sext i32 {x} to i64") if x[0] == "%" else x for x in (one, other)]
            product = a.value(f"mul i64 {wide[0]}, {wide[1]}")
            low = a.value(f"add i64 {product}, {BASE - 1}")
            fits = a.value(f"icmp ult i64 {low}, {2 * BASE - 1}")
            found = a.value(f"trunc i64 {product} to i32")
        else:
            found = a.op(operation, one, other)
            fits = a.test("ult", a.op("add", found, str(BASE - 1)), str(2 * BASE - 1))
        with a.when(a.bit("xor", fits, "true")):
            a.ret(str(GAVE_UP))
        return Value(found, "int")

    def _subscript(self, node: ast.Subscript) -> Held:
        held = self.apart(node.value)
        if held is not None and held.layout == "entries":
            assert isinstance(node.value, ast.Attribute)
            owner = self.value(node.value.value)
            return self.entry(held, owner, self.value(node.slice))
        if isinstance(node.slice, ast.Slice):
            return self._by_parts(node)
        one, at = self.value(node.value), self.value(node.slice)
        sort, domain = self.inferred(node)
        return self.apply(self.machine.builtin("a0[a1]", 2, sort), [one, at], domain)

    def _by_parts(self, node: ast.expr) -> Value:
        """Translate a node whose parts are values to an operation on them."""
        leaves: dict[str, ast.expr] = {}
        sort, domain = self.inferred(node)
        parts: list[Value] = []

        def part(child: ast.AST) -> ast.AST:
            if isinstance(child, ast.expr) and not isinstance(child, _PARTS):
                if isinstance(child, ast.Constant):
                    return child
                parts.append(self.value(child))
                name = f"a{len(parts) - 1}"
                leaves[name] = child
                return ast.Name(name, ast.Load())
            made: dict[str, Any] = {}
            for name, value in ast.iter_fields(child):
                if isinstance(value, list):
                    made[name] = [part(v) if isinstance(v, ast.AST) else v for v in value]
                elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                    made[name] = part(value)
                else:
                    made[name] = ast.Load() if isinstance(value, ast.expr_context) else value
            return type(child)(**made)

        fields: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                fields[name] = [part(v) if isinstance(v, ast.AST) else v for v in value]
            elif isinstance(value, ast.AST) and not isinstance(
                value, ast.expr_context | ast.operator
            ):
                fields[name] = part(value)
            else:
                fields[name] = ast.Load() if isinstance(value, ast.expr_context) else value
        template = ast.copy_location(type(node)(**fields), node)
        names = [f"a{k}" for k in range(len(parts))]
        operation = self.machine.operations.expression(
            template, names, self.frame.function, sort, domain
        )
        if not parts:
            found = self.machine.known_now(operation)
            if found is None:
                raise self.no(node, "raises")
            return self.constant(found)
        return self.apply(operation, parts, domain)

    def _tuple(self, node: ast.Tuple) -> Held:
        return self._by_parts(node)

    _list = _set = _dict = _joinedstr = _tuple
