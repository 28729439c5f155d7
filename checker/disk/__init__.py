"""The native engine with files in the place of memory, where a search outgrows what it may use.

    columns   numbers in files          runs     sorted fingerprints, states in their order
    search    a level from files        merging  from what came out to the next level
    saving    checkpoints               running  from a model to an exploration

What comes out is what comes out in memory. See docs/decisions/0045-beyond-memory.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from statewalk.checker.contract.saved import on_disk
from statewalk.checker.machine.watch import interruptible

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Exploration, SearchOptions
    from statewalk.dsl.model import Model


def explore_uncompiled(model: Model, options: SearchOptions) -> Exploration | None:
    """Search without kernels, where those are not compiled and few states suffice; else None."""
    from statewalk.checker import quick

    return quick.explore_uncompiled(model, options)


def explore(model: Model, options: SearchOptions) -> Exploration:
    """Breadth-first search by levels, natively; where memory is limited, from disk if need be."""
    if options.max_memory is None and not (options.resume and on_disk(options.checkpoint)):
        from statewalk.checker import native

        return native.explore(model, options)
    with interruptible("loading the engine"):
        from statewalk.checker.disk.saving import explore as search

    return search(model, options)
