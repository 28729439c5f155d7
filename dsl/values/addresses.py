"""What says where something is in memory, or gives its hash: no two processes agree about it.

The text of a function, or of an object that has no text of its own, holds its address; so the texts
that a spec makes are looked at (`dsl.source.set_order` says where). ``hash`` and ``id`` raise when
a spec calls them, by whatever name; what it writes for Python's sets, `__hash__`, may ask for one.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Callable
from typing import Any

from statewalk.dsl.errors import SpecError

_MAKING = ("str", "repr", "ascii", "format")

_SIGN = " at 0x"
_ADDRESS = re.compile(r"<([^<>]|<[^<>]*>)* at 0x[0-9a-f]{6,}[>,]")


def without_address(text: str) -> str:
    """A text as it is. Raises SpecError[SW104] for one that says where something is in memory."""
    if _SIGN not in text:
        return text
    found = _ADDRESS.search(text)
    if found is None:
        return text
    raise SpecError(
        "SW104",
        f"A text says where something is in memory, which differs from run to run: "
        f"'{found[0].partition(_SIGN)[0]} at ...'.",
        help="Make text of values: of a function's name, f.__name__, or of an object's fields.",
    )


def _asking(name: str, what: str) -> Callable[..., Any]:
    asked = getattr(builtins, name)

    def ask(*given: Any) -> Any:
        if sys._getframe(1).f_code.co_name == "__hash__":
            return asked(*given)
        raise SpecError(
            "SW104",
            f"'{name}(...)' gives {what}, which differs from run to run.",
            help="Compare the values themselves, or number them: values.index(x).",
        )

    ask.__name__ = ask.__qualname__ = name
    return ask


def _telling(name: str) -> Callable[..., str]:
    told = getattr(builtins, name)

    def tell(*given: Any, **named: Any) -> str:
        return without_address(told(*given, **named))

    tell.__name__ = tell.__qualname__ = name
    return tell


ASKING = {"hash": _asking("hash", "a hash"), "id": _asking("id", "an address in memory")}
TELLING = {name: _telling(name) for name in _MAKING}
