"""The file: one HTML document with its data, scripts and styles inside; it loads nothing.

The data stands in an element that browsers do not run, with every character escaped that could
end it. Scripts and styles are let in by their hashes: what a spec says is never among them.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.compare.telling import has_not, outcome_of, page_of, rows_of
from statewalk.checker.machine.files import write_text
from statewalk.checker.machine.turns import in_turn
from statewalk.checker.page.about import about
from statewalk.checker.page.data import (
    RUNS,
    Around,
    always_of,
    code_of,
    head,
    lines_of,
    of_path,
    of_run,
    of_trace,
)
from statewalk.checker.page.places import shared
from statewalk.checker.traces.trace import Trace, label_of
from statewalk.checker.verdict.run import Run

if TYPE_CHECKING:
    from statewalk.checker.compare.compare import Comparison, Refinement, Side, Versus


_ASSETS = Path(__file__).parent / "assets"
SCRIPTS = (
    "dom",
    "values",
    "state",
    "code",
    "lanes",
    "path",
    "overview",
    "band",
    "compared",
    "cycle",
    "zoom",
    "graph",
    "picture",
    "controls",
    "play",
    "share",
    "live",
    "choices",
    "keys",
    "fields",
    "head",
    "app",
    "start",
)
STYLES = ("colours", "page", "band", "parts", "lanes", "graph", "picture", "live")
_UNTRUSTED = (
    "<p><small>Is there nothing above? Trust this notebook or run the cell; "
    "save(FILE) writes the page.</small></p>"
)
_ESCAPED = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def of_runs(run: Run) -> str:
    """Return the page of a check."""
    return to_html(of_run(run))


@dataclass(frozen=True, repr=False)
class WebPage:
    """The page of a run or a trace, as text; a notebook shows it in a frame of its own."""

    html: str

    def save(self, file: str | Path) -> None:
        """Write it to a file. Raises RunError[SW403]."""
        write_text(Path(file), self.html, help="Give another place.", named=True)

    def _repr_html_(self) -> str:
        frame = 'sandbox="allow-scripts" width="100%" height="720" style="border: 0"'
        return f'<iframe {frame} srcdoc="{escape(self.html)}"></iframe>{_UNTRUSTED}'

    def __repr__(self) -> str:
        return "a page to look at: save(FILE) writes it"


@in_turn
def page(shown: Run | Trace | Comparison) -> WebPage:
    """Return the page of a run, trace or comparison: ``page(run).save("report.html")``."""
    if isinstance(shown, Trace):
        return WebPage(to_html(of_trace(shown)))
    return WebPage(to_html(of_run(shown) if isinstance(shown, Run) else of_comparison(shown, "")))


def to_html(data: dict[str, Any], *, live: bool = False) -> str:
    """Return the page of an object of `data`; a ``live`` one may ask who served it for more."""
    script, style = _joined(SCRIPTS, "js"), _joined(STYLES, "css")
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy(live=live)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            "<title>statewalk</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            "<noscript>This page needs its own script, which your browser does not run.</noscript>",
            f'<script type="application/json" id="data">{embedded(data)}</script>',
            f"<script>{script}</script>",
            "</body>",
            "</html>\n",
        ]
    )


def policy(*, live: bool = False) -> str:
    """Return the content security policy: our script and style by their hashes, nothing else."""
    script, style = let_in()
    rules = [
        "default-src 'none'",
        f"script-src {script}",
        f"style-src {style}",
        "img-src data:",  # a drawing that becomes a PNG
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join([*rules, "connect-src 'self'"] if live else rules)


def let_in() -> tuple[str, str]:
    """Return our script and our style as a policy names them: a page around this one asks."""
    return f"'{hashed(_joined(SCRIPTS, 'js'))}'", f"'{hashed(_joined(STYLES, 'css'))}'"


def embedded(data: dict[str, Any]) -> str:
    """JSON that no text in it can end: what a browser might take for markup is escaped."""
    return json.dumps(data, separators=(",", ":")).translate(_ESCAPED)


def asset(name: str) -> str:
    """Return a script or a style as it stands."""
    return (_ASSETS / name).read_text(encoding="utf-8")


@cache
def _joined(names: tuple[str, ...], kind: str) -> str:
    """Assets as one text, without lines of comments; scripts share one scope of their own."""
    lines = (line for name in names for line in asset(f"{name}.{kind}").splitlines())
    text = "\n".join(line for line in lines if not line.lstrip().startswith("// "))
    return f'"use strict";\n(() => {{\n{text}\n}})();\n' if kind == "js" else text


def hashed(text: str) -> str:
    """Return what a content security policy calls a text."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


Drawings = Mapping[str, Around]
_WIDTH = 96  # letters of a line of the report
_MOST = 5  # steps that are told of in place of one


def of_comparison(comparison: Comparison, again: str) -> dict[str, Any]:
    """Return the page of a comparison; ``again`` is the command that repeats it."""
    base = comparison.base
    around = {
        side.name: Around(side.model, RUNS // len(comparison.sides)) for side in comparison.sides
    }
    ways = [way for versus in comparison.others for way in _ways(versus, base, around)]
    sides = [part for way in ways for part in (way, way["beside"]) if part]
    places = [place for part in sides for place in part.pop("places")]
    every = [p for side in comparison.sides for p in side.run.properties]
    page = {
        **head(base.run.spec, base.run.constants.items()),
        "about": about(base.model).get("about", ""),
        "kinds": {p.kind: p.of_kind.word for p in every},
        "always": always_of(every),
        "compared": {
            "sides": [side.name for side in comparison.sides],
            "rows": [[cell.replace("`", "") for cell in row] for row in rows_of(comparison)],
            "whole": comparison.whole,
        },
        "report": lines_of(page_of(comparison, again, width=_WIDTH)),
        "code": code_of(
            [
                *(
                    (action.span.file, action.span.line)
                    for side in comparison.sides
                    for action in side.model.actions
                    if action.span
                ),
                *places,
            ]
        ),
        "traces": _named_apart(ways),
    }
    return shared(page, base.run.spec)


def _named_apart(ways: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the same with titles that tell them apart: addresses and lists go by them."""
    titles = [way["title"] for way in ways]
    told = [
        f"{title}, beside {way['tried']}" if titles.count(title) > 1 else title
        for title, way in zip(titles, ways, strict=True)
    ]
    return [
        {
            **way,
            "title": f"{title} ({told[:at].count(title) + 1})" if told.count(title) > 1 else title,
        }
        for at, (title, way) in enumerate(zip(told, ways, strict=True))
    ]


def _ways(versus: Versus, base: Side, around: Drawings) -> Iterator[dict[str, Any]]:
    other = versus.other
    for crossings, owner, tried in (
        (versus.crossed, base, other),
        (versus.crossed_back, other, base),
    ):
        for one in crossings:
            title = f"{one.trace.property} is violated with {owner.name}"
            said = outcome_of(one, tried)
            yield _way(title, (owner, one.trace), (tried, one.followed), said, around)
    for found, owner, tried in ((versus.forth, other, base), (versus.back, base, other)):
        if found.refusal is not None:
            title = f"{owner.name} has a behavior that {tried.name} {has_not(found.refusal)}"
            beside = (tried, found.refusal.beside)
            said = _instead(found, tried)
            yield _way(title, (owner, found.refusal.trace), beside, said, around)


def _instead(found: Refinement, other: Side) -> Iterator[str]:
    refusal = found.refusal
    if refusal is None or not refusal.trace.length:
        return
    yield f"The last step is one that {other.name} {has_not(refusal)}. Its steps at this point:"
    if not refusal.allowed:
        yield "  none" if refusal.sure else "  none was seen"
    for trace in refusal.allowed[:_MOST]:
        for step, changes in trace:
            yield f"  {label_of(trace, step)}"
            yield from (f"      {change}" for change in changes)


def _way(
    title: str,
    one: tuple[Side, Trace],
    two: tuple[Side, Trace | None],
    said: Iterable[str],
    around: Drawings,
) -> dict[str, Any]:
    (side, trace), (other, beside) = one, two
    return {
        **of_path(trace, around[side.name]),
        "title": title,
        "side": side.name,
        "tried": other.name,
        "why": [[[text, ""]] for text in said],
        "beside": beside
        and {
            **of_path(beside, around[other.name]),
            "side": other.name,
            "why": [],
        },
    }
