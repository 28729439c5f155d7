"""Values of which the first unused is taken are not compared by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.cli import main

CACHE = """KEYS = symmetry.nominal(name="key", limit=2{})

action Init:
    cache = {{}}

atomic action Put:
    key = oneof KEYS.choices()
    cache[key] = "data"

atomic action Evict:
    key = oneof KEYS.values()
    if key in cache:
        cache.pop(key)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(domain: str) -> None:
    cache = CACHE.format(domain)
    Path("plain.fizz").write_text(cache)
    remembers = cache.replace("cache = {}", 'cache = {}\n    last = ""')
    Path("remembers.fizz").write_text(remembers + "        last = key\n")


def test_behaviors_are_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    write("")
    main(["compare", "plain.fizz", "remembers.fizz"])

    said = " ".join(capsys.readouterr().out.split())
    assert "the values of 'key' are interchangeable" in said
    assert "a behavior that" not in said


def test_all_values_can_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    write(", materialize=True")
    main(["compare", "plain.fizz", "remembers.fizz"])

    said = " ".join(capsys.readouterr().out.split())
    assert "Every behavior of remembers.fizz is one of plain.fizz" in said
    assert "Every behavior of plain.fizz is one of remembers.fizz" in said
