"""Tables of what is known, in the arrays that compiled code reads; and the room of its runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from statewalk.checker.native.kernels.arrays import Array
from statewalk.checker.native.programs.runtime import (
    BASE,
    CONTEXT,
    MISSING,
    MOST_KEPT,
    NOTHING,
    RUN,
    SMALL,
)  # fmt: skip

MOST_SLOTS = 1 << 15  # room for what a run writes
_ARENA = 1 << 17
_CHOICES = 1 << 10


class Table:
    """Numbers in an array that grows; ``data`` is replaced, never moved under a reader's feet."""

    def __init__(self, size: int, fill: int = 0) -> None:
        self.fill = fill
        self.data: Array = np.full(size, fill, np.int32)
        self.used = 0

    def room(self, count: int) -> int:
        """Make room for some more numbers; where it begins."""
        first, self.used = self.used, self.used + count
        if self.used > len(self.data):
            data = np.full(max(self.used, 2 * len(self.data)), self.fill, np.int32)
            data[: len(self.data)] = self.data
            self.data = data
        return first


class Tables:
    """The learned tables, as compiled code sees them."""

    def __init__(self) -> None:
        self.context: Array = np.zeros(len(CONTEXT), np.int64)
        self.memo_index: Array = np.zeros(1 << 12, np.int32)
        self.memo_pool = Table(1 << 14)
        self.memo_pool.room(1)  # entry 0 is none
        self.n_memo = 0
        self.pairs: Array = np.full((1 << 10, 4), MISSING, np.int32)
        self.n_pairs = 0
        self.unary: list[Array] = []
        self.unary_address: Array = np.zeros(64, np.int64)
        self.unary_size: Array = np.zeros(64, np.int32)
        self.sequences = Table(1 << 10)
        self.number_base: Array = np.zeros(256, np.int32)
        self.number_pool = Table(1 << 12, NOTHING)
        self._room: list[int] = []  # of each slot in the pool
        self._held: dict[str, Array] = {}  # alive while compiled code may look
        self.orders: list[Array] = []
        self.order_address: Array = np.zeros(16, np.int64)
        self.order_size: Array = np.zeros(16, np.int32)
        self.publish()

    def publish(self) -> None:
        """Let compiled code see where everything is now. Nothing may run meanwhile."""
        held = {
            "number_base": self.number_base, "number_pool": self.number_pool.data,
            "memo_index": self.memo_index, "memo_pool": self.memo_pool.data,
            "pairs": self.pairs,
            "unary": self.unary_address, "unary_size": self.unary_size,
            "sequences": self.sequences.data, "orders": self.order_address,
            "order_sizes": self.order_size,
        }  # fmt: skip
        for name, array in held.items():
            if self._held.get(name) is not array:  # asking for an address takes long
                self.context[CONTEXT.index(name)] = array.ctypes.data
        self.context[CONTEXT.index("memo_mask")] = len(self.memo_index) - 1
        self.context[CONTEXT.index("pair_mask")] = len(self.pairs) - 1
        self._held = held

    def operation(self, number: int) -> None:
        """Make a table for an operation of one argument."""
        while len(self.unary) <= number:
            self.unary.append(np.zeros(0, np.int32))
        while number >= len(self.unary_address):
            self.unary_address = np.concatenate(
                [self.unary_address, np.zeros_like(self.unary_address)]
            )
            self.unary_size = np.concatenate([self.unary_size, np.zeros_like(self.unary_size)])

    def learn(self, key: Sequence[int], result: int, one: bool) -> None:
        """Take down a result: in the table of an operation of ``one`` argument, or the memo."""
        if one and (at := _place(key[1])) >= 0:
            self.operation(key[0])
            table = self.unary[key[0]]
            if at >= len(table):
                grown = np.full(max(at + 1, 2 * len(table), 4 * SMALL), MISSING, np.int32)
                grown[: len(table)] = table
                table = self.unary[key[0]] = grown
                self.unary_address[key[0]] = grown.ctypes.data
                self.unary_size[key[0]] = len(grown)
            table[at] = result
            return
        if len(key) == 3:
            self.n_pairs += 1
            if 2 * self.n_pairs > len(self.pairs):
                known = self.pairs[self.pairs[:, 3] != MISSING].tolist()
                self.pairs = np.full((2 * len(self.pairs), 4), MISSING, np.int32)
                for entry in known:
                    self._pair(entry)
            self._pair([*key, result])
            return
        if 2 * (self.n_memo + 1) > len(self.memo_index):
            self._rehash()
        at = self.memo_pool.room(len(key) + 2)
        self.memo_pool.data[at : at + len(key) + 2] = [len(key), *key, result]
        self.n_memo += 1
        self._index(key, at)

    def _pair(self, entry: list[int]) -> None:
        mask = len(self.pairs) - 1
        at = _hash(entry[:3]) & mask
        while self.pairs[at, 3] != MISSING:
            at = (at + 1) & mask
        self.pairs[at] = entry

    def _index(self, key: Sequence[int], entry: int) -> None:
        mask = len(self.memo_index) - 1
        at = _hash(key) & mask
        while self.memo_index[at]:
            at = (at + 1) & mask
        self.memo_index[at] = entry

    def _rehash(self) -> None:
        self.memo_index = np.zeros(2 * len(self.memo_index), np.int32)
        pool, at = self.memo_pool.data.tolist(), 1
        while at < self.memo_pool.used:
            n = pool[at]
            self._index(pool[at + 1 : at + 1 + n], at)
            at += n + 2

    def sequence(self, numbers: Sequence[int]) -> int:
        """Take down elements; where they are."""
        at = self.sequences.room(len(numbers) + 1)
        self.sequences.data[at : at + len(numbers) + 1] = [len(numbers), *numbers]
        return at

    def value(self, slot: int, id: int, number: int) -> None:
        """Take down the number of a value id in a slot."""
        while slot >= len(self._room):
            self._room.append(0)
            if len(self._room) > len(self.number_base):
                self.number_base = np.concatenate(
                    [self.number_base, np.zeros_like(self.number_base)]
                )
            self._widen(len(self._room) - 1, 4)
        if id >= self._room[slot]:
            self._widen(slot, max(id + 1, 2 * self._room[slot]))
        self.number_pool.data[self.number_base[slot] + id] = number

    def _widen(self, slot: int, room: int) -> None:
        old, had = int(self.number_base[slot]), self._room[slot]
        at = self.number_pool.room(room)
        self.number_pool.data[at : at + had] = self.number_pool.data[old : old + had]
        self.number_base[slot], self._room[slot] = at, room

    def order(self, number: int, pairs: list[tuple[int, int]]) -> None:
        """Take down the elements of a set by their order: (slot, number)."""
        while number >= len(self.orders):
            self.orders.append(np.zeros(0, np.int32))
        while number >= len(self.order_address):
            self.order_address = np.concatenate(
                [self.order_address, np.zeros_like(self.order_address)]
            )
            self.order_size = np.concatenate([self.order_size, np.zeros_like(self.order_size)])
        self.orders[number] = np.array(pairs, np.int32).reshape(-1)
        self.order_address[number] = self.orders[number].ctypes.data
        self.order_size[number] = len(pairs)


def _hash(key: Sequence[int]) -> int:
    """Return the hash of a key, as `checker.native.programs.runtime` has it."""
    hashed = len(key)
    for part in key:
        hashed = ((hashed ^ (part & 0xFFFFFFFF)) * 0x85EBCA6B) & 0xFFFFFFFF
        hashed ^= hashed >> 13
    return hashed


def _place(number: int) -> int:
    """Return where a number is in a table of one argument; negative where it has no place."""
    if number >= BASE:
        return number - BASE + 2 * SMALL
    return number + SMALL if -SMALL <= number < SMALL else -1


class Room:
    """The memory of one thread's runs: stamps, trail, script, arena.

    ``words`` is what code gets.
    """

    def __init__(self, tables: Tables) -> None:
        self.words: Array = np.zeros(len(RUN), np.int64)
        self._arrays = {
            "stamps": np.zeros(MOST_SLOTS, np.int32), "numbers": np.zeros(MOST_SLOTS, np.int32),
            "ids": np.zeros(MOST_SLOTS, np.int32), "trail": np.zeros(MOST_SLOTS, np.int32),
            "script": np.zeros(_CHOICES, np.int32), "options": np.zeros(_CHOICES, np.int32),
            "arena": np.zeros(_ARENA + 2 * MOST_SLOTS + 2, np.int32),  # the rest for an outcome
            "miss": np.zeros(_ARENA, np.int32), "kept": np.zeros(3 * MOST_KEPT, np.int32),
        }  # fmt: skip
        for name, array in self._arrays.items():
            self.words[RUN.index(name)] = array.ctypes.data
        self.words[RUN.index("arena_size")] = _ARENA
        self.words[RUN.index("context")] = tables.context.ctypes.data
        self._tables = tables

    def missed(self) -> list[int]:
        """Return what the last run missed: an operation and its arguments."""
        miss = self._arrays["miss"]
        found: list[int] = miss[1 : 1 + int(miss[0])].tolist()
        return found
