"""Grids: many runs in one file."""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from lcca.evaluation.report.words.statements import percent
from lcca.experiments.campaign.config import CampaignConfig, read_campaign
from lcca.experiments.recipes.kept import config_of
from lcca.experiments.runs.grid import read_grid
from lcca.experiments.tuning.config import TuningConfig
from lcca.inputs.errors import ConfigError

from ...fixtures import TINY, RunCommand
from .run_kinds import KINDS


def file(folder: Path, grid: str) -> Path:
    path = folder / "grid.yaml"
    path.write_text(TINY + grid)
    return path


def test_every_combination_is_a_point(tmp_path: Path) -> None:
    text = "grid: {model.link_interval: [10, 100], networks.loss: {none: 0, some: 0.02}}\n"
    grid = read_grid(file(tmp_path, text), CampaignConfig)
    assert list(grid.points) == ["10_none", "10_some", "100_none", "100_some"]
    last = grid.points["100_some"]
    assert (last.model.link_interval, last.networks.loss.min, last.name) == (100, 0.02, "tiny.100_some")
    assert len({config.hash for config in grid.points.values()}) == 4
    assert not grid.single


def test_a_file_without_a_grid_is_one_point(tiny: Path) -> None:
    grid = read_grid(tiny, CampaignConfig)
    assert grid.single and grid.points[""] == read_campaign(tiny)


def test_files_in_a_grid_lie_beside_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "spaces").mkdir()
    own = TINY[TINY.index("networks:") : TINY.index("signal_sets")].removeprefix("networks:\n")
    (tmp_path / "spaces" / "lossy.yaml").write_text(own.replace("loss: 0.01", "loss: 0.1"))
    grid = read_grid(file(tmp_path, "grid: {networks: [spaces/lossy.yaml]}\n"), CampaignConfig)
    assert grid.points["lossy"].networks.loss.min == 0.1


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ("grid: {model.link_intervall: [10]}", "grid.yaml:18: model.link_intervall"),
        ("grid: {model.link_interval: [-1]}", "grid.yaml:18: model.link_interval"),
        ("grid: {model.link_interval: 10}", "must be a list of values"),
        ("grid: [1]", "must be a mapping"),
        ("grid: {seed: []}", "0 points"),
        ("grid: {seed: [1, 1]}", "two points are called '1'"),
    ],
)
def test_what_is_wrong_with_a_grid_is_told(tmp_path: Path, grid: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_grid(file(tmp_path, grid + "\n"), CampaignConfig)
    assert said in str(caught.value)


def test_what_a_grid_says_cannot_be_overridden(tmp_path: Path) -> None:
    path = file(tmp_path, "grid: {model.link_interval: [10, 100]}\n")
    with pytest.raises(ConfigError, match=r"18: grid.model.link_interval: replaces --set model.link_interval"):
        read_grid(path, CampaignConfig, ["model.link_interval=3"])
    assert list(read_grid(path, CampaignConfig, ["grid={model.link_interval: [7]}"]).points) == ["7"]


def test_a_campaign_is_no_grid(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="only `lcca sweep` runs a grid"):
        read_campaign(file(tmp_path, "grid: {seed: [1, 2]}\n"))


def test_a_grid_runs_every_point_and_puts_them_side_by_side(tmp_path: Path, lcca: RunCommand, no_report: None) -> None:
    path = file(tmp_path, "hand_designed: [rcp]\ngrid: {test.pairs: [40, 60]}\n")
    answer = lcca("sweep", path, "--out", tmp_path / "run", "--training-cache", tmp_path / "cache", "--json")
    assert answer.status == 0
    found = answer.json()
    assert [point["name"] for point in found["points"]] == ["40", "60"]
    assert json.loads((tmp_path / "run" / "grid.json").read_text()) == found
    page = (tmp_path / "run" / "report.html").read_text()
    sets, _, policies = page.partition("<h2>Selected policies, against")
    assert "<h2>Signal sets, mean over training seeds, against" in sets and "loss+queue" in sets and "rcp" not in sets
    assert "<td>loss+queue" in policies and "<td>rcp" in policies and ".s1</td>" not in page
    for part, level, sure in ((sets, "set", "(95 %, at one point)"), (policies, "policy", "(95 % each, at one point)")):
        assert sure in part
        for each in compared(found, level):
            assert percent(each["throughput_equivalent_percent"]["difference"]) in part
    assert len(list((tmp_path / "cache").glob("*.training"))) == 4  # both points have the same trainings
    assert (tmp_path / "run" / "60" / "log.txt").read_text().count("done before") == 4
    again = lcca("sweep", path, "--out", tmp_path / "run", "--json")
    assert again.json() == found
    printed = lcca("sweep", path, "--out", tmp_path / "run").out
    assert "signal sets over training seeds" in printed and "selected policies" in printed
    for each in [*compared(found, "set"), *compared(found, "policy")]:
        assert f"{each['difference']:+.3f}" in printed


def compared(found: dict[str, Any], level: str) -> list[dict[str, Any]]:
    """Return the comparisons of a level at all points."""
    return [each for point in found["points"] for each in point["comparisons"] if each["level"] == level]


def test_a_plan_runs_nothing(tmp_path: Path, lcca: RunCommand) -> None:
    path = file(tmp_path, "grid: {test.pairs: [40, 60]}\n")
    told = lcca("sweep", path, "--out", tmp_path / "run", "--plan", "--json").json()
    assert not (tmp_path / "run").exists()
    assert [point["to_train"] for point in told["points"]] == [[4, 4], [4, 4]]
    assert told["points"][0]["wall_s"] is None  # no budget: nobody can know
    least, most = told["points"][1]["test_trials"]
    assert least < most
    shown = lcca("sweep", path, "--set", "trainer.budget_trials=1000", "--plan")
    assert "4 different trainings remain, which --json lists" in shown.out
    assert "to train" not in shown.out and len(told["points"][0]["trainings"]) == 4


OF_ONE_FILE = {
    kind.command[0]: kind
    for kind in reversed(KINDS.values())
    if kind.command[1] in kind.files and kind.command[0] not in ("evaluate", "sweep")
}
"""Commands that run what a file describes, each with a run of it; `lcca sweep` puts points side by side."""


@pytest.mark.slow
@pytest.mark.parametrize("command", OF_ONE_FILE)
def test_every_command_runs_each_point_as_if_alone(
    command: str, lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = OF_ONE_FILE[command]
    if missing := [each for each in kind.needs if find_spec(each) is None]:
        pytest.skip(f"{missing[0]} is not installed")
    monkeypatch.chdir(kind.write(tmp_path))
    name, options = kind.command[1], kind.command[2:]
    Path("grid.yaml").write_text(f"extends: {name}\ngrid: {{seed: [1, 2]}}\n")
    found = lcca(command, "grid.yaml", *options, "--out", "run", "--json").json()
    points = [dict(each) for each in found["studies" if command == "study" else "points"]]
    assert command == "study" or [each.pop("name") for each in points] == ["1", "2"]
    own = re.findall("^name: (.*)$", kind.files[name], re.MULTILINE)[0]
    for seed, point in zip((1, 2), points, strict=True):
        chosen = ("--set", f"seed={seed}", "--set", f"name={own}.{seed}")
        assert lcca(command, name, *options, *chosen, "--out", f"alone-{seed}", "--json").json() == point
        assert Path("run", str(seed), "summary.json").exists() or "--durations" in options


def test_a_grid_has_a_plan_and_is_too_many_for_python(
    lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = KINDS["tune"]
    monkeypatch.chdir(kind.write(tmp_path))
    Path("grid.yaml").write_text(f"extends: {kind.command[1]}\ngrid: {{seed: [1, 2]}}\n")
    told = lcca("tune", "grid.yaml", "--plan", "--json").json()
    assert [each["name"] for each in told["points"]] == ["1", "2"] and told["points"][0]["costs"]
    assert "small.2" in lcca("tune", "grid.yaml", "--plan").out
    with pytest.raises(ConfigError, match="only `lcca tune` runs a grid"):
        config_of("grid.yaml", TuningConfig)
