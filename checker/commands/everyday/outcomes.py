"""The results of many specs in one file for CI servers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as Xml

from statewalk.checker.commands.everyday.rows import Row
from statewalk.checker.machine import streams
from statewalk.checker.machine.files import write_text
from statewalk.checker.report import ci
from statewalk.dsl.errors import RunError, Span, printable

if TYPE_CHECKING:
    from statewalk.dsl.errors import StatewalkError


Origins = tuple[str, Mapping[str, str]]  # a spec, and what it was made of: `Model.origins`


@dataclass
class Outcomes:
    """The results gathered while specs are tested, and their destination; what was ``made`` of
    what.
    """

    junit: str | None = None
    sarif: str | None = None
    github: bool = False
    made: list[Origins] = field(default_factory=list)
    _suites: list[Xml.Element] = field(default_factory=list)
    _results: list[dict[str, Any]] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)

    @property
    def asked(self) -> bool:
        """Return whether anybody wants to know."""
        return bool(self.junit or self.sarif or self.github)

    def rows(self, spec: str, rows: list[Row], *, all_there: bool = True) -> None:
        """Add the results of a spec's checks, or that one ended without a result; ``all_there``: of
        each of its configurations.
        """
        self.made += [(spec, row.origins) for row in rows]
        lines = [line for row in rows if row.told for line in row.told.github.splitlines()]
        results = [row.result for row in rows if row.result is not None]
        lines = ci.together(lines, results, all_there=all_there)
        self._lines += [f"{line}\n" for line in lines]
        for row in rows:
            told = row.told
            if told is not None and told.junit:
                root = Xml.fromstring(told.junit)
                self._suites += [root] if root.tag == "testsuite" else list(root)
            if told is not None and told.sarif:
                self._results += json.loads(told.sarif)["runs"][0]["results"]
            if row.result is None:
                self._failed(f"{spec} [{row.configuration.name}]", spec, row.problem, None)

    def loaded(self, spec: str, origins: Mapping[str, str]) -> None:
        """A spec that is tested, or not again."""
        self.made.append((spec, origins))

    def unchanged(self, spec: str, name: str, found: str) -> None:
        """A configuration that was not checked again."""
        suite = self._suite(f"{spec} [{name}]", skipped=1)
        case = Xml.SubElement(suite, "testcase", name="unchanged", classname=spec)
        said = f"not checked again: unchanged since it was as expected ({printable(found)})"
        Xml.SubElement(case, "skipped", message=said)

    def mistake(self, spec: str, error: StatewalkError) -> None:
        """A spec that cannot be loaded."""
        self._failed(spec, spec, str(error), getattr(error, "span", None))

    def _suite(self, name: str, errors: int = 0, skipped: int = 0) -> Xml.Element:
        counts = {"tests": "1", "failures": "0", "errors": str(errors), "skipped": str(skipped)}
        suite = Xml.Element("testsuite", {"name": name, **counts})
        self._suites.append(suite)
        return suite

    def _failed(self, name: str, spec: str, text: str, span: Span | None) -> None:
        text = printable(text)
        case = Xml.SubElement(self._suite(name, errors=1), "testcase", name="load", classname=spec)
        Xml.SubElement(case, "error", message=text.partition("\n")[0]).text = text
        found = ci.Found("error", "error", "error", text, span)
        self._results.append(ci.sarif_result(found, spec))
        self._lines.append(ci.github_line(found, spec) + "\n")

    def write(self) -> None:
        """Write what was asked for. Raises RunError[SW403], once all that can be written is."""
        problem: RunError | None = None
        for option, file, text in (
            ("--junit", self.junit, self._junit),
            ("--sarif", self.sarif, self._sarif),
        ):
            if file:
                try:
                    place = f"Give another place with {option} FILE."
                    write_text(Path(file), text(), help=place, named=True)
                except RunError as error:
                    problem = problem or error
        if self.github:
            streams.out().write("".join(self._lines))
        if problem is not None:
            raise problem

    def _junit(self) -> str:
        root = Xml.Element("testsuites")
        root.extend(self._suites)
        Xml.indent(root)
        text = printable(Xml.tostring(root, encoding="unicode"))
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'

    def _sarif(self) -> str:
        return ci.sarif_text(self._results)
