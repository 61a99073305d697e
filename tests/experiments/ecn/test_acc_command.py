"""`lcca acc`: from a file to a verdict, the same however often it is stopped."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'lcca[drl]'")
pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")
pytest.importorskip("lcca.ns3", reason="lcca-ns3 is not installed: make ns3")

from lcca.experiments.campaign.config import read_with_files
from lcca.experiments.ecn import run as acc
from lcca.experiments.ecn.run import ACC, CHANCE, EXPLORING, TRAINING, AccCampaign, new_env, run_acc
from lcca.inputs.validation import validate
from lcca.trainers.ecn import training

ROOT = Path(__file__).resolve().parents[3]
SMALL = [
    "incast={hosts: 2, duration_us: 1000, large_every_us: 1000}",
    "trainer.dqn={steps: 60, warm_up: 32, batch: 16, explore_steps: 20, sync_every: 5, hidden: [8]}",
    "trainer.checkpoint_every=2",
    "trainer.interval_us=100",
    "test={pairs: 20, at_least: 20, static: [step-70], grid_seeds: 0, fresh: false}",
]


def small() -> AccCampaign:
    return validate(read_with_files(ROOT / "configs/acc/smoke.yaml", AccCampaign, SMALL), AccCampaign)


class Killed(Exception):
    pass


@pytest.mark.full
def test_a_run_gives_the_same_however_often_it_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run_acc(small(), tmp_path / "whole", jobs=1, resume=False, quiet=True)
    save, saved = training.save, []

    def save_and_die(*arguments: Any) -> None:
        save(*arguments)
        saved.append(1)
        if len(saved) in (2, 4):
            raise Killed

    monkeypatch.setattr(training, "save", save_and_die)
    for _ in range(2):
        with pytest.raises(Killed):
            run_acc(small(), tmp_path / "broken", jobs=2, resume=True, quiet=True)
    broken = run_acc(small(), tmp_path / "broken", jobs=2, resume=True, quiet=True)
    assert broken == whole
    assert (tmp_path / "broken/summary.json").read_bytes() == (tmp_path / "whole/summary.json").read_bytes()
    assert run_acc(small(), tmp_path / "broken", jobs=1, resume=True, quiet=True) == whole

    (test,) = whole["tests"].values()
    assert list(whole["tests"]) == [TRAINING]
    assert set(test["controllers"]) == {ACC, EXPLORING, CHANCE, "step-70"}
    assert set(test["acc_minus"]) == {EXPLORING, CHANCE, "step-70"}
    assert {row["trials"] for row in test["controllers"].values()} == {20}
    assert all(0 < row["utility"] <= 1 for row in test["controllers"].values())
    assert len(whole["curve"]) == 6, "a mean per episode, where there are fewer than ten"


def test_the_command_prints_its_result(lcca: Any, tmp_path: Path) -> None:
    settings = [word for setting in SMALL for word in ("--set", setting)]
    arguments = ["acc", ROOT / "configs/acc/smoke.yaml", "--out", tmp_path / "run", *settings]
    told = lcca(*arguments, "--json")
    assert json.loads(told.out)["kind"] == "acc"
    again = lcca(*arguments, "--resume")
    assert "step-70" in again.out and "acc-exploring" in again.out


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("test.static=[red-3]", "test.static: unknown setting 'red-3'"),
        ("trainer.dqn.warm_up=3", "trainer.dqn: warm_up must be at least batch"),
        ("incast.small=[6000, 3000]", "incast.small: sizes must be"),
        ("trainer.dnq.steps=3", "did you mean"),
    ],
)
def test_bad_input_is_told(lcca: Any, setting: str, words: str) -> None:
    told = lcca("acc", ROOT / "configs/acc/smoke.yaml", "--set", setting)
    assert told.status == 2
    assert words in told.err


@pytest.mark.parametrize(
    "file", [ROOT / "configs/acc/acc.yaml", ROOT / "configs/acc/smoke.yaml"], ids=lambda file: file.stem
)
def test_committed_files_are_valid(file: Path) -> None:
    config = validate(read_with_files(file, AccCampaign), AccCampaign)
    env = new_env(config)
    assert 0.1 < config.incast.load < 1
    env.close()
    assert acc.new_learner(config).actions == 252


@pytest.mark.full
def test_acc_learns_its_training_trace(tmp_path: Path) -> None:
    """Settled better than static RED with the paper's slopes, and than chance."""
    settings = ["test.grid_seeds=0", "test.fresh=false"]
    config = validate(read_with_files(ROOT / "configs/acc/acc.yaml", AccCampaign, settings), AccCampaign)
    test = run_acc(config, tmp_path / "run", jobs=2, resume=False)["tests"][TRAINING]
    for name in ("red-0.2", "red-0.65", "red-1.65", "red-2", CHANCE):
        assert test["acc_minus"][name]["acc_is"] == "better", name
