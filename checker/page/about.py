"""Sentences of a spec that a reader of its page needs: its subject, its constants, its actions."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.shortening import text_of
from statewalk.checker.verdict.spec_text import function_at, line_of, parsed
from statewalk.dsl.source.networks import handler_of

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import TraceStep
    from statewalk.dsl.model import Model


_SENTENCE = 160  # letters of an expression that stands for one


def about(model: Model | None) -> dict[str, Any]:
    """Return the first paragraph of a spec, and the constants that are not at their defaults, each
    with a sentence if it is a mutant.
    """
    if model is None:
        return {}
    defaults = dict(_defaults(model.sources))
    given = [
        [name, text_of(value), model.mutants.get(value, "") if name == "MUTANT" else ""]
        for name, value in model.constants.items()
        if name not in defaults or repr(defaults[name]) != repr(value)
    ]
    tree = parsed(model.path)
    return {"about": _first(ast.get_docstring(tree)) if tree else "", "given": given}


def _defaults(files: Iterable[str]) -> Iterable[tuple[str, Any]]:
    """Return the defaults of constants that are literals, as their declarations give them."""
    yield "MUTANT", "none"
    for tree in filter(None, map(parsed, files)):
        for node in ast.walk(tree):
            match node:
                case ast.AnnAssign(
                    target=ast.Name(id=name),
                    annotation=ast.Subscript(value=ast.Name(id="Constant")),
                    value=ast.expr() as value,
                ):
                    try:
                        yield name, ast.literal_eval(value)
                    except (ValueError, TypeError):
                        continue


def _first(doc: str | None) -> str:
    return " ".join((doc or "").split("\n\n")[0].split())


def docs_of(steps: Iterable[TraceStep]) -> dict[tuple[str, int], str]:
    """Return by place the first paragraph of the docstrings of the actions of steps."""
    found = {}
    for file, line in dict.fromkeys((step.file, step.line) for step in steps):
        function = _handled(function_at(file, line), file) if file else None
        if doc := _first(ast.get_docstring(function)) if function else "":
            found[file, line] = doc
    return found


def author_line(file: str, line: int) -> int:
    """Return the line of the function that an author wrote for an action: of a message, of its
    handler.
    """
    words = line_of(file, line).partition("(")[0].split()
    if words[:1] != ["def"] or not handler_of(words[-1]):
        return line
    function = _handled(function_at(file, line), file)
    return first_of(function) if function is not None and function.name != words[-1] else line


def first_of(function: ast.FunctionDef) -> int:
    """Return the line on which a function begins: that of its first decorator."""
    return min([function.lineno, *(d.lineno for d in function.decorator_list)])


def _handled(function: ast.FunctionDef | None, file: str) -> ast.FunctionDef | None:
    """Return the handler of a message in the place of the function that receives it."""
    tree, name = parsed(file), handler_of(function.name) if function else ""
    if function is None or tree is None or not name:
        return function
    methods = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    text = ast.unparse(function)  # it names the type of what it takes
    types = (ast.unparse(m.args.args[-1].annotation or ast.Constant("")) for m in methods)
    only = methods[0] if len(methods) == 1 else function  # it takes whatever its role receives
    return next((m for m, of in zip(methods, types, strict=True) if f", {of})" in text), only)


def sentence(model: Model | None, name: str) -> str:
    """Return what a property without a sentence of its own demands: the expression that it
    returns, or the spec that it refines.
    """
    prop = next((p for p in model.properties if p.name == name), None) if model else None
    if prop is None or prop.doc:
        return ""
    if prop.refined is not None:
        other = PurePath(prop.refined.model.path).stem
        return f"Each step is one that {other} allows, or changes nothing that {other} shows."
    if prop.source is None or not hasattr(prop.source.function, "node"):
        return ""
    function = prop.source.function
    match function.node.body:
        case [ast.Return(value=ast.expr() as value)]:
            text = ast.get_source_segment(function.module.source.text, value) or ""
            return said if len(said := " ".join(text.split())) <= _SENTENCE else ""
    return ""
