"""What every trainer must do: subclass `TrainerConformance` with a tiny configuration of your own.

It takes two trainings: one in one go, and one in which every step is taken by a new trainer that goes on from the
checkpoint, on another number of threads. Both must agree to the last bit after every step.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.fabric.trials import run_fabric_trials
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import fabric_utility, utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.files.policyfile import PolicyFile, dumps, loads
from lcca.remy_plus.policies.policy import Policy
from lcca.trainers.base import LearningRow, Task, Trainer, TrainerConfig, WarmStart
from lcca.trainers.registry import trainer_class

SPACE = NetworkSpace.model_validate(
    {
        "link_rate": {"min": 1, "max": 2, "step": 0.5},
        "rtt": {"min": 10, "max": 20, "step": 5},
        "senders": {"min": 1, "max": 2, "step": 1},
        "buffer": 50,
        "mean_on": 500,
        "mean_off": 100,
        "loss": 0.001,
        "duration": 1000,
    }
)
TASK = Task("the task", ("rtt_ratio", "queue"), SPACE, utility("default"), seed=1)


FABRIC = FabricSpace.model_validate(
    {
        "fabric": {
            "name": "small",
            "topology": {"kind": "leaf-spine", "tors": 2, "hosts_per_tor": 2, "spines": 2},
            "workload": {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.4, "load_of": "host-links"},
            "duration_us": 30,
            "drain_us": 1500,
            "spraying": "mixed",
            "entropies": 4,
            "ways": "shared",
            "switch": {"queue_bdps": 1},
        }
    }
)
ON_FABRIC = Task("the task", ("rtt_ratio",), FABRIC, utility("slowdown"), seed=1)


@dataclass
class Training:
    """A training and what could be seen of it after each step."""

    config: TrainerConfig
    checkpoint: Path
    trainer: Trainer
    kept: dict[int, Policy] = field(default_factory=dict)
    policies: list[Policy] = field(default_factory=list)
    used: list[int] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)

    @property
    def task(self) -> Task:
        return ON_FABRIC if self.config.fabrics_alone else TASK

    def make(self, task: Task | None = None, jobs: int = 1) -> Trainer:
        made = trainer_class(self.config)
        return made(
            task or self.task, self.config, Engine(SPACE.duration, jobs=jobs), self.checkpoint, self.kept.__setitem__
        )

    def step(self) -> None:
        self.trainer.step()
        self.policies.append(self.trainer.policy)
        self.used.append(self.trainer.used)
        self.rows = [without_time(row) for row in self.trainer.learning]


def without_time(row: LearningRow) -> dict[str, Any]:
    return asdict(replace(row, cpu_s=0))


def train(config: TrainerConfig, checkpoint: Path, task: Task | None = None) -> Training:
    training = Training(config, checkpoint, None)  # type: ignore[arg-type]
    training.trainer = training.make(task)
    while not training.trainer.done:
        training.step()
    return training


class TrainerConformance:
    """The questions; a subclass may replace `config` by any fixture that returns a configuration."""

    @pytest.fixture(scope="class")
    @classmethod
    def config(cls) -> TrainerConfig:
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def unbroken(cls, config: TrainerConfig, tmp_path_factory: pytest.TempPathFactory) -> Training:
        before = np.random.get_state()[1].copy()  # type: ignore[index]
        training = train(config, tmp_path_factory.mktemp("unbroken") / "checkpoint")
        assert (np.random.get_state()[1] == before).all(), "the global random numbers are left alone"  # type: ignore[index]
        return training

    def test_a_training_stopped_after_any_step_on_any_threads_gives_the_same_bits(
        self, unbroken: Training, tmp_path: Path
    ) -> None:
        again = Training(unbroken.config, tmp_path / "checkpoint", None)  # type: ignore[arg-type]
        for policy in unbroken.policies:
            np.random.seed(len(again.policies))
            again.trainer = again.make(jobs=2)
            assert not again.trainer.done
            again.step()
            assert again.policies[-1] == policy
        assert again.make().done
        assert (again.rows, again.used, again.kept) == (unbroken.rows, unbroken.used, unbroken.kept)

    def test_another_seed_gives_another_training(self, unbroken: Training, tmp_path: Path) -> None:
        other = Training(unbroken.config, tmp_path / "checkpoint", None)  # type: ignore[arg-type]
        other.trainer = other.make(replace(other.task, seed=2))
        other.step()
        assert other.rows[0]["score_bits"] != unbroken.rows[0]["score_bits"]

    def test_learning_rows_only_grow(self, unbroken: Training) -> None:
        rows = unbroken.trainer.learning
        assert [row.step for row in rows] == list(range(1, len(unbroken.policies) + 1))
        for column in ("round", "trials", "packets", "cpu_s"):
            values = [getattr(row, column) for row in rows]
            assert values == sorted(values) and values[-1] >= 0, column
        assert rows[0].trials > 0 and all(np.isfinite(row.score_bits) for row in rows)
        assert unbroken.used == sorted(unbroken.used)

    def test_the_budget_ends_the_training(self, unbroken: Training) -> None:
        budget = unbroken.config.budget
        amount, unit = budget.amount, budget.unit
        assert unit and all(used < amount for used in unbroken.used[:-1])
        assert 0.8 * amount <= unbroken.used[-1]
        assert unit != "trials" or unbroken.used[-1] <= 1.01 * amount

    def test_every_round_ends_with_a_policy(self, unbroken: Training) -> None:
        assert set(unbroken.kept) == {row.round for row in unbroken.trainer.learning}
        assert unbroken.kept[max(unbroken.kept)] == unbroken.trainer.policy

    def test_its_policies_run_in_the_engine_and_survive_a_file(self, unbroken: Training) -> None:
        policy = unbroken.trainer.policy
        kept = loads(dumps(PolicyFile(policy))).policy
        assert kept == policy
        if unbroken.config.fabrics_alone:
            scenario = FABRIC.scenarios[0]
            trials = run_fabric_trials(scenario, {"it": engine_of(kept, scenario.settings())}, [9, 10])
            assert np.isfinite([each.score(fabric_utility("slowdown")) for each in trials]).all()
            return
        rows = run_trials(Engine(SPACE.duration, jobs=1), {"it": kept}, SPACE.draw(9, 3), [9], TASK.utility)
        assert np.isfinite(rows["score_bits"]).all()

    def test_a_checkpoint_of_another_task_is_refused(self, unbroken: Training) -> None:
        with pytest.raises(InputError, match="a checkpoint of another training; remove it or choose another --out"):
            unbroken.make(replace(unbroken.task, identity="another"))

    def test_a_damaged_checkpoint_is_one_error_with_advice_that_works(self, unbroken: Training, tmp_path: Path) -> None:
        whole, damaged = unbroken.checkpoint.read_bytes(), tmp_path / "checkpoint"
        hurt = Training(unbroken.config, damaged, None)  # type: ignore[arg-type]
        for bit in np.random.default_rng(1).integers(8 * len(whole), size=30):
            content = bytearray(whole)
            content[bit // 8] ^= 1 << bit % 8
            damaged.write_bytes(content)
            with pytest.raises(InputError, match=f"^{damaged}: damaged .*; remove it to train anew$"):
                hurt.make()
        damaged.unlink()
        assert not hurt.make().done

    def test_what_it_cannot_do_is_refused(self, unbroken: Training, tmp_path: Path) -> None:
        asked = {"warm_starts": replace(unbroken.task, warm_start=WarmStart(unbroken.trainer.policy, 3))}
        new = Training(unbroken.config, tmp_path / "checkpoint", None)  # type: ignore[arg-type]
        for capability, task in asked.items():
            if getattr(unbroken.config, capability):
                new.make(task).step()
                assert new.make(task).learning[0].step == 4
            else:
                with pytest.raises(InputError):
                    new.make(task)

    def test_a_configuration_survives_a_file_and_names_its_trainer(self, config: TrainerConfig) -> None:
        assert type(config).model_validate(json.loads(config.model_dump_json())) == config
        assert config.provenance["trainer"] == config.kind
