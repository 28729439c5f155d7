"""Which refinements a check is to decide, and what it comes to know of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statewalk.checker.contract.options import CheckOptions
    from statewalk.checker.contract.search import Finding, SearchOptions
    from statewalk.checker.traces.trace import Abstract
    from statewalk.dsl.model import Model, Property


@dataclass
class Refinements:
    """What is known of the refinements, by name, as `liveness.in_a_check.Live` has it of liveness.

    ``abstract`` is how the other model sees a violation. ``compared`` names the fields that were
    compared.
    """

    findings: dict[str, Finding] = field(default_factory=dict)
    abstract: dict[str, Abstract] = field(default_factory=dict)
    compared: dict[str, tuple[str, ...]] = field(default_factory=dict)
    loops: dict[str, int] = field(default_factory=dict)
    not_taken: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unchecked: dict[str, str] = field(default_factory=dict)
    unsound: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)
    unfinished: bool = False


def wanted(model: Model, asked: SearchOptions) -> list[Property]:
    """The refinements that were asked for."""
    return [p for p in model.properties if p.of_kind.over == "specs" and asked.wants(p.name)]


def keeps_graph(model: Model, options: CheckOptions, asked: SearchOptions) -> bool:
    """Whether the search is to keep the state graph, so that none has to be made after it.

    Under a limit of memory the search comes first, and in parts there is none of the whole.
    """
    bound = options.max_memory is not None or asked.checkpoint is not None
    return not bound and bool(wanted(model, asked))
