"""Text in, syntax tree out: the parser of .fizz files, and what it says of text it cannot read."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.exceptions import VisitError

from statewalk.dsl import caches
from statewalk.dsl.errors import Span, SpecError, source_lines
from statewalk.dsl.fizz.text.build import Build
from statewalk.dsl.fizz.text.meant import STATEMENTS, Unreadable, meant
from statewalk.dsl.fizz.text.tokens import Blocks
from statewalk.dsl.inputs import unnoticed
from statewalk.dsl.source.nodes import MAX_DEPTH, too_deep, too_nested

_GRAMMAR = Path(__file__).with_name("fizz.lark")
_FRONT = re.compile(r"^[ \t]*---.*?---[ \t]*$|^[ \t]*---.*?---", re.DOTALL | re.MULTILINE)
_HEAD = re.compile(
    r"\s*(?:[\w<>]+\s+)*(?:action|role|func|assertion)\s+\w+\s*(?:\([^)]*\))?\s*(?:#.*)?$"
)
_STATEMENT = frozenset({"RETURN", "PASS", "K_REQUIRE", "IF"})


@lru_cache(maxsize=1)
def _parser() -> Lark:
    with unnoticed():  # the tables say nothing of a spec
        tables = _tables()
        before = _time_of(tables)
        parser = Lark(
            _GRAMMAR.read_text(encoding="utf-8"),
            parser="lalr",
            lexer="basic",
            start="file",
            maybe_placeholders=True,
            propagate_positions=True,
            postlex=Blocks(),
            cache=False if tables is None else str(tables),
        )
        if tables is not None and _time_of(tables) != before:
            with suppress(OSError):
                _digest_file(tables).write_text(_digest(tables))
        return parser


def _tables() -> Path | None:
    """Return the file in which Lark keeps the parser's tables; None where there is no cache.

    Lark would believe damaged ones: these are removed.
    """
    folder = caches.folder("fizz")
    if folder is None:
        return None
    tables = folder / "fizz.lark.tables"
    with suppress(OSError):
        known = _digest_file(tables)
        if tables.exists() and not (known.exists() and known.read_text() == _digest(tables)):
            tables.unlink()
    return tables


def _time_of(tables: Path | None) -> int:
    """Return when the tables were written; 0 where there are none."""
    return tables.stat().st_mtime_ns if tables is not None and tables.exists() else 0


def _digest_file(tables: Path) -> Path:
    return tables.with_suffix(".sha256")


def _digest(tables: Path) -> str:
    return sha256(tables.read_bytes()).hexdigest()


def split_front_matter(text: str) -> tuple[str, str, int]:
    """Return the specification with the front matter blanked out, the front matter, and its
    first line.
    """
    found = _FRONT.search(text)
    if found is None:
        return text, "", 1
    block = found.group()
    blank = re.sub(r"[^\n]", "", block)
    body = block.strip().removeprefix("---").removesuffix("---")
    line = text.count("\n", 0, found.start()) + 1
    return text[: found.start()] + blank + text[found.end() :], body, line


def parse(text: str, file: str) -> ast.Module:
    """Return the tree of a specification without front matter. Raises SpecError[SW150]."""
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        said, help = "This file is not text: it holds a zero byte.", "Save it as UTF-8 text."
        raise SpecError("SW150", said, at=Span(file, line), help=help)
    try:
        parsed = _parser().parse(text.replace("\r\n", "\n").replace("\r", "\n") + "\n")
        _hold_shallow(parsed, file)
        module = Build().transform(parsed)
    except Unreadable as error:
        raise _own_error(error, file) from None
    except VisitError as error:
        if isinstance(error.orig_exc, Unreadable):
            raise _own_error(error.orig_exc, file) from None
        raise
    except UnexpectedInput as error:
        raise _syntax_error(error, text, file) from None
    assert isinstance(module, ast.Module)
    if (node := too_deep(module)) is not None:
        raise too_nested("SW150", Span.of(node, file))
    return module


def _hold_shallow(parsed: Tree[Token], file: str) -> None:
    """Raise SpecError[SW150] for a tree that is too deep to be gone through."""
    level = [parsed]
    for _ in range(2 * MAX_DEPTH):
        level = [part for node in level for part in node.children if isinstance(part, Tree)]
    for node in level:
        if not node.meta.empty:
            raise too_nested("SW150", Span(file, node.meta.line, node.meta.column))


def _own_error(error: Unreadable, file: str) -> SpecError:
    place = error.at
    if isinstance(place, Token):
        at = Span(file, place.line or 1, place.column or 1, place.end_column)
    else:
        at = Span.of(place, file)
    return SpecError("SW150", error.message, at=at, help=error.help)


def _syntax_error(error: UnexpectedInput, text: str, file: str) -> SpecError:
    lines = source_lines(text.rstrip("\r\n"))
    line = min(max(error.line, 1), len(lines)) if error.line else len(lines)
    at = Span(file, line, max(error.column, 1) if error.column else 1)
    wanted = meant(lines, line, at.column)
    if wanted is not None:
        line -= wanted.above
        column = lines[line - 1].find(wanted.word) + 1
        at = Span(file, line, column, column + len(wanted.word))
        return SpecError(wanted.code, wanted.message, at=at, help=wanted.help)
    if isinstance(error, UnexpectedCharacters):
        character = lines[line - 1][at.column - 1 : at.column]
        message, help = _of_character(character)
        return SpecError("SW150", message, at=at, help=help)
    if isinstance(error, UnexpectedToken):
        token: Token = error.token
        if token.type not in ("$END", "_NEWLINE", "_DEDENT", "_INDENT"):
            at = Span(file, line, at.column, token.end_column if token.end_line == line else None)
        message, help = _of_token(token, set(error.accepts or error.expected), lines[line - 1])
        return SpecError("SW150", message, at=at, help=help)
    said = "The file ends in the middle of a statement."
    return SpecError("SW150", said, at=at, help=_COMPLETE)


_COMPLETE = "Complete it. A statement continues on the next line inside brackets only."


def _of_character(character: str) -> tuple[str, str]:
    if character in "\"'":
        return "This string does not end on its line.", f"Close it with {character}"
    if character == ";":
        return "A line can hold only one statement.", "Write the next statement on a new line."
    return f"The character {character!r} is unexpected here.", "Remove it, or quote it in a string."


def _of_token(token: Token, expected: set[str], line: str) -> tuple[str, str]:
    shown = str(token).strip() or str(token)
    start = line.strip()
    if start.startswith(("<<<<<<<", "=======", ">>>>>>>")):
        help = "Keep one of the two versions and delete the marks."
        return "This line is a mark of an unresolved merge.", help
    if _HEAD.match(line):
        return "The line ends before its colon.", "A block begins with ':' and a new line."
    if token.type in ("_NEWLINE", "$END"):
        if "COLON" in expected and _STATEMENT.isdisjoint(expected):
            return "The line ends before its colon.", "A block begins with ':' and a new line."
        return "The line ends in the middle of a statement.", _COMPLETE
    if token.type == "_INDENT":
        return "This line is indented, but no block begins here.", "Indent it like the line above."
    if "_INDENT" in expected:
        return (
            "A block is missing here.",
            "Indent the statements of the block. Write an empty block as: pass",
        )
    if token.type == "STRING" and re.search(r"\b[fF][\"']", line):
        return "There are no f-strings.", "Write 'a' + str(b), or 'a%s' % b."
    if shown in ("elif", "else"):
        return STATEMENTS[shown]
    if token.type == "EQUAL":
        return "A single '=' assigns; it does not compare.", "A comparison is written: ==."
    reserved = re.fullmatch(r"[a-z]+", shown) is not None and token.type != "NAME"
    if reserved and "NAME" in expected and not token.type.startswith("K_"):
        return f"'{shown}' is a reserved word and cannot be a name.", f"Use another name: {shown}_"
    return f"'{shown}' is unexpected here.", _wanted(expected)


_SAID = {
    "COLON": "':'", "EQUAL": "'='", "RPAR": "')'", "RSQB": "']'", "RBRACE": "'}'", "IN": "'in'",
    "_NEWLINE": "the end of the line", "NAME": "a name", "COMMA": "','", "LPAR": "'('",
}  # fmt: skip


def _wanted(expected: set[str]) -> str:
    said = sorted(text for kind, text in _SAID.items() if kind in expected)
    return f"Expected {' or '.join(said)}." if 0 < len(said) <= len(_SAID) // 2 else ""
