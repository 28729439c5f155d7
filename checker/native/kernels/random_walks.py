"""The kernel of random walks: many behaviors, each with random numbers of its own.

Shapes are those of `checker.native.kernels.arrays`.
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

import numpy as np
from numba import int64, uint64

from statewalk.checker.machine.compiling import inlined, kernel
from statewalk.checker.native.kernels.arrays import (
    DONE,
    ENDED,
    EVENT,
    FIRST_RESULT,
    GOING,
    MISSES_FULL,
    N_MISSES,
    NO_STEP,
    OPERATION,
    SCRATCH_FULL,
    SEGMENT_FULL,
    TOLD,
    WAITING,
)
from statewalk.checker.native.kernels.walking import (
    S32,
    S63,
    U1,
    U6,
    next_root,
    note_miss,
    old_value,
    scramble,
    walk,
    written,
)

GAP = np.uint64(0x9E3779B97F4A7C15)  # between a walk's random numbers, before they are scrambled

# What is known of a state, or of a step.
_KEPT, _REFUSED, _TOLD, _MISSED, _FULL = range(5)


@inlined
def _copy(target, source):
    for at in range(target.shape[0]):
        target[at] = source[at]


@inlined
def _judge(row, quiet, number, walks, tries, scratch, stride, groups, kinds, end):
    """Look at what is watched in a state, of walk ``number``; ``kinds`` of groups: 0 what has to
    hold, 1 a witness, 2 a constraint.
    """
    root = 0
    first = walks.met.shape[1]
    while True:
        root = next_root(quiet, root, end)
        if root >= end:
            return _KEPT
        n_leaves = walk(row, root, int64(tries.roots[uint64(root)]), tries, scratch)
        if n_leaves == 0:
            quiet[uint64(root) >> U6] &= ~(U1 << (uint64(root) & S63))
            root += 1
            continue
        if n_leaves == -2:
            return _FULL
        if n_leaves == -1:
            note_miss(walks, scratch, number, root)
            return _MISSED
        group = groups[0, root]
        if scratch.leaves[0] != EVENT or kinds[group] == 0:
            return _TOLD
        if kinds[group] == 2:
            stride.cut[group - first] += 1
            return _REFUSED
        stride.met[group] = 1
        root = groups[1, root]


@inlined
def _judge_step(before, number, walks, tries, scratch, stride, first_root, n_steps, n_properties):
    """Look at step properties, then step constraints, of the step to ``stride.row``."""
    if n_steps == 0:
        return _KEPT
    for slot in range(before.shape[0]):
        stride.pair[2 * slot] = stride.row[slot]
        stride.pair[2 * slot + 1] = before[slot]
    first = stride.cut.shape[0] - n_steps
    for own in range(n_steps):
        root = first_root + own
        n_leaves = walk(stride.pair, root, int64(tries.roots[root]), tries, scratch)
        if n_leaves == -2:
            return _FULL
        if n_leaves == -1:
            note_miss(walks, scratch, number, root)
            return _MISSED
        if n_leaves == 0:
            continue
        if own < n_properties or scratch.leaves[0] != EVENT:
            return _TOLD
        stride.cut[first + own] += 1
        return _REFUSED
    return _KEPT


@inlined
def _is_known(row, n_leaves, outcomes, scratch):
    """Return whether it is known what the updates of all leaves make of a state: one may raise."""
    for leaf in range(n_leaves):
        code = int64(scratch.leaves[leaf])
        if code > FIRST_RESULT:
            continue
        start = outcomes.start[FIRST_RESULT - code]
        for write in range(start, start + outcomes.blind[FIRST_RESULT - code]):
            old = old_value(row, outcomes.slot[write])
            if written(outcomes, write, old) < 0:
                scratch.miss[0] = OPERATION
                scratch.miss[1] = -1 - int64(outcomes.value[write])
                scratch.miss[2] = old
                return False
    return True


@inlined
def _take(number, outcome, walks, outcomes, stride):
    """Put the state after an outcome into ``stride``."""
    _copy(stride.row, walks.values[number])
    start = outcomes.start[outcome]
    for write in range(start, start + outcomes.total[outcome]):
        slot = outcomes.slot[write]
        stride.row[slot] = written(outcomes, write, old_value(walks.values[number], slot))
    for word in range(stride.quiet.shape[0]):
        stride.quiet[word] = walks.quiet[number, word] | outcomes.dirty[outcome, word]


@inlined
def _ways(number, walks, tries, outcomes, scratch, stride, first_action, end_action):
    """Find every way to go on, in the order of actions and choices: how many; -1 where something
    is not known, -2 where ``stride`` is too small for them, -3 where ``scratch`` is.
    """
    row, quiet = walks.values[number], walks.quiet[number]
    missed, n_ways = False, 0
    root = next_root(quiet, first_action, end_action)
    while root < end_action:
        n_leaves = walk(row, root, int64(tries.roots[uint64(root)]), tries, scratch)
        if n_leaves == -2:
            return -3
        if n_leaves == -1 or not _is_known(row, n_leaves, outcomes, scratch):
            note_miss(walks, scratch, number, root)
            missed = True
        elif n_leaves == 0:
            quiet[uint64(root) >> U6] &= ~(U1 << (uint64(root) & S63))
        elif n_ways + n_leaves > stride.root.shape[0]:
            return -2
        else:
            for leaf in range(n_leaves):
                stride.root[n_ways] = root
                stride.ordinal[n_ways] = leaf
                stride.leaf[n_ways] = scratch.leaves[leaf]
                n_ways += 1
        root = next_root(quiet, root + 1, end_action)
    return -1 if missed else n_ways


@inlined
def _is_terminal(number, walks, tries, scratch, first_root, end_root):
    """Return whether the spec calls a walk's state an end; told as `_judge` tells it, 0 that it
    does.
    """
    for root in range(first_root, end_root):
        n_leaves = walk(walks.values[number], root, int64(tries.roots[root]), tries, scratch)
        if n_leaves == -2:
            return _FULL
        if n_leaves == -1:
            note_miss(walks, scratch, number, root)
            return _MISSED
        if n_leaves > 0:
            return _KEPT if scratch.leaves[0] == EVENT else _TOLD
    return _TOLD


@inlined
def _take_out(stride, way, n_left):
    """Let a way be no longer among those that are left."""
    for later in range(way, n_left):
        stride.root[later] = stride.root[later + 1]
        stride.ordinal[later] = stride.ordinal[later + 1]
        stride.leaf[later] = stride.leaf[later + 1]


@inlined
def _complete(number, walks, stride, n_drawn, first_action):
    """Count a step that is complete, with those that were tried in its place."""
    walks.tried[number] += n_drawn
    for drawn in range(n_drawn):
        walks.fired[number, stride.drawn[drawn] - first_action] += 1
    for constraint in range(stride.cut.shape[0]):
        walks.cut[number, constraint] += stride.cut[constraint]
    for group in range(stride.met.shape[0]):
        walks.met[number, group] |= stride.met[group]


@inlined
def _enter(number, walks, stride):
    """Let a walk be in the state of ``stride``."""
    _copy(walks.values[number], stride.row)
    _copy(walks.quiet[number], stride.quiet)
    walks.length[number] += 1


@kernel
def go_on(walks, tries, outcomes, scratch, stride, groups, kinds, ends, at, depth, budget):
    """Let each walk go on until it ends, or as far as it is known what the spec does.

    ``ends`` (6 + R,) int64 are: the first root of actions, their end, the end of terminal
    predicates, the roots of steps and how many of them are properties, whether no step means a
    deadlock, which is then told, and for each root 0 if it is a fault, which ends no deadlock.
    ``at`` (1,) int64 is the walk to go on with; ``budget`` bounds the steps. Where
    a step cannot be completed nothing of it is kept: it is drawn again, the same numbers. Returns
    DONE, or what has to grow before the call is repeated (SEGMENT_FULL: ``stride``).

    Slow twin:  statewalk.checker.behaviours.random_walk.Walk
    """
    first_action, end_action, end_terminal = ends[0], ends[1], ends[2]
    while at[0] < walks.length.shape[0]:
        number = at[0]
        if walks.status[number] != GOING:
            at[0] += 1
            continue
        if budget <= 0:
            return DONE
        budget -= 1
        if walks.counters[N_MISSES] + end_action + 1 > walks.misses.shape[0]:
            return MISSES_FULL
        n_ways = 1
        if walks.length[number] == depth:
            walks.status[number] = ENDED
            continue
        if walks.length[number] >= 0:
            n_ways = _ways(
                number, walks, tries, outcomes, scratch, stride, first_action, end_action
            )
        if n_ways < 0:
            if n_ways < -1:
                return SEGMENT_FULL if n_ways == -2 else SCRATCH_FULL
            walks.status[number] = WAITING
            continue
        stuck = walks.length[number] >= 0
        for at_way in range(n_ways):
            stuck = stuck and not ends[6 + stride.root[at_way]]
        if stuck:
            end = _KEPT
            if ends[5]:
                end = _is_terminal(number, walks, tries, scratch, end_action, end_terminal)
            if end == _FULL:
                return SCRATCH_FULL
            if end != _KEPT:
                walks.status[number] = WAITING if end == _MISSED else TOLD
                continue
            if n_ways == 0:
                walks.status[number] = NO_STEP
                continue
        stride.cut[:] = 0
        stride.met[:] = 0
        chance = walks.chance[number]
        found, n_drawn, chosen, ordinal = _REFUSED, 0, int64(0), int64(0)
        while found == _REFUSED and n_ways > 0:
            if walks.length[number] < 0:
                _copy(stride.row, walks.values[number])
                _copy(stride.quiet, walks.quiet[number])
                n_ways = 0
                found = _KEPT
            else:
                chance += GAP
                way = int64(((scramble(chance) >> S32) * uint64(n_ways)) >> S32)
                chosen, ordinal = int64(stride.root[way]), int64(stride.ordinal[way])
                leaf = int64(stride.leaf[way])
                n_ways -= 1
                _take_out(stride, way, n_ways)
                stride.drawn[n_drawn] = chosen
                n_drawn += 1
                if leaf > FIRST_RESULT:
                    found = _TOLD
                else:
                    _take(number, FIRST_RESULT - leaf, walks, outcomes, stride)
                    found = _judge_step(
                        walks.values[number], number, walks, tries, scratch, stride, end_terminal,
                        ends[3], ends[4],
                    )  # fmt: skip
            if found <= _REFUSED:
                state = _judge(
                    stride.row, stride.quiet, number, walks, tries, scratch, stride, groups, kinds,
                    first_action,
                )  # fmt: skip
                found = max(found, state)
        if found == _FULL:
            return SCRATCH_FULL
        if found >= _TOLD:
            _copy(walks.coming[number], stride.row)
            walks.status[number] = TOLD if found == _TOLD else WAITING
            continue
        walks.chance[number] = chance
        _complete(number, walks, stride, n_drawn, first_action)
        if found == _REFUSED:
            walks.status[number] = NO_STEP if walks.length[number] >= 0 else ENDED
            walks.length[number] = max(walks.length[number], 0)
            continue
        if 0 <= walks.length[number] < walks.log.shape[1]:
            walks.log[number, walks.length[number]] = ((chosen - first_action) << 32) | ordinal
        _enter(number, walks, stride)
    return DONE
