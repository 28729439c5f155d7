"""The common code of kernels: following a trie, applying an outcome. Inlined into each kernel.

No kernel allocates or counts references (``_nrt=False``, scratch passed in): an accidental count in
`walk` costs a factor of ten. All are ``nogil`` and may run in threads on disjoint data.
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg,unreachable"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import int64, types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

from statewalk.checker.machine.compiling import inlined
from statewalk.checker.native.kernels.arrays import (
    BASE,
    CALL,
    CAPACITY,
    EDGE,
    FIRST_RESULT,
    FORK,
    KIND,
    N_MISSES,
    OPERAND,
    OPERATION,
    PROGRAM,
    PROGRAM_MISS,
    PROJECT,
    PROJECTION,
    QUIET,
    READ,
    SLOT,
)

_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
S29, S31, S32, S63 = np.uint64(29), np.uint64(31), np.uint64(32), np.uint64(63)
U0, U1, U6 = np.uint64(0), np.uint64(1), np.uint64(6)


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line of ``array[index]``, to be written."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0])
        cell = cgutils.get_item_pointer(
            context, builder, kind, data, [arguments[1]], wraparound=False
        )
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, word, word, word]),
            "llvm.prefetch.p0",
        )
        builder.call(function, [builder.bitcast(cell, byte), word(1), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), emit


@intrinsic
def matches(typing_context: Any, table: Any, first: Any, key: Any) -> Any:
    """Return a bit for each of the eight cells from ``first`` on that holds a key."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0])
        cell = cgutils.get_item_pointer(
            context, builder, kind, data, [arguments[1]], wraparound=False
        )
        eight, numbers = ir.VectorType(ir.IntType(64), 8), ir.VectorType(ir.IntType(32), 8)
        cells = builder.load(builder.bitcast(cell, eight.as_pointer()), align=8)
        one = builder.insert_element(
            ir.Constant(eight, ir.Undefined), arguments[2], ir.Constant(ir.IntType(32), 0)
        )
        keys = builder.shuffle_vector(
            one, ir.Constant(eight, ir.Undefined), ir.Constant(numbers, [0] * 8)
        )
        same = builder.icmp_unsigned("==", cells, keys)
        return builder.zext(builder.bitcast(same, ir.IntType(8)), ir.IntType(64))

    return types.uint64(table, types.int64, types.uint64), emit


@intrinsic
def copy_row(typing_context: Any, target: Any, to: Any, source: Any, at: Any) -> Any:
    """Copy row ``at`` of an array to row ``to`` of another one of the same type and width."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = []
        for number in (0, 2):
            kind = signature.args[number]
            data = context.make_array(kind)(context, builder, arguments[number])
            zero = context.get_constant(types.intp, 0)
            where = [arguments[number + 1], zero]
            places.append(
                cgutils.get_item_pointer(context, builder, kind, data, where, wraparound=False)
            )
        width = cgutils.unpack_tuple(builder, data.shape)[1]
        cgutils.raw_memcpy(builder, *places, width, context.get_constant(types.intp, data_size))
        return context.get_dummy_value()

    data_size = target.dtype.bitwidth // 8
    return types.void(target, types.int64, source, types.int64), emit


@intrinsic
def alike(typing_context: Any, one: Any, other: Any) -> Any:
    """Return whether two arrays have the same type, which is known when a kernel is compiled."""
    same = one.dtype == other.dtype

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.get_constant(types.boolean, same)

    return types.boolean(one, other), emit


@intrinsic
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Return index of the lowest set bit of a word that is not 0."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), emit


@intrinsic
def run_program(
    typing_context: Any, programs: Any, number: Any, row: Any, run: Any, leaves: Any
) -> Any:
    """Run a program on a row, or on the interleaved rows of a step: the number of leaves, or why
    there are none.
    """
    size = row.dtype.bitwidth // 8
    stride = 2 if size == 8 else 1

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        held = [
            context.make_array(signature.args[k])(context, builder, arguments[k])
            for k in (0, 2, 3, 4)
        ]
        table, rows, words, found = held
        word, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
        cells = builder.bitcast(words.data, word.as_pointer())
        width = builder.udiv(builder.extract_value(rows.shape, 0), word(stride))
        shift = (1, 2, 4, 8).index(size)
        address = builder.ptrtoint(rows.data, word)
        for at, value in enumerate((address, width, word(shift), word(stride))):
            builder.store(value, builder.gep(cells, [ir.IntType(32)(at)]))
        places = builder.bitcast(table.data, word.as_pointer())
        first = builder.mul(
            builder.zext(arguments[1], word) if arguments[1].type != word else arguments[1], word(2)
        )
        code = builder.load(builder.gep(places, [first]))
        given = builder.load(builder.gep(places, [builder.add(first, word(1))]))
        kind = ir.FunctionType(ir.IntType(32), [pointer, pointer, pointer, ir.IntType(32)])
        result = builder.call(
            builder.inttoptr(code, kind.as_pointer()),
            [
                builder.bitcast(words.data, pointer),
                builder.inttoptr(given, pointer),
                builder.bitcast(found.data, pointer),
                builder.trunc(builder.extract_value(found.shape, 0), ir.IntType(32)),
            ],
        )
        return builder.sext(result, word)

    return types.int64(programs, types.int64, row, run, leaves), emit


@inlined
def scramble(key):
    """Spread the bits of a key.

    Source: finaliser of splitmix64, Steele et al., OOPSLA 2014
    """
    key = (key ^ (key >> S31)) * _MIX_1
    key = (key ^ (key >> S29)) * _MIX_2
    return key ^ (key >> S32)


@inlined
def next_root(bits, at, end):
    """Return the first root from ``at`` on whose bit is set, or ``end``."""
    while at < end:
        word = bits[uint64(at) >> U6] >> (uint64(at) & S63)
        if word != U0:
            at += int64(trailing_zeros(word))
            return at if at < end else end
        at = ((at >> 6) + 1) << 6
    return end


@inlined
def _child(tries, node, value, hashed):
    """Return what stands at a node under a value."""
    if not hashed:
        if value < tries.nodes[uint64(node), CAPACITY]:
            return int64(tries.edges[uint64(tries.nodes[uint64(node), BASE] + value)])
        return int64(0)
    key = (uint64(node) << S32) | uint64(value)
    mask = uint64(tries.hash_keys.shape[0] - 1)
    at = scramble(key) & mask
    while tries.hash_keys[at] != U0:
        if tries.hash_keys[at] == key:
            return int64(tries.hash_children[at])
        at = (at + U1) & mask
    return int64(0)


@inlined
def follow(row, node, tries):
    """As far as a trie only reads slots: the leaf there, or the node from which `walk` goes on."""
    width = uint64(row.shape[0])
    while node > 0:
        at = uint64(node)
        if tries.nodes[at, KIND] != READ:
            return node
        slot = uint64(tries.nodes[at, SLOT])
        value = int64(row[slot]) if slot < width else int64(0)
        if value >= tries.nodes[at, CAPACITY]:
            return node
        child = int64(tries.edges[uint64(tries.nodes[at, BASE] + value)])
        if child == 0:
            return node
        node = child
    return node


@inlined
def walk(row, root, node, tries, scratch):
    """Return what `walk_on` gives in a state that nothing is known of."""
    scratch.looks[0] += 1
    return walk_on(row, root, node, tries, scratch)


@inlined
def _missed(scratch, kind, operand, value):
    """Note what has not been learned; what a walk gives then."""
    scratch.miss[0] = kind
    scratch.miss[1] = operand
    scratch.miss[2] = value
    return -1


@inlined
def walk_on(row, root, node, tries, scratch):
    """Follow a root's trie, from ``node``, through a state: the number of leaves not quiet.

    What calls gave is known since ``scratch.looks`` was counted up. The leaves are in
    ``scratch.leaves``, in the lexicographic order of the choices. -1: something has not been
    learned, ``scratch.miss`` tells what. -2: the scratch is too small.

    Shapes:     row (W,); see `checker.native.kernels.arrays`
    Slow twin:  statewalk.dsl.model.Model.outcomes
    """
    width = row.shape[0]
    waiting = 0
    n_calls = 0
    n_leaves = 0
    value = int64(0)
    if node == 0:
        return _missed(scratch, EDGE, -1 - root, 0)
    while True:
        if node < 0:
            if n_calls == 0:
                if node != QUIET:
                    if n_leaves == scratch.leaves.shape[0]:
                        return -2
                    scratch.leaves[uint64(n_leaves)] = node
                    n_leaves += 1
                if waiting == 0:
                    return n_leaves
                waiting -= 1
                node = int64(scratch.stack[waiting])
                if node == 0:
                    return _missed(scratch, EDGE, -1 - root, 0)
                continue
            n_calls -= 1
            value = FIRST_RESULT - node
            node = int64(scratch.calls[n_calls])
            kind = tries.nodes[uint64(node), KIND]
            call = int64(tries.nodes[uint64(node), OPERAND])
            if call < scratch.asked.shape[0]:
                scratch.asked[uint64(call)] = scratch.looks[0]
                scratch.results[uint64(call)] = value
        else:
            kind = tries.nodes[uint64(node), KIND]
            if kind == FORK:
                base = int64(tries.nodes[node, BASE])
                options = int64(tries.nodes[uint64(node), CAPACITY])
                if waiting + options > scratch.stack.shape[0]:
                    return -2
                for option in range(options - 1, 0, -1):
                    scratch.stack[waiting] = tries.edges[base + option]
                    waiting += 1
                node = int64(tries.edges[base])
                if node == 0:
                    return _missed(scratch, EDGE, -1 - root, 0)
                continue
            if kind == PROGRAM:
                answer: Any = run_program(
                    tries.programs, int64(tries.nodes[uint64(node), OPERAND]), row, scratch.run,
                    scratch.leaves,
                )  # fmt: skip
                if answer >= 0 or answer == -2:
                    return answer
                return _missed(scratch, PROGRAM_MISS, root, answer)
            if kind >= CALL:
                call = int64(tries.nodes[uint64(node), OPERAND])
                if (
                    call < scratch.asked.shape[0]
                    and scratch.asked[uint64(call)] == scratch.looks[0]
                ):
                    value = int64(scratch.results[uint64(call)])
                else:
                    if n_calls == scratch.calls.shape[0]:
                        return -2
                    scratch.calls[n_calls] = node
                    n_calls += 1
                    node = int64(tries.call_roots[call])
                    if node == 0:
                        return _missed(scratch, EDGE, -1 - (1 << 30) - call, 0)
                    continue
            else:
                slot = tries.nodes[uint64(node), SLOT]
                value = int64(row[uint64(slot)]) if slot < width else int64(0)
                if kind >= PROJECT:
                    projection = uint64(tries.nodes[uint64(node), OPERAND])
                    result = int64(0)
                    if value < tries.project_capacity[projection]:
                        result = int64(
                            tries.project_result[uint64(tries.project_base[projection] + value)]
                        )
                    if result == 0:
                        return _missed(scratch, PROJECTION, projection, value)
                    value = result - 1
        child = _child(tries, node, value, kind & 1)
        if child == 0:
            return _missed(scratch, EDGE, node, value)
        node = child


@inlined
def note_miss(batch, scratch, position, root):
    """Take down what `walk` missed; there is room."""
    at = batch.counters[N_MISSES]
    batch.misses[at, 0] = position
    batch.misses[at, 1] = root
    batch.misses[at, 2] = scratch.miss[0]
    batch.misses[at, 3] = scratch.miss[1]
    batch.misses[at, 4] = scratch.miss[2]
    batch.counters[N_MISSES] = at + 1


@inlined
def old_value(row, slot):
    """Return the value id of a slot, which the row may be too short for."""
    return int64(row[uint64(slot)]) if slot < row.shape[0] else int64(0)


@inlined
def written(outcomes, at, old):
    """Return the id that write ``at`` stores where ``old`` was; -1 if the operation is not
    known there.
    """
    value = int64(outcomes.value[uint64(at)])
    if value >= 0:
        return value
    operation = -1 - value
    if old >= outcomes.operation_capacity[operation]:
        return int64(-1)
    return int64(outcomes.operation_result[outcomes.operation_base[operation] + old]) - 1


@inlined
def successor_fp(row, fp, low, outcome, outcomes, scratch, leaf):
    """Put the fingerprint of a successor into the scratch; False if an operation is not known."""
    wide = outcomes.delta_low.shape[0] > 0
    outcome = uint64(outcome)
    result = fp + outcomes.delta[outcome]
    rest = low
    if wide:
        rest = low + outcomes.delta_low[outcome]
        result += uint64(rest < low)
    start = outcomes.start[outcome]
    for at in range(start, start + outcomes.blind[outcome]):
        slot = outcomes.slot[uint64(at)]
        old = old_value(row, slot)
        new = written(outcomes, at, old)
        if new < 0:
            scratch.miss[0] = OPERATION
            scratch.miss[1] = -1 - int64(outcomes.value[at])
            scratch.miss[2] = old
            return False
        base = outcomes.contribution_base[uint64(slot)]
        result += outcomes.contribution[uint64(base + new)]
        result -= outcomes.contribution[uint64(base + old)]
        if wide:
            added = rest + outcomes.contribution_low[base + new]
            result += uint64(added < rest)
            rest = added - outcomes.contribution_low[base + old]
            result -= uint64(rest > added)
    scratch.fp[uint64(leaf)] = result
    if wide:
        scratch.low[leaf] = rest
    return True
