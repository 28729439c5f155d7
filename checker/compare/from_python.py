"""Comparing from Python: what ``statewalk compare`` does, for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from statewalk.checker.api import load, types_within
from statewalk.checker.compare.compare import Comparison
from statewalk.checker.compare.compare import compare as compare_models
from statewalk.checker.compare.known import configured, variants, with_known
from statewalk.checker.contract.options import CheckOptions
from statewalk.checker.library import spec_path
from statewalk.checker.machine.turns import in_turn
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model

Spec = str | Path | Model
T = TypeVar("T")


def shared_out(fixed: Mapping[str, T], known: Sequence[Mapping[str, Any]]) -> list[dict[str, T]]:
    """Return the constants of each side: those that it has; those that none has are said to
    be none.
    """
    every = set().union(*known)
    return [{n: value for n, value in fixed.items() if n in own or n not in every} for own in known]


@in_turn
def compare(
    spec: Spec,
    *others: Spec,
    constants: Mapping[str, Any] | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    fields: Sequence[str] = (),
    **options: Any,
) -> Comparison:
    """Compare specs with the first, or variants: ``vary={"VARIANT": ["base", "proposal"]}``.

    ``constants`` apply to specs that have them, not to models. ``fields`` are what is compared
    (default: all common fields); other keywords are fields of `CheckOptions`.

    Raises:  RunError[SW361] if there is nothing to compare; errors of `load`.
    """
    given = dict(constants or {})
    asked = CheckOptions(**options)
    if vary is None:
        every = (spec, *others)
        known = [
            types_within(spec_path(str(one)), asked) if given and not isinstance(one, Model) else {}
            for one in every
        ]
        sides = [
            (str(one.path if isinstance(one, Model) else one), one, own)
            for one, own in zip(every, shared_out(given, known), strict=True)
        ]
    else:
        sides = [
            (f"{name}={value}", spec, {**given, name: value})
            for name, values in vary.items()
            for value in values
        ]
    if len(sides) < 2 or (vary is not None and (others or len(vary) != 1)):
        raise RunError(
            "SW361",
            "There is nothing to compare with." if len(sides) < 2 else "What is to be compared?",
            help='Name a second spec, or one constant: vary={"VARIANT": ["base", "proposal"]}.',
        )
    if vary is None or isinstance(spec, Model):
        models = [(n, one if isinstance(one, Model) else load(one, own)) for n, one, own in sides]
        return compare_models(models, asked, chosen=tuple(fields))
    [(name, values)] = vary.items()
    rows = configured(spec_path(str(spec)), name, asked)
    models, left = variants(
        [(name, value) for value in values], lambda n, v: load(spec, {**given, n: v}), rows
    )
    return with_known(compare_models(models, asked, chosen=tuple(fields)), rows, left)
