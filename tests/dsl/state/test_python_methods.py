"""Containers of the state have every method and operator of Python's, and they do the same.

What differs is listed here, each with its reason; nothing else may.
"""

from __future__ import annotations

import copy
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.cases import some

from .python_methods import CONTENTS, PLACES, VALUES, Outcome, Places, call, calls, in_state

CHANGING = {
    "append", "extend", "insert", "pop", "remove", "sort", "reverse", "clear", "add", "discard",
    "update", "setdefault", "popitem", "intersection_update", "difference_update",
    "symmetric_difference_update", "setitem", "delitem", "iadd", "imul", "ior", "iand", "isub",
    "ixor",
}  # fmt: skip


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    return Places(Path(tmp_path_factory.mktemp("box")))


def allowed(name: str, place: str, kind: type, theirs: Outcome, ours: Outcome) -> bool:
    """Return whether a difference is meant."""
    if ours[0] == "SW203":  # slices, ranges: what the state cannot hold, it has no element of
        return True
    if ours[0] == "SW104":  # what Python picks
        return name in ("pop", "popitem")
    if place in VALUES and ours[0] == "SW202":
        return name in CHANGING
    if place in VALUES and name == "hash":
        return place != "key" or kind is not frozenset  # sets find elements by their hashes
    if place == "popped" and kind is frozenset and name.startswith("i"):  # a set: no type says more
        return theirs[:2] == ours[:2]
    if kind is dict and theirs[0] == "TypeError":  # a set as a key: there is none
        return ours[0] in ("", "KeyError") and name in (
            "contains", "get", "getitem", "delitem", "pop",
        )  # fmt: skip
    # an empty dict is not asked for the hash of a key
    return name == "pop" and kind is dict and ours[0] == "TypeError"


@pytest.mark.parametrize(("kind", "place"), some(product(CONTENTS, PLACES), every=39))
def test_a_container_of_the_state_does_what_pythons_does(
    kind: type, place: str, places: Places
) -> None:
    different: list[Any] = []
    for content in CONTENTS[kind]:
        for function, arguments, named in calls(kind):
            theirs = call(function, copy.deepcopy(content), arguments, named)
            ours = in_state(places, place, content, function, arguments, named)
            if theirs != ours and not allowed(function.__name__, place, kind, theirs, ours):
                different.append((content, function.__name__, arguments, named, theirs, ours))

    assert [] == different[:5]
