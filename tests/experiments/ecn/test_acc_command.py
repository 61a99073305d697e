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

from lcca.api import acc, load_run
from lcca.experiments.ecn import incast
from lcca.experiments.ecn.config import ACC, BEST_STATIC, CHANCE, EXPLORING, IncastAcc
from lcca.experiments.ecn.incast import FRESH, TRAINING, Controller, InNs3, always, learnt_by
from lcca.gym_envs.ecn.settings import GRID, MarkSetting
from lcca.gym_envs.processes.pool import Threads
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


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was never stopped, of two blocks on each test."""
    path = tmp_path_factory.mktemp("acc") / "run"
    acc(small("test.fresh=true", "test.block=10"), out=path)
    return path


def test_a_kill_in_the_test_loses_a_block_at_most(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, run_trial, begun = small("test.fresh=true", "test.block=10"), incast.run_trial, []

    def count_and_die(*arguments: Any) -> Any:
        begun.append(1)
        if len(begun) == 47:
            raise Killed
        return run_trial(*arguments)

    monkeypatch.setattr(incast, "run_trial", count_and_die)
    with pytest.raises(Killed):
        acc(config, out=tmp_path / "run")
    assert len(list((tmp_path / "run/trials").glob("*.parquet"))) == 1
    acc(config, out=tmp_path / "run", resume=True, jobs=2)
    assert len(begun) == 47 + 3 * 40, "of four blocks of ten trials of four the others"
    for name in ("summary.json", "checkpoint.pt", "trials/part-scenario,training%20trace,000001.parquet"):
        assert (tmp_path / "run" / name).read_bytes() == (finished / name).read_bytes(), name
    acc(config, out=tmp_path / "run", resume=True)
    assert len(begun) == 167, "a complete run is read"


@pytest.mark.full
def test_a_kill_in_the_training_changes_nothing(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, save, saved = small("test.fresh=true", "test.block=10"), training.save, []

    def save_and_die(*arguments: Any) -> None:
        save(*arguments)
        saved.append(1)
        if len(saved) in (2, 4):
            raise Killed

    monkeypatch.setattr(training, "save", save_and_die)
    for _ in range(2):
        with pytest.raises(Killed):
            acc(config, out=tmp_path / "run", resume=True)
    acc(config, out=tmp_path / "run", resume=True, jobs=2)
    assert (tmp_path / "run/summary.json").read_bytes() == (finished / "summary.json").read_bytes()


def test_the_summary_and_its_tables(finished: Path) -> None:
    loaded, names = load_run(finished), [ACC, EXPLORING, CHANCE, "step-70"]
    summary = loaded.result
    met = [(each["condition"], each["id"]) for each in summary["policies"]]
    assert met == [(test, name) for test in (TRAINING, FRESH) for name in names]
    assert [(each["A"], each["B"]) for each in summary["comparisons"]] == [(name, ACC) for name in names[1:]] * 2
    assert {each["trials"] for each in summary["policies"]} == {20}
    assert all(0 < each["score"]["mean"] <= 1 for each in summary["policies"])
    assert len(summary["curve"]) == 6, "a mean per episode, where there are fewer than ten"
    assert set(loaded.trials["condition"]) == {TRAINING, FRESH} and len(loaded.policies) == 8
    assert len(loaded.verdicts) == 6 and len(loaded.learning) == 6
    rows = loaded.trials[loaded.trials["condition"] == FRESH]
    assert rows["trace"].nunique() == 20 and rows.groupby("network")["trace"].nunique().max() == 1
    chance = loaded.policies.set_index(["condition", "id"]).loc[(FRESH, CHANCE)]
    own = rows[rows["policy"] == CHANCE]
    assert chance["score"] == pytest.approx(own["score"].mean())
    assert chance["queue_p99"] == pytest.approx(own["queue_p99"].mean())


def test_the_best_static_setting_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A score that one setting of the grid has best; a kill loses the settings that are tried at a time."""
    config, begun = small("test.grid_seeds=1"), list[MarkSetting]()

    def quick(env: Any, controller: Controller, trace: int, seed: int) -> Any:
        begun.append(controller(seed)(np.zeros(6, dtype=np.float32)))
        if len(begun) == 30:
            raise Killed
        return {"trace": trace, "seed": seed, "score": (begun[-1] == GRID[100]) + seed % 97 / 1e6}

    monkeypatch.setattr(incast, "run_trial", quick)
    with pytest.raises(Killed):
        acc(config, out=tmp_path / "run")
    found = acc(config, out=tmp_path / "run", resume=True).content
    assert found["best_static"] == {"min_k": GRID[100].min_k, "max_k": GRID[100].max_k, "max_p": GRID[100].max_p}
    assert begun[24:29] == begun[30:35] == list(GRID[24:29]), "two blocks of twelve are kept"
    assert BEST_STATIC in [each["A"] for each in found["comparisons"]]


def test_controllers_explore_only_when_told() -> None:
    learner: Any = SimpleNamespace(best=lambda seen: 7)
    seen = np.zeros(6, dtype=np.float32)

    def chosen(controller: Controller, seed: int = 1) -> list[MarkSetting]:
        choose = controller(seed)
        return [choose(seen) for _ in range(2000)]

    assert set(chosen(learnt_by(learner))) == {GRID[7]}
    assert set(chosen(always(MarkSetting(1, 2)))) == {MarkSetting(1, 2)}
    exploring = learnt_by(learner, 0.05)
    assert 0.03 < np.mean([setting != GRID[7] for setting in chosen(exploring)]) < 0.07
    assert chosen(exploring) == chosen(exploring) != chosen(exploring, seed=2)
    assert len(set(chosen(learnt_by(None)))) > 240


def test_the_command_prints_its_result(lcca: Any, finished: Path) -> None:
    settings = [word for setting in (*SMALL, "test.fresh=true", "test.block=10") for word in ("--set", setting)]
    arguments = ["acc", ROOT / "configs/acc/smoke.yaml", "--out", finished, *settings]
    assert json.loads(lcca(*arguments, "--json").out)["kind"] == "acc"
    shown = lcca(*arguments).out
    assert "step-70" in shown and "acc-exploring" in shown and "tested on fresh traces" in shown


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
    assert InNs3(config, Threads(1)).learner().actions == 252


@pytest.mark.full
def test_acc_learns_its_training_trace(tmp_path: Path) -> None:
    """Settled better than static RED with the paper's slopes, and than chance."""
    settings = ["test.grid_seeds=0", "test.fresh=false"]
    config = validate(read_with_files(ROOT / "configs/acc/acc.yaml", IncastAcc, settings), IncastAcc)
    found = {each["A"]: each["verdict"] for each in acc(config, out=tmp_path / "run", jobs=2).content["comparisons"]}
    for name in ("red-0.2", "red-0.65", "red-1.65", "red-2", CHANCE):
        assert found[name] == "better", name
