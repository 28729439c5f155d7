"""Many runs of the coordinator against its spec, and how soon each of its bugs is caught."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
from pathlib import Path

from coordinator import BUGS, run

from statewalk import load
from statewalk.checker.conforming import Question

SPEC = str(Path(__file__).with_name("spec.py"))


def conforming(question: Question, runs: int) -> int:
    """Return how many runs of the coordinator as it should be are behaviors of the spec."""
    return sum(_asked(question, seed, "")[0] for seed in range(runs))


def caught(question: Question, bug: str, runs: int) -> tuple[int, list[int]]:
    """The runs until a bug is caught the first time; of all that are, the events before it."""
    found = [_asked(question, seed, bug) for seed in range(runs)]
    first = next((at for at, (conforms, _) in enumerate(found, 1) if not conforms), 0)
    return first, [accepted for conforms, accepted in found if not conforms]


def _asked(question: Question, seed: int, bug: str) -> tuple[bool, int]:
    with tempfile.TemporaryDirectory() as folder:
        answer = question.ask(asyncio.run(run(Path(folder), seed, bug)))
    return answer.conforms, answer.accepted


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--bug-runs", type=int, default=100)
    given = parser.parse_args()
    question = Question(load(SPEC))
    print(f"as it should be: {conforming(question, given.runs)} of {given.runs} runs conform")
    for bug in BUGS:
        first, events = caught(question, bug, given.bug_runs)
        middle = statistics.median(events) if events else "-"
        print(
            f"{bug}: caught in {len(events)} of {given.bug_runs} runs, the first time in run"
            f" {first}; events accepted before it: {min(events, default=0)} at least,"
            f" {middle} in the middle, {max(events, default=0)} at most"
        )
