"""Callbacks of Stable-Baselines3 that a configuration names."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.experiments.campaign.config import CampaignConfig, read_campaign
from lcca.experiments.learning.plan import learners
from lcca.inputs.errors import InputError
from lcca.trainers.base import TrainerConfig
from lcca.trainers.drl.config import PpoConfig

from ...fixtures import TINY, RunCommand
from ..conformance import TrainerConformance
from .drl_support import TINY as TINY_TRAINING
from .drl_support import trainer_of

pytest.importorskip("stable_baselines3")

HERE = Path(__file__).with_name("counting_callbacks.py")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Callbacks in a folder of their own."""
    return Path(shutil.copy(HERE, tmp_path / "my.py"))


def test_they_are_called_as_learn_calls_them(space: NetworkSpace, file: Path, tmp_path: Path) -> None:
    trainer = trainer_of(space, tmp_path / "it.json", rounds=2, callbacks=[f"{file}:Seen"])
    trainer.step()
    after_first = trainer.used
    trainer.step()
    seen = [json.loads(line) for line in file.with_suffix(".jsonl").read_text().splitlines()]
    steps = [each for each in seen if each["call"] == "step"]
    assert all(a["steps"] < b["steps"] for a, b in itertools.pairwise(steps))
    assert steps[-1]["steps"] == trainer.used == sum(each["rewards"] for each in steps)
    assert [each["calls"] for each in steps] == [*range(1, len(steps) + 1)]  # counted on in the second round
    order = [call for call, _ in itertools.groupby(each["call"] for each in seen)]
    rollout = ["rollout start", "step", "rollout end"]
    assert order == 2 * ["training start", *3 * rollout, "training end"]  # a round of 1,500 in rollouts of 512
    second = pd.DataFrame([each for each in steps if each["steps"] > after_first])
    first_rows = int((pd.DataFrame(seen)["episodes"].dropna() <= 100).sum())
    assert first_rows == 6 and second["ended"].sum() > 0
    rows = pd.read_csv(tmp_path / "monitor" / "it.monitor.csv", skiprows=1)
    assert len(rows) >= sum(each["ended"] for each in steps) > len(rows) / 4  # those before the first rollout besides


def test_without_effect_they_change_no_bit(space: NetworkSpace, file: Path) -> None:
    with_it, without = trainer_of(space, callbacks=[f"{file}:Seen"]), trainer_of(space)
    for trainer in (with_it, without):
        trainer.step()
    assert with_it.policy == without.policy


def test_one_that_says_no_ends_the_training(space: NetworkSpace, file: Path, tmp_path: Path) -> None:
    stops = [f"{file}:StopAt:steps=1800", f"{file}:Seen"]
    trainer = trainer_of(space, tmp_path / "it.json", callbacks=stops)
    trainer.step()
    assert not trainer.done
    trainer.step()
    assert trainer.done and 1000 <= trainer.used < 1800 and len(trainer.learning) == 2
    assert trainer_of(space, tmp_path / "it.json", callbacks=stops).done
    last = json.loads(file.with_suffix(".jsonl").read_text().splitlines()[-1])
    assert last["call"] == "training end" and 1800 <= last["steps"] < 1800 + 8 * 2 * 2


class TestOneThatRemembers(TrainerConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def config(cls) -> TrainerConfig:
        return PpoConfig.model_validate({**TINY_TRAINING, "callbacks": [f"{HERE}:Bonus"]})


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("EarlyStop", r"'EarlyStop': name a class as in my\.py:EarlyStop"),
        ("{file}:Sen", r"my\.py: no class 'Sen' \(did you mean 'Seen'\?\)"),
        ("{file}:NoCallback", r"my\.py:\d+: NoCallback is no callback; derive it from .*\.BaseCallback"),
        ("{file}:StopAt", r"StopAt: TypeError: .*'steps'"),
        ("{file}:StopAt:steps", "write name=number"),
        ("gone.py:Seen", r"gone\.py: no such file"),
        ("no_module_of_mine:Seen", "no such module in Python"),
    ],
)
def test_what_is_no_callback_is_refused_before_a_run_begins(file: Path, name: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        PpoConfig(callbacks=(name.format(file=file),)).require_installed()


def test_those_of_modules_are_imported(space: NetworkSpace, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.rename(file.with_name("module_of_callbacks.py"))
    monkeypatch.syspath_prepend(str(file.parent))
    trainer = trainer_of(space, callbacks=["module_of_callbacks:StopAt:steps=500"])
    trainer.step()
    assert trainer.done and trainer.used == 0  # of a rollout of 512
    assert sys.modules.pop("module_of_callbacks")


def test_one_that_fails_is_named_with_its_line(space: NetworkSpace, file: Path) -> None:
    line = 1 + file.read_text().splitlines().index("        return bool(1 / 0)")
    with pytest.raises(InputError, match=rf"my\.py:{line}: Fails: ZeroDivisionError: division by zero"):
        trainer_of(space, callbacks=[f"{file}:Fails"]).step()


def campaign(folder: Path, **trainer: Any) -> Path:
    """A tiny campaign of one training seed that names callbacks beside its file."""
    lines = [f"trainer: {json.dumps(trainer)}" if x.startswith("trainer:") else x for x in TINY.splitlines()]
    path = folder / "tiny.yaml"
    path.write_text("\n".join(lines).replace("training_seeds: [1, 2]", "training_seeds: [1]") + "\n")
    return path


def test_their_text_and_what_it_imports_are_content(file: Path) -> None:
    path = campaign(file.parent, kind="ppo", callbacks=["my.py:Seen"])
    found: list[tuple[str, str]] = []

    def look() -> None:
        config: CampaignConfig = read_campaign(path)
        found.append((config.hash, learners(config, [1])[0].key(config)))

    look()
    look()
    file.write_text(file.read_text() + "\nimport beside_me\n")
    look()
    (file.parent / "beside_me.py").write_text("FIRST = 1\n")
    look()
    (file.parent / "beside_me.py").write_text("FIRST = 2\n")
    look()
    assert found[0] == found[1]
    assert [len(set(column)) for column in zip(*found, strict=True)] == [4, 4]


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_a_campaign_names_them(file: Path, lcca: RunCommand) -> None:
    path = campaign(file.parent, **TINY_TRAINING, kind="ppo", callbacks=["my.py:StopAt:steps=1800"])
    answer = lcca("sweep", path, "--until", "trained", "--out", file.parent / "run", "--json")
    assert answer.status == 0, answer.err
    assert [len(row["policies"]) for row in answer.json()["rows"]] == [2, 2]  # of three rounds
    file.write_text(file.read_text() + "\n")
    again = lcca("sweep", path, "--out", file.parent / "run")
    assert again.status == 2 and "my.py:StopAt:steps=1800 has another content" in again.err


def test_other_trainers_have_none(file: Path, lcca: RunCommand) -> None:
    answer = lcca("sweep", campaign(file.parent, kind="rplus", callbacks=["my.py:Seen"]), "--plan")
    assert answer.status == 2
    assert "tiny.yaml:" in answer.err and "trainer" in answer.err
    assert "callbacks are Stable-Baselines3's, and kind rplus has none; use kind ppo" in answer.err
