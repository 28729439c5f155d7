"""Which session to use, and in which form jobs are given to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from statewalk.checker.spark.session.session import (
    cluster_context,
    connect_session,
    is_connect,
    local_context,
    session_over,
)

if TYPE_CHECKING:
    from statewalk.checker.spark.driver.jobs import Jobs
    from statewalk.checker.spark.session.settings import Settings

_CONNECT = "sc://"


def session_of(settings: Settings, threads: int) -> Any:
    """The session that the settings ask for. Raises RunError[SW330] to RunError[SW332]."""
    if settings.session is not None:
        return settings.session
    context = context_of(settings, threads)
    if context is None:
        assert settings.master is not None
        return connect_session(settings.master)
    return session_over(context)


def context_of(settings: Settings, threads: int) -> Any:
    """The context that the settings ask for; None for Connect, which has none.

    Raises:  RunError[SW330] to RunError[SW332]
    """
    session, master = settings.session, settings.master
    if session is not None:
        return None if is_connect(session) else session.sparkContext
    if master is not None and master.startswith(_CONNECT):
        return None
    if master is not None and not master.startswith("local"):
        return cluster_context(master)
    return local_context(master or _all_here(threads))


def jobs_of(settings: Settings, threads: int, folder: str) -> Jobs:
    """The jobs of the session that the settings ask for."""
    from statewalk.checker.spark.driver.jobs import FrameJobs, RddJobs

    context = None if settings.form == "frame" else context_of(settings, threads)
    if context is None:
        return FrameJobs(session_of(settings, threads), folder)
    return RddJobs(context)


def _all_here(threads: int) -> str:
    """The master for local mode: as many cores as there are threads asked for, or as there are."""
    return f"local[{threads if threads > 1 else os.cpu_count() or 1}]"
