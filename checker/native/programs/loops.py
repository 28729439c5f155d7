"""Loops and comprehensions, and the names that they bind."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from statewalk.checker.native.programs.reading import Reading
from statewalk.checker.native.programs.runtime import of_run
from statewalk.checker.native.programs.translate import Held
from statewalk.checker.native.programs.values import (
    Temporary,
    Value,
    element_of,
)
from statewalk.dsl.state.roles import Field


class Loops(Reading):
    """Translates loops."""

    # -- loops -------------------------------------------------------------------------------------

    def each(self, node: ast.expr, do: Callable[[Held], None]) -> None:
        """Translate a loop over what an expression gives."""
        a = self.a
        if isinstance(node, ast.Call):
            if self._range(node, do) or self._views(node, do):
                return
        held = self.apart(node)
        if held is not None:
            assert isinstance(node, ast.Attribute)
            each = self.each_key if held.layout == "entries" else self.each_element
            each(held, self.value(node.value), do)
            return
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            self._generated(node.generators, lambda: do(self.expression(node.elt)))
            return
        source = self.expression(node)
        if isinstance(source, Temporary):
            element = source.element
            with a.count(a.get(source.length)) as k:
                at = a.op("add", a.get(source.first), k)
                number = a.load(of_run(a, "arena"), at)
                do(Value(number, element.sort, element.domain, element.aliases, self.clock))
            return
        self.each_of(source, do)

    def apart(self, node: ast.expr) -> Field | None:
        """Return the field that an expression is, if it has a slot for each element or entry."""
        if not isinstance(node, ast.Attribute) or self.attribute(node) != "role":
            return None
        held = self.place(node)
        return None if self.machine.is_whole(held) else held

    def _range(self, node: ast.Call, do: Callable[[Held], None]) -> bool:
        found = self.meaning(node.func)
        if found is None or found[0] is not range or node.keywords:
            return False
        if any(isinstance(p, ast.Starred) for p in node.args) or len(node.args) > 2:
            return False
        if any(self.inferred(p)[0] != "int" for p in node.args):
            return False
        bounds = [self.value(part).operand for part in node.args]
        first = bounds[0] if len(bounds) > 1 else "0"
        with self.a.count(bounds[-1], first) as at:
            do(Value(at, "int"))
        return True

    def _views(self, node: ast.Call, do: Callable[[Held], None]) -> bool:
        """Return a loop over the items, values or keys of a dict field."""
        if not isinstance(node.func, ast.Attribute) or node.args:
            return False
        held = self.apart(node.func.value)
        if held is None or held.layout != "entries":
            return False
        if node.func.attr not in ("items", "values", "keys"):
            return False
        assert isinstance(node.func.value, ast.Attribute)
        view = node.func.attr
        owner = self.value(node.func.value.value)

        def one(key: Value) -> None:
            if view == "keys":
                do(key)
            elif view == "values":
                do(self.entry(held, owner, key))
            else:
                self.pair = (key, self.entry(held, owner, key))
                do(Value("pair"))

        self.each_key(held, owner, one)
        return True

    pair: tuple[Value, Value] | None = None

    def assign(self, target: ast.expr, value: Held) -> None:
        """Bind the names of a loop or comprehension."""
        if isinstance(target, ast.Name):
            if isinstance(value, Value) and value.operand == "pair":
                assert self.pair is not None
                key, item = self.pair
                value = self.apply(self.machine.builtin("(a0, a1)", 2, "any"), [key, item])
            self.bind(target.id, value)
            return
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, Value) and value.operand == "pair":
                assert self.pair is not None
                parts: list[Held] = list(self.pair)
                if len(target.elts) != 2:
                    raise self.no(target, "not two names")
                for part, found in zip(target.elts, parts, strict=True):
                    self.assign(part, found)
                return
            whole = self.number(value)
            names = len(target.elts)
            if any(isinstance(part, ast.Starred) for part in target.elts):
                raise self.no(target, "a starred name")
            for at, part in enumerate(target.elts):
                domain = self._part(whole.domain, at)
                operation = self.machine.builtin(
                    f"_unpacked(a0, {names}, {at})", 1, self.machine.sort_of(domain)
                )
                self.assign(part, self.apply(operation, [whole], domain))
            return
        raise self.no(target, "an assignment")

    def _part(self, domain: Any, at: int) -> Any:
        if domain is None or not domain.parts:
            return None
        return element_of(domain) or (domain.parts[at] if at < len(domain.parts) else None)

    def _generated(self, generators: list[ast.comprehension], do: Callable[[], None]) -> None:
        """Translate the loops of a comprehension; its names are its own."""
        frame = self.frame
        saved = dict(frame.names), dict(frame.variables)
        self._loops(generators, do)
        frame.names, frame.variables = saved

    def _loops(self, generators: list[ast.comprehension], do: Callable[[], None]) -> None:
        if not generators:
            do()
            return
        first = generators[0]

        def one(value: Held) -> None:
            self.assign(first.target, value)
            for condition in first.ifs:
                good, bad = self.a.fresh("kept"), self.a.fresh("left")
                self.branch(condition, good, bad)
                self.a.label(bad)
                self.a.again()
                self.a.label(good)
            self._loops(generators[1:], do)

        self.each(first.iter, one)

    def _listcomp(self, node: ast.ListComp) -> Held:
        return self._comprehension(node, "list")

    def _generatorexp(self, node: ast.GeneratorExp) -> Held:
        return self._comprehension(node, "tuple")

    def _setcomp(self, node: ast.SetComp) -> Held:
        return self.number(self._comprehension(node, "set"))

    def _comprehension(self, node: Any, kind: str) -> Temporary:
        return self.temporary(
            lambda add: self._generated(node.generators, lambda: add(self.value(node.elt))), kind
        )

    def _dictcomp(self, node: ast.DictComp) -> Held:
        def fill(add: Callable[[Value], None]) -> None:
            def one() -> None:
                key = self.value(node.key)
                add(key)
                add(self.value(node.value))

            self._generated(node.generators, one)

        return self.number(self.temporary(fill, "dict"))
