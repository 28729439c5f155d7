"""A spec is found however its text begins and its lines end: one that is left out is not tested."""

from pathlib import Path

import pytest

from statewalk.checker.commands.everyday.found import specs_in
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


def test_a_place_in_a_spec_with_a_byte_order_mark_has_a_name(tmp_path: Path) -> None:
    spec = tmp_path / "odd.py"
    spec.write_bytes(b"\xef\xbb\xbfdef go() -> None:\n    sum(n for n in range(3))\n")

    place = place_of([(str(spec), 2, "<genexpr>")], [str(spec)])

    assert place is not None
    assert f"'go' ({spec}:2)" == str(place)
