"""Statements of a spec as code: assignments to locals and to places of the state, loops, jumps."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from statewalk.checker.native.programs.places import Places
from statewalk.checker.native.programs.runtime import DONE, FAILED, NOTHING
from statewalk.checker.native.programs.translate import Held
from statewalk.checker.native.programs.values import Kind, Sort, Value, joined, may_change
from statewalk.dsl.state.roles import Field

_MOST_TURNS = 100_000


class Statements(Places):
    """Translates statements, and with them whole functions."""

    jumps: list[tuple[str, str]]  # where ``continue`` and ``break`` go
    as_bool = False  # whether any answer of a predicate counts as true or false

    def statements(self, body: list[ast.stmt]) -> None:
        """Translate statements one after the other."""
        for statement in body:
            self.at = statement
            do: Any = getattr(self, f"_do_{type(statement).__name__.lower()}", None)
            if do is None:
                raise self.no(statement, f"`{type(statement).__name__.lower()}` is not translated")
            do(statement)

    def _do_pass(self, node: ast.Pass) -> None:
        pass

    def _do_expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expression(node.value)

    def _do_return(self, node: ast.Return) -> None:
        frame = self.frame
        value = self.value(node.value) if node.value is not None else self.constant(None)
        if len(self.frames) == 1:
            if self.purpose != "action":
                self.answer(value, self.as_bool)
            else:
                self.a.ret(str(DONE))
            return
        self.check(value)
        aliases = value.aliases
        if isinstance(node.value, ast.Name):
            aliases -= self._ended_aliases(node.value.id)
        self.learn_kind((*frame.key, "return"), Kind(value.sort, value.domain, aliases))
        self.a.set(frame.result, value.operand)
        self.a.jump(frame.end)

    def _ended_aliases(self, name: str) -> frozenset[str]:
        """Return a returned local's aliases: they end with its frame, if no other has them."""
        frame, size = self.frame, len(self.frame.key)
        own = frame.own_aliases(name)
        others = (kind for key, kind in self.kinds.items() if key[:size] != frame.key)
        return frozenset() if any(kind.aliases & own for kind in others) else own

    def _do_if(self, node: ast.If) -> None:
        yes, no, end = (self.a.fresh(name) for name in ("then", "else", "end"))
        self.branch(node.test, yes, no)
        frame = self.frame
        for label, body in ((yes, node.body), (no, node.orelse)):
            self.a.label(label)
            saved = dict(frame.names)
            self.statements(body)
            frame.names = saved | {n: v for n, v in frame.names.items() if n in saved}
            self.a.jump(end)
        self.a.label(end)

    def _do_assert(self, node: ast.Assert) -> None:
        yes, no = self.a.fresh("right"), self.a.fresh("wrong")
        self.branch(node.test, yes, no)
        self.a.label(no)
        self.a.ret(str(FAILED))
        self.a.label(yes)

    def _do_for(self, node: ast.For) -> None:
        if node.orelse:
            raise self.no(node, "for with else")
        end = self.a.fresh("out")
        frame = self.frame
        turns = self.jumps

        def one(held: Held) -> None:
            following = self.a.fresh("turn")
            turns.append((following, end))
            self.assign(node.target, held)
            saved = dict(frame.names)
            self.statements(node.body)
            frame.names = saved
            turns.pop()
            self.a.label(following)

        with self.turn(node.body, self._source(node.iter)):
            self.each(node.iter, one)
        self.a.label(end)

    def _source(self, node: ast.expr) -> Value | None:
        """Return what a loop goes through, as far as it is a place of the state."""
        names = {
            n.attr for n in ast.walk(node)
            if isinstance(n, ast.Attribute) and self.machine.attribute(n.attr) in ("role", "mixed")
        }  # fmt: skip
        return Value("0", aliases=frozenset(names)) if names else None

    def _do_while(self, node: ast.While) -> None:
        if node.orelse:
            raise self.no(node, "while with else")
        a, end = self.a, self.a.fresh("out")
        turns = a.var("0")
        with self.turn(node.body), a.repeat():
            following = a.fresh("turn")
            inside = a.fresh("inside")
            a.set(turns, a.op("add", a.get(turns), "1"))
            self.give_up_unless(a.test("slt", a.get(turns), str(_MOST_TURNS)))
            self.branch(node.test, inside, end)
            a.label(inside)
            self.jumps.append((following, end))
            self.statements(node.body)
            self.jumps.pop()
            a.label(following)
        a.label(end)

    def _do_break(self, node: ast.Break) -> None:
        self.a.jump(self.jumps[-1][1])

    def _do_continue(self, node: ast.Continue) -> None:
        self.a.jump(self.jumps[-1][0])

    # -- assignments -------------------------------------------------------------------------------

    def _do_assign(self, node: ast.Assign) -> None:
        value = self.expression(node.value)
        if len(node.targets) > 1:
            value = self.number(value)
        for target in node.targets:
            self._assign_to(target, value, node.value)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign_to(node.target, self.expression(node.value), node.value)

    def _assign_to(self, target: ast.expr, value: Held, source: ast.expr) -> None:
        if isinstance(target, ast.Name):
            if target.id in self.mutated_names(self.frame.function) and not self.is_role(value):
                self._bind_changed(target, value, source)
                return
            if isinstance(source, ast.Name) and self._is_changed(source.id):
                raise self.no(source, "changed in place, and known by another name")
            self.bind(target.id, value)
        elif isinstance(target, ast.Attribute | ast.Subscript):
            self.put(target, self.number(value))
        elif isinstance(target, ast.Tuple | ast.List):
            if all(isinstance(part, ast.Name) for part in target.elts):
                self.assign(target, value)
                return
            if any(isinstance(part, ast.Starred) for part in (*target.elts, source)):
                raise self.no(target, "an assignment of several")
            count = len(target.elts)
            listed = isinstance(source, ast.Tuple) and len(source.elts) == count
            whole = self.number(value)
            for at, part in enumerate(target.elts):
                from_part = source.elts[at] if listed and isinstance(source, ast.Tuple) else source
                sort: Sort = "any"
                domain = None
                if listed:
                    sort, domain = self.inferred(from_part)
                text = f"a0[{at}]" if listed else f"_unpacked(a0, {count}, {at})"
                found = self.apply(self.machine.builtin(text, 1, sort), [whole], domain)
                self._assign_to(part, found, from_part)
        else:
            raise self.no(target, "an assignment")

    def _do_augassign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            held = self.local(target.id, target)
            if held is None:
                raise self.no(target, "not known")
            one = self.number(held)
            one = replace(one, aliases=one.aliases - self.frame.own_aliases(target.id))
            other = self.value(node.value)
            self.bind(target.id, self._augmented(node.op, one, other, node))
            return
        if self.apart(target) is not None:
            raise self.no(target, "an augmented assignment to a dict or set")
        one = self.value(target)
        other = self.value(node.value)
        found = self._augmented(node.op, one, other, node)
        place = self.hold(target) if one.aliases else None
        if place is not None and place.loose:
            raise self.no(target, "changed in place, and perhaps known by another name")
        self.put(target, found)
        if one.aliases and isinstance(target, ast.Attribute):
            self.touch(target.attr, inside=False)

    def _augmented(
        self, operator: ast.operator, one: Value, other: Value, node: ast.AugAssign
    ) -> Value:
        if one.sort == other.sort == "int":
            return self.combined(operator, one, other)
        if one.sort != "any" or not one.aliases:
            plain = one.domain is not None and not may_change(one.domain)
            if plain or one.sort != "any":
                return self.combined(operator, one, other)
        if isinstance(node.target, ast.Name) and not (
            one.domain is not None and not may_change(one.domain)
        ):
            if one.aliases or self.machine.is_shared(self.frame.function, node.target.id):
                raise self.no(node.target, "changed in place by an operator")
            return self.combined(operator, one, other).knowing(other)
        sign = ast.unparse(ast.AugAssign(ast.Name("x"), operator, ast.Name("y")))
        return self.apply(self.machine.in_place(sign), [one, other], one.domain, scalar=True)

    # -- methods that change -----------------------------------------------------------------------

    def changing(self, node: ast.Call) -> Held:
        """Translate a method that changes what it is called on."""
        assert isinstance(node.func, ast.Attribute)
        method, place = node.func.attr, node.func.value
        if node.keywords or any(isinstance(p, ast.Starred) for p in node.args):
            raise self.no(node, "a change with such arguments")
        held = self.apart(place)
        if held is not None:
            assert isinstance(place, ast.Attribute)
            owner = self.value(place.value)
            if held.layout == "entries":
                return self._change_dict(held, owner, method, node)
            return self._change_set(held, owner, method, node)
        base = self.value(place)
        arguments = [self.value(part) for part in node.args]
        count = len(arguments)
        result: Held = self.constant(None)
        if method in ("pop", "setdefault"):
            sort, domain = "any", None
            if base.domain is not None and base.domain.kind in ("list", "dict"):
                domain = base.domain.element
            result = self.apply(
                self.machine.method_result(method, count), [base, *arguments], domain
            )
            del sort
        made = self.apply(
            self.machine.method_change(method, count), [base, *arguments], base.domain,
            scalar=True,
        )  # fmt: skip
        self._change(place, made.knowing(*arguments))
        if isinstance(result, Value):
            result = Value(
                result.operand, result.sort, result.domain, result.aliases, self.clock,
                result.constant,
            )  # fmt: skip
        return result

    def _change_set(self, held: Field, owner: Value, method: str, node: ast.Call) -> Held:
        arguments = [self.value(part) for part in node.args]
        if method == "clear" and not arguments:
            self._clear_elements(held, owner)
        elif len(arguments) != 1:
            raise self.no(node, f"{method} of a set")
        elif method == "add":
            self._add(held, owner, arguments[0])
        elif method in ("remove", "discard"):
            self._discard(held, owner, arguments[0], method == "remove")
        elif method == "update":
            self.each_of(arguments[0], lambda v: self._add(held, owner, v))
        elif method == "difference_update":
            self.each_of(arguments[0], lambda v: self._discard(held, owner, v, False))
        else:
            raise self.no(node, f"{method} of a set")
        self.touch(held.name, inside=False)
        return self.constant(None)

    def _change_dict(self, held: Field, owner: Value, method: str, node: ast.Call) -> Held:
        if method == "clear" and not node.args:
            self._clear_entries(held, owner)
            self.touch(held.name, inside=False)
            return self.constant(None)
        if method == "pop" and len(node.args) == 1:
            key = self.value(node.args[0])
            found = self.entry(held, owner, key)
            self._remove_entry(held, owner, key)
            return Value(found.operand, found.sort, found.domain, found.aliases, self.clock)
        if method == "pop" and len(node.args) == 2:
            return self._pop(held, owner, self.value(node.args[0]), self.value(node.args[1]))
        raise self.no(node, f"{method} of a dict")

    def _pop(self, held: Field, owner: Value, key: Value, default: Value) -> Value:
        """Take an entry away that need not be there."""
        slot = self.asked(self.machine.asking_operation(held), [owner.operand, key.operand])
        number = self.read(slot)
        self.reads.add(held.name)
        there = self.a.test("ne", number, str(NOTHING))
        found = self.a.var(self.a.select(there, number, default.operand))
        with self.a.when(there):
            self._remove_entry(held, owner, key)
        domain = held.domain.element
        aliases = frozenset({held.name + "."}) if may_change(domain) else frozenset()
        kind = joined(
            Kind(self.machine.sort_of(domain), domain, aliases),
            Kind(default.sort, default.domain, default.aliases),
        )
        return Value(self.a.get(found), kind.sort, kind.domain, kind.aliases, self.clock)

    def _do_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Subscript):
                raise self.no(target, "del of this")
            held = self.apart(target.value)
            if held is not None and held.layout == "entries":
                assert isinstance(target.value, ast.Attribute)
                owner = self.value(target.value.value)
                key = self.value(target.slice)
                self.entry(held, owner, key)
                self._remove_entry(held, owner, key)
                continue
            base, key = self.value(target.value), self.value(target.slice)
            made = self.apply(self.machine.item_deleted(), [base, key], base.domain, scalar=True)
            self._change(target.value, made)
