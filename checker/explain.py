"""Why a property is false: the failing element, with its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from checker.evidence import Failure

if TYPE_CHECKING:
    from dsl.errors import Span
    from dsl.model import Model

    from checker.engine import Finding
    from checker.trace import Trace


@dataclass(frozen=True)
class Explanation:
    """What is false: a text of the spec, the variables it speaks of, and the values of its parts."""

    text: str
    bindings: tuple[tuple[str, Any], ...] = ()
    values: tuple[tuple[str, Any], ...] = ()
    span: Span | None = None


def explain(model: Model, finding: Finding) -> Explanation | None:
    """The failing element of a finding's property."""
    return None


def failure_of(model: Model, finding: Finding, trace: Trace) -> Failure:
    """What an exception of the spec was."""
    return Failure(f"{type(finding.error).__name__}: {finding.error}", trace)
