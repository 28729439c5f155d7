"""Builds a folder of pages on the bugs of the diary: python docs/gallery.py [FOLDER]

Each bug has its report page and its drawing; comparisons show which change repairs what.
`index.html` lists all. The folder is static and needs no network.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from statewalk.checker.api import check
from statewalk.checker.compare.compare import Comparison
from statewalk.checker.compare.from_python import compare
from statewalk.checker.page.data import of_run
from statewalk.checker.page.html import asset, embedded, of_comparison, to_html
from statewalk.checker.traces.exports import export_trace
from statewalk.checker.traces.trace import Trace
from statewalk.checker.verdict.run import Run

DIARY = Path(__file__).parent / "diary"
MOST = 300_000  # bytes of a page


@dataclass(frozen=True)
class Bug:
    """A counterexample of an entry of the diary."""

    entry: str
    title: str
    spec: str
    property: str = ""
    constants: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """Two variants of a spec beside each other."""

    name: str
    title: str
    spec: str
    vary: Mapping[str, Sequence[Any]]
    constants: Mapping[str, Any] = field(default_factory=dict)


BUGS = (
    Bug("01", "A broker forgets that a request is pending", "01/asking.py", "",
        {"CLIENTS": 2, "MUTANT": "never_busy"}),
    Bug("02", "Asking again is only weakly fair", "01/asking.py", "everybody_gets_a_pid",
        {"BROKERS": 2, "MUTANT": "weak_asking"}),
    Bug("03", "Every transactional id counts as pending", "01/asking.py", "everybody_gets_a_pid",
        {"CLIENTS": 3, "TIDS": 2, "MUTANT": "phantom_pending"}),
    Bug("04", "A new leader leaves a decision unfinished", "04/moving.py", "everybody_gets_a_pid",
        {"MUTANT": "decisions_are_left"}),
    Bug("05", "A record arrives in the next transaction", "05/late.py", "aborted_never_committed",
        {"TXNS": 2}),
    Bug("06", "Half of the repair", "06/proposals.py", "", {"VARIANT": "part1", "TXNS": 2}),
    Bug("07", "A timeout between two decisions", "07/two_systems.py", "",
        {"CRASHES": 0, "TIMEOUTS": 1}),
    Bug("08", "Two writers share a sequence number", "08/table.py", "",
        {"WORKLOAD": "upsert", "NUMBERS": "shared", "VALUES": 3}),
    Bug("09", "The check that is not enough", "08/table.py", "",
        {"CHECK": True, "NUMBERS": "per_writer"}),
    Bug("10", "Vectors that point nowhere", "10/levels.py", "no_dangling_vector",
        {"COMPACTORS": 2}),
    Bug("11", "Write skew under snapshots", "11/store.py", "", {"LEVEL": "serializable"}),
    Bug("12", "Stamps that no order agrees with", "12/stamps.py"),
    Bug("13", "A log is shortened too far", "13/replication.py", "strong_isr",
        {"TRUNCATION": "kip279", "REPLICAS": 3}),
)  # fmt: skip
CHANGES = (
    Change("init-pid", "An epoch that is not raised", "kafka/init_pid",
           {"MUTANT": ["none", "no_epoch_bump"]}, {"BROKERS": 1}),
    Change("part-1", "One half of a proposal, and both", "06/proposals.py",
           {"VARIANT": ["part1", "part2"]}),
    Change("recovery", "Abort, or keep what was prepared", "07/two_systems.py",
           {"RECOVERY": ["abort", "kip939"]}),
)  # fmt: skip


def main() -> None:
    """Build the folder that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("build/gallery"))
    parser.add_argument("--only", action="append", help="this entry, or the name of a comparison")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    wanted = set(given.only or [])
    cards = [card_of_bug(b, given.folder) for b in BUGS if not wanted or b.entry in wanted]
    cards += [card_of_change(c, given.folder) for c in CHANGES if not wanted or c.name in wanted]
    (given.folder / "index.html").write_text(index_of(cards), encoding="utf-8")
    sys.stdout.write(f"{given.folder / 'index.html'}: {len(cards)} pages\n")


def card_of_bug(bug: Bug, folder: Path) -> str:
    """Write the page and the drawing of a bug; its part of the index."""
    options = {"properties": (bug.property,)} if bug.property else {}
    run = check(_spec(bug.spec), dict(bug.constants), **options)
    trace = shown(run)
    name = f"{bug.entry}-{bug.title.lower().replace(' ', '-').replace(',', '')}"
    write(folder / f"{name}.html", of_run(run))
    (folder / f"{name}.svg").write_text(export_trace(trace, "svg"), encoding="utf-8")
    reason = trace.reason
    said = {"": reason.doc, "false": reason.said} if reason is not None else {}
    return _card(name, f"{bug.entry} · {bug.title}", said, drawn=True)


def shown(run: Run) -> Trace:
    """Return the counterexample of a run. Raises ValueError where it has none."""
    found = [trace for trace in run.traces.values() if not trace.of_kind.witness]
    if not found:
        raise ValueError(f"no counterexample of {run.spec}")
    return min(found, key=lambda trace: trace.length)


def card_of_change(change: Change, folder: Path) -> str:
    """Write the page of a comparison; its part of the index."""
    found: Comparison = compare(
        _spec(change.spec), vary=change.vary, constants=dict(change.constants)
    )
    write(folder / f"{change.name}.html", of_comparison(found, ""))
    sides = " beside ".join(side.name for side in found.sides)
    return _card(change.name, change.title, {"": sides}, drawn=False)


def _spec(name: str) -> str:
    return str(DIARY / name) if name.endswith(".py") else name


def write(file: Path, data: dict[str, Any]) -> None:
    """Write a page; what would make it too large is left out, the neighbours of states first."""
    for path in reversed(data["traces"]):
        for part in (path, path.get("beside") or {}):
            if len(embedded(data)) + len(to_html({})) > MOST:
                part.pop("around", None)
    while len(embedded(data)) + len(to_html({})) > MOST and len(data["traces"]) > 1:
        data["traces"].pop()
    file.write_text(to_html(data), encoding="utf-8")


def _card(name: str, title: str, said: Mapping[str, str], *, drawn: bool) -> str:
    lines = "".join(f'<p class="{k}">{escape(text)}</p>' for k, text in said.items() if text)
    picture = f'<img src="{name}.svg" alt="sequence diagram of the counterexample" loading="lazy">'
    picture = f'<a class="drawn" href="{name}.html">{picture}</a>' if drawn else ""
    return f'<section><h2><a href="{name}.html">{escape(title)}</a></h2>{lines}{picture}</section>'


_STYLE = """
body { margin: 0 auto; padding: 24px; max-width: 1500px; background: var(--bg); color: var(--ink);
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr));
  gap: 16px; }
section { padding: 14px 18px; background: var(--card); border: 1px solid var(--line);
  border-radius: 12px; min-width: 0; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 24px; } h2 { margin: 0 0 6px; font-size: 16px; }
p { margin: 0 0 6px; } .false { font: 12.5px/1.5 var(--mono); color: var(--bad); }
a { color: var(--accent); }
.drawn { display: block; max-height: 300px; overflow: hidden; border-radius: 8px; }
img { max-width: 100%; height: auto; display: block; }
"""


def index_of(cards: Sequence[str]) -> str:
    """Return the page that lists the others."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Bugs · statewalk</title><style>{asset('colours.css')}{_STYLE}</style></head>",
            "<body><h1>Bugs that statewalk found</h1>",
            "<p>Each is the shortest counterexample of a spec of the diary. Open one, and press "
            "space to play it.</p>",
            f"<main>{''.join(cards)}</main></body></html>\n",
        ]
    )


if __name__ == "__main__":
    main()
