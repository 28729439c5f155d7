"""A reader of extensible data notation: just data, nothing is ever evaluated.

Keywords and symbols become `Name`, characters `Char`, sets `Unordered`; tagged maps and
vectors lose their tag, a tagged string or number is the name of both. Source: the public EDN
specification (edn-format/edn).
"""

from __future__ import annotations

import re
from typing import Any

from statewalk.checker.history.clock import Fraction

# One way to match each text: what follows a repetition cannot be part of it.
_SPACE = re.compile(r"[\s,]*(?:;[^\n]*(?:\n[\s,]*|\Z))*")
_TOKEN = re.compile(
    r"""(?P<open>\#\{|[\[({])|(?P<close>[\])}])|(?P<tag>\#[A-Za-z][^\s,;"(){}\[\]]*)
    |"(?P<string>[^"\\]*(?:\\.[^"\\]*)*)"|\\(?P<char>[^\s()\[\]{}",;]+|.)
    |(?P<word>[^\s,;"(){}\[\]]+)|(?P<end>\Z)""",
    re.VERBOSE | re.DOTALL,
)
_CLOSING = {"[": "]", "(": ")", "{": "}", "#{": "}"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\"}
_CHARS = {"newline": "\n", "tab": "\t", "return": "\r", "backspace": "\b", "formfeed": "\f",
          "space": " "}  # fmt: skip
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d*)N?\Z")
_DECIMAL = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?M?\Z")
_NUMBER = re.compile(r"[+-]?\d")
_DEEPEST = 100
_LONGEST = 1000


class Name(str):
    """A keyword (with its colon) or a symbol."""

    __slots__ = ()


def is_number(value: Any) -> bool:
    """Return whether a name is a number of Clojure's that EDN does not have: 0x10, 1/2."""
    return isinstance(value, Name) and _NUMBER.match(value) is not None


class Char(str):
    """A character."""

    __slots__ = ()


class Unordered(tuple[Any, ...]):
    """A set, whose elements are in no order."""

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

    def _blank(self) -> int:
        found = _SPACE.match(self.text, self.at)
        return self.at if found is None else found.end()

    def skip(self, depth: int = 0) -> int:
        """Go to the next value, past white space, comments and what ``#_`` leaves out; its place.

        ``#_ #_ a b`` leaves out two values: each ``#_`` one, whatever is between them.
        """
        left_out = 0
        while True:
            self.at = self._blank()
            if self.text.startswith("#_", self.at):
                left_out, self.at = left_out + 1, self.at + 2
            elif left_out:
                left_out -= 1
                self._value(depth + 1)
            else:
                return self.at

    def more(self) -> bool:
        """Return whether another value follows."""
        return self.skip() < len(self.text)

    def value(self, depth: int = 0) -> Any:
        """Return the next value: int, float, str, Name, Char, bool, None, list, Unordered, dict."""
        self.skip(depth)
        return self._value(depth)

    def _value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise EdnError(f"it is nested more than {_DEEPEST} deep", self.at)
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            raise EdnError("there is an unfinished string or a stray sign", self.at)
        self.at = found.end()
        kind, start = found.lastgroup, found.start()
        if kind == "open":
            return self._collection(found["open"], start, depth)
        if kind == "tag":
            value = self.value(depth + 1)
            plain = isinstance(value, str) or type(value) is int
            return Name(f"{found['tag']} {show(value)}") if plain else value
        if kind == "string":
            try:
                return _ESCAPED.sub(_unescaped, found["string"])
            except KeyError as error:
                raise EdnError(
                    f"there is an unknown escape \\{error.args[0]} in a string", start
                ) from None
        if kind == "char":
            return _char(found["char"], start)
        if kind == "word":
            if len(found["word"]) >= _LONGEST and _DECIMAL.match(found["word"].rstrip("N")):
                raise EdnError(f"it has a number of {len(found['word'])} digits", start)
            try:
                return _word(found["word"])
            except ValueError as error:
                raise EdnError(str(error), start) from None
        raise EdnError(
            "the text ends" if kind == "end" else f"there is a stray {found['close']}", start
        )

    def _collection(self, opening: str, start: int, depth: int) -> Any:
        items: list[Any] = []
        while (at := self.skip(depth)) < len(self.text):
            sign = self.text[at]
            if sign in "])}":
                if sign != _CLOSING[opening]:
                    raise EdnError(f"{sign} closes {opening}", at)
                self.at += 1
                break
            items.append(self._value(depth + 1))
        else:
            raise EdnError(f"{opening} is never closed", start)
        if opening != "{":
            return Unordered(items) if opening == "#{" else items
        if len(items) % 2:
            raise EdnError("it has a map with a key but no value", start)
        try:
            entries = dict(zip(items[::2], items[1::2], strict=True))
        except TypeError:
            raise EdnError("it has a map key that is a collection", start) from None
        if 2 * len(entries) < len(items):
            raise EdnError("it has a map with a key that is there twice", start)
        return entries


def _unescaped(sign: re.Match[str]) -> str:
    return chr(int(sign[1][1:], 16)) if sign[1][1:] else _ESCAPES[sign[1]]


def _char(text: str, at: int) -> Char:
    if re.match(r"u[0-9a-fA-F]{4}\Z", text):
        return Char(chr(int(text[1:], 16)))
    if len(text) > 1 and text not in _CHARS:
        raise EdnError(f"no character is called \\{text:.20}", at)
    return Char(_CHARS.get(text, text))


def _word(word: str) -> Any:
    if word in ("nil", "true", "false"):
        return {"nil": None, "true": True, "false": False}[word]
    if _INTEGER.match(word):
        return int(word.rstrip("N"))
    if _DECIMAL.match(word):
        return Fraction(word.rstrip("M"))
    return Name(word)


def show(value: Any) -> str:
    """Return a value of a history as EDN; a string that begins with a colon is a keyword."""
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
