"""The runs of the consumer group model: what each sets, and what must come of it.

c, t, p: clients, topics and perturbations. `docs/models/kafka-consumer-groups.md` says what they
show, and which numbers are those of the public TLA+ spec under TLC.
"""

from statewalk import Expectation, holds, violates
from statewalk.models.kafka.membership.mutants import kafka16147, kafka16185

ROWS: list[tuple[str, Expectation, dict[str, object]]] = []


def row(name: str, *, expect: Expectation, **constants: object) -> None:
    ROWS.append((name, expect, constants))


# -- as in the public spec
row(
    "c2t1p0",
    TOPICS=1,
    PERTURBATIONS=0,
    expect=holds(generated=9511, distinct=4009, depth=26),
)
row("c2t2p0", PERTURBATIONS=0, expect=holds(generated=17983, distinct=7673, depth=26))
row(
    "c1t2p1",
    CLIENTS=1,
    CONVERGES=False,
    expect=holds(generated=1066, distinct=568, depth=20),
)
row(
    "c1t2p2",
    CLIENTS=1,
    PERTURBATIONS=2,
    CONVERGES=False,
    expect=holds(generated=108002, distinct=38299, depth=30),
)
row(
    "published",
    CONVERGES=False,
    expect=holds(generated=30142395, distinct=9630295, depth=56),
)
row(
    "topic-without-subscriber",
    CLIENTS=1,
    expect=violates({"eventually_converges": 1}, states=568),
)

# -- the other ways to reconcile
row(
    "first",
    VARIANT="first",
    TOPICS=1,
    PERTURBATIONS=0,
    expect=holds(generated=3765, distinct=1707, depth=25),
)
row(
    "kafka16249",
    VARIANT="kafka16249",
    TOPICS=1,
    PERTURBATIONS=0,
    expect=holds(generated=8899, distinct=3737, depth=23),
)

# -- what Kafka once did
row(
    "kafka16147",
    TOPICS=1,
    MUTANT=kafka16147,
    CONVERGES=False,
    expect=violates({"valid_partition_epoch": 11, "no_double_client_assignment": 20}),
)
row(
    "kafka16185",
    VARIANT="kafka16249",
    TOPICS=1,
    PERTURBATIONS=0,
    MUTANT=kafka16185,
    expect=violates("eventually_converges", states=2899),
)

# -- a lost answer
LOST = {"TOPICS": 1, "PERTURBATIONS": 0, "DISCONNECTS": 1, "CONVERGES": False}
row(
    "lost-answer-first",
    VARIANT="first",
    **LOST,
    expect=holds(generated=176431, distinct=73182, depth=42),
)
row(
    "lost-answer",
    **LOST,
    expect=violates(
        {
            "valid_member_epoch": 12,
            "no_double_client_assignment": 16,
        },
        states=176880,
    ),
)
row(
    "lost-answer-kafka16249",
    VARIANT="kafka16249",
    **LOST,
    expect=violates(
        {
            "valid_member_epoch": 11,
            "no_double_client_assignment": 15,
        },
        states=182848,
    ),
)
