"""JSON objects of history files: one that says a field twice has two meanings, so it has none."""

from __future__ import annotations

import json
from typing import Any


class SaidTwice(Exception):
    """An object with two fields of one name."""


def decoded(text: bytes) -> Any:
    """What a JSON text says.

    Raises:  SaidTwice, ValueError or RecursionError where it is not JSON.
    """
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise SaidTwice(f"field {name!r:.60} is there twice")
        found[name] = value
    return found
