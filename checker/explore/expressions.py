"""Expressions that a person writes: Python, with the names of the spec's main module.

It runs in the process of the person who asks, whose spec is a program already. A text spec (.fizz)
must not reach Python, so it has no such expressions; its properties can be asked for by name.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from types import CodeType
from typing import TYPE_CHECKING, Any

from statewalk.checker.states.content import value_of
from statewalk.checker.states.shortening import fit
from statewalk.checker.verdict.spec_text import compiled, namespace_of
from statewalk.dsl.annotations import annotations_of
from statewalk.dsl.errors import EngineError, RunError
from statewalk.dsl.state.plain_view import PlainView
from statewalk.dsl.state.roles import Role

if TYPE_CHECKING:
    from statewalk.dsl.model import Model
    from statewalk.dsl.view import State


_LONGEST = 2000  # characters of an expression
_SHOWN = 400  # of a value


class Expression:
    """An expression over the states of a model. Raises RunError[SW371] where it is none."""

    def __init__(self, model: Model, text: str) -> None:
        self.model = model
        self.text = text
        self.error = ""  # what it raised last, where it did
        self._code: CodeType | None = None
        found = next((p for p in model.properties if p.name == text.strip()), None)
        self._property = None if found is None else found.whole
        if found is not None and found.of_kind.over in ("steps", "specs"):
            why = "it is a property of steps or behaviors, not of states"
            raise unreadable(text, why, "Ask for what is true in a state.")
        if found is not None:
            return
        if model.dialect == "fizz":
            raise unreadable(
                text,
                "in a text spec only properties can be asked for",
                f"There are: {', '.join(p.name for p in model.properties) or 'none'}.",
            )
        try:
            if len(text) > _LONGEST:
                raise ValueError(f"it is longer than {_LONGEST} characters")
            node = ast.parse(text.strip(), mode="eval").body
            self._names = names_of(model)
            if (wrong := mistake_in(node, self._names, model)) is not None:
                raise unreadable(text, *wrong)
            self._code = compiled(node, self._names)
        except (SyntaxError, ValueError, RecursionError) as error:
            why = getattr(error, "msg", None) or str(error)
            raise unreadable(text, why, "Write one Python expression.") from None

    def value(self, state: State) -> Any:
        """Return its value in a state; what it raises, it raises."""
        found: list[Any] = []

        def look() -> bool:
            found.append(value_of(self._thing(), self.model, state))
            return True

        self.model.holds(look, PlainView(state))
        return found[0]

    def holds(self, state: State) -> bool:
        """Return whether it is true in a state; where it raises it is not."""
        return self.model.holds(self.here, PlainView(state))

    def here(self) -> bool:
        """Return whether it is true in the state that is bound; where it raises it is not."""
        try:
            return bool(self._thing())
        except EngineError:  # ours: it says nothing of the state
            raise
        except Exception as error:
            self.error = _said(error)
            return False

    def _thing(self) -> Any:
        if self._property is not None:
            return bool(self._property())
        if self._code is None:
            return None
        thing = eval(self._code, {**self._names})
        if callable(thing) and not hasattr(thing, "_canonical"):
            raise TypeError(f"{self.text.strip()} is a function: call it")
        return thing

    def shown(self, state: State) -> str:
        """Return its value in a state in words, or what it raises."""
        try:
            return fit(self.value(state), _SHOWN)
        except Exception as error:
            return _said(error)


def _said(error: Exception) -> str:
    first = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {first}"[:_SHOWN]


def names_of(model: Model) -> dict[str, Any]:
    """Return the names that a spec's main module has."""
    functions: list[Callable[..., Any]] = [
        f for f in model.functions.values() if f.__code__.co_filename in model.sources
    ]
    main = [f for f in functions if f.__code__.co_filename == model.path]
    for function in (*main, *functions):
        return function.__globals__
    for prop in model.properties:
        if (found := namespace_of(prop.whole, model)) is not None:
            return found
    return {}


def unreadable(text: str, why: str, help: str) -> RunError:
    """Return the error of an expression that cannot be evaluated."""
    return RunError("SW371", f"{text.strip()[:80]!r} cannot be evaluated: {why}.", help=help)


def mistake_in(node: ast.expr, names: Mapping[str, Any], model: Model) -> tuple[str, str] | None:
    """Return what is wrong with an expression in every state, and what to write; None where nothing
    is.
    """
    fine = {id(part) for call in ast.walk(node) for part in _called(call)}
    own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    known = {**vars(builtins), **names}
    roles = [type(one) for instances in model.roles.values() for one in instances]
    methods = _methods_of({*roles, *(c for c in names.values() if isinstance(c, type))})
    given = {id(part) for call in ast.walk(node) for part in _given(call)}
    properties = {p.name for p in model.properties}
    for part in ast.walk(node):
        match part:
            case ast.Name(id=name) if name not in own and name not in known:
                near = get_close_matches(name, [*names, *dir(builtins)], 1, 0.7)
                own_ones = ", ".join(instances_in(names)) or "none"
                help = f"Did you mean {near[0]}?" if near else f"The spec has: {own_ones}."
                return f"there is no name {name!r}", help
            case ast.Name(id=name) if name in own or id(part) in fine:
                continue
            case ast.Name(id=name) if _is_function(known[name]):
                if id(part) not in given or name in properties:
                    return _uncalled(part)
            case ast.Attribute(attr=name) if name in methods:
                if id(part) not in fine | given:
                    return _uncalled(part)
    return None


def instances_in(names: Mapping[str, Any]) -> list[str]:
    """Return the names of a module's instances of roles, and of its lists of them."""
    return [
        name for name, thing in names.items()
        if isinstance(thing, Role) or _are_roles(thing)
    ]  # fmt: skip


def _are_roles(thing: Any) -> bool:
    return isinstance(thing, list | tuple) and len(thing) > 0 and isinstance(thing[0], Role)


def _uncalled(part: ast.expr) -> tuple[str, str]:
    text = ast.unparse(part)
    return f"{text} is a function, which is true whatever the state", f"Call it: {text}()."


def _called(node: ast.AST) -> list[ast.expr]:
    return [node.func] if isinstance(node, ast.Call) else []


def _given(node: ast.AST) -> list[ast.expr]:
    """Return what is handed to a function, which may well call it."""
    match node:
        case ast.Call(func=ast.Name(id="bool")):
            return []
        case ast.Call(args=args, keywords=keywords):
            return [*args, *(word.value for word in keywords)]
    return []


def _is_function(thing: Any) -> bool:
    return callable(thing) and not isinstance(thing, type) and not hasattr(thing, "_canonical")


def _methods_of(classes: Collection[type]) -> set[str]:
    """Return the methods of the spec's classes, but for names that some class has a field of."""
    found = {
        name: thing
        for one in classes
        for base in reversed(one.__mro__[:-1])
        for name, thing in vars(base).items()
    }
    fields = {name for one in classes for base in one.__mro__ for name in annotations_of(base)}
    return {
        name for name, thing in found.items()
        if _is_function(thing) and not name.startswith("__") and name not in fields
    }  # fmt: skip
