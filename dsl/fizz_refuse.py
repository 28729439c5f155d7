"""What is parsed and not supported yet: refused by name, with its place, before anything runs."""

from __future__ import annotations

from dsl import fizz_tree as tree
from dsl.errors import Mistakes
from dsl.fizz_fields import check_fields
from dsl.fizz_names import Names
from dsl.fizz_options import Options
from dsl.fizz_parse import span


def refuse_unsupported(names: Names, file: str, options: Options) -> None:
    """Raises SpecErrors[SW152] that list every place where something is not supported."""
    mistakes = Mistakes()
    _declarations(names, file, options, mistakes)
    mistakes.raise_if_any()
    check_fields(names, file, mistakes)
    mistakes.raise_if_any()


def _declarations(names: Names, file: str, options: Options, mistakes: Mistakes) -> None:
    for node in names.module.body:
        if isinstance(node, tree.Compose):
            mistakes.add(
                "SW152",
                f"'{node.name}:' combines specifications, which is not supported.",
                at=span(node, file),
            )
