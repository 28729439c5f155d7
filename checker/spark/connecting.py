"""Which session to use, and in which form jobs are given to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from checker.spark.session import cluster_session, connect_session, is_connect, local_session

if TYPE_CHECKING:
    from checker.spark.jobs import Jobs
    from checker.spark.settings import Settings


def session_of(settings: Settings, threads: int) -> Any:
    """The session that the settings ask for. Raises RunError[SW330] to RunError[SW332]."""
    if settings.session is not None:
        return settings.session
    master = settings.master
    if master is not None and master.startswith("sc://"):
        return connect_session(master)
    if master is not None and not master.startswith("local"):
        return cluster_session(master)
    return local_session(
        master or f"local[{max(1, threads if threads > 1 else os.cpu_count() or 1)}]"
    )


def jobs_of(settings: Settings, threads: int, folder: str) -> Jobs:
    """The jobs of the session that the settings ask for."""
    from checker.spark.jobs import FrameJobs, RddJobs

    session = session_of(settings, threads)
    if settings.form == "frame" or is_connect(session):
        return FrameJobs(session, folder)
    return RddJobs(session)
