"""Write the generated parts of this folder's pages anew: python docs/reference/generate.py

They follow the line ``<!-- generated: NAME -->`` up to the end of the page:

- ``commands``: each command with its arguments, options and exit codes, from its parser;
- ``api``: what scripts import from `statewalk`, from signatures and docstrings;
- ``words``: what specs import from `statewalk`, in the same way, with the first paragraph of each
  docstring: language.md has the rest.

A test fails when a page is stale.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import inspect
import itertools
import re
import typing
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import statewalk
from statewalk.checker.cli import make_parser
from statewalk.checker.commands import GROUPS
from statewalk.checker.contract.options import CheckOptions

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
PAGES = {"commands": "command-line.md", "api": "python.md", "words": "words.md"}
_MARK = "<!-- generated: {} -->\n"
Rows = dict[tuple[str, str], str]  # arguments with their help: the first command that has them
_BARE = re.compile(r"\(function: |AbstractContextManager")  # decorators, blocks: the text says all
_ELSEWHERE = {"diary": "{}: see [the diary](../diary/README.md)."}
_ALIASES = {"Auxiliary", "Constant", "Ephemeral", "Fairness", "Flow"}


def fresh(kind: str, text: str) -> str:
    """Return the text of a page with its generated part as it should be."""
    mark = _MARK.format(kind)
    head, found, _ = text.partition(mark)
    if not found:
        raise ValueError(f"{PAGES[kind]} has no line {mark}")
    return f"{head}{mark}\n" + "\n".join(_PARTS[kind]()).rstrip() + "\n"


def commands() -> Iterator[str]:
    """Yield the lines of all commands, group by group."""
    choices = _choices(make_parser())
    known: Rows = {}
    for group, names in GROUPS.items():
        yield f"## {group.capitalize()}\n"
        for name in names:
            yield from _command(name, choices[name], known)


def _command(name: str, parser: argparse.ArgumentParser, known: Rows) -> Iterator[str]:
    inner = _choices(parser)
    yield f"### {name}\n"
    if parser.description:
        yield f"{_cell(parser.description)}\n"
    actions = [a for a in parser._actions if a.help != argparse.SUPPRESS and a.dest != "help"]
    actions = [a for a in actions if not isinstance(a, argparse._SubParsersAction)]
    if actions:
        yield from _arguments(name, [(_called(a), _cell(_help(parser, a))) for a in actions], known)
        yield ""
    if parser.epilog and "\n  " not in parser.epilog:  # lists of values: `--help` has them
        yield f"{_cell(parser.epilog)}\n"
    if name in _ELSEWHERE:
        listed = ", ".join(f"`{one}`" for one in inner)
        yield f"Its commands are {_ELSEWHERE[name].format(listed)}\n"
        return
    for one, of in inner.items():
        yield from _command(f"{name} {one}", of, known)


def _arguments(name: str, rows: list[tuple[str, str]], known: Rows) -> Iterator[str]:
    """Yield an item for each argument; those that an earlier command has share one item."""
    first = {row: known.setdefault(row, name) for row in rows}
    yield from (f"- {called}: {text}" for called, text in rows if first[called, text] == name)
    for n in dict.fromkeys(first.values()):
        if n != name:
            named = ", ".join(_option(called) for called, text in rows if first[called, text] == n)
            yield f"- {named}: as for [{n}](#{n.replace(' ', '-')})"


def _option(called: str) -> str:
    """Return an option without its value: ``--set`` of ``--set NAME=VALUE``."""
    return re.sub(r"^`(--[a-z-]+) [^`]*`", r"`\1`", called)


def _choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _called(action: argparse.Action) -> str:
    shown = action.metavar or ("" if action.nargs == 0 else action.dest.upper())
    if action.choices and not action.metavar:
        shown = "|".join(map(str, action.choices))
    if isinstance(shown, tuple):
        shown = " ".join(shown)
    if not action.option_strings:
        return f"`{shown}`" + {"?": " (optional)", "*": " (any number)"}.get(str(action.nargs), "")
    return f"`{', '.join(action.option_strings)} {shown}".rstrip() + "`"


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    formatter = argparse.HelpFormatter(parser.prog)
    return formatter._expand_help(action) if action.help else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;").replace("*", "\\*")


def api() -> Iterator[str]:
    """Yield the lines of what scripts import."""
    for name in sorted(statewalk._CHECKING, key=str.lower):
        yield from _entry(name)
        if name == "check":
            options = dataclasses.fields(CheckOptions)
            named = [f"`{one.name}={_default(one)}`" for one in options]
            yield f"Options: {', '.join(named)}.\n"


def _default(one: dataclasses.Field[Any]) -> str:
    made = one.default_factory
    return repr(one.default if made is dataclasses.MISSING else made())


def words() -> Iterator[str]:
    """Yield the lines of what specs import."""
    for name in sorted(statewalk.__all__, key=str.lower):
        yield from _entry(name, whole=False)


def _entry(name: str, *, whole: bool = True) -> Iterator[str]:
    """Yield a name's signature, docstring (or its first paragraph) and members."""
    found = getattr(statewalk, name)
    yield f"### {name}\n"
    if name in _ALIASES:
        yield f"{_plain(_said_of_aliases()[name])}\n"
        return
    members = [*_members(found)] if isinstance(found, type | ModuleType) else []
    if not isinstance(found, type | ModuleType):
        called = (typing.get_overloads(found) or [found])[-1]
        shown = f"{name}{_signature(called)}"
        if "\n" in shown:
            yield f"```text\n{shown}\n```\n"
        elif not _BARE.search(shown):
            yield f"`{shown}`\n"
    doc = inspect.getdoc(found) or ""
    yield f"{_plain(doc if whole else doc.partition(chr(10) * 2)[0])}\n"
    if dataclasses.is_dataclass(found) and not whole:
        return  # made by other words, and not read by specs
    if dataclasses.is_dataclass(found):
        shown = [one.name for one in dataclasses.fields(found) if "Callable" not in str(one.type)]
        yield f"Fields: {', '.join(f'`{one}`' for one in shown)}.\n"
    if members:
        yield from members
        yield ""


def _members(found: type | ModuleType) -> Iterator[str]:
    for name, member in vars(found).items():
        doc = inspect.getdoc(member) if callable(member) or hasattr(member, "__get__") else None
        if name.startswith(("_", "with_")) or not doc or isinstance(member, type):
            continue
        if found is statewalk.Run and hasattr(statewalk.Result, name):  # the text says so
            continue
        if name == "explore":  # for notebooks: how-to/explore.md
            continue
        if inspect.ismodule(found) and getattr(member, "__module__", "") != found.__name__:
            continue
        shown = _flat(f"{name}{_signature(member)}") if inspect.isfunction(member) else name
        yield f"- `{shown}`: {_flat(_plain(doc))}"


def _signature(found: Callable[..., Any]) -> str:
    """Return the parameters with their types as they are written, defaults only where short."""
    shown, keyword_only = [], False
    for one in inspect.signature(found).parameters.values():
        if one.name in ("self", "on_progress", "interrupted"):
            continue
        if one.kind is one.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            if not any("*" in text for text in shown):
                shown.append("*")
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        kind = "" if one.annotation is one.empty else f": {one.annotation}"
        default = "..." if one.default is ... else repr(one.default)
        has = "" if one.default is one.empty else f" = {default}"
        shown.append(f"{stars}{one.name}{kind}{'' if ' at 0x' in has else has}")
    result = inspect.signature(found).return_annotation
    ends = "" if result in (inspect.Signature.empty, None, "None") else f" -> {result}"
    flat = f"({', '.join(shown)}){ends}"
    return flat if len(flat) < 80 else "(\n    " + ",\n    ".join(shown) + f",\n){ends}"


def _flat(text: str) -> str:
    """Return a text on one line."""
    return " ".join(text.split()).replace("( ", "(").replace(", )", ")")


def _plain(doc: str) -> str:
    """Return a docstring as Markdown, each paragraph on one line."""
    paragraphs = re.split(r"\n\s*\n", doc)
    joined = "\n\n".join(" ".join(one.split()) for one in paragraphs)
    return joined.replace("``", "`")


@cache
def _said_of_aliases() -> dict[str, str]:
    """Return the texts that follow the definitions of type aliases, by name."""
    found = {}
    for file in ("dsl/words/declare.py", "dsl/words/formulas.py", "dsl/declared.py"):
        body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
        for one, after in itertools.pairwise(body):
            if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                    found[one.target.id] = str(after.value.value)
    return found


_PARTS = {"commands": commands, "api": api, "words": words}


def write() -> None:
    """Bring all pages up to date."""
    for kind, name in PAGES.items():
        page = FOLDER / name
        page.write_text(fresh(kind, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
