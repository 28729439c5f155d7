"""Two-phase commit does what transaction commit allows: the same spec, with that as a property.

Both show the states of the resource managers; the transaction manager and the messages are hidden.
"""

from statewalk import config, holds, refines
from statewalk.models.toys.two_phase_commit import RMS, rms


def decisions() -> dict[str, object]:
    return {"ResourceManager.state": [rm.state for rm in rms]}


is_transaction_commit = refines("toys/transaction_commit", by=decisions, RMS=RMS)

config("two", RMS=2, expect=holds(distinct=56))
