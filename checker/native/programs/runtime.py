"""The functions that every program calls: slots, tables of operations, choices, outcomes.
Written once a module.

Two blocks of 64-bit words are passed along. ``run`` is a thread's own (see `RUN`), ``context`` what
has been learned (see `CONTEXT`); the run knows the context.
"""

from __future__ import annotations

from statewalk.checker.native.kernels.arrays import ASSERTION, ERROR, EVENT, FIRST_RESULT
from statewalk.checker.native.programs.assembler import Assembler

BASE = 1 << 24  # numbers from here on are values; those around 0 are the integers themselves
MISSING, RAISES, NOTHING = -(1 << 31), 1 - (1 << 31), 2 - (1 << 31)
SMALL = 64  # integers from -SMALL to below SMALL have a place in the tables of one argument
DONE, DISABLED, FAILED, ERRED, MISSED, FULL, GAVE_UP, FALSE_ANSWER = range(8)
OUTCOME, STORE, FIRST_OPERATION = 0, 1, 2

RUN = (
    "row", "width", "shift", "stride", "stamps", "numbers", "ids", "trail", "n_trail", "stamp",
    "script", "options", "script_length", "n_choices", "arena", "arena_size", "arena_top", "miss",
    "context", "kept", "n_kept",
)  # fmt: skip
CONTEXT = (
    "number_base", "number_pool", "n_slots", "memo_mask", "memo_index", "memo_pool", "pair_mask",
    "pairs", "unary", "unary_size", "sequences", "orders", "order_sizes",
)  # fmt: skip
MOST_CHOICES = 1000
MOST_KEPT = 64  # lists made before the first choice: (first or -1, length, lists made until then)


def _word(a: Assembler, block: str, names: tuple[str, ...], name: str, kind: str) -> str:
    return (
        a.load(block, str(names.index(name)), kind)
        if kind == "ptr"
        else a.value(f"trunc i64 {a.load(block, str(names.index(name)), 'i64')} to i32")
    )


def of_run(a: Assembler, name: str, kind: str = "ptr") -> str:
    """Return a word of the run, as an address or a number."""
    return _word(a, "%run", RUN, name, kind)


def set_run(a: Assembler, name: str, value: str) -> None:
    """Let a word of the run hold a number."""
    wide = a.value(f"sext i32 {value} to i64") if value[0] == "%" else value
    a.store("%run", str(RUN.index(name)), wide, "i64")


def of_context(a: Assembler, name: str, kind: str = "ptr") -> str:
    """Return a word of the context, as an address or a number."""
    return _word(a, of_run(a, "context"), CONTEXT, name, kind)


def runtime() -> str:
    """Return the text of all functions that programs call."""
    parts = (
        _row_id, _present, _number, _get, _set, _pair, _memo, _unary, _sequence, _choose, _outcome,
        _following,
    )  # fmt: skip
    return "\n".join(part().text() for part in parts)


_KINDS = ("i8", "i16", "i32", "i64")  # of value ids in rows, by the run's shift


def _id_at(a: Assembler, row: str, at: str, kind: str) -> str:
    found = a.load(row, at, kind)
    if kind == "i32":
        return found
    return a.value(f"{'trunc' if kind == 'i64' else 'zext'} {kind} {found} to i32")


def _row_id() -> Assembler:
    """Return the value id of a slot in the row: ``side`` 1 is the state before a step."""
    a = Assembler("row_id", "ptr %run, i32 %slot, i32 %side")
    row, shift = of_run(a, "row"), of_run(a, "shift", "i32")
    with a.when(a.test("sge", "%slot", of_run(a, "width", "i32"))):
        a.ret("0")
    at = a.op("add", a.op("mul", "%slot", of_run(a, "stride", "i32")), "%side")
    for number, kind in enumerate(_KINDS[:-1]):
        with a.when(a.test("eq", shift, str(number))):
            a.ret(_id_at(a, row, at, kind))
    a.ret(_id_at(a, row, at, _KINDS[-1]))
    return a


def _present() -> Assembler:
    """Return the place of the next element of a set that is there, from ``first``; ``end`` if
    none is.

    ``pairs`` are the slot and the number of each element. An absent one has value id 0. Most are
    absent, so this loop calls nothing.
    """
    a = Assembler("present", "ptr %run, ptr %pairs, i32 %first, i32 %end, i32 %side")
    row, shift, width = of_run(a, "row"), of_run(a, "shift", "i32"), of_run(a, "width", "i32")
    stride, ids = of_run(a, "stride", "i32"), of_run(a, "ids")
    marks, mark = of_run(a, "stamps"), of_run(a, "stamp", "i32")
    now = a.test("eq", "%side", "0")
    for number, kind in enumerate(_KINDS):
        with a.when(a.test("eq", shift, str(number))), a.count("%end", "%first", 2) as at:
            slot = a.load("%pairs", at)
            written = a.bit("and", a.test("eq", a.load(marks, slot), mark), now)
            with a.when(written):
                with a.when(a.test("ne", a.load(ids, slot), "0")):
                    a.ret(at)
                a.again()
            with a.when(a.test("slt", slot, width)):
                place = a.op("add", a.op("mul", slot, stride), "%side")
                with a.when(a.test("ne", _id_at(a, row, place, kind), "0")):
                    a.ret(at)
    a.ret("%end")
    return a


def _number() -> Assembler:
    """Return the number of what a slot holds in the row."""
    a = Assembler("number", "ptr %run, i32 %slot, i32 %side")
    id = a.call("row_id", "ptr %run, i32 %slot, i32 %side")
    base = a.load(of_context(a, "number_base"), "%slot")
    a.ret(a.load(of_context(a, "number_pool"), a.op("add", base, id)))
    return a


def _get() -> Assembler:
    """Return the number of what a slot holds now, after what the run has written."""
    a = Assembler("get", "ptr %run, i32 %slot")
    with a.when(a.test("eq", a.load(of_run(a, "stamps"), "%slot"), of_run(a, "stamp", "i32"))):
        a.ret(a.load(of_run(a, "numbers"), "%slot"))
    a.ret(a.call("number", "ptr %run, i32 %slot, i32 0"))
    return a


def _set() -> Assembler:
    """Write a number into a slot: 0, or MISSING or RAISES where it has no id there."""
    a = Assembler("put", "ptr %run, i32 %slot, i32 %number")
    id = a.var("0")
    with a.when(a.test("ne", "%number", str(NOTHING))):
        a.set(id, a.call("pair", f"ptr %run, i32 {STORE}, i32 %slot, i32 %number"))
        with a.when(a.test("sle", a.get(id), str(RAISES))):
            a.ret(a.get(id))
    stamp = of_run(a, "stamp", "i32")
    with a.when(a.test("ne", a.load(of_run(a, "stamps"), "%slot"), stamp)):
        a.store(of_run(a, "stamps"), "%slot", stamp)
        n = of_run(a, "n_trail", "i32")
        a.store(of_run(a, "trail"), n, "%slot")
        set_run(a, "n_trail", a.op("add", n, "1"))
    a.store(of_run(a, "numbers"), "%slot", "%number")
    a.store(of_run(a, "ids"), "%slot", a.get(id))
    a.ret("0")
    return a


def _mixed(a: Assembler, hashed: str, part: str) -> str:
    """Return a hash with one more part of the key, as `checker.native.programs.tables` has it."""
    mixed = a.op("mul", a.op("xor", hashed, part), "-2048144789")
    return a.op("xor", mixed, a.op("lshr", mixed, "13"))


def _pair() -> Assembler:
    """Return the result of an operation on two arguments; MISSING where it is not known.

    The table is open addressing over entries (operation, argument, argument, result): nine of ten
    questions that programs ask.
    """
    key = ("%operation", "%one", "%other")
    a = Assembler("pair", "ptr %run, i32 %operation, i32 %one, i32 %other")
    hashed = "3"
    for part in key:
        hashed = _mixed(a, hashed, part)
    pairs, mask = of_context(a, "pairs"), of_context(a, "pair_mask", "i32")
    at = a.var(hashed)
    with a.repeat(lambda: a.set(at, a.op("add", a.get(at), "1"))):
        entry = a.at(pairs, a.op("shl", a.op("and", a.get(at), mask), "2"))
        result = a.load(entry, "3")
        with a.when(a.test("eq", result, str(MISSING))):
            miss = of_run(a, "miss")
            for k, part in enumerate(("3", *key)):
                a.store(miss, str(k), part)
            a.ret(str(MISSING))
        for k, part in enumerate(key):
            with a.when(a.test("ne", a.load(entry, str(k)), part)):
                a.again()
        a.ret(result)
    return a


def _memo() -> Assembler:
    """Return the result of an operation, given as its number and its arguments; MISSING where
    not known.

    The table is open addressing over a pool of (length, operation, arguments, result). Operations
    on two arguments have a table of their own.
    """
    a = Assembler("memo", "ptr %run, ptr %key, i32 %n")
    with a.when(a.test("eq", "%n", "3")):
        parts = ", ".join(f"i32 {a.load('%key', str(k))}" for k in range(3))
        a.ret(a.call("pair", f"ptr %run, {parts}"))
    index, pool = of_context(a, "memo_index"), of_context(a, "memo_pool")
    mask = of_context(a, "memo_mask", "i32")
    hashed = a.var("%n")
    with a.count("%n") as k:
        a.set(hashed, _mixed(a, a.get(hashed), a.load("%key", k)))
    at = a.var(a.get(hashed))
    with a.repeat(lambda: a.set(at, a.op("add", a.get(at), "1"))):
        entry = a.load(index, a.op("and", a.get(at), mask))
        with a.when(a.test("eq", entry, "0")):
            miss = of_run(a, "miss")
            a.store(miss, "0", "%n")
            with a.count("%n") as k:
                a.store(miss, a.op("add", k, "1"), a.load("%key", k))
            a.ret(str(MISSING))
        with a.when(a.test("ne", a.load(pool, entry), "%n")):
            a.again()
        differs = a.var("0")
        with a.count("%n") as k:
            there = a.load(pool, a.op("add", a.op("add", entry, "1"), k))
            with a.when(a.test("ne", there, a.load("%key", k))):
                a.set(differs, "1")
                a.leave()
        with a.when(a.test("eq", a.get(differs), "0")):
            a.ret(a.load(pool, a.op("add", a.op("add", entry, "1"), "%n")))
    return a


def place(a: Assembler, number: str) -> str:
    """Return where a number is in a table of one argument; negative where it has no place."""
    value = a.op("add", a.op("sub", number, str(BASE)), str(2 * SMALL))
    small = a.op("add", number, str(SMALL))
    fits = a.test("ult", small, str(2 * SMALL))
    return a.select(a.test("sge", number, str(BASE)), value, a.select(fits, small, "-1"))


def _unary() -> Assembler:
    """Return the result of an operation on one argument; MISSING where it is not known."""
    a = Assembler("unary", "ptr %run, i32 %operation, i32 %number")
    at = place(a, "%number")
    with a.when(a.test("ult", at, a.load(of_context(a, "unary_size"), "%operation"))):
        table = a.load(of_context(a, "unary"), "%operation", "ptr")
        found = a.load(table, at)
        with a.when(a.test("eq", found, str(MISSING))):
            miss = of_run(a, "miss")
            for k, part in enumerate(("2", "%operation", "%number")):
                a.store(miss, str(k), part)
        a.ret(found)
    room = a.room(2)
    a.store(room, "0", "%operation")
    a.store(room, "1", "%number")
    a.ret(a.call("memo", f"ptr %run, ptr {room}, i32 2"))
    return a


def _sequence() -> Assembler:
    """Return where the elements of a value are: their number, then they; null where not known.

    ``operation`` gives the place in the pool. Which of MISSED and ERRED it is is in the run's miss.
    """
    a = Assembler("sequence", "ptr %run, i32 %operation, i32 %number", "ptr")
    at = a.call("unary", "ptr %run, i32 %operation, i32 %number")
    with a.when(a.test("slt", at, "0")):
        a.ret("null")
    a.ret(a.at(of_context(a, "sequences"), at))
    return a


def _choose() -> Assembler:
    """Return the index of the option that the script takes among ``n``; -1 where there is none."""
    a = Assembler("choose", "ptr %run, i32 %n")
    with a.when(a.test("sle", "%n", "1")):
        a.ret(a.op("sub", "%n", "1"))
    at = of_run(a, "n_choices", "i32")
    with a.when(a.test("sge", at, str(MOST_CHOICES - 1))):
        a.ret("-2")
    script = of_run(a, "script")
    with a.when(a.test("sge", at, of_run(a, "script_length", "i32"))):
        a.store(script, at, "0")
    a.store(of_run(a, "options"), at, "%n")
    set_run(a, "n_choices", a.op("add", at, "1"))
    a.ret(a.load(script, at))
    return a


def _outcome() -> Assembler:
    """Return the number of the outcome that the run has written; MISSING where it is not known."""
    a = Assembler("outcome", "ptr %run")
    trail, n = of_run(a, "trail"), of_run(a, "n_trail", "i32")
    with a.count(n, "1") as k:  # by slots
        slot, at = a.load(trail, k), a.var(k)
        with a.repeat(lambda: a.set(at, a.op("sub", a.get(at), "1"))):
            now = a.get(at)
            with a.when(a.test("eq", now, "0")):
                a.leave()
            left = a.load(trail, a.op("sub", now, "1"))
            with a.when(a.test("sle", left, slot)):
                a.leave()
            a.store(trail, now, left)
        a.store(trail, a.get(at), slot)
    key, used = a.at(of_run(a, "arena"), of_run(a, "arena_top", "i32")), a.var("1")
    a.store(key, "0", str(OUTCOME))
    with a.count(n) as k:
        slot = a.load(trail, k)
        id = a.load(of_run(a, "ids"), slot)
        with a.when(a.test("eq", id, a.call("row_id", f"ptr %run, i32 {slot}, i32 0"))):
            a.again()
        now = a.get(used)
        a.store(key, now, slot)
        a.store(key, a.op("add", now, "1"), id)
        a.set(used, a.op("add", now, "2"))
    a.ret(a.call("memo", f"ptr %run, ptr {key}, i32 {a.get(used)}"))
    return a


def _following() -> Assembler:
    """Make the script the next one in lexicographic order; 0 where there is none."""
    a = Assembler("following", "ptr %run")
    at = a.var(of_run(a, "n_choices", "i32"))
    with a.repeat():
        with a.when(a.test("eq", a.get(at), "0")):
            a.ret("0")
        a.set(at, a.op("sub", a.get(at), "1"))
        now = a.get(at)
        option = a.op("add", a.load(of_run(a, "script"), now), "1")
        with a.when(a.test("slt", option, a.load(of_run(a, "options"), now))):
            a.store(of_run(a, "script"), now, option)
            set_run(a, "script_length", a.op("add", now, "1"))
            a.ret("1")
    return a


def _begin(a: Assembler) -> None:
    set_run(a, "n_choices", "0")
    set_run(a, "n_trail", "0")
    set_run(a, "arena_top", "0")
    set_run(a, "n_kept", "0")
    set_run(a, "stamp", a.op("add", of_run(a, "stamp", "i32"), "1"))


def entry(name: str, body: str, event_on: bool | None, whole: str = "") -> str:
    """Return the function that kernels call: it runs a body and gives the number of leaves.

    ``event_on`` is the answer of a predicate that is an event; None for actions, which are run for
    every script. -1: something is missing, -2: the room is too small, -3: the program gave up.
    ``whole`` is asked where the body raises: if all of a property is false, a part of it holds, as
    one before it is false.
    """
    a = Assembler(name, "ptr %run, ptr %args, ptr %leaves, i32 %size", internal=False)
    n = a.var("0")
    set_run(a, "script_length", "0")

    def leaf(code: str) -> None:
        now = a.get(n)
        with a.when(a.test("sge", now, "%size")):
            a.ret("-2")
        a.store("%leaves", now, code)
        a.set(n, a.op("add", now, "1"))

    with a.repeat():
        _begin(a)
        held = a.var(a.call(body, "ptr %run, ptr %args"))
        if whole:
            with a.when(a.test("eq", a.get(held), str(ERRED))):
                _begin(a)
                found = a.call(whole, "ptr %run, ptr %args")
                false, holds = a.test("eq", found, str(FALSE_ANSWER)), a.test("eq", found, "0")
                kept = a.select(holds, str(ERRED), found)  # it raises where the whole does not
                a.set(held, a.select(false, str(DONE), kept))
        status = a.get(held)
        for known, answer in ((MISSED, "-1"), (FULL, "-3"), (GAVE_UP, "-3")):
            with a.when(a.test("eq", status, str(known))):
                a.ret(answer)
        for known, code in ((FAILED, ASSERTION), (ERRED, ERROR)):
            with a.when(a.test("eq", status, str(known))):
                leaf(str(code))
        if event_on is None:
            with a.when(a.test("eq", status, str(DONE))):
                found = a.call("outcome", "ptr %run")
                with a.when(a.test("eq", found, str(MISSING))):
                    a.ret("-1")
                leaf(a.op("sub", str(FIRST_RESULT), found))
        else:
            wanted = DONE if event_on else FALSE_ANSWER
            with a.when(a.test("eq", status, str(wanted))):
                leaf(str(EVENT))
        with a.when(a.test("eq", a.call("following", "ptr %run"), "0")):
            a.ret(a.get(n))
    return a.text()
