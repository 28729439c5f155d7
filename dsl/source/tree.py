"""The syntax tree of a spec: what both front ends produce and the lowering reads.

Bodies are Python's own `ast`. Choice, guard and the flow blocks are calls and ``with`` statements
of reserved names (`any_of`, `require`, `atomic`, `serial`, `parallel`, `oneof`), so no further
nodes are needed; roles, properties and functions are found here by name.
"""

from __future__ import annotations

import ast
import sys
import typing
from collections import Counter
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from types import FunctionType
from typing import Any

from statewalk.dsl.annotations import annotations_of
from statewalk.dsl.declared import BOUNDS, Formula, Mark, marks
from statewalk.dsl.errors import Span
from statewalk.dsl.kinds import PROPERTY_MARKS
from statewalk.dsl.source.known_effects import attribute
from statewalk.dsl.source.modules import Loading, SpecModule
from statewalk.dsl.source.nodes import copied, exchanged, meaning, walk, yields
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import Record
from statewalk.dsl.words import declare

_OF_CLASSES = frozenset({"__init_subclass__", "__class_getitem__", "__new__"})  # without being told


@dataclass
class Function:
    """A function or method of a spec module. ``owner`` is the class it is written in.

    ``gives_way``: it lets others act, though perhaps not under the constants of this run.
    """

    name: str
    module: SpecModule
    owner: type | None
    node: ast.FunctionDef
    function: Callable[..., Any]
    marks: list[Mark] = field(default_factory=list)
    gives_way: bool = False

    @property
    def qualified(self) -> str:
        return f"{self.owner.__name__}.{self.name}" if self.owner else self.name

    def marked(self, kind: str) -> Mark | None:
        """Return the mark of a kind, if the function has it."""
        return next((m for m in self.marks if m.kind == kind), None)

    @property
    def is_property(self) -> bool:
        return any(m.kind in PROPERTY_MARKS | BOUNDS for m in self.marks)

    def span(self, node: ast.AST | None = None) -> Span:
        return self.module.source.span(node or self.node)

    def parameters(self) -> list[ast.arg]:
        """Return the parameters without ``self``."""
        found = [*self.node.args.posonlyargs, *self.node.args.args]
        return found[1:] if self.owner is not None and not self.is_static else found

    @property
    def is_flow(self) -> bool:
        """Return whether it contains ``yield``.

        What Python calls, such as ``__iter__``, is no flow.
        """
        asked = self.owner is not None and self.name[:2] == self.name[-2:] == "__"
        return self.is_generator and (not asked or self.name == "__call__")

    @property
    def is_generator(self) -> bool:
        """Return whether Python makes a generator of it."""
        return any(map(yields, self.node.body))

    @property
    def is_static(self) -> bool:
        return any(getattr(d, "id", "") == "staticmethod" for d in self.node.decorator_list)

    @property
    def class_parameter(self) -> str | None:
        """The name of its first parameter, where that is the class and no instance."""
        marked = any(getattr(d, "id", "") == "classmethod" for d in self.node.decorator_list)
        if self.owner is None or not (marked or self.name in _OF_CLASSES):
            return None
        return next((a.arg for a in (*self.node.args.posonlyargs, *self.node.args.args)), None)

    def body(self) -> list[ast.stmt]:
        """Return the statements without a doc-string."""
        found = self.node.body
        if found and isinstance(found[0], ast.Expr) and isinstance(found[0].value, ast.Constant):
            if isinstance(found[0].value.value, str):
                return found[1:]
        return found


@dataclass
class SpecTree:
    """All of a spec after its modules ran.

    The mutant that is chosen is among the functions, as the one it stands in for. ``mutants`` are
    all of them, as they are written: nothing calls those. ``instead`` is what this run has left of
    the definitions of mutants, and of what the chosen one stands in for. Of roles with one name,
    those without instances come first: the last is what the name means.
    """

    loading: Loading
    roles: list[type[Role]] = field(default_factory=list)
    records: list[type[Record]] = field(default_factory=list)
    enums: list[type] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    mutants: list[Function] = field(default_factory=list)
    instead: dict[ast.AST, list[ast.stmt]] = field(default_factory=dict)
    formulas: list[tuple[str, Formula, Span]] = field(default_factory=list)
    _hints: dict[type, dict[str, Any]] = field(default_factory=dict, init=False, repr=False)

    @property
    def classes(self) -> dict[str, type]:
        """All classes by name."""
        return {cls.__name__: cls for cls in self.every_class()}

    def every_class(self) -> list[type]:
        """Return all classes, also several of one name: the last is what the name means."""
        return [*self.roles, *self.records, *self.enums]

    @property
    def led(self) -> list[Callable[..., bool]]:
        """The predicates that formulas are made of."""
        return [p for _, formula, _ in self.formulas for p in formula.predicates]

    def hints(self, cls: type) -> dict[str, Any]:
        """Return the types of a class's fields. Raises what evaluating them raises."""
        if cls not in self._hints:
            self._hints[cls] = self._evaluated(cls)
        there = {"there": bool} if getattr(cls, "_room", None) is not None else {}
        return self._hints[cls] | there

    def _evaluated(self, cls: type) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            declared = {} if base in (Role, Record) else annotations_of(base)
            if declared:
                module = self.loading.by_name.get(base.__module__, sys.modules.get(base.__module__))
                names = {**self.classes, **(vars(module) if module is not None else {})}
                names.pop("__builtins__", None)
                part = type(base.__name__, (), {"__annotations__": declared})
                found |= typing.get_type_hints(part, names, include_extras=True)
        return found

    def text_of(self, module: SpecModule) -> ast.Module:
        """Return the text of a module as far as it is part of this run, for questions to all
        of it.
        """
        text = module.source.tree
        return exchanged(text, self.instead) if self.instead else text

    def of_kind(self, *kinds: str) -> Iterator[Function]:
        return (f for f in self.functions if any(m.kind in kinds for m in f.marks))

    def instances(self, owner: type) -> list[Any]:
        """Return the instances of a role class and its subclasses."""
        return [r for cls in self.roles if issubclass(cls, owner) for r in cls._instances]


def read_tree(loading: Loading) -> SpecTree:
    """Find the roles, records and functions of the modules that ran, in the order of the files."""
    tree = SpecTree(loading)
    for module in loading.modules:
        for node in statements(module.source.tree.body):
            if isinstance(node, ast.ClassDef):
                _read_class(tree, module, node)
            elif isinstance(node, ast.FunctionDef):
                _read_function(tree, module, None, node, module.namespace.get(node.name))
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                value = module.namespace.get(getattr(target, "id", ""))
                if isinstance(target, ast.Name) and isinstance(value, Formula):
                    tree.formulas.append((target.id, value, module.source.span(node)))
    names = Counter(role.__name__ for role in tree.roles)
    tree.roles.sort(key=lambda role: names[role.__name__] == 1 or bool(role._instances))
    _read_other_classes(tree)
    return tree


def _read_other_classes(tree: SpecTree) -> None:
    """Read enums and records of helpers, in classes, or made by calls.

    Of several with one name the first counts; a state that is to hold another is refused
    (`dsl.values.canonical`).
    """
    known = {cls.__name__ for cls in tree.every_class()}
    for module in tree.loading.by_name.values():
        for value in vars(module).values():
            for cls in _classes_in(tree, value):
                if cls.__name__ not in known and not cls.__module__.startswith(_OURS):
                    known.add(cls.__name__)
                    (tree.enums if issubclass(cls, Enum) else tree.records).append(cls)


_OURS = ("enum", "statewalk.checker", "statewalk.dsl")


def _classes_in(tree: SpecTree, value: Any) -> Iterator[type]:
    """Yield the enums and records that a value of a module is, is of, or has in its body."""
    cls = value if isinstance(value, type) else type(value)
    if issubclass(cls, Enum | Record):
        yield cls
    if cls is value and cls.__module__ in tree.loading.by_name:
        for inner in vars(cls).values():
            if isinstance(inner, type) and inner.__qualname__.startswith(f"{cls.__qualname__}."):
                yield from _classes_in(tree, inner)


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module or class, those under ``if``, ``try`` and ``with``
    included.
    """
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            parts = [node.body, node.orelse]
            if isinstance(node, ast.Try):
                parts += [*(handler.body for handler in node.handlers), node.finalbody]
            for part in parts:
                yield from statements(part)
        elif isinstance(node, ast.With):
            yield from statements(node.body)


def _is_from(found: Any, node: ast.FunctionDef, module: SpecModule) -> bool:
    """Return whether a function was made by this definition, and not by one of the same name
    elsewhere.
    """
    code = attribute(found, "__code__")
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return code is None or (
        code.co_filename == module.source.path and first <= code.co_firstlineno <= node.lineno
    )


def _read_class(tree: SpecTree, module: SpecModule, node: ast.ClassDef) -> None:
    cls = module.namespace.get(node.name)
    if not isinstance(cls, type):
        return
    if issubclass(cls, Role):
        tree.roles.append(cls)
    elif issubclass(cls, Record):
        tree.records.append(cls)
    elif issubclass(cls, Enum):
        tree.enums.append(cls)
    for item in statements(node.body):
        if not isinstance(item, ast.FunctionDef):
            continue
        raw = cls.__dict__.get(item.name)
        found = getattr(raw, "__func__", raw)
        found = found.fget if isinstance(found, property) else found
        _read_function(tree, module, cls, item, found)


def says_no_types(module: SpecModule) -> bool:
    """Return whether a module comes from a .fizz file, directly or converted: fields may hold
    anything.
    """
    runtime = "statewalk.dsl.fizz.runtime.values"
    named = (v for v in module.namespace.values() if isinstance(v, type | FunctionType))
    return any(v.__module__ == runtime for v in named)


def _read_function(
    tree: SpecTree, module: SpecModule, owner: type | None, node: ast.FunctionDef, found: Any
) -> None:
    """Add a definition, if it is the one that its name means in the end."""
    name, stand_in = node.name, tree.loading.stand_ins.get((module.source.path, node.lineno))
    if stand_in is not None:
        tree.instead[node] = [_changed(node, body=[ast.copy_location(ast.Pass(), node)])]
        module = next(m for m in tree.loading.modules if m.name == stand_in.module.name)
        node = _decorated_as(node, stand_in.node)
    elif not callable(found) or not _is_from(found, node, module):
        return
    function = Function(name, module, owner, node, found, marks(found))
    mutants = [mutant.function for mutant in tree.loading.declared.mutants]
    is_mutant = any(found is mutant for mutant in mutants)
    (tree.mutants if is_mutant else tree.functions).append(function)
    if is_mutant:
        chosen = any(found.is_of(module, node) for found in tree.loading.stand_ins.values())
        tree.instead[node] = [_changed(node, decorator_list=[])] if chosen else []


def _changed(node: ast.FunctionDef, **parts: Any) -> ast.FunctionDef:
    """Return a definition with other parts."""
    made = copy(node)
    vars(made).update(parts)
    return made


def _decorated_as(target: ast.FunctionDef, mutant: ast.FunctionDef) -> ast.FunctionDef:
    """Return the text of a mutant with the decorators of what it stands in for."""
    node = copied(mutant)
    node.decorator_list = [copied(decorator) for decorator in target.decorator_list]
    for decorator in node.decorator_list:
        for part in walk(decorator):
            ast.copy_location(part, mutant)
    return node


def definition_of(tree: SpecTree, cls: type) -> tuple[SpecModule, ast.ClassDef] | None:
    """Return the text of a class of a spec, and the module that it is in."""
    for module in tree.loading.modules:
        for node in statements(module.source.tree.body):
            if isinstance(node, ast.ClassDef) and module.namespace.get(node.name) is cls:
                return module, node
    return None


def class_span(tree: SpecTree, cls: type) -> Span | None:
    """Return where a class of a spec is written."""
    found = definition_of(tree, cls)
    return found[0].source.span(found[1]) if found else None


def field_span(tree: SpecTree, cls: type, name: str) -> Span | None:
    """Return where a field is declared; where the class is, if it is not found."""
    for module, node in filter(None, (definition_of(tree, base) for base in cls.__mro__)):
        for item in statements(node.body):
            if isinstance(item, ast.AnnAssign) and getattr(item.target, "id", "") == name:
                return module.source.span(item)
    return None


def may_crash(tree: SpecTree) -> bool:
    """Return whether instances of roles may crash, by themselves or because a step says so."""
    nodes = ((n, f.module.namespace) for f in tree.functions for n in walk(f.node))
    calls = ((n.func, names) for n, names in nodes if isinstance(n, ast.Call))
    return crash_alone(tree) or any(meaning(c, names) is declare.crash for c, names in calls)


def crash_alone(tree: SpecTree) -> bool:
    """Return whether instances with something to lose may crash at any time."""
    return bool(tree.loading.declared.options.get("role_crashes", False))


def is_old(node: ast.AST, namespace: dict[str, Any]) -> bool:
    """Return whether it is ``old(e)``, by any name that this has there."""
    asked = node.func if isinstance(node, ast.Call) and len(node.args) == 1 else None
    return asked is not None and meaning(asked, namespace) is declare.old
