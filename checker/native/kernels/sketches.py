"""The kernel that counts the states there would be without a field, about.

A sketch has `CELLS` registers. The high bits of a hash say which of them; it keeps the most zeros
that the other bits of such hashes end with, and one.

Source: Flajolet et al., HyperLogLog, AofA 2007
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg,unreachable"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from statewalk.checker.machine.compiling import kernel
from statewalk.checker.native.kernels.walking import U0, U1, scramble, trailing_zeros

CELL_BITS = 14
CELLS = 1 << CELL_BITS
BLOCK = 64  # states that are looked at together, so that a slot is looked up once for all
_REST = np.uint64(64 - CELL_BITS)


@kernel
def note(
    values, fps, slots, bases, starts, places, n_apart, base, contribution, registers, room
):  # fmt: skip
    """Note states in the sketch of each group of slots, by what all other slots add up to.

    Group k has the slots ``starts[k]`` to ``starts[k + 1]``, and its sketch at ``places[k]``. The
    groups behind the first ``n_apart``, if any, make up the row with ``base``: the last one is not
    summed up.

    Shapes:     values (n, W) ids; fps (n,) uint64; slots, bases (some,) int64: slots by group, and
                where their contributions begin; starts (groups + 1,), places (groups,) int64;
                registers (sketches, CELLS) uint8; room (2, BLOCK) uint64
    Slow twin:  statewalk.checker.engines.fields.exactly
    """
    n = values.shape[0]
    groups = places.shape[0]
    first = 0
    while first < n:
        block = min(BLOCK, n - first)
        for i in range(block):
            room[1, uint64(i)] = base
        for group in range(groups):
            if group < groups - 1 or n_apart == groups:
                for i in range(block):
                    room[0, uint64(i)] = U0
                for at in range(starts[uint64(group)], starts[uint64(group + 1)]):
                    slot, start = uint64(slots[uint64(at)]), bases[uint64(at)]
                    for i in range(block):
                        id = int64(values[uint64(first + i), slot])
                        room[0, uint64(i)] += contribution[uint64(start + id)]
                for i in range(block):
                    own = room[0, uint64(i)]
                    room[0, uint64(i)] = fps[uint64(first + i)] - own
                    if group >= n_apart:
                        room[1, uint64(i)] += own
            else:
                for i in range(block):
                    room[0, uint64(i)] = room[1, uint64(i)]
            place = uint64(places[uint64(group)])
            for i in range(block):
                hashed = scramble(room[0, uint64(i)])
                cell = uint64(hashed >> _REST)
                rank = trailing_zeros(hashed | (U1 << _REST)) + U1
                if rank > registers[place, cell]:  # noqa: PLR1730 (max would always write)
                    registers[place, cell] = rank
        first += block
