"""Choices and guards of a spec as code."""

from __future__ import annotations

import ast
from collections.abc import Callable

from statewalk.checker.native.programs.expressions import Expressions
from statewalk.checker.native.programs.runtime import of_run
from statewalk.checker.native.programs.translate import Held
from statewalk.checker.native.programs.values import Temporary, Value


class Choices(Expressions):
    """Translates choices and guards."""

    def _require(self, node: ast.Call) -> None:
        if len(node.args) != 1 or node.keywords:
            raise self.no(node, "a guard with other arguments")
        yes, no = self.a.fresh("enabled"), self.a.fresh("disabled")
        self.branch(node.args[0], yes, no)
        self.a.label(no)
        self.disable()
        self.a.label(yes)

    def _chosen(self, count: str) -> str:
        """Return the index of the option that is tried."""
        at = self.a.call("choose", f"ptr %run, i32 {count}")
        with self.a.when(self.a.test("eq", at, "-1")):
            self.disable()
        self.give_up_unless(self.a.test("sge", at, "0"))
        return at

    def _any_of(self, node: ast.Call) -> Held:
        if len(node.args) != 1 or node.keywords:
            raise self.no(node, "a choice under fairness")
        if self.purpose != "action":
            raise self.no(node, "a choice in a property")
        source = node.args[0]
        if not isinstance(source, ast.GeneratorExp | ast.ListComp):
            whole = None
            if self.apart(source) is None:
                whole = self._options(source)
            if whole is not None:
                return whole
        options = self.temporary(lambda add: self._into(source, add), "list")
        at = self._chosen(self.a.get(options.length))
        place = self.a.op("add", self.a.get(options.first), at)
        number = self.a.load(of_run(self.a, "arena"), place)
        element = options.element
        return Value(number, element.sort, element.domain, element.aliases, self.clock)

    def _options(self, source: ast.expr) -> Value | None:
        """Choose among the elements of a value, where the source is one."""
        if isinstance(source, ast.Call):
            found = self.meaning(source.func)
            if found is not None and found[0] is range:
                return None
        held = self.expression(source)
        a = self.a
        if isinstance(held, Temporary):
            at = self._chosen(a.get(held.length))
            number = a.load(of_run(a, "arena"), a.op("add", a.get(held.first), at))
            e = held.element
            return Value(number, e.sort, e.domain, e.aliases, self.clock)
        self.check(held)
        pool = a.at(self._pool(), self.asked(self.machine.options_of, [held.operand]))
        at = self._chosen(a.load(pool, "0"))
        number = a.load(pool, a.op("add", at, "1"))
        sort, domain, aliases = self.of_elements(held)
        return Value(number, sort, domain, aliases, self.clock)

    def _into(self, source: ast.expr, add: Callable[[Value], None]) -> None:
        frame = self.frame
        saved = dict(frame.names), dict(frame.variables)

        def one(held: Held) -> None:
            if isinstance(held, Value) and held.operand == "pair":
                assert self.pair is not None
                held = self.apply(self.machine.builtin("(a0, a1)", 2, "any"), [*self.pair])
            add(self.number(held))

        self.each(source, one)
        frame.names, frame.variables = saved

    def _old(self, node: ast.Call) -> Held:
        if self.side or self.purpose != "step":
            raise self.no(node, "`old` outside a step property")
        self.side = 1
        try:
            found = self.number(self.expression(node.args[0]))
        finally:
            self.side = 0
        return Value(found.operand, found.sort, found.domain, frozenset(), self.clock)
