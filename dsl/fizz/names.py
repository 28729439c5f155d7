"""The meanings of the names of a .fizz specification: constants, state, fields, functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field

from statewalk.dsl.blocks import tree
from statewalk.dsl.source.nodes import walk

Callable = tree.Act | tree.Func | tree.Assertion | ast.FunctionDef
SCALAR_KINDS = {"dict": "dict[Any, Any]", "list": "list[Any]", "set": "set[Any]", "bag": "Bag[Any]"}
_MAKERS = {
    "dict": "dict", "genericmap": "dict", "list": "list", "set": "set", "genericset": "set",
    "bag": "bag", "sorted": "list",
}  # fmt: skip


@dataclass
class RoleInfo:
    """A role: its fields in order of appearance, and what it can do. ``given``: when it is made."""

    node: tree.Role
    fields: dict[str, None] = field(default_factory=dict)
    parameters: dict[str, None] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    members: dict[str, Callable] = field(default_factory=dict)

    @property
    def crashes(self) -> bool:
        """Return whether ``@state(...)`` says what instances lose in a crash."""
        return any(_is_state(d) for d in self.node.decorators)

    @property
    def ephemeral(self) -> list[str]:
        """The fields that a crash sets back: those listed, or all but the durable ones."""
        init = self.members.get("Init")
        assigned = self_targets(init) if init is not None else ()
        begun = {target.attr for target in assigned}
        fields = [f for f in self.fields if f in begun]
        for decorator in filter(_is_state, self.node.decorators):
            for keyword in decorator.keywords if isinstance(decorator, ast.Call) else []:
                listed = ast.literal_eval(keyword.value)
                if keyword.arg == "ephemeral":
                    return [f for f in fields if f in listed]
                return [f for f in fields if f not in listed]
        return []


@dataclass
class Names:
    """All names of a specification. ``kinds``: what a state variable or field certainly holds.

    ``from_init_only`` are the functions and Inits of roles (by identity) that only initialisation
    reaches, ``both_ways`` those that run in it and in steps.
    """

    module: ast.Module
    constants: dict[str, ast.AST] = field(default_factory=dict)
    state: dict[str, None] = field(default_factory=dict)
    roles: dict[str, RoleInfo] = field(default_factory=dict)
    members: dict[str, Callable] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    kinds: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    from_init_only: set[int] = field(default_factory=set)
    both_ways: set[int] = field(default_factory=set)
    reads_returns: bool = False
    domains: dict[str, str] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    made: dict[tuple[str, ...], str] = field(default_factory=dict)

    def make(self, *parts: str) -> str:
        """Return a name that the file writes nowhere; the same parts give the same name."""
        if parts not in self.made:
            word = "_".join(parts)
            while word in self.written:
                word += "_"
            self.written.add(word)
            self.made[parts] = word
        return self.made[parts]

    @property
    def init(self) -> tree.Act | tree.InitStanza | None:
        """Return what gives the initial states."""
        found = self.members.get("Init")
        if isinstance(found, tree.Act):
            return found
        return next((n for n in self.module.body if isinstance(n, tree.InitStanza)), None)

    def annotation(self, owner: str, name: str) -> str:
        """Return the type of a state variable (owner empty) or of a role's field, if it is
        certain.
        """
        kinds = self.kinds.get((owner, name), set())
        return SCALAR_KINDS.get(next(iter(kinds)), "Any") if len(kinds) == 1 else "Any"


def _is_state(decorator: ast.expr) -> bool:
    return "state" in ast.unparse(decorator).partition("(")[0]


def targets_of(statement: ast.stmt) -> Iterator[ast.expr]:
    """Yield the single targets that a statement itself assigns to."""
    found: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        found = list(statement.targets)
    elif isinstance(statement, ast.AugAssign | tree.Choice | tree.ChoiceBlock | ast.For):
        found = [statement.target]
    while found:
        target = found.pop(0)
        if isinstance(target, ast.Tuple | ast.List):
            found = [*target.elts, *found]
        else:
            yield target


def all_targets(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """Yield the targets of all statements, at any depth."""
    for part in (part for node in nodes for part in walk(node)):
        if isinstance(part, ast.stmt):
            yield from targets_of(part)


def stored_names(nodes: Iterable[ast.AST]) -> dict[str, None]:
    """Return names that statements assign to, at any depth; not those bound by comprehensions."""
    return {t.id: None for t in all_targets(nodes) if isinstance(t, ast.Name)}


def loop_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return names bound by loops and by choices with a block: always local."""
    parts = (part for node in nodes for part in walk(node))
    loops = (part for part in parts if isinstance(part, ast.For | tree.ChoiceBlock))
    return {t.id for loop in loops for t in targets_of(loop) if isinstance(t, ast.Name)}


def body_of(block: list[ast.stmt]) -> list[ast.stmt]:
    """Return a block without doc-strings; a block that is only a flow block is that block."""
    kept = [s for s in block if not tree.is_text(s)]
    if len(kept) == 1 and isinstance(kept[0], tree.FlowBlock) and kept[0].flow == "atomic":
        return body_of(kept[0].body)
    return kept


def is_one_block(block: list[ast.stmt]) -> bool:
    """Return whether a block is only a flow block, whose flow then counts."""
    kept = [s for s in block if not tree.is_text(s)]
    return len(kept) == 1 and isinstance(kept[0], tree.FlowBlock)


def parameters(arguments: ast.arguments) -> list[str]:
    """Return all names of parameters."""
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return [a.arg for a in found]


def collect(module: ast.Module) -> Names:
    """Read off what every name of a specification stands for."""
    names = Names(module)
    for node in module.body:
        if isinstance(node, tree.Role):
            names.roles[node.name] = RoleInfo(node)
        elif isinstance(node, Callable):
            names.members[node.name] = node
        elif isinstance(node, tree.Choice):
            names.state.update(dict.fromkeys(stored_names([node])))
        elif not isinstance(node, tree.Node):
            for name in stored_names([node]):
                names.constants.setdefault(name, node)
                value = node.value if isinstance(node, ast.Assign) else None
                function = value.func if isinstance(value, ast.Call) else None
                if isinstance(function, ast.Attribute):  # symmetry.kind(...)
                    if ast.unparse(function.value) == "symmetry":
                        names.domains[name] = function.attr
    _state(names)
    for info in names.roles.values():
        _members(info)
    _parameters(names)
    _used(names)
    _kinds(names)
    in_init, in_steps = _runs(names)
    names.from_init_only, names.both_ways = in_init - in_steps, in_init & in_steps
    return names


def _state(names: Names) -> None:
    init = names.init
    if isinstance(init, tree.InitStanza):
        names.state.update(stored_names(init.body))
    elif init is not None:
        for statement in body_of(init.body):
            if not isinstance(statement, ast.For | tree.ChoiceBlock):
                found = (t.id for t in targets_of(statement) if isinstance(t, ast.Name))
                names.state.update(dict.fromkeys(found))


def _members(info: RoleInfo) -> None:
    for node in info.node.body:
        if isinstance(node, Callable):
            info.members[node.name] = node
    info.fields.update((target.attr, None) for target in self_targets(info.node))


def self_targets(node: ast.AST) -> Iterator[ast.Attribute]:
    """Yield where something is assigned to ``self.something``."""
    for target in all_targets([node]):
        if isinstance(target, ast.Attribute) and is_self(target):
            yield target


def is_self(node: ast.AST) -> bool:
    """Return whether a node is ``self.something``."""
    return isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"


def _parameters(names: Names) -> None:
    for part in walk(names.module):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name):
            info = names.roles.get(part.func.id)
            if info is not None:
                given = [k.arg for k in part.keywords if k.arg]
                info.parameters.update(dict.fromkeys(given))
                info.given.update(given)
    for info in names.roles.values():
        for part in walk(info.node):
            if is_self(part) and isinstance(part, ast.Attribute):
                known = part.attr in info.fields or part.attr in info.members
                if not known and part.attr != "__id__":
                    info.parameters[part.attr] = None


def _written(part: ast.AST) -> Iterator[str]:
    """Yield the names that a node has, and texts: those may be names for getattr or record(**d)."""
    for word in ("id", "name", "attr", "arg", "value"):
        found = getattr(part, word, None)
        if isinstance(found, str):
            yield found


def _used(names: Names) -> None:
    arguments: set[str] = set()
    for part in walk(names.module):
        names.written.update(_written(part))
        if isinstance(part, ast.Name):
            names.used.add(part.id)
            names.reads_returns |= part.id == "__returns__"
            if isinstance(part.ctx, ast.Store):
                names.bound.add(part.id)
        elif isinstance(part, ast.arg):
            names.used.add(part.arg)
        if isinstance(part, tree.Role | Callable):
            names.bound.add(part.name)
        # The states that a transition assertion compares have no name afterwards.
        if isinstance(part, ast.Lambda | tree.Func | ast.FunctionDef):
            arguments |= set(parameters(part.args))
    names.bound |= arguments
    names.bound -= set(names.state) - arguments
    names.used |= names.bound


def _kinds(names: Names) -> None:
    """Return which sort of container every assignment to a state variable or field gives, if
    certain.
    """
    owners: list[tuple[str, ast.AST]] = [("", names.module)]
    owners += [(name, info.node) for name, info in names.roles.items()]
    for owner, node in owners:
        for part in walk(node):
            if isinstance(part, ast.stmt) and not isinstance(part, ast.AugAssign):
                for target in targets_of(part):
                    name = _place_name(target, owner, names)
                    if name is not None:
                        certain = isinstance(part, ast.Assign) and target in part.targets
                        kind = kind_of(part.value, names.bound) if certain else "?"  # type: ignore[attr-defined]
                        names.kinds.setdefault((owner, name), set()).add(kind)
    for info in names.roles.values():
        for name in info.parameters:
            names.kinds.setdefault((info.node.name, name), set()).add("?")


def _place_name(target: ast.expr, owner: str, names: Names) -> str | None:
    if owner and is_self(target):
        return target.attr  # type: ignore[attr-defined, no-any-return]
    if not owner and isinstance(target, ast.Name) and target.id in names.state:
        return target.id
    return None


def kind_of(value: ast.expr, own: Set[str]) -> str:
    """Return the kind of container that an expression certainly gives, or ``?``."""
    if isinstance(value, ast.Dict | ast.DictComp):
        return "dict"
    if isinstance(value, ast.List | ast.ListComp):
        return "list"
    if isinstance(value, ast.Set | ast.SetComp):
        return "set"
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return "?" if value.func.id in own else _MAKERS.get(value.func.id, "?")
    return "?"


def gives(node: ast.AST) -> bool:
    """Return whether a function returns values."""
    return any(isinstance(p, ast.Return) and p.value is not None for p in walk(node))


def _reach(names: Names, roots: Iterable[ast.AST]) -> set[int]:
    """Return the ids of functions, and of initializers of roles, reachable from roots."""
    by_name: dict[str, list[ast.AST]] = {}
    for node in walk(names.module):
        if isinstance(node, tree.Func):
            by_name.setdefault(node.name, []).append(node)
    for name, info in names.roles.items():
        if "Init" in info.members:
            by_name.setdefault(name, []).append(info.members["Init"])
    found: set[int] = set()
    pending = list(roots)
    while pending:
        for part in walk(pending.pop()):
            called = part.func if isinstance(part, ast.Call) else None
            word = getattr(called, "attr", None) or getattr(called, "id", None)
            for function in by_name.get(word or "", []):
                if id(function) not in found:
                    found.add(id(function))
                    pending.append(function)
    return found


def called_at_once(names: Names) -> set[int]:
    """Return functions (by identity) that are called where no step can end."""
    roots = [
        node
        for node in walk(names.module)
        if isinstance(node, tree.Assertion | tree.Invariants | tree.InitStanza | ast.FunctionDef)
        or (isinstance(node, tree.Act) and node.name == "Init")
    ]
    return _reach(names, roots)


def _runs(names: Names) -> tuple[set[int], set[int]]:
    """Return what Init reaches, and what everything else reaches (by identity)."""
    others: list[ast.stmt] = [m for i in names.roles.values() for m in i.members.values()]
    others = [m for m in others if isinstance(m, tree.Act)]
    kinds = tree.Act | tree.Assertion | tree.Invariants
    others += [n for n in names.module.body if isinstance(n, kinds)]
    begin = names.init
    steps = [n for n in others if n is not begin and getattr(n, "name", "") != "Init"]
    return _reach(names, [begin] if begin is not None else []), _reach(names, steps)
