"""Public logs of other checkers get the verdicts that those have on record.

The logs are not part of this repository. STATEWALK_HISTORIES names a folder, below which these are
looked for; without it the tests are skipped:

- Porcupine (anishathalye/porcupine): `test_data/jepsen` with etcd's logs, `test_data/kv`, and
  `porcupine_test.go`, which has the verdicts;
- Knossos (jepsen-io/knossos): `data/cas-register`, `data/multi-register` and `data/mutex`, whose
  folders say `good` or `bad`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from statewalk.checker.history.objects.deciding import decide
from statewalk.checker.history.objects.reading import read_operations
from statewalk.checker.history.objects.spec import Object
from statewalk.checker.library import spec_path
from statewalk.dsl.loader import load

FOLDER = os.environ.get("STATEWALK_HISTORIES", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="STATEWALK_HISTORIES names no folder of histories"),
]
NO_CLIENT = "mongodb-v0-ack-rollback-.edn"  # only what the test did to the servers
KNOSSOS = {
    "cas-register": ("register", 119),
    "multi-register": ("registers", 1),
    "mutex": ("mutex", 1),
}


def below(name: str) -> Path:
    found = sorted(path for path in Path(FOLDER).rglob(name))
    if not found:
        pytest.skip(f"no {name} in the folder")
    return found[0]


def holds(
    file: Path, name: str, *, nil_is_unknown: bool = False, **constants: object
) -> bool | None:
    object = Object(load(spec_path(f"objects/{name}"), constants, optimize=False), nil_is_unknown)
    return decide(object, read_operations(file)).holds


def test_the_logs_of_etcd_have_the_verdicts_of_porcupine() -> None:
    tests = below("porcupine_test.go")
    recorded = re.findall(r"checkJepsen\(t, (\d+), (true|false)\)", tests.read_text())
    folder = tests.parent / "test_data" / "jepsen"
    found = {n: holds(folder / f"etcd_{int(n):03}.log", "register") for n, _ in recorded}

    assert 102 == len(recorded)
    assert {n: verdict == "true" for n, verdict in recorded} == found


@pytest.mark.parametrize("clients", ["01", "10", "50"])
@pytest.mark.parametrize("verdict", ["ok", "bad"])
def test_the_logs_of_a_map_have_the_verdicts_of_porcupine(clients: str, verdict: str) -> None:
    file = below("porcupine_test.go").parent / "test_data" / "kv" / f"c{clients}-{verdict}.txt"

    assert (verdict == "ok") is holds(file, "kv", EMPTY="")


@pytest.mark.parametrize("kind", KNOSSOS)
def test_the_histories_of_knossos_have_the_verdicts_of_their_folders(kind: str) -> None:
    name, count = KNOSSOS[kind]
    initial = {} if kind == "mutex" else {"INITIAL": 0}
    files = [f for f in below(kind).rglob("*.edn") if f.name not in (NO_CLIENT, "hazelcast.edn")]
    found = {f: holds(f, name, nil_is_unknown=True, **initial) for f in files}

    assert count == len(files)
    assert {f: f.parent.name == "good" for f in files} == found
