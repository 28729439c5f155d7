"""The password of a database is never repeated, and need not be an argument."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.cli import main

pytest.importorskip("psycopg")
pytest.importorskip("pymysql")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("given", ["argument", "environment"])
@pytest.mark.parametrize("database", ["postgres", "mysql"])
@pytest.mark.parametrize(
    "url",
    [
        "u:SECRET@host/x",
        "postgresql://u:SECRET@127.0.0.1:1/x",
        "postgresql://u:SEC/RET@127.0.0.1:1/x",
        "postgresql://u:SEC:RET@127.0.0.1:1/x",
        "postgresql://u:SEC?RET@127.0.0.1:1/x",
        "postgresql://u:SEC@RET@127.0.0.1:1/x",
        "postgresql://u:SEC%52ET@127.0.0.1:SECRET/x",
        "postgresql://127.0.0.1:1/x?password=SECRET",
        "postgresql://127.0.0.1:1/x?passwort=SECRET",
        "postgresql://u:SECRET@[::1/x",
        "host=127.0.0.1 port=1 password=SECRET",
        "host=127.0.0.1 port=1 password='SEC RET",
        "password=SECRET port=SECRET",
        "mysql://u:SECRET@127.0.0.1:1/x",
        "mysql://u:SEC%52ET@127.0.0.1:1/x",
        "mysql://u:SEC/RET@127.0.0.1:1/x",
        "mysql://u:SECRET@127.0.0.1:SECRET/x",
        "mysql://u@127.0.0.1:1/x?password=SECRET",
    ],
)
def test_a_password_is_not_repeated(
    given: str,
    database: str,
    url: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = ["history", "collect", str(tmp_path / "h.jsonl"), "--database", database]
    if given == "argument":
        command += ["--url", url]
    else:
        monkeypatch.setenv("STATEWALK_URL", url)
    code = main(command)
    said = "".join(capsys.readouterr())

    assert code == 2
    assert "SW708" in said
    assert "SEC" not in said
    assert "RET" not in said


def test_nor_where_the_database_was_not_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for url in ("u:SECRET@host/x", "postgresql://u:SECRET@host/x"):
        main(["history", "collect", str(tmp_path / "h.jsonl"), "--url", url])
        said = "".join(capsys.readouterr())

        assert "SW708" in said
        assert "SECRET" not in said
