"""A module of a spec means what Python makes of it, run by Python alone."""

from __future__ import annotations

import decimal
import os
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load

STEPS = """
from statewalk import Constant, State, action, config, holds, require
class S(State):
    x: int = 0
    @action
    def go(self) -> None:
        require(self.x < LIMIT)
        self.x += 1
s = S()
"""
HELPERS = {
    "a helper that fails, taken twice": {
        "fast.py": "N = 3\nimport missing_here\n",
        "a.py": "try:\n    from fast import N\nexcept Exception:\n    N = 1\n",
        "spec.py": "import a\ntry:\n    from fast import N\nexcept:\n    N = 1\nLIMIT = N",
    },
    "a helper that lacks a library": {
        "fast.py": "import missing_here\n",
        "spec.py": "try:\n    from fast import N\nexcept ImportError:\n    N = 1\nLIMIT = N",
    },
    "a helper that raises": {
        "fast.py": "raise ValueError\n",
        "spec.py": "try:\n    from fast import N\nexcept ValueError:\n    N = 1\nLIMIT = N",
    },
    "a helper whose assertion fails": {
        "fast.py": "assert not 1\n",
        "spec.py": "try:\n    from fast import N\nexcept AssertionError:\n    N = 1\nLIMIT = N",
    },
    "a module by its name": {
        "k.py": "FOUND = []\n",
        "h.py": "import importlib\nimportlib.import_module('k').FOUND.append(1)",
        "spec.py": "import h, k\nLIMIT = len(k.FOUND)",
    },
    "a library by its name": {
        "h.py": "from importlib import import_module as get\nN = get('math').ceil(1.5)",
        "spec.py": "from h import N as LIMIT\nimport importlib.util\nimportlib.util.find_spec('h')",
    },
    "data beside a helper": {
        "k/__init__.py": "",
        "k/n.txt": "3",
        "k/h.py": "import pkgutil\nfrom importlib.resources import files\n"
        "N = int(pkgutil.get_data(__name__, 'n.txt')) + len((files(__package__) / 'n.txt').name)",
        "spec.py": "from k.h import N as LIMIT",
    },
    "a part of importlib, later": {
        "h.py": "import importlib\nimport importlib.resources as r\nN = len([r.files])",
        "spec.py": "import importlib\nfrom h import N as LIMIT",
    },
    "a module that makes names late": {
        "h.py": "def __getattr__(name):\n    raise KeyError(name)",
        "spec.py": "try:\n    from h import V\nexcept KeyError:\n    V = 3\nLIMIT = V",
    },
    "its own folder, removed": {
        "h.py": "import sys\nsys.path[:] = [p for p in sys.path if p != '.']\nN = 3",
        "spec.py": "from h import N as LIMIT",
    },
    "modules of a package": {
        "rules/__init__.py": "import importlib, pkgutil\nFOUND = []\n"
        "for m in pkgutil.iter_modules(__path__):\n"
        "    importlib.import_module('.' + m.name, __name__)",
        "rules/a.py": "from . import FOUND\nFOUND.append(1)",
        "rules/b.py": "from rules import FOUND\nFOUND.append(2)",
        "spec.py": "import rules\nfrom rules.b import FOUND\nLIMIT = len(FOUND)",
    },
    "an own function named as a word": {
        "h.py": "def maybe(x=None):\n    return x or 5\ndef limit(n=maybe()):\n    return n or 1",
        "spec.py": "from h import limit\nLIMIT = limit()",
    },
    "one of another module": {
        "g.py": "def any_of(xs):\n    return max(xs)\n",
        "h.py": "from g import any_of\ndef limit(*, n=any_of([3, 4])):\n    return n or 1",
        "spec.py": "from h import limit\nLIMIT = limit()",
    },
    "locals": {
        "h.py": "def rule_a(): ...\ndef rule_b(): ...\n"
        "RULES = [f for n, f in list(locals().items()) if n.startswith('rule_')]",
        "spec.py": "from h import RULES\nLIMIT = len(RULES)",
    },
    "vars": {
        "h.py": "A = 1\nB = len([n for n in vars() if n == 'A'])",
        "spec.py": "from h import B as LIMIT",
    },
    "dir": {
        "h.py": "A = 1\nB = len([n for n in dir() if n == 'A'])",
        "spec.py": "from h import B as LIMIT",
    },
    "copies of locals": {
        "h.py": "A = 1\nN = len({'A', 'B'} & {*(locals().copy() | {'B': 2})})",
        "spec.py": "from h import N as LIMIT",
    },
    "all of locals": {
        "h.py": "A = 1\nN = (locals() | {'B': 2})['B'] + A",
        "spec.py": "from h import N as LIMIT",
    },
    "locals that are written": {
        "h.py": "for k in 'AB':\n    locals()[k] = ord(k)\nN = A + B - 128",
        "spec.py": "from h import N as LIMIT",
    },
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", HELPERS)
def test_a_helper_means_what_it_means_to_python(name: str, tmp_path: Path) -> None:
    for file, text in HELPERS[name].items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)
    code = "import spec; print(spec.LIMIT)"
    command = [sys.executable, "-B", "-c", f"import sys; sys.path.insert(0, '.'); {code}"]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    with (tmp_path / "spec.py").open("a") as spec:
        spec.write(STEPS)

    assert check(str(tmp_path / "spec.py")).counts.distinct == int(found.stdout) + 1


def test_a_part_of_the_spec_that_fails_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text("from statewalk import action\nimport missing_here\n")
    body = "try:\n    import part\nexcept ImportError:\n    LIMIT = 1\n"
    (tmp_path / "spec.py").write_text(body + STEPS)

    with pytest.raises(SpecError, match=r"SW303.*missing_here") as raised:
        load(str(tmp_path / "spec.py"))
    assert raised.value.at is not None
    assert ("part.py", 2) == (Path(raised.value.at.file).name, raised.value.at.line)


SETTINGS = {
    "decimal": "from decimal import getcontext\ngetcontext().prec = 3",
    "by another name": "import decimal as d\nd.getcontext().prec = 3",
    "all of it": "from decimal import *\ngetcontext().prec = 3",
    "default": "from decimal import DefaultContext, setcontext\nDefaultContext.prec = 3",
    "in a function": "def later():\n    import decimal\n    decimal.getcontext().prec = 3\n",
    "default alone": "import decimal\ndecimal.DefaultContext.prec = 3",
    "locale": "import locale\nlocale.setlocale(locale.LC_ALL, 'C')",
    "calendar": "from calendar import setfirstweekday",
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_python_are_refused(name: str, tmp_path: Path) -> None:
    """Else other steps, and the next configuration of this process, would compute with them."""
    (tmp_path / "helper.py").write_text(SETTINGS[name])
    (tmp_path / "spec.py").write_text("import helper\nLIMIT = 3" + STEPS)

    with pytest.raises(SpecError, match="SW102") as raised:
        load(str(tmp_path / "spec.py"))
    assert raised.value.at is not None


@pytest.mark.parametrize("more", ["", "\nraise ValueError"])
@pytest.mark.parametrize("change", ["getcontext().prec = 3", "setcontext(Context(prec=3))"])
def test_a_library_that_changes_them_is_found(
    tmp_path: Path, change: str, more: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "away").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "away"))
    name = f"away_{len(change)}_{len(more)}"
    (tmp_path / f"away/{name}.py").write_text(f"from decimal import *\n{change}{more}")
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/spec.py").write_text(f"import {name}\nLIMIT = 3" + STEPS)
    before = decimal.getcontext().copy()

    with pytest.raises(SpecError, match="SW303" if more else "SW102"):
        load(str(tmp_path / "specs/spec.py"))
    assert before.prec == decimal.getcontext().prec


def test_a_context_of_ones_own_is_fine(tmp_path: Path) -> None:
    body = "from decimal import *\nwith localcontext() as c:\n    c.prec = 3\n"
    body += "    LIMIT = len(str(Decimal(1) / Decimal(3)))\n"
    (tmp_path / "spec.py").write_text(body + STEPS)

    assert check(str(tmp_path / "spec.py")).counts.distinct == 6


def test_an_import_in_a_step_is_of_the_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python knows what it has compiled by length and time."""
    (tmp_path / "away").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "away"))
    helper = tmp_path / "away/timed_in_a_step.py"
    for n in (3, 4):
        helper.write_text(f"N = {n}")
        os.utime(helper, (1_000_000_000, 1_000_000_000))
        if n == 3:
            py_compile.compile(str(helper))
    (tmp_path / "specs").mkdir()
    body = "def limit() -> int:\n    from timed_in_a_step import N\n    return N"
    text = (body + STEPS).replace("< LIMIT", "< limit()")
    (tmp_path / "specs/spec.py").write_text(text)

    assert check(str(tmp_path / "specs/spec.py"), engine="reference").counts.distinct == 5


CHANGES = {
    "K.prec = 3": "from decimal import Context\nK = Context(prec=28)",
    "string.other = 3": "import string",
    "string.Template.other = 3": "import string",
    "held.n += 1": "import threading\nheld = threading.local()\nheld.n = 0",
    "helper.N += 1": "import helper",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_step_changes_no_attribute_of_another_module_s(change: str, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("N = 1")
    text = f"{CHANGES[change]}\nLIMIT = 3{STEPS}".replace("self.x += 1", f"self.x += 1; {change}")
    (tmp_path / "spec.py").write_text(text)

    with pytest.raises(SpecError, match="SW102"):
        load(str(tmp_path / "spec.py"))
