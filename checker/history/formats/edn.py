"""A reader of extensible data notation: just data, nothing is ever evaluated.

Keywords and symbols become `Name`, tagged values lose their tag. Source: the public EDN
specification (edn-format/edn).
"""

from __future__ import annotations

import re
from typing import Any

from statewalk.checker.history.data import Fraction

_TOKEN = re.compile(
    r"""[\s,]*(?:;[^\n]*[\s,]*)*
    (?:(?P<open>\#\{|[\[({])|(?P<close>[\])}])|(?P<discard>\#_)|(?P<tag>\#[A-Za-z][^\s,;"(){}\[\]]*)
    |"(?P<string>(?:[^"\\]|\\.)*)"|\\(?P<char>[^\s()\[\]{}",;]+|.)
    |(?P<word>[^\s,;"(){}\[\]]+)|(?P<end>\Z))""",
    re.VERBOSE | re.DOTALL,
)
_CLOSING = {"[": "]", "(": ")", "{": "}", "#{": "}"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_INTEGER = re.compile(r"[+-]?\d+N?\Z")
_DECIMAL = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?M?\Z")
_DEEPEST = 100
_LONGEST = 1000


class Name(str):
    """A keyword (with its colon) or a symbol."""

    __slots__ = ()


class EdnError(ValueError):
    """Not EDN: `at` is the offset in the text."""

    def __init__(self, message: str, at: int) -> None:
        """Keep the offset for the caller, who knows the line."""
        super().__init__(message)
        self.at = at


class Reader:
    """Reads one value after the other from a text."""

    def __init__(self, text: str) -> None:
        """Start at the beginning."""
        self.text, self.at = text, 0

    def _next(self) -> re.Match[str]:
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            raise EdnError("an unfinished string or a stray sign", self.at)
        self.at = found.end()
        return found

    def more(self) -> bool:
        """Whether another value follows."""
        here = self.at
        end = self._next().lastgroup == "end"
        self.at = here
        return not end

    def value(self, depth: int = 0) -> Any:
        """The next value: int, float, str, Name, bool, None, list, dict."""
        if depth > _DEEPEST:
            raise EdnError(f"nested more than {_DEEPEST} deep", self.at)
        found = self._next()
        kind, start = found.lastgroup, found.start()
        if kind == "open":
            return self._collection(found["open"], start, depth)
        if kind == "discard":
            self.value(depth + 1)
            return self.value(depth)
        if kind == "tag":
            return self.value(depth + 1)
        if kind == "string":
            return _ESCAPED.sub(_unescaped, found["string"])
        if kind == "char":
            return found["char"]
        if kind == "word":
            if len(found["word"]) >= _LONGEST and _DECIMAL.match(found["word"].rstrip("N")):
                raise EdnError(f"a number of {len(found['word'])} digits", start)
            return _word(found["word"])
        raise EdnError("the text ends" if kind == "end" else f"a stray {found['close']}", start)

    def _collection(self, opening: str, start: int, depth: int) -> Any:
        items: list[Any] = []
        while True:
            here = self.at
            found = self._next()
            if found.lastgroup == "close":
                if found["close"] != _CLOSING[opening]:
                    raise EdnError(f"{found['close']} closes {opening}", found.start())
                break
            if found.lastgroup == "end":
                raise EdnError(f"{opening} is never closed", start)
            if found.lastgroup == "discard":
                self.value(depth + 1)
                continue
            self.at = here
            items.append(self.value(depth + 1))
        if opening != "{":
            return items
        if len(items) % 2:
            raise EdnError("a map with a key but no value", start)
        try:
            entries = dict(zip(items[::2], items[1::2], strict=True))
        except TypeError:
            raise EdnError("a map key that is a collection", start) from None
        if 2 * len(entries) < len(items):
            raise EdnError("a map with a key that is there twice", start)
        return entries


def _unescaped(sign: re.Match[str]) -> str:
    return chr(int(sign[1][1:], 16)) if sign[1][1:] else _ESCAPES.get(sign[1], sign[1])


def _word(word: str) -> Any:
    if word in ("nil", "true", "false"):
        return {"nil": None, "true": True, "false": False}[word]
    if _INTEGER.match(word):
        return int(word.rstrip("N"))
    if _DECIMAL.match(word):
        return Fraction(word.rstrip("M"))
    return Name(word)


def show(value: Any) -> str:
    """A value of a history as EDN; a string that begins with a colon is a keyword."""
    if value is None:
        return "nil"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list):
        return f"[{' '.join(map(show, value))}]"
    if isinstance(value, Name) or re.match(r":[A-Za-z][\w.*+!?/-]*\Z", value):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    escaped = escaped.replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
