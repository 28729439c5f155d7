"""A process that no longer answers, or whose files a spec closed, ends in a result all the same."""

import json
from pathlib import Path

import pytest

from tests.cases import slow
from tests.checker.machine.hanging import COUNTER, IMPORTS, SLACK, Ended, ended

HEAD = IMPORTS + "import os, signal\nV = vars(os)\n"
ASKED = "(signal.SIGUSR2, signal.SIGALRM, signal.SIGTERM, signal.SIGINT)"
DEAF = {
    "masks ours": (
        f"signal.pthread_sigmask(signal.SIG_BLOCK, {ASKED})\nwhile True: sum(map(nap, (999,)))"
    ),
    "masks all": (
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n10 ** 10 ** 9"
    ),
    "ignores": f"for n in {ASKED}: signal.signal(n, signal.SIG_IGN)\nwhile True: pass",
    "default": f"for n in {ASKED}: signal.signal(n, signal.SIG_DFL)\nwhile True: pass",
    "stops": "V['kill'](V['getpid'](), signal.SIGSTOP)",
}
CLOSES = "V['closerange'](3, 1000)"
FORMS = ("--json", "out.json", "--junit", "out.xml", "--sarif", "out.sarif")


def spec(code: str, guard: str = "self.n == 2") -> str:
    body = "".join(f"\n        {line}" for line in code.splitlines())
    action = f"\n    @action\n    def hang(self) -> None:\n        require({guard}){body}\n"
    return HEAD + COUNTER.format(init="", action=action + "        self.n = 0\n", property="")


def check(folder: Path, how: str, text: str, *words: str) -> Ended:
    (folder / "spec.py").write_text(text)
    found = ended(folder, how, "check", "spec.py", "--engine", "reference", *words, *FORMS)
    for name in FORMS[1::2]:
        assert (folder / name).exists(), name
    found.result = json.loads((folder / "out.json").read_text())
    return found


@pytest.mark.parametrize(
    ("what", "how"),
    [
        (what, how)
        if (what, how) in {("masks ours", "time"), ("stops", "term")}
        else slow(what, how)
        for what in DEAF
        for how in ("time", "term", "int")
    ],
)
def test_who_does_not_answer_is_ended_by_the_clock(what: str, how: str, tmp_path: Path) -> None:
    found = check(tmp_path, how, spec(DEAF[what]), "--property", "small")

    assert 3 == found.code
    own = what == "default" and how != "time"  # the signal itself ends it then
    assert ("an interruption" if own else "the process did not answer") in found.bounds
    assert 3 == found.result["counts"]["distinct"]
    assert found.late < 6 + SLACK


@pytest.mark.slow
def test_what_was_found_before_is_kept_when_nobody_answers(tmp_path: Path) -> None:
    found = check(tmp_path, "time", spec(DEAF["masks ours"]), "--keep-going")

    assert 1 == found.code
    assert "violated" == found.result["verdict"]


@pytest.mark.slow
def test_a_signal_that_the_spec_ignores_ends_a_search_that_goes_on(tmp_path: Path) -> None:
    ignores = f"for n in {ASKED[:-1]},): signal.signal(n, signal.SIG_IGN)\n"
    text = HEAD + ignores + COUNTER.format(init="", action="", property="").replace(
        "min(self.n + 1, 3)", "self.n + 1"
    ).replace("< 9", "< 10 ** 9")  # fmt: skip
    found = check(tmp_path, "term", text, "--property", "small", "--max-memory", "2G")

    assert 3 == found.code
    assert "bounded: an interruption" in found.bounds
    assert found.late < 6 + SLACK


@pytest.mark.parametrize("then", ["", slow("while True: pass"), slow(DEAF["masks all"])])
def test_a_spec_that_closes_our_files_leaves_a_result(then: str, tmp_path: Path) -> None:
    found = check(tmp_path, "time", spec(f"{CLOSES}\n{then}"), "--property", "small")

    assert 3 == found.code
    assert "bounded" == found.result["verdict"]
    assert "the spec closed our files" in found.bounds or "did not answer" in found.bounds
    assert 3 == found.result["counts"]["distinct"] or not then
    assert "Traceback" not in found.err


def test_a_spec_that_closes_our_files_in_each_step_leaves_a_result_without_steps(
    tmp_path: Path,
) -> None:
    text = HEAD + COUNTER.format(init="", action="", property="").replace(
        "self.n = min", f"{CLOSES}\n        self.n = min"
    )
    found = check(tmp_path, "time", text, "--property", "low")

    assert 3 == found.code
    assert "the spec closed our files" in found.bounds
    assert "Traceback" not in found.err
