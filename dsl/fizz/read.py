"""The .fizz front end: Fizzbee's files, turned into the embedded language. Imported when needed."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from statewalk.dsl.errors import Span, SpecError
from statewalk.dsl.fizz.text.beside import with_files_beside
from statewalk.dsl.fizz.text.options import Options, read_options
from statewalk.dsl.fizz.text.parse import parse, split_front_matter
from statewalk.dsl.fizz.translate.translate import translate


@dataclass(frozen=True)
class FizzSpec:
    """A .fizz file as a module of the embedded language, with the options it carries."""

    tree: ast.Module
    options: Options
    warnings: tuple[SpecError, ...] = ()


def parsed(path: str, text: str) -> ast.Module:
    """Return the syntax tree of a specification, see `dsl.blocks.tree`, with what it takes from
    files beside it.
    """
    return with_files_beside(parse(split_front_matter(text)[0], path), path)


def options_in(path: str, text: str) -> Options:
    """Return the options of a specification with this text."""
    _, front, line = split_front_matter(text)
    return read_options(path, front, line)


def read_fizz(path: str, text: str) -> FizzSpec:
    """Parse and translate a specification. Raises SpecError (SW102, SW150 to SW153)."""
    options = options_in(path, text)
    tree = parsed(path, text)
    try:
        module, warnings = translate(tree, path, options)
        compile(module, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        at = Span(path, error.lineno or 1, error.offset or 1)
        raise SpecError("SW153", f"The text is inconsistent: {error.msg}.", at=at) from None
    return FizzSpec(module, options, warnings)
