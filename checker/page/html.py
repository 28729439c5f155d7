"""The file: one HTML document with its data, scripts and styles inside; it loads nothing.

The data stands in an element that browsers do not run, with every character escaped that could
end it. Scripts and styles are let in by their hashes: what a spec says is never among them.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statewalk.checker.machine.files import write_text
from statewalk.checker.page.compared import of_comparison
from statewalk.checker.page.data import of_run, of_trace
from statewalk.checker.traces.trace import Trace
from statewalk.checker.verdict.run import Run

if TYPE_CHECKING:
    from statewalk.checker.compare.compare import Comparison

_ASSETS = Path(__file__).parent / "assets"
SCRIPTS = (
    "dom",
    "values",
    "state",
    "lanes",
    "path",
    "overview",
    "compared",
    "graph",
    "controls",
    "live",
    "choices",
    "keys",
    "app",
    "start",
)
STYLES = ("colours", "page", "parts", "lanes", "graph", "live")
_UNTRUSTED = (
    "<p><small>Is there nothing above? Trust this notebook or run the cell; "
    "save(FILE) writes the page.</small></p>"
)
_ESCAPED = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def of_runs(run: Run) -> str:
    """The page of a check."""
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


def page(shown: Run | Trace | Comparison) -> WebPage:
    """The page to look at of a run, a trace or a comparison: ``page(run).save("report.html")``."""
    if isinstance(shown, Trace):
        return WebPage(to_html(of_trace(shown)))
    return WebPage(to_html(of_run(shown) if isinstance(shown, Run) else of_comparison(shown, "")))


def to_html(data: dict[str, Any], *, live: bool = False) -> str:
    """The page of an object of `data`; a ``live`` one may ask who served it for more."""
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
    """The content security policy: our script and style by their hashes, nothing else."""
    rules = [
        "default-src 'none'",
        f"script-src '{hashed(_joined(SCRIPTS, 'js'))}'",
        f"style-src '{hashed(_joined(STYLES, 'css'))}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join([*rules, "connect-src 'self'"] if live else rules)


def embedded(data: dict[str, Any]) -> str:
    """JSON that no text in it can end: what a browser might take for markup is escaped."""
    return json.dumps(data, separators=(",", ":")).translate(_ESCAPED)


def asset(name: str) -> str:
    """A script or a style as it stands."""
    return (_ASSETS / name).read_text(encoding="utf-8")


@cache
def _joined(names: tuple[str, ...], kind: str) -> str:
    """Assets as one text; scripts share one scope of their own."""
    text = "\n".join(asset(f"{name}.{kind}") for name in names)
    return f'"use strict";\n(() => {{\n{text}\n}})();\n' if kind == "js" else text


def hashed(text: str) -> str:
    """What a content security policy calls a text."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"
