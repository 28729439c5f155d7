"""Reading trace files, which others may have written: nothing is believed that does not fit.

The slow part, validation, is loaded by who reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from statewalk.checker.states.content import Content
from statewalk.checker.states.json import Classes, corrupt, from_json
from statewalk.checker.traces.clauses import of_dict
from statewalk.checker.traces.file import VERSION
from statewalk.checker.traces.trace import Abstract, Choice, Trace, TraceStep
from statewalk.dsl.errors import RunError, one_line
from statewalk.dsl.files import SaidTwice, decoded, file_name, read_text
from statewalk.dsl.values.stored import thaw
from statewalk.dsl.words.constants import GivenText

_MAX_BYTES = 1 << 30

_Name = Annotated[str, AfterValidator(one_line)]
_Path = Annotated[str, AfterValidator(file_name)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Choice(_Part):
    index: int = Field(ge=0)
    options: int = Field(ge=1)
    value: Any = None
    name: _Name = ""


class _Step(_Part):
    action: _Name
    index: int = Field(ge=0)
    actor: Any = None
    arguments: list[tuple[_Name, Any]] = []
    choices: list[_Choice] = []
    only: list[_Choice] = []
    completed: bool = True
    file: _Path = ""
    line: int = 0


class _Abstract(_Part):
    name: _Name
    states: list[list[tuple[list[Any], Any]]]
    allowed: list[_Name] = []
    breaks: _Name = ""


class _Clause(_Part):
    text: str
    truth: bool = False
    values: list[tuple[str, str]] = []
    file: _Path = ""
    line: int = 0
    depth: int = Field(default=0, ge=0, le=20)


class _Reason(_Part):
    doc: str = ""
    at: int = Field(default=0, ge=0)
    reads: list[_Name] = []
    clauses: list[_Clause] = []


class _File(_Part):
    format: Literal["statewalk-trace"]
    version: int
    spec: _Path
    names: dict[_Name, _Name] = {}
    constants: dict[_Name, Any]
    sources: dict[_Path, str]
    property: _Name
    kind: _Name
    length: int | None = None
    initial: int = Field(default=0, ge=0)
    loop: int | None = None
    error: str = ""
    error_type: _Name = ""
    classes: dict[str, Any] = {}
    truths: dict[_Name, list[bool | None]] = {}
    states: list[list[tuple[list[Any], Any]]] = Field(min_length=1)
    steps: list[_Step]
    abstract: _Abstract | None = None
    reason: _Reason | None = None


def load_trace(file: str | Path) -> Trace:
    """Read a trace; classes of its values are stand-ins until it is replayed.

    Raises:  RunError[SW404] for a file that cannot be read, RunError[SW401] for one that is no
    trace.
    """
    file = Path(file)
    try:
        data = _File.model_validate(read_json(file))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        said = (
            f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}" if where else "it is no object"
        )
        raise not_a_trace(file, said) from None
    if data.version != VERSION:
        raise RunError(
            "SW401",
            f"{file} is a trace of version {data.version}; this statewalk reads version {VERSION}.",
            help="Make it again with statewalk check.",
        )
    try:
        return _trace(data, file)
    except RunError as error:
        raise not_a_trace(file, error.message.rstrip(".")) from None


def _trace(data: _File, file: Path) -> Trace:
    classes = Classes(data.classes)
    completed = sum(step.completed for step in data.steps)
    if len(data.states) != completed + 1 or not all(s.completed for s in data.steps[:-1]):
        raise corrupt(f"{len(data.steps)} steps and {len(data.states)} states")
    if data.length not in (None, len(data.steps)):
        raise corrupt(f"{len(data.steps)} steps, and a length of {data.length}")
    above = data.abstract.states if data.abstract is not None else data.states
    if len(above) != len(data.states):
        raise corrupt(f"{len(data.states)} states, and {len(above)} of the other spec")
    if not all(_is_path(path) for state in (*data.states, *above) for path, _ in state):
        raise corrupt("a place in a state that is none")
    if data.loop is not None and not 0 <= data.loop < len(data.states):
        raise corrupt(f"a loop to state {data.loop}")
    if any(len(truth) != len(data.states) for truth in data.truths.values()):
        raise corrupt(f"{len(data.states)} states, and truths of another number")
    return Trace(
        spec=data.spec,
        names=data.names,
        constants={n: _read_constant(v, classes) for n, v in data.constants.items()},
        sources=data.sources,
        property=data.property,
        kind=data.kind,
        contents=tuple(_content(state, classes) for state in data.states),
        steps=tuple(_read_step(step, classes) for step in data.steps),
        initial=data.initial,
        loop=data.loop,
        error=data.error,
        error_type=data.error_type,
        truths={name: tuple(truth) for name, truth in data.truths.items()},
        abstract=_read_abstract(data.abstract, classes),
        reason=None if data.reason is None else of_dict(data.reason.model_dump()),
        classes=classes.known,
        file=file,
    )


def _read_abstract(data: _Abstract | None, classes: Classes) -> Abstract | None:
    if data is None:
        return None
    contents = tuple(_content(state, classes) for state in data.states)
    return Abstract(data.name, contents, tuple(data.allowed), data.breaks)


def _content(state: list[tuple[list[Any], Any]], classes: Classes) -> Content:
    return {
        tuple(from_json(part, classes) for part in path): from_json(value, classes)
        for path, value in state
    }


def _read_constant(data: Any, classes: Classes) -> Any:
    if isinstance(data, dict) and list(data) == ["#typed"]:
        return GivenText(data["#typed"])
    return thaw(from_json(data, classes))


def _read_step(step: _Step, classes: Classes) -> TraceStep:
    return TraceStep(
        action=step.action,
        index=step.index,
        actor=from_json(step.actor, classes),
        arguments=tuple((n, from_json(v, classes)) for n, v in step.arguments),
        choices=_read_choices(step.choices, classes),
        only=_read_choices(step.only, classes),
        completed=step.completed,
        file=step.file,
        line=step.line,
    )


def _read_choices(choices: Sequence[_Choice], classes: Classes) -> tuple[Choice, ...]:
    return tuple(Choice(c.index, c.options, from_json(c.value, classes), c.name) for c in choices)


def read_json(file: Path) -> Any:
    """Return the JSON of a file. Raises RunError[SW404], RunError[SW401]."""
    if file.is_dir():
        inside = sorted(p.name for p in file.glob("*.trace.json"))
        listed = f"In it: {', '.join(inside[:8])}." if inside else "There is no trace in it."
        raise RunError("SW404", f"{file} is a directory, not a trace.", help=listed)
    try:
        if file.stat().st_size > _MAX_BYTES:
            raise not_a_trace(file, "it is larger than 1 GB")
        text = read_text(file)
    except FileNotFoundError:
        near = sorted(p.name for p in file.parent.glob("*.trace.json"))
        listed = f"In {file.parent}: {', '.join(near[:8])}." if near else ""
        raise RunError("SW404", f"There is no file {file}.", help=listed) from None
    except OSError as error:
        raise RunError("SW404", f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise not_a_trace(file, "it is not text") from None
    try:
        return decoded(text)
    except SaidTwice as error:
        raise not_a_trace(file, str(error)) from None
    except ValueError as error:
        raise not_a_trace(file, f"it is not JSON ({error})") from None
    except RecursionError:
        raise not_a_trace(file, "it is nested too deeply") from None


def not_a_trace(file: Path, why: str) -> RunError:
    """Return the error of a file that holds no trace."""
    return RunError(
        "SW401",
        f"{file} is not a trace that can be read: {why}.",
        help="Traces are the *.trace.json files that statewalk check writes into its run folder. "
        "Run it again to get a new one.",
    )


def _is_path(path: Sequence[Any]) -> bool:
    """Return whether a path begins as one does: the name of a class, and maybe a number and a
    field.
    """
    kinds = (str, int, str)
    return bool(path) and all(
        isinstance(part, kind) for part, kind in zip(path, kinds, strict=False)
    )
