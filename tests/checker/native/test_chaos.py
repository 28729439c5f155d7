"""A short part of `make chaos`: whatever is done to a saved search, nothing comes out wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.places import ROOT


@pytest.mark.slow
def test_no_disturbance_of_a_saved_search_makes_a_result_wrong() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "chaos_native.py"), "--times", "1"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)

    assert 0 == done.returncode, done.stdout + done.stderr
    assert "0 WRONG" in done.stdout
