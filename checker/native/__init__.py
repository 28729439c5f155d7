"""The native engine: learn the transition relation, replay it in compiled code.

    learn      runs the spec where it is not known, and keeps what it did in flat arrays
    kernels    expand and check states            workers    buffers of the threads
    states     seen table, levels, links          search     one level after the other
    state      all that a search knows            checks     properties of states
    findings   violations and the way to them     profiling  where the time went
    steps      properties of steps                orbits     fingerprints under symmetry
    running    from a model to an exploration

`explore` has the contract of `checker.contract.search` and the results of
`checker.engines.reference`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from statewalk.checker.machine.watch import interruptible

if TYPE_CHECKING:
    from collections.abc import Callable

    from statewalk.checker.contract.search import Exploration, SearchOptions
    from statewalk.checker.native.learn.learned import Learned
    from statewalk.checker.native.learn.tracing import TracingView
    from statewalk.checker.native.search import Sink
    from statewalk.checker.native.state import NativeSearch
    from statewalk.dsl.model import Model


def explore(
    model: Model, options: SearchOptions, sink: Callable[[NativeSearch], Sink] | None = None,
    view: Callable[[Learned, Model], TracingView] | None = None,
) -> Exploration:  # fmt: skip
    """Breadth-first search by levels, natively; see `native.running.explore`."""
    with interruptible("loading the engine"):
        from statewalk.checker.native.running import explore as search

    return search(model, options, sink, view)
