"""Where no temporary file can be made, a command runs all the same."""

from __future__ import annotations

import os
import tempfile
from typing import NoReturn

import pytest

from statewalk.checker.machine.supervisor import Line


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="files in memory are Linux's")
def test_what_parent_and_child_share_needs_no_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> NoReturn:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    line = Line()
    line.places.write(b"here")
    line.note(loaded=True)

    assert {"loaded": True} == line.noted()
    line.places.close()
