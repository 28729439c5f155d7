"""Which states of a graph implementations showed, and which they never did."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.graph.dataset import STATES, About, read_about, rows_of
from statewalk.checker.verdict.conclude import constant_json
from statewalk.dsl.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Set

    from statewalk.dsl.model import Model

_SIGN = 1 << 63


@dataclass(frozen=True)
class Shown:
    """How many of a graph's ``states`` were ``shown``, by depth as well; ``outside`` are those that
    were shown and are not in it, since a bound or a constraint kept them out.
    """

    states: int
    shown: int
    outside: int
    complete: bool
    levels: tuple[tuple[int, int], ...]

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        return asdict(self)


def graph_of(folder: str, model: Model) -> About:
    """What a graph of a model says of itself. Raises RunError[SW393] for one of another spec or of
    other constants.
    """
    about = read_about(Path(folder))
    constants = {name: constant_json(value) for name, value in model.constants.items()}
    if about.sources != model.origins or about.constants != constants:
        other = "other constants" if about.sources == model.origins else "another spec"
        raise RunError(
            "SW393",
            f"--graph {folder} is of {other}: {about.spec}"
            + "".join(f" {name}={value}" for name, value in about.constants.items()),
            help="Make one of this: statewalk check SPEC --graph DIR, with the same --set.",
        )
    return about


def shown_of(folder: str, model: Model, fingerprints: Set[int]) -> Shown:
    """Which states of a graph are among some. Raises RunError[SW393]."""
    about = graph_of(folder, model)
    signed = {n - 2 * _SIGN if n >= _SIGN else n for n in fingerprints}
    states: Counter[int] = Counter()
    shown: Counter[int] = Counter()
    for batch in rows_of(Path(folder), STATES).to_batches(columns=["fingerprint", "depth"]):
        columns = (batch.column(name).to_pylist() for name in ("fingerprint", "depth"))
        for fingerprint, depth in zip(*columns, strict=True):
            states[depth] += 1
            shown[depth] += fingerprint in signed
    found = shown.total()
    levels = tuple((shown[depth], states[depth]) for depth in sorted(states))
    return Shown(states.total(), found, len(signed) - found, about.complete, levels)
