"""The keys, values and items of a dict in the state: like Python's, they show it as it is now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from statewalk.dsl.state.refs import seen
from statewalk.dsl.values.canonical import taken_for
from statewalk.dsl.values.dicts import KeyOperators
from statewalk.dsl.values.stored import FrozenList, freeze


class DictView:
    """What the three share."""

    __slots__ = ("_of",)

    def __init__(self, of: Any) -> None:
        self._of = of

    def _shown(self, key: Any) -> Any:
        return key

    def __len__(self) -> int:
        return len(self._of)

    def __iter__(self) -> Iterator[Any]:
        return map(self._shown, iter(self._of))

    def __reversed__(self) -> Iterator[Any]:
        return map(self._shown, reversed(self._of))

    def __contains__(self, element: object) -> bool:
        return any(found is element or found == element for found in self)

    def _freeze(self) -> FrozenList:
        return FrozenList(map(freeze, self))

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({list(self)!r})"


class SetView(KeyOperators, DictView):
    """One that has the operators of sets."""

    __slots__ = ()

    def _made(self, found: Iterable[Any], left: Any) -> Any:
        return super()._made((seen(v, None, self._of._path, key=True) for v in found), left)


class KeysReference(SetView):
    """The keys."""

    __slots__ = ()
    __class__ = taken_for(type({}.keys()))

    def __contains__(self, element: object) -> bool:
        return element in self._of


class ItemsReference(SetView):
    """Pairs of a key and its value."""

    __slots__ = ()
    __class__ = taken_for(type({}.items()))

    def _shown(self, key: Any) -> tuple[Any, Any]:
        return key, self._of[key]

    def __contains__(self, element: object) -> bool:
        if not isinstance(element, tuple) or len(element) != 2:
            return False
        key, value = element
        return key in self._of and self._of[key] == value


class ValuesReference(DictView):
    """The values."""

    __slots__ = ()
    __class__ = taken_for(type({}.values()))

    def _shown(self, key: Any) -> Any:
        return self._of[key]
