"""Reading what `checker.native.checkpoints` wrote: the newest whole checkpoint of a folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from statewalk.checker.contract.saved import BEFORE, MANIFEST
from statewalk.checker.contract.search import Finding, finding_in
from statewalk.checker.engines.layout import Layout
from statewalk.checker.native.checkpoints import FORMAT, Manifest, Saved, Totals
from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.native.manifests import (
    Damaged,
    Identity,
    damaged,
    nothing_saved,
    read_arrays,
    read_manifest,
    refuse_another,
    shaped,
)
from statewalk.checker.native.state import NativeSearch
from statewalk.dsl.errors import StatewalkError
from statewalk.dsl.model import Model
from statewalk.dsl.state.packing import decode

_MOST = 1 << 63  # counts are numbers of machines
# dimensions and types of arrays, by name
_LEVEL = {"fp": (1, "uint64"), "low": (1, "uint64"), "link": (1, "int64")}
_ROWS = {"rows": (2, "uint8 uint16 uint32")}
_VALUES = {
    "path_bytes": (1, "uint8"), "path_ends": (1, "int64"), "slots": (1, "int32"),
    "value_bytes": (1, "uint8"), "value_ends": (1, "int64"),
}  # fmt: skip


def read(folder: Path, key: Identity, model: Model) -> Saved:
    """Return the newest whole checkpoint of a folder, of a search of a model.

    Raises:  RunError[SW340] where there is none; RunError[SW341] where it is of another search;
    RunError[SW343] where none that is there is whole
    """
    wrong: list[str] = []
    missing = ""
    for name in (MANIFEST, BEFORE):
        try:
            manifest = read_manifest(folder / name)
            refuse_another(folder, manifest, FORMAT, key)
            return replace(_load(folder, manifest, model), damage=wrong[0] if wrong else missing)
        except FileNotFoundError:
            missing = f"{folder / name} is missing"
        except Damaged as damage:
            wrong.append(str(damage))
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            wrong.append(f"{folder / name} does not describe a search ({error})")
    raise damaged(wrong) if wrong else nothing_saved(folder)


def _load(folder: Path, manifest: Mapping[str, Any], model: Model) -> Saved:
    about = shaped(Manifest, manifest)
    if about.depth < 0 or not about.values:
        raise ValueError("it has no level, or no values")
    levels = []
    for at in range(about.depth + 1):
        found = _arrays(folder, f"level-{at:04}.npz", about, _LEVEL)
        levels.append((found["fp"], found["low"], found["link"]))
        if len(found["fp"]) != len(found["link"]):
            raise ValueError("a level has more states than ways to them")
    rows = _arrays(folder, f"frontier-{about.depth:04}.npz", about, _ROWS)["rows"]
    values = tuple(_arrays(folder, name, about, _VALUES) for name in about.values)
    totals = about.totals
    check_totals(totals, model)
    sizes = [len(link) for _, _, link in levels]
    if (totals.initial, totals.initial + sum(totals.fresh)) != (sizes[0], sum(sizes)):
        raise ValueError("its counts are not those of its levels")
    if len(rows) != sizes[-1]:
        raise ValueError("it has rows of another level")
    return Saved(values, tuple(levels), rows, about)


def check_totals(totals: Totals, model: Model) -> None:
    """Raise ValueError where the counters of a manifest cannot be those of a search of a model."""
    actions = len(model.actions)
    pairs = list(zip(totals.fired, totals.fresh, strict=True))
    fit = len(pairs) == actions and all(0 <= fresh <= fired < _MOST for fired, fresh in pairs)
    rest = (totals.represented, totals.seconds, *totals.cut.values())
    if not fit or any(not 0 <= number < _MOST for number in rest):
        raise ValueError("its counts do not fit together")
    for found in totals.found:
        steps = [*found.steps, *([found.failing] if found.failing else [])]
        if not 0 <= found.initial < len(model.initial_states) or any(
            not 0 <= action < actions or any(option < 0 for option in choices)
            for action, choices in steps
        ):
            raise ValueError(f"{found.property} is found where the spec has no step")


def _arrays(
    folder: Path, name: str, manifest: Manifest, kinds: Mapping[str, tuple[int, str]]
) -> dict[str, Array]:
    found = read_arrays(folder / Path(name).name, manifest.run, *manifest.files[name])
    for key, (dimensions, types) in kinds.items():
        if found[key].ndim != dimensions or found[key].dtype.name not in types.split():
            raise ValueError(f"{name} has other arrays")
    return found


def restore_layout(
    parts: Iterable[Mapping[str, Array]], layout: Layout, model: Model, rows: Array | None = None
) -> None:
    """Give an empty layout the slots and value ids of the saved search, of which ``rows`` are made.

    Raises:  RunError[SW343] where they are none
    """
    try:
        _restore_layout(parts, layout, model)
        if rows is not None and rows.size:
            known = [len(slot.values) for slot in layout.slots[: rows.shape[1]]]
            if any(rows.max(axis=0) >= known + [1] * (rows.shape[1] - len(known))):
                raise ValueError("a state has values that there are not")
    except (
        LookupError, TypeError, ValueError, AttributeError, OverflowError, StatewalkError,
    ) as error:  # fmt: skip
        raise damaged([f"its values are not those of a search ({error})"]) from None


def _restore_layout(parts: Iterable[Mapping[str, Array]], layout: Layout, model: Model) -> None:
    for part in parts:
        for data in _parts(part["path_bytes"], part["path_ends"]):
            layout.slot(_decode_path(data, model.classes))
        values = _parts(part["value_bytes"], part["value_ends"])
        for slot, value in zip(part["slots"].tolist(), values, strict=True):
            if slot < 0:
                raise IndexError("a slot before the first")
            layout.value_id(layout.slots[slot], decode(value, model.classes))


def take_up(search: NativeSearch, totals: Totals) -> None:
    """Give a search the counters and findings of the saved one."""
    search.initial, search.earlier = totals.initial, totals.seconds
    search.fired[:], search.fresh[:] = totals.fired, totals.fresh
    search.cut = Counter(totals.cut)
    search.represented, search.found = totals.represented, findings_of(totals)


def findings_of(totals: Totals) -> dict[str, Finding]:
    """Return the findings of the saved search."""
    found = {}
    for data in totals.found:
        error = None if data.error is None else AssertionError(data.error)
        found[data.property] = replace(finding_in(vars(data)), error=error)
    return found


def _parts(data: Array, ends: Array) -> Iterator[bytes]:
    text = data.tobytes()
    start = 0
    for end in ends.tolist():
        if end < start:
            raise ValueError("a part ends before it begins")
        yield text[start:end]
        start = end
    if start != len(text):
        raise ValueError("its parts have another length")


def _decode_path(data: bytes, classes: Mapping[str, type]) -> tuple[Any, ...]:
    parts: list[Any] = []
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at + 1 : at + 5], "big")
        part = data[at + 5 : at + 5 + size]
        parts.append(part if data[at : at + 1] == b"B" else decode(part, classes))
        at += 5 + size
    return tuple(parts)
