"""Between lexer and parser of .fizz text: blocks, joined lines, and words that are keywords here.

Fizzbee reserves words such as ``exists``, ``transition`` or ``any`` everywhere. Here they are
ordinary names, and become keywords only at the start of a statement that they can begin. What a
word is, is decided by the logical line it stands in; no name table is needed.
"""

from __future__ import annotations

import itertools
import keyword
from collections.abc import Iterator

from lark import Token
from lark.lark import PostLex

from statewalk.dsl.fizz.text.meant import STATEMENTS, Unreadable

TAB = 4
MAX_INDENTS = 60
MAX_BRACKETS = 60
FLOWS = frozenset({"atomic", "serial", "parallel", "oneof"})
TEMPORAL = frozenset({"always", "eventually", "exists", "transition"})
CHOOSE = frozenset({"any", "oneof"})
_OPEN = frozenset({"LPAR", "LSQB", "LBRACE"})
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_SPLIT = "Move a part into a func."
_CLOSE = frozenset({"RPAR", "RSQB", "RBRACE"})
_RESERVED = frozenset(keyword.kwlist)
_HEADS = frozenset({"IF", "ELIF", "ELSE", "FOR", "WHILE", "DEF"})
# What an expression can begin with. Brackets are treated apart: `require (x)` or a call?
_OPERANDS = frozenset(
    {"NAME", "NUMBER", "STRING", "NOT", "LAMBDA", "NONE", "TRUE", "FALSE", "TILDE"}
)


def _is(token: Token | None, *words: str) -> bool:
    return token is not None and token.type == "NAME" and str(token) in words


class Line:
    """A logical line while its words are being classified."""

    def __init__(self, tokens: list[Token], in_invariants: bool, only_looks: bool) -> None:
        self.tokens = tokens
        self.in_invariants = in_invariants
        self.only_looks = only_looks
        signs = ((t.type in _OPEN) - (t.type in _CLOSE) for t in tokens)
        self.depth = [*itertools.accumulate(signs)]  # of brackets, behind each token

    def at(self, index: int) -> Token | None:
        """Return the token there, or None beyond the end."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else None

    def kind(self, index: int) -> str:
        """Return the type of the token there, or nothing beyond the end."""
        token = self.at(index)
        return token.type if token is not None else ""

    def mark(self, index: int, kind: str = "") -> None:
        """Make the token there a keyword."""
        self.tokens[index].type = kind or f"K_{self.tokens[index].upper()}"

    def classify(self) -> None:
        """Mark the soft keywords of this line."""
        start = 0
        while self.kind(start) == "LABEL":
            start += 1
        while start < len(self.tokens):
            start = self._statement(start)

    def _statement(self, start: int) -> int:
        """Mark the words that begin the statement there; where the next one of this line begins."""
        at, headed = self._head(start)
        if headed or self.kind(at) in _HEADS:
            colon = self._suite_colon(at)
            if colon is None:
                return len(self.tokens)
            following = colon + 1
            while self.kind(following) == "LABEL":
                following += 1
            return following
        if _is(self.at(start), "require") and self._begins_operand(start + 1):
            self.mark(start)
        else:
            self._choice(start)
        return len(self.tokens)

    def _head(self, start: int) -> tuple[int, bool]:
        """Mark the words of a compound statement; the index after them, and whether it is one."""
        first = self.at(start)
        if first is None or first.type != "NAME":
            return start, False
        if (
            _is(first, "init", "invariants", "compose", "refine")
            and self.kind(start + 1) == "COLON"
        ):
            self.mark(start)
            return start + 1, True
        for attempt in (self._temporal, self._role, self._flowed, self._choice_block):
            after = attempt(start)
            if after is not None:
                return after, True
        return start, False

    def _temporal(self, start: int) -> int | None:
        at = start
        while _is(self.at(at), *TEMPORAL):
            at += 1
        if at == start:
            return None
        declared = _is(self.at(at), "assertion") and self.kind(at + 1) == "NAME"
        if not declared and not (self.in_invariants and self._begins_operand(at, brackets=True)):
            return None
        for index in range(start, at + declared):
            self.mark(index)
        return at

    def _role(self, start: int) -> int | None:
        at = start + _is(self.at(start), "symmetric")
        if not (_is(self.at(at), "role") and self.kind(at + 1) == "NAME"):
            return None
        if self.kind(at + 2) != "COLON":
            return None
        for index in range(start, at + 1):
            self.mark(index)
        return at

    def _flowed(self, start: int) -> int | None:
        """``atomic fair<strong> action X:``, ``atomic func f():``, ``serial for``, ``oneof:``."""
        at = start + _is(self.at(start), *FLOWS)
        after = self._fairness(at)
        if _is(self.at(after), "action") and self.kind(after + 1) == "NAME":
            if self.kind(after + 2) != "COLON":
                return None
            self.mark(after)
        elif (
            _is(self.at(at), "func") and self.kind(at + 1) == "NAME" and self.kind(at + 2) == "LPAR"
        ):
            self.mark(at)
            after = at
        elif at > start and self.kind(at) in ("FOR", "WHILE", "COLON"):
            after = at
        else:
            return None
        if at > start:
            self.mark(start, "K_ONEOF_FLOW" if self.tokens[start] == "oneof" else "")
        if after > at:
            self.mark(at)
        return after

    def _fairness(self, start: int) -> int:
        """Return the index after ``fair`` or ``fair<strong>``."""
        if not _is(self.at(start), "fair"):
            return start
        if [self.kind(start + n) for n in (1, 2, 3)] == ["LESS", "NAME", "GREATER"]:
            return start + 4
        return start + 1

    def _choice_block(self, start: int) -> int | None:
        at = self._fairness(start)
        if not _is(self.at(at), *CHOOSE):
            return None
        target = at + 1
        while self.kind(target) in ("NAME", "COMMA"):
            target += 1
        if target == at + 1 or self.kind(target) != "IN" or self._suite_colon(target) is None:
            return None
        self.mark(at)
        if at > start:
            self.mark(start)
        return target

    def _choice(self, start: int) -> None:
        """``x = [fair] any S``: the words after an assignment sign outside brackets."""
        for index in range(start, len(self.tokens)):
            if self.kind(index) != "EQUAL" or self.depth[index]:
                continue
            at = self._fairness(index + 1)
            if self._is_called(index + 1):
                return
            if _is(self.at(at), *CHOOSE) and self._begins_operand(at + 1, brackets=True):
                self.mark(at)
                if at > index + 1:
                    self.mark(index + 1)
            return

    def _is_called(self, index: int) -> bool:
        """Return whether the function any is called there.

        Raises Unreadable where a choice looks so.
        """
        if not _is(self.at(index), "any") or self.kind(index + 1) != "LPAR":
            return False
        word = self.tokens[index]
        if not self.only_looks and self.tokens[index + 1].start_pos == word.end_pos:
            raise Unreadable(
                word,
                "'any' after '=' is a choice, but this looks like a call of the function any.",
                "Write oneof(...) for a choice, bool(any(...)) for the function.",
            )
        return self.only_looks

    def _begins_operand(self, index: int, brackets: bool = False) -> bool:
        """Return whether an expression begins there, rather than the rest of one that
        began before.
        """
        kind = self.kind(index)
        if kind in _OPEN or kind == "SIGN":
            kinds = zip(self.tokens, self.depth, strict=True)
            return brackets or not any(t.type == "EQUAL" and not depth for t, depth in kinds)
        return kind in _OPERANDS

    def _suite_colon(self, start: int) -> int | None:
        """Return the colon that ends the head of a compound statement."""
        lambdas = 0
        for index in range(start, len(self.tokens)):
            kind = self.kind(index)
            if self.depth[index] == 0:
                lambdas += kind == "LAMBDA"
                if kind == "COLON" and lambdas == 0:
                    return index
                lambdas -= kind == "COLON"
        return None


class Blocks(PostLex):
    """Turns line breaks into statement ends and blocks, and words into keywords."""

    always_accept = ("_NEWLINE",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """Yield the tokens as the grammar wants them."""
        indents = [0]
        invariants: int | None = None  # the width of the block of the kind that we are in
        looking: int | None = None
        for tokens, end in self._lines(stream):
            if not tokens:
                continue
            width = self._width(tokens[0])
            yield from self._indent(indents, width, tokens[0])
            if invariants is not None and width <= invariants:
                invariants = None
            if looking is not None and width <= looking:
                looking = None
            Line(tokens, invariants is not None, looking is not None).classify()
            if tokens[0].type == "K_INVARIANTS":
                invariants = width
            elif looking is None and any(t.type in ("K_ASSERTION", "DEF") for t in tokens):
                looking = width
            yield from tokens
            if not (len(tokens) == 1 and tokens[0].type == "LABEL"):
                yield end
        yield from self._indent(indents, 0, Token("_NEWLINE", ""))

    def _lines(self, stream: Iterator[Token]) -> Iterator[tuple[list[Token], Token]]:
        """Logical lines with the token that ends each. Line breaks inside brackets do not count."""
        line: list[Token] = []
        opened: list[Token] = []
        self._margin = 0
        for token in stream:
            if token.type == "_NEWLINE":
                if opened:
                    continue
                yield line, token
                line = []
                self._margin = _columns(str(token).rpartition("\n")[2])
                continue
            if token.type in _OPEN:
                opened.append(token)
                if len(opened) > MAX_BRACKETS:
                    raise Unreadable(
                        token, f"More than {MAX_BRACKETS} brackets are open here.", _SPLIT
                    )
            elif token.type in _CLOSE and opened:
                opened.pop()
            elif token.type == "NAME" and str(token) in _RESERVED:
                raise self._reserved(token, None if line else next(stream, None))
            line.append(token)
        if opened:
            help = f"Close it with '{_CLOSING[str(opened[-1])]}'."
            raise Unreadable(opened[-1], f"'{opened[-1]}' is never closed.", help)
        end = Token.new_borrow_pos("_NEWLINE", "\n", line[-1]) if line else Token("_NEWLINE", "")
        yield line, end

    @staticmethod
    def _reserved(token: Token, following: Token | None) -> Unreadable:
        """Return the error of a word of Python's: a statement that is not there, or no name."""
        is_name = following is None or following.type in ("EQUAL", "AUGMENT", "COMMA", "DOT")
        if not is_name and str(token) in STATEMENTS:
            return Unreadable(token, *STATEMENTS[str(token)])
        said = f"'{token}' is a reserved word and cannot be a name."
        return Unreadable(token, said, f"Use another name: {token}_")

    def _width(self, first: Token) -> int:
        return self._margin if first.line != 1 else max(0, (first.column or 1) - 1)

    def _indent(self, indents: list[int], width: int, at: Token) -> Iterator[Token]:
        if width > indents[-1]:
            indents.append(width)
            if len(indents) > MAX_INDENTS:
                raise Unreadable(
                    at, f"Blocks are nested more than {MAX_INDENTS} deep here.", _SPLIT
                )
            yield Token.new_borrow_pos("_INDENT", "", at)
        while width < indents[-1]:
            indents.pop()
            yield Token.new_borrow_pos("_DEDENT", "", at)
        if width != indents[-1]:
            raise Unreadable(
                at,
                "The indentation of this line matches no enclosing block.",
                help=f"Blocks here begin at columns {', '.join(str(i + 1) for i in indents)} "
                f"(a tab reaches to the next multiple of {TAB}).",
            )


def _columns(margin: str) -> int:
    width = 0
    for character in margin:
        width += TAB - width % TAB if character == "\t" else character == " "
    return width
