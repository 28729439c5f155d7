"""The Spark engine: the same search with its frontier partitioned over executors.

Learning stays in the driver, replay runs on executors with what was learned.
See docs/how-to/spark.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from statewalk.checker.contract.search import Exploration, SearchOptions
    from statewalk.dsl.model import Model


def unable(model: Model, options: SearchOptions) -> str:
    """Return why this engine cannot do a search, in words; empty where it can."""
    from statewalk.checker.spark.session.settings import mistake

    return mistake(options.engine_settings)


def explore(model: Model, options: SearchOptions, **settings: Any) -> Exploration:
    """Search with Spark; ``settings`` are the fields of `session.settings.Settings`."""
    from statewalk.checker.spark.running import explore_with
    from statewalk.checker.spark.session.settings import Settings

    return explore_with(model, options, Settings(**{**options.engine_settings, **settings}))
