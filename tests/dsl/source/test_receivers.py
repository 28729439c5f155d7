"""A local that has the name of something in the module may be anything: what is done with it is
done to the roles that it is, not to those that the module's name means.
"""

from pathlib import Path

import pytest

from statewalk import check, load
from tests.cases import some

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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("body", some(WAYS, every=4))
@pytest.mark.parametrize("optimize", [True, False])
def test_what_a_local_does_is_done_to_what_it_is(tmp_path: Path, body: str, optimize: bool) -> None:
    path = tmp_path / "spec.py"
    path.write_text(SPEC.replace("BODY", body))

    result = check(load(path, optimize=optimize), engine="reference")

    assert [(p.name, p.length) for p in result.properties if p.verdict == "violated"] == [
        ("few", 2)
    ]


METHOD = """
    def {}(self, *given: int) -> int:
        self.n = 9
        return 0
"""
NAMESAKES = """
from statewalk import *
class Other(Role):
    n: int = 0
METHODS
class Client(Role):
    log: dict[int, dict[int, int]] = {0: {}}
    names: list[str] = ["a"]
    friends: dict[int, Other] = {}
    @action
    def step(self) -> None:
        self.log[1] = {0: 0}
other = Other()
client = Client(friends={0: other})
clients = [client]
""".replace("METHODS", "".join(METHOD.format(n) for n in ("get", "add", "count", "join", "copy")))
PLAIN = [
    "client.log.get(0, 0) != 1", "all(c.log.get(0, 0) != 1 for c in clients)",
    "client.log[0].get(0, 0) == 0", "client.log.copy().get(7) is None",
    "client.names.count('b') == 0", "client.names[0].count('b') == 0",
    "client.names[:1].count('a') == 1", "'a'.count('b') == 0", "f'{1}'.count('1') == 1",
    "', '.join(client.names) == 'a'", "[1].count(1) == 1",
    "dict(client.log).get(7) is None", "sorted(client.names).count('a') == 1",
]  # fmt: skip
OTHERS = [
    "client.friends[0].get() == 0", "client.friends.get(0).get() == 0",
    "all(o.get() == 0 for o in client.friends.values())", "[other][0].get() == 0",
    "(lambda list: list().get() == 0)(lambda: other)",
]  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("asked", some(PLAIN, every=4))
@pytest.mark.parametrize("optimize", [True, False])
def test_methods_of_python_are_not_those_of_roles(
    tmp_path: Path, asked: str, optimize: bool
) -> None:
    path = tmp_path / "spec.py"
    path.write_text(f"{NAMESAKES}@always\ndef p() -> bool: return {asked}\n")

    assert "holds" == check(load(path, optimize=optimize), engine="reference").verdict


def test_a_set_of_ones_own_is_no_role(tmp_path: Path) -> None:
    path = tmp_path / "spec.py"
    own = "seen = set()\n    for name in client.names: seen.add(name)\n    return 'b' not in seen"
    path.write_text(f"{NAMESAKES}@always\ndef p() -> bool:\n    {own}\n")

    assert "holds" == check(path, engine="reference").verdict


@pytest.mark.sampled(3)
@pytest.mark.parametrize("asked", OTHERS)
def test_a_role_is_followed_out_of_what_holds_it(tmp_path: Path, asked: str) -> None:
    path = tmp_path / "spec.py"
    path.write_text(f"{NAMESAKES}@always\ndef p() -> bool: return {asked}\n")

    run = check(path, engine="reference")

    assert "error" == run.verdict
    assert "SW103" in str(next(iter(run.traces.values())))


OWN = """
from statewalk import *
class Item(Record):
    read: int = 0
class S(State):
    n: int = 0
    items: list[Item] = [Item(1), Item(2)]
    METHODS
s = S()
deadlock(False)
@always
def p() -> bool:
    groups, made = {1: [1]}, {}
    for item in s.items:
        made.setdefault(item.read, set()).add(item.read)
        groups[1].append(item.read)
    return [abs(i.read) for i in s.items] == groups[1][1:] and made.get(1) == {1}
"""
ACTION = """
    @action
    def {}(self) -> {}:
        self.n = 1 - self.n
        {}
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["None", "Flow[None]"])
@pytest.mark.parametrize("name", ["add", "append", "setdefault", "get", "read"])
def test_what_a_property_makes_for_itself_has_no_actions(
    kind: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "spec.py"
    action = ACTION.format(name, kind, "yield" if kind != "None" else "")
    path.write_text(OWN.replace("    METHODS", action))

    assert "holds" == check(path, engine="reference").verdict
