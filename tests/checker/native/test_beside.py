"""The program beside which the native engine is measured, and the guard on that ratio."""

import json
import shutil
from pathlib import Path

import pytest

from benchmarks import beside


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_the_program_counts_what_the_model_says(tmp_path: Path) -> None:
    assert beside.counts(beside.compiled(tmp_path, 5), tmp_path) == (8832, 58146)


def test_a_ratio_that_got_worse_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = tmp_path / "ratios.json"
    recorded.write_text(json.dumps({"a case": {"cpu": 2.0, "memory": 1.0}}))
    monkeypatch.setattr(beside, "RECORDED", recorded)
    beside.guard({"cpu": 2.2, "memory": 1.1}, "a case")
    with pytest.raises(SystemExit, match=r"worse than recorded by more than 15 %: cpu \+20%"):
        beside.guard({"cpu": 2.4, "memory": 1.1}, "a case")
    with pytest.raises(SystemExit, match="--record"):
        beside.guard({"cpu": 2.4, "memory": 1.1}, "another case")
