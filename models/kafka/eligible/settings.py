"""Kafka's eligible leader replicas: how many there are of each, which proposal, which faults."""

from typing import Literal

from statewalk import Constant

# -- size ----------------------------------------------------------------------------------------
BROKERS: Constant[int] = 3
REPLICAS: Constant[int] = 3  # at first; a reassignment may change it
MIN_ISR: Constant[int] = 2
INITIAL_ISR: Constant[int] = 2
VALUES: Constant[int] = 1  # that a producer writes

# -- proposals -----------------------------------------------------------------------------------
VARIANT: Constant[
    Literal[
        "isr",  # who was last in the ISR stays in it, and leads again, whatever it lost; 3.5
        "kip966",  # the ISR may be empty; who left it last is eligible, unless it lost its log
    ]
] = "kip966"

# -- what may happen -----------------------------------------------------------------------------
CLEAN_SHUTDOWNS: Constant[int] = 0  # nothing is lost; the broker may know that, or not
UNCLEAN_SHUTDOWNS: Constant[int] = 1  # the log is lost
FENCES: Constant[int] = 1  # the controller hears no heartbeats of a broker that runs
SHRINKS: Constant[int] = 0  # a leader takes a follower for slow
REASSIGNMENTS: Constant[int] = 0

assert 1 <= MIN_ISR <= INITIAL_ISR <= REPLICAS <= BROKERS
