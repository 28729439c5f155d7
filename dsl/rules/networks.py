"""The rules of networks and clocks that need more than the text of their class."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from statewalk.dsl.errors import Mistakes
from statewalk.dsl.rules.rule import Checked
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.networks import RECEIVING
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.tree import SpecTree
from statewalk.dsl.source.types import Scope, spec_class
from statewalk.dsl.state.roles import Role
from statewalk.dsl.words.clocks import Clock


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


def check_clocks(checked: Checked) -> None:
    """SW130 for a step that compares a role's clock with what another role has, in one function."""
    if not checked.running or checked.is_property:
        return
    for node, scope in checked.types.nodes:
        for reading, others in _comparisons(node, checked, scope):
            own = ast.unparse(reading.args[0])
            for part in (n for other in others for n in walk(other)):
                theirs = part.value if isinstance(part, ast.Attribute) else None
                if _clock(part, checked, scope) is not None:
                    assert isinstance(part, ast.Call)
                    theirs = part.args[0]
                cls = spec_class(checked.types.of(theirs, scope)) if theirs is not None else None
                if theirs is None or cls is None or not issubclass(cls, Role):
                    continue
                if ast.unparse(theirs) != own and not issubclass(cls, Clock):
                    other = ast.unparse(theirs)
                    said = f"The clock of {own} is compared with a number of {other}: "
                    said += f"{ast.unparse(part)}."
                    why = "Clocks of two roles differ, and no role can read another's."
                    help = "Send the number in a message, or ask in a property, or write skew=0 "
                    help += "if all have one clock."
                    checked.wrong("SW130", said, part, why=why, help=help)


def _comparisons(
    node: ast.AST, checked: Checked, scope: Scope
) -> Iterator[tuple[ast.Call, list[ast.expr]]]:
    """Yield readings of clocks with what a node compares them with."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for side in sides:
            if _clock(side, checked, scope) is not None:
                assert isinstance(side, ast.Call)
                yield side, [other for other in sides if other is not side]
    elif _clock(node, checked, scope) in ("passed", "elapsed"):
        assert isinstance(node, ast.Call)
        yield node, node.args[1:]


def _clock(node: ast.AST, checked: Checked, scope: Scope) -> str | None:
    """Return the question that a call asks of a clock whose roles may differ."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return None
    cls = spec_class(checked.types.of(node.func.value, scope))
    differs = cls is not None and issubclass(cls, Clock) and cls.differs
    return node.func.attr if differs else None
