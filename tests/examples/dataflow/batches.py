"""Batches as files, what must come of them by the model's functions, and a job that is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from examples.dataflow import epochs, streaming
from examples.dataflow.resolving import named
from statewalk.checker.spark.session.session import local_session
from statewalk.models.stores.maintenance import recomputed
from statewalk.models.stores.resolution import (
    Answers,
    Counts,
    Query,
    Transaction,
    resolve,
    summed,
)

KINDS: tuple[Answers, ...] = ("look_up", "reach")
Epoch = list[Transaction]
Found = dict[str, Any]
# To compile a plan costs more than to run it over a few rows. Killed jobs run compiled ones.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
}


def session() -> Any:
    """Return a session with settings of its own, in which Spark compiles no plans."""
    made = local_session("local[2]").newSession()
    for name, value in INTERPRETED.items():
        made.conf.set(name, value)
    return made


def put(folder: Path, number: int, batch: Epoch) -> None:
    """Write a batch; what it says of queries is said once for each node."""
    lines: list[dict[str, object]] = []
    for t in batch:
        lines += [{"tid": t.tid, "requires": named(item)} for item in t.requires]
        lines += [{"tid": t.tid, "item": named(item), "count": n} for item, n in t.changes]
        for kind, node, count in t.queries:
            said = "root" if kind == "reach" else kind
            lines.append({"tid": t.tid, said: str(node), "count": count})
    lines.append({"end": number, "records": len(lines)})
    folder.mkdir(exist_ok=True)
    written = folder / f".{number:08}.json"
    written.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    second = 1_700_000_000 + number  # Spark takes the older first
    os.utime(written, (second, second))
    written.rename(folder / f"{number:08}.json")


def random_log(seed: int, length: int, size: int) -> list[Epoch]:
    """Batches that insert edges among four nodes, remove some that they require, and ask."""
    pick = random.Random(seed)
    edges = [(x, y) for x in range(4) for y in range(4)]

    def one(tid: int) -> Transaction:
        if pick.random() < 0.4:
            gone = pick.choice(edges)
            return Transaction(tid, (gone,), ((gone, -1),))
        queries: tuple[Query, ...] = ()
        if pick.random() < 0.4:
            queries = ((pick.choice(KINDS), pick.randrange(4), pick.choice((1, 1, -1))),)
        added = tuple((edge, 1) for edge in sorted(pick.sample(edges, 2)))
        required = tuple(pick.sample(edges, pick.randint(0, 1)))
        return Transaction(tid, required, added, queries)

    return [[one(tid) for tid in range(size)] for _ in range(length)]


def expected(log: list[Epoch]) -> list[Found]:
    """Return what each epoch says, executed one transaction after the other and asked afresh."""
    collection: Counts = ()
    counts: dict[Answers, Counter[int]] = {kind: Counter() for kind in KINDS}
    answers: dict[Answers, Counts] = dict.fromkeys(KINDS, ())
    found: list[Found] = []
    for batch in log:
        done = resolve(collection, tuple(batch), "sequential")
        collection = summed((*collection, *done.changes))
        live = [t for t in batch if t.tid not in done.aborted]
        for t in live:
            for kind, node, count in t.queries:
                counts[kind][node] += count
        old = answers
        answers = {kind: recomputed(kind, +counts[kind], collection) for kind in KINDS}
        found.append(
            {
                "aborted": sorted(done.aborted),
                "change": {named(item): n for item, n in done.changes},
                "looked_up": difference(old["look_up"], answers["look_up"]),
                "reached": difference(old["reach"], answers["reach"]),
            }
        )
    return found


def difference(before: Counts, after: Counts) -> dict[str, int]:
    changes = summed((*after, *((row, -count) for row, count in before)))
    return {named(row): count for row, count in changes}


def said(out: Path) -> list[Found]:
    """Return what the epochs in a folder say, read without Spark."""
    found: list[Found] = []
    for number, folder in enumerate(sorted((out / "epochs").iterdir()), start=1):
        assert folder.name == f"{number:08}"
        files = (folder / "rows").glob("*.json")
        rows = [json.loads(line) for f in files for line in f.read_text("utf-8").splitlines()]
        pairs = [(f"{r['item']}-{r['node']}", r["count"]) for r in rows if r["kind"] == "reached"]
        found.append(
            {
                "aborted": sorted(r["tid"] for r in rows if r["kind"] == "aborted"),
                "reached": dict(pairs),
                **{
                    kind: {r["item"]: r["count"] for r in rows if r["kind"] == kind}
                    for kind in ("change", "looked_up")
                },
            }
        )
        told = sum(len(part) for part in found[-1].values())
        assert told == sum(r["kind"] not in ("look_up", "root") for r in rows)  # no row twice
    return found


# -- a job that is killed --------------------------------------------------------------------------
POINTS = ("taken", "resolved", "written", "kept")  # where: see `arm`


def arm(point: str, epoch: int, strike: Callable[[], None]) -> None:
    """Let something happen to this process at a point of an epoch."""

    def around(place: Any, name: str, at: Callable[..., int], *, after: bool) -> None:
        original = getattr(place, name)

        def struck(*given: Any) -> Any:
            if not after and at(*given) == epoch:
                strike()
            found = original(*given)
            if after and at(*given) == epoch:
                strike()
            return found

        setattr(place, name, struck)

    match point:
        case "taken":  # Spark has written down what it hands over
            around(streaming.Job, "resolve", lambda _job, _records, mark: mark.epoch, after=False)
        case "resolved":  # nothing of it is on disk
            around(streaming.Job, "keep", lambda _job, _rows, mark: mark.epoch, after=False)
        case "written":  # but not under its name
            around(epochs, "publish", lambda _written, path: int(path.name), after=False)
        case "kept":  # but Spark does not know that its batch is done
            around(epochs, "publish", lambda _written, path: int(path.name), after=True)


def main() -> None:
    """Run a job that ends at a point: its arguments are BATCHES OUT POINT EPOCH."""
    batches, out, who, point, epoch = sys.argv[1:]
    spark = local_session("local[1]")
    java = spark._jvm.java.lang.ProcessHandle.current().pid()
    pid = java if who == "java" else os.getpid()
    arm(point, int(epoch), lambda: os.kill(pid, signal.SIGKILL))
    streaming.run(spark, Path(batches), Path(out), at_once=1)


if __name__ == "__main__":
    main()
