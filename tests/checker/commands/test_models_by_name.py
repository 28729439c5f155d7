"""A model of the library is meant by its name, from any folder; a path that exists wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from statewalk import load
from statewalk.checker.cli import main
from statewalk.checker.library import spec_path
from tests.cases import slow

FAST = ["--engine", "reference"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.thorough
@pytest.mark.parametrize("name", [slow("toys/die_hard"), "die_hard"])
def test_every_command_that_takes_a_spec_takes_a_model(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == main(["check", name, *FAST, "--out", "run"])
    assert 0 == main(["replay", "run/goal_not_reached.trace.json"])
    assert 0 == main(["replay", "run/goal_not_reached.trace.json", "--spec", name])
    assert 1 == main(["resume", "run"])
    assert 1 == main(["simulate", name])
    assert 0 == main(["profile", name])
    assert 0 == main(["export", name, "--format", "dot"])
    assert "" == capsys.readouterr().err
    assert "die_hard" == load(name).name


def test_what_is_listed_is_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    main(["models"])
    *lines, more, last = capsys.readouterr().out.splitlines()
    listed = [line.partition(" ")[0] for line in lines if line[0] != " "]

    assert "kafka/init_pid" in listed
    assert "More of one: statewalk models kafka/consumer_groups" == more
    assert "Check one with: statewalk check kafka/consumer_groups" == last
    assert listed == [f"{Path(p).parent.name}/{Path(p).stem}" for p in map(spec_path, listed)]


@pytest.mark.slow
def test_all_that_is_listed_is_loaded_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    main(["models"])
    lines = capsys.readouterr().out.splitlines()[:-2]
    listed = [line.partition(" ")[0] for line in lines if line[0] != " "]

    assert listed == [f"{Path(m.path).parent.name}/{m.name}" for m in map(load, listed)]


def test_of_one_model_it_is_said_what_it_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for words in (["die_hard"], ["list", "toys/die_hard"]):
        assert 0 == main(["models", *words])
        said.append(capsys.readouterr().out)

    assert said[0] == said[1]
    assert "The property is written to be broken" in said[0]
    assert 0 == main(["models", "die_hard", "counters"])
    assert "The property is written to be broken" not in capsys.readouterr().out


def test_a_path_that_exists_wins(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (elsewhere / "die_hard").mkdir()

    assert 2 == main(["check", "die_hard", *FAST])
    assert "SW302 die_hard is a directory, not a spec." in capsys.readouterr().err


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kafka/init_pd", ["In the library: kafka/init_pid."]),
        ("kafka/init_pid.py", ["In the library: kafka/init_pid."]),
        (
            "kafka",
            [
                "In .: ours.py.",
                "In the library: kafka/consumer_groups, kafka/eligible_leaders, "
                "kafka/exactly_once, kafka/groups, kafka/init_pid, kafka/replication, "
                "kafka/share_partition, kafka/transactions.",
            ],
        ),
        ("nothing", ["In .: ours.py.", "Models of the library: see statewalk models."]),
    ],
)
def test_an_unknown_name_is_answered_with_files_and_models(
    name: str, said: list[str], elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (elsewhere / "ours.py").touch()
    told = [f"SW302 There is no file {name}.", *(f"   {line}" for line in said)]

    assert 2 == main(["check", name])
    assert told == capsys.readouterr().err.splitlines()
