"""Mistakes of new users: the message says what to write instead."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.loader import load

HEAD = """
from statewalk import Role, action, always, config, deadlock, enabled, leads_to, old, on_step
from statewalk import require, violates

class Node(Role):
    n: int = 0

    @action
    def go(self) -> None:
        self.n = 1 - self.n

nodes = [Node()]
node = nodes[0]
"""
SAID = {
    "@init\ndef start() -> None:\n    node.n = 1": (
        "SW303",
        "'init' comes from statewalk: write `from statewalk import init`.",
    ),
    "@leads_to\ndef p() -> bool:\n    return node.n == 0": (
        "SW303",
        "served = leads_to(asked, answered)",
    ),
    "@on_step\ndef p() -> bool:\n    return node.n != old.n": ("SW121", "old(x.n)"),
    "def main() -> None:\n    global more\n    more = [Node()]\n\nmain()\n\n@always\n"
    "def p() -> bool:\n    return all(m.n < 2 for m in more)": (
        "SW102",
        "more = [Client() for _ in range(2)]",
    ),
    "class Other(Role):\n    @action('weak')\n    def go(self) -> None:\n        pass": (
        "SW119",
        "Write @action(fair='weak').",
    ),
    "@always\ndef p() -> bool:\n    return node.n < 2\n\nconfig('a', expect=violates(p()))": (
        "SW305",
        "violates(p), not violates(p())",
    ),
    "class Other(Role):\n    @action\n    def late(self) -> None:\n"
    "        require(not enabled('go'))": ("SW121", "require(not ready())"),
    "@always\ndef p() -> bool:\n    return node.id < 2": ("SW101", "self.index"),
    "class Table(Role):\n    dict: dict[str, int] = {}": ("SW110", "such as dict_."),
    "class Table(Role):\n    list: 'int' = 0\n    rows: list[int] = []": ("SW110", "list_."),
}


@pytest.mark.parametrize("text", SAID)
def test_the_message_says_what_to_write(text: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(f"{HEAD}\n{text}\n")

    with pytest.raises(StatewalkError) as failed:
        load(str(path))

    code, instead = SAID[text]
    assert code == failed.value.code
    assert instead in str(failed.value)


def test_a_word_that_a_step_misses_is_named_too(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(f"{HEAD}\n@always\ndef p() -> bool:\n    return not pairs(nodes)\n")

    assert "write `from statewalk import pairs`" in str(check(path, engine="reference"))


def test_a_spec_without_an_action_is_no_deadlock(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    text = (
        HEAD.replace("    @action\n", "") + "\n@always\ndef p() -> bool:\n    return node.n < 2\n"
    )
    path.write_text(text)

    with pytest.raises(StatewalkError, match="has no action") as failed:
        load(str(path))

    assert "SW115" == failed.value.code
    path.write_text(text + "deadlock(False)\n")
    assert check(path, engine="reference").holds


def test_a_trace_tells_an_error_of_several_lines_in_one(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(HEAD.replace("self.n = 1 - self.n", "Node()"))

    shown = str(check(path, engine="reference"))

    assert "! SpecError: SW211 Node(...) creates a role in a step.\n" in shown
    assert 1 == shown.count("Declare the bound")


HELPER = """
def waiting() -> bool:
    return not enabled("go")

def idle() -> bool:
    return waiting()

class Timer(Role):
    @action
    def fire(self) -> None:
        require({guard})
        node.n = 2

timer = Timer()

@always
def p() -> bool:
    return {property}
"""


@pytest.mark.parametrize("guard", ["waiting()", "idle()", "all(idle() for _ in range(1))"])
def test_a_function_that_an_action_calls_looks_no_step_ahead(guard: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(HEAD + HELPER.format(guard=guard, property="node.n < 3"))

    with pytest.raises(StatewalkError, match=r"'fire' calls enabled.* through 'waiting'") as failed:
        load(str(path))

    assert "SW121" == failed.value.code


def test_a_function_that_only_properties_call_may_look_ahead(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(HEAD + HELPER.format(guard="node.n == 0", property="not idle() or node.n > 1"))

    load(str(path))
