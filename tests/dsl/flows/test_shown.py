"""Suspended runs in traces."""

from pathlib import Path

from statewalk import check, replay
from statewalk.checker.traces.file import save_trace

TWO_RUNS = """from statewalk import Flow, State, action, always, any_of, require

class Stock(State):
    sizes: set[int] = set()
    last: int = 0

    @action(concurrent=2)
    def take(self) -> Flow[None]:
        size = any_of([5, 6])
        require(size not in self.sizes)
        self.sizes.add(size)
        yield
        self.last = size if len(self.sizes) == 2 and self.last == 0 else -1

stock = Stock()

@always
def never_six() -> bool:
    return stock.last != 6
"""


def test_which_run_goes_on_is_told_by_where_it_waits_and_what_it_keeps(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text(TWO_RUNS)
    last = check(spec).traces["never_six"].steps[-1]

    assert "take (continued)" == last.action
    assert ["run={'at': 'line 13', 'size': 6}"] == [str(choice) for choice in last.choices]


def test_a_trace_happens_again_where_only_lines_moved(tmp_path: Path) -> None:
    spec, kept = tmp_path / "spec.py", tmp_path / "t.json"
    spec.write_text(TWO_RUNS)
    save_trace(check(spec).traces["never_six"], kept)

    spec.write_text(
        "# a comment\n" + TWO_RUNS.replace("        yield\n", "        # more\n        yield\n")
    )
    moved = replay(kept)
    assert moved.reproduced
    assert ("spec.py",) == tuple(Path(name).name for name in moved.changed)
    spec.write_text(TWO_RUNS.replace("        yield\n", "        yield\n        yield\n"))
    other = replay(kept)
    assert not other.reproduced
