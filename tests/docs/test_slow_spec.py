"""Constructs in the table of docs/how-to/slow-spec.md are not translated; what replaces them is."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk.checker.cli import main
from tests.docs.test_errors import changed

SLOW = """\
from statewalk import Record, Role, action, any_of, deadlock, require

JOBS = 2
deadlock(False)  # tries run out


class Job(Record):
    tries: int = 0


class Desk(Role):
    jobs: list[Job] = [Job() for _ in range(JOBS)]
    marks: set[int] = set()
    level: int = 0

    @action
    def changes_what_a_loop_goes_through(self) -> None:
        for job in self.jobs:
            if job.tries < 1:
                job.tries += 1
                return

    @action
    def matches(self) -> None:
        match self.level:
            case 0:
                self.level = 1
            case _:
                self.level = 0

    @action
    def has_a_key_that_reads_the_state(self) -> None:
        sorted(desks, key=lambda desk: desk.level)[0].level = 1

    @action
    def assigns_in_an_expression(self) -> None:
        if (mark := self.level) not in self.marks:
            self.marks.add(mark)

    @action
    def updates_a_set_with_an_operator(self) -> None:
        self.marks |= {self.level}

    @action
    def catches(self) -> None:
        try:
            self.level = self.jobs[2].tries
        except IndexError:
            self.level = 0

    @action
    def has_a_generator(self) -> None:
        self.level = next((desk.level for desk in desks if desk.level > 0), 0)

    @action
    def forgets(self) -> None:
        self.marks.remove(any_of([mark for mark in self.marks if mark > 0]))


desks = [Desk() for _ in range(2)]
"""

FAST = """\
     def changes_what_a_loop_goes_through(self) -> None:
-        for job in self.jobs:
-            if job.tries < 1:
-                job.tries += 1
+        for number in range(JOBS):
+            if self.jobs[number].tries < 1:
+                self.jobs[number].tries += 1
                 return
@@
     def matches(self) -> None:
-        match self.level:
-            case 0:
-                self.level = 1
-            case _:
-                self.level = 0
+        if self.level == 0:
+            self.level = 1
+        else:
+            self.level = 0
@@
     def has_a_key_that_reads_the_state(self) -> None:
-        sorted(desks, key=lambda desk: desk.level)[0].level = 1
+        least = min([desk.level for desk in desks])
+        [desk for desk in desks if desk.level == least][0].level = 1
@@
     def assigns_in_an_expression(self) -> None:
-        if (mark := self.level) not in self.marks:
+        mark = self.level
+        if mark not in self.marks:
             self.marks.add(mark)
@@
     def updates_a_set_with_an_operator(self) -> None:
-        self.marks |= {self.level}
+        self.marks.update({self.level})
@@
     def catches(self) -> None:
-        try:
-            self.level = self.jobs[2].tries
-        except IndexError:
-            self.level = 0
+        self.level = self.jobs[2].tries if len(self.jobs) > 2 else 0
@@
     def has_a_generator(self) -> None:
-        self.level = next((desk.level for desk in desks if desk.level > 0), 0)
+        self.level = max([desk.level for desk in desks])
"""

LISTED = [
    "Desk.changes_what_a_loop_goes_through, line 20",
    "Desk.matches, line 25",
    "Desk.has_a_key_that_reads_the_state, line 33",
    "Desk.assigns_in_an_expression, line 37",
    "Desk.updates_a_set_with_an_operator, line 42",
    "Desk.catches, line 46",
    "Desk.has_a_generator, line 53",
]


@pytest.mark.parametrize(
    ("spec", "listed"), [(SLOW, LISTED), (changed(SLOW, FAST), [])], ids=["slow", "fast"]
)
def test_constructs_that_are_not_translated(
    spec: str,
    listed: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("refused.py").write_text(spec, encoding="utf-8")

    assert 0 == main(["profile", "refused.py"])

    printed = capsys.readouterr().out
    assert "576 distinct states, 8,641 generated" in printed
    assert [] == [name for name in listed if name not in printed]
    assert ("not translated" in printed) is bool(listed)
