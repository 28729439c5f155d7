"""The result of a check: what `--json` prints and ``result.json`` holds. Its field names are a
contract.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, Literal

from statewalk.dsl.errors import printable
from statewalk.dsl.kinds import OfKind

SCHEMA = 1
RunVerdict = Literal["holds", "violated", "bounded", "error"]
PropertyVerdict = Literal["holds", "violated", "unknown"]


class _Part:
    """What `read_result` reads: other fields than these are a mistake."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}


@dataclass(frozen=True, kw_only=True)
class Counts(_Part):
    """Sizes of the search, in states; ``depth`` in levels."""

    initial: int = 0
    distinct: int = 0
    generated: int = 0
    depth: int = 0


@dataclass(frozen=True, kw_only=True)
class PropertyResult(_Part, OfKind):
    """The verdict on one property. ``trace`` is a file that shows it, ``length`` the trace's
    transitions.
    """

    name: str
    kind: str
    verdict: PropertyVerdict
    vacuous: bool = False
    trace: str | None = None
    length: int | None = None


def held_vacuously(properties: Iterable[PropertyResult]) -> dict[str, PropertyResult]:
    """The properties that held vacuously, by name; those invariants that do together, by theirs."""
    found: dict[str, PropertyResult] = {}
    for prop in properties:
        if prop.vacuous:
            together = prop.of_kind.searched and prop.name.endswith(")")
            found.setdefault(prop.name.partition("(")[0] if together else prop.name, prop)
    return found


@dataclass(frozen=True, kw_only=True)
class ActionResult(_Part):
    """How many transitions an action made, over all its instances."""

    name: str
    fired: int


@dataclass(frozen=True, kw_only=True)
class Result(_Part):
    """The verdict of a check, with what it rests on: the JSON object, field by field. It is true
    where everything holds, or is as the configuration expects; a bound is no pass.
    """

    schema_: int = SCHEMA
    spec: str
    constants: dict[str, Any] = field(default_factory=dict)
    engine: str
    verdict: RunVerdict
    exhaustive: bool = False
    as_expected: bool | None = None
    counts: Counts = field(default_factory=Counts)
    seconds: float = 0.0
    properties: tuple[PropertyResult, ...] = ()
    actions: tuple[ActionResult, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether everything that was asked holds in every reachable state."""
        return self.verdict == "holds"

    def __bool__(self) -> bool:
        return self.holds if self.as_expected is None else self.as_expected

    def of(self, name: str) -> PropertyResult:
        """The result on one property. Raises KeyError."""
        for found in self.properties:
            if found.name == name:
                return found
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object as Python values."""
        data: dict[str, Any] = _plain(self)
        return data

    def to_json(self) -> str:
        """The JSON object as text."""
        return printable(json.dumps(self.to_dict(), indent=2, ensure_ascii=False))


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if is_dataclass(value):
        return {f.name.rstrip("_"): _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return value


def read_result(data: Mapping[str, Any]) -> Result:
    """The result of which this is the JSON object. Raises ValueError for what is none."""
    from pydantic import TypeAdapter  # it takes longer to load than most checks to be made

    given = {"schema_" if name == "schema" else name: part for name, part in data.items()}
    result: Result = TypeAdapter(Result).validate_python(given)
    return result
