"""Settings of Python's libraries, which last for the process: a spec leaves them as they are."""

from __future__ import annotations

import ast
import decimal
from collections.abc import Iterator
from contextlib import contextmanager

from statewalk.dsl.errors import SpecError
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.texts import Source

# By library, what reaches a setting that changes what others compute.
_REACHING = {
    "calendar": {"setfirstweekday"},
    "decimal": {"DefaultContext", "getcontext", "setcontext"},
    "locale": {"setlocale"},
}
WHY_LASTS = "It would last for other steps, specs and configurations of this process."
_HELP = {
    "calendar": "Make a calendar of your own: Calendar(firstweekday=6).",
    "decimal": "Compute with a context of your own: Context(prec=3).divide(a, b),\n"
    "or below `with localcontext(prec=3):`.",
    "locale": "Write the text by yourself.",
}


def check_settings(source: Source) -> None:
    """Raise SpecError[SW102] for a module that names a setting of a library."""
    imported: dict[str, str] = {}  # the library that a name stands for
    taken: dict[str, str] = {}  # the library that a name is of
    nodes = walk(source.tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            imported |= {a.asname or a.name: a.name for a in node.names if a.name in _REACHING}
        elif isinstance(node, ast.ImportFrom) and node.module in _REACHING and not node.level:
            found = _REACHING[node.module]
            for alias in node.names:
                if alias.name == "*":
                    taken |= dict.fromkeys(found, node.module)
                elif alias.name in found:
                    raise _changed(source, node.module, alias.name, alias)
    for node in nodes if imported or taken else ():
        if isinstance(node, ast.Name) and node.id in taken:
            raise _changed(source, taken[node.id], node.id, node)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            library = imported.get(node.value.id)
            if library and node.attr in _REACHING[library]:
                raise _changed(source, library, node.attr, node)


def _changed(source: Source, library: str, name: str, node: ast.AST) -> SpecError:
    said = f"{library}.{name} reaches a setting of Python's, which is not part of the state."
    return SpecError("SW102", said, at=source.span(node), why=WHY_LASTS, help=_HELP[library])


@contextmanager
def keeping_settings(source: Source) -> Iterator[None]:
    """Put decimal's contexts back after a load. Raises SpecError[SW102] where one has changed.

    A library that the spec imports may have changed it.
    """
    contexts = (decimal.getcontext(), decimal.DefaultContext)
    before = [(context, context.copy()) for context in contexts]
    changed = False
    try:
        yield
    finally:
        changed = decimal.getcontext() is not contexts[0]
        decimal.setcontext(contexts[0])
        for context, copy in before:
            if _settings(context) != _settings(copy):
                changed = True
                for name, value in _settings(copy).items():
                    setattr(context, name, value)
    if changed:
        said = f"A module that {source.path} imports changes decimal's context."
        raise SpecError("SW102", said, why=WHY_LASTS, help="Import it without that.")


def _settings(context: decimal.Context) -> dict[str, object]:
    names = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
    traps = dict(context.traps.items())
    return {**{name: getattr(context, name) for name in names}, "traps": traps}
