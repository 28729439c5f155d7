"""Public histories get the verdicts that those who published them give.

The histories are not part of this repository. Name a folder in the environment variable
STATEWALK_HISTORIES; without it these tests are skipped. Looked for anywhere below it:

- PolySI's artifact (PVLDB 2023): folders `fig7`, `fig8_9_10` and `violations` in `PolySIHistories`;
- dbcop's executions (OOPSLA 2019) in `excutions` (so spelled), beside folders `results-*` with a
  `result_log.json` for each, as a public copy of its verifier has them;
- Elle's `histories/*.edn`, with the verdicts of Elle's own tests;
- IsoVista's `history/bugs/*.txt`, whose names say the level that is violated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from statewalk.checker.history.commands.many import histories
from statewalk.checker.history.data import History
from statewalk.checker.history.decide.check import check, check_levels
from statewalk.checker.history.decide.scan import scan
from statewalk.checker.history.formats import read

FOLDER = os.environ.get("STATEWALK_HISTORIES", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="STATEWALK_HISTORIES names no folder of histories"),
]

# Of Elle's histories: what must hold, and what must not. The first is what its verifier gives up
# on after its time limit, knowing only that strong-si is violated.
ELLE = {
    "huge-scc.edn": ("strong-session-serializable", "strong-si"),
    "si-without-g-single.edn": ("si", "serializable"),
    "paper-example.edn": ("prefix", "si"),
}
BUGS = {"dgraph_si": "si", "pg_ser_bug": "serializable", "yugabyte_tcc": "strong-session-causal"}
# Where dbcop's verdict is another: it stops at the first offence that it meets, two versions read
# of one key; a later transaction does not read what it wrote itself, which is worse.
FIRST_MET = dict.fromkeys(
    (
        "galera_all_writes/12_30_20_720/hist-00021",
        "galera_all_writes/15_30_20_900/hist-00042",
    ),
    ("RepeatableRead", "ReadCommitted"),
)


def below(name: str) -> Path:
    """The folder of this name, wherever it lies."""
    found = sorted(path for path in Path(FOLDER).rglob(name) if path.is_dir())
    if not found:
        pytest.skip(f"no {name} in the folder")
    return found[0]


def polysi(folder: Path) -> Iterator[tuple[Path, bool]]:
    """PolySI's histories, and whether strong-session-si holds."""
    for path in histories(folder):
        yield path, "violations" not in path.parts


def test_polysi_s_histories_have_the_verdicts_of_its_paper() -> None:
    cases = list(polysi(below("PolySIHistories")))
    wrong = [p for p, holds in cases if check(read(p), "strong-session-si").holds != holds]

    assert [] == wrong
    assert cases


def dbcop_says(excutions: Path, case: Path) -> str:
    """Return what dbcop's log says of an execution: ok, or the weakest level that it found
    violated.
    """
    for results in sorted(excutions.parent.glob("results-*")):
        log = results / case.relative_to(excutions) / "result_log.json"
        if log.is_file():
            found = re.search(r'"minViolation":"(\w+)"', log.read_text(encoding="utf-8"))
            if found:
                return found[1]
    return ""


def in_dbcop_s_words(history: History) -> str:
    """Our verdict as dbcop says it, whose levels all have session order."""
    findings = {finding.name for finding in scan(history)[1]}
    if findings - {"non-repeatable"}:
        return "ReadCommitted"
    if findings:
        return "RepeatableRead"
    return "ok" if check(history, "strong-session-serializable").holds else "Serializable"


def test_dbcop_s_executions_have_its_verdicts() -> None:
    excutions = below("excutions")
    wrong = {}
    seen = 0
    for path in sorted(excutions.rglob("history.bincode")):
        theirs, ours = dbcop_says(excutions, path.parent), in_dbcop_s_words(read(path))
        seen += bool(theirs)
        if theirs not in ("", ours):
            wrong[path.parent.relative_to(excutions).as_posix()] = theirs, ours

    assert {} == {case: said for case, said in wrong.items() if FIRST_MET.get(case) != said}
    assert seen


@pytest.mark.parametrize("name", ELLE)
def test_elle_s_histories_have_the_verdicts_of_its_tests(name: str) -> None:
    found = sorted(Path(FOLDER).rglob(name))
    if not found:
        pytest.skip(f"no {name} in the folder")
    holds, violated = ELLE[name]
    verdicts = check_levels(read(found[0]))

    assert verdicts[holds].holds
    assert not verdicts[violated].holds


@pytest.mark.parametrize("name", BUGS)
def test_isovista_s_bugs_are_found(name: str) -> None:
    found = sorted(Path(FOLDER).rglob(f"{name}.txt"))
    if not found:
        pytest.skip(f"no {name}.txt in the folder")

    assert not check(read(found[0]), BUGS[name]).holds
