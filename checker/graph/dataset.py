"""The folder of a state graph: written beside its place and moved there whole."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from statewalk.checker.states.fingerprints import FINGERPRINT_VERSION
from statewalk.checker.verdict.conclude import constant_json
from statewalk.dsl.errors import RunError
from statewalk.dsl.files import decoded, opened, read_text
from statewalk.dsl.origins import UNSEEN

if TYPE_CHECKING:
    from collections.abc import Set

    import pyarrow.dataset as ds

    from statewalk.dsl.model import Model


MANIFEST = "graph.json"
STATES, TRANSITIONS = "states", "transitions"
SCHEMA = 3
_AGAIN = "Write it again: statewalk check SPEC --graph DIR."
_KINDS = {pa.int64(), pa.bool_(), pa.string()}  # what columns of variables are made of
_ROW_GROUP = 1 << 17
_RANDOM, _REPEATED = {"fingerprint", "target"}, {"parent", "source"}
_STEP = dict.fromkeys(("action", "actor", "arguments"), pa.string())
_ALWAYS = {
    STATES: {
        "fingerprint": pa.int64(), "depth": pa.int32(), "parent": pa.int64(), **_STEP,
        "expanded": pa.bool_(),
    },
    TRANSITIONS: {
        "source": pa.int64(), "target": pa.int64(), **_STEP, "choices": pa.string(),
    },
}  # fmt: skip


@dataclass(frozen=True)
class About:
    """A graph's description of itself: the fields of ``graph.json``. See docs/how-to/graph.md."""

    spec: str
    sources: dict[str, str]
    constants: dict[str, Any]
    engine: str
    states: int
    transitions: int
    initial: int
    generated: int
    depth: int
    expanded_depth: int
    complete: bool
    columns: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)  # Parquet file -> SHA-256
    fingerprint: str = FINGERPRINT_VERSION
    schema: int = SCHEMA


class Table:
    """A Parquet file that grows by row groups, compressed with Snappy, which is quick."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.rows = 0
        self._waiting: list[pa.Table] = []
        self._held = 0
        self._writer: pq.ParquetWriter | None = None

    def add(self, table: pa.Table) -> None:
        """Add rows; written out once there are enough for a row group."""
        self._waiting.append(table)
        self._held += len(table)
        self.rows += len(table)
        if self._held >= _ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        table = pa.concat_tables(self._waiting).unify_dictionaries()
        writer = self._writer = self._writer or _writer(self.file, table.schema)
        writer.write_table(table, row_group_size=_ROW_GROUP)
        self._waiting, self._held = [], 0

    def close(self) -> None:
        """Write what is left. At least one table, maybe an empty one, was added."""
        if self._waiting:
            self._flush()
        if self._writer is not None:
            self._writer.close()


def _writer(file: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Return a writer.

    Fingerprints are written as they are: there is nothing to be saved on them.
    """
    numbers = [f.name for f in schema if f.type == pa.int64() and f.name != "target"]
    paths = {path for f in schema for path, _ in _leaves(f.name, f.type)}
    return pq.ParquetWriter(
        file,
        schema,
        compression={path: "none" if path in _RANDOM else "snappy" for path in paths},
        use_dictionary=[*paths - _RANDOM - _REPEATED],
        write_statistics=numbers,
        store_schema=False,  # texts are read as texts, not as numbers with a list of texts
    )


def _leaves(name: str, kind: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """Yield the columns of Parquet that a column is stored in, with their types."""
    parts: list[tuple[str, pa.DataType]] = []
    if pa.types.is_map(kind):
        parts = [("key_value.key", kind.key_type), ("key_value.value", kind.item_type)]
    elif pa.types.is_list(kind):
        parts = [("list.element", kind.value_type)]
    elif pa.types.is_struct(kind):
        parts = [(part.name, part.type) for part in kind]
    else:
        yield name, kind
    for part, of in parts:
        yield from _leaves(f"{name}.{part}", of)


@contextmanager
def new_graph(folder: Path) -> Iterator[Path]:
    """A folder to write a graph into, which `finish` moves to its place; else it is removed.

    A graph that is there already is replaced.

    Raises:  RunError[SW403] where it cannot be written, RunError[SW350] where something else is
    """
    refuse_others(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise unwritable(folder, error) from error
    try:
        (work / STATES).mkdir()
        (work / TRANSITIONS).mkdir()
        yield work
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _put(work: Path, folder: Path) -> None:
    """Move a finished graph to its place."""
    if folder.is_dir() and any(folder.iterdir()):
        old = Path(tempfile.mkdtemp(prefix=f".{folder.name}.old.", dir=folder.parent))
        os.replace(folder, old / folder.name)
        os.replace(work, folder)
        shutil.rmtree(old, ignore_errors=True)
        return
    with suppress(OSError):
        folder.rmdir()
    os.replace(work, folder)


def refuse_others(folder: Path) -> None:
    """Raises RunError[SW350] where a folder holds anything but a graph."""
    if folder.is_dir():
        there = {p.name for p in folder.iterdir()}
        if not there or (MANIFEST in there and there <= {MANIFEST, STATES, TRANSITIONS}):
            return
    elif not folder.exists():
        return
    raise RunError(
        "SW350",
        f"{folder} is there already, and it is not a state graph.",
        why="A graph replaces only another graph.",
        help="Name a new folder with --graph DIR.",
    )


def unwritable(folder: Path, error: OSError) -> RunError:
    """Return the error of a place where no graph can be written."""
    return RunError(
        "SW403",
        f"{folder} cannot be written: {error.strerror or error}.",
        help="Give another place with --graph DIR.",
    )


def finish(work: Path, folder: Path, about: About) -> About:
    """Write the manifest, which makes the folder a graph, and move it to its place; the manifest
    with the digests of the files.
    """
    about = replace(about, files=_digests(work))
    text = json.dumps(asdict(about), indent=2, ensure_ascii=False)
    (work / MANIFEST).write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    work.chmod(0o755)
    _put(work, folder)
    return about


def read_about(folder: Path) -> About:
    """Return what a graph says of itself, with its files looked for.

    Raises:  RunError[SW350] for a folder that is no graph, RunError[SW351] for a damaged one
    """
    try:
        data = decoded(read_text(folder / MANIFEST))
        _refuse_format(folder, data["schema"])
        hints = get_type_hints(About).items()
        about = About(
            **{n: TypeAdapter(kind).validate_python(data[n], strict=True) for n, kind in hints}
        )
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(
            "SW350",
            f"{folder} is not a state graph: it has no {MANIFEST}.",
            help="Make one: statewalk check SPEC --graph DIR.",
        ) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(folder, f"{MANIFEST} cannot be read ({error})") from error
    _look(folder, STATES, about.states, list(about.columns))
    _look(folder, TRANSITIONS, about.transitions, [])
    _refuse_other_files(folder, about.files)
    return about


def _refuse_format(folder: Path, schema: object) -> None:
    if schema != SCHEMA:
        raise RunError(
            "SW351",
            f"The state graph {folder} has format {schema}; this version reads {SCHEMA}.",
            help=_AGAIN,
        )


def _refuse_other_files(folder: Path, written: dict[str, str]) -> None:
    """Raise RunError[SW351] unless each file is, to the byte, the one that was written."""
    try:
        found = _digests(folder)
    except OSError as error:
        raise _damaged(folder, f"a file cannot be read ({error})") from error
    for name in sorted({*found, *written}):
        if name not in found:
            raise _damaged(folder, f"{name} is missing")
        if found[name] != written.get(name):
            raise _damaged(folder, f"{name} does not hold what was written to it")


def _digests(folder: Path) -> dict[str, str]:
    found = {}
    for table in (STATES, TRANSITIONS):
        for path in files_of(folder, table):
            with opened(path) as file:
                found[f"{table}/{path.name}"] = file_digest(file, "sha256").hexdigest()
    return found


def files_of(folder: Path, table: str) -> list[Path]:
    """Return the Parquet files of a table, in order."""
    return sorted((folder / table).glob("*.parquet"))


def rows_of(folder: Path, table: str) -> ds.Dataset:
    """Return the rows of a table, read as they are asked for."""
    import pyarrow.dataset as ds  # takes a quarter of a second, which who writes need not wait

    return ds.dataset([str(file) for file in files_of(folder, table)], format="parquet")


def _look(folder: Path, table: str, rows: int, variables: list[str]) -> None:
    there = 0
    try:
        for part in files_of(folder, table):
            with opened(part) as file, pq.ParquetFile(file) as found:
                there += found.metadata.num_rows
                wrong = _wrong(found.schema_arrow, _ALWAYS[table], variables)
            if wrong:
                raise _damaged(folder, f"{part.name} of {table} {wrong}")
    except (OSError, UnicodeDecodeError, pa.ArrowException) as error:
        raise _damaged(folder, f"a file of {table} cannot be read ({error})") from error
    if there != rows or not files_of(folder, table):
        raise _damaged(folder, f"{table} has {there:,} rows, of {rows:,} written")


def _wrong(schema: pa.Schema, always: dict[str, pa.DataType], variables: list[str]) -> str:
    """Return what of the columns of a file is not as it was written; empty where all are."""
    there, wanted = [name.lower() for name in schema.names], [*always, *variables]
    if len(set(there)) < len(there):  # SQL does not tell large letters from small ones
        twice = next(n for n in schema.names if there.count(n.lower()) > 1)
        return f"has two columns {twice!r}"
    for name in dict.fromkeys([*wanted, *schema.names]):
        if name not in schema.names:
            return f"has no column {name!r}"
        if name not in wanted:
            return f"has a column {name!r} that {MANIFEST} does not name"
        kind = schema.field(name).type
        leaves = {of for _, of in _leaves(name, kind)}
        if kind != always[name] if name in always else not leaves <= _KINDS:
            return f"has a column {name!r} of the type {kind}"
    return ""


def _damaged(folder: Path, what: str) -> RunError:
    return RunError(
        "SW351",
        f"The state graph {folder} is damaged: {what}.",
        help=_AGAIN,
    )


_SIGN = 1 << 63


@dataclass(frozen=True)
class Shown:
    """The number of a graph's ``states`` that were ``shown``, by depth as well; ``outside``
    are those that were shown and are not in it, since a bound or a constraint kept them out.
    """

    states: int
    shown: int
    outside: int
    complete: bool
    levels: tuple[tuple[int, int], ...]

    def as_json(self) -> dict[str, Any]:
        """Return the same for programs."""
        return asdict(self)


def graph_of(folder: str, model: Model) -> About:
    """Return what a graph of a model says of itself. Raises RunError[SW393] for one of another spec
    or of other constants, or where that is unknown.
    """
    about = read_about(Path(folder))
    constants = {name: constant_json(value) for name, value in model.constants.items()}
    if about.sources != model.origins or about.constants != constants:
        other = "other constants" if about.sources == model.origins else "another spec"
        raise RunError(
            "SW393",
            f"--graph {folder} is of {other}: {about.spec}"
            + "".join(f" {name}={value}" for name, value in about.constants.items()),
            help="Make one of this: statewalk check SPEC --graph DIR, with the same --set.",
        )
    if UNSEEN in about.sources:
        raise RunError(
            "SW393",
            f"It is unknown whether --graph {folder} still belongs to this spec.",
            why=f"While it is loaded, the spec reads more than files: {about.sources[UNSEEN]}.",
            help="Leave --graph out, or have the spec read nothing but files.",
        )
    return about


def shown_of(folder: str, model: Model, fingerprints: Set[int]) -> Shown:
    """Return which states of a graph are among some. Raises RunError[SW393]."""
    about = graph_of(folder, model)
    signed = {n - 2 * _SIGN if n >= _SIGN else n for n in fingerprints}
    states: Counter[int] = Counter()
    shown: Counter[int] = Counter()
    for batch in rows_of(Path(folder), STATES).to_batches(columns=["fingerprint", "depth"]):
        columns = (batch.column(name).to_pylist() for name in ("fingerprint", "depth"))
        for fingerprint, depth in zip(*columns, strict=True):
            states[depth] += 1
            shown[depth] += fingerprint in signed
    found = shown.total()
    levels = tuple((shown[depth], states[depth]) for depth in sorted(states))
    return Shown(states.total(), found, len(signed) - found, about.complete, levels)
