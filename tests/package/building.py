"""Built packages, and an environment that has one installed."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path


def build(kind: str, source: Path, out: Path) -> Path:
    """The wheel or sdist of a source tree."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (built,) = out.iterdir()
    return built


def installed(wheel: Path, folder: Path) -> Path:
    """The Python of a new environment with a wheel, and with what this one has beside it."""
    venv.create(folder, symlinks=True)
    scripts = folder / Path(sysconfig.get_path("scripts")).name
    python = scripts / Path(sys.executable).name
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True)
    (packages,) = folder.rglob("site-packages")
    others = [p for p in sys.path if p.endswith("site-packages")]
    (packages / "others.pth").write_text("\n".join(others) + "\n")
    return python


Command = list[str | Path]


def run(command: Command, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Return what a command does in a folder, with nothing on Python's path."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTEST_ADDOPTS")}
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=clean | environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=550,
    )
