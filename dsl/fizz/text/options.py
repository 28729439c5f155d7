"""Options of a .fizz specification: its front matter, and the ``fizz.yaml`` beside it.

Of YAML only names, plain values, lists and groups are read. Anchors, tags, merges and keys that are
no text are refused with their place.
"""

from __future__ import annotations

import os
import reprlib
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import (
    AliasGenerator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    field_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from statewalk.dsl.errors import Span, SpecError, did_you_mean
from statewalk.dsl.files import opened

MAX_NESTING = 10
_MAX_DIGITS = 30
_TAG = "tag:yaml.org,2002:"
_MAKE = yaml.constructor.SafeConstructor()
_PLAIN = {
    f"{_TAG}null": _MAKE.construct_yaml_null,
    f"{_TAG}bool": _MAKE.construct_yaml_bool,
    f"{_TAG}int": _MAKE.construct_yaml_int,
    f"{_TAG}float": _MAKE.construct_yaml_float,
}  # what is left, dates among it, is text

Places = dict[tuple[str | int, ...], yaml.Mark]


def read_yaml(text: str) -> tuple[Any, Places]:
    """Return what a document holds, and the place of each path. Raises MarkedYAMLError."""
    try:
        _hold_plain(yaml.SafeLoader(text))
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        column = len(before) - before.rfind("\n") - 1
        mark = yaml.Mark("", error.position, before.count("\n"), column, None, 0)
        raise _refused(f"U+{error.character:04X} is not allowed", mark) from None
    places: Places = {}
    return None if node is None else _value(node, (), places), places


def _refused(problem: str, mark: yaml.Mark) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def _hold_plain(loader: yaml.SafeLoader) -> None:
    """Raise MarkedYAMLError for aliases, tags and deep nesting."""
    depth = 0
    while (event := _next(loader)) is not None:
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        problem = ""
        if getattr(event, "anchor", None) is not None:
            problem = "anchors (&) and aliases (*) are not supported: write the value out"
        elif getattr(event, "tag", None) is not None:
            problem = "tags (!) are not supported: write the value without its tag"
        elif depth > MAX_NESTING:
            problem = f"values are nested more than {MAX_NESTING} levels deep"
        if problem:
            raise _refused(problem, event.start_mark)


def _next(loader: yaml.SafeLoader) -> yaml.Event | None:
    try:
        return loader.get_event() if loader.check_event() else None
    except ValueError:
        problem = "this escape sequence is not a valid character"
        raise _refused(problem, loader.get_mark()) from None


def _value(node: yaml.Node, path: tuple[str | int, ...], places: Places) -> Any:
    places.setdefault(path, node.start_mark)
    if isinstance(node, yaml.MappingNode):
        return _group(node, path, places)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, i), places) for i, item in enumerate(node.value)]
    if any("\ud800" <= c <= "\udfff" for c in node.value):
        raise _refused("a lone surrogate is not a valid character", node.start_mark)
    make = _PLAIN.get(node.tag)
    if make is None:
        return node.value
    try:
        if len(node.value) <= _MAX_DIGITS:
            return make(node)
    except (ValueError, ArithmeticError):
        pass
    raise _refused("this number is malformed or too long", node.start_mark)


def _group(node: yaml.MappingNode, path: tuple[str | int, ...], places: Places) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in node.value:
        if key.tag == f"{_TAG}merge":
            raise _refused(
                "merge keys (<<) are not supported: write the options out", key.start_mark
            )
        if not isinstance(key, yaml.ScalarNode) or key.tag in _PLAIN:
            raise _refused(
                "an option name is expected here (put it in quotes if necessary)", key.start_mark
            )
        name = _value(key, (*path, key.value), places)
        if name in found:
            raise _refused(f"{name[:40]} is given twice", key.start_mark)
        found[name] = _value(value, (*path, name), places)
    return found


MAX_ACTIONS = 100
MAX_SIZE = 64_000


CHECKED = ("", "true", "enabled", "strict", "strict/bfs", "eventual", "nondeterministic")
UNCHECKED = ("false", "disabled", "probabilistic")
Bound = Annotated[StrictInt, Field(ge=0)]  # 0 is none


class _Part(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        populate_by_name=True,
        alias_generator=AliasGenerator(validation_alias=to_camel),
    )


class Bounds(_Part):
    """``options:``"""

    max_actions: Bound = 0
    max_concurrent_actions: Bound = 0
    crash_on_yield: StrictBool | None = None


class _File(_Part):
    options: Bounds = Bounds()
    action_options: dict[str, Bounds] = {}
    deadlock_detection: StrictBool | None = None
    liveness: StrictStr | None = None
    continue_on_invariant_failures: StrictBool | None = None
    continue_path_on_invariant_failures: StrictBool | None = None

    @field_validator("liveness")
    @classmethod
    def _is_known(cls, value: str | None) -> str | None:
        known = [*CHECKED[1:], *UNCHECKED]
        if value is not None and value not in ("", *known):
            raise PydanticCustomError("liveness", f"one of {', '.join(known)}")
        return value


class Options(BaseModel):
    """The options asked for, defaults filled in. ``max_actions`` bounds the steps on a path."""

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True)

    max_actions: int = MAX_ACTIONS
    max_concurrent_actions: int = 2
    crash_on_yield: bool = True
    action_options: dict[str, Bounds] = {}
    places: dict[str, Span] = {}  # of these
    deadlock_detection: bool = True
    liveness: str = "strict"
    continue_on_invariant_failures: bool = False
    continue_path_on_invariant_failures: bool = False

    @property
    def checks_liveness(self) -> bool:
        """Return whether the specification wants its liveness assertions checked."""
        return self.liveness in CHECKED


def read_options(path: str, front: str, line: int) -> Options:
    """Return the options of ``fizz.yaml`` and the front matter. Raises SpecError[SW151]."""
    files: list[tuple[_File, dict[str, Span]]] = []
    beside = Path(path).parent / "fizz.yaml"
    if path and os.path.lexists(beside):
        files.append(_read_beside(beside))
    files.append(_read(front, path, line))
    merged: dict[str, Any] = {}
    for file, places in files:
        given = {**dict(file), **dict(file.options)}
        del given["options"], given["action_options"]
        merged |= {n: v for n, v in given.items() if v is False or v not in (None, "", 0)}
        merged["action_options"] = {**merged.get("action_options", {}), **file.action_options}
        merged["places"] = {**merged.get("places", {}), **places}
    return Options(**merged)


def _read_beside(file: Path) -> tuple[_File, dict[str, Span]]:
    """Return the options of ``fizz.yaml``.

    Where that is a link, nothing is told of what it leads to.
    """
    try:
        with opened(file) as stream:  # of a long file, enough to tell that it is too long
            text = stream.read(4 * MAX_SIZE + 4).decode("utf-8", errors="replace")
    except OSError as error:
        said = f"{file} cannot be read: {error.strerror}."
        raise SpecError("SW151", said, at=Span(str(file), 1)) from None
    try:
        return _read(text, str(file), 1)
    except SpecError as error:
        if not file.is_symlink():
            raise
        line = f", line {error.at.line}" if error.at else ""
        said = f"{file}{line}: these options cannot be read."
        help = "It is a symbolic link: correct the file that it points to."
        raise SpecError("SW151", said, help=help) from None


_OPTIONS = "Options are YAML, one on a line: deadlock_detection: false"


def _read(text: str, file: str, line: int) -> tuple[_File, dict[str, Span]]:
    """Return the options of a text, and where those of each action begin."""
    if len(text) > MAX_SIZE:
        message = f"These options are longer than {MAX_SIZE:,} characters."
        raise SpecError("SW151", message, at=Span(file, line), help="Remove what is not needed.")
    try:
        found, places = read_yaml(text)
    except yaml.MarkedYAMLError as error:
        at = _span(error.problem_mark or error.context_mark, file, line)
        problem = error.problem or error.context
        said = f"These options cannot be read: {problem}."
        raise SpecError("SW151", said, at=at, help=f"Correct this place. {_OPTIONS}") from None
    if found is None:
        return _File(), {}
    if not isinstance(found, dict):
        said = "These options are not of the form 'name: value'."
        raise SpecError("SW151", said, at=Span(file, line), help=_OPTIONS)
    try:
        read = _File.model_validate(found)
    except ValidationError as error:
        raise _explain(error, places, file, line) from None
    of_actions = {
        str(path[1]): _span(mark, file, line)
        for path, mark in places.items()
        if len(path) == 2 and path[0] in ("action_options", "actionOptions")
    }
    return read, of_actions


def _explain(error: ValidationError, places: Places, file: str, line: int) -> SpecError:
    first = error.errors()[0]
    where = [str(part) for part in first["loc"]]
    key = where[-1]
    loc = first["loc"]
    while loc not in places:
        loc = loc[:-1]
    at = _span(places[loc], file, line, key if loc and str(loc[-1]) == key else "")
    if first["type"] == "extra_forbidden":
        known = Bounds.model_fields if len(where) > 1 else _File.model_fields
        inside = f" in {'.'.join(where[:-1])}" if len(where) > 1 else ""
        help = did_you_mean(key, known)
        if key in Bounds.model_fields:
            help = f"It belongs under options:\noptions:\n  {key}: {reprlib.repr(first['input'])}"
        return SpecError(
            "SW151", f"There is no option {reprlib.repr(key)}{inside}.", at=at, help=help
        )
    given = first["input"]
    wanted = {
        "bool_type": "true or false", "int_type": "a whole number",
        "greater_than_equal": "a whole number from 0 on, where 0 means the default",
        "string_type": f'a string: in quotes, "{str(given)[:40].lower()}"',
        "model_type": "a group of options",
        "dict_type": "a group of options", "model_attributes_type": "a group of options",
    }.get(first["type"], first["msg"])  # fmt: skip
    return SpecError(
        "SW151", f"{'.'.join(where)} cannot be {reprlib.repr(given)}. It must be {wanted}.", at=at
    )


def _span(mark: yaml.Mark | None, file: str, line: int, key: str = "") -> Span:
    """Return the place of a mark; ``key`` is written there."""
    if mark is None:
        return Span(file, line)
    column = mark.column + 1
    return Span(file, line + mark.line, column, column + len(key) if key else None)
