"""The result of a check: what `--json` prints and ``result.json`` holds. Its field names are a
contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

if TYPE_CHECKING:
    from statewalk.checker.traces.trace import Trace
    from statewalk.checker.verdict.evidence import Evidence

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
    """The verdict of a check, with what it rests on.

    Fields are those of the JSON object; `traces` and `evidence` are at hand in Python only (the
    run's folder holds both as files).
    """

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
    _evidence: Evidence | None = PrivateAttr(default=None)
    _traces: Mapping[str, Trace] = PrivateAttr(default_factory=dict)

    @property
    def evidence(self) -> Evidence | None:
        """What else was found out; None for a result read from a file."""
        return self._evidence

    @property
    def traces(self) -> Mapping[str, Trace]:
        """By property: the counterexample, or the way to the witness."""
        return self._traces

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
        import json

        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def remembering(self, evidence: Evidence, traces: Mapping[str, Trace]) -> Result:
        """The result with what Python alone can see of it."""
        copy = self.model_copy()
        copy._evidence, copy._traces = evidence, traces
        return copy

    def with_files(self, folder: str, files: Mapping[str, str]) -> Result:
        """The result with its folder, and the files of its traces by property."""
        named = tuple(p.model_copy(update={"trace": files.get(p.name)}) for p in self.properties)
        evidence = self._evidence
        if evidence is not None:
            evidence = replace(evidence, folder=folder)
        copy = self.model_copy(update={"properties": named})
        copy._evidence, copy._traces = evidence, self._traces
        return copy

    def with_warning(self, text: str) -> Result:
        """The result with one more warning."""
        copy = self.model_copy(update={"warnings": (*self.warnings, text)})
        copy._evidence, copy._traces = self._evidence, self._traces
        return copy

    def __str__(self) -> str:
        return self._text()

    def __repr__(self) -> str:
        return self._text()

    def _text(self) -> str:
        from statewalk.checker.report.check import report

        return report(self).plain()
