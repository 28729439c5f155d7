"""A spec is found however its text begins and its lines end: one that is left out is not tested."""

from pathlib import Path

import pytest

from statewalk.checker.commands.everyday.found import is_tested, specs_in, untested
from statewalk.checker.machine.places import place_of

FORMS = {
    "with a byte order mark": "\ufefffrom statewalk import *\n",
    "lines end as on old Macs": "import os\rfrom statewalk import *\r",
    "after a semicolon": "import os; from statewalk import *\n",
    "tabs": "from\tstatewalk import *\n",
}


@pytest.mark.parametrize("before", FORMS.values(), ids=FORMS)
def test_a_spec_is_found(before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.py").write_bytes(f"{before}config('one')\n".encode())

    assert ["odd.py"] == specs_in(["."])


CALLS = {
    "statewalk.config('one')": "import os, statewalk",
    "sw.config('one')": "import statewalk as sw",
    "configuration('one')": "from statewalk import config as configuration",
    "for n in range(2): config(f'{n}')": "from statewalk import config",
    "config ('one')": "from statewalk import *",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_found(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.py").write_text(f"{CALLS[call]}\n{call}\n")

    assert ["odd.py"] == specs_in(["."])


@pytest.mark.parametrize("line", ["@sw.action", "ends = sw.leads_to(a, b)"])
def test_a_spec_without_a_configuration_is_named(line: str, tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(f"import statewalk as sw\n{line}\ndef go(): pass\n")

    assert [str(tmp_path / "odd.py")] == untested([str(tmp_path)])


@pytest.mark.parametrize(
    "text",
    [
        "import statewalk\nimport app\napp.config('one')\n",
        "from statewalk import check\nfrom app import config\nx = config('one')\n",
        "from statewalk import config as c\ndef f(:\n",
    ],
)
def test_other_texts_are_no_specs(text: str, tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(text)

    assert not is_tested(tmp_path / "odd.py")


def test_a_place_in_a_spec_with_a_byte_order_mark_has_a_name(tmp_path: Path) -> None:
    spec = tmp_path / "odd.py"
    spec.write_bytes(b"\xef\xbb\xbfdef go() -> None:\n    sum(n for n in range(3))\n")

    place = place_of([(str(spec), 2, "<genexpr>")], [str(spec)])

    assert place is not None
    assert f"'go' ({spec}:2)" == str(place)
