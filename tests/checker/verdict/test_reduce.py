"""`--reduce`: what nothing reads any more is reset; refusals, counts, and rules that are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from statewalk import check, load
from statewalk.checker.native import reducing
from statewalk.dsl.errors import RunError
from tests.cases import slow

SPEC = """
from typing import Literal
from statewalk import Role, State, action, always, deadlock, require

deadlock(False)


class Net(State):
    sent: set[int] = set()


class Worker(Role):
    at: Literal["begun", "busy", "over"] = "begun"
    n: int = 0

    @action
    def send(self, v: Literal[1, 2]) -> None:
        net.sent.add(v)

    @action
    def begin(self, v: Literal[1, 2, 3]) -> None:
        require(self.at == "begun")
        self.at = "busy"
        self.n = v

    @action
    def finish(self) -> None:
        require(self.at == "busy")
        require(self.n > 1)
        require(1 in net.sent)
        self.at = "over"

    REST


net = Net()
worker = Worker()


@always
def small() -> bool:
    return PROPERTY
"""
AGAIN = """@action
    def again(self) -> None:
        require(self.at == "over")
        self.at = "begun"
"""
LATE = """@action
    def late(self) -> None:
        require(self.at == "over")
        require(net.sent == set() or len(net.sent) < 3)
        require(self.n < 3)
        self.at = "begun"
"""


def spec(folder: Path, rest: str = "", prop: str = 'worker.at != "late"') -> str:
    path = folder / "spec.py"
    path.write_text(SPEC.replace("REST", rest).replace("PROPERTY", prop))
    return str(path)


@pytest.mark.parametrize("rms", [3, 4, slow(7), slow(9)])
def test_two_phase_commit_has_as_many_states_as_counted_by_hand(rms: int) -> None:
    run = check("toys/two_phase_commit", {"RMS": rms}, reduce=True)

    assert run.verdict == "holds"
    assert run.counts.distinct == 4**rms + 3**rms + 2**rms
    assert "reduced states" in str(run)
    assert "resets Network.sent, TransactionManager.prepared" in str(run)


def test_a_field_is_reset_for_ever_where_nothing_reads_it_again(tmp_path: Path) -> None:
    whole, reduced = (check(spec(tmp_path), reduce=on) for on in (False, True))

    assert whole.counts.distinct == 4 + 3 * 4 + 2 * 2  # by phase: sent, and n times sent
    assert reduced.counts.distinct == 4 + 3 * 4 + 1
    assert whole.verdict == reduced.verdict == "holds"


def test_a_field_is_reset_until_it_is_written(tmp_path: Path) -> None:
    whole, reduced = (check(spec(tmp_path, AGAIN), reduce=on) for on in (False, True))

    assert whole.counts.distinct == (4 + 4) + 3 * 4 + 2 * 2
    assert reduced.counts.distinct == 4 + 3 * 4 + 2


@pytest.mark.sampled(3)
@pytest.mark.parametrize("probe", [1, 3, 1000])
def test_a_rule_that_is_wrong_is_withdrawn(
    tmp_path: Path, probe: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reducing, "PROBE", probe)
    path = spec(tmp_path, LATE, 'worker.n < 3 or worker.at != "begun"')

    whole, reduced = (check(path, reduce=on, keep_going=True) for on in (False, True))

    assert reduced.verdict == whole.verdict
    assert {p.name: p.length for p in reduced.properties} == {
        p.name: p.length for p in whole.properties
    }


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "other",
    [{"view": True}, {"symmetry": True}, {"slices": "on"}, {"engine": "reference"}],
)
def test_what_needs_whole_states_is_refused(other: dict[str, Any]) -> None:
    with pytest.raises(RunError, match="SW358"):
        check("toys/two_phase_commit", reduce=True, **other)


def test_a_refinement_is_refused() -> None:
    with pytest.raises(RunError, match="SW358"):
        check("toys/two_phase_commit_refines", reduce=True)


@pytest.mark.thorough
def test_threads_and_bits_change_nothing() -> None:
    model = load("toys/two_phase_commit", {"RMS": 4})
    found = {
        check(model, reduce=True, threads=threads, fingerprint_bits=bits).counts
        for threads in (1, 2)
        for bits in (64, 128)
    }

    assert len(found) == 1


def test_liveness_is_decided_on_all_states(tmp_path: Path) -> None:
    path = tmp_path / "live.py"
    path.write_text(
        SPEC.replace("@action\n    def begin", '@action(fair="weak")\n    def begin')
        .replace("deadlock, require", "deadlock, eventually, require")
        .replace("REST", "")
        .replace("PROPERTY", "True")
        + '\n\n@eventually\ndef busy() -> bool:\n    return worker.at != "begun"\n'
    )
    whole, reduced = (check(path, reduce=on) for on in (False, True))

    assert whole.verdict == reduced.verdict == "holds"
    assert "liveness was checked without reduction" in str(reduced)
