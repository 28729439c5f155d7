"""Truths of Python about lists, sets, dicts, tuples and records, wherever these are.

Each is an expression, or lines with ``got = ...``; asked of plain objects and of a state, it gives
the same, or raises the same. ``self`` has the fields of `truths_told.FIELDS`.
"""

from __future__ import annotations

import ast

_CONTAINERS = {
    "list": ["self.xs", "self.none", "self.ys[1]", "self.r.xs", "self.dd[1]"],
    "set": ["self.s", "self.r.s"],
    "frozenset": ["self.f"],
    "dict": ["self.d", "self.r.d", "self.dd"],
    "tuple": ["self.t"],
    "Part": ["self.r", "self.rs[0]", "self.by['p']", "self.m"],
    "int": ["self.i"],
    "str": ["self.name"],
}
_OF_TYPES = """
type({0}) is {1}
type({0}) == {1}
type({0}) is not {1}
type({0}).__name__
{0}.__class__ is {1}
{0}.__class__.__name__
type({0}) is type({0})
type({0}) in ({1}, None)
{{{1}: 5}}.get(type({0}))
isinstance({0}, {1})
isinstance({0}, type({0}))
issubclass(type({0}), {1})
isinstance(type({0}), type)
[type(x) is {1} for x in [{0}]]
[type(x) is type({0}) for x in [{0}, 1, "", None]]
""".strip().splitlines()
_ITERABLES = """
list({0})
tuple({0})
sorted({0}, key=str)
sorted({0}, key=str, reverse=True)
[x for x in {0}]
{{x for x in {0} if x != 1}}
{{x: 1 for x in {0}}}
list(zip({0}, {0}))
list(enumerate({0}, 1))
list(map(str, {0}))
list(filter(None, {0}))
[*{0}]
(*{0}, 9)
len({0})
bool({0})
not {0}
max({0}, key=str, default=None)
min({0}, default=None)
1 in {0}
"a" not in {0}
any(x == 1 for x in {0})
all({0})
next(iter({0}), None)
(lambda *a: a)(*{0})
{0} == {0}
{0} != {0}
{0} is {0}
set({0}) == set(list({0}))
frozenset({0})
dict.fromkeys({0}, 0)
sum(1 for _ in {0})
[] + list({0})
str({0}) == repr({0})
f"{{len({0})}}"
""".strip().splitlines()
_PAIRS = """
{0} == {1}
{1} == {0}
{0} != {1}
{0} <= {1}
{1} > {0}
{0} + {1}
{1} + {0}
{0} | {1}
{1} | {0}
{0} & {1}
{1} - {0}
{0} - {1}
{0} ^ {1}
""".strip().splitlines()
_LEFT = """
b = {1}; c = b; b += {0}; got = (b, c, b is c)
b = {1}; c = b; b |= {0}; got = (b, c, b is c)
b = {1}; c = b; b -= {0}; got = (b, c, b is c)
b = {1}; c = b; b &= {0}; got = (b, c, b is c)
b = {1}; c = b; b ^= {0}; got = (b, c, b is c)
b = {{"k": {1}}}; c = b["k"]; b["k"] += {0}; got = (c, b["k"] is c)
""".strip().splitlines()
_WITH = {
    "self.xs": ["[1]", "[3, 1, 2]", "(1,)"],
    "self.r.xs": ["[1, 2]"],
    "self.s": ["{1}", "{2, 9}", "frozenset({1, 2})", "{1: 1}.keys()", "[1]"],
    "self.r.s": ["{5}"],
    "self.f": ["{2}", "frozenset({3, 4})"],
    "self.d": ["{'a': 9}", "{'a': 1, 'b': 2}", "[('c', 1)]"],
    "self.d.keys()": ["{'a'}", "{'a': 1}.keys()", "['a']"],
    "self.d.items()": ["{('a', 1)}", "{'a': 1, 'b': 2}.items()"],
    "self.t": ["(1,)", "[1, 2]"],
}
_ALONE = """
self.xs[0:2] + self.xs[::-1]
self.xs[-1], self.xs[5:]
self.xs[7]
self.xs["a"]
self.xs.index(2), self.xs.count(1)
self.xs.index(9)
sorted(self.rs, key=lambda p: p.n)[0].n
min(self.rs, key=lambda p: p.n).n
sorted(self.rs)
[p.n for p in self.rs if p == Part(1)]
self.rs.index(Part(1)), Part(9) in self.rs
self.rs[0] == Part(2), Part(2) == self.rs[0], self.rs[0] != Part(3)
self.rs[0] is self.rs[0], self.rs[0] is self.rs[1]
self.m == Other(4), Other(4) == self.m
self.d["zz"]
self.d.get("zz"), self.d.get("a"), self.d.get("zz", [])
dict(**self.d), {**self.d, "c": 1}, dict(self.d, c=2)
dict(self.d.items()), dict(zip(self.d, self.d.values()))
list(self.d), list(self.d.keys()), list(self.d.values()), list(self.d.items())
list(reversed(self.d)), list(reversed(self.d.items())), list(reversed(self.d.values()))
self.d.keys()[0]
self.d.values()[0]
self.d.keys().append("a")
1 in self.d.values(), ("a", 1) in self.d.items(), ("a", 2) in self.d.items(), "a" in self.d.keys()
self.d.keys() <= self.d.keys(), self.d.keys().isdisjoint(["z"])
self.d.values() == self.d.values()
self.d.keys() == ["a", "b"]
isinstance(self.d.keys(), list), isinstance(self.d.values(), list), isinstance(self.d, dict)
max(self.d, key=self.d.get), max(self.d.items(), key=lambda item: item[1])
sum(self.xs), sum(self.d.values()), sum(self.s), sum(self.t)
sum([self.xs, [9]], [])
sum([[9], self.xs], self.none)
" ".join(self.words), ",".join(self.d)
", ".join(self.xs)
self.s.union([9]), self.s.intersection(self.f), self.s.difference(self.f, [1])
self.s.issubset([1, 2, 3]), self.s.issuperset(self.none), self.s.isdisjoint(self.f)
{9}.union(self.s), {1, 9}.intersection(self.xs), {1, 9}.difference(self.s), {1}.issubset(self.s)
{1}.symmetric_difference(self.s), {5}.isdisjoint(self.s), {1, 2, 3}.issuperset(self.d.values())
self.s + self.s
self.xs - self.xs
self.xs * 2, 2 * self.xs, self.t * 2
self.xs * "a"
{self.t: 1}[(1, 2)], {self.f: 1}[frozenset({3, 2})]
{self.xs: 1}
{self.s}
{self.d}
{self.r} == {Part(1, [1, 2], {"k": 1}, {5})}
(self.xs, [self.ys]) == ([3, 1, 2], [[[1], [2, 3]]])
[self.xs] == [[3, 1, 2]], [[3, 1, 2]] == [self.xs], (self.xs,) == ([3, 1, 2],)
{"k": self.xs} == {"k": [3, 1, 2]}, {"k": [3, 1, 2]} == {"k": self.xs}
{"k": self.d} == {"k": {"a": 1, "b": 2}}
self.xs in [[3, 1, 2]], [3, 1, 2] in [self.xs], [1] in self.ys, self.ys[0] in self.ys
[self.ys[0]].index([1]), [[2, 3]].count(self.ys[1])
self.xs < [3, 2], [3, 2] > self.xs, [self.xs] < [[4]], max(self.ys), min(self.ys)
self.xs == (3, 1, 2), self.t == [1, 2], self.s == [1, 2], self.s == {1, 2}, {1, 2} == self.s
self.s == self.f, self.f == {2, 3}, frozenset({2, 3}) == self.f, self.s < {1, 2, 3}
copy.copy(self.xs) is self.xs, copy.copy(self.xs) == self.xs, copy.deepcopy(self.ys) == self.ys
copy.copy(self.r) is self.r, copy.copy(self.r) == self.r
vars(self.r)["n"], sorted(vars(self.r)), self.r.__dict__ == vars(self.r)
getattr(self.r, "n"), getattr(self.r, "zz", 5), hasattr(self.r, "n"), hasattr(self.xs, "append")
callable(self.xs), callable(self.r)
list(itertools.chain(self.xs, self.t)), list(itertools.product(self.s, self.xs))
list(itertools.combinations(self.xs, 2)), list(itertools.islice(self.d, 1))
functools.reduce(lambda a, b: a + b, self.xs), functools.reduce(operator.add, self.ys)
operator.itemgetter(1)(self.xs), operator.attrgetter("n")(self.r), operator.contains(self.s, 1)
[a + b for a, b in zip(self.xs, self.t)], [a for (a, b) in self.d.items() if b > 1]
[x for row in self.ys for x in row], {x: len(row) for x, row in self.dd.items()}
collections.Counter(self.xs)[3], collections.deque(self.xs, 2) == collections.deque([1, 2])
collections.OrderedDict(self.d) == self.d, self.d == collections.OrderedDict(a=1, b=2)
type(collections.defaultdict(int, self.d) | self.d).__name__
"%s %s" % (self.t, self.name), "%d-%d" % self.t, f"{self.xs} {self.d} {self.t} {self.name!r}"
str(self.xs), repr(self.ys), str(self.s), repr(self.d), str(self.t), repr(self.none)
type(self.none)(), type(self.s)([1]), type(self.d)(a=1), type(self.m)(4) == self.m
type(self.xs)(self.s), type(type(self.xs)) is type, type(3) is int, type(None)
isinstance(self.xs, (tuple, list)), isinstance(self.r, Record), isinstance(self.m, Part | Other)
isinstance(self.s, frozenset), isinstance(self.f, set), isinstance(self.xs, dict | set)
isinstance(self.xs, collections.abc.Sequence), isinstance(self.d, collections.abc.Mapping)
isinstance(self.s, collections.abc.Set), isinstance(self.xs, collections.abc.Iterable)
isinstance(self.d.keys(), collections.abc.KeysView), isinstance(self.xs, collections.abc.Hashable)
a, *b = self.xs; got = (a, b)
a, b = self.xs; got = a
(a, b), c = self.ys[1], 1; got = (a, b, c)
b = [9]; b.extend(self.xs); b[0:1] = self.xs; b.append(self.xs); got = b
b = [1, 2]; b[::2] = self.none; got = b
b = {9, 1}; b.update(self.s, self.xs); b.discard(2); got = b
b = {9, 1}; b.intersection_update(self.s); c = {1, 7}; c.difference_update(self.s); got = (b, c)
b = {9, 1}; b.symmetric_difference_update(self.s); got = b
b = {"z": 0}; b.update(self.d); b |= self.r.d; b.update(self.by["p"].d, q=1); got = b
b = {}; b.setdefault("k", []).extend(self.xs); got = b
b = collections.deque([0]); c = b; b += self.xs; b.extendleft(self.t); got = (list(b), b is c)
b = bytearray(b"a"); c = b; b += self.xs; got = (list(b), b is c)
b = (1,); b += self.t; got = b
b = (1,); b += self.xs; got = b
b = "x"; b += self.xs; got = b
b = 2; b *= self.xs; got = b
b = [1]; b *= self.xs; got = b
b = frozenset({1}); c = b; b |= self.s; got = (b, b is c)
b = operator.iadd([1], self.xs); got = b
b = Part(1, [5]); c = b.xs; b.xs += self.xs; got = (b.xs, c, b.xs is c)
b = [[5]]; c = b[0]; b[0] += self.ys[0]; got = (c, b[0] is c)
b = [5]; add_to(b, self.xs); add_to(b, self.xs); got = b
b = {5}; join(b, self.s); got = b
b = self.xs; b += [4]; got = (b is self.xs, self.xs)
b = self.s; b |= {4}; got = (b is self.s, self.s)
b = self.d; b |= {"z": 4}; got = (b is self.d, self.d)
b = self.ys[0]; self.ys[0] += [4]; b.append(5); got = (self.ys, b is self.ys[0])
b = self.dd[1]; self.dd[1] += [4]; b.append(5); got = (self.dd, b is self.dd[1])
b = self.r.xs; self.r.xs += [4]; b.append(5); got = (self.r.xs, b is self.r.xs)
b = self.dd[1]; self.dd[1] = [0]; self.dd[1] = b; got = self.dd
b = self.ys[1]; self.ys[1] = [0]; self.ys[1] = b; got = self.ys
b = self.r; self.r = self.r; b.n += 1; got = self.r.n
b = self.by["p"]; self.by["p"] = b; b.n += 1; got = self.by["p"].n
b = self.rs[0]; self.rs[0] = b; b.n += 1; got = self.rs[0].n
b = self.rs[0]; self.rs[1] = b; got = self.rs[1] == b
b = self.r.s; self.r.s |= {9}; b.add(8); got = (self.r.s, b is self.r.s)
b = self.xs; self.xs = [0]; b.append(1); got = (b, self.xs)
b = self.d.keys(); c = len(b); self.d["z"] = 1; got = (c, len(b), "z" in b, list(b))
b = self.d.values(); self.d["a"] = 9; got = list(b)
b = self.d.items(); self.d["a"] = 9; got = (list(b), ("a", 9) in b)
""".strip().splitlines()
_WRONG = """
self.xs.remove(77)
self.xs.index(77)
self.xs.index(3, 2)
self.ys[0].remove(5)
{self.xs: 1}
{self.s: 1}
{self.d: 1}
{self.ys[0]}
{(1, self.xs)}
{self.sets[0]: 1}
self.s.remove(77)
self.s.remove("a")
self.d["zz"]
self.d.pop("zz")
self.dd[7]
self.dd.pop(7)
self.xs[77]
self.xs[-9]
self.xs["a"]
self.xs[1.5]
self.xs.pop(77)
self.none.pop()
self.xs.insert("a", 1)
self.xs.__delitem__(77)
self.xs.__setitem__(77, 1)
self.xs + 1
1 + self.xs
self.xs + (1,)
(1,) + self.xs
self.xs - self.xs
self.xs * self.xs
self.xs < 1
self.xs < (1,)
self.s < 1
self.d < self.d
self.s + self.s
self.s | [1]
[1] | self.s
self.s - [1]
self.f & 3
self.d | [1]
self.d + self.d
self.d.keys() + 1
self.d.keys()[0]
self.d.values()[0]
self.d.items()["a"]
self.xs()
self.s()
self.d()
getattr(self.xs, 'foo')
getattr(self.s, 'foo')
getattr(self.f, 'add')
getattr(self.d, 'foo')
getattr(self.d.keys(), 'foo')
len(self.i)
iter(self.i)
list(self.i)
max(self.none)
min(self.none)
sum(self.words)
sum(self.ys)
sorted(self.mixed + [1])
{**self.xs}
print(**self.xs)
"-".join(self.xs)
"-".join(self.d.values())
int(self.xs)
int(self.d)
self.name + self.xs
self.name + self.i
self.name[self.xs]
"a" in self.i
self.xs in self.s
self.xs in self.d
self.d.get(self.xs)
self.d.update(self.xs)
self.d.update(self.i)
self.s.update(self.i)
self.xs.extend(self.i)
self.s.union(self.i)
dict(self.xs)
dict(self.words)
range(self.xs)
zip(self.xs, self.i)
isinstance(self.xs, self.t)
next(self.xs)
reversed(self.s)
abs(self.xs)
-self.s
~self.d
self.xs % 2
self.xs.sort(key=self.d)
self.xs @ self.xs
next(iter(self.none))
self.r()
self.r[0]
len(self.r)
iter(self.r)
self.r + self.r
self.r < self.r
self.rs.sort()
self.rs.remove(5)
""".strip().splitlines()
_TOLD = "try:\n    got = told({0})\nexcept Exception as error:\n    got = repr(error)"
_OF_WHAT_IS_REACHED = """
type(x).__name__
x.__class__.__name__
[isinstance(x, c) for c in (list, tuple, set, frozenset, dict)]
[isinstance(x, c) for c in (collections.abc.Hashable, collections.abc.Sequence)]
"%s" % x
"%s-%s" % x
str(x), repr(x), f"{x}", f"{x!r:>30}", str([x]), str((x, 1))
{x: 1}
x in {(1,): 1}, x in {frozenset({1})}
x == [1], x == {1, 2}, x == {"a": 1}, x == (1,), x == frozenset({1}), x == {1: 0}.keys()
{1: 0, 2: 0}.keys() == x, {1: 0}.keys() != x
x + [1], [1] + x, x * 2
type(x | {7}).__name__, x | {7}, type({7} | x).__name__, type(frozenset({7}) | x).__name__
type(x - {1}).__name__, type(x.union([4])).__name__, type(x.copy()).__name__
type(copy.copy(x)).__name__, type(copy.deepcopy(x)).__name__, copy.deepcopy(x) == x
len(x), bool(x), list(x), sorted(x), x is x
(lambda y: isinstance(y, (tuple, frozenset)))(x)
kind_of(x)
""".strip().splitlines()
_REACHED = [
    "got = [(EXPR) for x in self.PLACE]",
    "got = {(EXPR) for x in self.PLACE}",
    "got = [1 for x in self.PLACE if (EXPR)]",
    "got = any((EXPR) for x in self.PLACE)",
    "got = []\nfor x in self.PLACE:\n    got.append((EXPR))",
    "got = [(EXPR) for _ in self.xs for x in [self.PLACE]]",
    "x = self.PLACE; got = (EXPR)",
    "x = self.PLACE; got = [((EXPR), y) for y in self.xs if y == 1]",
    "y = {'k': self.PLACE}; got = [(EXPR) for z in self.xs for x in y.values()]",
    "x = self.PLACE.pop(); got = (EXPR)",
    "x = self.PLACE.pop(); x.append(5); got = (x, self.PLACE)",
    "x = self.PLACE.pop(); x.add(5); got = (x, self.PLACE)",
    "x = self.PLACE | {5}; y = x; x |= {7}; got = (y, x is y, self.PLACE)",
    "x = {5} | self.PLACE; y = x; x -= {5}; got = (y, x is y)",
]
_IN_RECORDS = [
    "got = [(lambda x: (EXPR))(p.FIELD) for p in PLACE]",
    "got = any((lambda x: (EXPR))(p.FIELD) for p in PLACE)",
    "got = [(EXPR) for p in PLACE for x in [p.FIELD]]",
    "for p in PLACE:\n    x = p.FIELD\n    got = (EXPR)",
    "for p in PLACE:\n    match p:\n        case Part(FIELD=x):\n            got = (EXPR)",
]
_PART = "Part(9, [1], {'k': 1}, {5})"
_RECORDS = [
    "self.rset", "self.by_part", "[p for p, _ in self.tset]", "[p.part for p in self.deep]",
    f"(self.rset | {{{_PART}}})", f"({{{_PART}}} | self.rset)", "self.rset.union([])",
    "(self.by_part.keys() - {1})", f"{{{_PART}}}", "[any_of(self.rset)]", "self.rset.copy()",
    "[q for q, _ in self.tset - {1}]", "[min(self.rset, key=str)]", "dict(self.by_part)",
    "[q for q, _ in self.by_part.items() | set()]",
]  # fmt: skip
_PLACES = ["ys", "sets", "mixed", "dicts", "ff", "by_set", "parts", "rs[1].s", "s", "f", "parts[1]",
           "parts[2]", "r.xs", "dd"]  # fmt: skip
_SORTS = """
b = self.rs[0]; got = sum(p is b is not None for p in self.rs)
b = self.ys[0]; got = [None is not y is b for y in self.ys]
b = self.ys[0]; got = any(y is b is not None for y in self.ys[1:])
b = self.pairs[0][1]; c = self.pairs[1][1]; got = same(b, b), same(b, c), same(c, self.pairs[1][1])
b = self.rs[0]; self.rs.sort(key=lambda p: p is not b); got = [p.n for p in self.rs]
b = self.ys[1]; self.ys.sort(key=lambda y: y is not b); got = self.ys
self.ys.sort(key=lambda y: isinstance(y, tuple) * y[0]); got = self.ys
self.ys.sort(key=lambda y: y.append(0) or -len(y)); got = self.ys
self.ys.sort(key=lambda y: -y[0]); b = self.ys[0]; b.append(4); got = self.ys
self.rs.sort(key=lambda p: p.n, reverse=True); got = [p.n for p in self.rs]
self.rs.sort(); got = 1
""".strip().splitlines()
_MATCHES = [
    ("self.xs", "[a, *b]"), ("self.xs", "[]"), ("self.xs", "list()"), ("self.xs", "list(a)"),
    ("self.xs", "tuple()"), ("self.xs", "[3, _, 2]"), ("self.xs", "{}"), ("self.xs", "str()"),
    ("self.s", "set()"), ("self.s", "set(a)"), ("self.s", "frozenset()"), ("self.s", "[*a]"),
    ("self.f", "frozenset()"), ("self.f", "set()"), ("self.d", "{'a': a, **b}"),
    ("self.d", "{'z': a}"), ("self.d", "dict()"), ("self.d", "dict(a)"), ("self.d", "[*a]"),
    ("self.t", "(1, a)"), ("self.t", "list()"), ("self.t", "tuple(a)"), ("self.r", "Part(1)"),
    ("self.r", "Part(n=a)"), ("self.r", "Part(a, [1, *b])"), ("self.r", "Other()"),
    ("self.r", "Part(2)"), ("self.m", "Part() | Other()"), ("self.m", "None"),
    ("self.rs", "[Part(a), Part(n=1)]"), ("self.rs", "[Part(1), *_]"), ("self.ys", "[[a], [b, c]]"),
    ("self.i", "int(a)"), ("self.i", "str()"), ("self.name", "str(a)"), ("self.name", "[*a]"),
    ("self.by", "{'p': Part(n=a)}"), ("(self.xs, self.r)", "([*_], Part(n=a))"),
]  # fmt: skip
_CHANGES = {
    "self.xs": ["append(9)", "insert(0, 9)", "remove(x)", "pop()", "pop(0)", "sort()", "clear()",
                "reverse()"],
    "self.s": ["add(9)", "add(x)", "discard(x)", "discard(8)", "remove(x)", "clear()",
               "update(self.xs)"],
    "self.words": ["add('z')", "discard(x)"],
    "self.r.s": ["add(9)", "discard(5)"],
    "self.d": ["pop(x)", "update(z=1)", "update({x: 5})", "clear()", "setdefault('q', 1)",
               "setdefault(x, 1)", "__setitem__(x, 8)", "__delitem__('b')"],
    "self.dd": ["pop(x)", "update({x: [7]})", "update({x + 5: []})"],
    "self.r.d": ["pop(x)", "update(z=1)", "update(k=5)"],
}  # fmt: skip
_LOOPS = [
    "got = []\nfor x in {0}:\n    got.append(x)\n    {0}.{1}\n    if len(got) > 5: break",
    "got = []\nfor x in list({0}):\n    got.append(x)\n    if x in {0}: {0}.{1}",
    "it = iter({0})\nx = next(iter({0}))\n{0}.{1}\ngot = list(it)",
    "got = [({0}.{1}, x) for x in {0} if len({0}) < 6]",
    "got = []\nfor at, x in enumerate({0}):\n    got.append(x)\n    {0}.{1}\n    break",
]
_OF_DICTS = [
    "got = []\nfor x, y in {0}.items():\n    got.append((x, y))\n    {0}.{1}",
    "got = []\nfor x in {0}.keys():\n    got.append(x)\n    {0}.{1}",
    "got = []\nfor x in {0}:\n    {0}.{1}\n    got = [*got, *{0}.values()]",
]
_LOCAL = {
    "[3, 1, 2]": ["append(9)", "remove(x)", "pop()"],
    "{1, 2}": ["add(9)", "discard(x)", "add(x)"],
    "{'a': 1, 'b': 2}": ["pop(x)", "update(z=1)", "update({x: 3})"],
}
_REVERSED = [
    "got = []\nfor x in reversed({0}):\n    got.append(x)\n    {0}.{1}\n    if len(got) > 5: break"
]


def truths() -> list[str]:
    """All of them."""
    found: list[str] = list(_ALONE)
    for kind, places in _CONTAINERS.items():
        for place in places:
            asked = _OF_TYPES + (_ITERABLES if kind not in ("Part", "int") else [])
            found += [text.format(place, kind) for text in asked]
    found += [_TOLD.format(text) for text in _WRONG]
    found += _SORTS
    found += [
        way.replace("EXPR", text).replace("PLACE", place)
        for way in _REACHED
        for place in (_PLACES[:3] if ".pop()" in way else _PLACES)
        for text in (_OF_WHAT_IS_REACHED if "EXPR" in way else [""])
    ]
    found += [
        way.replace("EXPR", text).replace("PLACE", place).replace("FIELD", field)
        for way in _IN_RECORDS
        for place in _RECORDS
        for field in ("xs", "s", "d")
        for text in _OF_WHAT_IS_REACHED
    ]
    for place, others in _WITH.items():
        found += [text.format(place, other) for other in others for text in _PAIRS + _LEFT]
    for subject, pattern in _MATCHES:
        names = [
            n
            for n in "abc"
            if n in pattern.replace("'a'", "").replace("tuple", "").split("(", 1)[-1]
        ]
        shown = ", ".join(n for n in names if _binds(pattern, n))
        found.append(f"got = 0\nmatch {subject}:\n    case {pattern}:\n        got = (1, {shown})")
    for place, changes in _CHANGES.items():
        loops = [*_LOOPS, *(_REVERSED if place == "self.xs" else [])]
        loops += _OF_DICTS if place in ("self.d", "self.dd", "self.r.d") else []
        found += [loop.format(place, change) for loop in loops for change in changes]
    for content, changes in _LOCAL.items():
        found += [
            f"own = {content}\n" + loop.format("own", change)
            for loop in _LOOPS
            for change in changes
        ]
    return list(dict.fromkeys(found))


def _binds(pattern: str, name: str) -> bool:
    """Return whether a pattern binds a name."""
    node = ast.parse(f"match 0:\n    case {pattern}:\n        pass").body[0]
    return any(getattr(n, "name", getattr(n, "rest", None)) == name for n in ast.walk(node))
