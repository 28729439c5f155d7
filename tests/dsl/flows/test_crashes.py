"""Crashes of roles: what an instance loses, and what it starts again with."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.loader import load
from tests.dsl.flows.block_cases import found
from tests.places import ROOT

LOST = """
from statewalk import *
CRASH: Constant[bool] = True
deadlock(False)
class Server(Role):
    disk: int = 0
    cache: Ephemeral[int] = 0
    @action(flow="serial", concurrent=2)
    def serve(self) -> None:
        require(self.disk < 2)
        self.disk = self.disk + 1
        self.cache = self.cache + 1
    @action
    def read(self) -> None:
        require(self.cache > 0)
server = Server()
crashes(CRASH)
@always
def cache_behind() -> bool:
    return server.cache <= server.disk
config("calm", CRASH=False)
"""


def test_a_crash_of_a_role_sets_ephemeral_fields_back(tmp_path: Path) -> None:
    spec = ROOT / "specs" / "toys" / "threads_crash.fizz"

    # disk and cache 00, 10 with a run, 20 with two, 11, 21 with one, 22; what crashes leave
    # besides: 10, 20, 21 without a run, and 20 with one
    assert found(tmp_path, "spec.py", LOST)[0] == 10
    assert check(spec, engine="reference", liveness=False).counts.distinct == 10
    for engine in ("reference", "native"):
        calm = check(tmp_path / "spec.py", config="calm", engine=engine)
        assert calm.counts.distinct == 6


@pytest.mark.parametrize(
    ("said", "actions"),
    [
        ("crashes(True)", {"serve (crashed)", "crash"}),
        ("crashes(roles=True)", {"crash"}),
        ("crashes(runs=True)", {"serve (crashed)"}),
        ("crashes(True, roles=False)", {"serve (crashed)"}),
        ("crashes(False)", set()),
    ],
)
def test_what_crashes_is_said(said: str, actions: set[str], tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(LOST.replace("crashes(CRASH)", said))

    assert {a.name for a in load(path).actions if a.fault} == actions


BY_HAND = """
from statewalk import *
deadlock(False)
class Server(Role):
    up: bool = True
    seen: Ephemeral[set[int]] = set()
    of: Ephemeral[dict[str, int]] = {"a": 1}
    @action
    def work(self) -> Flow[None]:
        require(self.up)
        self.seen.add(self.index)
        self.of["b"] = 2
        yield
        self.seen.add(7)
    @action(fault=True)
    def fail(self) -> None:
        require(self.up)
        self.up = False
        crash(self)
servers = [Server() for _ in range(2)]
@init
def begin() -> None:
    servers[0].seen.add(any_of([3, 4]))
@always
def what_is_left() -> bool:
    return servers[1].up or (not servers[1].seen and servers[1].of == {"a": 1})
@always
def what_began() -> bool:
    return servers[0].up or servers[0].seen in ({3}, {4})
"""


def test_a_crash_is_part_of_a_step_where_a_spec_says_so(tmp_path: Path) -> None:
    # each server by itself: as it began, suspended, up with what the run has left (0 or 1, and 7),
    # suspended anew, and down, where it is as it began; and the first may begin in two ways
    assert found(tmp_path, "spec.py", BY_HAND)[0] == 5 * 5 * 2
