"""The runs of the replication model: five rules at five sizes, and what each must find.

Generated and distinct states, depth, and the lengths of the shortest violations. Two records, logs
of two. Up to three replicas and epochs 0 to 1, distinct states, depth and lengths of `weak_isr` and
`strong_isr` are those of the public TLA+ specs under TLC; all else was found here.
"""

from typing import NamedTuple

from statewalk import Expectation, holds, violates

HIGH_WATERMARK = "high_watermark"
WEAK, STRONG, LOST = "weak_isr", "strong_isr", "no_committed_record_lost"


class Row(NamedTuple):
    """A run. What breaks says after how many steps, at the shortest."""

    rule: str
    replicas: int
    max_epoch: int
    numbers: tuple[int, int, int]  # generated, distinct, depth
    breaks: dict[str, int]

    @property
    def name(self) -> str:
        """As ``kip279-r3e2``; two replicas and epochs 0 to 1 go without saying."""
        size = f"r{self.replicas}" if self.replicas > 2 else ""
        size += f"e{self.max_epoch}" if self.max_epoch > 1 else ""
        return "-".join([*self.rule.split("_"), *([size] if size else [])])

    def constants(self) -> dict[str, object]:
        return {"TRUNCATION": self.rule, "REPLICAS": self.replicas, "MAX_EPOCH": self.max_epoch}

    def expect(self) -> Expectation:
        generated, distinct, depth = self.numbers
        if self.breaks:
            return violates(self.breaks, states=distinct)
        return holds(generated=generated, distinct=distinct, depth=depth)


ROWS = [
    Row(HIGH_WATERMARK, 2, 1, (2691, 1251, 16), {WEAK: 8, STRONG: 9}),
    Row(HIGH_WATERMARK, 2, 2, (24459, 10131, 20), {WEAK: 8, STRONG: 9, LOST: 10}),
    Row(HIGH_WATERMARK, 2, 3, (168409, 62855, 23), {WEAK: 8, STRONG: 9, LOST: 10}),
    Row(HIGH_WATERMARK, 3, 1, (222712, 67807, 21), {WEAK: 8, STRONG: 8}),
    Row(HIGH_WATERMARK, 3, 2, (7491589, 1988158, 28), {WEAK: 8, STRONG: 8, LOST: 9}),
    Row("kip101", 2, 1, (2483, 1177, 15), {}),
    Row("kip101", 2, 2, (21447, 9045, 18), {WEAK: 11, STRONG: 11}),
    Row("kip101", 2, 3, (141211, 53413, 21), {WEAK: 11, STRONG: 11, LOST: 12}),
    Row("kip101", 3, 1, (187996, 59788, 22), {STRONG: 11}),
    Row("kip101", 3, 2, (5796838, 1613089, 26), {WEAK: 10, STRONG: 10, LOST: 13}),
    Row("kip279", 2, 1, (2521, 1177, 15), {}),
    Row("kip279", 2, 2, (21877, 9027, 18), {}),
    Row("kip279", 2, 3, (143827, 53099, 21), {}),
    Row("kip279", 3, 1, (195532, 60106, 22), {STRONG: 11}),
    Row("kip279", 3, 2, (6057364, 1616461, 26), {WEAK: 10, STRONG: 10, LOST: 13}),
    Row("kip320_first", 2, 1, (2399, 1165, 15), {}),
    Row("kip320_first", 2, 2, (19387, 8429, 18), {}),
    Row("kip320_first", 2, 3, (118881, 46465, 21), {}),
    Row("kip320_first", 3, 1, (179830, 59092, 22), {}),
    Row("kip320_first", 3, 2, (4966921, 1437076, 28), {WEAK: 11, STRONG: 12}),
    Row("kip320", 2, 1, (1801, 957, 15), {}),
    Row("kip320", 2, 2, (11733, 5973, 18), {}),
    Row("kip320", 2, 3, (59131, 28939, 22), {}),
    Row("kip320", 3, 1, (102220, 39619, 22), {}),
    Row("kip320", 3, 2, (1929154, 737794, 26), {}),
]
