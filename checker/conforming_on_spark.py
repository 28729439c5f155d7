"""Checking a folder of logs with Spark: each run is a task, and only data travels.

The driver reads the logs and sends their text; a task answers with JSON. A log is followed by
running the spec, so executors load it, and the file of ``--map``, from where the driver has them.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import lru_cache, partial
from socket import gethostname
from typing import Any

from statewalk.checker.conform.answer import Conformance
from statewalk.checker.conform.coverage import Coverage
from statewalk.checker.conform.follow import said_of
from statewalk.checker.conform.logs import opened
from statewalk.checker.conforming import Asked, Question
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.machine.places import Place
from statewalk.checker.machine.watch import CutShort
from statewalk.checker.report.systems.conform import conform_page
from statewalk.checker.spark.session.settings import Settings
from statewalk.dsl.errors import EngineError, RunError, Span, SpecError, StatewalkError
from statewalk.dsl.words.constants import GivenText

Load = Callable[[Any], bytes]
_PART = 4_000_000  # bytes of logs that are sent together: a task loads little that is not its own
_KINDS = {kind.__name__: kind for kind in (SpecError, RunError, EngineError)}


def on_spark(
    asked: Asked,
    question: Question,
    runs: Sequence[Sequence[str]],
    settings: Settings,
    threads: int,
) -> list[Conformance]:
    """What becomes of many runs, in their order, from one job of Spark with a task for each; of
    all of them that it is undecided where the job is interrupted.

    Raises:  RunError[SW329] to RunError[SW334], and what following a log raises
    """
    from statewalk.checker.spark.driver.cluster import Cluster
    from statewalk.checker.spark.driver.jobs import Stopped, waiting
    from statewalk.checker.spark.running import folder_of
    from statewalk.checker.spark.tasks.plan import sources

    folder, _ = folder_of(SearchOptions(), settings)
    head = {**asdict(asked), "in": os.getcwd(), "token": os.urandom(8).hex()}
    head |= {"sources": sources().hex()}
    try:
        jobs = Cluster(settings, folder, threads).jobs
        where = list(_sent(jobs.send, runs))
        task = partial(follow_there, json.dumps(head), where)
        with ThreadPoolExecutor(1) as pool:
            interrupted = question.limits.interrupted
            told = waiting(pool, jobs, lambda: jobs.each(task, len(runs)), interrupted)
    except Stopped:
        said = said_of(CutShort("interrupt", Place("following the logs with Spark", "", 0)))
        found = f"before the log was read: {said}"
        return [question.told(run, found, conform_page(found)) for run in runs]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return [_unpacked(json.loads(text)) for text in told]


def _sent(
    send: Callable[[bytes], Any], runs: Sequence[Sequence[str]]
) -> Iterator[tuple[Any, int, int]]:
    """Send the logs of all runs, several runs at a time; of each run where its logs are."""
    part, ends = bytearray(), [0]
    for at, run in enumerate(runs, 1):
        part += json.dumps({file: _text_of(file) for file in run}).encode()
        ends.append(len(part))
        if len(part) >= _PART or at == len(runs):
            place = send(bytes(part))
            yield from ((place, *ends[n : n + 2]) for n in range(len(ends) - 1))
            part, ends = bytearray(), [0]


def _text_of(file: str) -> str | None:
    """The text of a log; of one that cannot be read nothing, and its task says why."""
    try:
        with opened(file) as lines:
            return lines.read()
    except RunError:
        return None


def _unpacked(told: dict[str, Any]) -> Conformance:
    """An answer as a task packed it. Raises what the task met."""
    if "cut" in told:
        raise CutShort(told["cut"], Place(**told["place"]))
    if "code" in told:
        at = Span(**told["at"]) if told["at"] else None
        kind: type[StatewalkError] = _KINDS[told["kind"]]
        raise kind(told["code"], told["message"], at=at, why=told["why"], help=told["help"])
    told["logs"] = tuple(told["logs"])
    shown = told.pop("coverage")
    fired, guards, met = (Counter(shown[name]) for name in ("fired", "guards", "met"))
    coverage = Coverage(shown["runs"], fired, guards, met, set(shown["states"]))
    return Conformance(**told, coverage=coverage)


# -- in a task -----------------------------------------------------------------------------------


def follow_there(head: str, where: Sequence[tuple[Any, int, int]], task: int, load: Load) -> str:
    """What becomes of the run of a task, or the mistake that it has, as JSON."""
    place, start, end = where[task]
    texts = json.loads(load(place)[start:end])
    before = os.getcwd()
    try:
        _go_to(json.loads(head)["in"])
        answer = _asked(head).of_many(list(texts), texts)
    except CutShort as cut:
        return json.dumps({"cut": cut.reason, "place": asdict(cut.place)})
    except StatewalkError as error:
        said = {name: getattr(error, name) for name in ("code", "message", "why", "help")}
        kind = next(name for name, kind in _KINDS.items() if isinstance(error, kind))
        return json.dumps({**said, "kind": kind, "at": error.at and asdict(error.at)})
    finally:
        os.chdir(before)
    told = asdict(replace(answer, coverage=Coverage()))
    shown = vars(answer.coverage)
    return json.dumps({**told, "coverage": {**shown, "states": list(shown["states"])}})


def _go_to(folder: str) -> None:
    """Be where the driver is, so that files have its names. Raises RunError[SW334]."""
    try:
        os.chdir(folder)
    except OSError:
        raise RunError(
            "SW334",
            f"{gethostname()} does not have the folder {folder}.",
            why="Executors load the spec to follow a log, from where the driver has it.",
            help="Start statewalk in a folder that all nodes share, with the spec in it.",
        ) from None


@lru_cache(maxsize=1)
def _asked(head: str) -> Question:
    """The question of a job, once per process. Raises RunError[SW334]."""
    from statewalk.checker.spark.tasks.plan import same_sources

    told = json.loads(head)
    same_sources(bytes.fromhex(told.pop("sources")))
    del told["in"], told["token"]
    constants = {name: GivenText(text) for name, text in told.pop("constants").items()}
    for name in ("hidden", "watch"):
        told[name] = tuple(told[name])
    return Asked(**told, constants=constants).question()
