"""``statewalk query``: ask a state graph in SQL, or with ready questions."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.commands.arguments import argument
from statewalk.checker.contract.options import read_seconds, read_size
from statewalk.checker.machine import streams, supervisor
from statewalk.checker.verdict.exits import HOLDS, INCONCLUSIVE, VIOLATED

if TYPE_CHECKING:
    from statewalk.checker.graph.ask import Answer, Database
    from statewalk.checker.graph.dataset import About

_LIMIT = 100
_PATIENCE = 600.0  # seconds
_MEMORY = 4 << 30  # bytes
_ENGINE = 0.75  # of them for what DuckDB holds: rows that were fetched need their own


def add_parser(subparsers: Any) -> None:
    """Add the command to the parser."""
    parser = subparsers.add_parser(
        "query",
        help="query a state graph in SQL",
        description="Query the graph that 'statewalk check SPEC --graph DIR' wrote: in SQL over "
        "the tables states and transitions, or by an option. Predicates are SQL over the "
        "columns of states. Without a query the columns are listed.",
        epilog="Exit codes: 0 answered, 1 there is no such path, 2 mistake, 3 no answer in time.",
    )
    parser.add_argument("graph", metavar="DIR", help="the folder of the graph")
    parser.add_argument("sql", metavar="SQL", nargs="?", help="a question in SQL")
    parser.set_defaults(late="sql")
    group = parser.add_argument_group("ready questions")
    group.add_argument(
        "--where", metavar="PREDICATE", help="the states where it is true, nearest first"
    )
    group.add_argument(
        "--path",
        nargs=2,
        metavar=("FROM", "TO"),
        help="a shortest path from a state where FROM is true to one where TO is",
    )
    group.add_argument(
        "--avoiding", metavar="PREDICATE", help="--path: through no state where it is true"
    )
    group = parser.add_argument_group("the answer")
    group.add_argument(
        "--limit", type=_limit, default=_LIMIT, metavar="N", help=f"rows at most ({_LIMIT}; 0: all)"
    )
    group.add_argument("--json", action="store_true", help="as JSON")
    group = parser.add_argument_group("what answers")
    group.add_argument(
        "--timeout",
        type=argument(read_seconds),
        default=_PATIENCE,
        metavar="S",
        help="give up after so long (10m; 0: never)",
    )
    group.add_argument(
        "--max-memory",
        type=argument(read_size),
        default=_MEMORY,
        metavar="SIZE",
        help="give up beyond so much memory (4G)",
    )
    group.add_argument(
        "--allow-files", action="store_true", help="let SQL read and write other files"
    )
    parser.set_defaults(run=run)


def _limit(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of rows")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    """Ask, and print the answer; the exit code."""
    from statewalk.checker.graph.ask import TookTooLong

    limit, memory = arguments.timeout, arguments.max_memory
    deadline = time.monotonic() + limit if limit else None
    supervisor.note(files=[], doing="the question", deadline=deadline, memory=memory)
    try:
        return _answered(arguments)
    except TookTooLong as error:
        sys.stderr.write(f"{error}\n")
        return INCONCLUSIVE


def _answered(arguments: argparse.Namespace) -> int:
    from statewalk.checker.graph.dataset import read_about

    _one_question(arguments)
    folder = Path(arguments.graph)
    about = read_about(folder)
    asked = _opened(arguments, folder)
    limit = arguments.limit or None
    if arguments.path is not None:
        return _path(arguments, asked, about)
    if arguments.where is not None:
        from statewalk.checker.graph.ask import states_where

        return _say(arguments, states_where(asked, arguments.where, limit))
    if arguments.sql is not None:
        return _say(arguments, asked.ask(arguments.sql, limit))
    return _about(arguments, asked, about)


def _one_question(arguments: argparse.Namespace) -> None:
    """Raises RunError[SW352] for several questions at once."""
    from statewalk.dsl.errors import RunError

    given = [q for q in (arguments.sql, arguments.where, arguments.path) if q is not None]
    if len(given) > 1:
        raise RunError(
            "SW352", "Several questions were given.", help="Give one of SQL, --where and --path."
        )
    if arguments.avoiding is not None and arguments.path is None:
        raise RunError("SW352", "--avoiding needs --path.", help="Give --path FROM TO too.")


def _opened(arguments: argparse.Namespace, folder: Path) -> Database:
    from statewalk.checker.graph.ask import Database, Patience

    patience = Patience(arguments.timeout or None)
    memory = int(_ENGINE * arguments.max_memory)
    return Database(folder, files=arguments.allow_files, patience=patience, memory=memory)


def _say(arguments: argparse.Namespace, answer: Answer) -> int:
    from statewalk.checker.report.query import answer_page

    if arguments.json:
        _print({"columns": answer.columns, "rows": answer.rows, "more": answer.more})
    else:
        answer_page(answer, width=streams.width()).show(streams.out())
    return HOLDS


def _path(arguments: argparse.Namespace, asked: Database, about: About) -> int:
    from statewalk.checker.graph.ask import shortest_path
    from statewalk.checker.report.query import path_page

    start, goal = arguments.path
    found = shortest_path(asked, start, goal, arguments.avoiding)
    if arguments.json:
        length = None if found is None else len(found.steps)
        states = [] if found is None else found.states
        steps = [] if found is None else found.steps
        _print({"length": length, "states": states, "steps": steps})
    elif found is None:
        within = "" if about.complete else " within the levels that were searched"
        streams.say(f"There is no such path{within}.\n")
    else:
        path_page(found, about.columns, width=streams.width()).show(streams.out())
    return VIOLATED if found is None else HOLDS


def _about(arguments: argparse.Namespace, asked: Database, about: About) -> int:
    from dataclasses import asdict

    from statewalk.checker.report.query import about_page

    if arguments.json:
        _print(asdict(about))
        return HOLDS
    types = {}
    for table in ("states", "transitions"):
        answer = asked.ask(f"SELECT * FROM {table} LIMIT 0")
        types[table] = dict(zip(answer.columns, answer.types, strict=True))
    about_page(about, types, folder=arguments.graph, width=streams.width()).show(streams.out())
    return HOLDS


def _print(data: dict[str, Any]) -> None:
    """One JSON object; what JSON does not know becomes text."""
    text = json.dumps(data, indent=2, ensure_ascii=True, default=str)
    streams.say(text + "\n")
