"""The Python prompt at a state of a spec."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from statewalk.checker.cli import main

SPEC = """
from statewalk import Role, action, always, require

class Counter(Role):
    n: int = 0

    @action
    def up(self) -> None:
        require(self.n < 4)
        self.n += 1

    @action
    def down(self) -> None:
        require(self.n > 0)
        self.n -= 1

counter = Counter()

def half() -> float:
    return counter.n / 2

@always
def small() -> bool:
    return counter.n < 3
"""


@pytest.fixture
def typed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    (tmp_path / "spec.py").write_text(SPEC)

    def asked(*lines: str) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert main(["repl", str(tmp_path / "spec.py")]) == 0
        out, err = capsys.readouterr()
        return out + err.partition("trace()        the steps so far\n")[2]

    return asked


def test_names_are_bound_to_the_state_and_functions_go_elsewhere(typed) -> None:  # type: ignore[no-untyped-def]
    assert "1.5" in typed('find("counter.n == 3")', "half()")
    assert "0.5" in typed("next(0)", "half()")
    assert "0.5" in typed('find("counter.n == 3")', "back(2)", "half()")
    assert "0.0" in typed('find("counter.n == 3")', "begin()", "half()")
    assert "Counter#0 · down" in typed("next(0)", "next()")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['why("down")'], "require(self.n > 0)  self.n = 0"),
        (['why("up")'], "Counter#0.up: possible"),
        (['why("small")'], "small is not false here"),
        (['find("counter.n == 3")', 'why("small")'], "counter.n < 3    counter.n = 3"),
        (['find("counter.n == 9")'], "no such state: 5 states looked at"),
        (["counter.n = 3"], "changes the state (Counter#0.n)"),
        (["next(7)"], "next() lists them"),
        (["1 // 0"], "ZeroDivisionError"),
        (["next(0)", "trace()"], "~ Counter#0.n  0 → 1"),
    ],
)
def test_an_answer_or_a_mistake_ends_nothing(typed, lines: list[str], said: str) -> None:  # type: ignore[no-untyped-def]
    printed = typed(*lines, "'still ' + 'here'")

    assert said in printed
    assert "still here" in printed
