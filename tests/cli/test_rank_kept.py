"""`lcca rank` with a folder: a stopped ranking goes on, and ends as if it had not been stopped."""

import json
from pathlib import Path

import pytest

from lcca.cli.main import main

SPACE = str(Path(__file__).parents[2] / "configs" / "networks" / "default.yaml")
ASKED = ["rank", "aimd", "fixed-window:12", "fixed-window:20", "--on", SPACE, "--trials", "160", "--json"]


@pytest.mark.slow
def test_a_ranking_that_is_kept_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    rule = ["--rule", "t-mixture"]
    assert main([*ASKED, *rule, "--out", str(whole)]) == 0
    capsys.readouterr()
    assert main([*ASKED, *rule, "--out", str(stopped), "--budget", "0.000001s"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["networks"] < 160 and "the same command goes on" in first["note"]
    assert main([*ASKED, *rule, "--out", str(stopped)]) == 0
    capsys.readouterr()
    assert (whole / "summary.json").read_bytes() == (stopped / "summary.json").read_bytes()
    names = {file.name for file in (whole / "trials").iterdir()}
    assert names == {file.name for file in (stopped / "trials").iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["rank", "compare"])
def test_more_trials_go_on_from_those_that_are_there(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [command, "aimd", "fixed-window:12", "--on", SPACE, "--json", "--out", str(tmp_path / "run")]
    asked += ["--rule", "t-mixture"] if command == "rank" else []
    assert main([*asked, "--trials", "160"]) == 0
    before = {file.name: file.read_bytes() for file in (tmp_path / "run" / "trials").iterdir()}
    means = json.loads(capsys.readouterr().out)
    assert main([*asked, "--trials", "100"]) == 2
    assert "options.trials: 160 → 100" in capsys.readouterr().err
    for most in ("320", "352"):
        assert main([*asked, "--trials", most]) == 0
    after = {file.name: file.read_bytes() for file in (tmp_path / "run" / "trials").iterdir()}
    assert before.items() < after.items()
    content = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert content["comparisons"][0]["n"] == 352 > means["comparisons"][0]["n"]
    assert main([*asked, "--trials", "352"]) == 0
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == content


def test_a_number_that_is_fixed_beforehand_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["rank", "aimd", "fixed-window:12", "--on", SPACE, "--json", "--out", str(tmp_path / "run")]
    assert main([*asked, "--trials", "96"]) == 0
    assert main([*asked, "--trials", "160"]) == 2
    said = capsys.readouterr().err
    assert "options.trials: 96 → 160" in said
    assert "the rule group-sequential spends" in said and "--rule t-mixture" in said


@pytest.mark.slow
def test_a_folder_is_one_rankings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, "--out", str(tmp_path / "a")]) == 0
    assert main([*ASKED, "--seed", "2", "--out", str(tmp_path / "a")]) == 2
    assert "another configuration: seed: 1 → 2; choose another --out" in capsys.readouterr().err


def test_a_space_of_any_name_has_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space = tmp_path / "my space!.yaml"
    space.write_text(Path(SPACE).read_text())
    asked = ["rank", "aimd", "fixed-window:12", "--on", str(space), "--trials", "96", "--json"]
    assert main([*asked, "--out", str(tmp_path / "run")]) == 0
    assert main([*asked, "--rule", "t-mixture", "--budget", "0.000001s", "--trials", "192"]) == 0
    assert "goes on" not in capsys.readouterr().out


def test_a_budget_needs_a_rule_that_may_stop_at_any_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, "--budget", "10s"]) == 2
    assert "--rule t-mixture" in capsys.readouterr().err


def test_a_trial_cache_is_not_of_networks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, "--trial-cache", "x"]) == 2
    assert "--trial-cache: is of places that studies add" in capsys.readouterr().err


def test_a_refused_ranking_leaves_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["rank", "aimd", "fixed-window:12", "--on", SPACE, "--trials", "3", "--out", str(tmp_path / "run")]
    assert main(asked) == 2
    assert "at least" in capsys.readouterr().err and not (tmp_path / "run").exists()
