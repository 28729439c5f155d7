"""The rule of networks that shows only in all modules together."""

from __future__ import annotations

import ast

from statewalk.dsl.errors import Mistakes
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.networks import RECEIVING
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.tree import SpecTree


def check_handlers(tree: SpecTree, _: Effects, mistakes: Mistakes) -> None:
    """SW130 for a handler of messages that nobody makes."""
    actions = {(f.owner, f.name) for f in tree.functions}
    handlers = [f for f in tree.functions if (f.owner, RECEIVING + f.name) in actions]
    if not handlers:
        return
    calls = (
        n.func for m in tree.loading.modules for n in walk(m.source.tree) if isinstance(n, ast.Call)
    )
    made = {getattr(called, "id", getattr(called, "attr", "")) for called in calls}
    for handler in handlers:
        hint = handler.parameters()[0].annotation
        names = {n.id for n in walk(hint) if isinstance(n, ast.Name)} if hint is not None else set()
        kinds = [cls for cls in tree.records if {c.__name__ for c in cls.__mro__} & names]
        if kinds and not any(cls.__name__ in made for cls in kinds):
            shown = " or ".join(sorted(names))
            said = f"Nobody sends {shown}, so '{handler.name}' never happens."
            help = f"Send one, {shown}(...), or remove the handler."
            mistakes.add("SW130", said, at=handler.span(), help=help)
