"""The compiled loops: walk a trie, expand states, insert successors. Nothing else is in this file.

One file on purpose, although it is longer than others: numba's cache on disk notices changes of a
function's own file only, so a kernel must not inline what lives elsewhere.

No kernel allocates or counts references (``_nrt=False``, scratch passed in): an accidental count in
`walk` costs a factor of ten. All are ``nogil`` and may run in threads on disjoint data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import int64, njit, types, uint64
from numba.core import cgutils
from numba.extending import intrinsic

from checker.native.arrays import (
    ASSERTION,
    BASE,
    CALL,
    CANDIDATES_FULL,
    CAPACITY,
    DONE,
    EDGE,
    EVENT,
    FIRST_ASSERTION,
    FIRST_ERROR,
    FIRST_RESULT,
    FORK,
    KIND,
    MISSES_FULL,
    N_CANDIDATES,
    N_MISSES,
    OPERAND,
    OPERATION,
    POSITION_SHIFT,
    PROJECT,
    PROJECTION,
    QUIET,
    SCRATCH_FULL,
    SEGMENT_FULL,
    SLOT,
    TABLE_FULL,
)
from checker.native.loading import prepare_numba

prepare_numba()
_kernel = njit(nogil=True, cache=True, _nrt=False)
_inlined = njit(forceinline=True, _nrt=False)

_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S29, _S31, _S32 = np.uint64(29), np.uint64(31), np.uint64(32)
_U0, _U1, _U6 = np.uint64(0), np.uint64(1), np.uint64(6)
_AHEAD = 24  # candidates between the prefetch of a cell and its use


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
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


@intrinsic  # type: ignore[untyped-decorator]
def _trailing_zeros(typing_context: Any, word: Any) -> Any:
    """Index of the lowest set bit of a word that is not 0."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), emit


@_inlined
def scramble(key):
    """Spread the bits of a key.

    Source: finaliser of splitmix64, Steele et al., OOPSLA 2014
    """
    key = (key ^ (key >> _S31)) * _MIX_1
    key = (key ^ (key >> _S29)) * _MIX_2
    return key ^ (key >> _S32)


@_inlined
def _next_root(bits, at, end):
    """The first root from ``at`` on whose bit is set, or ``end``."""
    while at < end:
        word = bits[uint64(at) >> _U6] >> (uint64(at) & np.uint64(63))
        if word != _U0:
            at += int64(_trailing_zeros(word))
            return at if at < end else end
        at = ((at >> 6) + 1) << 6
    return end


@_inlined
def _child(tries, node, value, hashed):
    """What stands at a node under a value."""
    if not hashed:
        if value < tries.nodes[uint64(node), CAPACITY]:
            return int64(tries.edges[uint64(tries.nodes[uint64(node), BASE] + value)])
        return int64(0)
    key = (uint64(node) << _S32) | uint64(value)
    mask = uint64(tries.hash_keys.shape[0] - 1)
    at = scramble(key) & mask
    while tries.hash_keys[at] != _U0:
        if tries.hash_keys[at] == key:
            return int64(tries.hash_children[at])
        at = (at + _U1) & mask
    return int64(0)


@_inlined
def _walk(row, root, tries, scratch):
    """Follow a root's trie through a state: the number of leaves that are not quiet.

    The leaves are in ``scratch.leaves``, in the lexicographic order of the choices. -1: something
    has not been learned, ``scratch.miss`` tells what. -2: the scratch is too small.

    Shapes:     row (W,); see `checker.native.arrays`
    Slow twin:  dsl.model.Model.outcomes
    """
    width = row.shape[0]
    node = int64(tries.roots[uint64(root)])
    waiting = 0
    n_calls = 0
    n_leaves = 0
    value = int64(0)
    if node == 0:
        scratch.miss[0] = EDGE
        scratch.miss[1] = -1 - root
        scratch.miss[2] = 0
        return -1
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
                    scratch.miss[0] = EDGE
                    scratch.miss[1] = -1 - root
                    scratch.miss[2] = 0
                    return -1
                continue
            n_calls -= 1
            value = FIRST_RESULT - node
            node = int64(scratch.calls[n_calls])
            kind = tries.nodes[uint64(node), KIND]
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
                    scratch.miss[0] = EDGE
                    scratch.miss[1] = -1 - root
                    scratch.miss[2] = 0
                    return -1
                continue
            if kind >= CALL:
                if n_calls == scratch.calls.shape[0]:
                    return -2
                scratch.calls[n_calls] = node
                n_calls += 1
                call = tries.nodes[node, OPERAND]
                node = int64(tries.call_roots[call])
                if node == 0:
                    scratch.miss[0] = EDGE
                    scratch.miss[1] = -1 - (1 << 30) - call
                    scratch.miss[2] = 0
                    return -1
                continue
            slot = tries.nodes[uint64(node), SLOT]
            value = int64(row[uint64(slot)]) if slot < width else int64(0)
            if kind >= PROJECT:
                projection = uint64(tries.nodes[uint64(node), OPERAND])
                result = int64(0)
                if value < tries.project_capacity[projection]:
                    result = int64(tries.project_result[uint64(tries.project_base[projection] + value)])
                if result == 0:
                    scratch.miss[0] = PROJECTION
                    scratch.miss[1] = projection
                    scratch.miss[2] = value
                    return -1
                value = result - 1
        child = _child(tries, node, value, kind & 1)
        if child == 0:
            scratch.miss[0] = EDGE
            scratch.miss[1] = node
            scratch.miss[2] = value
            return -1
        node = child


@_inlined
def _note_miss(batch, scratch, position, root):
    at = batch.counters[N_MISSES]
    batch.misses[at, 0] = position
    batch.misses[at, 1] = root
    batch.misses[at, 2] = scratch.miss[0]
    batch.misses[at, 3] = scratch.miss[1]
    batch.misses[at, 4] = scratch.miss[2]
    batch.counters[N_MISSES] = at + 1


@_inlined
def _old_value(row, slot):
    return int64(row[uint64(slot)]) if slot < row.shape[0] else int64(0)


@_inlined
def _written(outcomes, at, old):
    """The id that write ``at`` stores where ``old`` was; -1 if the operation is not known there."""
    value = int64(outcomes.value[uint64(at)])
    if value >= 0:
        return value
    operation = -1 - value
    if old >= outcomes.operation_capacity[operation]:
        return int64(-1)
    return int64(outcomes.operation_result[outcomes.operation_base[operation] + old]) - 1


@_inlined
def _successor_fp(row, fp, low, outcome, outcomes, scratch, leaf):
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
        old = _old_value(row, slot)
        new = _written(outcomes, at, old)
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


@_inlined
def _fire(rows, tries, outcomes, batch, scratch, position, first, root, first_action, ordinal_bits,
          shift, keep_loops):
    """Walk one action in one state and emit its successors; DONE, or what has to grow first."""
    if batch.counters[N_MISSES] == batch.misses.shape[0]:
        return MISSES_FULL
    row = rows.values[uint64(position)]
    n_leaves = _walk(row, root, tries, scratch)
    batch.walks[uint64(root)] += 1
    if n_leaves == 0:
        rows.quiet[uint64(position), uint64(root) >> _U6] &= ~(_U1 << (uint64(root) & np.uint64(63)))
        return DONE
    if n_leaves == -1:
        _note_miss(batch, scratch, position, root)
        return DONE
    if n_leaves == -2:
        return SCRATCH_FULL
    if batch.counters[N_CANDIDATES] + n_leaves > batch.fp.shape[1]:
        return CANDIDATES_FULL
    wide = outcomes.delta_low.shape[0] > 0
    fp = rows.fp[uint64(position)]
    low = rows.low[position] if wide else _U0
    for leaf in range(n_leaves):
        code = int64(scratch.leaves[uint64(leaf)])
        if code <= FIRST_RESULT and not _successor_fp(
            row, fp, low, FIRST_RESULT - code, outcomes, scratch, leaf
        ):
            _note_miss(batch, scratch, position, root)
            return DONE
    link = (int64(position) << POSITION_SHIFT) | ((root - first_action) << ordinal_bits)
    fired = 0
    for leaf in range(n_leaves):
        code = int64(scratch.leaves[uint64(leaf)])
        if code > FIRST_RESULT:
            which = FIRST_ASSERTION if code == ASSERTION else FIRST_ERROR
            batch.counters[which] = min(batch.counters[which], link)
            continue
        new = scratch.fp[uint64(leaf)]
        same = new == fp and (not wide or scratch.low[leaf] == low)
        if not same or keep_loops:
            partition = new >> uint64(shift)
            at = uint64(batch.count[partition])
            batch.fp[partition, at] = new
            if wide:
                batch.low[partition, at] = scratch.low[leaf]
            batch.link[partition, at] = link + fired
            batch.outcome[partition, at] = FIRST_RESULT - code
            batch.count[partition] = at + _U1
            batch.counters[N_CANDIDATES] += 1
        fired += 1
    if fired >> ordinal_bits:
        batch.counters[FIRST_ERROR] = -1
    if fired:
        batch.fired[uint64(root)] += fired
        batch.moves[uint64(position - first)] = 1
    return DONE


@_kernel
def expand(rows, tries, outcomes, batch, scratch, first, end, at, pairs, n_pairs, first_action,
           end_action, ordinal_bits, shift, keep_loops):
    """Successors of the states ``first`` to ``end``, or of the listed (position, root) pairs.

    ``at`` (2,) int64 is where to go on: (position or pair, root); it is moved along. Returns DONE
    or which array has to grow before the call is repeated. Self-loops are counted but not emitted,
    unless ``keep_loops``. What is not learned yet goes to ``batch.misses``.

    Shapes:     pairs (n, 2) int64, used if n_pairs >= 0; others as in `checker.native.arrays`
    Slow twin:  checker.reference._Search.expand
    """
    current = at[0]
    root = at[1]
    stop = n_pairs if n_pairs >= 0 else end
    while current < stop:
        if n_pairs >= 0:
            status = _fire(rows, tries, outcomes, batch, scratch, pairs[current, 0], first,
                           pairs[current, 1], first_action, ordinal_bits, shift, keep_loops)
            if status != DONE:
                at[0] = current
                return status
        else:
            quiet = rows.quiet[current]
            while True:
                root = _next_root(quiet, root, end_action)
                if root >= end_action:
                    break
                status = _fire(rows, tries, outcomes, batch, scratch, current, first, root,
                               first_action, ordinal_bits, shift, keep_loops)
                if status != DONE:
                    at[0] = current
                    at[1] = root
                    return status
                root += 1
            root = first_action
        current += 1
    at[0] = current
    at[1] = root
    return DONE


@_kernel
def check(rows, tries, batch, scratch, end, at, pairs, n_pairs, groups, first_root, end_root,
          first_event, cut_by, n_watched):
    """Predicates of the states up to ``end``, or of the listed (position, root) pairs.

    A group is a property: its roots are looked at in order until one is not quiet. ``groups``
    (4, R) int64 holds per root the group, its end, whether it is wanted, and whether its quiet
    verdict may be remembered. ``first_event`` (groups,) takes the least position with an event;
    for the groups from ``n_watched`` on (constraints) ``cut_by`` (N,) takes the least such group.

    Slow twin:  checker.reference._Search.check_state
    """
    current = at[0]
    root = at[1]
    stop = n_pairs if n_pairs >= 0 else end
    while current < stop:
        position = current
        last = end_root
        if n_pairs >= 0:
            position = pairs[current, 0]
            root = max(root, pairs[current, 1])
            last = groups[1, pairs[current, 1]]
        row = rows.values[position]
        quiet = rows.quiet[position]
        while True:
            root = _next_root(quiet, root, last)
            if root >= last:
                break
            if not groups[2, root]:
                root = groups[1, root]
                continue
            if batch.counters[N_MISSES] == batch.misses.shape[0]:
                at[0] = current
                at[1] = root
                return MISSES_FULL
            n_leaves = _walk(row, root, tries, scratch)
            batch.walks[root] += 1
            if n_leaves == 0:
                if groups[3, root]:
                    quiet[root >> 6] &= ~(_U1 << (uint64(root) & np.uint64(63)))
                root += 1
                continue
            if n_leaves == -2:
                at[0] = current
                at[1] = root
                return SCRATCH_FULL
            if n_leaves == -1:
                _note_miss(batch, scratch, position, root)
            elif scratch.leaves[0] == EVENT:
                group = groups[0, root]
                first_event[group] = min(first_event[group], position)
                if group >= n_watched:
                    cut_by[position] = min(cut_by[position], group)
            else:
                batch.counters[FIRST_ERROR] = min(batch.counters[FIRST_ERROR], position)
            root = groups[1, root]
        root = first_root
        current += 1
    at[0] = current
    at[1] = root
    return DONE


@_inlined
def _cell(fp, mask):
    """Where a fingerprint's search in a table begins: its low bits, as the high ones chose it."""
    return fp & mask


@_kernel
def insert(rows, outcomes, batch, partition, table, table_low, limit, segment, progress, fresh,
           ordinal_bits):
    """Put the new ones of a partition's candidates into the seen table and the segment.

    ``progress`` (3,) int64 is (candidate, states in the segment, states in the table). Candidates
    come in canonical order, so the first to reach a state is its least predecessor. ``fresh``
    counts new states per action.

    Shapes:     table (power of two,) uint64, 0 empty
    Slow twin:  checker.reference._Search.reach
    """
    mask = uint64(table.shape[0] - 1)
    wide = table_low.shape[0] > 0
    fps = batch.fp[partition]
    n = batch.count[partition]
    current = progress[0]
    kept = progress[1]
    entries = progress[2]
    width = rows.values.shape[1]
    words = segment.quiet.shape[1]
    status = DONE
    for ahead in range(current, min(n, current + _AHEAD)):
        _prefetch(table, int64(_cell(fps[ahead], mask)))
    while current < n:
        if current + _AHEAD < n:
            _prefetch(table, int64(_cell(fps[current + _AHEAD], mask)))
        fp = fps[uint64(current)]
        key = fp if fp != _U0 else _U1
        low = batch.low[partition, current] if wide else _U0
        at = _cell(key, mask)
        while table[at] != _U0 and (table[at] != key or (wide and table_low[at] != low)):
            at = (at + _U1) & mask
        if table[at] == _U0:
            if entries >= limit:
                status = TABLE_FULL
                break
            if kept == segment.fp.shape[0]:
                status = SEGMENT_FULL
                break
            table[at] = key
            if wide:
                table_low[at] = low
                segment.low[kept] = low
            link = batch.link[partition, current]
            outcome = batch.outcome[partition, current]
            parent = link >> POSITION_SHIFT
            for slot in range(width):
                segment.values[kept, slot] = rows.values[parent, slot]
            for slot in range(width, segment.values.shape[1]):
                segment.values[kept, slot] = 0
            start = outcomes.start[outcome]
            for write in range(start, start + outcomes.count[outcome]):
                slot = outcomes.slot[write]
                old = _old_value(rows.values[parent], slot)
                segment.values[kept, slot] = _written(outcomes, write, old)
            for word in range(words):
                segment.quiet[kept, word] = (
                    rows.quiet[parent, word] | outcomes.dirty[outcome, word]
                )
            segment.fp[kept] = fp
            segment.link[kept] = link
            fresh[(link & ((1 << POSITION_SHIFT) - 1)) >> ordinal_bits] += 1
            kept += 1
            entries += 1
        current += 1
    progress[0] = current
    progress[1] = kept
    progress[2] = entries
    return status


@_kernel
def gather(segment, order, rows, link, first):
    """Copy the states of a segment, in the given order, to a level from row ``first`` on."""
    n = order.shape[0]
    width = segment.values.shape[1]
    for i in range(n):
        source = order[i]
        target = first + i
        for slot in range(width):
            rows.values[target, slot] = segment.values[source, slot]
        for slot in range(width, rows.values.shape[1]):
            rows.values[target, slot] = 0
        for word in range(rows.quiet.shape[1]):
            rows.quiet[target, word] = segment.quiet[source, word]
        rows.fp[target] = segment.fp[source]
        if rows.low.shape[0]:
            rows.low[target] = segment.low[source]
        link[target] = segment.link[source]


@_kernel
def enter(table, table_low, fps, lows):
    """Put fingerprints, all different and not in it, into a table that has room."""
    mask = uint64(table.shape[0] - 1)
    for i in range(fps.shape[0]):
        key = fps[i] if fps[i] != _U0 else _U1
        at = _cell(key, mask)
        while table[at] != _U0:
            at = (at + _U1) & mask
        table[at] = key
        if table_low.shape[0]:
            table_low[at] = lows[i]


@_kernel
def refill(table, table_low, old, old_low):
    """Copy the entries of a table to a larger one."""
    mask = uint64(table.shape[0] - 1)
    for i in range(old.shape[0]):
        if old[i] != _U0:
            at = _cell(old[i], mask)
            while table[at] != _U0:
                at = (at + _U1) & mask
            table[at] = old[i]
            if table_low.shape[0]:
                table_low[at] = old_low[i]


@_kernel
def find(table, table_low, fps, lows, found):
    """Set ``found`` where a fingerprint is in a table."""
    mask = uint64(table.shape[0] - 1)
    wide = table_low.shape[0] > 0
    for i in range(fps.shape[0]):
        key = fps[i] if fps[i] != _U0 else _U1
        at = _cell(key, mask)
        while table[at] != _U0 and (table[at] != key or (wide and table_low[at] != lows[i])):
            at = (at + _U1) & mask
        found[i] = table[at] != _U0


@_kernel
def forget(table, table_low, fps, lows):
    """Take fingerprints out of a table, closing the gaps.

    Source: Knuth, The Art of Computer Programming 3, 6.4, algorithm R
    """
    mask = uint64(table.shape[0] - 1)
    wide = table_low.shape[0] > 0
    for i in range(fps.shape[0]):
        key = fps[i] if fps[i] != _U0 else _U1
        hole = _cell(key, mask)
        while table[hole] != key or (wide and table_low[hole] != lows[i]):
            hole = (hole + _U1) & mask
        at = hole
        while True:
            at = (at + _U1) & mask
            if table[at] == _U0:
                break
            home = _cell(table[at], mask)
            if ((at - home) & mask) >= ((at - hole) & mask):
                table[hole] = table[at]
                if wide:
                    table_low[hole] = table_low[at]
                hole = at
        table[hole] = _U0


@_kernel
def hashed_child(keys, children, node, value):
    """The child of a hashed node; 0 for nothing."""
    key = (uint64(node) << _S32) | uint64(value)
    mask = uint64(keys.shape[0] - 1)
    at = scramble(key) & mask
    while keys[at] != _U0:
        if keys[at] == key:
            return int64(children[at])
        at = (at + _U1) & mask
    return int64(0)


@_kernel
def put_hashed(keys, children, new_keys, new_children):
    """Enter children of hashed nodes, replacing what is there."""
    mask = uint64(keys.shape[0] - 1)
    for i in range(new_keys.shape[0]):
        key = new_keys[i]
        at = scramble(key) & mask
        while keys[at] != _U0 and keys[at] != key:
            at = (at + _U1) & mask
        keys[at] = key
        children[at] = new_children[i]


@_kernel
def check_steps(rows, tries, outcomes, batch, scratch, partition, pick, at, pair, answers,
                first_root, n_properties, first_event, refused, verdict):
    """Predicates of the picked candidates of a partition, each with the state it comes from.

    ``pair`` (2 W,) is room for both rows, interleaved: after, before. The roots from
    ``first_root`` on are ``n_properties`` step properties, then step constraints; ``first_event``
    takes the least link that violates one, ``refused`` counts what the constraints refuse, and
    ``verdict`` becomes 1 (kept) or 2 (refused); it stays 0 where something is not learned.

    Shapes:     pick (n,) int64; at (1,) int64; answers, first_event, refused (step roots,) int64
    Slow twin:  checker.reference._Search.check_step
    """
    current = at[0]
    while current < pick.shape[0]:
        candidate = pick[current]
        at[0] = current
        if batch.counters[N_MISSES] == batch.misses.shape[0]:
            return MISSES_FULL
        link = batch.link[partition, candidate]
        outcome = batch.outcome[partition, candidate]
        row = rows.values[link >> POSITION_SHIFT]
        for slot in range(pair.shape[0] // 2):
            pair[2 * slot] = pair[2 * slot + 1] = _old_value(row, slot)
        start = outcomes.start[outcome]
        for write in range(start, start + outcomes.count[outcome]):
            slot = outcomes.slot[write]
            pair[2 * slot] = _written(outcomes, write, _old_value(row, slot))
        known = True
        for number in range(answers.shape[0]):
            n_leaves = _walk(pair, first_root + number, tries, scratch)
            batch.walks[first_root + number] += 1
            if n_leaves == -2:
                return SCRATCH_FULL
            if n_leaves == -1:
                _note_miss(batch, scratch, candidate, first_root + number)
                known = False
                break
            answers[number] = scratch.leaves[0] if n_leaves else QUIET
        if known:
            verdict[candidate] = 1
            for number in range(answers.shape[0]):
                if answers[number] == EVENT and number < n_properties:
                    first_event[number] = min(first_event[number], link)
                elif answers[number] == EVENT and verdict[candidate] == 1:
                    refused[number] += 1
                    verdict[candidate] = 2
                elif answers[number] != QUIET and answers[number] != EVENT:
                    batch.counters[FIRST_ERROR] = min(batch.counters[FIRST_ERROR], link)
        current += 1
    at[0] = current
    return DONE
