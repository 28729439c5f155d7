"""The Spark engine: the same search with its frontier partitioned over executors.

Learning stays in the driver, replay runs on executors with broadcast tries. See docs/spark.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checker.engine import Exploration, SearchOptions
    from dsl.model import Model


def unable(model: Model, options: SearchOptions) -> str:
    """Why this engine cannot do a search, in words; empty where it can."""
    buckets = options.engine_settings.get("buckets", 64)
    if buckets & (buckets - 1) or not 1 <= buckets <= 4096:
        return f"--spark-buckets is a power of two up to 4096, not {buckets}"
    if options.fingerprint_bits != 64:
        return "it works with fingerprints of 64 bits"
    wanted = [p for p in model.properties if p.kind == "on_step" and options.wants(p.name)]
    if wanted or model.step_constraints:
        return "it does not check properties and constraints of steps yet"
    return ""


def explore(model: Model, options: SearchOptions, **settings: Any) -> Exploration:
    """Search with Spark; ``settings`` are the fields of `checker.spark.search.Settings`."""
    from checker.spark.search import Settings, explore_with

    return explore_with(model, options, Settings(**{**options.engine_settings, **settings}))
