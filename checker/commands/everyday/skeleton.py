"""The skeleton of a spec from a TLA+ module: its names and texts. Nothing is translated."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_WORDS = (
    "Constant State action always config deadlock eventually holds require variables Variables "
    "index there set dict list int str bool"
)
_ENDS = r"^(?:VARIABLES?|CONSTANTS?|ASSUME|ASSUMPTION|THEOREM|LEMMA|INSTANCE|LOCAL|RECURSIVE)\b"
_DEFINES = r"^(?:LOCAL[ \t]+)?(\w+)[ \t]*(?:\([^=\n]*\))?[ \t]*=="
_CFG = re.compile(
    r"\b(SPECIFICATION|INIT|NEXT|CONSTANTS?|INVARIANTS?|PROPERTY|PROPERTIES|CONSTRAINTS?|"
    r"ACTION_CONSTRAINTS?|SYMMETRY|VIEW|CHECK_DEADLOCK|ALIAS|POSTCONDITION)\b"
)
_GUESSES = (  # of a set that a variable is in, or of its first value
    (r"BOOLEAN|TRUE\b|FALSE\b", "bool = False"),
    (r"\[.*(?:->|\|->)", "dict = {}"),
    (r"SUBSET|\{\}|Message", "set = set()"),
    (r"Seq\b|<<", "list = []"),
    (r"Nat\b|Int\b|-?\d+\b|.*\.\.", "int = 0"),
    (r'"', 'str = ""'),
)


@dataclass
class Module:
    """The names of a TLA+ module with their texts, and what a model file says of them."""

    constants: list[str]
    variables: list[str]
    definitions: dict[str, str]
    config: dict[str, list[str]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)


def read(text: str, cfg: str = "") -> Module:
    """Return the parts of a module, and of its model file."""
    text = _without_comments(text)
    module = Module(_listed(text, "CONSTANTS?"), _listed(text, "VARIABLES?"), _definitions(text))
    parts = _CFG.split(_without_comments(cfg))[1:]
    for word, said in zip(parts[::2], parts[1::2], strict=True):
        kind = word.rstrip("S").replace("PROPERTIE", "PROPERTY")
        if kind == "CONSTANT":
            found = re.findall(r"(\w+)\s*(?:=|<-)\s*(\{[^}]*\}|\"[^\"]*\"|-?[\w.]+)", said)
            module.values.update(found)
        else:
            module.config.setdefault(kind, []).extend(re.findall(r"\w+", said))
    return module


def _without_comments(text: str) -> str:
    text = re.sub(r"\\\*[^\n]*", "", text)
    while (fewer := re.sub(r"\(\*(?:(?!\(\*|\*\)).)*\*\)", "", text, flags=re.S)) != text:
        text = fewer
    return text


def _listed(text: str, word: str) -> list[str]:
    """Return the names that are declared by a word."""
    found: list[str] = []
    for match in re.finditer(rf"^[ \t]*{word}\b", text, re.M):
        rest = re.sub(r"\([^)]*\)", "", text[match.end() :])
        names = re.match(r"\s*\w+(?:\s*,\s*\w+)*", rest)
        found += re.findall(r"\w+", names.group()) if names else []
    return list(dict.fromkeys(found))


def _definitions(text: str) -> dict[str, str]:
    starts = list(re.finditer(_DEFINES, text, re.M))
    found: dict[str, str] = {}
    for at, match in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        body = re.split(rf"{_ENDS}|^-{{4,}}|^={{4,}}", text[match.end() : end], flags=re.M)[0]
        found[match[1]] = (match.group() + body).rstrip()
    return found


def steps_of(module: Module) -> Iterator[tuple[str, str]]:
    """Yield the disjuncts of the next-state relation: a name and a text for each."""
    spec = module.definitions.get((module.config.get("SPECIFICATION") or ["Spec"])[0], "")
    named = re.search(r"\[\]\[\s*(\w+)\s*\]_", spec)
    name = (module.config.get("NEXT") or [named[1] if named else "Next"])[0]
    text = module.definitions.get(name, "")
    body = text.partition("==")[2]
    if not body.strip():
        return
    for part in _bullets(text, body):
        used = [word for word in re.findall(r"\w+", part) if word in module.definitions]
        known = [w for w in used if re.search(r"'|UNCHANGED", module.definitions[w])]
        for step in dict.fromkeys(known) or used[:1]:
            yield step, f"{part}\n{module.definitions[step]}"
        if not used:
            yield name, part


def _bullets(text: str, body: str) -> list[str]:
    """Return the parts of a definition that begin with an outermost "or"."""
    begin = len(text) - len(body)
    whole = " " * (begin - text.rfind("\n", 0, begin) - 1) + body
    columns = [m.start() - whole.rfind("\n", 0, m.start()) - 1 for m in re.finditer(r"\\/", whole)]
    indent = " " * min(columns, default=0)
    parts = [""]
    for line in whole.splitlines():
        if columns and line.startswith(indent + "\\/"):
            parts.append("")
        parts[-1] += line + "\n"
    return [part.strip("\n") for part in parts if part.strip()]


class _Names:
    """Names that Python and statewalk leave free, none of them twice."""

    def __init__(self) -> None:
        self.taken = {*_WORDS.split(), *keyword.kwlist}

    def of(self, name: str, *, snake: bool = False) -> str:
        if snake:
            name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
        name = "n" + name if not name[:1].isalpha() else name
        found, number = name, 2
        while found in self.taken:
            found, number = f"{name}_{number}", number + 1
        self.taken.add(found)
        return found


def skeleton(module: Module, source: str) -> str:
    """Return the text of a spec that loads, and in which everything is to be filled in."""
    names = _Names()
    lines = [f'"""A skeleton of {source}: nothing of it is translated yet."""', ""]
    invariants = module.config.get("INVARIANT", [])
    live = module.config.get("PROPERTY", [])
    words = ["Constant"] * bool(module.constants) + ["State", "action"]
    words += ["always"] * bool(invariants) + ["config", "deadlock"]
    words += ["eventually"] * bool(live) + ["holds", "require"]
    lines += [f"from statewalk import {', '.join(words)}", ""]
    for name in module.constants:
        lines.append(f"{names.of(name)}: {_constant(module.values.get(name))}")
    lines += ["", "", "class Variables(State):"]
    lines += [f"    {names.of(n)}: {_guess(module, n)}" for n in module.variables] or ["    pass"]
    for name, text in steps_of(module):
        lines += ["", "    @action", f"    def {names.of(name, snake=True)}(self) -> None:"]
        lines += [*_comment(text, "        "), "        require(False)  # to be written"]
    lines += ["", "", "variables = Variables()", "deadlock(False)"]
    for kind, found in (("always", invariants), ("eventually", live)):
        for name in found:
            lines += ["", "", f"@{kind}", f"def {names.of(name)}() -> bool:"]
            lines += [*_comment(module.definitions.get(name, name), "    ")]
            lines += ["    return True  # to be written"]
    lines += ["", "", "# expect=holds(distinct=..., generated=..., depth=...): the counts of TLC"]
    return "\n".join([*lines, 'config("tlc", expect=holds())', ""])


def _comment(text: str, indent: str) -> list[str]:
    return [f"{indent}# {line}".rstrip() for line in text.splitlines() if line.strip()]


def _constant(value: str | None) -> str:
    if value is None:
        return "Constant[int] = 2  # the model file gives no value"
    if re.fullmatch(r"-?\d+", value):
        return f"Constant[int] = {int(value)}"
    if value in ("TRUE", "FALSE"):
        return f"Constant[bool] = {value.title()}"
    if value.startswith("{"):
        items = [item.strip().strip('"') for item in value[1:-1].split(",") if item.strip()]
        whole = all(re.fullmatch(r"-?\d+", item) for item in items)
        shown = ", ".join(str(int(item)) if whole else repr(item) for item in items)
        kind = "int" if whole and items else "str"
        return f"Constant[tuple[{kind}, ...]] = ({shown}{',' * (len(items) == 1)})"
    return f"Constant[str] = {value.strip(chr(34))!r}"


def _guess(module: Module, name: str) -> str:
    """Return a type and a first value, from the first place that says what a variable is."""
    for joint in (r"\\in", "="):
        for text in module.definitions.values():
            for said in re.findall(rf"(?<!\w){name}\s*{joint}\s*([^\n]*)", text):
                for pattern, guess in _GUESSES:
                    if re.match(pattern, said):
                        return guess
    return "object = None  # a type that is to be found"
