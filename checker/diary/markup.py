"""An entry as HTML: CommonMark without raw HTML, save folds; what cells show gets its dress."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from statewalk.checker.diary import pictures
from statewalk.checker.diary.entry import PROMPT
from statewalk.checker.traces.exports.lanes import drawing

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
_STYLES = (
    (re.compile(r"^HOLDS\b"), "good"),
    (re.compile(r"^(VIOLATED|!)"), "bad"),
    (re.compile(r"^BOUNDED\b"), "warn"),
    (re.compile(r"^ +\+ "), "plus"),
    (re.compile(r"^ +- "), "minus"),
    (re.compile(r"^ +~ "), "tilde"),
)


def to_html(played: Played) -> str:
    """The body of an entry's page."""
    return str(markdown(played.traces).render(played.text))


def markdown(traces: dict[int, Trace], link: Link | None = None) -> MarkdownIt:
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


def _heading(tokens: Sequence[Token], at: int, *_: object) -> str:
    title = re.sub(r"[^\w\- ]", "", tokens[at + 1].content.lower()).replace(" ", "-")
    return f'<{tokens[at].tag} id="{escape(title)}">'


def _aligned(tokens: Sequence[Token], at: int, *_: object) -> str:
    """A cell of a table. Pages allow no style in an element."""
    style = str(tokens[at].attrGet("style") or "")
    return f"<{tokens[at].tag} class=right>" if "right" in style else f"<{tokens[at].tag}>"


def in_diary(target: str) -> str | None:
    """Entries lead to their pages; what is outside of the diary is no part of the site."""
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


def _fence(traces: dict[int, Trace], tokens: Sequence[Token], at: int, *_: object) -> str:
    token = tokens[at]
    language, name = f"{token.info.strip()} ".split(" ", 1)
    name = name.strip().removesuffix("+").strip()
    if token.map and token.map[0] in traces:
        return drawn(traces[token.map[0]])
    if language == "mermaid" and (picture := pictures.drawn(token.content)):
        return picture
    if language == "console":
        return _console(token.content)
    head = (
        f"<figcaption>{escape(name.removesuffix('+').strip())}</figcaption>" if name.strip() else ""
    )
    return f'<figure class="code">{head}<pre>{coloured(token.content, language)}</pre></figure>\n'


def coloured(text: str, language: str) -> str:
    """Source text with its parts in classes."""
    try:
        lexer = get_lexer_by_name(_LEXERS.get(language, language) or "text")
    except ClassNotFound:
        return escape(text)
    return str(highlight(text, lexer, HtmlFormatter(nowrap=True)))


def _console(text: str) -> str:
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
    return f'<figure class="console">{"".join(parts)}</figure>\n'


def _line(line: str) -> str:
    for pattern, style in _STYLES:
        if pattern.search(line):
            return f'<span class="{style}">{escape(line)}</span>'
    return escape(line)


def drawn(trace: Trace) -> str:
    """A trace as a picture, and its steps, which unfold."""
    steps = "".join(
        f"<li><code>{escape(step.label)}</code>"
        f"<pre>{escape(chr(10).join(str(change) for change in changes))}</pre></li>"
        for step, changes in trace
    )
    return (
        f'<figure class="drawn">{pictures.framed(drawing(trace))}'
        f"<details><summary>What each step changed</summary><ol>{steps}</ol></details></figure>\n"
    )
