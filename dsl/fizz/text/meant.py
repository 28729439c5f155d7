"""Guesses at the meaning of .fizz text that does not parse: words of Python, misspelt heads."""

from __future__ import annotations

import ast
import difflib
import re
from dataclasses import dataclass

from lark import Token

from statewalk.dsl.errors import did_you_mean

_FLOWS = ("atomic", "serial", "parallel", "oneof")
_BEFORE = {
    "action": (*_FLOWS, "fair"),
    "func": _FLOWS,
    "role": ("symmetric",),
    "assertion": ("always", "eventually", "exists", "transition"),
}
_OTHERS = {
    "invariant": "always assertion", "property": "always assertion", "function": "func",
    "fn": "func", "actor": "role", "process": "role", "type": "role", "struct": "role",
}  # fmt: skip
_HEAD = re.compile(
    r"\s*((?:\w+(?:<\w*>)?\s+)+)(?!in\b|if\b|is\b|and\b|or\b|not\b)\w+\s*(\([^()]*\))?\s*:.*"
)
_CHOICE = re.compile(r"\s*(fair\s+)?(oneof|any)\s+\w+\s+in\b.*[^:]\s*")
_COMBINED = re.compile(r"(\s*)(compose|refine)\s*:")
_OPERATORS = {
    "&&": "Write: a and b", "||": "Write: a or b", "!": "Write: not a", "++": "Write: n += 1",
    "--": "Write: n -= 1", "?": "Write: a if condition else b",
    "->": "Remove the type: functions have no type annotations.",
    ":=": "Write the assignment as a separate statement: x = 1",
}  # fmt: skip

# Statements of Python, by the word that begins them.
_COMBINED_HELP = "Write all roles and actions into one .fizz file."
_EXCEPTIONS = "Test first: if key in d. To stop with an error, call fail('...')."
_IMPORTS = (
    "A .fizz file imports nothing.",
    "math and itertools are predefined. Functions of other files must be copied into this one.",
)
_WAITING = (
    "A step ends by itself.",
    "Remove it. An action without 'atomic' yields after each statement that has an effect.",
)
STATEMENTS = {
    "import": _IMPORTS,
    "from": _IMPORTS,
    "class": (
        "A .fizz file has no classes.",
        "Declare an actor as a role: role Node: ... Create a value with fields as record(a=1).",
    ),
    "try": ("A .fizz file has no exceptions to catch.", _EXCEPTIONS),
    "except": ("A .fizz file has no exceptions to catch.", _EXCEPTIONS),
    "finally": ("A .fizz file has no exceptions to catch.", _EXCEPTIONS),
    "raise": ("A .fizz file has no exceptions to raise.", _EXCEPTIONS),
    "with": (
        "A .fizz file has no 'with'.",
        "Write a block as atomic:, serial:, parallel: or oneof:.",
    ),
    "del": (
        "A .fizz file has no 'del'.",
        "Write d.pop(key) to remove an entry, values.remove(x) to remove an element.",
    ),
    "assert": (
        "A .fizz file has no 'assert'.",
        "Write a guard as require x, a property as always assertion Name: with return x.",
    ),
    "global": (
        "A .fizz file has no 'global'.",
        "Remove it: variables that the action Init assigns can be changed anywhere.",
    ),
    "nonlocal": (
        "A .fizz file has no 'nonlocal'.",
        "Remove it: variables that the action Init assigns are shared.",
    ),
    "yield": _WAITING,
    "await": _WAITING,
    "async": _WAITING,
    "elif": ("There is no 'if' above this 'elif'.", "Indent it like its 'if'."),
    "else": ("There is no 'if' above this 'else'.", "Indent it like its 'if'."),
}


class Unreadable(Exception):
    """Text that lexer and grammar let through and the language does not; ``at``: node or token."""

    def __init__(self, at: ast.AST | Token, message: str, help: str = "") -> None:
        super().__init__(message)
        self.at = at
        self.message = message
        self.help = help


@dataclass(frozen=True)
class Meant:
    """A message about a line, and the word that it is about.

    ``code``: SW150, or of what is refused.
    """

    message: str
    help: str
    word: str
    code: str = "SW150"
    above: int = 0


def meant(lines: list[str], line: int, column: int) -> Meant | None:
    """Return what was probably meant by the line (from 1) where reading stopped."""
    text = lines[line - 1]
    return _combined(lines, line) or _head(text) or _operator(text, column) or _choice(text)


def _combined(lines: list[str], line: int) -> Meant | None:
    """Something in ``compose:`` or ``refine:``, in whatever form."""
    for above in range(line):
        text = lines[line - 1 - above]
        found = _COMBINED.match(text)
        if found is not None:
            word = found.group(2)
            message = f"'{word}:' combines specifications, which is not supported."
            return Meant(message, _COMBINED_HELP, word, "SW152", above)
        if text.strip() and not text[:1].isspace():
            return None
    return None


def _head(text: str) -> Meant | None:
    """Return the head of an action, function, role or assertion."""
    found = _HEAD.fullmatch(text.partition("#")[0].rstrip())
    if found is None:
        return None
    words = [w.partition("<")[0] for w in found.group(1).split()]
    parameters = found.group(2)
    kind = next((w for w in words if w in _BEFORE), None)
    if kind is None:
        return _kind(words[-1])
    for word in words[: words.index(kind)]:
        if word not in _BEFORE[kind]:
            help = did_you_mean(word, _BEFORE[kind], quoted=True)
            return Meant(f"There is no '{word}' before '{kind}'.", help, word)
    if kind == "assertion" and words[0] == kind:
        help = "Write always assertion (every state) or exists assertion (some state). Also: "
        help += "eventually always, always eventually, transition."
        return Meant("This assertion does not say in which states it must hold.", help, kind)
    flow = next((w for w in words if w in _FLOWS), None)
    if kind == "action" and flow and "fair" in words and words.index("fair") < words.index(flow):
        return Meant(f"'{flow}' must come before 'fair'.", f"Write {flow} fair action.", flow)
    if kind == "action" and parameters is not None:
        help = "Choose the value inside the action: x = oneof [1, 2]"
        if not parameters.strip("() "):
            help = "Write it without parentheses."
        return Meant("An action has no parameters.", help, parameters)
    if kind == "role" and parameters is not None:
        help = "Remove the parentheses. A value given by name, R(size=3), is read as self.size."
        return Meant("A role has no parameters.", help, parameters)
    return None


def _kind(word: str) -> Meant | None:
    """Return a word where 'action', 'func', 'role' or 'assertion' should stand."""
    close = difflib.get_close_matches(word, _BEFORE, n=1)
    instead = _OTHERS.get(word, close[0] if close else "")
    if not instead:
        return None
    return Meant(f"There is no '{word}'.", f"Did you mean '{instead}'?", word)


def _operator(text: str, column: int) -> Meant | None:
    for operator, help in _OPERATORS.items():
        at = text.find(operator, max(column - 1 - len(operator), 0))
        if 0 <= at <= column and text[at : at + 2] != "!=":
            return Meant(f"A .fizz file has no operator '{operator}'.", help, operator)
    return None


def _choice(text: str) -> Meant | None:
    found = _CHOICE.fullmatch(text.partition("#")[0].rstrip())
    if found is None:
        return None
    help = "Write oneof x in S: for a choice with a block, x = oneof S for one without."
    return Meant("The line ends before its colon.", help, found.group(2))
