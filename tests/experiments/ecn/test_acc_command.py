"""`lcca acc`: from a file to a verdict, the same however often it is stopped."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'lcca[drl]'")
pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")
pytest.importorskip("lcca.ns3", reason="lcca-ns3 is not installed: make ns3")

from lcca.experiments import acc, load_run
from lcca.experiments.ecn import incast
from lcca.experiments.ecn.config import ACC, BEST_STATIC, CHANCE, EXPLORING, IncastAcc
from lcca.experiments.ecn.incast import FRESH, TRAINING, Controller, InNs3
from lcca.gym_envs.ecn.settings import GRID, MarkSetting
from lcca.inputs.validation import read_with_files, validate
from lcca.trainers.ecn import training

ROOT = Path(__file__).resolve().parents[3]
SMALL = [
    "incast={hosts: 2, duration_us: 1000, large_every_us: 1000}",
    "trainer.dqn={steps: 60, warm_up: 32, batch: 16, explore_steps: 20, sync_every: 5, hidden: [8]}",
    "trainer.checkpoint_every=2",
    "trainer.interval_us=100",
    "test={pairs: 20, at_least: 20, static: [step-70], grid_seeds: 0, fresh: false}",
]


def small(*settings: str) -> IncastAcc:
    return validate(read_with_files(ROOT / "configs/acc/smoke.yaml", IncastAcc, [*SMALL, *settings]), IncastAcc)


class Killed(Exception):
    pass


def test_a_run_gives_the_same_however_often_it_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its training after a checkpoint, and in its test, where the block that runs is lost at most."""
    config = small("test.block=10")
    whole = acc(config, out=tmp_path / "whole", jobs=1).content
    save, run_trial, saved, begun = training.save, incast.run_trial, [], []

    def save_and_die(*arguments: Any) -> None:
        save(*arguments)
        saved.append(1)
        if len(saved) in (2, 4):
            raise Killed

    def count_and_die(*arguments: Any) -> Any:
        begun.append(1)
        if len(begun) == 47:
            raise Killed
        return run_trial(*arguments)

    monkeypatch.setattr(training, "save", save_and_die)
    monkeypatch.setattr(incast, "run_trial", count_and_die)
    for _ in range(3):
        with pytest.raises(Killed):
            acc(config, out=tmp_path / "broken", resume=True)
    assert len(begun) == 47 and len(list((tmp_path / "broken/trials").glob("*.parquet"))) == 1
    broken = acc(config, out=tmp_path / "broken", resume=True, jobs=2).content
    assert len(begun) == 47 + 40, "of two blocks of ten trials of four the second one"
    assert broken == whole
    assert (tmp_path / "broken/summary.json").read_bytes() == (tmp_path / "whole/summary.json").read_bytes()
    assert acc(config, out=tmp_path / "broken", resume=True).content == whole and len(begun) == 87


def test_the_summary_and_its_tables(tmp_path: Path) -> None:
    summary = acc(small("test.fresh=true", "test.block=10"), out=tmp_path / "run", jobs=2).content
    names = [ACC, EXPLORING, CHANCE, "step-70"]
    met = [(each["condition"], each["id"]) for each in summary["policies"]]
    assert met == [(test, name) for test in (TRAINING, FRESH) for name in names]
    assert [(each["A"], each["B"]) for each in summary["comparisons"]] == [(name, ACC) for name in names[1:]] * 2
    assert {each["trials"] for each in summary["policies"]} == {20}
    assert all(0 < each["score"]["mean"] <= 1 for each in summary["policies"])
    assert len(summary["curve"]) == 6, "a mean per episode, where there are fewer than ten"
    loaded = load_run(tmp_path / "run")
    assert set(loaded.trials["condition"]) == {TRAINING, FRESH} and len(loaded.policies) == 8
    assert len(loaded.verdicts) == 6 and len(loaded.learning) == 6
    rows = loaded.trials[loaded.trials["condition"] == FRESH]
    assert rows["trace"].nunique() == 20 and rows.groupby("network")["trace"].nunique().max() == 1
    first = loaded.policies.set_index(["condition", "id"]).loc[(FRESH, CHANCE), "score"]
    assert first == pytest.approx(rows.loc[rows["policy"] == CHANCE, "score"].mean())


def test_the_best_static_setting_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A score that one setting of the grid has best; a kill loses the settings that are tried at a time."""
    config, run_trial, begun = small("test.grid_seeds=1"), incast.run_trial, list[Any]()

    def quick(env: Any, controller: Controller, trace: int, seed: int) -> Any:
        begun.append(controller.setting)
        if len(begun) == 30:
            raise Killed
        if controller.setting not in GRID:
            return run_trial(env, controller, trace, seed)
        return {"seed": seed, "trace": trace, "score": float(controller.setting == GRID[100]), "record": b""}

    monkeypatch.setattr(incast, "run_trial", quick)
    with pytest.raises(Killed):
        acc(config, out=tmp_path / "run")
    monkeypatch.setattr(incast, "pooled", lambda rows: {})
    found = acc(config, out=tmp_path / "run", resume=True).content
    assert found["best_static"] == {"min_k": GRID[100].min_k, "max_k": GRID[100].max_k, "max_p": GRID[100].max_p}
    assert begun[24:29] == begun[30:35] == list(GRID[24:29]), "two blocks of twelve are kept"
    assert BEST_STATIC in [each["A"] for each in found["comparisons"]]


def test_controllers_explore_only_when_told() -> None:
    learner: Any = SimpleNamespace(best=lambda seen: 7)
    seen = np.zeros(6, dtype=np.float32)

    def chosen(controller: Controller, seed: int = 1) -> list[MarkSetting]:
        choose = controller.begin(seed)
        return [choose(seen) for _ in range(2000)]

    assert set(chosen(Controller(learner=learner))) == {GRID[7]}
    assert set(chosen(Controller(MarkSetting(1, 2)))) == {MarkSetting(1, 2)}
    exploring = Controller(learner=learner, explore=0.05)
    assert 0.03 < np.mean([setting != GRID[7] for setting in chosen(exploring)]) < 0.07
    assert chosen(exploring) == chosen(exploring) != chosen(exploring, seed=2)
    assert len(set(chosen(Controller()))) > 240


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
    config = validate(read_with_files(file, IncastAcc), IncastAcc)
    assert 0.1 < config.incast.load < 1
    assert InNs3(config).learner().actions == 252


@pytest.mark.full
def test_acc_learns_its_training_trace(tmp_path: Path) -> None:
    """Settled better than static RED with the paper's slopes, and than chance."""
    settings = ["test.grid_seeds=0", "test.fresh=false"]
    config = validate(read_with_files(ROOT / "configs/acc/acc.yaml", IncastAcc, settings), IncastAcc)
    found = {each["A"]: each["verdict"] for each in acc(config, out=tmp_path / "run", jobs=2).content["comparisons"]}
    for name in ("red-0.2", "red-0.65", "red-1.65", "red-2", CHANCE):
        assert found[name] == "better", name
