"""Which context to use, and the jobs that are given to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from statewalk.checker.spark.session.session import cluster_context, local_context, no_context

if TYPE_CHECKING:
    from statewalk.checker.spark.driver.jobs import Jobs
    from statewalk.checker.spark.session.settings import Settings


def context_of(settings: Settings, threads: int) -> Any:
    """The context that the settings ask for. Raises RunError[SW330] to RunError[SW332]."""
    session, master = settings.session, settings.master
    if session is not None:
        if type(session).__module__.startswith("pyspark.sql.connect"):
            raise no_context("The session")
        return session.sparkContext
    if master is not None and master.startswith("sc://"):
        raise no_context(master)
    if master is not None and not master.startswith("local"):
        return cluster_context(master)
    return local_context(master or _all_here(threads))


def jobs_of(settings: Settings, threads: int) -> Jobs:
    """The jobs of the context that the settings ask for."""
    from statewalk.checker.spark.driver.jobs import Jobs

    return Jobs(context_of(settings, threads))


def _all_here(threads: int) -> str:
    """The master for local mode: as many cores as there are threads asked for, or as there are."""
    return f"local[{threads if threads > 1 else os.cpu_count() or 1}]"
