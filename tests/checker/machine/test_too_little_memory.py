"""Too little memory is said, and is not blamed on the spec."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from statewalk.checker import cli
from tests.checker.machine.hanging import start
from tests.places import ROOT

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


def test_a_library_that_leaves_the_process_is_not_blamed_on_the_spec(tmp_path: Path) -> None:
    text = "import ctypes\nimport statewalk\nctypes.CDLL(None)._exit(1)\n"
    (tmp_path / "spec.py").write_text(text)

    process = start(tmp_path, "check", "spec.py")
    out, err = process.communicate(timeout=60)

    assert 3 == process.returncode
    assert "a library that is not Python called exit(1)" in " ".join(out.split())
    assert "The spec ended the program" not in out + err


@pytest.mark.parametrize("files", [4, 5, 6])
def test_too_few_files_are_no_verdict(files: int) -> None:
    asked = f'ulimit -n {files}; exec "{sys.executable}" -m statewalk models'
    found = subprocess.run(
        ["sh", "-c", asked], cwd=ROOT, capture_output=True, text=True, check=False
    )

    if "<frozen site>" in found.stderr:
        pytest.skip("Python itself does not begin, before any of our code")
    assert found.returncode in (0, 3, 127)  # some machines need fewer, and some for Python
    assert "Traceback" not in found.stderr


SHORT = """
import sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "statewalk.checker.machine.signals":
            raise OSError(24, "Too many open files")

sys.meta_path.insert(0, Finder())
"""


def test_too_few_files_for_our_first_modules_are_no_verdict(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SHORT, encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-m", "statewalk", "models"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert 3 == found.returncode
    assert "Traceback" not in found.stderr
