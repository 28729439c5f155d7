"""A log names its messages; each is received as what was sent under its name."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from statewalk import conform

SPEC = """
from statewalk import Constant, Message, Network, Role, action, deadlock, on_message, require

KIND: Constant[str] = "bag"
deadlock(False)

class Put(Message):
    source: "Client"
    n: int

class Client(Role):
    n: int = 0

    @action
    def put(self) -> None:
        self.n += 1
        wire.send(server, Put(self, self.n))

    @action
    def put_same(self) -> None:
        wire.send(server, Put(self, 0))

class Server(Role):
    value: int = -1

    @on_message
    def take(self, put: Put) -> None:
        self.value = put.n

class Wire(Network[Put, Server], kind=KIND, duplicates=KIND != "kept"): ...

wire, client, server = Wire(), Client(), Server()
"""
Event = dict[str, Any]


def put(name: str, **more: Any) -> Event:
    return {"process": "c", "action": "put", "sent": name, **more}


def take(name: str, **more: Any) -> Event:
    return {"process": "s", "action": "take", "received": name, **more}


def followed(folder: Path, events: list[Event], kind: str = "bag", **options: Any) -> Any:
    (folder / "spec.py").write_text(SPEC.replace('"bag"', f'"{kind}"'))
    (folder / "log.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return conform(folder / "spec.py", folder / "log.jsonl", **options)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["bag", "set", "kept", "queue", "fifo"])
def test_a_message_is_received_as_it_was_sent(kind: str, tmp_path: Path) -> None:
    in_order = kind in ("queue", "fifo")
    sent = [put("a"), put("b"), put("c")]
    for order in permutations("abc") if kind == "bag" else ["abc", "cab"]:
        values = ["abc".index(name) + 1 for name in order]
        said = [take(n, after={"value": v}) for n, v in zip(order, values, strict=True)]
        wrong = [*said[:2], take(order[2], after={"value": values[0]})]

        right = followed(tmp_path, [*sent, *said], kind)
        assert right.conforms is ("".join(order) == "abc" or not in_order)
        assert not followed(tmp_path, [*sent, *wrong], kind).conforms


def test_what_is_received_instead_is_told(tmp_path: Path) -> None:
    found = followed(tmp_path, [put("a"), put("b"), take("b", after={"value": 1})])

    said = " ".join(found.report.split())
    assert "it receives Put(source=Client#0, n=1), and b is Put(source=Client#0, n=2)" in said


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["bag", "set"])
def test_equal_messages_have_any_of_their_names(kind: str, tmp_path: Path) -> None:
    same = {"action": "put_same"}
    sent = [put("a", **same), put("b", **same), put("c")]

    for names in permutations("abc") if kind == "bag" else ["acb", "bca"]:
        values = [1 if name == "c" else 0 for name in names]
        said = [take(n, after={"value": v}) for n, v in zip(names, values, strict=True)]
        given = said if kind == "bag" else said[:2]
        assert followed(tmp_path, [*sent, *given], kind).conforms


def test_duplicates_keep_their_name(tmp_path: Path) -> None:
    again = {"action": "take_again"}
    said = [take("a", **again, after={"value": 1}), take("a", after={"value": 1})]

    assert followed(tmp_path, [put("a"), put("b"), *said]).conforms
    assert not followed(tmp_path, [put("a"), put("b"), *said, take("a")]).conforms


def test_depth_first_too(tmp_path: Path) -> None:
    events = [put("a"), put("b"), take("b"), take("a", after={"value": 1})]

    assert followed(tmp_path, events, depth_first=True).conforms
    events[-1]["after"]["value"] = 2
    assert not followed(tmp_path, events, depth_first=True).conforms
