"""Builds what would be published and tries it as a user has it: ``python -m tests.package.release``

The wheel, and the commit from git, are installed with what they need from the package index into
empty environments of each Python that is here; then a user's first steps are taken in an empty
folder. The exit code is 1 where one of them fails, 2 where there is nothing to try it with.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from statewalk.checker.commands.release import VERSION
from tests.package.building import Command, build, run
from tests.places import ROOT

PYTHONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
CELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for code, plain, html in (
    ('from statewalk import check\\nrun = check("toys/die_hard")\\nrun', "VIOLATED", "VIOLATED"),
    ('run.traces["goal_not_reached"]', "fill_big", "<svg"),
):
    done = shell.run_cell(code)
    done.raise_error()
    kinds, _ = shell.display_formatter.format(done.result)
    assert plain in kinds["text/plain"] and html in kinds["text/html"], kinds
"""
Step = tuple[str, Callable[[], object]]


class Failed(Exception):
    """A step did not do what it should."""


def main() -> int:
    """Build, try, tell; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", default="dist", help="where what is built goes (%(default)s)")
    parser.add_argument(
        "--python", action="append", choices=PYTHONS, help="try it with this one only (repeatable)"
    )
    arguments = parser.parse_args()
    out = Path(arguments.out).resolve()
    problems = [*unready()]
    for problem in problems:
        print(f"not ready: {problem}")
    wheel = built(out)
    tried = failed = 0
    for version in arguments.python or PYTHONS:
        python = found(version)
        if python is None:
            print(f"Python {version}: none here, skipped")
            continue
        tried += 1
        failed += not works(version, python, wheel)
    if not tried:
        return 2
    return 1 if failed or problems else 0


def unready() -> Iterator[str]:
    """Yield what keeps this tree from being a release."""
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = [line for line in changes.splitlines() if line.startswith("## ")]
    if not heads or heads[0].removeprefix("## ").partition(",")[0] != VERSION:
        yield f"CHANGELOG.md does not begin with {VERSION}, which checker/commands/release.py says"
    for name in ("LICENSE", "SECURITY.md", "CITATION.cff", "README.md"):
        if not (ROOT / name).is_file():
            yield f"there is no {name}"
    if subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout:
        yield "there are changes that are not committed"


def built(out: Path) -> Path:
    """Build both kinds into a folder; the wheel."""
    out.mkdir(parents=True, exist_ok=True)
    files = []
    for kind in ("sdist", "wheel"):
        with tempfile.TemporaryDirectory() as folder:
            made = build(kind, ROOT, Path(folder))
            files.append(Path(shutil.move(made, out / made.name)))
    for file in files:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"{file.name}  {file.stat().st_size:,} bytes  sha256 {digest}", flush=True)
    return files[-1]


def found(version: str) -> str | None:
    """A Python of a version that can make environments: one that `STATEWALK_PYTHONS` lists, on the
    path, or among those of pyenv.
    """
    listed = os.environ.get("STATEWALK_PYTHONS", "").split(os.pathsep)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    own = sorted(pyenv.glob(f"{version}.*/bin/python"))
    named = [*listed, shutil.which(f"python{version}"), *own]
    ask = f"import ensurepip, sys; sys.exit('%d.%d' % sys.version_info[:2] != {version!r})"
    for python in filter(None, named):
        asked = subprocess.run([str(python), "-c", ask], capture_output=True, check=False)
        if asked.returncode == 0:
            return str(python)
    return None


def works(version: str, python: str, wheel: Path) -> bool:
    """Return whether all steps do in a new environment; says of each how long it took."""
    print(f"Python {version}: {python}", flush=True)
    with tempfile.TemporaryDirectory(prefix="release-") as folder:
        for name, step in steps(python, wheel, Path(folder)):
            begun = time.monotonic()
            try:
                step()
            except (Failed, OSError, subprocess.SubprocessError, KeyError, ValueError) as error:
                print(f"  FAIL {name}: {error}", flush=True)
                return False
            print(f"  ok   {name}, {time.monotonic() - begun:.1f} s", flush=True)
    return True


def steps(python: str, wheel: Path, folder: Path) -> Iterator[Step]:
    """Yield what a user does, one after the other."""
    own, desk = folder / "env" / "bin" / "python", folder / "desk"
    desk.mkdir()
    pip: Command = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    tool = own.with_name("statewalk")

    def does(*words: str | Path, code: int = 0, at: Path = desk) -> str:
        done = run([*words], at, NO_COLOR="1")
        if done.returncode != code:
            said = f"{done.stdout}{done.stderr}".strip()[-2000:]
            raise Failed(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{said}")
        return done.stdout

    def says(text: str, *words: str | Path, code: int = 0, at: Path = desk) -> None:
        if text not in (told := does(*words, code=code, at=at)):
            raise Failed(f"{' '.join(map(str, words))} does not say {text!r}:\n{told[-2000:]}")

    def demo() -> None:
        does(tool, "check", "kafka/init_pid", "--json", "holds.json")
        counts = json.loads((desk / "holds.json").read_text())["counts"]
        if (counts["distinct"], counts["generated"], counts["depth"]) != (316, 581, 15):
            raise Failed(f"other counts: {counts}")
        bug = ("--set", "BROKERS=1", "--set", "MUTANT=no_epoch_bump")
        says("VIOLATED  epoch_monotone", tool, "check", "kafka/init_pid", *bug, code=1)

    def spec() -> None:
        does(tool, "new", "own", "--template", "roles")
        says("2 as expected, 0 not", tool, "test", at=desk / "own")
        says("HOLDS", tool, "check", "own.py", "--engine", "native", at=desk / "own")
        words = ("--set", "ONE_AT_A_TIME=false")
        says("VIOLATED  one_holder", tool, "check", "own.py", *words, code=1, at=desk / "own")

    def notebook() -> None:
        does(*pip, "ipython")
        (desk / "cell.py").write_text(CELL)
        does(own, "cell.py")

    def clone() -> None:
        other = folder / "git" / "bin" / "python"
        does(python, "-m", "venv", folder / "git")
        does(other, *pip[1:], f"git+{ROOT.as_uri()}")
        does(other.with_name("statewalk"), "new", "cloned")
        says("2 as expected, 0 not", other.with_name("statewalk"), "test", at=desk / "cloned")

    yield "an empty environment", lambda: does(python, "-m", "venv", folder / "env")
    yield "install the wheel", lambda: does(*pip, wheel)
    yield "version", lambda: says(f"statewalk {VERSION}\n", tool, "--version")
    yield "doctor", lambda: does(tool, "doctor")
    yield "demo", demo
    yield "a spec of one's own", spec
    yield "docs", lambda: says("index.html", tool, "docs")
    yield "a cell of a notebook", notebook
    yield "install from git, and a spec", clone


if __name__ == "__main__":
    sys.exit(main())
