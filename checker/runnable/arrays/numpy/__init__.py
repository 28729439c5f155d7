"""Arrays as lists, in the place of numpy where there is none: what liveness and comparisons use.

A browser's page brings no numpy of several megabytes for graphs of a few thousand states. Integers
have no width here: `~` of one is negative, and masks are what keeps bits apart, as `x & ~y`.
Of two dimensions, an array holds its rows. What is not used is not here.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import accumulate, chain, pairwise
from typing import Any


def _kind(convert: type) -> Any:
    return lambda value=0: convert(value)


int32, int64, uint8, uint16, uint32, uint64 = (_kind(int) for _ in range(6))
float64, bool_ = _kind(float), _kind(bool)


class ndarray:
    """Values in a list; ``width`` is that of a row where there are two dimensions, else None."""

    __slots__ = ("data", "width")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: list[Any], width: int | None = None) -> None:
        self.data = data
        self.width = width

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.data),) if self.width is None else (len(self.data), self.width)

    @property
    def dtype(self) -> Any:
        return _kind(type(self.data[0])) if self.data and self.width is None else int64

    def reshape(self, _: int) -> ndarray:
        return self if self.width is None else self.ravel()

    @property
    def T(self) -> list[ndarray]:
        return [ndarray([row[at] for row in self.data]) for at in range(self.width or 0)]

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, tuple):
            rows, columns = at
            chosen = self.data[rows]
            if isinstance(columns, int):
                return ndarray([row[columns] for row in chosen])
            places = range(self.width or 0)[columns] if isinstance(columns, slice) else columns
            return ndarray([[row[c] for c in places] for row in chosen], len(places))
        if isinstance(at, ndarray | list):
            data = self.data
            return ndarray([data[i] for i in _places(at)], self.width)
        if isinstance(at, slice):
            return ndarray(self.data[at], self.width)
        found = self.data[at]
        return found if self.width is None else ndarray(found)

    def __setitem__(self, at: Any, value: Any) -> None:
        if isinstance(at, tuple):
            self._put_columns(range(len(self.data))[at[0]], at[1], value)
            return
        if isinstance(at, int):
            self.data[at] = value
            return
        places = range(len(self.data))[at] if isinstance(at, slice) else _places(at)
        if isinstance(value, ndarray | list | range):
            for place, one in zip(places, value, strict=True):
                self.data[place] = one
        else:
            for place in places:
                self.data[place] = value

    def _put_columns(self, rows: Any, columns: Any, value: Any) -> None:
        for number, row in enumerate(rows):
            if isinstance(columns, int):
                many = isinstance(value, ndarray)
                self.data[row][columns] = value.data[number] if many else value
            else:
                self.data[row][columns] = value.data[number]

    def __invert__(self) -> ndarray:
        return ndarray([(not v) if isinstance(v, bool) else ~v for v in self.data])

    def astype(self, kind: Callable[[Any], Any]) -> ndarray:
        data = [kind(v) for v in self.data] if self.width is None else self.data
        return ndarray(data, self.width)

    def copy(self) -> ndarray:
        data = [*self.data] if self.width is None else [[*row] for row in self.data]
        return ndarray(data, self.width)

    def ravel(self) -> ndarray:
        return ndarray([*chain.from_iterable(self.data)])

    def tolist(self) -> list[Any]:
        return self.copy().data

    def any(self, axis: int | None = None) -> Any:
        return any(self.data) if axis is None else ndarray([any(column.data) for column in self.T])

    def all(self) -> bool:
        return all(self.data)

    def sum(self) -> int:
        return sum(self.data)

    def min(self) -> Any:
        return min(self.data)

    def max(self, **initial: Any) -> Any:
        return max(self.data, default=initial["initial"]) if initial else max(self.data)


def _places(at: ndarray | list[int]) -> Iterable[int]:
    """Return the places that an index names: those where a mask is true, or its own."""
    if len(at) and isinstance(next(iter(at)), bool):
        return (place for place, chosen in enumerate(at) if chosen)
    return at


def _elementwise(name: str, work: Callable[[Any, Any], Any]) -> None:
    def forward(self: ndarray, other: Any) -> ndarray:
        if self.width is not None:  # a row for all is what comparisons ask for
            rows = other.data * len(self) if len(other) == 1 else other.data
            pairs = zip(self.data, rows, strict=True)
            return ndarray([[*map(work, a, b)] for a, b in pairs], self.width)
        if isinstance(other, ndarray):
            if len(self) != len(other):
                raise ValueError(f"{len(self)} values and {len(other)}")
            return ndarray([*map(work, self.data, other.data)])
        return ndarray([work(v, other) for v in self.data])

    def backward(self: ndarray, other: Any) -> ndarray:
        return ndarray([work(other, v) for v in self.data])

    def inplace(self: ndarray, other: Any) -> ndarray:
        self.data[:] = forward(self, other).data
        return self

    setattr(ndarray, f"__{name}__", forward)
    setattr(ndarray, f"__r{name}__", backward)
    setattr(ndarray, f"__i{name}__", inplace)


for _name in ("add", "sub", "mul", "floordiv", "mod", "rshift", "lshift"):
    _elementwise(_name, getattr(operator, _name))
for _name in ("and", "or"):
    _elementwise(_name, getattr(operator, f"{_name}_"))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _elementwise(_name, getattr(operator, _name))


class _Reduced:
    def __init__(self, work: Callable[[Any, Any], Any], of_none: int) -> None:
        self.work = work
        self.of_none = of_none

    def reduce(self, values: Iterable[Any], axis: int | None = None) -> Any:
        return reduce(self.work, values, *([self.of_none] * (axis is None)))


bitwise_or = _Reduced(operator.or_, 0)
bitwise_and = _Reduced(operator.and_, -1)


def array(values: Iterable[Any], kind: Any = None) -> ndarray:
    listed = [*values]
    if listed and isinstance(listed[0], tuple | list | ndarray):
        return ndarray([[*row] for row in listed], len(listed[0]))
    return ndarray(listed if kind is None else [kind(v) for v in listed])


fromiter = array


def full(shape: int | tuple[int, ...], value: Any, kind: Any = None) -> ndarray:
    one = value if kind is None else kind(value)
    rows, *width = shape if isinstance(shape, tuple) else (shape,)
    if width:
        return ndarray([[one] * width[0] for _ in range(rows)], width[0])
    return ndarray([one] * rows)


def zeros(shape: Any, kind: Any = int) -> ndarray:
    return full(shape, 0, kind)


def ones(shape: Any, kind: Any = int) -> ndarray:
    return full(shape, 1, kind)


def zeros_like(like: ndarray) -> ndarray:
    return ndarray([type(v)(0) for v in like])


def eye(size: int, dtype: Any) -> ndarray:
    return ndarray([[dtype(a == b) for b in range(size)] for a in range(size)], size)


def arange(*bounds: int, dtype: Any = None) -> ndarray:
    return ndarray([*range(*bounds)])


def flatnonzero(values: ndarray) -> ndarray:
    return ndarray([place for place, value in enumerate(values) if value])


def cumsum(values: Iterable[int]) -> ndarray:
    return ndarray([*accumulate(values)])


def diff(values: ndarray) -> ndarray:
    return ndarray([b - a for a, b in pairwise(values.data)])


def repeat(values: ndarray, counts: ndarray) -> ndarray:
    pairs = zip(values, counts, strict=True)
    return ndarray([*chain.from_iterable([value] * count for value, count in pairs)])


def bincount(values: ndarray, minlength: int = 0) -> ndarray:
    found = [0] * max(minlength, max(values, default=-1) + 1)
    for value in values:
        found[value] += 1
    return ndarray(found)


def concatenate(parts: Sequence[Any]) -> ndarray:
    return ndarray([*chain.from_iterable(parts)], getattr(parts[0], "width", None))


def split(values: ndarray, ends: Iterable[int]) -> list[ndarray]:
    bounds = [0, *ends, len(values)]
    return [values[a:b] for a, b in pairwise(bounds)]


def argsort(values: ndarray, kind: str = "") -> ndarray:
    return ndarray(sorted(range(len(values)), key=values.data.__getitem__))


def argmin(values: ndarray) -> int:
    return min(range(len(values)), key=values.data.__getitem__)


def searchsorted(values: ndarray, wanted: Any, side: str = "left") -> Any:
    find = bisect_right if side == "right" else bisect_left
    if isinstance(wanted, ndarray):
        return ndarray([find(values.data, one) for one in wanted])
    return find(values.data, wanted)


def unique(values: ndarray, return_index: bool = False, return_inverse: bool = False) -> Any:
    first: dict[Any, int] = {}
    for place, value in enumerate(values):
        first.setdefault(value, place)
    kinds = sorted(first)
    found = [ndarray(kinds)]
    if return_index:
        found.append(ndarray([first[value] for value in kinds]))
    if return_inverse:
        number = {value: at for at, value in enumerate(kinds)}
        found.append(ndarray([number[value] for value in values]))
    return found[0] if len(found) == 1 else tuple(found)


def isin(values: ndarray, among: Iterable[Any]) -> ndarray:
    known = set(among)
    return ndarray([value in known for value in values])


def packbits(values: Sequence[Any], bitorder: str = "big") -> ndarray:
    found = [0] * (-(-len(values) // 8))
    for at, value in enumerate(values):
        if value:
            found[at >> 3] |= 1 << (at & 7 if bitorder == "little" else 7 - (at & 7))
    return ndarray(found)


def unpackbits(values: ndarray, count: int, bitorder: str = "big") -> ndarray:
    places = ((at >> 3, at & 7 if bitorder == "little" else 7 - (at & 7)) for at in range(count))
    return ndarray([values.data[byte] >> bit & 1 for byte, bit in places])


def result_type(*parts: ndarray) -> Any:
    return int64
