"""A field that was never set has no value: every look at it is an error with its place."""

from pathlib import Path

import pytest

from statewalk import check
from statewalk.dsl.binding import bound
from statewalk.dsl.errors import SpecError
from statewalk.dsl.loader import load
from statewalk.dsl.state.plain_view import PlainView
from tests.cases import slow

SPEC = """
from statewalk import *
deadlock(False)
class Item(Record):
    n: int = 0
class C(Role):
    flag: bool
    number: int
    perhaps: int | None
    text: str
    pair: tuple[int, int]
    rows: list[int]
    some: set[int]
    few: set[int]
    bag: Bag[int]
    table: dict[int, int]
    item: Item
    either: Item | None
    peer: "C"
    out: list[object] = []
    n: int = 0
    {looks}
    @action
    def fill(self) -> None:
        require(self.n == 7)
        {fill}
        self.few.add(1)
def shown(x: object) -> str:
    return str(x)
c = C()
"""
FILL = """self.flag, self.number, self.perhaps, self.text, self.pair = True, 1, None, "", (1, 1)
        self.rows, self.some, self.table, self.bag, self.peer = [], set(), {}, Bag(), self
        self.item = Item()
        self.either = None"""
FIELDS = [
    "flag", "number", "perhaps", "text", "pair", "rows", "some", "few", "bag", "table", "item",
    "either", "peer",
]  # fmt: skip
LOOKS = [
    "require(not {f})", "require({f} != True)", "require({f} == False)", "require({f} is not None)",
    "x = {f}", "self.out = [{f}]", "self.out.append(({f}, 1))", "require([{f}] != [1])",
    "require(1 if {f} else 2)", "require({f} or True)", "require(not ({f} and False))",
    "x = f'{{{f}}}'", "shown({f})", "x = [y for y in range(2) if {f}]", "x = {{{f}: 1}}",
    "x = {f} in [1]", "x = 1 in {{'a': {f}}}.values()", "x = isinstance({f}, int)",
    "x = any_of([{f}, 1])", "x = getattr(self, {f!r}[5:])", "x = hasattr(self, {f!r}[5:])",
    "x = (lambda: {f})()", "require({f} is None)", "x = bool({f})", "x = str({f})",
]  # fmt: skip
OF_KINDS = [
    "require(self.number > 3)", "self.number += 1", "self.number -= 1", "x = -self.number",
    "x = 3 < self.number < 5", "self.text += 'a'", "x = self.text * 2", "x = self.pair[0]",
    "a, b = self.pair", "self.rows.append(1)", "x = self.rows[0]", "x = 1 in self.rows",
    "self.rows += [1]", "x = [y for y in self.rows]", "x = sum(self.rows)", "del self.rows[0]",
    "x = any(y > 1 for y in self.rows)", "for y in self.rows: self.n = y", "x = len(self.some)",
    "x = 1 in self.few", "self.few.add(2)", "self.few.discard(2)", "x = self.some | {1}",
    "x = self.some <= {1}", "self.some |= {1}", "self.bag.add(1)", "x = self.bag.count(1)",
    "x = self.table[1]", "x = self.table.get(1)", "self.table[1] = 2", "x = 1 in self.table",
    "x = list(self.table)", "x = {**self.table}", "self.table.setdefault(1, 2)",
    "x = self.item.n", "self.item.n = 2", "self.item.n += 2", "x = replace(self.item, n=1)",
    "x = self.either.n", "self.peer.n = 2", "x = self.peer.number",
    """match self:
            case C(flag=True): pass
            case _: pass""",
    """match self.perhaps:
            case None: pass
            case _: pass""",
]  # fmt: skip


def _found(tmp_path: Path, looks: list[str], fill: str, *, optimize: bool) -> list[str]:
    """Return what each look gives in the first state, in words."""
    path = tmp_path / "spec.py"
    methods = [f"@action\n    def look{n}(self) -> None:\n        {x}" for n, x in enumerate(looks)]
    text = SPEC.replace("{looks}", "\n    ".join(methods)).replace("{fill}", fill)
    path.write_text(text)
    model = load(str(path), optimize=optimize)
    found = []
    for action in model.actions[: len(looks)]:
        try:
            with bound(PlainView(model.initial_states[0]), classes=model.classes):
                action.run()
            found.append("nothing")
        except Exception as error:
            found.append(str(error).partition(".\n")[0])
    return found


@pytest.mark.parametrize(
    ("fill", "optimize"), [(FILL, True), slow(FILL, False), slow("pass", True), slow("pass", False)]
)
def test_every_look_at_a_field_without_a_value_is_an_error(
    fill: str, optimize: bool, tmp_path: Path
) -> None:
    looks = [(look.format(f=f"self.{field}"), field) for field in FIELDS for look in LOOKS]

    found = _found(tmp_path, [look for look, _ in looks], fill, optimize=optimize)

    expected = [(look, f"SW208 C#0.{field} has no value yet") for look, field in looks]
    assert expected == list(zip([look for look, _ in looks], found, strict=True))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("optimize", [True, False])
@pytest.mark.parametrize("fill", [FILL, "pass"])
def test_what_only_some_kinds_of_fields_can_do_is_an_error_without_a_value(
    fill: str, optimize: bool, tmp_path: Path
) -> None:
    found = _found(tmp_path, OF_KINDS, fill, optimize=optimize)

    wrong = [x for x in zip(OF_KINDS, found, strict=True) if not x[1].startswith("SW208 C#0.")]
    assert [] == wrong


RECORDS = """
from statewalk import *
deadlock(False)
class Item(Record):
    n: int
    m: bool
    def __init__(self, n: int) -> None:
        self.n = n
class C(State):
    items: list[Item] = []
    n: int = 0
    set_later: int
    @action
    def go(self) -> None:
        item = Item(1)
        {look}
        self.n = 1
c = C()
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("look", "place"),
    [
        ("require(not item.m)", "Item.m has no value yet"),
        ("self.items.append(item)", "Item.m has no value yet"),
        ("require(item != Item(1))", "Item.m has no value yet"),
        ("x = f'{item}'", "Item.m has no value yet"),
        ("x = {item}", "Item.m has no value yet"),
        ("x = replace(item, n=1)", "Item.m has no value yet"),
        ("del item.n", "Item.n cannot be deleted"),
        ("del self.n", "C#0.n cannot be deleted"),
        ("self.set_later = 1; del self.set_later", "C#0.set_later cannot be deleted"),
    ],
)
def test_a_field_of_a_record_that_was_not_set_and_a_deleted_one_are_errors(
    look: str, place: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.py"
    path.write_text(RECORDS.replace("{look}", look))

    result = check(path, engine="reference")

    assert result.verdict == "error"
    assert f"SW208 {place}" in str(result)


PROPERTIES = """
from statewalk import *
deadlock(False)
class C(State):
    up: bool
    n: int = 0
    @action
    def go(self) -> None:
        require({may})
        self.n = any_of([0, 1])
    @action
    def fill(self) -> None:
        require(self.n == 7)
        self.up = True
c = C()
{property}
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("engine", [slow("reference"), "native"])
@pytest.mark.parametrize(
    "declared",
    [
        "@always\ndef p() -> bool:\n    return not c.up",
        "@always\ndef p() -> bool:\n    return c.n >= 0 and c.up != True",
        "@always\ndef p() -> bool:\n    return all(not x.up for x in [c])",
        "@exists\ndef p() -> bool:\n    return c.up == False",
        "@always\n@eventually\ndef p() -> bool:\n    return not c.up",
        "p = leads_to(lambda: c.n == 1, lambda: not c.up)",
        "@on_step\ndef p() -> bool:\n    return c.n >= 0 or old(c.up)\n"
        "@on_step\ndef q() -> bool:\n    return not old(c.up)",
        "@constraint\ndef p() -> bool:\n    return not c.up",
        "@terminal\ndef p() -> bool:\n    return c.n == 1 and not c.up",
    ],
)
def test_a_property_that_looks_at_a_field_without_a_value_is_an_error(
    declared: str, engine: str, tmp_path: Path
) -> None:
    terminal = "@terminal" in declared
    text = PROPERTIES.replace("{property}", declared)
    text = text.replace("{may}", "self.n == 0" if terminal else "True")
    text = text.replace("deadlock(False)", "deadlock(True)" if terminal else "deadlock(False)")
    path = tmp_path / "spec.py"
    path.write_text(text)

    try:
        found = str(check(path, engine=engine))
    except SpecError as error:
        found = str(error)

    assert "SW208 C#0.up has no value yet" in found


def test_a_field_that_is_set_before_it_is_looked_at_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(
        PROPERTIES.replace("self.n == 7", "self.n == 1")
        .replace("{may}", "True")
        .replace("{property}", "@always\ndef p() -> bool:\n    return c.n == 0 or c.n == 1 or c.up")
    )

    for engine in ("reference", "native"):
        result = check(path, engine=engine)

        assert ("holds", 4) == (result.verdict, result.counts.distinct)


def test_a_look_at_load_time_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    path.write_text(PROPERTIES.replace("{may}", "True").replace("{property}", "TWICE = not c.up"))

    with pytest.raises(SpecError, match=r"SW208 C#0\.up has no value yet"):
        load(str(path))
