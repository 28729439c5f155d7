"""Fields that are asked of a class where an instance is meant."""

from __future__ import annotations

import ast

from statewalk.dsl.rules.rule import Checked, shortened
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.state.roles import Role


def check_classes(checked: Checked) -> None:
    """SW120: ``Log.size`` where the state has a ``log.size``; once for each class."""
    said: set[str] = set()
    namespace = checked.function.module.namespace
    for node in walk(checked.function.node):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        name = node.value.id
        cls = None if name in checked.types.locals else namespace.get(name)
        if not (isinstance(cls, type) and issubclass(cls, Role)):
            continue
        if node.attr in cls._fields and name not in said:
            said.add(name)
            checked.wrong(
                "SW120",
                f"{shortened(node)} is a field of the class {name}, not of an instance.",
                node,
                why=f"The state is in the instances; {name} itself only says what they have.",
                help=_instead(namespace, cls, node),
            )


def _instead(namespace: dict[str, object], cls: type, node: ast.Attribute) -> str:
    for name, value in namespace.items():
        if type(value) is cls:
            return f"Write {name}.{node.attr}."
    word = cls.__name__.lower()
    made = f"{word} = {cls.__name__}()"
    return f"Make an instance on module level, {made}, and write {word}.{node.attr}."
