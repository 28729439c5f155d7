"""The files of a new folder of specs. Each spec has a configuration that holds and one that is
violated: a check that cannot fail says nothing.
"""

import re
from pathlib import Path

EMPTY = '''"""What is modelled, in a sentence; what is left out."""

from statewalk import Constant, State, action, always, config, holds, require, violates

TAKERS: Constant[int] = 2
CHECKED: Constant[bool] = True  # whether a taker looks before it takes


class Lock(State):
    holders: int = 0

    @action
    def take(self) -> None:
        require(self.holders < TAKERS)
        require(self.holders == 0 or not CHECKED)
        self.holders += 1

    @action
    def release(self) -> None:
        require(self.holders > 0)
        self.holders -= 1


lock = Lock()


@always
def one_holder() -> bool:
    """What must be true in every state."""
    return lock.holders <= 1


config("small", expect=holds(distinct=2))
config("unchecked", CHECKED=False, expect=violates(one_holder, length=2))
'''

ROLES = '''"""Clients ask a server for a lock, by messages that may overtake each other."""

from typing import Literal

from statewalk import (
    Constant,
    Message,
    Network,
    Role,
    action,
    always,
    config,
    exists,
    holds,
    on_message,
    pairs,
    require,
    violates,
)

CLIENTS: Constant[int] = 2
ONE_AT_A_TIME: Constant[bool] = True  # whether the server remembers whom it granted the lock


class Ask(Message):
    client: "Client"


class Grant(Message): ...


class Release(Message):
    client: "Client"


class Client(Role, symmetric=True):
    state: Literal["idle", "asking", "holding"] = "idle"

    @action
    def ask(self) -> None:
        require(self.state == "idle")
        self.state = "asking"
        wire.send(server, Ask(self))

    @on_message
    def receive_grant(self, _: Grant) -> None:
        self.state = "holding"

    @action
    def release(self) -> None:
        require(self.state == "holding")
        self.state = "idle"
        wire.send(server, Release(self))


class Server(Role):
    granted: bool = False

    @on_message
    def receive_ask(self, ask: Ask) -> None:
        require(not (self.granted and ONE_AT_A_TIME))
        self.granted = True
        wire.send(ask.client, Grant())

    @on_message
    def receive_release(self, _: Release) -> None:
        self.granted = False


class Wire(Network[Message, Client | Server], kind="set"): ...


wire = Wire()
clients = [Client() for _ in range(CLIENTS)]
server = Server()


@always
def one_holder() -> bool:
    return all(not a.state == b.state == "holding" for a, b in pairs(clients))


@exists
def somebody_holds() -> bool:
    """A check in which this never happened would say little."""
    return any(client.state == "holding" for client in clients)


config("two", expect=holds())
config("forgetful", ONE_AT_A_TIME=False, expect=violates(one_holder))
'''

TWO_PHASE = "toys/two_phase_commit"  # a model of the library, with what goes wrong:
EARLY = '''

@mutant(TransactionManager.commit)
def commit_early(self: TransactionManager) -> None:
    """It commits without having heard from all."""
    require(self.state == "init")
    self.state = "committed"
    network.sent.add(Commit())


config("early", MUTANT="commit_early", expect=violates(consistent))
'''

IGNORED = """.statewalk/
__pycache__/
specs.xml
"""

WORKFLOW = """name: specs
on: [push, pull_request]
permissions:
  contents: read
jobs:
  specs:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683  # v4.2.2
      - uses: actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065  # v5.6.0
        with:
          python-version: "3.12"
      - run: {install}
      - uses: actions/cache@5a3ec84eff668545956fd18022155c47e93e2684  # v4.2.3
        with:
          path: ~/.cache/statewalk/kernels  # compiled kernels
          key: statewalk-${{ github.sha }}
          restore-keys: statewalk-
      - run: statewalk doctor --compile --user
      - run: statewalk test --github --junit specs.xml
      - uses: actions/upload-artifact@ea165f8d65b6e75b540449e92b4886f43607fa02  # v4.6.2
        if: always()
        with:
          name: specs
          path: specs.xml
"""


def workflow() -> str:
    """Return the workflow, which installs statewalk from where this copy came from."""
    from statewalk.checker.machine.installed import source

    found = source()
    if found.is_portable:
        return WORKFLOW.replace("{install}", found.command())
    return _FIRST + WORKFLOW.replace("{install}", _STOP)


_FIRST = """\
# Before the first run: this copy of statewalk was installed from a place on your machine, which
# GitHub cannot reach. In the step that ends with "exit 1", write a command that works there:
#   pip install "statewalk @ git+https://HOST/PATH@COMMIT"
#   pip install ./statewalk-VERSION-py3-none-any.whl     (a wheel kept in this repository)
"""
_STOP = """|
          echo "specs.yml: write the command that installs statewalk, see its first lines" >&2
          exit 1"""


def agents() -> str:
    """Return a page on the language for coding assistants, for a folder of specs."""
    from statewalk.dsl.files import read_text

    here = Path(__file__).resolve()
    page = next(p / "AGENTS.md" for p in here.parents if (p / "AGENTS.md").is_file())
    lines = read_text(page).splitlines(keepends=True)
    text = "".join(line for line in lines if "CONTRIBUTING" not in line)
    return re.sub(r"\[[^]]*\]\([^)]*?(\w[\w-]*)\.md[^)]*\)", r"`statewalk docs \1`", text)
