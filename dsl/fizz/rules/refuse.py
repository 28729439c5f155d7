"""What is parsed and not supported yet: refused by name, with its place, before anything runs."""

from __future__ import annotations

from statewalk.dsl.errors import Mistakes
from statewalk.dsl.fizz.names import Names
from statewalk.dsl.fizz.rules.fields import check_fields
from statewalk.dsl.fizz.text import tree
from statewalk.dsl.fizz.text.parse import span


def refuse_unsupported(names: Names, file: str) -> None:
    """Raises SpecErrors[SW152] that list every place where something is not supported."""
    mistakes = Mistakes()
    _declarations(names, file, mistakes)
    mistakes.raise_if_any()
    check_fields(names, file, mistakes)
    mistakes.raise_if_any()


def _declarations(names: Names, file: str, mistakes: Mistakes) -> None:
    for node in names.module.body:
        if isinstance(node, tree.Compose):
            mistakes.add(
                "SW152",
                f"'{node.name}:' combines specifications, which is not supported.",
                at=span(node, file),
            )
