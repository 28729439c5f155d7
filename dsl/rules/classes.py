"""Fields that are asked of a class where an instance is meant; private names in classes."""

from __future__ import annotations

import ast
from dataclasses import is_dataclass

from statewalk.dsl.errors import Mistakes, SpecError
from statewalk.dsl.rules.rule import Checked, shortened
from statewalk.dsl.source.effects import Effects
from statewalk.dsl.source.nodes import walk
from statewalk.dsl.source.tree import SpecTree, class_span
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


def check_equal(tree: SpecTree, _: Effects, mistakes: Mistakes) -> None:
    """SW123: what was written into a class after it was looked at, by a decorator such as
    `dataclass` or a statement; and an enum that says itself what its members equal.
    """
    for cls in (*tree.roles, *tree.records):
        try:
            check_own(cls, Role if issubclass(cls, Role) else Record, LOOKING)
        except SpecError as error:
            help = f"If a decorator or a later statement wrote it, leave that out. {error.help}"
            at = class_span(tree, cls)
            mistakes.add(error.code, error.message, at=at, why=error.why, help=help)
    for cls in tree.enums:
        for name in ("__eq__", "__ne__", "__hash__"):
            owner = next(part for part in cls.__mro__ if name in vars(part))
            if owner.__module__ in tree.loading.by_name and not is_dataclass(owner):
                a = "an" if name == "__eq__" else "a"
                mistakes.add(
                    "SW123",
                    f"{cls.__name__} has {a} {name} of its own.",
                    at=class_span(tree, cls),
                    why="In the state a member of an enum equals itself and nothing else.",
                    help="Write a method with another name, such as same(self, other).",
                )
                break


def _word(node: ast.AST) -> str:
    """The name that a node says, if it says one."""
    words = (getattr(node, field, None) for field in ("id", "attr", "arg", "name"))
    return next((word for word in words if isinstance(word, str)), "")
