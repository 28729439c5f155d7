"""Expressions that are one operation: what is pure, and what is known of its result."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from types import FunctionType
from typing import Any

from statewalk.checker.native.programs.knowledge import FIZZ
from statewalk.checker.native.programs.translate import Body, Held
from statewalk.checker.native.programs.values import (
    Sort,
    Temporary,
    Value,
    element_of,
    sort_of_value,
)
from statewalk.dsl.source.known_effects import LOOKING_METHODS, is_pure_library
from statewalk.dsl.source.tree import Function
from statewalk.dsl.state.roles import Field, Role
from statewalk.dsl.values.domains import domain_of
from statewalk.dsl.values.records import Bag, Record, replace
from statewalk.dsl.values.stored import freeze
from statewalk.dsl.words import declare

_SUMS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_PURE = frozenset({
    "len", "min", "max", "sum", "any", "all", "sorted", "tuple", "list", "set", "frozenset", "dict",
    "abs", "range", "zip", "enumerate", "isinstance", "reversed", "str", "bool", "int", "divmod",
    "pow", "hasattr", "getattr", "dir", "round", "ord", "chr", "repr",
})  # fmt: skip
_TRUTHS = frozenset({"any", "all", "isinstance", "bool"})
_LOOPS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)
_MOST_LEAVES = 3
TEXT = domain_of(str)


class Cut(Exception):
    """An expression is no operation as a whole."""


class Wholes(Body):
    """Translates expressions, as one operation where they are pure."""

    # -- whole operations --------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Held:
        """Translate an expression; what it gives."""
        if isinstance(node, ast.Constant):
            return self.constant(node.value)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Slice):
            raise self.no(node, "a slice of a place")
        whole = self._whole(node)
        if whole is not None:
            return whole
        do: Callable[[Any], Held] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if do is None:
            raise self.no(node, "not translated")
        return do(node)

    def value(self, node: ast.expr) -> Value:
        """Translate an expression to a value of the language."""
        return self.number(self.expression(node))

    def _name(self, node: ast.Name) -> Held:
        held = self.local(node.id, node)
        if held is not None:
            self.check(held)
            return held
        found = self.meaning(node)
        if found is None or isinstance(found[0], type) or callable(found[0]):
            raise self.no(node, "not known")
        return self.constant_of(found[0], node)

    def constant_of(self, value: Any, node: ast.AST) -> Value:
        """Return what a module holds, if it can be stored."""
        try:
            return self.constant(value)
        except Exception:
            raise self.no(node, "holds what is no value") from None

    def is_local(self, name: str) -> bool:
        """Return whether a name is one of the function's own, or of a comprehension around."""
        frame = self.frame
        if name in frame.variables or name in frame.names:
            return True
        return name in self.machine.locals(frame.function)

    def meaning(self, node: ast.expr) -> tuple[Any] | None:
        """Return what a name, or a name in a module, stands for; None where it is a local's."""
        if isinstance(node, ast.Name):
            if self.is_local(node.id):
                return None
            space = self.frame.function.module.namespace
            if node.id in space:
                return (space[node.id],)
            return (getattr(builtins, node.id),) if hasattr(builtins, node.id) else None
        if isinstance(node, ast.Attribute):
            owner = self.meaning(node.value)
            if owner is not None and (
                isinstance(owner[0], type)
                or type(owner[0]).__name__ == "module"
                or type(owner[0]).__module__ == FIZZ
            ):
                return (getattr(owner[0], node.attr),) if hasattr(owner[0], node.attr) else None
        return None

    def _whole(self, node: ast.expr) -> Value | None:
        """Translate an expression to one operation, where it looks at few things only."""
        leaves: dict[str, ast.expr] = {}
        try:
            template = self._cut(node, leaves, frozenset(), True)
        except Cut:
            return None
        if isinstance(template, ast.Name):
            return None  # the whole of it is what is looked at
        if len(leaves) > 1 and not (_has_loop(node) and len(leaves) <= _MOST_LEAVES):
            return None
        if not leaves and not _computes(node):
            return None
        return self._operation(node, template, leaves)

    def _operation(
        self, node: ast.expr, template: ast.expr, leaves: dict[str, ast.expr]
    ) -> Value | None:
        values = [self.expression(leaf) for leaf in leaves.values()]
        if any(isinstance(value, Temporary) for value in values):
            if _has_loop(node) or isinstance(node, ast.Call):
                return None
            values = [self.number(value) for value in values]
        arguments = [value for value in values if isinstance(value, Value)]
        sort, domain = self.inferred(node)
        names = [f"a{k}" for k in range(len(arguments))]
        operation = self.machine.operations.expression(
            template, names, self.frame.function, sort, domain
        )
        if not arguments:
            found = self.machine.known_now(operation)
            if found is None:
                return None
            return self.constant(found)
        return self.apply(operation, arguments, domain)

    def _leaf(self, node: ast.expr, leaves: dict[str, ast.expr]) -> ast.expr:
        key = ast.dump(node)
        names = {ast.dump(leaf): name for name, leaf in leaves.items()}
        name = names.get(key) or f"a{len(leaves)}"
        leaves[name] = node
        return ast.Name(name, ast.Load())

    def _cut(
        self, node: ast.AST, leaves: dict[str, ast.expr], bound: frozenset[str], eager: bool
    ) -> Any:
        """Return a template of an expression: what it looks at is replaced by arguments.

        ``bound`` are the names that its own loops bind; ``eager``: it is evaluated for certain.
        Raises `Cut` where it does more than look at values.
        """
        if isinstance(node, ast.Constant | ast.operator | ast.unaryop | ast.cmpop | ast.boolop):
            return node
        if isinstance(node, ast.Name):
            if node.id in bound:
                return node
            if self.is_local(node.id):
                return self._leaf(node, leaves)
            if self._is_module_value(node):
                return node
            raise Cut
        if isinstance(node, ast.Attribute):
            return self._cut_attribute(node, leaves, bound, eager)
        if isinstance(node, ast.Call):
            return self._cut_call(node, leaves, bound, eager)
        if isinstance(node, _LOOPS):
            return self._cut_loop(node, leaves, bound, eager)
        if isinstance(node, ast.Compare) and not self._is_comparable(node):
            raise Cut
        if isinstance(
            node,
            ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp | ast.IfExp | ast.Subscript
            | ast.Slice | ast.Tuple | ast.List | ast.Set | ast.Dict | ast.Starred | ast.JoinedStr
            | ast.FormattedValue | ast.expr_context | ast.keyword,
        ):  # fmt: skip
            return self._cut_parts(node, leaves, bound, eager)
        raise Cut

    def _cut_parts(
        self, node: ast.AST, leaves: dict[str, ast.expr], bound: frozenset[str], eager: bool
    ) -> ast.AST:
        lazily = isinstance(node, ast.BoolOp | ast.IfExp | ast.Compare)
        made: dict[str, Any] = {}
        first = True
        for name, part in ast.iter_fields(node):
            if isinstance(part, list):
                parts = []
                for child in part:
                    held = child
                    if isinstance(child, ast.AST):
                        held = self._cut(child, leaves, bound, eager and (first or not lazily))
                        first = False
                    parts.append(held)
                made[name] = parts
            elif isinstance(part, ast.AST) and not isinstance(part, ast.expr_context):
                made[name] = self._cut(part, leaves, bound, eager and (first or not lazily))
                first = False
            else:
                made[name] = ast.Load() if isinstance(part, ast.expr_context) else part
        return ast.copy_location(type(node)(**made), node)

    def _is_comparable(self, node: ast.Compare) -> bool:
        """Return whether a comparison asks for no identity but that of None and truths."""
        sides = [node.left, *node.comparators]
        for at, relation in enumerate(node.ops):
            if isinstance(relation, ast.Is | ast.IsNot) and not any(
                isinstance(side, ast.Constant) and side.value in (None, True, False)
                for side in sides[at : at + 2]
            ):
                return False
        return True

    def _is_module_value(self, node: ast.Name) -> bool:
        found = self.meaning(node)
        if found is None:
            return False
        value = found[0]
        if isinstance(value, type):
            return True
        try:
            freeze(value)
        except BaseException:
            return False
        return not isinstance(value, Role)

    def _cut_attribute(
        self, node: ast.Attribute, leaves: dict[str, ast.expr], bound: frozenset[str], eager: bool
    ) -> ast.expr:
        if (found := self.meaning(node)) is not None and not callable(found[0]):
            return node
        if not _names(node.value).isdisjoint(bound):
            if self.machine.attribute(node.attr) != "value":
                raise Cut
            return ast.Attribute(self._cut(node.value, leaves, bound, eager), node.attr, ast.Load())
        kind = self.attribute(node)
        if kind == "value":
            return ast.Attribute(self._cut(node.value, leaves, bound, eager), node.attr, ast.Load())
        if kind == "role" and not self.machine.is_whole(self.place(node)):
            raise Cut  # a set or dict of many values: what is asked of each element is learned
        if kind in ("role", "index", "constant") and (eager or isinstance(node.value, ast.Name)):
            return self._leaf(node, leaves)
        raise Cut

    def attribute(self, node: ast.Attribute) -> str:
        """Return what an attribute is: by its name, else by its owner; mixed where that is open."""
        kind = self.machine.attribute(node.attr)
        if kind == "mixed":
            sort, domain = self.inferred(node.value)
            kind = self.machine.attribute_of(node.attr, sort, domain)
        return kind

    def of_record(self, name: str, domain: Any) -> Any:
        """Return the domain of an attribute of a record."""
        self.reads.add(f".{name}")
        return self.machine.attribute_domain(name, domain)

    def place(self, node: ast.Attribute) -> Field:
        """Return the field that an attribute of a role is."""
        return self.machine.field(node.attr, self.inferred(node.value)[1])

    def _is_role(self, node: ast.expr) -> bool:
        return self.inferred(node)[0] == "role"

    def _cut_call(
        self, node: ast.Call, leaves: dict[str, ast.expr], bound: frozenset[str], eager: bool
    ) -> ast.expr:
        arguments = [self._cut_argument(p, leaves, bound, eager) for p in node.args]
        keywords = [
            ast.keyword(k.arg, self._cut_argument(k.value, leaves, bound, eager))
            for k in node.keywords
        ]
        found = self.meaning(node.func)
        if found is not None:
            if not self._is_pure(found[0]) and not _is_first(found[0], node):
                raise Cut
            return ast.Call(node.func, arguments, keywords)
        if isinstance(node.func, ast.Attribute) and node.func.attr in LOOKING_METHODS:
            if self.machine.methods(node.func.attr) and not (
                _names(node.func.value).isdisjoint(bound)
                and self.machine.is_container(self.inferred(node.func.value)[1])
            ):
                raise Cut
            owner = self._cut(node.func.value, leaves, bound, eager)
            return ast.Call(ast.Attribute(owner, node.func.attr, ast.Load()), arguments, keywords)
        raise Cut

    def _cut_argument(
        self, node: ast.expr, leaves: dict[str, ast.expr], bound: frozenset[str], eager: bool
    ) -> ast.expr:
        if isinstance(node, ast.Lambda):
            if node.args.defaults or node.args.vararg or node.args.kwonlyargs or node.args.kwarg:
                raise Cut
            names = {a.arg for a in node.args.args}
            return ast.Lambda(node.args, self._cut(node.body, leaves, bound | names, False))
        found: ast.expr = self._cut(node, leaves, bound, eager)
        return found

    def _is_pure(self, callee: Any) -> bool:
        if callee in (replace, declare.pairs):
            return True
        if isinstance(callee, type):
            if issubclass(callee, Record):
                return not self.machine.makes_more(callee)
            known = callee.__name__ in _PURE or callee.__module__ == FIZZ or callee is Bag
            return known or is_pure_library(callee)
        if getattr(callee, "__module__", "") == "builtins":
            return callee.__name__ in _PURE
        function = self.machine.function_of(callee)
        if function is not None:
            return bool(self.machine.is_pure(function))
        return is_pure_library(callee) or _is_plain(callee)

    def _cut_loop(
        self, node: Any, leaves: dict[str, ast.expr], bound: frozenset[str], eager: bool
    ) -> ast.expr:
        generators = []
        for at, part in enumerate(node.generators):
            source = self._cut(part.iter, leaves, bound, eager and at == 0)
            bound = bound | _names(part.target)
            conditions = [self._cut(c, leaves, bound, False) for c in part.ifs]
            generators.append(ast.comprehension(part.target, source, conditions, 0))
        if isinstance(node, ast.DictComp):
            key, value = (self._cut(p, leaves, bound, False) for p in (node.key, node.value))
            return ast.copy_location(ast.DictComp(key, value, generators), node)
        element = self._cut(node.elt, leaves, bound, False)
        return ast.copy_location(type(node)(element, generators), node)  # type: ignore[no-any-return]

    # -- what is known of a result -----------------------------------------------------------------

    def inferred(self, node: ast.expr) -> tuple[Sort, Any]:
        """Return the sort and domain of an expression, as far as its text tells."""
        if isinstance(node, ast.Constant):
            return sort_of_value(node.value) if type(node.value) in (int, bool) else "any", None
        if isinstance(node, ast.Name):
            return self._inferred_name(node)
        if isinstance(node, ast.Attribute):
            found = self.meaning(node)
            if found is not None and not isinstance(found[0], type):
                return sort_of_value(found[0]), self.machine.domain_of_value(found[0])
            kind = self.attribute(node)
            if kind == "index":
                return "int", None
            domain = None
            if kind in ("role", "constant"):
                domain = self.place(node).domain
            elif kind == "value":
                domain = self.of_record(node.attr, self.inferred(node.value)[1])
            return self.machine.sort_of(domain), domain
        if isinstance(node, ast.Subscript):
            return self._inferred_item(node)
        if isinstance(node, ast.Compare) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        ):
            return "bool", None
        if self._is_text(node):
            return "any", TEXT
        if isinstance(node, ast.BinOp) and type(node.op) in (*_SUMS, ast.Mod, ast.FloorDiv):
            sides = {self.inferred(node.left)[0], self.inferred(node.right)[0]}
            return ("int" if sides == {"int"} else "any"), None
        if isinstance(node, ast.BoolOp):
            sorts = {self.inferred(part)[0] for part in node.values}
            return ("bool" if sorts == {"bool"} else "any"), None
        if isinstance(node, ast.IfExp):
            one, other = self.inferred(node.body), self.inferred(node.orelse)
            return (one[0] if one[0] == other[0] else "any"), (
                one[1] if one[1] is other[1] else None
            )
        if isinstance(node, ast.Call):
            return self._inferred_call(node)
        return "any", None

    def _is_text(self, node: ast.expr) -> bool:
        """Return whether an expression gives a string, if it does not raise."""
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and type(node.value) is str
        ):
            return True
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._is_text(node.left) or self._is_text(node.right)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            return self._is_text(node.left)
        if isinstance(node, ast.Call):
            found = self.meaning(node.func)
            return found is not None and found[0] in (str, repr, chr)
        if isinstance(node, ast.Name | ast.Attribute):
            return self.inferred(node)[1] is TEXT
        return False

    def _inferred_name(self, node: ast.Name) -> tuple[Sort, Any]:
        frame = self.frame
        held = frame.names.get(node.id)
        if isinstance(held, Value):
            return held.sort, held.domain
        if node.id in frame.variables:
            kind = self.kinds[(*frame.key, node.id)]
            return kind.sort, kind.domain
        found = self.meaning(node)
        if found is None or isinstance(found[0], type):
            return "any", None
        return sort_of_value(found[0]), self.machine.domain_of_value(found[0])

    def _inferred_item(self, node: ast.Subscript) -> tuple[Sort, Any]:
        domain = self.inferred(node.value)[1]
        if domain is None or isinstance(node.slice, ast.Slice):
            return "any", domain if domain is not None and domain.kind == "list" else None
        if domain.kind in ("list", "dict"):
            return self.machine.sort_of(domain.element), domain.element
        if domain.parts:
            same = element_of(domain)
            if same is not None:
                return self.machine.sort_of(same), same
            at = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if type(at) is int and at < len(domain.parts):
                return self.machine.sort_of(domain.parts[at]), domain.parts[at]
        return "any", None

    def _inferred_method(self, node: ast.expr) -> tuple[Sort, Any]:
        if not isinstance(node, ast.Attribute) or not self.machine.methods(node.attr):
            return "any", None
        sort, domain = self.inferred(node.value)
        function = self.machine.method(node.attr, Value("", sort, domain))
        return self._returned(function) if function is not None else ("any", None)

    def _returned(self, function: Function) -> tuple[Sort, Any]:
        """Return what a function says it returns: believed of operations, which look; else the
        classes.
        """
        domain = self.machine.domain_returned(function)
        sort = self.machine.sort_of(domain)
        if self.machine.is_pure(function) or self.machine.is_class_domain(domain):
            return sort, domain
        return "any", None

    def _inferred_call(self, node: ast.Call) -> tuple[Sort, Any]:
        found = self.meaning(node.func)
        if found is None:
            return self._inferred_method(node.func)
        name = getattr(found[0], "__name__", "")
        if name == "len" or (name == "sum" and len(node.args) == 1):
            return ("int" if name == "len" else "any"), None
        if name in _TRUTHS and getattr(found[0], "__module__", "") == "builtins":
            return "bool", None
        if name in ("min", "max") and len(node.args) > 1:
            sorts = {self.inferred(part)[0] for part in node.args}
            return ("int" if sorts == {"int"} else "any"), None
        if found[0] is replace and node.args:
            return "any", self.inferred(node.args[0])[1]
        if isinstance(found[0], type) and issubclass(found[0], Record):
            return "any", self.machine.domain_of_class(found[0])
        function = self.machine.function_of(found[0])
        if function is not None:
            return self._returned(function)
        return "any", None


def _is_first(callee: Any, node: ast.Call) -> bool:
    """Return whether a call takes the first of a generator that nobody else has."""
    return callee is next and bool(node.args) and isinstance(node.args[0], ast.GeneratorExp)


def _is_plain(callee: Any) -> bool:
    """Return whether this is a function of a module that declares nothing: it cannot read the
    state.
    """
    module = str(getattr(callee, "__module__", ""))
    ours = module.startswith(("statewalk.dsl.", "statewalk.checker."))
    return isinstance(callee, FunctionType) and (not ours or module == FIZZ)


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))


def _has_loop(node: ast.AST) -> bool:
    return any(isinstance(n, (*_LOOPS, ast.Lambda)) for n in ast.walk(node))


def _computes(node: ast.expr) -> bool:
    """Return whether evaluating it once is worth while: it is more than a name."""
    return not isinstance(node, ast.Name | ast.Constant)
