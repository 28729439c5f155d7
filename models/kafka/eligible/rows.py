"""The runs of the model of eligible leader replicas: what each sets, and what must come of it.

Two brokers, a replica on each, one value. `docs/models/kafka-eligible-leaders.md` says what they
show, and which numbers are those of the public TLA+ spec under TLC.
"""

from statewalk import Expectation, holds, violates

ROWS: list[tuple[str, Expectation, dict[str, object]]] = []


def row(name: str, *, expect: Expectation, **constants: object) -> None:
    two: dict[str, object] = {"BROKERS": 2, "REPLICAS": 2, "INITIAL_ISR": 2}
    ROWS.append((name, expect, {**two, "UNCLEAN_SHUTDOWNS": 0, "FENCES": 0, **constants}))


row("fence", MIN_ISR=1, FENCES=1, expect=holds(generated=3376, distinct=1260, depth=21))
row("crash", UNCLEAN_SHUTDOWNS=1, expect=holds(generated=16211, distinct=6192, depth=30))
row("stop", MIN_ISR=1, CLEAN_SHUTDOWNS=1, expect=holds(generated=2428, distinct=1079, depth=22))
row("slow", MIN_ISR=1, SHRINKS=1, expect=holds(generated=535, distinct=254, depth=16))
row(
    "reassigned",
    BROKERS=3,
    MIN_ISR=1,
    REASSIGNMENTS=1,
    expect=holds(generated=38550, distinct=12472, depth=29),
)
row("behind", BROKERS=3, REPLICAS=3, expect=holds(generated=3414, distinct=1172, depth=25))
row(
    "last-replica",
    UNCLEAN_SHUTDOWNS=1,
    FENCES=1,
    expect=holds(generated=942515, distinct=290764, depth=41),
)
row(
    "last-replica-isr",
    VARIANT="isr",
    UNCLEAN_SHUTDOWNS=1,
    FENCES=1,
    expect=violates(
        {
            "leader_completeness": 7,
            "leader_candidate_completeness": 7,
            "consistent_read": 8,
            "no_committed_record_lost": 16,
        },
        states=46680,
    ),
)
