"""The skeleton of a TLA+ module: what it names, and that it loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.api import load
from statewalk.checker.cli import main
from statewalk.checker.commands.everyday.skeleton import read, skeleton, steps_of

MODULE = r"""
----------------------------- MODULE Ring -----------------------------
EXTENDS Naturals, Sequences
CONSTANTS N,  \* how many
          Colours, Leader
CONSTANT Op(_)
VARIABLES token, (* where (* nested *) it is *) sent,
          inbox, index
vars == <<token, sent, inbox, index>>
TypeOK == /\ token \in 0..N-1
          /\ sent \in SUBSET Colours
          /\ inbox \in [0..N -> Seq(Colours)]
          /\ index \in BOOLEAN
Init == /\ token = 0
Pass(i) == /\ token = i
           /\ token' = (i + 1) % N
           /\ UNCHANGED <<sent, inbox, index>>
Sent == /\ sent' = Colours
        /\ UNCHANGED <<token, inbox, index>>
Next == \/ \E i \in 0..N-1 : Pass(i)
        \/ Sent
        \/ /\ index' = TRUE
           /\ UNCHANGED <<token, sent, inbox>>
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)
Comes == <>(token = 1)
=======================================================================
"""
CFG = """
SPECIFICATION Spec
CONSTANTS N = 3  Colours = {red, green}
  Leader = Leader
INVARIANT TypeOK
PROPERTIES Comes
"""


def test_names_texts_and_values_are_taken(tmp_path: Path) -> None:
    text = skeleton(read(MODULE, CFG), "Ring.tla")
    file = tmp_path / "ring.py"
    file.write_text(text, encoding="utf-8")
    model = load(file)

    assert dict(model.constants) == {
        "N": 3, "Colours": ("red", "green"), "Leader": "Leader", "Op": 2,
    }  # fmt: skip
    assert [action.name for action in model.actions] == ["pass_2", "sent_2", "next"]
    assert {prop.name: prop.kind for prop in model.properties} == {
        "TypeOK": "always", "Comes": "eventually",
    }  # fmt: skip
    for line in ("token: int = 0", "sent: set = set()", "inbox: dict = {}", "bool = False"):
        assert line in text
    assert r"\/ \E i \in 0..N-1 : Pass(i)" in text
    assert "token' = (i + 1) % N" in text
    assert 'config("tlc", expect=holds())' in text


@pytest.mark.parametrize(
    ("next", "names"),
    [("A", ["A"]), ("A \\/ B", ["A", "B"]), ("\n  \\/ A\n  \\/ B", ["A", "B"]),
     ("\\E i \\in S : \\/ A\n                 \\/ B", ["A", "B"])],
)  # fmt: skip
def test_each_disjunct_is_an_action(next: str, names: list[str]) -> None:
    text = f"VARIABLE x\nA == x' = 1\nB == x' = 2\nNext == {next}\nSpec == x = 0 /\\ [][Next]_x\n"

    assert [name for name, _ in steps_of(read(text))] == names


def test_a_folder_with_a_skeleton_can_be_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Ring.tla").write_text(MODULE, encoding="utf-8")
    Path("MC.cfg").write_text(CFG, encoding="utf-8")

    assert main(["new", "ring", "--from-tla", "Ring.tla", "--cfg", "MC.cfg"]) == 0
    assert main(["check", "ring/ring.py", "--property", "TypeOK"]) == 0
    assert "1 distinct state" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "error"),
    [(["--cfg", "MC.cfg"], "SW326"), (["--from-tla", "none.tla"], "SW404"),
     (["--from-tla", "MC.cfg"], "SW383")],
)  # fmt: skip
def test_mistakes_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    options: list[str], error: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("MC.cfg").write_text(CFG, encoding="utf-8")

    assert main(["new", "ring", *options]) == 2
    assert error in capsys.readouterr().err
