"""The kernels that follow tries: expand states, check states, check steps.

Shapes are those of `checker.native.kernels.arrays`; each kernel names its slow twin.
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

from numba import int64, uint64

from statewalk.checker.machine.compiling import inlined, kernel
from statewalk.checker.native.kernels.arrays import (
    ASSERTION,
    CANDIDATES_FULL,
    DONE,
    EVENT,
    FIRST_ASSERTION,
    FIRST_ERROR,
    FIRST_RESULT,
    MISSES_FULL,
    N_CANDIDATES,
    N_MISSES,
    OPERATION,
    POSITION_SHIFT,
    QUIET,
    SCRATCH_FULL,
)
from statewalk.checker.native.kernels.walking import (
    S63,
    U0,
    U1,
    U6,
    follow,
    next_root,
    note_miss,
    old_value,
    successor_fp,
    walk,
    walk_on,
    written,
)


@inlined
def _emit(batch, new, low, link, outcome, shift):
    """Note a candidate; there is room."""
    partition = new >> uint64(shift)
    at = uint64(batch.used[partition])
    batch.fp[partition, at] = new
    if batch.low.shape[1] > 0:
        batch.low[partition, at] = low
    batch.link[partition, at] = link
    batch.outcome[partition, at] = outcome
    batch.used[partition] = at + U1
    batch.counters[N_CANDIDATES] += 1


@inlined
def _fire_one(
    rows, outcomes, batch, scratch, position, first, root, first_action, ordinal_bits, shift,
    keep_loops, outcome,
):  # fmt: skip
    """Emit the one successor that an action has, as most have; what `_fire` does, without scratch.

    A candidate that is not wanted is written too, and overwritten by the next: no branch depends on
    it, which nobody could predict.
    """
    if batch.counters[N_CANDIDATES] == batch.fp.shape[1]:
        return CANDIDATES_FULL
    batch.walks[uint64(root)] += 1
    row = rows.values[uint64(position)]
    fp = rows.fp[uint64(position)]
    new = fp + outcomes.delta[outcome]
    write = uint64(outcomes.start[outcome])
    end = write + uint64(outcomes.blind[outcome])
    while write < end:
        slot = uint64(outcomes.slot[write])
        old = old_value(row, slot)
        value = written(outcomes, write, old)
        if value < 0:
            scratch.miss[0] = OPERATION
            scratch.miss[1] = -1 - int64(outcomes.value[write])
            scratch.miss[2] = old
            note_miss(batch, scratch, position, root)
            return DONE
        base = outcomes.contribution_base[slot]
        new += outcomes.contribution[uint64(base + value)]
        new -= outcomes.contribution[uint64(base + old)]
        write += U1
    wanted = uint64(new != fp) | uint64(keep_loops)
    partition = new >> uint64(shift)
    at = uint64(batch.used[partition])
    batch.fp[partition, at] = new
    batch.link[partition, at] = (int64(position) << POSITION_SHIFT) | (
        (root - first_action) << ordinal_bits
    )
    batch.outcome[partition, at] = outcome
    batch.used[partition] = at + wanted
    batch.counters[N_CANDIDATES] += int64(wanted)
    batch.fired[uint64(root)] += 1
    batch.moves[uint64(position - first)] |= batch.moving[uint64(root)]
    return DONE


@inlined
def _fire(
    rows, tries, outcomes, batch, scratch, position, first, root, first_action, ordinal_bits,
    shift, keep_loops,
):  # fmt: skip
    """Walk one action in one state and emit its successors; DONE, or what has to grow first."""
    if batch.counters[N_MISSES] == batch.misses.shape[0]:
        return MISSES_FULL
    row = rows.values[uint64(position)]
    node = follow(row, int64(tries.roots[uint64(root)]), tries)
    if node == QUIET:
        batch.walks[uint64(root)] += 1
        rows.quiet[uint64(position), uint64(root) >> U6] &= ~(U1 << (uint64(root) & S63))
        return DONE
    if node <= FIRST_RESULT and outcomes.delta_low.shape[0] == 0:
        return _fire_one(
            rows, outcomes, batch, scratch, position, first, root, first_action, ordinal_bits,
            shift, keep_loops, uint64(FIRST_RESULT - node),
        )  # fmt: skip
    n_leaves = walk(row, root, node, tries, scratch)
    batch.walks[uint64(root)] += 1
    if n_leaves == 0:
        rows.quiet[uint64(position), uint64(root) >> U6] &= ~(U1 << (uint64(root) & S63))
        return DONE
    if n_leaves == -1:
        note_miss(batch, scratch, position, root)
        return DONE
    if n_leaves == -2:
        return SCRATCH_FULL
    if batch.counters[N_CANDIDATES] + n_leaves > batch.fp.shape[1]:
        return CANDIDATES_FULL
    wide = outcomes.delta_low.shape[0] > 0
    fp = rows.fp[uint64(position)]
    low = rows.low[position] if wide else U0
    for leaf in range(n_leaves):
        code = int64(scratch.leaves[uint64(leaf)])
        if code <= FIRST_RESULT and not successor_fp(
            row, fp, low, FIRST_RESULT - code, outcomes, scratch, leaf
        ):
            note_miss(batch, scratch, position, root)
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
            new_low = scratch.low[leaf] if wide else U0
            _emit(batch, new, new_low, link + fired, FIRST_RESULT - code, shift)
        fired += 1
    if fired >> ordinal_bits:
        batch.counters[FIRST_ERROR] = -1
    if fired:
        batch.fired[uint64(root)] += fired
        batch.moves[uint64(position - first)] |= batch.moving[uint64(root)]
    return DONE


@kernel
def expand(
    rows,
    tries,
    outcomes,
    batch,
    scratch,
    first,
    end,
    at,
    pairs,
    n_pairs,
    first_action,
    end_action,
    ordinal_bits,
    shift,
    keep_loops,
):
    """Successors of the states ``first`` to ``end``, or of the listed (position, root) pairs.

    ``at`` (2,) int64 is where to go on: (position or pair, root); it is moved along. Returns DONE
    or which array has to grow before the call is repeated. Self-loops are counted but not emitted,
    unless ``keep_loops``. What is not learned yet goes to ``batch.misses``.

    Shapes:     pairs (n, 2) int64, used if n_pairs >= 0; others: `checker.native.kernels.arrays`
    Slow twin:  statewalk.checker.engines.reference.Search.expand
    """
    current = at[0]
    root = at[1]
    stop = n_pairs if n_pairs >= 0 else end
    while current < stop:
        if n_pairs >= 0:
            status = _fire(
                rows, tries, outcomes, batch, scratch, pairs[current, 0], first, pairs[current, 1],
                first_action, ordinal_bits, shift, keep_loops,
            )  # fmt: skip
            if status != DONE:
                at[0] = current
                return status
        else:
            quiet = rows.quiet[current]
            while True:
                root = next_root(quiet, root, end_action)
                if root >= end_action:
                    break
                status = _fire(
                    rows, tries, outcomes, batch, scratch, current, first, root, first_action,
                    ordinal_bits, shift, keep_loops,
                )  # fmt: skip
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


@kernel
def check(
    rows,
    tries,
    batch,
    scratch,
    end,
    at,
    pairs,
    n_pairs,
    groups,
    first_root,
    end_root,
    first_event,
    cut_by,
    n_watched,
):
    """Predicates of the states up to ``end``, or of the listed (position, root) pairs.

    A group is a property: its roots are looked at in order until one is not quiet. ``groups``
    (4, R) int64 holds per root the group, its end, whether it is wanted, and whether its quiet
    verdict may be remembered. ``first_event`` (groups,) takes the least position with an event;
    for the groups from ``n_watched`` on (constraints) ``cut_by`` (N,) takes the least such group.

    Slow twin:  statewalk.checker.engines.reference.Search.check_state
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
        scratch.looks[0] += 1
        while True:
            root = next_root(quiet, root, last)
            if root >= last:
                break
            if not groups[2, uint64(root)]:
                root = groups[1, root]
                continue
            if batch.counters[N_MISSES] == batch.misses.shape[0]:
                at[0] = current
                at[1] = root
                return MISSES_FULL
            node = follow(row, int64(tries.roots[uint64(root)]), tries)
            n_leaves = 0
            if node != QUIET:
                n_leaves = walk_on(row, root, node, tries, scratch)
            batch.walks[uint64(root)] += 1
            if n_leaves == 0:
                if groups[3, uint64(root)]:
                    quiet[uint64(root) >> U6] &= ~(U1 << (uint64(root) & S63))
                root += 1
                continue
            if n_leaves == -2:
                at[0] = current
                at[1] = root
                return SCRATCH_FULL
            if n_leaves == -1:
                note_miss(batch, scratch, position, root)
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


@kernel
def check_steps(
    rows,
    tries,
    outcomes,
    batch,
    scratch,
    partition,
    pick,
    at,
    pair,
    answers,
    first_root,
    n_properties,
    first_event,
    refused,
    verdict,
):
    """Predicates of the picked candidates of a partition, each with the state it comes from.

    ``pair`` (2 W,) is room for both rows, interleaved: after, before. The roots from
    ``first_root`` on are ``n_properties`` step properties, then step constraints; ``first_event``
    takes the least link that violates one, ``refused`` counts what the constraints refuse, and
    ``verdict`` becomes 1 (kept) or 2 (refused); it stays 0 where something is not learned.

    Shapes:     pick (n,) int64; at (1,) int64; answers, first_event, refused (step roots,) int64
    Slow twin:  statewalk.checker.engines.reference.Search.check_step
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
            pair[2 * slot] = pair[2 * slot + 1] = old_value(row, slot)
        start = outcomes.start[outcome]
        for write in range(start, start + outcomes.total[outcome]):
            slot = outcomes.slot[write]
            pair[2 * slot] = written(outcomes, write, old_value(row, slot))
        known = True
        for number in range(answers.shape[0]):
            root = first_root + number
            n_leaves = walk(pair, root, int64(tries.roots[root]), tries, scratch)
            batch.walks[root] += 1
            if n_leaves == -2:
                return SCRATCH_FULL
            if n_leaves == -1:
                note_miss(batch, scratch, candidate, root)
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


@kernel
def call_result(row, call, tries, scratch):
    """Return the result number of a memoised call in a state; -1 where it is not learned.

    Shapes:     row (W,) int64
    Slow twin:  statewalk.checker.native.learn.tracing.TracingView.call
    """
    node = int64(tries.call_roots[call])
    if walk(row, 0, node, tries, scratch) != 1:
        return -1
    return FIRST_RESULT - int64(scratch.leaves[0])
