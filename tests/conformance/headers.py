"""The headers of the specs in specs/: what each says of itself.

A line of the form

    # check [NAME=VALUE ...] -> VERDICT [PROPERTY ...] [COUNT=NUMBER ...] [(slow)]

gives constants and what is then to be found: the verdict holds, violated or bounded; for violated the
properties and perhaps the length of the first one's trace; counts distinct, generated, depth, and unique
(Fizzbee's way of counting).
"""

import re
from dataclasses import dataclass
from pathlib import Path

SPECS = Path(__file__).resolve().parents[2] / "specs"
LINE = re.compile(r"^#\s*check(?P<set>(?:\s+\w+=\S+)*)\s*->\s*(?P<verdict>\w+)(?P<rest>.*)$", re.MULTILINE)
COUNTS = ("distinct", "generated", "depth", "unique", "length")


@dataclass(frozen=True)
class Case:
    """A spec with constants, and what is to be found."""

    path: Path
    constants: tuple[tuple[str, str], ...]
    verdict: str
    properties: tuple[str, ...]
    counts: tuple[tuple[str, int], ...]
    slow: bool

    def __str__(self) -> str:
        given = ",".join(f"{name}={value}" for name, value in self.constants)
        name = self.path.relative_to(SPECS).as_posix()
        return f"{name}[{given}]" if given else name


def cases(path: Path) -> list[Case]:
    """What the header of a spec says."""
    found = []
    for line in LINE.finditer(path.read_text(encoding="utf-8")):
        words = line["rest"].split()
        counts = [w.partition("=")[::2] for w in words if "=" in w]
        plain = [w for w in words if "=" not in w]
        unknown = [name for name, _ in counts if name not in COUNTS]
        assert not unknown, f"{path}: {unknown}"
        found.append(
            Case(
                path,
                tuple((n, v) for n, _, v in (w.partition("=") for w in line["set"].split())),
                line["verdict"],
                tuple(w for w in plain if w != "(slow)"),
                tuple((name, int(value)) for name, value in counts),
                "(slow)" in plain,
            )
        )
    return found


def all_specs() -> list[Path]:
    """Every spec of the corpus."""
    return sorted([*SPECS.rglob("*.fizz"), *SPECS.rglob("*.py")])
