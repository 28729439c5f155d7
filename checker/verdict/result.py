"""The result of a check: what `--json` prints and ``result.json`` holds. Its field names are a
contract.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from statewalk.dsl.errors import printable

SCHEMA = 1
RunVerdict = Literal["holds", "violated", "bounded", "error"]
PropertyVerdict = Literal["holds", "violated", "unknown"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Counts(_Part):
    """Sizes of the search, in states; ``depth`` in levels. An absent ``fizzbee_unique`` was not
    asked for.
    """

    initial: int = 0
    distinct: int = 0
    generated: int = 0
    depth: int = 0
    fizzbee_unique: int | None = None


class PropertyResult(_Part):
    """The verdict on one property. ``trace`` is a file that shows it, ``length`` the trace's
    transitions.
    """

    name: str
    kind: str
    verdict: PropertyVerdict
    vacuous: bool = False
    trace: str | None = None
    length: int | None = None


class ActionResult(_Part):
    """How many transitions an action made, over all its instances."""

    name: str
    fired: int


class Result(_Part):
    """The verdict of a check, with what it rests on: the JSON object, field by field."""

    schema_: int = Field(default=SCHEMA, alias="schema")
    spec: str
    constants: dict[str, Any] = Field(default_factory=dict)
    engine: str
    verdict: RunVerdict
    exhaustive: bool = False
    as_expected: bool | None = None
    counts: Counts = Field(default_factory=Counts)
    seconds: float = 0.0
    properties: tuple[PropertyResult, ...] = ()
    actions: tuple[ActionResult, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether everything that was asked holds in every reachable state."""
        return self.verdict == "holds"

    def of(self, name: str) -> PropertyResult:
        """The result on one property. Raises KeyError."""
        for found in self.properties:
            if found.name == name:
                return found
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object as Python values."""
        data = self.model_dump(mode="json", by_alias=True)
        if data["counts"]["fizzbee_unique"] is None:
            del data["counts"]["fizzbee_unique"]
        return data

    def to_json(self) -> str:
        """The JSON object as text."""
        return printable(json.dumps(self.to_dict(), indent=2, ensure_ascii=False))
