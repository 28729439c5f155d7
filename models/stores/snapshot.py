"""Snapshot isolation: a multi-version store, its sessions, and what isolation they get.

A transaction begins with a snapshot, reads from it, buffers its writes, and commits. Whether
everybody then sees one order of things depends on which snapshot it is, what is checked when, and
how writes become visible; whether it lasts, on what is written to disk before a client is told.
Each of these is a constant; the correct store is the default.

Left out: deletions and range queries.
"""

from statewalk import action, always, config, eventually, require, terminal
from statewalk.models.stores.multiversion import levels  # noqa: F401 - its properties
from statewalk.models.stores.multiversion.clients import clients
from statewalk.models.stores.multiversion.disk import disk, rebuild
from statewalk.models.stores.multiversion.rows import ROWS
from statewalk.models.stores.multiversion.sessions import sessions
from statewalk.models.stores.multiversion.settings import ACK, LIVENESS, STORE_CRASHES
from statewalk.models.stores.multiversion.workload import transactions_of

if STORE_CRASHES > 0:

    @action(fault=True)
    def crash_of_the_store() -> None:
        """All is lost but the disk; the store comes back with what is there."""
        require(disk.crashes < STORE_CRASHES)
        disk.crashes += 1
        for session in sessions:
            if ACK == "logged":
                session.tear()
        disk.unlogged = []
        rebuild()
        for session in sessions:
            session.lose()


# -- the end ---------------------------------------------------------------------------------------
if LIVENESS:

    @eventually
    @always
    def terminates() -> bool:
        """Transactions that begin commit or abort."""
        return all(session.stage == "idle" for session in sessions)


@terminal
def everything_done() -> bool:
    return all(session.stage == "idle" for session in sessions) and all(
        client.begun == transactions_of(client.index) for client in clients
    )


# -- configurations --------------------------------------------------------------------------------
for row, expect, constants in ROWS:
    config(row, expect=expect, **constants)
