"""The blocks of code in pages: which of it is run here, by another test, or not at all and why.

A piece is a command, or a whole block of something else; it is named by how it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.places import ROOT

KINDS = ("tutorial", "how-to", "reference", "explanation")
PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in (
        *ROOT.glob("*.md"),
        *sorted((ROOT / "docs").glob("*.md")),
        *(page for kind in KINDS for page in sorted((ROOT / "docs" / kind).glob("*.md"))),
        ROOT / "docs/diary/README.md",
        *sorted((ROOT / "examples").rglob("*.md")),
    )
]
_BLOCK = re.compile(r"^```(\w*) *([\w./-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PROGRAM = re.compile(r"([A-Z]+=\S+ )*(statewalk|cd|pip|make|python|pytest|kafka-dump-log\.sh) ?")


@dataclass(frozen=True)
class Piece:
    """A command (of no language), or a block."""

    page: str
    language: str
    text: str


def pieces(page: str) -> Iterator[Piece]:
    """Yield what a page shows, in order."""
    for language, _, content in _BLOCK.findall((ROOT / page).read_text("utf-8")):
        lines = [*_joined(content)]
        prompts = [line[2:] for line in lines if line.startswith("$ ")]
        if language == "console":
            yield from (Piece(page, "console", line) for line in prompts or lines)
        elif not language and _PROGRAM.match(lines[0]):
            yield from (Piece(page, "", line) for line in lines)
        else:
            yield Piece(page, language or "text", content)


def _joined(content: str) -> Iterator[str]:
    """The lines as a shell reads them: without ends of line after a backslash, and remarks."""
    for line in re.sub(r" *\\\n *", " ", content).splitlines():
        if line.strip():
            yield re.sub(r"  +#.*$", "", line)


@dataclass(frozen=True)
class Step:
    """One piece of a page that is run, and what comes out."""

    begins: str
    says: tuple[str, ...] = ()
    code: int = 0
    instead: tuple[str, str] = ("", "")  # what this machine has not, and what stands for it here
    file: str = ""  # a block is written there
    then: str = ""  # and this command is given
    writes: str = ""  # a file that is there afterwards


@dataclass(frozen=True)
class Walk:
    """Pieces of a page that are run one after another in one folder."""

    page: str
    steps: tuple[Step, ...]
    before: tuple[str, ...] = ()  # commands that a reader of the page has given already
    slow: bool = False
    spark: bool = False


_PETERSON = "--inductive one_inside --inductive flag_says_where"
WALKS = (
    Walk(
        "docs/how-to/prove.md",
        (
            Step("statewalk prove specs/examples/exclusion/peterson.py", ("breaks in 1 step",), 1),
            Step(
                f"statewalk prove specs/examples/exclusion/peterson.py {_PETERSON}",
                ("'wait' → 'inside'",),
                1,
            ),
            Step(
                f"statewalk prove specs/examples/exclusion/peterson.py {_PETERSON} --inductive who",
                ("INDUCTIVE", "60 satisfy it"),
            ),
        ),
    ),
    Walk(
        "docs/how-to/compare.md",
        (
            Step("statewalk compare toys/transaction_commit", ("34", "288", "Every behavior of")),
            Step("from statewalk import compare"),
        ),
    ),
    Walk(
        "docs/how-to/refine.md",
        (
            Step(
                "from statewalk import refines",
                ("HOLDS", "1 refinement", "288 distinct states"),
                file="spec.py",
                then="statewalk check spec.py",
            ),
        ),
    ),
    Walk(
        "docs/how-to/compare.md",
        (
            Step("statewalk compare kafka/init_pid kafka/transactions", ("no match for step 16",)),
            Step("statewalk compare kafka/exactly_once --vary", ("cross_system_atomic", "fixed")),
        ),
        slow=True,
    ),
    Walk(
        "docs/how-to/explore.md",
        (
            Step(
                "statewalk check kafka/init_pid --set BROKERS=1",
                ("after 5 steps",),
                1,
                writes="report.html",
            ),
            Step("statewalk show .statewalk/runs/0001/epoch_monotone", writes="trace.html"),
            Step("statewalk export kafka/init_pid --format actors", ("InitPidRequest",)),
            Step("statewalk export kafka/init_pid --format machine", ("SentInitPidRequest",)),
            Step("statewalk export .statewalk/runs/0001/epoch_monotone", writes="trace.svg"),
            Step("statewalk explore kafka/init_pid", ("http://",)),
            Step("statewalk explore .statewalk/runs/0001/epoch_monotone", ("http://",)),
            Step("statewalk explore .statewalk/runs/0001", ("http://",)),
            Step("statewalk eval .statewalk/runs/0001", ("[-1, -1]", "4 Broker#0")),
        ),
    ),
    Walk(
        "docs/how-to/graph.md",
        (
            Step("statewalk check models/toys/two_phase_commit.py --graph", ("288 states",)),
            Step("statewalk query graph", ("ResourceManager_0_state VARCHAR",)),
            Step('statewalk query graph "SELECT action', ("prepare 156", "7 rows")),
            Step("statewalk query graph --where", ("8 rows",)),
            Step("statewalk query graph --path", ("1 step, a shortest path",)),
            Step("-- which actions can happen", ("7 rows", "28 rows", "11 rows", "0 rows")),
            Step("from statewalk import check", ("288 ",)),
        ),
    ),
    Walk(
        "docs/how-to/histories.md",
        (
            Step(
                "statewalk history collect skew.jsonl",
                ("200 transactions of write-skew",),
                instead=(
                    "--database postgres --url postgresql://me@localhost/test "
                    '--isolation "repeatable read" ',
                    "",
                ),
            ),
            Step("statewalk history check skew.jsonl", ("fails: serializable", "write-skew")),
            Step("statewalk history check runs/", ("one.jsonl", "write-skew")),
            Step(
                "statewalk history check runs/ --level si --jobs 8",
                ("two.jsonl",),
                writes="verdicts.json",
            ),
            Step(
                "statewalk history from-trace run/Property.trace.json",
                ("trace.jsonl: 2 transactions",),
                instead=(
                    "run/Property.trace.json --spec store.py",
                    "run/strong_session_si.trace.json --spec models/stores/snapshot.py",
                ),
            ),
        ),
        before=(
            "statewalk history collect runs/one.jsonl --workload write-skew --transactions 20",
            "statewalk history collect runs/two.jsonl --workload append --transactions 20",
            "statewalk check stores/snapshot --config own-write-missed --out run",
        ),
        slow=True,
    ),
    Walk(
        "docs/how-to/objects.md",
        (
            Step(
                '{"client": "ann", "op": "enqueue"',
                ("linearizable: violated",),
                1,
                file="twice.jsonl",
                then="statewalk history check twice.jsonl --object queue",
            ),
            Step(
                '{"client": "ann", "event"',
                ("1 of unknown outcome",),
                file="killed.jsonl",
                then="statewalk history check killed.jsonl --object queue",
            ),
            Step(
                "statewalk history check twice.jsonl --object queue --svg",
                ("fits nowhere", "(client eve, line 4): it returns 'job 2'"),
                1,
                writes="twice.svg",
            ),
            Step("statewalk history check killed.jsonl", ("linearizable: holds",)),
            Step(
                "from statewalk import State",
                ("7 distinct states",),
                3,
                file="at_least_once.py",
                then="statewalk check at_least_once.py --max-depth 3",
            ),
            Step("statewalk history check twice.jsonl --object at_least", ("holds",)),
            Step(
                "statewalk history check twice.jsonl --object queue --order",
                ("sequentially consistent: violated",),
                1,
            ),
        ),
    ),
    Walk(
        "docs/reference/history-format.md",
        (
            Step(
                '{"statewalk-history"',
                ("4 transactions as edn",),
                file="history.jsonl",
                then="statewalk history convert history.jsonl jepsen/history.edn --to edn",
            ),
            Step(
                "statewalk history check history.jsonl",
                ("that holds: strong-session-serializable",),
            ),
            Step("statewalk history check history.jsonl --level si", ("si: holds",)),
            Step("statewalk history check jepsen/", ("that fails",), 1, writes="anomaly.svg"),
            Step("statewalk history convert jepsen/history.edn", ("out.jsonl: 4 transactions",)),
            Step("from statewalk.dsl.library.recording"),
        ),
    ),
    Walk(
        "docs/how-to/spark.md",
        (
            Step(
                "statewalk check models/toys/two_phase_commit.py --set RMS=9",
                ("HOLDS", "288 distinct states"),
                instead=("RMS=9", "RMS=3 --out DIR --spark-native-until 1"),
            ),
            Step("statewalk resume DIR", ("HOLDS", "288 distinct states")),
            Step(
                "from statewalk import check",
                instead=('"session": spark, "folder": "/shared/statewalk"', '"master": "local[2]"'),
            ),
        ),
        slow=True,
        spark=True,
    ),
)

ELSEWHERE = {  # which languages of a page another test runs
    "AGENTS.md": ("python console", "tests/docs/test_agents.py"),
    "README.md": ("python console", "tests/docs/test_checking.py"),
    "docs/how-to/compare.md": ("console", "tests/docs/test_tutorial.py"),
    "docs/reference/python.md": ("python text", "tests/docs/test_checking.py"),
    "docs/reference/words.md": ("text", "tests/docs/test_checking.py"),
    "docs/how-to/conform.md": ("python console", "tests/docs/test_conform_page.py"),
    "docs/reference/fizz.md": ("fizz", "tests/dsl/fizz/test_docs.py"),
    "docs/how-to/histories.md": ("python", "tests/checker/history/test_docs.py"),
    "docs/explanation/inside.md": ("python", "tests/docs/test_inside.py"),
    "docs/reference/language.md": ("python console", "tests/docs/test_language.py"),
    "docs/explanation/liveness.md": ("python", "tests/docs/test_liveness_page.py"),
    "docs/how-to/networks.md": ("python console", "tests/docs/test_language.py"),
    "docs/explanation/refused.md": ("python fizz console", "tests/docs/test_refused.py"),
    "docs/how-to/slow-spec.md": ("python diff console", "tests/docs/test_language.py"),
    "docs/how-to/too-many-states.md": ("python diff console", "tests/docs/test_language.py"),
    "docs/tutorial/1-first-spec.md": ("python console", "tests/docs/test_tutorial.py"),
    "docs/tutorial/2-a-bug.md": ("diff console", "tests/docs/test_tutorial.py"),
    "docs/tutorial/3-liveness.md": ("diff console", "tests/docs/test_tutorial.py"),
    "docs/tutorial/4-ci.md": ("console", "tests/docs/test_tutorial.py"),
    "docs/how-to/tla.md": ("python", "tests/dsl/fizz/test_docs_tla.py"),
}
_FORM = "the form of a command"
_INSTALLS = "installs packages: tests/package builds and installs one"
_WHOLE = "runs all tests, or builds the environment that they run in"
_SHOWN = "an excerpt, with what differs from run to run"
_LONG = "ten thousand runs, or a hundred scenarios; tests/examples does some of each"
_POSTGRES = "needs a PostgreSQL server: tests/examples/test_two_systems.py, `make test-postgres`"
_REDIS = "has a server: tests/checker/history/objects/test_collect.py, `make test-redis`"
NOT_RUN = {
    "README.md": {
        "make demo": "the two commands of the tour, which are run",
        "make test": _WHOLE,
        "pip install": _INSTALLS,
    },
    "CONTRIBUTING.md": {"make": _WHOLE},
    "docs/how-to/graph.md": {"SELECT count(*)": "asked in tests/checker/graph/test_dataset.py"},
    "docs/reference/report.md": {
        "{": "its fields are compared in tests/docs/test_checking.py",
    },
    "docs/how-to/long-searches.md": {
        "statewalk check spec.py --timeout 60": "takes a minute; tests/checker/machine hangs less",
    },
    "docs/how-to/ci.md": {
        "ceiling.py": _SHOWN,
        "statewalk check spec.py --watch": "waits for saves, as tests/checker/commands do",
        "since the check at": _SHOWN,
        "[tool.pytest": "tests/package/test_projects.py has a project with this setting",
    },
    "docs/how-to/compare.md": {"statewalk compare SPEC": _FORM},
    "docs/how-to/publish-pages.md": {
        "make site": "takes minutes and npm; tests/checker/page builds parts of it",
        "statewalk docs": _FORM,
        "statewalk diary build": _FORM,
    },
    "docs/how-to/prove.md": {"NOT INDUCTIVE": _SHOWN, "INDUCTIVE": _SHOWN},
    "docs/explanation/compared.md": {"python benchmarks/run.py": "needs TLC and Java"},
    "docs/how-to/conform.md": {
        "kafka-dump-log.sh": "needs Kafka",
        "statewalk conform kafka/exactly_once dump": "reads what Kafka's tool printed",
    },
    "docs/diary/README.md": {
        "cd": "the reader's shell",
        "statewalk check fenced.py": "a command of entry 0, which tests/docs/test_diary.py runs",
        "statewalk diary": "tests/checker/diary builds sites and notebooks",
    },
    "docs/reference/fizz.md": {
        "statewalk check kafka_transactions.fizz": "the reader's own file",
        "statewalk convert kafka_transactions.fizz": "the reader's own file",
    },
    "docs/how-to/objects.md": {
        "dequeue() →": "compared in tests/checker/history/objects/test_command.py",
        "statewalk history check logs/": "a folder of the reader's",
        "from statewalk.checker.history.collect import Requests": _REDIS,
        "from statewalk.dsl.operations": "an excerpt of models/stores/abd.py",
        "statewalk history collect lock.jsonl": _REDIS,
        "statewalk history check lock.jsonl": _REDIS,
    },
    "docs/how-to/histories.md": {
        "Not parallel-si": "what PostgreSQL did once: tests/checker/history finds lost updates",
    },
    "docs/explanation/history-databases.md": {
        "pip install": _INSTALLS,
        "statewalk history": "needs a MariaDB server: `make test-mariadb`",
        '{"statewalk-history"': "checked in tests/checker/history/test_docs.py",
        "Not monotonic": "compared in tests/checker/history/test_docs.py",
    },
    "docs/explanation/liveness.md": {"VIOLATED": _SHOWN},
    "docs/how-to/spark.md": {
        "statewalk check SPEC": _FORM,
    },
    "docs/tutorial/1-first-spec.md": {
        "statewalk doctor": "tests/checker/commands tries it",
        "statewalk docs": "opens a browser",
    },
    "docs/tutorial/4-ci.md": {
        "statewalk test --junit": "tests/checker/commands writes JUnit",
    },
    "docs/how-to/tla.md": {
        "statewalk new NAME": _FORM,
        "Send(c, b)": "TLA+: TLC's, not read here",
    },
    "examples/dataflow/README.md": {"python": "needs Spark: tests/examples kills and resumes it"},
    "examples/transactions/README.md": {
        "python": _LONG,
        "statewalk": _LONG,
        "TRANSACTIONS=1": _LONG,
    },
    "examples/two_systems/README.md": {
        "max_prepared": _POSTGRES,
        "pip install": _INSTALLS,
        "python": _POSTGRES,
        "statewalk": _POSTGRES,
    },
}
