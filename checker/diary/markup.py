"""An entry as HTML: CommonMark without raw HTML, save folds; what cells show gets its dress."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from statewalk.checker.diary.entry import PROMPT
from statewalk.checker.traces.clauses import Clause, Reason
from statewalk.checker.traces.exports.boxes import boxed
from statewalk.checker.traces.exports.lanes import drawing, drawing_of
from statewalk.checker.traces.exports.layered import Spot, layered
from statewalk.checker.traces.exports.pictures import in_colours, svg_of
from statewalk.checker.traces.exports.sequence import Event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

    from statewalk.checker.diary.play import Played
    from statewalk.checker.traces.trace import Trace

    Link = Callable[[str], str | None]
    """From what a link leads to, to what it leads to on the page, if to anything"""

_FOLD = re.compile(r"^</?details>$|^<summary>(.*)</summary>$")
_BREAKS = re.compile(r"(?<=[_./=|,])(?=[A-Za-z])|(?<=[a-z])(?=[A-Z][a-z])")  # of long names
_LONG = 24  # lines of output that stand open
_LEXERS = {"fizz": "python", "tla": "tlaplus", "console": "text", "mermaid": "text"}
STYLES = (
    (re.compile(r"^HOLDS\b"), "good"),
    (re.compile(r"^(VIOLATED|!)"), "bad"),
    (re.compile(r"^BOUNDED\b"), "warn"),
    (re.compile(r"^ +\+ "), "plus"),
    (re.compile(r"^ +- "), "minus"),
    (re.compile(r"^ +~ "), "tilde"),
)


def to_html(played: Played) -> str:
    """Return the body of an entry's page."""
    return str(markdown({**played.traces, **played.pictures}).render(played.text))


def markdown(traces: Mapping[int, Trace | str], link: Link | None = None) -> MarkdownIt:
    """CommonMark with tables; folds and comments of ours are the only raw HTML."""
    made = MarkdownIt("commonmark", {"html": False}).enable("table")
    made.block.ruler.before("html_block", "fold", _fold, {"alt": ["paragraph"]})
    renderer: Any = made.renderer
    rules = renderer.rules
    rules["fence"] = partial(_fence, traces)
    rules["text"] = lambda tokens, at, *_: _breakable(tokens[at].content)
    rules["code_inline"] = lambda tokens, at, *_: f"<code>{_breakable(tokens[at].content)}</code>"
    rules["heading_open"] = _heading
    rules["link_open"] = partial(_link, link or in_diary)
    rules["th_open"] = rules["td_open"] = _aligned
    rules["table_open"] = lambda *_: '<div class="wide"><table>\n'
    rules["table_close"] = lambda *_: "</table></div>\n"
    return made


def _fold(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """`<details>` with its summary, each on a line of its own; comments are left out."""

    def line_at(number: int) -> str:
        return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]

    line, end = line_at(first).rstrip(), first
    found = _FOLD.match(line)
    if found is None and not line.startswith("<!--"):
        return False
    if silent:
        return True
    if found is None:
        while "-->" not in line_at(end) and end + 1 < last:
            end += 1
        text = ""
    elif found[1] is not None:
        text = f"<summary>{state.md.renderInline(found[1], state.env)}</summary>\n"
    else:
        text = line + "\n"
    state.push("html_block", "", 0).content = text
    state.line = end + 1
    return True


def _breakable(text: str) -> str:
    """Text, with places where a line may end in a name that a narrow column has no room for."""
    return _BREAKS.sub("<wbr>", escape(text))


def anchor(title: str) -> str:
    """Return the id of a heading, as GitHub forms it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _heading(tokens: Sequence[Token], at: int, *_: object) -> str:
    return f'<{tokens[at].tag} id="{escape(anchor(tokens[at + 1].content))}">'


def _aligned(tokens: Sequence[Token], at: int, *_: object) -> str:
    """Return a cell of a table. Pages allow no style in an element."""
    style = str(tokens[at].attrGet("style") or "")
    return f"<{tokens[at].tag} class=right>" if "right" in style else f"<{tokens[at].tag}>"


def in_diary(target: str) -> str | None:
    """Return the page of an entry; None for a target outside of the diary."""
    try:
        parts = urlsplit(target)
    except ValueError:  # such as http://[
        return None
    if not parts.scheme and parts.path.startswith(".."):
        return None
    if not parts.scheme and re.fullmatch(r"[\w-]+\.md", parts.path):
        page = parts.path.removesuffix(".md").replace("README", "index") + ".html"
        return page + (f"#{parts.fragment}" if parts.fragment else "")
    return target


def _link(link: Link, tokens: Sequence[Token], at: int, *_: object) -> str:
    target = link(str(tokens[at].attrs.get("href", "")))
    return "<a>" if target is None else f'<a href="{escape(target)}">'


def _fence(traces: Mapping[int, Trace | str], tokens: Sequence[Token], at: int, *_: object) -> str:
    token = tokens[at]
    language, name = f"{token.info.strip()} ".split(" ", 1)
    name = name.strip().removesuffix("+").strip()
    if token.map and token.map[0] in traces:
        found = traces[token.map[0]]
        return _painted(found, token.content) if isinstance(found, str) else drawn(found)
    if language == "mermaid" and (picture := picture_of(token.content)):
        return picture
    line = token.map[0] if token.map else 0
    if language == "console":
        return _console(token.content, line)
    head = (
        f"<figcaption>{escape(name.removesuffix('+').strip())}</figcaption>" if name.strip() else ""
    )
    text = coloured(token.content, language)
    return f'<figure class="code" data-line={line}>{head}<pre>{text}</pre></figure>\n'


def coloured(text: str, language: str) -> str:
    """Source text with its parts in classes."""
    try:
        lexer = get_lexer_by_name(_LEXERS.get(language, language) or "text")
    except ClassNotFound:
        return escape(text)
    return str(highlight(text, lexer, HtmlFormatter(nowrap=True)))


def _console(text: str, line: int) -> str:
    """Commands, each with its output below; a long one unfolds."""
    parts: list[str] = []
    for block in re.split(rf"^(?={re.escape(PROMPT)})", text, flags=re.MULTILINE):
        command, _, output = block.partition("\n")
        if not block.startswith(PROMPT):
            command, output = "", block
        lines = output.splitlines()
        shown = "\n".join(map(_line, lines))
        head = f'<p class="command"><code>{escape(command)}</code></p>' if command else ""
        if len(lines) > _LONG:
            first = "\n".join(map(_line, lines[:6]))
            more = "\n".join(map(_line, lines[6:]))
            fold = f"<details><summary>{len(lines) - 6} more lines</summary><pre>{more}</pre>"
            parts.append(f"{head}<pre>{first}</pre>{fold}</details>")
        elif command or lines:
            parts.append(f"{head}<pre>{shown}</pre>" if lines else head)
    return f'<figure class="console" data-line={line}>{"".join(parts)}</figure>\n'


def _line(line: str) -> str:
    for pattern, style in STYLES:
        if pattern.search(line):
            return f'<span class="{style}">{escape(line)}</span>'
    return escape(line)


def _painted(svg: str, text: str) -> str:
    """Return a picture of a state in the colours of the page, which may be dark."""
    plain = in_colours(re.sub(r"<style>.*?</style>\n?", "", svg, flags=re.DOTALL))
    fold = f"<details><summary>The same as text</summary><pre>{escape(text)}</pre></details>"
    return f'<figure class="drawn">{plain}{fold}</figure>\n'


def drawn(trace: Trace) -> str:
    """Return a trace as a picture, and its steps, which unfold."""
    steps = "".join(
        f"<li><code>{escape(step.label)}</code>"
        f"<pre>{escape(chr(10).join(str(change) for change in changes))}</pre></li>"
        for step, changes in trace
    )
    return (
        f'<figure class="drawn">{framed(drawing(trace))}'
        f"<details><summary>What each step changed</summary><ol>{steps}</ol></details></figure>\n"
    )


_NODE = re.compile(r'^  (\w+)(\(?)\["(.*)"\]\)?$')
_EDGE = re.compile(r'^  (\w+) -->\|"(.*)"\| (\w+)$')
_TURN = re.compile(r"^  (\w+|\[\*\]) --> (\w+)(?:: (.*))?$")
_LANE = re.compile(r"^  participant (L\d+) as (.*)$")
_NOTE = re.compile(r"^  Note over (L\d+): (\d{1,9})\. (.*?)(?: ← (.*))?$")
_ARROW = re.compile(r"^  (L\d+)->>(L\d+): (.*)$")
_FALSE = re.compile(r"^  Note over (L\d+): ✗ (\S+): (.*)$")
_BACK = re.compile(r"^  Note over L\d+: back to state (\d{1,9}), for ever$")
_MARKS = (("#quot;", '"'), ("#lt;", "<"), ("#gt;", ">"), ("#35;", "#"))
_WIDE = 1050
_BOXES = 10  # boxes of a figure whose arrows have their texts
_CHANGES = ("~ ", "+ ", "- ")


def picture_of(text: str) -> str:
    """Return a picture; nothing where the text is of another kind, or has an arrow of another
    kind.
    """
    if text.startswith("flowchart"):
        return _graph(text.splitlines())
    if text.startswith("stateDiagram"):
        return _graph([*_as_flowchart(text.splitlines())])
    return _sequence(text.splitlines()) if text.startswith("sequenceDiagram") else ""


def framed(drawing: dict[str, Any]) -> str:
    """Return a drawing in a frame.

    One that is too wide to be read when it is made smaller is scrolled.
    """
    far = " far" * (drawing["width"] > _WIDE)
    return f'<div class="lanes{far}">{svg_of(drawing, painted=False)}</div>'


def _sequence(lines: list[str]) -> str:
    """Lanes, with the last step marked where nothing goes back from it."""
    names: dict[str, str] = {}
    found: list[Event] = []
    loop = None
    reason, name = None, ""
    for line in lines:
        if declared := _LANE.match(line):
            names[declared[1]] = _plain(declared[2])
        elif back := _BACK.match(line):
            loop = int(back[1])
        elif note := _NOTE.match(line):
            got = (_plain(note[4]),) if note[4] else ()
            lane = names.get(note[1], note[1])  # a lane may begin without being declared
            found.append(Event(int(note[2]), lane, _plain(note[3]), received=got))
        elif false := _FALSE.match(line):
            name = _plain(false[2])
            clause = Clause(_plain(false[3]), values=(("", names.get(false[1], false[1])),))
            reason = Reason("", (clause,), at=found[-1].step if found else 0)
        elif (arrow := _ARROW.match(line)) and found:
            kind: Literal["call", "message"] = "call" if arrow[3][:2] in _CHANGES else "message"
            told = _plain(arrow[3], "\n")
            step = found[-1].step
            source, target = (names.get(name, name) for name in (arrow[1], arrow[2]))
            found.append(Event(step, source, told, target, kind))
        elif "->" in line:
            return ""
    if not found:
        return ""
    picture = drawing_of(found, loop, found[-1].step if loop is None else None, {}, reason, name)
    return f'<figure class="drawn">{framed(picture)}</figure>\n'


def _as_flowchart(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a state diagram as those of a graph."""
    turns = [(m[1], m[2], m[3] or "") for m in map(_TURN.match, lines) if m]
    first = {b for a, b, _ in turns if a == "[*]"}
    for name in dict.fromkeys(name for a, b, _ in turns for name in (a, b) if name != "[*]"):
        yield f'  {name}(["{name}"])' if name in first else f'  {name}["{name}"]'
    for a, b, label in turns:
        if a != "[*]":
            yield f'  {a} -->|"{label}"| {b}'


def _graph(lines: list[str]) -> str:
    """Boxes, and what leads from one to another, which unfolds."""
    nodes = {m[1]: (m[3].split("<br/>"), bool(m[2])) for m in map(_NODE.match, lines) if m}
    edges = [(m[1], m[3], _plain(m[2], "\n")) for m in map(_EDGE.match, lines) if m]
    if not nodes or any("--" in s and not (_NODE.match(s) or _EDGE.match(s)) for s in lines):
        return ""
    for name in (name for a, b, _ in edges for name in (a, b)):
        nodes.setdefault(name, ([name], False))  # one without a text need not be declared
    initial = [name for name, (_, first) in nodes.items() if first] or list(nodes)[:1]
    levels = _levels(initial, edges)
    at = {name: number for number, name in enumerate(nodes)}
    spots = [
        Spot(
            levels.get(name, 0),
            _short(fields[0]),
            ", ".join(map(_short, fields[1:])),
            "start" if first else "",
        )
        for name, (fields, first) in nodes.items()
    ]
    if len(nodes) <= _BOXES and len(edges) <= 2 * _BOXES:
        boxes = {name: list(map(_short, fields)) for name, (fields, _) in nodes.items()}
        arrows: dict[tuple[str, str], list[str]] = {}
        for a, b, label in edges:
            arrows.setdefault((a, b), []).extend(label.split("\n"))
        picture = boxed(boxes, initial, arrows)
    else:
        picture = layered(spots, [(at[a], at[b]) for a, b, _ in edges if a != b])
    told = "".join(
        f"<li><pre>{escape(chr(10).join(map(_plain, fields)))}</pre>"
        + "".join(
            f"<p><code>{escape(label.replace(chr(10), ', '))}</code> leads to {at[b] + 1}</p>"
            for a, b, label in edges
            if a == name
        )
        + "</li>"
        for name, (fields, _) in nodes.items()
    )
    return (
        f'<figure class="drawn">{framed({"head": [], **picture})}'
        f"<details><summary>All {len(nodes)} in full, and what leads where</summary>"
        f"<ol>{told}</ol></details></figure>\n"
    )


def _levels(first: list[str], edges: list[tuple[str, str, str]]) -> dict[str, int]:
    """Return how far each node is from the first ones."""
    levels = dict.fromkeys(first, 0)
    todo = list(first)
    for name in todo:
        for a, b, _ in edges:
            if a == name and b not in levels:
                levels[b] = levels[name] + 1
                todo.append(b)
    return levels


def _plain(text: str, between: str = ", ") -> str:
    text = text.replace("<br/>", between)
    for mark, letter in _MARKS:
        text = text.replace(mark, letter)
    return text


def _short(field: str) -> str:
    """Return a field and its value, without the name of its class."""
    return re.sub(r"^(\w+)\.", "", re.sub(r"^\w+(#\d+)\.", r"\1 ", _plain(field)))
