"""Installed packages belong to a spec by their versions, or by files where they have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.dsl.loader import load
from statewalk.dsl.origins import UNSEEN, by_name

SPEC = """
from statewalk import *
from {} import LIMIT
class S(State):
    x: int = 0
    @action
    def go(self) -> None:
        require(self.x < LIMIT)
        self.x += 1
s = S()
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "site-packages"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    return place


def install(place: Path, name: str, *needs: str) -> None:
    about = place / f"{name}-1.0.dist-info"
    about.mkdir()
    required = "".join(f"Requires-Dist: {need}\n" for need in needs)
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{required}"
    )


def origins(place: Path, package: str) -> dict[str, str]:
    spec = place.parent / "spec.py"
    spec.write_text(SPEC.format(package))
    return by_name(load(spec).origins)


def test_a_package_that_another_requires_belongs_to_a_spec(installed: Path) -> None:
    (installed / "sw_outer.py").write_text("from sw_inner import LIMIT")
    (installed / "sw_inner.py").write_text("LIMIT = 3")
    install(installed, "sw_outer", "sw_inner (>=1.0)", "sw_absent>2", "sw_more; extra == 'more'")
    install(installed, "sw_inner", "sw-outer")
    install(installed, "sw_more")

    found = origins(installed, "sw_outer")

    assert {"sw_outer": "1.0", "sw_inner": "1.0"} == {n: v for n, v in found.items() if v == "1.0"}


@pytest.mark.thorough  # asks what all packages are
def test_what_has_no_version_among_packages_is_a_file(installed: Path) -> None:
    (installed / "sw_loose.py").write_text(
        "from pathlib import Path\nimport sw_other\n"
        "LIMIT = int(Path(__file__).with_name('limit.txt').read_text())\n"
        "try:\n    import sw_never\nexcept ImportError:\n    pass"
    )
    (installed / "limit.txt").write_text("3")
    (installed / "sw_other.py").write_text("")

    found = origins(installed, "sw_loose")
    again = origins(installed, "sw_loose")

    assert {"sw_loose.py", "limit.txt", "sw_other.py", "module sw_never"} <= found.keys()
    assert UNSEEN not in found
    assert found == again
