"""From the tree of a .fizz specification to a module of the embedded language.

Every node keeps its line and column of the .fizz file, so that errors of the one lowering behind
both languages point there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from dsl import fizz_tree as tree
from dsl.fizz_blocks import Blocks, Body, Kind, NeedsFlag
from dsl.fizz_caps import Caps
from dsl.fizz_enabled import Enabling
from dsl.fizz_exprs import Expressions, Scope
from dsl.fizz_names import Names, RoleInfo, body_of, collect, loop_names, parameters, stored_names
from dsl.fizz_options import Options
from dsl.fizz_refuse import refuse_unsupported

_DSL_NAMES = (
    "Any", "Bag", "Constant", "Role", "State", "action", "always", "any_of", "deadlock",
    "eventually", "exists", "init", "named", "old", "next_steps", "on_step", "require",
    "symmetric_values", "record", "struct", "enum", "genericset", "genericmap", "max_actions",
    "Loop", "deepcopy", "fail", "type_name", "math", "itertools",
)  # fmt: skip
_DECORATORS = {
    "always": "always",
    "eventually": "eventually",
    "exists": "exists",
    "transition": "on_step",
}
_KINDS = (
    ("always",), ("exists",), ("transition",), ("always", "eventually"), ("eventually", "always"),
    ("eventually",),
)  # fmt: skip


def translate(
    module: ast.Module, file: str, options: Options, *, returns: bool = False
) -> ast.Module:
    """The module of the embedded language that means the same.

    ``returns`` keeps what the last action returned as part of the state, as Fizzbee counts it.

    Raises:  SpecError (SW102, SW152, SW153) with the place of the first mistake.
    """
    names = collect(module)
    refuse_unsupported(names, file, options)
    return _Translation(names, file, options, returns).module()


class _Translation:
    def __init__(self, names: Names, file: str, options: Options, returns: bool) -> None:
        self.names = names
        self.file = file
        self.options = options
        taken = names.used
        self.aliases = {}
        for word in _DSL_NAMES:
            alias = word
            while alias in names.bound:
                alias += "_"
            self.aliases[word] = alias
        state = next(w for w in ("state", "shared", "world", "globals_") if w not in taken)
        self.state_class = next(w for w in ("Shared", "World", "Globals_") if w not in taken)
        self.x = Expressions(names, file, self.aliases, state)
        self.blocks = Blocks(self.x, Enabling(names))
        self.returns = names.reads_returns or (returns and _returns_values(names))
        self.caps = Caps(names, file, options, self.x)
        self.has_state = bool(names.state or self.caps.shared) or self.returns

    # -- the module ---------------------------------------------------------------------------
    def module(self) -> ast.Module:
        body: list[ast.stmt] = []
        placed = not self.has_state
        seen: set[str] = set()
        for node in self.names.module.body:
            if not placed and isinstance(node, tree.Node):
                body += self._state()
                placed = True
            body += self._item(node, seen)
        if not placed:
            body += self._state()
        body += self._settings()
        module = ast.Module(body=[*self._imports(), *body], type_ignores=[])
        _locate(module, 1, 0)
        return module

    def _settings(self) -> list[ast.stmt]:
        """What the options become."""
        lines = [f"{self.aliases['max_actions']}({self.options.max_actions})"]
        self.x.needs.runtime.add("max_actions")
        if not self.options.deadlock_detection:
            lines.append(f"{self.aliases['deadlock']}(False)")
            self.x.needs.dsl.add("deadlock")
        return ast.parse("\n".join(lines)).body

    def _imports(self) -> list[ast.stmt]:
        lines = []
        needed = self.x.needs
        if "Any" in needed.dsl:
            needed.dsl.discard("Any")
            lines.append("from typing import " + self._import_name("Any"))
        for runtime in sorted(needed.runtime & {"math", "itertools"}):
            alias = self.aliases[runtime]
            lines.append(f"import {runtime}" + (f" as {alias}" if alias != runtime else ""))
        for source, words in (
            ("dsl", needed.dsl),
            ("dsl.fizz_runtime", needed.runtime - {"math", "itertools"}),
        ):
            if words:
                lines.append(
                    f"from {source} import " + ", ".join(map(self._import_name, sorted(words)))
                )
        return ast.parse("\n".join(lines)).body

    def _import_name(self, word: str) -> str:
        alias = self.aliases.get(word, word)
        return word if alias == word else f"{word} as {alias}"

    def _state(self) -> list[ast.stmt]:
        self.x.needs.dsl.add("State")
        lines = [f"class {self.state_class}({self.aliases['State']}):"]
        lines += [f"    {name}: {self._annotation('', name)}" for name in self.names.state]
        lines += [f"    {name}: int = 0" for name in self.caps.shared]
        if self.returns:
            lines.append(f"    returns: dict[str, {self._any()}] = {{}}")
        lines.append(f"{self.x.state} = {self.state_class}()")
        return ast.parse("\n".join(lines)).body

    def _any(self) -> str:
        self.x.needs.dsl.add("Any")
        return self.aliases["Any"]

    def _annotation(self, owner: str, name: str) -> str:
        text = self.names.annotation(owner, name)
        if "Bag" in text:
            self.x.needs.dsl.add("Bag")
        return text.replace("Any", self._any()).replace("Bag", self.aliases["Bag"])

    def _item(self, node: ast.stmt, seen: set[str]) -> list[ast.stmt]:
        if isinstance(node, tree.Role):
            return [self._role(node)]
        if isinstance(node, tree.Act):
            return [self._action(node, None)]
        if isinstance(node, tree.Func):
            return [self._function(node, None)]
        if isinstance(node, tree.Assertion):
            return [self._assertion(node)] if self._wanted(node.kinds) else []
        if isinstance(node, tree.Invariants):
            return [
                self._invariant(item, at + 1)
                for at, item in enumerate(node.items)
                if self._wanted(item.kinds)
            ]
        if isinstance(node, tree.InitStanza):
            return [self._init_stanza(node)]
        if isinstance(node, tree.Choice):
            raise self.x.wrong(node, "A choice outside an action: make it in the action Init.")
        if isinstance(node, ast.FunctionDef):
            return [self._plain(node)]
        if isinstance(node, tree.Node):
            raise self.x.wrong(node, "This cannot stand outside an action.")
        return self._constant(node, seen)

    def _constant(self, node: ast.stmt, seen: set[str]) -> list[ast.stmt]:
        """A top-level statement. A name given a plain value once can be overridden."""
        self.blocks.body = Body("constant")
        with self.x.within(Scope(state=False)):
            made = self.blocks.block([node], frozenset("F"), last=False)
        if not (
            isinstance(node, ast.Assign) and len(made) == 1 and isinstance(made[0], ast.Assign)
        ):
            return made
        target = made[0].targets[0]
        kind = _type_of(node.value)
        if not isinstance(target, ast.Name) or kind is None or target.id in seen:
            return made
        seen.add(target.id)
        self.x.needs.dsl.add("Constant")
        if "Any" in kind:
            kind = kind.replace("Any", self._any())
        text = f"{self.aliases['Constant']}[{kind}]"
        annotation = _unplaced(ast.parse(text, mode="eval").body)
        constant = ast.AnnAssign(target, annotation, made[0].value, simple=1)
        return [ast.copy_location(constant, node)]

    # -- functions ----------------------------------------------------------------------------
    def _scope(self, node: ast.AST, arguments: Iterable[str], role: str | None) -> Scope:
        body = getattr(node, "body", [])
        found = {*arguments, *loop_names(body)}
        if id(node) in self.names.from_init_only:
            found |= set(stored_names(body))
        outer = set(stored_names(body)) - set(self.names.state) - set(self.names.constants)
        if role is not None:
            found.add("self")
        return Scope(role, found | outer)

    def _def(
        self, node: ast.AST, name: str, kind: Kind, flow: str | None, scope: Scope,
        arguments: ast.arguments | None, decorators: list[ast.expr], result: str,
    ) -> ast.FunctionDef:  # fmt: skip
        """A function; its body is translated again with a flag where that is needed."""
        statements = body_of(node.body)  # type: ignore[attr-defined]
        returns = name if self.returns and kind == "action" else None
        self.blocks.body = Body(kind, name, scope.role, returns=returns)
        self.x.may_create = kind == "init" or id(node) in self.names.from_init_only
        with self.x.within(scope):
            try:
                body = self.blocks.function(statements, flow) if statements else []
            except NeedsFlag:
                flag = self.blocks.fresh("acted")
                self.blocks.body = Body(kind, name, scope.role, flag, returns)
                noted = self.blocks._note(False, node)
                body = [*noted, *self.blocks.function(statements, flow)]
            if kind == "action":
                body = [*self.caps.guard(scope.role, name, node), *body]
            if kind == "action" and self.returns:
                body.insert(0, self.blocks.set_returns(ast.Dict([], []), node))
        parameters_ = self._arguments(arguments, scope)
        annotation = _unplaced(ast.parse(result, mode="eval").body)
        made = ast.FunctionDef(name, parameters_, body or [ast.Pass()], decorators, annotation)
        made.type_params = []  # type: ignore[attr-defined,unused-ignore]
        return ast.copy_location(made, node)

    def _arguments(self, arguments: ast.arguments | None, scope: Scope) -> ast.arguments:
        found = ast.arguments(
            posonlyargs=[],
            args=[],
            vararg=None,
            kwonlyargs=[],
            kw_defaults=[],
            kwarg=None,
            defaults=[],
        )
        if scope.role is not None:
            found.args.append(ast.arg("self"))
        for argument in arguments.args if arguments else []:
            annotation = ast.Name(self._any(), ast.Load())
            found.args.append(ast.copy_location(ast.arg(argument.arg, annotation), argument))
        if arguments is not None:
            found.vararg, found.kwarg = arguments.vararg, arguments.kwarg
            with self.x.within(scope):
                found.defaults = [self.x(d) for d in arguments.defaults]
        return found

    def _action(self, node: tree.Act, role: str | None) -> ast.stmt:
        scope = self._scope(node, (), role)
        flow = _flow_of(node)
        if node.name == "Init":
            decorators = [] if role is not None else [self.x.imported("init", node)]
            if role is None:
                scope.locals -= set(self.names.state)
            return self._def(node, "Init", "init", flow, scope, None, decorators, "None")
        decorator = self.x.imported("action", node)
        if node.fair != "none":
            fair = ast.copy_location(ast.Constant(node.fair), node)
            decorator = self.x.call(decorator)
            decorator.keywords = [ast.copy_location(ast.keyword("fair", fair), node)]
        result = self._any() if _gives(node) else "None"
        return self._def(node, node.name, "action", flow, scope, None, [decorator], result)

    def _function(self, node: tree.Func, role: str | None) -> ast.stmt:
        scope = self._scope(node, parameters(node.args), role)
        result = self._any() if _gives(node) else "None"
        return self._def(node, node.name, "func", _flow_of(node), scope, node.args, [], result)

    def _plain(self, node: ast.FunctionDef, role: str | None = None) -> ast.stmt:
        """A Python function: outside roles it sees constants only."""
        scope = self._scope(node, parameters(node.args), None)
        scope.locals |= set(stored_names(node.body))
        scope.state = role is not None
        return self._def(node, node.name, "def", None, scope, node.args, [], self._any())

    def _init_stanza(self, node: tree.InitStanza) -> ast.stmt:
        scope = Scope()
        decorator = self.x.imported("init", node)
        return self._def(node, "Init", "init", None, scope, None, [decorator], "None")

    # -- roles --------------------------------------------------------------------------------
    def _role(self, node: tree.Role) -> ast.stmt:
        info = self.names.roles[node.name]
        body: list[ast.stmt] = [*self._fields(info)]
        for member in node.body:
            if isinstance(member, tree.Act):
                body.append(self._action(member, node.name))
            elif isinstance(member, tree.Func):
                body.append(self._function(member, node.name))
            elif isinstance(member, ast.FunctionDef):
                body.append(self._plain(member, node.name))
            elif isinstance(member, tree.Node) and not isinstance(member, tree.Assertion):
                raise self.x.wrong(member, "This cannot stand directly in a role.")
        keywords = []
        if node.symmetric:
            keywords = [ast.keyword("symmetric", ast.Constant(True))]
        base = self.x.imported("Role", node)
        made = ast.ClassDef(node.name, [base], keywords, body or [ast.Pass()], [])
        made.type_params = []  # type: ignore[attr-defined,unused-ignore]
        return ast.copy_location(made, node)

    def _fields(self, info: RoleInfo) -> list[ast.stmt]:
        lines = [
            f"{name}: {self._annotation(info.node.name, name)}"
            for name in dict.fromkeys([*info.parameters, *info.fields])
        ]
        lines += [f"{name}: int = 0" for name in self.caps.of_role(info.node.name)]
        return ast.parse("\n".join(lines)).body

    # -- properties ---------------------------------------------------------------------------
    def _assertion(self, node: tree.Assertion) -> ast.stmt:
        scope = self._scope(node, parameters(node.args), None)
        if "transition" in node.kinds:
            given = parameters(node.args) or ["before", "after"]
            scope.before, scope.after = [*given, "after"][:2]
            scope.locals -= {scope.before, scope.after}
        return self._def(
            node, node.name, "property", None, scope, None, self._kind(node.kinds, node), "bool"
        )

    def _wanted(self, kinds: tuple[str, ...]) -> bool:
        """Liveness assertions are left out where the options switch their check off."""
        return self.options.checks_liveness or "eventually" not in kinds

    def _kind(self, kinds: tuple[str, ...], at: ast.AST) -> list[ast.expr]:
        if kinds not in _KINDS:
            raise self.x.wrong(
                at,
                f"An assertion cannot be '{' '.join(kinds)}'.",
                help="There are: " + ", ".join(" ".join(k) for k in _KINDS) + ".",
            )
        return [self.x.imported(_DECORATORS[kind], at) for kind in kinds]

    def _invariant(self, node: tree.Invariant, number: int) -> ast.stmt:
        result = ast.copy_location(ast.Return(node.test), node)
        holder = ast.copy_location(tree.FlowBlock(), node)
        holder.flow, holder.body = "atomic", [result]
        decorators = self._kind(node.kinds or ("always",), node)
        return self._def(
            holder, f"invariant_{number}", "property", None, Scope(), None, decorators, "bool"
        )


_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def _unplaced(node: ast.expr) -> ast.expr:
    """A made expression without a place: it gets that of what it becomes part of."""
    for part in ast.walk(node):
        for name in _PLACE:
            if hasattr(part, name):
                delattr(part, name)
    return node


def _locate(node: ast.AST, line: int, column: int) -> None:
    """Give every node a place: its own, or that of the node around it."""
    if "lineno" in node._attributes:
        place: Any = node
        line = place.lineno = getattr(node, "lineno", line)
        column = place.col_offset = getattr(node, "col_offset", column)
        end = getattr(node, "end_lineno", None) or line, getattr(node, "end_col_offset", None) or 0
        place.end_lineno, place.end_col_offset = max(end, (line, column))
    for child in ast.iter_child_nodes(node):
        _locate(child, line, column)


def _flow_of(node: tree.Act | tree.Func) -> str | None:
    kept = body_of(node.body)
    if len(kept) == 1 and isinstance(kept[0], tree.FlowBlock):
        return None
    return node.flow


def _gives(node: ast.AST) -> bool:
    """Whether a function returns values."""
    return any(isinstance(p, ast.Return) and p.value is not None for p in ast.walk(node))


def _returns_values(names: Names) -> bool:
    return any(isinstance(act, tree.Act) and _gives(act) for act in ast.walk(names.module))


def _type_of(value: ast.expr) -> str | None:
    """The type of a literal; None for what is computed."""
    if isinstance(value, ast.Constant):
        return "Any" if value.value is None else type(value.value).__name__
    if isinstance(value, ast.List | ast.Tuple | ast.Set) and all(map(_type_of, value.elts)):
        kinds = {_type_of(e) for e in value.elts}
        inner = kinds.pop() if len(kinds) == 1 else "Any"
        if isinstance(value, ast.Tuple):
            return f"tuple[{inner}, ...]"
        return f"{'list' if isinstance(value, ast.List) else 'set'}[{inner}]"
    return None
