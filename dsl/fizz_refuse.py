"""What is parsed and not supported yet: refused by name, with its place, before anything runs."""

from __future__ import annotations

import ast

from dsl import fizz_tree as tree
from dsl.errors import Mistakes
from dsl.fizz_enabled import Enabling, Yields
from dsl.fizz_names import Names
from dsl.fizz_options import Options
from dsl.fizz_parse import span


def refuse_unsupported(names: Names, file: str, options: Options) -> None:
    """Raises SpecErrors[SW152] that list every place where something is not supported."""
    mistakes = Mistakes()
    _declarations(names, file, options, mistakes)
    _flows(names, file, mistakes)
    mistakes.raise_if_any()


def _declarations(names: Names, file: str, options: Options, mistakes: Mistakes) -> None:
    for node in names.module.body:
        if isinstance(node, tree.Compose):
            mistakes.add(
                "SW152",
                f"'{node.name}:' combines specifications, which is not supported.",
                at=span(node, file),
            )
    if not options.crash_on_yield:
        return
    for info in names.roles.values():
        for decorator in info.node.decorators:
            if "state" in ast.unparse(decorator).partition("(")[0]:
                mistakes.add(
                    "SW152",
                    f"@state makes {info.node.name} crash between steps, which is not supported.",
                    at=span(decorator, file),
                    help="Write the crash as an action, or switch crashes off:\n"
                    "---\noptions:\n  crash_on_yield: false\n---",
                )


def _flows(names: Names, file: str, mistakes: Mistakes) -> None:
    yields = Yields(names, Enabling(names))
    for node in ast.walk(names.module):
        if not isinstance(node, tree.Act) or node.name == "Init":
            continue
        found = yields.of_action(node)
        if found is not None:
            flow = node.flow or "serial, the default"
            mistakes.add(
                "SW152",
                f"The action {node.name} ({flow}) gives way here, which is not supported.",
                at=span(found, file),
                why="Outside atomic text each statement that changes something is a step.",
                help="If it should be one step, write: atomic action " + node.name,
            )
