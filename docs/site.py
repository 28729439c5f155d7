"""Builds the documentation as pages that run: python docs/site.py [FOLDER]

What pages bring along is got once, into build/pyodide, and compared with what is known of it here:
Pyodide by npm, and the one compiled package by pip.
"""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from importlib.metadata import version
from pathlib import Path

from statewalk.checker.cli import main
from statewalk.checker.runnable.build import CORE, VERSION

BUILD = Path(__file__).parent.parent / "build"
PYODIDE = BUILD / "pyodide"
SHA512 = "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
PLATFORM = "pyemscripten_2026_0_wasm32"
CORES = {"2.50.4": "e6da138a1ecc1341c8b788a5ee822670b03788e1f5decf7af9d461de6e508b8e"}


def pyodide(folder: Path) -> None:
    """Bring the npm package, unpacked, with the wheel beside it."""
    with tempfile.TemporaryDirectory() as name:
        brought = Path(name)
        npm = shutil.which("npm") or sys.exit("make site needs npm, for Pyodide")
        subprocess.run([npm, "pack", "--silent", f"pyodide@{VERSION}"], cwd=brought, check=True)
        archive = brought / f"pyodide-{VERSION}.tgz"
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if digest != SHA512:
            sys.exit(f"{archive.name} is not the one that is known here: {digest}")
        with tarfile.open(archive) as packed:
            packed.extractall(brought, filter="data")
        wheel(brought / "package")
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(brought / "package", folder)


def wheel(folder: Path) -> None:
    """Bring the wheel for WebAssembly, of the version that is installed here."""
    own = version(CORE)
    wanted = CORES.get(own) or sys.exit(f"no wheel of {CORE} {own} is known here: add its SHA-256")
    words = "download --quiet --no-deps --only-binary=:all: --implementation cp --abi cp314"
    platform = ["--python-version", "3.14", "--platform", PLATFORM, "--dest", str(folder)]
    subprocess.run(
        [sys.executable, "-m", "pip", *words.split(), *platform, f"{CORE}=={own}"], check=True
    )
    (found,) = folder.glob(f"{CORE}-*.whl")
    digest = hashlib.sha256(found.read_bytes()).hexdigest()
    if digest != wanted:
        sys.exit(f"{found.name} is not the one that is known here: {digest}")


if __name__ == "__main__":
    if not list(PYODIDE.glob(f"{CORE}-{version(CORE)}-*.whl")):
        pyodide(PYODIDE)
    site = sys.argv[1] if len(sys.argv) > 1 else str(BUILD / "site")
    sys.exit(main(["docs", "--runnable", str(PYODIDE), "--out", site]))
