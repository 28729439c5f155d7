"""Every word that many lines use is explained, or is plain English.

Words are taken from identifiers, which are split; "s" at the end is left off where the word is
there without it too. A word that is missed here gets an entry in inside.md (or, if users meet
it, in glossary.md); if everybody knows what it means, it goes into `PLAIN`.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import io
import keyword
import re
import sys
import tokenize
import typing
from collections import Counter
from functools import cache

import pytest

from tests.places import ROOT

MOST_LINES = 50  # in which a word may stand unexplained
PYTHONS = (builtins, str, list, dict, set, bytes, ast, typing, argparse.ArgumentParser)
LIBRARIES = """
arange argparse array attr cls column dataclasses dtype flatnonzero func ids itertools math metavar
monotonic namespace ndarray numpy ops orelse parser pathlib stat stdout stream suppress token tolist
uint
"""
PLAIN = """
about act after again alike alone annotation answer apply around ask asked back batch before begin
begun below beside body both builder builtin called callee came candidate capacity cause change
changed checked checker chosen classes client clock close cluster code command committed compiled
complete contract copied current damaged data database deadline decide decided declared did differ
digest disabled disk domain done drop dsl each edge effect elt empty enabled end ended enter entry
every exist expanded expect expected explanation exploration explore extra factory fail failed
failure few first fit fixed fizz flag follow followed following forget fps frame free full given has
head held here high hint hold home how html identity imported indent inlined inner inside item job
json keep kernel kind label last late later learn least leave library listed lock log longest look
loop lost made manifest many mask may mean meaning meant merged met mine missed more most move
native near needed noted nothing now number offset old once one opened other ours out outside over
own owner page pair parameter parent parsed part path placed plain pool position possible printable
priority progress project proof prop properties put python question raised rank reached reader
reading reason receiver refuse report rest result right rule running said same saved say scalar scan
scope scratch search second seen setting settings shape shared sheet short show shown side signal
size small some space spark spread stack start statement statewalk stopped strict table tag tail
take taken target task tell test there thread time told total tree truth two txn undecided unknown
url used violated violation waiting wanted warn watch way weak what when where whole why width wire
within without word work worker write writer written wrong you
"""


@cache
def words(name: str) -> set[str]:
    return {w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name) if len(w) > 2}


def singular(word: str, known: typing.Container[str]) -> str:
    return word[:-1] if word.endswith("s") and word[:-1] in known else word


def lines_by_word() -> Counter[str]:
    """In how many lines of the code each word stands."""
    found: Counter[str] = Counter()
    for folder in ("dsl", "checker"):
        for file in (ROOT / folder).rglob("*.py"):
            lines: dict[int, set[str]] = {}
            for token in tokenize.generate_tokens(io.StringIO(file.read_text("utf-8")).readline):
                if token.type == tokenize.NAME:
                    lines.setdefault(token.start[0], set()).update(words(token.string))
            for line in lines.values():
                found.update(line)
    joined: Counter[str] = Counter()
    for word, count in found.items():
        joined[singular(word, found)] += count
    return joined


def explained() -> set[str]:
    """The words of inside.md and of the glossary, and what things are called in code."""
    found: set[str] = set()
    for page in ("explanation/inside.md", "reference/glossary.md"):
        text = (ROOT / "docs" / page).read_text("utf-8")
        for word, named in re.findall(r"^- \*\*(.*?)\*\*(?: \((`.*?)\))?", text, re.MULTILINE):
            found |= words(word + " ".join(re.findall(r"`[^`/]+`", named)))
    return found


@pytest.mark.thorough
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python's own words are those of 3.11")
def test_every_word_that_many_lines_use_is_explained_or_plain() -> None:
    known = {*keyword.kwlist, *LIBRARIES.split(), *PLAIN.split(), *explained()}
    known |= {word for thing in PYTHONS for name in dir(thing) for word in words(name)}
    counted = lines_by_word()

    assert {} == {
        word: count
        for word, count in counted.items()
        if count > MOST_LINES and singular(word, known) not in known
    }


def test_no_word_is_called_plain_that_is_explained() -> None:
    assert set() == set(PLAIN.split()) & explained()
