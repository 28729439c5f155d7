"""The profile names what a search spent its time on."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.cli import main
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.report.profile import Part, Profile, profile, render
from statewalk.dsl.loader import load
from tests.checker.native.hand import two_phase_commit
from tests.places import ROOT


def test_a_profile_lists_actions_properties_and_variables() -> None:
    found = profile(two_phase_commit(3), SearchOptions())
    fired = {part.label: part.fired for part in found.parts}

    assert (288, 1146) == (found.distinct, found.generated)
    assert 1145 == sum(fired.values())
    assert ("RM#0.state", 4) in found.variables
    assert "prepare(0)" in render(found)


def test_a_set_with_slots_for_its_elements_is_one_variable(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(
        """from statewalk import Role, action, any_of, deadlock

deadlock(False)


class Node(Role):
    inbox: set[int] = set()
    last: "dict[Node, int]" = {}

    @action
    def send(self, number: bool) -> None:
        node.inbox.add(int(number))

    @action
    def receive(self) -> None:
        self.last[self] = any_of([n for n in self.inbox if n >= 0])


node = Node()
node.last[node] = 0
"""
    )
    found = profile(load(spec), SearchOptions())

    assert {"Node#0.inbox": 2, "Node#0.last[Node#0]": 2} == dict(found.variables[:2])


def test_the_culprit_is_named() -> None:
    slow = Part("action", "Broker#0.append", 10, 1000, 900, 8.0)
    quick = Part("always", "safe", 0, 1000, 10, 0.5)
    found = Profile(
        "log", 1000, 5000, 10.0, 8.5, 30.0, (quick, slow), (("Log#0.entries", 20_000),),
        (("Log#0.entries", 18_000),),
    )  # fmt: skip
    text = render(found)

    assert "Learning dominates, and Broker#0.append took 94% of it." in text
    assert "It branches most on Log#0.entries (18,000 branches)." in text
    assert "Log#0.entries has had 20,000 different values." in text


def test_the_command_prints_the_profile(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["profile", str(ROOT / "models/toys/two_phase_commit.py"), "--set", "RMS=2"])
    printed = capsys.readouterr().out

    assert 0 == code
    assert "56 distinct states, 154 generated" in printed


@pytest.mark.parametrize("bound", [("--max-depth", "2"), ("--max-states", "9")])
def test_a_profile_that_was_stopped_says_so(
    capsys: pytest.CaptureFixture[str], bound: tuple[str, str]
) -> None:
    code = main(["profile", str(ROOT / "models/toys/two_phase_commit.py"), *bound])

    assert 3 == code
    assert f"The search was ended by {bound[0]} {bound[1]}" in capsys.readouterr().out
