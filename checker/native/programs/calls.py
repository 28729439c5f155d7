"""Calls of a spec as code: its own functions in place, choices, guards, sums over the state."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from statewalk.checker.native.programs.choices import Choices
from statewalk.checker.native.programs.operations import FALSE, NONE, TRUE
from statewalk.checker.native.programs.runtime import ERRED, NOTHING
from statewalk.checker.native.programs.translate import Held, Place
from statewalk.checker.native.programs.values import Kind, Temporary, Value, joined, may_change
from statewalk.checker.native.programs.whole import Cut
from statewalk.dsl.source.tree import Function
from statewalk.dsl.state.roles import Field
from statewalk.dsl.values.lists import CHANGING
from statewalk.dsl.words import declare


class Calls(Choices):
    """Translates calls."""

    def _call(self, node: ast.Call) -> Held:
        found = self.meaning(node.func)
        if found is not None:
            return self._call_of(found[0], node)
        if not isinstance(node.func, ast.Attribute):
            raise self.no(node, "a call of an unknown function")
        method = node.func.attr
        functions = self.machine.methods(method)
        held = self.apart(node.func.value)
        if held is not None and held.layout == "entries":
            found_here = self._of_entries(held, node)
            if found_here is not None:
                return found_here
        if held is not None and method in CHANGING:
            return self.changing(node)
        sort, domain = self.inferred(node.func.value)
        ours = self.machine.method(method, Value("", sort, domain)) is not None
        fresh = isinstance(node.func.value, ast.Name) and node.func.value.id in self.frame.fresh
        if fresh or self.machine.is_container(domain):
            functions = []
        if functions and (method not in CHANGING or ours):
            owner = self.value(node.func.value)
            function = self.machine.method(method, owner)
            if function is not None:
                if owner.domain is None and not owner.constant:
                    self.apply(self.machine.instance_of(function.owner), [owner])
                return self.inlined(function, [owner], node)
            raise self.no(node, "several methods of that name")
        if method in CHANGING:
            return self.changing(node)
        return self._plain(node)

    def _plain(self, node: ast.Call) -> Value:
        """Translate a call that only looks at its arguments, each a value."""
        copy = ast.Call(node.func, node.args, node.keywords)
        if any(isinstance(p, ast.Starred) for p in node.args):
            raise self.no(node, "starred arguments")
        parts: list[Value] = []

        def part(child: ast.expr) -> ast.expr:
            if isinstance(child, ast.Constant):
                return child
            if isinstance(child, ast.Lambda):
                raise self.no(child, "a lambda that reads more than its arguments")
            parts.append(self.value(child))
            return ast.Name(f"a{len(parts) - 1}", ast.Load())

        function: ast.expr = node.func
        if self.meaning(node.func) is None:
            assert isinstance(node.func, ast.Attribute)
            function = ast.Attribute(part(node.func.value), node.func.attr, ast.Load())
        copy = ast.copy_location(
            ast.Call(
                function,
                [part(p) for p in node.args],
                [ast.keyword(k.arg, part(k.value)) for k in node.keywords],
            ),
            node,
        )
        sort, domain = self.inferred(node)
        names = [f"a{k}" for k in range(len(parts))]
        operation = self.machine.operations.expression(
            copy, names, self.frame.function, sort, domain
        )
        return self.apply(operation, parts, domain)

    def _call_of(self, callee: Any, node: ast.Call) -> Held:
        if callee is declare.any_of:
            return self._any_of(node)
        if callee is declare.require:
            self._require(node)
            return self.constant(None)
        if callee is declare.maybe:
            return self.boolean(self.a.test("eq", self._chosen("2"), "1"))
        if callee is declare.old:
            return self._old(node)
        name = getattr(callee, "__name__", "")
        if getattr(callee, "__module__", "") == "builtins" and len(node.args) == 1:
            do = {
                "any": self._any, "all": self._all, "sum": self._sum_of, "len": self._len,
                "min": self._best, "max": self._best, "bool": self._bool,
                "list": self._listed, "tuple": self._listed, "sorted": self._listed,
                "set": self._listed, "frozenset": self._listed,
            }.get(name)  # fmt: skip
            if do is not None and (not node.keywords or name in ("min", "max")):
                found = do(node)
                if found is not None:
                    return found
        if isinstance(callee, type) and callee.__name__ in ("OrderedSet", "OrderedFrozenSet"):
            if len(node.args) == 1 and not node.keywords:
                found = self._listed(node)
                if found is not None:
                    return found
        if name in ("min", "max") and len(node.args) > 1 and not node.keywords:
            return self._extreme(node, name)
        function = self.machine.function_of(callee)
        if function is not None and not self.machine.is_pure(function):
            return self.inlined(function, [], node)
        if not self._is_pure(callee):
            raise self.no(node, "a call that is not known to be pure")
        return self._plain(node)

    # -- the spec's own functions -----------------------------------------------------------------

    def inlined(self, function: Function, first: Sequence[Held], node: ast.expr) -> Held:
        """Translate a call of one of the spec's functions, by its text."""
        arguments = function.node.args
        if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
            raise self.no(node, "starred parameters")
        places_of = [a.arg for a in arguments.args]
        names = [*places_of, *(a.arg for a in arguments.kwonlyargs)]
        given: dict[str, Held] = dict(zip(names, first, strict=False))
        called = node if isinstance(node, ast.Call) else None
        changed = self.mutated_names(function)
        if called is not None:
            if any(isinstance(p, ast.Starred) for p in called.args):
                raise self.no(node, "starred arguments")
            rest = places_of[len(first) :]
            if len(called.args) > len(rest):
                raise self.no(node, "too many arguments")
            for name, part in zip(rest, called.args, strict=False):
                given[name] = self._argument(part)
            for keyword in called.keywords:
                if keyword.arg is None or keyword.arg in given or keyword.arg not in names:
                    raise self.no(node, "arguments that do not match the parameters")
                given[keyword.arg] = self._argument(keyword.value)
        defaults = self.machine.defaults(function)
        for name in names:
            if name not in given:
                if name not in defaults:
                    raise self.no(node, f"no argument for {name}")
                given[name] = self.constant_of(defaults[name], node)
        for held in given.values():
            self.check(held)
        places = self._changed_places(changed, given, first, node)
        self.calls += 1
        frame = self.enter(function, (*self.frame.key, self.calls))
        frame.places.update(places)
        for name in names:
            held = given[name]
            if name in places:
                continue
            if isinstance(held, Temporary) and self.machine.is_assigned(function, name):
                held = self.number(held)
            if isinstance(held, Temporary):
                frame.names[name] = held
            else:
                self.bind(name, held)
        self.statements(function.body())
        self.a.label(frame.end)
        kind = self.kinds.get((*frame.key, "return"))
        result = self.a.get(frame.result)
        self.frames.pop()
        if kind is None:
            return self.constant(None)
        return Value(result, kind.sort, kind.domain, kind.aliases, self.clock)

    def _argument(self, node: ast.expr) -> Held:
        held = self.expression(node)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            self.sources[id(held)] = node
            self._kept.append(held)  # so that nothing else gets its id
        return held

    def _changed_places(
        self, changed: frozenset[str], given: dict[str, Held], first: Sequence[Held], node: ast.expr
    ) -> dict[str, Place]:
        """Return the places of arguments that a call changes; new ones are the function's own."""
        found: dict[str, Place] = {}
        for name in changed & given.keys():
            held = given[name]
            if self.is_role(held):
                continue
            source = self.sources.get(id(held))
            if source is None and first and held is first[0] and isinstance(node, ast.Call):
                source = getattr(node.func, "value", None)
            place = self.hold(source) if source is not None else None
            if place is None:
                raise self.no(node, "a call that changes its arguments in place")
            found[name] = place
        return found

    # -- loops that give one value ----------------------------------------------------------------

    def _any(self, node: ast.Call) -> Held:
        return self._first(node, "any")

    def _all(self, node: ast.Call) -> Held:
        return self._first(node, "all")

    def _first(self, node: ast.Call, which: str) -> Value:
        """Translate ``any`` and ``all``: a loop that ends where the answer is known."""
        a, end = self.a, self.a.fresh("known")
        deciding, otherwise = (TRUE, FALSE) if which == "any" else (FALSE, TRUE)
        found = a.var(str(otherwise))
        source = node.args[0]

        def decide(condition: Callable[[str, str], None]) -> None:
            yes, no = a.fresh("yes"), a.fresh("no")
            condition(yes, no)
            hit, miss = (yes, no) if which == "any" else (no, yes)
            a.label(hit)
            a.set(found, str(deciding))
            a.jump(end)
            a.label(miss)

        if isinstance(source, ast.GeneratorExp):
            element = source.elt
            self._generated(
                source.generators, lambda: decide(lambda y, n: self.branch(element, y, n))
            )
        else:
            self.each(source, lambda v: decide(lambda y, n: a.branch(self.truth(v), y, n)))
        a.label(end)
        return Value(a.get(found), "bool")

    def _sum_of(self, node: ast.Call) -> Held | None:
        a = self.a
        key = (*self.frame.key, "sum", node.lineno, node.col_offset)
        if key in self.kinds:  # it was found to be a sum of what may be no integers
            whole = self.number(self.temporary(lambda add: self._into(node.args[0], add), "list"))
            return self.apply(self.machine.builtin("sum(a0)", 1, "any"), [whole], scalar=True)
        total = a.var("0")
        sorts: set[str] = set()

        def one(held: Held) -> None:
            value = self.number(held)
            sorts.add(value.sort)
            number = value.operand
            if value.sort == "bool":
                number = a.value(f"zext i1 {a.test('eq', number, str(TRUE))} to i32")
            a.set(total, self._sum("add", a.get(total), number).operand)

        source = node.args[0]
        if isinstance(source, ast.GeneratorExp | ast.ListComp):
            self._generated(source.generators, lambda: one(self.expression(source.elt)))
        else:
            self.each(source, one)
        if not sorts <= {"int", "bool"}:
            self.learn_kind(key, Kind("any", None))
        return Value(a.get(total), "int")

    def _len(self, node: ast.Call) -> Held | None:
        a, source = self.a, node.args[0]
        place = self.apart(source)
        if place is not None:
            assert isinstance(source, ast.Attribute)
            owner = self.value(source.value)
            count = a.var("0")

            def one(value: Value) -> None:
                a.set(count, a.op("add", a.get(count), "1"))

            (self.each_key if place.layout == "entries" else self.each_element)(place, owner, one)
            return Value(a.get(count), "int")
        held = self.expression(source)
        if isinstance(held, Temporary):
            return Value(a.get(held.length), "int")
        return self.apply(self.machine.builtin("len(a0)", 1, "int"), [held])

    def _bool(self, node: ast.Call) -> Held:
        return self.boolean(self.truth(self.expression(node.args[0])))

    def _listed(self, node: ast.Call) -> Held | None:
        """``list(...)`` and its like of what a loop gives."""
        source = node.args[0]
        found = self.meaning(node.func)
        kind = getattr(found[0], "__name__", "") if found is not None else ""
        name = {"OrderedSet": "set", "OrderedFrozenSet": "set", "frozenset": "set"}.get(kind, kind)
        made = self.temporary(lambda add: self._into(source, add), "list")
        if name in ("list", "tuple"):
            made.kind = name
            return made
        if name == "set":
            made.kind = "set"
            return self.number(made)
        return self.apply(self.machine.builtin("sorted(a0)", 1, "any"), [self.number(made)])

    def _best(self, node: ast.Call) -> Held | None:
        """``min`` and ``max`` of one iterable, by a key if there is one."""
        found = self.meaning(node.func)
        assert found is not None
        greater = found[0].__name__ == "max"
        key = None
        for keyword in node.keywords:
            if keyword.arg == "default" and not any(k.arg == "key" for k in node.keywords):
                return self._with_default(node, keyword.value)
            if any(k.arg == "default" for k in node.keywords):
                return self._best_of_list(node)
            if keyword.arg != "key" or not isinstance(keyword.value, ast.Lambda):
                raise self.no(node, "an argument that is not translated")
            key = keyword.value
            if len(key.args.args) != 1 or key.args.defaults:
                raise self.no(node, "a key of several arguments")
        a = self.a
        best, measure, empty = a.var(str(NONE)), a.var("0"), a.var("1")
        kind: Kind | None = None

        def one(held: Held) -> None:
            nonlocal kind
            value = self.number(held)
            kind = joined(kind, Kind(value.sort, value.domain, value.aliases))
            by = value
            if key is not None:
                frame = self.frame
                saved = dict(frame.names), dict(frame.variables)
                self.bind(key.args.args[0].arg, value)
                by = self.value(key.body)
                frame.names, frame.variables = saved
            relation = ast.Gt() if greater else ast.Lt()
            better, end = a.fresh("better"), a.fresh("end")
            more = a.fresh("more")
            a.branch(a.test("eq", a.get(empty), "1"), better, more)
            a.label(more)
            answer = self.compared(relation, by, Value(a.get(measure), by.sort, by.domain), node)
            a.branch(self.truth(answer), better, end)
            a.label(better)
            a.set(best, value.operand)
            a.set(measure, by.operand)
            a.set(empty, "0")
            a.label(end)

        source = node.args[0]
        if isinstance(source, ast.GeneratorExp | ast.ListComp):
            self._generated(source.generators, lambda: one(self.expression(source.elt)))
        else:
            self.each(source, one)
        with a.when(a.test("eq", a.get(empty), "1")):
            a.ret(str(ERRED))
        known = kind or Kind("any", None)
        return Value(a.get(best), known.sort, known.domain, known.aliases, self.clock)

    def _with_default(self, node: ast.Call, default: ast.expr) -> Held:
        """``min`` and ``max`` with what they give where there is nothing, by the whole list."""
        found = self.meaning(node.func)
        assert found is not None
        whole = self.number(self.temporary(lambda add: self._into(node.args[0], add), "list"))
        text = f"{found[0].__name__}(a0, default=a1)"
        return self.apply(self.machine.builtin(text, 2, "any"), [whole, self.value(default)])

    def _best_of_list(self, node: ast.Call) -> Held:
        """``min`` and ``max`` by a key that looks at its argument alone, with a default."""
        keywords = {k.arg: k.value for k in node.keywords}
        key = keywords.get("key")
        if not isinstance(key, ast.Lambda) or len(keywords) != 2:
            raise self.no(node, "an argument that is not translated")
        leaves: dict[str, ast.expr] = {}
        try:
            looking = self._cut_argument(key, leaves, frozenset(), False)
        except Cut:
            raise self.no(key, "a key that is not pure") from None
        if leaves:
            raise self.no(key, "a key that reads more than its argument")
        whole = self.number(self.temporary(lambda add: self._into(node.args[0], add), "list"))
        template = ast.copy_location(
            ast.Call(
                node.func, [ast.Name("a0", ast.Load())],
                [ast.keyword("key", looking), ast.keyword("default", ast.Name("a1", ast.Load()))],
            ),
            node,
        )  # fmt: skip
        operation = self.machine.operations.expression(
            template, ["a0", "a1"], self.frame.function, "any"
        )
        return self.apply(operation, [whole, self.value(keywords["default"])])

    def _extreme(self, node: ast.Call, name: str) -> Value:
        """``min(a, b)`` and ``max(a, b)``."""
        values = [self.value(part) for part in node.args]
        if all(value.sort == "int" for value in values):
            best = values[0].operand
            for value in values[1:]:
                relation = "sgt" if name == "max" else "slt"
                better = self.a.test(relation, value.operand, best)
                best = self.a.select(better, value.operand, best)
            return Value(best, "int")
        text = f"{name}({', '.join(f'a{k}' for k in range(len(values)))})"
        return self.apply(self.machine.builtin(text, len(values), "any"), values)

    # -- dict fields with a slot for each entry ---------------------------------------------------

    def _of_entries(self, held: Field, node: ast.Call) -> Held | None:
        """Methods that look at such a dict."""
        assert isinstance(node.func, ast.Attribute)
        place = node.func.value
        assert isinstance(place, ast.Attribute)
        if node.func.attr != "get" or not 1 <= len(node.args) <= 2 or node.keywords:
            return None
        owner = self.value(place.value)
        key = self.value(node.args[0])
        default = self.value(node.args[1]) if len(node.args) > 1 else self.constant(None)
        slot = self.asked(self.machine.asking_operation(held), [owner.operand, key.operand])
        self.reads.add(held.name)
        number = self.read(slot)
        there = self.a.test("ne", number, str(NOTHING))
        domain = held.domain.element
        aliases = frozenset({held.name + "."}) if may_change(domain) else frozenset()
        kind = joined(
            Kind(self.machine.sort_of(domain), domain, aliases),
            Kind(default.sort, default.domain, default.aliases),
        )
        found = self.a.select(there, number, default.operand)
        return Value(found, kind.sort, kind.domain, kind.aliases, self.clock)

    def changing(self, node: ast.Call) -> Held:
        """Translate a method that changes what it is called on."""
        raise NotImplementedError
