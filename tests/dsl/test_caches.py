"""The digest of statewalk's sources, by which kept results are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.dsl import caches


@pytest.mark.parametrize(
    "file", ["__init__.py", "dsl/caches.py", "checker/deep/one.py", "dsl/fizz.lark"]
)
def test_each_source_decides_the_digest(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("__init__.py", "dsl/caches.py", "checker/deep/one.py", "dsl/fizz.lark"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(caches, "__file__", str(tmp_path / "dsl" / "caches.py"))
    before = caches.stamp.__wrapped__()

    (tmp_path / file).write_text("2")

    assert before != caches.stamp.__wrapped__()
