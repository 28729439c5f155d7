"""The kernels of sorted runs of fingerprints.

A *run* is a stretch of fingerprints in ascending order, each once. The second words of fingerprints
of 128 bits are arrays of their own, ``lows``; they are empty where there are none.
"""

# mypy: disable-error-code="no-untyped-call,no-untyped-def,call-arg"
# (numba infers the types of compiled functions; annotations would not be looked at)

from __future__ import annotations

from statewalk.checker.machine.compiling import inlined, kernel
from statewalk.checker.native.kernels.walking import U0

_CROWDED = 256  # fingerprints in one place, from which on another way to sort is taken


@inlined
def _is_less(run, run_low, at, fp, low):
    """Return whether a fingerprint of a run is less than another."""
    here = run[at]
    return here < fp or (run_low.shape[0] > 0 and here == fp and run_low[at] < low)


@kernel
def order(fps, lows, lowest, shift, ends, sorted_fps, positions):
    """Return the positions of fingerprints in ascending order; whether they are as even as
    hashes are.

    They are dealt out to as many places as there are of them, by how far each is from the lowest,
    and then moved by a few places.

    Shapes:     fps, lows, sorted_fps, positions (n,), ends (m,): (fp - lowest) >> shift is below m
    Slow twin:  numpy.lexsort
    """
    ends[:] = 0
    for i in range(fps.shape[0]):
        ends[(fps[i] - lowest) >> shift] += 1
    at = 0
    for place in range(ends.shape[0]):
        here = ends[place]
        if here > _CROWDED:
            return False
        ends[place] = at
        at += here
    for i in range(fps.shape[0]):
        place = (fps[i] - lowest) >> shift
        to = ends[place]
        ends[place] = to + 1
        sorted_fps[to] = fps[i]
        positions[to] = i
    wide = lows.shape[0] > 0
    for i in range(1, fps.shape[0]):
        fp = sorted_fps[i]
        position = positions[i]
        to = i
        while to > 0 and (
            sorted_fps[to - 1] > fp
            or (wide and sorted_fps[to - 1] == fp and lows[positions[to - 1]] > lows[position])
        ):
            sorted_fps[to] = sorted_fps[to - 1]
            positions[to] = positions[to - 1]
            to -= 1
        sorted_fps[to] = fp
        positions[to] = position
    return True


@kernel
def mark(fps, lows, run, run_low, found):
    """Set ``found`` where a fingerprint of one run is in another.

    Steps that double are taken through the other run, so a short run costs little.

    Shapes:     fps, lows (n,), run, run_low (m,) uint64 ascending; found (n,) bool
    Slow twin:  numpy.isin
    """
    at = 0
    m = run.shape[0]
    for i in range(fps.shape[0]):
        fp = fps[i]
        low = lows[i] if run_low.shape[0] else U0
        if at >= m:
            return
        if _is_less(run, run_low, at, fp, low):
            step = 1
            first = at
            while first + step < m and _is_less(run, run_low, first + step, fp, low):
                first += step
                step *= 2
            high = min(first + step, m)
            while high - first > 1:
                middle = (first + high) // 2
                if _is_less(run, run_low, middle, fp, low):
                    first = middle
                else:
                    high = middle
            at = high
        if at < m and run[at] == fp and (run_low.shape[0] == 0 or run_low[at] == low):
            found[i] = True
