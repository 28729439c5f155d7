"""Recording a history while an application runs, and an application to run: a workload driver.

`Recorder` wraps DB-API 2.0 connections; `Front` is a store of keys and values that records itself;
`statewalk history collect` drives a database. What they write is our JSON Lines format
(docs/reference/history-format.md); docs/how-to/histories.md shows how to use them. `Requests`
records requests to one object (docs/how-to/objects.md).
"""

from statewalk.checker.history.collect.front import Front
from statewalk.checker.history.collect.recorder import RecordedConnection, Recorder
from statewalk.checker.history.collect.requests import Requests

__all__ = ["Front", "RecordedConnection", "Recorder", "Requests"]
