"""The settings of the dataflow store: its workload, and the variants of its parts."""

from typing import Literal

from statewalk import Constant
from statewalk.models.stores.resolution import How
from statewalk.models.stores.workloads import SCRIPTS, Workload

WORKLOAD: Constant[Workload] = "mutual"
TRANSACTIONS: Constant[int] = 2  # of the free workload
REMOVALS: Constant[bool] = True  # whether the free workload has them
EPOCHS: Constant[Literal["any", "each", "one"]] = "any"  # how the log is cut
HOW: Constant[How] = "ordered"  # how an epoch is resolved
SERVE: Constant[bool] = True  # outputs, durability and acknowledgements, or resolution alone
ACK: Constant[Literal["durable", "early"]] = "durable"  # early: before the epoch is on disk
RECOVERY: Constant[Literal["replay", "differences"]] = "replay"
CRASHES: Constant[int] = 0
DAMAGE: Constant[Literal["none", "damaged", "lost"]] = "none"  # to one of the saved differences
MERGES: Constant[bool] = False  # whether outputs merge the changes of epochs nobody asks for

SCRIPT = SCRIPTS[WORKLOAD]
LENGTH = TRANSACTIONS if WORKLOAD == "free" else len(SCRIPT)
