"""The words reports use for kinds of properties."""

from __future__ import annotations

from collections.abc import Iterable

_GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("invariant", "invariants", ("always",)),
    ("step property", "step properties", ("on_step",)),
    ("liveness property", "liveness properties",
     ("eventually", "always_eventually", "eventually_always", "leads_to", "until")),
    ("refinement", "refinements", ("refines",)),
    ("witness", "witnesses", ("exists",)),
)  # fmt: skip
_WORDS = {
    "on_step": "on every step",
    "always_eventually": "always eventually",
    "eventually_always": "eventually always",
    "leads_to": "leads to",
}
BUILT_IN = {"deadlock": "no deadlock", "assertion": "no failed assertion"}


def kind_word(kind: str) -> str:
    """A kind of property in words."""
    return _WORDS.get(kind, kind)


def summary(kinds: Iterable[str]) -> list[str]:
    """``5 invariants``, ``no deadlock``: what a set of properties is made of; witnesses apart."""
    listed = list(kinds)
    words = []
    for one, many, group in _GROUPS[:-1]:
        count = sum(kind in group for kind in listed)
        if count:
            words.append(f"{count} {one if count == 1 else many}")
    return words + [word for kind, word in BUILT_IN.items() if kind in listed]
