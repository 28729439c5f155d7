"""The options of a run, and their written form."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from statewalk.dsl.errors import RunError, did_you_mean
from statewalk.dsl.words.constants import GivenText, values_meant

_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_TIMES = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
MAX_SWEEP = 1000
_LARGEST = 1 << 62
_LONGEST = 1e9  # seconds
_THREADS = max(1024, 4 * (os.cpu_count() or 1))


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 < value < _LARGEST


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= _LONGEST


def _are_names(value: Any) -> bool:
    return (
        isinstance(value, tuple | list)
        and bool(value)
        and all(isinstance(name, str) for name in value)
    )


_BOOL = (lambda value: isinstance(value, bool), "True or False")
_FEW = (lambda value: _is_count(value) and value <= _THREADS, f"1 to {_THREADS}")
SLICES = ("on", "off", "auto")
_COUNT, _TIME = (_is_count, "a number above 0"), (_is_time, "a number of seconds")
_KINDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "fingerprint_bits": (lambda value: type(value) is int and value in (64, 128), "64 or 128"),
    "config": (lambda value: isinstance(value, str), "a name"),
    "properties": (_are_names, "a tuple of names, at least one"),
    "max_depth": _COUNT, "max_states": _COUNT, "max_memory": _COUNT, "threads": _FEW,
    "timeout": _TIME, "checkpoint_every": _TIME,
    "keep_going": _BOOL, "liveness": _BOOL, "allow_unsound": _BOOL, "symmetry": _BOOL,
    "view": _BOOL, "strict": _BOOL, "optimize": _BOOL, "resume": _BOOL,
    "every_field": _BOOL, "reduce": _BOOL,
    "slices": (lambda value: value in SLICES, "on, off or auto"),
}  # fmt: skip


@dataclass(frozen=True)
class CheckOptions:
    """The options of one check, as `statewalk check` has them; see docs/reference/command-line.md.

    ``properties`` None means all. ``symmetry`` and ``view`` None leave it to the spec. ``spark``
    are settings of that engine (`checker.spark.session.settings.Settings`). ``graph`` is a folder
    to which the state graph is written (`checker.graph`). ``checkpoint`` is a folder to which the
    native engine saves the search, at most every ``checkpoint_every`` seconds; with ``resume`` it
    goes on from there. ``fingerprint_bits`` None are 64. With ``every_field``, the
    states there would be without a field are counted for each, not only where no step reads it.
    ``slices``: groups of properties are searched one by one (`checker.engines.slices`);
    ``reduce``: what nothing reads any more is reset (`checker.engines.resets`).
    """

    config: str | None = None
    engine: str = "auto"
    properties: tuple[str, ...] | None = None
    keep_going: bool = False
    max_depth: int | None = None
    max_states: int | None = None
    max_memory: int | None = None
    timeout: float | None = None
    threads: int | None = None
    fingerprint_bits: int | None = None
    liveness: bool = True
    allow_unsound: bool = False
    symmetry: bool | None = None
    view: bool | None = None
    strict: bool = False
    optimize: bool = True
    spark: Mapping[str, Any] = field(default_factory=dict)
    checkpoint: str | None = None
    checkpoint_every: float = 10.0
    resume: bool = False
    graph: str | None = None
    every_field: bool = False
    slices: str = "off"
    reduce: bool = False

    def __post_init__(self) -> None:
        """Raises RunError[SW328] for a value that would be taken for another."""
        for name, (fits, said) in _KINDS.items():
            value = getattr(self, name)
            optional = getattr(CheckOptions, name, None) is None
            if not (fits(value) or (value is None and optional)):
                raise RunError("SW328", f"{name} cannot be {value!r}. It must be {said}.")

    @property
    def bits(self) -> int:
        """Return how many bits states are known by."""
        return self.fingerprint_bits or 64

    def liveness_off(self, of_spec: str) -> str:
        """Return why liveness is not to be checked, by the command or the spec; empty
        where it is.
        """
        return of_spec if self.liveness else "--no-liveness"

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        default = CheckOptions()
        return {k: v for k, v in vars(self).items() if v != getattr(default, k)}


def options_of(given: Mapping[str, Any]) -> CheckOptions:
    """Return options by their names. Raises TypeError for a name that there is not."""
    known = [f.name for f in fields(CheckOptions)]
    for name in given:
        if name not in known:
            raise TypeError(f"check() has no option '{name}'. {did_you_mean(name, known)}")
    return CheckOptions(**given)


@dataclass(frozen=True)
class Sweep:
    """Constants of which some take several values, one run each."""

    fixed: Mapping[str, GivenText] = field(default_factory=dict)
    swept: Mapping[str, tuple[GivenText, ...]] = field(default_factory=dict)

    def combinations(self) -> list[dict[str, GivenText]]:
        """Return the constants of each run, the last swept one changing fastest."""
        result = [dict(self.fixed)]
        for name, values in self.swept.items():
            result = [{**known, name: value} for known in result for value in values]
        return result


def asked_for(name: str, properties: tuple[str, ...] | None) -> bool:
    """Return whether a property is to be checked; ``served`` asks for each ``served(Client#0)``."""
    return properties is None or name in properties or name.partition("(")[0] in properties


def read_settings(texts: list[str]) -> Sweep:
    """Return the constants of ``--set NAME=VALUE`` options. Raises RunError[SW306]."""
    fixed: dict[str, GivenText] = {}
    swept: dict[str, tuple[GivenText, ...]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not all(part.isidentifier() for part in name.split(".")):
            raise RunError(
                "SW306",
                f"--set {text} does not name a constant and its value.",
                help="Write --set NAME=VALUE, for example --set CLIENTS=3 or --set CLIENTS=2..4.",
            )
        if name in fixed or name in swept:
            raise RunError(
                "SW306",
                f"--set gives {name} twice.",
                help=f"Write --set {name}=2..4 to check several values.",
            )
        span = re.fullmatch(r"\s*(-?\d+)\.\.(-?\d+)\s*", value)
        if span is None:
            fixed[name] = GivenText(value.strip())
            continue
        swept[name] = _range(text, int(span[1]), int(span[2]))
    return Sweep(fixed, swept)


def several(sweep: Sweep, types: Callable[[], Mapping[str, Any]]) -> Sweep:
    """Return a sweep in which ``NAME=a,b`` and ``NAME=all`` are several values, where the
    type of the constant (looked up only if there are such texts) does not take them for one.

    Raises:  SpecError[SW301], RunError[SW306] for too many
    """
    asked = {n: v for n, v in sweep.fixed.items() if "," in v or v == "all"}
    if not asked:
        return sweep
    known = types()
    swept = {n: values_meant(n, v, known[n]) for n, v in asked.items() if n in known}
    swept = {n: values for n, values in swept.items() if len(values) > 1}
    for name, values in swept.items():
        if len(values) > MAX_SWEEP:
            said = f"--set {name} gives {len(values)} runs; the limit is {MAX_SWEEP}."
            raise RunError("SW306", said)
    fixed = {n: v for n, v in sweep.fixed.items() if n not in swept}
    return Sweep(fixed, {**sweep.swept, **swept})


def _range(text: str, first: int, last: int) -> tuple[GivenText, ...]:
    if first > last:
        raise RunError(
            "SW306", f"--set {text} is an empty range.", help="The smaller end is first."
        )
    if last - first >= MAX_SWEEP:
        raise RunError(
            "SW306", f"--set {text} gives {last - first + 1} runs; the limit is {MAX_SWEEP}."
        )
    return tuple(GivenText(str(n)) for n in range(first, last + 1))


def read_size(text: str) -> int:
    """Return bytes from ``4G``, ``500M``, ``1.5GB``. Raises ValueError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if found is None or (size := int(float(found[1]) * _SIZES[found[2]])) <= 0:
        raise ValueError(f"'{text}' is not a size such as 500M or 4G")
    if not found[2] and size < _SIZES["k"]:
        raise ValueError(f"'{text}' are bytes, and too few: say the unit, as in {found[1]}G")
    return size


def read_seconds(text: str) -> float:
    """Return seconds from ``90``, ``1.5s``, ``10m``, ``2h``. Raises ValueError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip().lower())
    if found is None:
        raise ValueError(f"'{text}' is not a time such as 90, 10m or 2h")
    return float(found[1]) * _TIMES[found[2]]


def read_threads(text: str) -> int:
    """Return how many threads: not many more than there are processors. Raises ValueError."""
    count, most = read_count(text), max(64, 4 * (os.cpu_count() or 1))
    if count > most:
        raise ValueError(f"'{text}' threads are too many: at most {most} are of use here")
    return count


def read_count(text: str) -> int:
    """Return a positive number, ``_`` and ``,`` allowed between digits. Raises ValueError."""
    plain = text.replace("_", "").replace(",", "")
    if not plain.isdecimal() or int(plain) < 1:
        raise ValueError(f"'{text}' is not a positive number")
    return int(plain)
