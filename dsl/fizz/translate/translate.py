"""From the tree of a .fizz specification to a module of the embedded language.

Every node keeps its line and column of the .fizz file, so that errors of the one lowering behind
both languages point there.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable
from typing import Any

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.step_ends import Threads
from statewalk.dsl.errors import SpecError
from statewalk.dsl.fizz.names import (
    Names,
    RoleInfo,
    body_of,
    called_at_once,
    collect,
    gives,
    is_one_block,
    loop_names,
    parameters,
    stored_names,
)
from statewalk.dsl.fizz.rules.check import check_names
from statewalk.dsl.fizz.text.build import no_arguments
from statewalk.dsl.fizz.text.options import Options
from statewalk.dsl.fizz.translate.blocks import Blocks, Body, FizzPieces, Kind, NeedsFlag
from statewalk.dsl.fizz.translate.exprs import AT_ONCE, Scope
from statewalk.dsl.fizz.translate.functions import Functions, room_of
from statewalk.dsl.fizz.translate.header import Header
from statewalk.dsl.source.nodes import parts_of, walk

_KINDS = (
    ("always",), ("exists",), ("transition",), ("always", "eventually"), ("eventually", "always"),
    ("eventually",),
)  # fmt: skip


def translate(
    module: ast.Module, file: str, options: Options
) -> tuple[ast.Module, tuple[SpecError, ...]]:
    """Return the translated module, and warnings. Raises SpecError."""
    names = collect(module)
    check_names(names, file)
    translation = Translation(names, file, options)
    return translation.module(), tuple(translation.caps.warnings)


class Translation(Header):
    """One specification as a module of the embedded language."""

    def __init__(self, names: Names, file: str, options: Options) -> None:
        super().__init__(names, file, options)
        functions = Functions(names)
        self.threads = Threads(functions)
        self.threads.analyse(self.uncalled())
        following = Threads(functions)
        following.facts = copy.deepcopy(self.threads.facts)
        self.blocks = Blocks(self.x, functions, following)
        self.threaded = bool(self.threads.facts.flows)
        self.threads.pieces = FizzPieces(self.blocks, self.returns)
        facts = self.threads.facts
        self.twins = called_at_once(names) & (facts.flows | facts.noting)
        self._reached = self.threads.reached()
        self.x.twins = {f.name for f in self._functions() if id(f) in self.twins}

    def uncalled(self) -> list[tree.Func]:
        """Return functions that have to fit although no action reaches them; here none is
        translated.
        """
        return []

    def _functions(self) -> list[tree.Func]:
        return [n for n in walk(self.names.module) if isinstance(n, tree.Func)]

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

    def _item(self, node: ast.stmt, seen: set[str]) -> list[ast.stmt]:
        if isinstance(node, tree.Role):
            return [self._role(node)]
        if isinstance(node, tree.Act):
            return [self._action(node, None)]
        if isinstance(node, tree.Func):
            return self._function(node, None)
        if isinstance(node, tree.Assertion):
            return [self._assertion(node)]
        if isinstance(node, tree.Invariants):
            return [self._invariant(item) for item in node.items]
        if isinstance(node, tree.InitStanza):
            return [self._init_stanza(node)]
        if isinstance(node, tree.Choice):
            raise self.x.wrong(node, "A choice outside an action: make it in the action Init.")
        if isinstance(node, ast.FunctionDef):
            return [self._plain(node)]
        if isinstance(node, tree.Node):
            raise self.x.wrong(
                node, "This is not allowed outside an action.", "Move it into an action."
            )
        return self._constant(node, seen)

    def _constant(self, node: ast.stmt, seen: set[str]) -> list[ast.stmt]:
        """Return a top-level statement. A name given a plain value once can be overridden."""
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
        annotation = _unplaced(ast.parse(self.x.type(f"Constant[{kind}]"), mode="eval").body)
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
        """Return a function; its body is translated again with a flag where that is needed."""
        statements = body_of(node.body)  # type: ignore[attr-defined]
        returns = name if self.returns and kind == "action" else None
        act = node if kind == "action" and isinstance(node, tree.Act) else None
        self.blocks.body = Body(kind, name, scope.role, None, returns, act)
        self.x.may_create = kind in ("init", "action", "func")
        twin = isinstance(node, tree.Func) and name != node.name
        self.x.at_once = kind in ("init", "property", "def") or twin
        with self.x.within(scope):
            try:
                if self._suspended(node, kind):
                    body = self.threads.function(node)  # type: ignore[arg-type]
                else:
                    body = self.blocks.function(statements, flow) if statements else []
            except NeedsFlag:
                flag = self.blocks.fresh("acted")
                self.blocks.body = Body(kind, name, scope.role, flag, returns, act)
                noted = self.blocks._note(False, node)
                body = [*noted, *self.blocks.function(statements, flow)]
            if kind == "init" and scope.role is not None:
                body += self._kept(self.names.roles[scope.role], node)
            if kind == "action":
                flying = id(node) in self.threads.facts.flows
                body = [*self.caps.guard(scope.role, name, node, suspended=flying), *body]
            if kind == "action" and self.returns:
                body.insert(0, self.blocks.set_returns(ast.Dict([], []), node))
        parameters_ = self._arguments(arguments, scope)
        annotation = _unplaced(ast.parse(self.x.type(result), mode="eval").body)
        made = ast.FunctionDef(name, parameters_, body or [ast.Pass()], decorators, annotation)
        made.type_params = []  # type: ignore[attr-defined,unused-ignore]
        return ast.copy_location(made, node)

    def _suspended(self, node: ast.AST, kind: Kind) -> bool:
        """Return whether a function is translated with the places where its steps end."""
        if kind == "action":
            return id(node) in self.threads.facts.flows | self.threads.facts.noting
        return kind == "func" and not self.x.at_once and id(node) in self._reached

    def _arguments(self, arguments: ast.arguments | None, scope: Scope) -> ast.arguments:
        found = no_arguments()
        if scope.role is not None:
            found.args.append(ast.arg("self"))
        for argument in arguments.args if arguments else []:
            annotation = ast.Name(self.x.word("Any"), ast.Load())
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
        options: dict[str, Any] = {"fair": node.fair} if node.fair != "none" else {}
        suspended = id(node) in self.threads.facts.flows
        if suspended:
            runs = self.caps.runs_of_each(role, node.name, self.at_most())
            options |= {"concurrent": runs, "resume": "strong"}
            for key in (
                [node.name] if role is None else [f"{role}.{node.name}", f"{role}#.{node.name}"]
            ):
                given = self.options.action_options.get(key)
                if given is not None and given.crash_on_yield is False:
                    options["crash"] = False
        decorator = self.x.imported("action", node)
        if options:
            decorator = self.x.call(decorator)
            decorator.keywords = [
                ast.copy_location(ast.keyword(n, ast.copy_location(ast.Constant(v), node)), node)
                for n, v in options.items()
            ]
        result = self._result(node, suspended)
        return self._def(node, node.name, "action", flow, scope, None, [decorator], result)

    def _result(self, node: ast.AST, suspended: bool) -> str:
        result = "Any" if gives(node) else "None"
        return f"Flow[{result}]" if suspended else result

    def _function(self, node: tree.Func, role: str | None) -> list[ast.stmt]:
        """Return a function; one that gives way also as one that does not, where that is called."""
        scope = self._scope(node, parameters(node.args), role)
        result = self._result(node, id(node) in self.threads.facts.flows)
        made: list[ast.stmt] = [
            self._def(node, node.name, "func", _flow_of(node), scope, node.args, [], result)
        ]
        if id(node) in self.twins:
            scope = self._scope(node, parameters(node.args), role)
            result = self._result(node, False)
            name = self.names.make(node.name, AT_ONCE)
            made.append(self._def(node, name, "func", _flow_of(node), scope, node.args, [], result))
        return made

    def _plain(self, node: ast.FunctionDef, role: str | None = None) -> ast.stmt:
        """Return a Python function: outside roles it sees constants only."""
        scope = self._scope(node, parameters(node.args), None)
        scope.locals |= set(stored_names(node.body))
        scope.state = role is not None
        return self._def(node, node.name, "def", None, scope, node.args, [], "Any")

    def _init_stanza(self, node: tree.InitStanza) -> ast.stmt:
        scope = Scope()
        decorator = self.x.imported("init", node)
        return self._def(node, "Init", "init", None, scope, None, [decorator], "None")

    # -- roles --------------------------------------------------------------------------------
    def _role(self, node: tree.Role) -> ast.stmt:
        info = self.names.roles[node.name]
        body = self._fields(info)
        for member in node.body:
            if isinstance(member, tree.Act):
                body.append(self._action(member, node.name))
            elif isinstance(member, tree.Func):
                body += self._function(member, node.name)
            elif isinstance(member, ast.FunctionDef):
                body.append(self._plain(member, node.name))
            elif isinstance(member, tree.Node) and not isinstance(member, tree.Assertion):
                raise self.x.wrong(
                    member,
                    "This is not allowed directly in a role.",
                    "Move it into an action of the role.",
                )
        body += self._crash(info)
        keywords = [ast.keyword("symmetric", ast.Constant(True))] if node.symmetric else []
        keywords += room_of(self.x, node)
        base = self.x.imported("Role", node)
        made = ast.ClassDef(node.name, [base], keywords, body or [ast.Pass()], [])
        made.type_params = []  # type: ignore[attr-defined,unused-ignore]
        return ast.copy_location(made, node)

    def _fields(self, info: RoleInfo) -> list[ast.stmt]:
        lines = [
            f"{name}: {self._annotation(info.node.name, name)}"
            for name in dict.fromkeys([*info.parameters, *info.fields])
        ]
        counters = self.caps.counters(info.node.name)
        lines += [f"{name}: {self.x.type('int')} = 0" for name in counters]
        if self.crashing(info):
            kept = [f"{self.start(n)}: {self.x.word('Any')}" for n in info.ephemeral]
            lines += kept
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

    def _kind(self, kinds: tuple[str, ...], at: ast.AST) -> list[ast.expr]:
        if kinds not in _KINDS:
            help = "There are: " + ", ".join(" ".join(k) for k in _KINDS) + "."
            raise self.x.wrong(at, f"An assertion cannot be '{' '.join(kinds)}'.", help=help)
        words = ["on_step" if kind == "transition" else kind for kind in kinds]
        return [self.x.imported(word, at) for word in words]

    def _invariant(self, node: tree.Invariant) -> ast.stmt:
        known = [n for n in walk(self.names.module) if isinstance(n, tree.Invariant)]
        number = next(i for i, n in enumerate(known, 1) if n is node)
        result = ast.copy_location(ast.Return(node.test), node)
        holder = ast.copy_location(tree.FlowBlock(), node)
        holder.flow, holder.body = "atomic", [result]
        decorators = self._kind(node.kinds or ("always",), node)
        name = self.names.make("invariant", str(number))
        return self._def(holder, name, "property", None, Scope(), None, decorators, "bool")


_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def _unplaced(node: ast.expr) -> ast.expr:
    """Return a made expression without a place: it gets that of what it becomes part of."""
    for part in walk(node):
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
    for child in parts_of(node):
        _locate(child, line, column)


def _flow_of(node: tree.Act | tree.Func) -> str | None:
    return None if is_one_block(node.body) else node.flow


def _type_of(value: ast.expr) -> str | None:
    """Return the type of a literal; None for what is computed."""
    if isinstance(value, ast.Constant):
        return "Any" if value.value is None else type(value.value).__name__
    if isinstance(value, ast.List | ast.Tuple | ast.Set) and all(map(_type_of, value.elts)):
        kinds = {_type_of(e) for e in value.elts}
        inner = kinds.pop() if len(kinds) == 1 else "Any"
        if isinstance(value, ast.Tuple):
            return f"tuple[{inner}, ...]"
        return f"{'list' if isinstance(value, ast.List) else 'set'}[{inner}]"
    return None
