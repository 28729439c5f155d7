"""The kernels of canonical fingerprints. Shapes are those of `checker.native.kernels.orbit_arrays`.

Slow twin of everything here:  statewalk.checker.symmetry.colours.Colouring
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

from numba import int64, uint64

from statewalk.checker.machine.compiling import inlined, kernel
from statewalk.checker.native.kernels.arrays import DONE, POSITION_SHIFT, SCRATCH_FULL
from statewalk.checker.native.kernels.orbit_arrays import APART, HIDDEN, LANE, SELF
from statewalk.checker.native.kernels.walking import U0, U1, old_value, scramble, written

UNKNOWN = 100  # answer of a kernel: a value that was not learned


@inlined
def _copy(source, target):
    """Copy words. (Numba's own copying of slices wants to allocate.)"""
    for lane in range(source.shape[0]):
        target[lane] = source[lane]


@inlined
def _clear(sums):
    """Set words to 0."""
    for member in range(sums.shape[0]):
        for lane in range(sums.shape[1]):
            sums[member, lane] = U0


@inlined
def _copy_colours(source, target):
    """Copy the colours of all members."""
    for member in range(source.shape[0]):
        for lane in range(source.shape[1]):
            target[member, lane] = source[member, lane]


@inlined
def _join(t, first, second, lane):
    """Return one word from two, in this order."""
    return scramble(scramble(first + t.constants[LANE, lane]) ^ second)


@inlined
def _run(t, s, fact, colours, me):
    """Return what a fact comes to under colours, as seen by a member or (-1) by nobody: its last
    node.

    Slow twin:  statewalk.checker.symmetry.facts.run
    """
    start = t.node_start[fact]
    count = int64(t.node_count[fact])
    for lane in range(s.values.shape[1]):
        for at in range(count):
            node = start + at
            total = t.digest[node, lane]
            unordered = U0
            first = t.argument_start[node]
            for place in range(first, first + t.argument_count[node]):
                argument = int64(t.argument[place])
                if argument < 0:
                    one = s.values[-1 - argument, lane]
                elif argument == me:
                    one = t.constants[SELF, lane]
                else:
                    one = colours[argument, lane]
                if t.ordered[node]:
                    total = _join(t, total, one, lane)
                else:
                    unordered += scramble(one)
            if not t.ordered[node]:
                total = _join(t, total, unordered, lane)
            s.values[at, lane] = total
    return count - 1


@inlined
def _distinct(colours):
    """Return how many colours there are."""
    found = 0
    for one in range(colours.shape[0]):
        new = 1
        for other in range(one):
            if colours[other, 0] == colours[one, 0]:
                new = 0
                break
        found += new
    return found


@inlined
def _refine(t, s, depth, n_facts):
    """Refine the colours of a depth until they tell no more members apart."""
    colours = s.colours[depth]
    members, lanes = colours.shape
    distinct = _distinct(colours)
    while n_facts > 0 and distinct < members:
        _clear(s.sums)
        for at in range(n_facts):
            fact = s.facts[at]
            first = t.member_start[fact]
            for place in range(first, first + t.member_count[fact]):
                member = int64(t.member[place])
                last = _run(t, s, fact, colours, member)
                for lane in range(lanes):
                    s.sums[member, lane] += scramble(s.values[last, lane])
        for member in range(members):
            for lane in range(lanes):
                colours[member, lane] = _join(t, colours[member, lane], s.sums[member, lane], lane)
        before = distinct
        distinct = _distinct(colours)
        if distinct == before:
            break


@inlined
def _entangled(t, s, depth, n_facts):
    """Return the group of equal members to set apart, in ``s.group``; their number, 0 where
    ties do not matter.
    """
    colours = s.colours[depth]
    members = colours.shape[0]
    if n_facts == 0:
        return 0
    for member in range(members):
        s.tied[member] = 0
        for other in range(members):
            if other != member and colours[other, 0] == colours[member, 0]:
                s.tied[member] = 1
                break
    found = False
    least = U0
    for at in range(n_facts):
        fact = s.facts[at]
        first = t.member_start[fact]
        end = first + t.member_count[fact]
        loose = 0
        for place in range(first, end):
            loose += s.tied[t.member[place]]
        if loose > 1:
            for place in range(first, end):
                member = int64(t.member[place])
                if s.tied[member] and (not found or colours[member, 0] < least):
                    found = True
                    least = colours[member, 0]
    n = 0
    if found:
        for member in range(members):
            if colours[member, 0] == least:
                s.group[depth, n] = member
                n += 1
    return n


@inlined
def _total(t, s, depth, n_facts):
    """Return the contribution of members and facts to the fingerprint; how many permutations
    leave it as it is.
    """
    colours = s.colours[depth]
    members, lanes = colours.shape
    for lane in range(s.result.shape[0]):
        s.result[lane] = U0
    for at in range(n_facts):
        last = _run(t, s, s.facts[at], colours, -1)
        for lane in range(lanes):
            s.result[lane] += scramble(s.values[last, lane])
    s.stabiliser[0] = 1.0
    for member in range(members):
        alike = 1
        for other in range(member):
            if colours[other, 0] == colours[member, 0]:
                alike += 1
        s.stabiliser[0] *= alike
        for lane in range(lanes):
            s.result[lane] += scramble(colours[member, lane])


@inlined
def _name(s, member, number):
    """Give a member the name that goes with a number."""
    for lane in range(s.names.shape[1]):
        s.names[member, lane] = scramble(uint64(number) + U1)


@inlined
def _twins(t, s, one, other, n_facts):
    """Return whether exchanging two members, and nobody else, leaves all facts as they are."""
    lanes = s.result.shape[0]
    for member in range(s.names.shape[0]):
        _name(s, member, member)
    for lane in range(lanes):
        s.result[lane] = U0
    for turn in range(2):
        for at in range(n_facts):
            fact = s.facts[at]
            first = t.member_start[fact]
            touched = False
            for place in range(first, first + t.member_count[fact]):
                touched |= t.member[place] == one or t.member[place] == other
            if touched:
                last = _run(t, s, fact, s.names, -1)
                for lane in range(lanes):
                    word = scramble(s.values[last, lane])
                    s.result[lane] += word if turn == 0 else U0 - word
        _name(s, one, other)
        _name(s, other, one)
    different = 0
    for lane in range(lanes):
        different += s.result[lane] != U0
    return different == 0


@inlined
def _note(s, depth):
    """Take down what came of setting a member apart, and turn to the next."""
    at = s.at[depth]
    _copy(s.result, s.tried[depth, at])
    s.fixes[depth, at] = s.stabiliser[0]
    s.at[depth] = at + 1


@inlined
def _choose(s, depth):
    """The least of what was tried at a depth becomes the result."""
    best = 0
    for at in range(1, s.size[depth]):
        for lane in range(s.result.shape[0]):
            if s.tried[depth, at, lane] != s.tried[depth, best, lane]:
                if s.tried[depth, at, lane] < s.tried[depth, best, lane]:
                    best = at
                break
    alike = 0
    for at in range(s.size[depth]):
        same = 1
        for lane in range(s.result.shape[0]):
            if s.tried[depth, at, lane] != s.tried[depth, best, lane]:
                same = 0
        alike += same
    _copy(s.tried[depth, best], s.result)
    s.stabiliser[0] = alike * s.fixes[depth, best]


@inlined
def _least(t, s, n_facts):
    """The least outcome for the colours of depth 0: ties that matter are broken in every way."""
    depth = 0
    new = True
    while True:
        if new:
            new = False
            _refine(t, s, depth, n_facts)
            s.size[depth] = _entangled(t, s, depth, n_facts)
            s.at[depth] = 0
            if s.size[depth] == 0:
                _total(t, s, depth, n_facts)
        elif s.at[depth] == s.size[depth]:
            _choose(s, depth)
        if s.at[depth] == s.size[depth]:
            if depth == 0:
                return
            depth -= 1
            _note(s, depth)
            continue
        at = s.at[depth]
        member = s.group[depth, at]
        twin = -1
        for before in range(at):
            if _twins(t, s, s.group[depth, before], member, n_facts):
                twin = before
                break
        if twin >= 0:
            _copy(s.tried[depth, twin], s.result)
            s.stabiliser[0] = s.fixes[depth, twin]
            _note(s, depth)
            continue
        _copy_colours(s.colours[depth], s.colours[depth + 1])
        depth += 1
        for lane in range(s.result.shape[0]):
            s.colours[depth, member, lane] = _join(
                t, s.colours[depth, member, lane], t.constants[APART, lane], lane
            )
        new = True


@inlined
def _orbit(t, s, rest):
    """Return the orbit of the state in ``s.row``: ``s.result`` and ``s.stabiliser``.

    Or what is amiss.
    """
    members, lanes = s.sums.shape
    n_facts = 0
    _clear(s.sums)
    _copy(t.always, rest)
    for slot in range(s.row.shape[0]):
        value = s.row[slot]
        if value == 0 or t.capacity[slot] == HIDDEN:
            continue
        if value >= t.capacity[slot]:
            return UNKNOWN
        entry = int64(t.entry[t.base[slot] + value]) - 1
        if entry < 0:
            return UNKNOWN
        for lane in range(lanes):
            rest[lane] += t.rest[entry, lane]
        first = t.single_start[entry]
        for at in range(first, first + t.single_count[entry]):
            for lane in range(lanes):
                s.sums[t.single_member[at], lane] += t.single_sum[at, lane]
        first = t.facts_start[entry]
        for at in range(first, first + t.facts_count[entry]):
            if n_facts == s.facts.shape[0]:
                return SCRATCH_FULL
            s.facts[n_facts] = t.fact[at]
            n_facts += 1
    for member in range(members):
        for lane in range(lanes):
            s.colours[0, member, lane] = _join(t, t.cell[member], s.sums[member, lane], lane)
    _least(t, s, n_facts)
    for lane in range(lanes):
        s.result[lane] += rest[lane]
    return DONE


@kernel
def orbits(values, links, outcome, outcomes, t, s, rest, fps, fixes, progress):
    """Return fingerprints of orbits, and how many permutations leave the state as it is.

    States are told by links: the position of a row, and after which outcome (-1: the row itself).
    Goes on from ``progress[0]``; returns DONE, or what is amiss.

    Shapes:     values (N, W); links, outcome (n,) int; rest (L,) uint64; fps (n, L) uint64;
                fixes (n,) float64
    Slow twin:  statewalk.checker.engines.layout.Layout.orbit
    """
    while progress[0] < links.shape[0]:
        at = progress[0]
        row = values[links[at] >> POSITION_SHIFT]
        for slot in range(s.row.shape[0]):
            s.row[slot] = old_value(row, slot)
        number = int64(outcome[at])
        if number >= 0:
            start = outcomes.start[number]
            for write in range(start, start + outcomes.total[number]):
                slot = outcomes.slot[write]
                s.row[slot] = written(outcomes, write, old_value(row, slot))
        status = _orbit(t, s, rest)
        if status != DONE:
            return status
        _copy(s.result, fps[at])
        fixes[at] = s.stabiliser[0]
        progress[0] = at + 1
    return DONE


@kernel
def spread(batch, fps, links, outcome, shift):
    """Fill a batch with candidates, each in the partition of its fingerprint, in this order.

    Shapes:     fps (n, L) uint64; links, outcome (n,)
    """
    for partition in range(batch.used.shape[0]):
        batch.used[partition] = 0
    for at in range(links.shape[0]):
        partition = fps[at, 0] >> uint64(shift)
        to = uint64(batch.used[partition])
        batch.fp[partition, to] = fps[at, 0]
        if fps.shape[1] == 2:
            batch.low[partition, to] = fps[at, 1]
        batch.link[partition, to] = links[at]
        batch.outcome[partition, to] = outcome[at]
        batch.used[partition] = to + U1
