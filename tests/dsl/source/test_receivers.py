"""A local that has the name of something in the module may be anything: what is done with it is
done to the roles that it is, not to those that the module's name means.
"""

from pathlib import Path

import pytest

from statewalk import check, load

SPEC = """
from statewalk import *
class Job(Record):
    n: int = 0
class Broker(Role):
    jobs: list[int] = []
    job: Job = Job()
class Client(Role):
    n: int = 0
    jobs: list[int] = []
    job: Job = Job()
    @action
    def step(self) -> None:
        require(self.n < 2)
        self.n += 1
        work(broker, self)
broker = Broker()
brokers = [broker]
client = Client()
clients = [client]
def work(one: Broker, other: Client) -> None:
    BODY
@always
def few() -> bool:
    return len(client.jobs) + client.job.n < 2
"""
WAYS = [
    "(lambda broker: broker.jobs.append(1))(other)",
    "(lambda one: one.jobs.append(1))(other)",
    "broker = other; broker.jobs.append(1)",
    "brokers = clients; brokers[0].jobs.append(1)",
    "brokers = clients\n    for one in brokers: one.jobs.append(1)",
    "for one in clients: one.jobs.append(1)",
    "[broker.jobs.append(1) for broker in clients]",
    "sorted = lambda given: clients\n    for b in sorted(brokers): b.jobs.append(1)",
    "def inner(one): one.jobs.append(1)\n    inner(other)",
    "def inner(broker): broker.job.n += 1\n    inner(other)",
    "match other:\n        case broker: broker.jobs.append(1)",
    "Job = lambda: other.job\n    made = Job()\n    made.n += 1",
]


@pytest.mark.parametrize("body", WAYS)
@pytest.mark.parametrize("optimize", [True, False])
def test_what_a_local_does_is_done_to_what_it_is(tmp_path: Path, body: str, optimize: bool) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SPEC.replace("BODY", body))

    result = check(load(path, optimize=optimize), engine="reference")

    assert [(p.name, p.length) for p in result.properties if p.verdict == "violated"] == [
        ("few", 2)
    ]
