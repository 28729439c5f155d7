"""Lines of the application's log, and of PostgreSQL's own, as events of KIP-939's model.

PostgreSQL says of each statement that succeeded how long it took (log_min_duration_statement = 0),
after the time and the application's name (log_line_prefix = '%n %a '). Two of them are steps of the
model: COMMIT PREPARED is the decision, and an UPDATE of the owner lets an instance take over. What
only prepares, rolls back or reads is none.
"""

import json
import re
from typing import Any

STATEMENT = re.compile(
    r"(?P<seconds>\d+)\.(?P<millis>\d{3}) producer-(?P<number>\d+) LOG:  duration: [\d.]+ ms  "
    r"(?:statement|execute [^:]*): (?P<sql>.*)"
)
DECISION = re.compile(r"COMMIT PREPARED 'kafka-(?P<tid>\d+)-(?P<pid>\d+)-(?P<epoch>\d+)'")


def event(line: str) -> dict[str, Any] | None:
    """The event of a line, if it has one."""
    if line.startswith("{"):
        said: dict[str, Any] = json.loads(line)
        return said
    found = STATEMENT.match(line)
    if found is None:
        return None
    producer = f"Producer#{found['number']}"
    at = int(found["seconds"] + found["millis"])
    if decision := DECISION.match(found["sql"]):
        id = {"pid": int(decision["pid"]), "epoch": int(decision["epoch"])}
        return {
            "action": "Database.commit",
            "with": {"producer": producer},
            "after": {"Database#0.rows": {decision["tid"]: id}},
            "time": at,
        }
    if found["sql"].startswith("UPDATE owner"):
        return {"action": "take_over", "actor": producer, "time": at}
    return None
