"""The names that a function binds are those of Python's own symbol tables."""

import ast
import symtable
import sys

import pytest

from statewalk.dsl.source.scopes import arguments, bound

STATEMENTS = [
    "a = b, *c = [1]",
    "a.b[c] = 1",
    "a: int",
    "a += 1",
    "del a",
    "(a, [b, *c]) = d",
    "if (a := b): pass",
    "x = [(a := y) for y in z if (b := y)]",
    "x = {y: z for y in [] for z in y if (a := z)}",
    "x = lambda y=(a := 1): (y := 2)",
    "for a, b in c: pass",
    "with a as b, c as (d, e): pass",
    "try: pass\nexcept E as a: b = 1\nfinally: c = 1",
    "import a.b, c.d as e\nfrom f import g, h as i",
    "def a(b=(c := 1)): d = 1",
    "class a(b, metaclass=(c := d)): e = 1",
    "match a:\n case [b, *c] | (b, *c): pass\n case {1: d, **e}: pass",
    "match a:\n case f.g(h, i=j) as k: pass",
    "def a():\n nonlocal b\n b = 1\nb = 2",
    "x = sorted(y, key=lambda z: (z, [w for w in z]))",
]


def targets(definition: ast.AST) -> set[str]:
    """The names that comprehensions give their elements."""
    loops = [n for n in ast.walk(definition) if isinstance(n, ast.comprehension)]
    return {n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("text", STATEMENTS)
def test_bound_names_are_the_local_names_of_python(text: str) -> None:
    body = "\n".join("    " + line for line in f"yield\n{text}".splitlines())
    whole = f"def flow(given):\n{body}\n"
    # Python 3.14 has a table for the annotations of the function, too.
    *_, table = symtable.symtable(whole, "text", "exec").get_children()
    definition = ast.parse(whole).body[0]
    assert isinstance(definition, ast.FunctionDef)

    found = arguments(definition.args) | bound(*definition.body)
    named = {s.get_name() for s in table.get_symbols() if s.is_local()}
    if sys.version_info >= (3, 12):  # its tables have the targets of comprehensions too
        named -= targets(definition) - found

    assert named == found
