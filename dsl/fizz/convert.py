"""``statewalk convert``: a .fizz specification as text in the embedded language.

Blocks (``with parallel():``) take the place of the ends of steps. Whether that means the same is
looked up: the blocks are expanded again, and the result must be, statement by statement, the
translation with ``yield``. A function for which it is not, and all that it calls or that call it,
keep the ``yield``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

from statewalk.dsl.blocks import tree
from statewalk.dsl.blocks.expand import expand_blocks
from statewalk.dsl.blocks.pieces import RUNTIME, STEPS
from statewalk.dsl.blocks.step_ends import Threads
from statewalk.dsl.errors import Mistakes, RunError, SpecError, source_lines
from statewalk.dsl.fizz.names import called_at_once, collect
from statewalk.dsl.fizz.read import parsed, read_fizz
from statewalk.dsl.fizz.text.options import Options
from statewalk.dsl.fizz.text.parse import split_front_matter
from statewalk.dsl.fizz.translate.translate import Translation
from statewalk.dsl.mutants import run_spec
from statewalk.dsl.source.nodes import Transformer, copied, walk
from statewalk.dsl.source.texts import parse_source, read_text
from statewalk.dsl.source.tree import read_tree

Statements = list[ast.stmt]
_NOTES = frozenset({"acts", "over", "waits", "chose", "settles", "chooses", "ends"})
_QUESTIONS = frozenset({"acted", "took", "done", "gives_way", "fell"})
Places = frozenset[tuple[int, int]]  # where functions are, which tells them apart


def with_blocks(parsed: Callable[[], ast.Module], file: str, options: Options) -> ast.Module:
    """Return the module with blocks where possible; ``parsed`` gives a new tree each time."""
    plain = _WithBlocks(parsed(), file, options, frozenset())
    module = plain.module()
    wanted = plain.threaded_functions()
    while wanted:
        made = _WithBlocks(parsed(), file, options, wanted)
        result = made.module()
        wrong = _differing(made, result, module)
        if not wrong:
            return result
        if not wrong & wanted:  # the blocks change what has none
            break
        wanted -= made.together_with(wrong)
    return module


class _WithBlocks(Translation):
    """Writes the ``wanted`` functions with blocks.

    A function that nothing calls is written too, and as a run of its own where it calls others that
    give way: Python's text is looked at whole.
    """

    def __init__(self, module: ast.Module, file: str, options: Options, wanted: Places) -> None:
        super().__init__(collect(module), file, options)
        self.wanted = wanted
        self.threads = _Writer(self, self.threads)

    def module(self) -> ast.Module:
        return _Signs().visit(super().module())  # type: ignore[no-any-return]

    def nodes(self) -> Iterator[tree.Act | tree.Func]:
        """Yield the actions and functions."""
        for node in walk(self.names.module):
            if isinstance(node, tree.Act | tree.Func):
                yield node

    def threaded_functions(self) -> Places:
        """Return the functions that take part in suspended runs."""
        reached = self.threads.reached() | self.threads.facts.flows
        twins = self.twins
        return frozenset(_place(n) for n in self.nodes() if id(n) in reached - twins)

    def together_with(self, wrong: Places) -> Places:
        """Return the functions connected to the given ones by calls, in either direction."""
        found: set[tuple[int, int]] = set(wrong)
        pairs = [(_place(n), _place(f)) for n in self.nodes() for f in self._called(n)]
        size = 0
        while size != len(found):
            size = len(found)
            for one, other in pairs:
                if {one, other} & found:
                    found |= {one, other}
        return frozenset(found)

    def _called(self, node: ast.AST) -> Iterator[tree.Func]:
        for part in walk(node):
            if isinstance(part, ast.Call):
                yield from self.threads.program.callee(part)

    def uncalled(self) -> list[tree.Func]:
        at_once = called_at_once(self.names)
        return [f for f in self._functions() if id(f) not in at_once]

    def written(self, node: ast.AST) -> bool:
        """Return whether a function is written with blocks."""
        return _place(node) in self.wanted

    def _result(self, node: ast.AST, suspended: bool) -> str:
        return super()._result(node, suspended and not self.written(node))

    def _action(self, node: tree.Act, role: str | None) -> ast.stmt:
        made = super()._action(node, role)
        flow, _ = tree.flow_and_body(node)
        if self.written(node) and flow != "atomic":
            assert isinstance(made, ast.FunctionDef)
            decorator = made.decorator_list[0]
            if not isinstance(decorator, ast.Call):
                decorator = made.decorator_list[0] = self.x.call(decorator)
            value = ast.copy_location(ast.Constant(flow), node)
            option = ast.copy_location(ast.keyword("flow", value), node)
            decorator.keywords.insert(0, option)
        return made


class _Signs(Transformer):
    """Writes numbers below zero as a sign and a number, so that ``(-2) ** n`` is right."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) in (int, float) and str(node.value).startswith("-"):
            number = ast.copy_location(ast.Constant(-node.value), node)  # type: ignore[operator]
            return ast.copy_location(ast.UnaryOp(ast.USub(), number), node)
        return node


class _Writer(Threads):
    """Does as other threads do, but for the functions that are written with blocks."""

    def __init__(self, translation: _WithBlocks, found: Threads) -> None:
        super().__init__(found.program)
        self.translation = translation
        self.facts, self.pieces = found.facts, found.pieces

    def function(self, node: tree.Act | tree.Func) -> Statements:
        if not self.translation.written(node) or self.pieces is None:
            return super().function(node)
        flow, kept = tree.flow_and_body(node)
        body = self._block(kept)
        if isinstance(node, tree.Func) and flow != "atomic":
            body = [self._with(flow, body, node)]
        return body or [ast.copy_location(ast.Pass(), node)]

    def _with(self, flow: str, body: Statements, at: ast.AST) -> ast.stmt:
        head = self.translation.x.call(self.translation.x.imported(flow, at))
        made = ast.With([ast.withitem(ast.copy_location(head, at), None)], body)
        return ast.copy_location(made, at)

    def _block(self, statements: Statements) -> Statements:
        return [made for s in statements if not tree.is_text(s) for made in self._written(s)]

    def _written(self, node: ast.stmt) -> Statements:
        assert self.pieces is not None
        made: ast.stmt
        if isinstance(node, tree.FlowBlock):
            return [self._with(node.flow, self._block(node.body), node)]
        if isinstance(node, tree.Labelled):
            return self._block(node.body)
        if isinstance(node, tree.ChoiceBlock):
            return self.pieces.choice_block(node, self._block(node.body), [])
        if isinstance(node, ast.If):
            made = ast.If(self._expression(node.test), self._block(node.body), [])
            made.orelse = self._block(node.orelse)
        elif isinstance(node, ast.For):
            target, elements = self.pieces.loop_head(node)
            made = ast.For(target, elements, self._block(node.body), [], None)
        elif isinstance(node, ast.While):
            made = ast.While(self._expression(node.test), self._block(node.body), [])
        elif isinstance(node, ast.Break | ast.Continue):
            return [node]
        else:
            return self.pieces.plain(node, False)
        flow = getattr(node, "flow", None)
        made = ast.copy_location(made, node)
        return [self._with(flow, [made], node)] if flow is not None else [made]


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


# -- whether it means the same -----------------------------------------------------------------
def _differing(made: _WithBlocks, module: ast.Module, plain: ast.Module) -> Places:
    """Return the functions of a module with blocks that do not become what they are without."""
    path = made.file + ".py"
    expected = {name: (node, at) for name, node, at in _functions(plain)}
    spec = read_tree(run_spec(parse_source(path, ast.unparse(module)), {}))
    mistakes = Mistakes()
    try:
        expand_blocks(spec, mistakes, first=0)
    except SpecError:  # a place where a block cannot be
        return frozenset(at for _, at in expected.values())
    broken = {e.at.line for e in mistakes.found if e.at is not None}
    asking = {at for node, at in expected.values() if _asks(node)}
    asking |= {expected[f.qualified][1] for f in spec.functions if _asks(f.node)}
    wrong = set()
    for function in spec.functions:
        node, at = expected[function.qualified]
        lines = range(function.node.lineno, (function.node.end_lineno or 0) + 1)
        # notes that nobody in the same step asks for are none
        noted = bool(made.together_with(frozenset([at])) & asking)
        same = _normal(function.node.body, noted) == _normal(node.body, noted)
        if not same or broken & set(lines):
            wrong.add(at)
    return frozenset(wrong)


def _asks(node: ast.FunctionDef) -> bool:
    """Return whether a function asks for the notes of a step."""
    return any(isinstance(n, ast.Call) and _called(n) in _QUESTIONS for n in walk(node))


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", "") or getattr(node.func, "attr", "")


def _functions(module: ast.Module) -> Iterator[tuple[str, ast.FunctionDef, tuple[int, int]]]:
    """(qualified name, definition, place in the .fizz text)"""
    for node in module.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for member in members:
            if isinstance(member, ast.FunctionDef):
                yield owner + member.name, member, _place(member)


def _normal(body: Statements, noted: bool) -> str:
    """Return statements as text, whatever the translation calls its own locals; notes where
    they count.
    """
    alike = _Alike(noted)
    made = (alike.visit(copied(statement)) for statement in body)
    return "\n".join(ast.dump(node) for node in made if node is not None)


class _Alike(Transformer):
    """Names made locals by their order, and functions of the runtime by their own names."""

    def __init__(self, noted: bool) -> None:
        self.made: dict[str, str] = {}
        self.noted = noted

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if not self.noted and isinstance(node.value, ast.Call) and _called(node.value) in _NOTES:
            return None
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        word = node.id.lstrip("@").rstrip("_0123456789")
        if node.id[:1] == "@" or word in ("left", "which", "branch", "at", "gone"):
            node.id = self.made.setdefault(node.id, f"{word} {len(self.made)}")
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in (RUNTIME, STEPS):
            return ast.Name(node.attr, node.ctx)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        inner = node.args[0] if len(node.args) == 1 else None
        if _is_list(node) and isinstance(inner, ast.Call) and _is_list(inner):
            return inner
        return node


def _is_list(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "list"


WIDTH = 100
_HEADER = '''"""{title}

Converted from {file}. It means the same: equal states, properties and fairness.
Worth doing by hand: give the fields types, make records classes (class X(Record)), take the
parameters of actions from roles.
"""
'''


def convert(path: str) -> str:
    """Return the text of a Python module that means what a .fizz file means.

    Raises:  RunError[SW302] for a file that cannot be read, RunError[SW150] for one of Python;
    SpecError for mistakes in it.
    """
    if Path(path).suffix == ".py":
        said = f"{path} is in the embedded language already."
        raise RunError("SW150", said, help="convert takes a .fizz file.")
    text = read_text(path)
    spec = read_fizz(path, text)
    module = with_blocks(lambda: parsed(path, text), path, spec.options)
    title = _title(split_front_matter(text)[0]) or f"The specification {Path(path).stem}."
    header = _HEADER.format(title=_quoted(title), file=_quoted(Path(path).name))
    return header + "\n" + _layout(module, text)


def _quoted(text: str) -> str:
    """Return text that stays inside the quotes around it."""
    return text.replace("\\", "\\\\").replace('"""', "'''")


def _title(text: str) -> str:
    """Return the first line of comment, if the file begins with one."""
    for line in source_lines(text):
        stripped = line.strip()
        if stripped.startswith("#"):
            found = stripped.strip("#- \t")
            if found:
                return found if found.endswith(".") else found + "."
        elif stripped:
            return ""
    return ""


def _layout(module: ast.Module, text: str) -> str:
    """Return the module's text: blank lines around definitions, comments above what they
    precede.
    """
    comments = _comments(text)
    parts: list[str] = []
    previous: ast.stmt | None = None
    for node in module.body:
        imports = isinstance(node, ast.Import | ast.ImportFrom)
        note = "" if imports else comments.pop(node.lineno, "")
        parts.append(_gap(previous, node, note) + note + _wrapped(ast.unparse(node)))
        previous = node
    return "".join(parts) + "\n"


def _gap(previous: ast.stmt | None, node: ast.stmt, note: str) -> str:
    """Return the blank lines between two statements of a module."""
    if previous is None:
        return ""
    if any(isinstance(n, ast.ClassDef | ast.FunctionDef) for n in (previous, node)):
        return "\n\n\n"
    imports = [isinstance(n, ast.Import | ast.ImportFrom) for n in (previous, node)]
    standard = isinstance(previous, ast.ImportFrom) and previous.module == "typing"
    return "\n\n" if imports[0] != imports[1] or (all(imports) and standard) or note else "\n"


def _comments(text: str) -> dict[int, str]:
    """Return the comments directly above each line of code, by line."""
    found: dict[int, str] = {}
    above: list[str] = []
    for number, line in enumerate(source_lines(text), 1):
        stripped = line.strip()
        if stripped.startswith("#") and line.startswith("#"):
            above.append(stripped)
        elif stripped and above:
            found[number] = "\n".join(above) + "\n"
            above = []
        else:
            above = []
    return found


def _wrapped(text: str) -> str:
    """Return text with long imports broken."""
    lines = []
    for line in text.split("\n"):
        if line.startswith("from ") and len(line) > WIDTH:
            head, _, names = line.partition(" import ")
            listed = "".join(f"    {name},\n" for name in names.split(", "))
            lines.append(f"{head} import (\n{listed})")
        else:
            lines.append(line)
    return "\n".join(lines)
