"""A saved search goes on with the slots that its sets had, whether or not they had elements yet."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest

from statewalk.checker import native
from statewalk.checker.contract.saved import BEFORE, MANIFEST
from statewalk.checker.contract.search import SearchOptions
from statewalk.checker.disk import saving as disk
from statewalk.checker.disk.search import Limits
from statewalk.checker.engines import reference
from statewalk.checker.native.manifests import read_manifest, write_manifest
from statewalk.checker.native.programs.programs import Programs
from statewalk.dsl.errors import RunError
from statewalk.dsl.loader import load
from statewalk.dsl.model import Model
from tests.cases import some
from tests.checker.native.agreement import told

SPEC = """from statewalk import *
deadlock(False)
class Net(State):
    sent: set[int] = set()
    n: int = 0
net = Net()
class P(Role):
    got: set[int] = set()
    @action
    def tick(self) -> None:
        require(net.n < 4)
        net.n += 1
{actions}
ps = [P() for _ in range(2)]
{properties}
"""
IDIOMS = {
    "added": "HELD.add(net.n)",
    "not in": "require(net.n not in HELD)\nHELD.add(net.n)",
    "in": "if 3 in HELD:\n    net.n = 7\nelse:\n    HELD.add(3)",
    "empty": "if not HELD:\n    HELD.add(net.n)\nelse:\n    HELD.clear()",
    "len": "require(len(HELD) < 2)\nHELD.add(net.n)",
    "chosen": "x = any_of([1, 2, 3])\nHELD.add(x)\nif len(HELD) == 3:\n    net.n = 9",
    "all": "require(all(x != net.n for x in HELD))\nHELD.add(net.n)",
    "picked": "if HELD:\n    x = any_of(HELD)\n    HELD.remove(x)\nelse:\n    HELD.add(net.n)",
    "superset": "require(not (HELD >= {3}))\nHELD |= {net.n}",
    "discarded": "HELD.discard(2)\nHELD.add(net.n)",
    "assigned": "HELD = HELD | {net.n}",
    "from another": "self.got.add(net.n)\nnet.sent = self.got & {2, 3}",
    "equal": "require(HELD != {2, 3})\nHELD.add(net.n)",
    "reset": "HELD = set() if HELD else {net.n}",
}
PROPERTIES = {
    "none": "",
    "in": "@always\ndef inv() -> bool:\n    return 3 not in net.sent",
    "len": "@always\ndef inv() -> bool:\n    return len(net.sent) < 2",
    "all": "@always\ndef inv() -> bool:\n    return all(x < 3 for x in net.sent)",
    "empty": "@always\ndef inv() -> bool:\n    return not net.sent",
    "witness": "@exists\ndef ex() -> bool:\n    return net.n == 3 and not net.sent",
    "constraint": "@constraint\ndef con() -> bool:\n    return 3 not in net.sent",
    "step": "@on_step\ndef stp() -> bool:\n    return len(net.sent) >= len(old(net.sent))",
    "both": "@always\ndef inv() -> bool:\n    return not any(net.sent & p.got for p in ps)",
}
OPTIONS = SearchOptions(keep_going=True)
LATE = 2  # no set has an element in the states up to this depth


def spec(folder: Path, acts: list[tuple[str, str]], props: list[str]) -> Model:
    """A spec of idioms, each with the set that it is about, and properties; sets get their first
    elements late.
    """
    actions = []
    for number, (idiom, held) in enumerate(acts):
        lines = f"require(net.n >= {LATE})\n{IDIOMS[idiom].replace('HELD', held)}".splitlines()
        body = "".join(f"        {line}\n" for line in lines)
        actions.append(f"    @action\n    def a{number}(self) -> None:\n{body}")
    said = "\n".join(PROPERTIES[name] for name in props)
    path = folder / "spec.py"
    path.write_text(SPEC.format(actions="".join(actions), properties=said))
    return load(path)


def saved_at(depth: int, folder: Path, model: Model, how: SearchOptions = OPTIONS) -> SearchOptions:
    """Options with which a search of a model goes on that was saved ``how`` after so many steps."""
    folder.mkdir()
    native.explore(model, replace(how, checkpoint=str(folder), max_depth=depth))
    assert (folder / MANIFEST).exists()
    return replace(OPTIONS, checkpoint=str(folder), resume=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("idiom", "prop"), some(product(IDIOMS, PROPERTIES), every=93))
def test_sets_without_elements_go_on(idiom: str, prop: str, tmp_path: Path) -> None:
    model = spec(tmp_path, [(idiom, "net.sent")], [prop])
    expected = told(reference.explore(model, OPTIONS))

    for depth in (1, LATE, LATE + 1):
        saved = saved_at(depth, tmp_path / str(depth), model)
        assert expected == told(native.explore(model, saved)), depth


@pytest.mark.thorough
@pytest.mark.parametrize("seed", some(range(96), every=96))
def test_some_sets_have_elements_and_others_none(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    acts = [(random.choice([*IDIOMS]), random.choice(["net.sent", "self.got"])) for _ in "ab"]
    props = random.sample(["both", "witness", "constraint", "step"], 2)
    model = spec(tmp_path, acts, props)
    options = replace(OPTIONS, max_states=2000)
    expected = told(reference.explore(model, options))

    for depth in (LATE, LATE + 1, LATE + 2):
        saved = saved_at(depth, tmp_path / str(depth), model)
        found = native.explore(model, replace(saved, max_states=2000))
        assert expected == told(found), (seed, depth)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("depth", some([LATE, 1, LATE + 2], every=3))
@pytest.mark.parametrize(
    "how",
    [
        replace(OPTIONS, programs="none"),
        replace(OPTIONS, programs="whole"),
        replace(OPTIONS, without=frozenset({"P.a0"})),
        replace(OPTIONS, without=frozenset({"inv"})),
    ],
    ids=["none", "whole", "without an action", "without a property"],
)
def test_programs_that_were_given_up_before(how: SearchOptions, depth: int, tmp_path: Path) -> None:
    model = spec(tmp_path, [("all", "net.sent"), ("picked", "self.got")], ["len"])
    assert Programs(model, OPTIONS).exploded
    assert how.programs != "all" or not Programs(model, how).exploded

    saved = saved_at(depth, tmp_path / "saved", model, how)

    assert told(reference.explore(model, OPTIONS)) == told(native.explore(model, saved))


@pytest.mark.thorough
@pytest.mark.parametrize("programs", ["all", "none"])
def test_a_search_in_files_goes_on(programs: str, tmp_path: Path) -> None:
    model = spec(tmp_path, [("all", "net.sent"), ("picked", "self.got")], ["len"])
    few = Limits(1 << 40, 1, 8)
    saving = replace(OPTIONS, checkpoint=str(tmp_path / "saved"), programs=programs)  # type: ignore[arg-type]
    disk.explore(model, replace(saving, max_depth=LATE), few)

    found = disk.explore(model, replace(saving, programs="all", resume=True), few)

    assert told(reference.explore(model, OPTIONS)) == told(found)


def test_a_manifest_names_the_fields_whose_elements_have_slots(tmp_path: Path) -> None:
    model = spec(tmp_path, [("all", "net.sent"), ("picked", "self.got")], ["len"])
    saved = saved_at(1, tmp_path / "saved", model)
    manifest = read_manifest(tmp_path / "saved" / MANIFEST)
    assert [["Net", "sent"], ["P", "got"]] == manifest["exploded"]

    (tmp_path / "saved" / BEFORE).unlink(missing_ok=True)
    for other in ([["Net", "sent"]], [["Net", "sent"], ["P", "other"]]):
        write_manifest(tmp_path / "saved", {**manifest, "exploded": other}, keep=False)
        with pytest.raises(RunError, match=r"(?s)SW341.*Another version of statewalk wrote it"):
            native.explore(model, saved)


def test_a_manifest_of_an_earlier_version_is_refused(tmp_path: Path) -> None:
    model = spec(tmp_path, [("all", "net.sent")], ["len"])
    saved = saved_at(1, tmp_path / "saved", model)
    manifest = read_manifest(tmp_path / "saved" / MANIFEST)
    del manifest["exploded"]
    write_manifest(tmp_path / "saved", {**manifest, "format": 2}, keep=False)

    with pytest.raises(RunError, match=r"(?s)SW341.*Another version of statewalk wrote it"):
        native.explore(model, saved)
