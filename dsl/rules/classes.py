"""Fields that are asked of a class where an instance is meant; private names in classes."""

from __future__ import annotations

import ast

from statewalk.dsl.errors import Mistakes, Span, SpecError
from statewalk.dsl.rules.rule import Checked, shortened
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.tree import SpecTree
from statewalk.dsl.state.roles import Role
from statewalk.dsl.values.records import LOOKING, Record, check_own


def check_classes(checked: Checked) -> None:
    """SW120: ``Log.size`` where the state has a ``log.size``; once for each class."""
    said: set[str] = set()
    function = checked.function
    namespace = function.module.namespace
    first = function.class_parameter if checked.running else None
    for node in walk(function.node):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            continue
        name = node.value.id
        known = None if name in checked.types.locals else namespace.get(name)
        cls = function.owner if name == first else known
        if not (isinstance(cls, type) and issubclass(cls, Role)):
            continue
        if node.attr in cls._fields and name not in said:
            said.add(name)
            checked.wrong(
                "SW120",
                f"{shortened(node)} is a field of the class {cls.__name__}, not of an instance.",
                node,
                why="The state is in the instances; "
                f"{cls.__name__} itself only says what they have.",
                help=_instead(namespace, cls, node),
            )


def _instead(namespace: dict[str, object], cls: type, node: ast.Attribute) -> str:
    for name, value in namespace.items():
        if type(value) is cls:
            return f"Write {name}.{node.attr}."
    word = cls.__name__.lower()
    made = f"{word} = {cls.__name__}()"
    return f"Make an instance on module level, {made}, and write {word}.{node.attr}."


def check_private(tree: SpecTree, _: Effects, mistakes: Mistakes) -> None:
    """SW127: ``self.__n``, which Python calls ``_Class__n`` inside of a class; once for each name.

    Methods are compiled again without their class, where the name would be another one.
    """
    for module in tree.loading.modules:
        for cls in walk(module.source.tree) if module.source.dialect != "fizz" else ():
            made = module.namespace.get(cls.name) if isinstance(cls, ast.ClassDef) else None
            if not (isinstance(made, type) and issubclass(made, Role | Record)):
                continue
            if isinstance(cls, ast.ClassDef) and cls.decorator_list:
                _check_decorated(made, mistakes, module.source.span(cls))
            found = {_word(node): node for node in reversed(walk(cls))}
            for word, node in found.items():
                if word[:2] == "__" and word[-2:] != "__":
                    mistakes.add(
                        "SW127",
                        f"'{word}' has two underscores in front, in a class.",
                        at=module.source.span(node),
                        why="Python gives such names the name of their class too.",
                        help=f"Write {word[1:]}, with one underscore.",
                    )


def _check_decorated(cls: type, mistakes: Mistakes, at: Span) -> None:
    """SW123: what a decorator wrote into a class, as `dataclass` does, after it was looked at."""
    try:
        check_own(cls, Role if issubclass(cls, Role) else Record, LOOKING)
    except SpecError as error:
        help = f"If a decorator of the class wrote it, leave that out. {error.help}"
        mistakes.add(error.code, error.message, at=at, why=error.why, help=help)


def _word(node: ast.AST) -> str:
    """The name that a node says, if it says one."""
    words = (getattr(node, field, None) for field in ("id", "attr", "arg", "name"))
    return next((word for word in words if isinstance(word, str)), "")
