"""Suspended runs for people: where each waits, with what, and what it has still to do."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from statewalk.dsl.flows.instructions import FlowCode
from statewalk.dsl.flows.kept import told
from statewalk.dsl.values.stored import FrozenBag, FrozenDict, FrozenList

REST = "@left"


def shown(code: Mapping[str, FlowCode], held: Any) -> Any:
    """What a slot of suspended runs holds; a list where there can be several.

    ``at`` says in which line a run goes on, of each function that it is in. Then come its locals,
    those of inner functions with the name of the function before them. ``left`` are the
    statements of a parallel block, by number, or the elements of a parallel loop, still to come;
    ``left inside`` is the same of what is inside of that.
    """
    if isinstance(held, FrozenBag):
        return FrozenList(_run(code, run) for run in held)
    return _run(code, held)


def is_run(code: Mapping[str, FlowCode], value: Any) -> bool:
    """Whether a value that was chosen is a suspended run: which of several goes on, or crashes."""
    return (
        type(value) is tuple
        and len(value) > 0
        and all(type(f) is tuple and len(f) == 4 and f[0] in code for f in value)
    )


def _run(code: Mapping[str, FlowCode], frames: tuple[Any, ...]) -> FrozenDict:
    places, content = [], {}
    for depth, (name, at, kept, _) in enumerate(frames):
        short = name.rpartition(".")[2]
        line = code[name].instructions[at].line
        places.append(f"{short} line {line}" if depth else f"line {line}")
        for word, value in sorted(kept, key=_number):
            hidden = word[:1] == "@" and not (word.startswith(REST) and told(value))
            if word == "self" or hidden:
                continue
            plain = f"{short}." if depth else ""
            plain += "left" if word[:1] == "@" else word
            while plain in content:  # the outer one was made later, and comes first
                plain += " inside"
            content[plain] = told(value)
    return FrozenDict({"at": " > ".join(places), **content})


def _number(kept: tuple[str, Any]) -> tuple[int, str]:
    """Words of the spec by name; then made ones, the last made first: ``@left_10``, ``@left_2``."""
    word = kept[0]
    if not word.startswith(REST):
        return -sys.maxsize, word
    return -int("0" + "".join(c for c in word if c.isdigit())), word
