"""Too little memory is said, and is not blamed on the spec."""

import errno
import os
from pathlib import Path

import pytest

from statewalk.checker import cli
from tests.checker.machine.hanging import start

LIBRARY = ImportError("libscipy_openblas64_.so: failed to map segment from shared object")
WRAPPED = OSError("Could not find/load shared object file 'libllvmlite.so'")
WRAPPED.__cause__ = OSError("libllvmlite.so: failed to map segment from shared object")


@pytest.mark.parametrize(
    "error", [MemoryError(), LIBRARY, WRAPPED, OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))]
)
def test_what_fails_for_too_little_memory_says_so(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(cli, "_parsed", fails)

    assert 3 == cli.main(["models"])
    assert "there is not enough memory" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [(MemoryError(), 3, "not enough memory"), (ValueError(), 70, "SW900 internal error")],
)
def test_a_report_that_fails_is_not_silent(
    raised: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    def fails(*_: object) -> None:
        raise raised

    monkeypatch.setattr(cli, "_parsed", lambda *_: 1 / 0)
    monkeypatch.setattr(cli, "_report", fails)

    assert code == cli.main(["models"])
    assert said in capfd.readouterr().err


@pytest.mark.thorough
def test_a_library_that_leaves_the_process_is_not_blamed_on_the_spec(tmp_path: Path) -> None:
    text = "import ctypes\nimport statewalk\nctypes.CDLL(None)._exit(1)\n"
    (tmp_path / "spec.py").write_text(text)

    process = start(tmp_path, "check", "spec.py")
    out, err = process.communicate(timeout=60)

    assert 3 == process.returncode
    assert "a crash (exit(1))" in " ".join((out + err).split())
    assert "The spec ended the program" not in out + err
