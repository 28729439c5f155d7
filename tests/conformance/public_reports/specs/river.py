"""Wolf, goat and cabbage (quint-co/quint, examples/puzzles/river)."""

from itertools import combinations

from statewalk import State, action, always, any_of, require

ALL = frozenset({"wolf", "goat", "cabbage", "farmer"})


def safe(place) -> bool:
    return not ({"goat", "cabbage"} <= place or {"goat", "wolf"} <= place) or "farmer" in place


def loads(bank):
    return [
        frozenset({"farmer", *more})
        for n in (0, 1)
        for more in combinations(sorted(bank - {"farmer"}), n)
    ]


class River(State):
    origin: frozenset[str] = ALL
    boat: frozenset[str] = frozenset()
    destination: frozenset[str] = frozenset()

    @action
    def embark_origin(self) -> None:
        require("farmer" in self.origin)
        go = any_of(loads(self.origin))
        require(safe(self.origin - go))
        self.boat |= go
        self.origin -= go

    @action
    def disembark_destination(self) -> None:
        require("farmer" in self.boat)
        self.destination |= self.boat
        self.boat = frozenset()

    @action
    def embark_destination(self) -> None:
        require("farmer" in self.destination)
        go = any_of(loads(self.destination))
        require(safe(self.destination - go))
        self.boat |= go
        self.destination -= go

    @action
    def disembark_origin(self) -> None:
        require("farmer" in self.boat)
        self.origin |= self.boat
        self.boat = frozenset()


river = River()


@always
def safety() -> bool:
    return safe(river.origin) and safe(river.boat) and safe(river.destination)


@always
def no_solution() -> bool:
    return river.origin != frozenset() or river.boat != frozenset()


@always
def consistency() -> bool:
    return not (
        river.origin & river.destination
        or river.origin & river.boat
        or river.boat & river.destination
    )
