"""`statewalk history collect`: run a workload against a database and record its history."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

from statewalk.checker.commands.arguments import argument
from statewalk.checker.contract.options import read_count
from statewalk.checker.history.collect.databases import (
    DATABASES,
    database_of,
    without_password,
)
from statewalk.checker.history.collect.driver import WorkloadRun, collect
from statewalk.checker.history.collect.object_driver import (
    LEASE,
    PLANS,
    ObjectRun,
    collect_object,
    store_of,
)
from statewalk.checker.history.collect.workloads import WORKLOADS, Shape
from statewalk.checker.history.errors import HistoryError, no_access
from statewalk.checker.machine import streams
from statewalk.checker.verdict.exits import HOLDS, MISTAKE
from statewalk.dsl.errors import StatewalkError

_URL = "STATEWALK_URL"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register `collect`."""
    parser = commands.add_parser(
        "collect",
        help="run a workload against a database and record its history",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Run transactions in concurrent sessions against a database and append "
        "requests and answers to OUT. Tables called statewalk_* are made anew.",
        epilog="workloads:\n"
        + "\n".join(f"  {name:<14}{text}" for name, (text, _) in WORKLOADS.items())
        + "\n\nisolation levels (the first is the default):\n"
        + "\n".join(f"  {name:<14}{', '.join(d.levels)}" for name, d in DATABASES.items()),
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="the history file to write, new")
    parser.add_argument(
        "--database",
        choices=tuple(DATABASES),
        help="without it, what the URL speaks of, else duckdb",
    )
    parser.add_argument(
        "--url",
        help="a file (duckdb: without one, in memory; sqlite), postgresql://..., or mysql://...; "
        f"without --url, what {_URL} in the environment says",
    )
    parser.add_argument("--isolation", metavar="LEVEL", help="the level to ask the database for")
    parser.add_argument(
        "--workload",
        choices=tuple(WORKLOADS),
        help="the transactions to run (blindw-rw)",
    )
    for name, default, what in (
        ("transactions", 1000, "transactions, or requests to an object, in all"),
        ("sessions", 4, "sessions at the same time"),
        ("operations", 8, "operations per transaction, about"),
        ("keys", 100, "keys"),
    ):
        parser.add_argument(
            f"--{name}", type=argument(read_count), default=default, metavar="N", help=what
        )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the workload")
    parser.add_argument(
        "--pause",
        type=argument(_milliseconds),
        default=0.0,
        metavar="MS",
        help="wait of the workloads rmw and bank between reading and writing, and how long a "
        "lock is held",
    )
    _add_object(parser)
    parser.set_defaults(run=run_collect)


def _add_object(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--object",
        choices=tuple(PLANS),
        help="requests to one object instead of transactions: kv on a database or "
        "Redis (redis://HOST:PORT), lock on PostgreSQL or Redis, lease on Redis",
    )
    parser.add_argument(
        "--kill",
        type=argument(read_count),
        default=0,
        metavar="N",
        help="clients of an object to kill: their last requests have unknown outcomes",
    )
    parser.add_argument(
        "--lease", type=argument(read_count), default=0, metavar="MS",
        help=f"when a lease on Redis runs out ({LEASE}), or a lock there (never)",
    )  # fmt: skip


def _milliseconds(text: str) -> float:
    """Return seconds from milliseconds. Raises ValueError."""
    if not re.fullmatch(r"\d+(\.\d+)?", text) or float(text) > 60_000:
        raise ValueError(f"'{text}' is not a number of milliseconds up to 60000")
    return float(text) / 1000


def run_collect(args: argparse.Namespace) -> int:
    """Collect and say how it went; the exit code."""
    if args.object:
        return _run_object(args)
    if args.kill or args.lease:
        raise _refuse("--kill and --lease are for clients of an object", "--object with them")
    args.workload = args.workload or "blindw-rw"
    run = WorkloadRun(
        args.workload,
        args.transactions,
        Shape(args.operations, args.keys, args.sessions),
        args.seed,
        args.pause,
    )
    url = args.url if args.url is not None else os.environ.get(_URL, "")
    args.database = args.database or database_of(url)
    try:
        database = DATABASES[args.database](url, args.isolation)
    except StatewalkError:
        raise
    except Exception as error:  # each driver has its own errors for what cannot be opened
        return _refused(args, url, error)
    try:
        counts = collect(database, run, args.out)
    except database.errors as error:
        return _refused(args, url, error)
    except OSError as error:
        streams.warn(f"{no_access(error)}\n")
        return MISTAKE
    streams.say(
        f"{args.out}: {sum(counts.values())} transactions of {args.workload} on {args.database} "
        f"({database.isolation}): {counts['ok']} committed, {counts['fail']} aborted, "
        f"{counts['info']} indeterminate\n"
        f"Check it:  statewalk history check {args.out}\n"
    )
    return HOLDS


def _run_object(args: argparse.Namespace) -> int:
    """Collect requests to an object and say how it went; the exit code."""
    if args.workload:
        raise _refuse("--workload is for transactions", "--object without it")
    run = ObjectRun(
        args.object, args.transactions, args.sessions, args.keys, args.seed, args.pause, args.kill
    )
    url = args.url if args.url is not None else os.environ.get(_URL, "")
    database, args.database = None, args.database or "redis"
    if not url.startswith("redis://"):
        args.database = args.database if args.database != "redis" else database_of(url)
        database = DATABASES[args.database](url, args.isolation)
    store = store_of(args.object, url, database, args.lease)
    if store is None or (args.kill and args.database in ("duckdb", "sqlite")):
        what = "--kill" if store else f"--object {args.object}"
        raise _refuse(f"{args.database} has no {what}", "PostgreSQL, or redis://HOST:PORT")
    try:
        counts = collect_object(store, run, args.out)
    except store.errors as error:
        return _refused(args, url, error)
    streams.say(
        f"{args.out}: {sum(counts.values())} requests to {args.object} on {args.database}: "
        f"{counts['ok']} ok, {counts['fail']} refused, {counts['info']} of unknown outcome\n"
        f"Check it:  statewalk history check {args.out} --object {args.object}\n"
    )
    return HOLDS


def _refuse(what: str, expected: str) -> HistoryError:
    return HistoryError(what, expected=expected, code="SW708")


def _refused(args: argparse.Namespace, url: str, error: Exception) -> int:
    said = " ".join(str(error).split()) or type(error).__name__
    said = without_password(said, url)
    streams.warn(f"SW708 {args.database} cannot be used: {said}\n")
    return MISTAKE
