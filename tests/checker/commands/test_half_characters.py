"""Halves of characters (lone surrogates), in strings of a spec, names of files and constants:
whatever is written is UTF-8, and can be read again.
"""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as Xml
from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.traces.exports import FORMATS

_SPEC = r"""from statewalk import Constant, Role, action, always, any_of
S: Constant[str] = "\udc80"
class R(Role):
    x: str = ""
    d: dict[str, int] = {}
    @action
    def go(self) -> None:
        y = any_of(["\ud800a", "b", S])
        self.x = y
        self.d[y] = 1
r = R()
@always
def fine() -> bool:
    return r.x != S or len(r.d) < 2
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", [b"a.py", b"a\x80.py"])
def test_all_that_a_check_writes_is_utf8_and_its_trace_replays(
    name: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    spec = os.fsdecode(name)
    Path(spec).write_text(_SPEC)
    given = os.fsdecode(b"S=\x81")
    asked = [
        "--json",
        "r.json",
        "--out",
        "run",
        "--junit",
        "j.xml",
        "--sarif",
        "s.sarif",
        "--graph",
        "g",
    ]

    assert 1 == main(["check", spec, "--set", given, *asked])

    for file in [*Path().glob("**/*.json"), Path("s.sarif")]:
        json.loads(file.read_bytes().decode())
    Xml.fromstring(Path("j.xml").read_bytes().decode())
    assert given == "S=" + json.loads(Path("r.json").read_text())["constants"]["S"]
    trace = str(next(Path("run").glob("*.trace.json")))
    assert 0 == main(["replay", trace, "--spec", spec])
    for form in FORMATS:
        assert 0 == main(["export", trace, "--format", form, "--out", f"x.{form}"])
        assert Path(f"x.{form}").read_bytes().decode()
    assert 0 == main(["query", "g", "SELECT * FROM states"])
    capsys.readouterr().out.encode("utf-8", "strict")
