"""Runs a smoke set on each Python that statewalk supports: ``python -m tests.package.pythons``

The set is the models of the library in the reference engine, with bounds, the pages of errors, and
tests of the language. Each Python gets an environment with what these need, at the versions of
requirements.lock, without numba. A Python that is not here, or whose packages cannot be installed,
is named. The Python that runs this only counts. `STATEWALK_PYTHONS` lists interpreters, with colons
between them, besides those on the path and of pyenv. The exit code is 1 where a Python fails.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from tests.package.release import PYTHONS, Failed, found
from tests.places import ROOT

TESTS = ("test_annotations.py", "source", "state", "values", "words")
NEEDED = """
annotated-types execnet hypothesis iniconfig lark markdown-it-py mdurl numpy packaging
platformdirs pluggy pydantic pydantic-core pygments pytest pytest-xdist pyyaml rich sortedcontainers
typing-extensions typing-inspection
""".split()  # noqa: SIM905  # one a line would be long
LACKING = ("duckdb", "numba", "pyarrow")  # a test that asks for one of these is skipped
# Tests, and pages of errors, that ask for one in a command: what that prints then is no failure of
# Python's. The pages on state graphs ask for pyarrow and DuckDB, and for the native engine. The
# example of SW382 and what the tests of inputs start are processes, which have no statewalk there.
ASKING = (
    "native", "such_a_trace_can_be_exported", "SW350", "SW352", "SW353", "SW382", "pandas",
    "though_no_text_names_it",
)  # fmt: skip
MOST = 100  # states of a model
PIN = re.compile(r"^([\w.-]+)==.*(?:\n    .*)*\n", re.MULTILINE)


def main() -> int:
    """Try each Python, print what came out; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--models", action="store_true", help="print what this Python counts")
    parser.add_argument("--python", action="append", choices=PYTHONS, help="only this one")
    arguments = parser.parse_args()
    if arguments.models:
        print(json.dumps(counts()))
        return 0
    this = f"{sys.version_info[0]}.{sys.version_info[1]}"
    known = {version: found(version) for version in arguments.python or PYTHONS if version != this}
    expected, failures = counts(), 0
    print(f"here Python {this}: {len(expected)} models, `make test` has the rest", flush=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        here = [(version, python) for version, python in known.items() if python is not None]
        for told, failed in pool.map(lambda one: tried(one[0], one[1], expected), here):
            print(told, flush=True)
            failures += failed
    for version, python in known.items():
        if python is None:
            print(f"Python {version}: not here, not tried")
    return 1 if failures else 0


def counts() -> dict[str, list[int]]:
    """Return by model of the library what the reference engine counts in its first states."""
    from statewalk.checker.contract.search import SearchOptions
    from statewalk.checker.engines.reference import explore
    from statewalk.checker.library import entries
    from statewalk.dsl.loader import load

    options = SearchOptions(max_states=MOST, keep_going=True)
    made = {entry.name: explore(load(entry.path), options) for entry in entries()}
    return {
        name: [m.counts.distinct, m.counts.generated, m.counts.depth, len(m.findings)]
        for name, m in made.items()
    }


def tried(version: str, python: str, expected: dict[str, list[int]]) -> tuple[str, bool]:
    """Run the smoke set on one Python; return what to print, and whether it failed."""
    begun = time.monotonic()
    try:
        own = environment(version, python)
    except (OSError, subprocess.SubprocessError) as error:
        said = str(getattr(error, "stderr", "") or error).strip().splitlines()[-1]
        return f"Python {version}: its packages cannot be installed, not tried ({said})", False
    try:
        models = json.loads(output(own, "-m", "tests.package.pythons", "--models"))
        differing = [name for name in expected if models.get(name) != expected[name]]
        if differing:
            raise Failed(f"other counts than here: {', '.join(differing)}")
        folders = [f"tests/dsl/{name}" for name in TESTS]
        chosen = ["-k", " and ".join(f"not {name}" for name in ASKING)]
        plugins = ["-p", "no:cacheprovider", "-p", "tests.package.pythons"]
        words = ("-m", "pytest", "-q", *plugins, *folders, "tests/docs/test_errors.py", *chosen)
        said = output(own, *words).strip().splitlines()[-1]
    except (Failed, ValueError, subprocess.SubprocessError) as error:
        return f"FAIL Python {version}: {python}\n{error}", True
    took = time.monotonic() - begun
    return f"ok   Python {version}: {len(models)} models, {said}; {took:.0f} s", False


def environment(version: str, python: str) -> str:
    """Return the Python of an environment with what the smoke set needs, made where it is not."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = "".join(match[0] for match in PIN.finditer(lock) if match[1] in NEEDED)
    folder = Path(sys.prefix, "pythons", version)
    own, done = folder / "bin" / "python", folder / "installed"
    digest = sha256(f"{python}\n{pins}".encode()).hexdigest()
    if not done.is_file() or done.read_text() != digest:
        ran(python, "-m", "venv", "--clear", str(folder))
        needs = folder / "requirements.txt"
        needs.write_text(pins, encoding="utf-8")
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1")
        ran(
            str(own), *pip, "--only-binary=:all:", "--no-deps", "--require-hashes", "-r", str(needs)
        )
        done.write_text(digest)
    return str(own)


def output(*words: str) -> str:
    """Return what a command prints. Raise Failed with it where the command fails."""
    done = ran(*words, check=False)
    if done.returncode:
        raise Failed(f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def ran(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder of the repository."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTEST_ADDOPTS", "PYTHONPATH")}
    return subprocess.run(
        words, cwd=ROOT, env=clean, check=check, capture_output=True, text=True, timeout=900
    )


# -- in the pytest of each Python ------------------------------------------------------------------
@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    """Skip what asks for a package that this environment is not meant to have."""
    try:
        return (yield)
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            for name in LACKING:
                said = f"needs the package {name}, which is not installed" in str(cause)
                if said or (isinstance(cause, ModuleNotFoundError) and cause.name == name):
                    assert importlib.util.find_spec(name) is None
                    pytest.skip(f"needs {name}")
            cause = cause.__cause__ or cause.__context__
        raise


if __name__ == "__main__":
    sys.exit(main())
