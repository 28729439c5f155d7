"""Comparing from Python: what ``statewalk compare`` does, for scripts and notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from statewalk.checker.api import load
from statewalk.checker.compare.compare import Comparison
from statewalk.checker.compare.compare import compare as compare_models
from statewalk.checker.contract.options import CheckOptions
from statewalk.dsl.errors import RunError
from statewalk.dsl.model import Model

Spec = str | Path | Model


def compare(
    spec: Spec,
    *others: Spec,
    constants: Mapping[str, Any] | None = None,
    vary: Mapping[str, Sequence[Any]] | None = None,
    fields: Sequence[str] = (),
    **options: Any,
) -> Comparison:
    """Put specs beside the first; or one beside itself: ``vary={"VARIANT": ["base", "proposal"]}``.
    ``fields`` are what counts of a state (all that both have); further keywords are fields of
    `CheckOptions`.

    Raises:  RunError[SW361] where there is nothing to compare; what `load` raises
    """
    given = dict(constants or {})
    if vary is None:
        sides = [
            (str(one.path if isinstance(one, Model) else one), one, given)
            for one in (spec, *others)
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
    models = [(name, one if isinstance(one, Model) else load(one, own)) for name, one, own in sides]
    return compare_models(models, CheckOptions(**options), chosen=tuple(fields))
