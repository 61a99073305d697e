"""Trainers by reinforcement: exact resumption, equal bits, policies that are PyTorch's."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.mlp import MlpPolicy

pytest.importorskip("sb3_contrib")

from lcca.trainers.drl import trainer as trainer_module
from lcca.trainers.drl.curriculum import lanes_of, space_at

from .drl_support import KINDS, SIGNALS, config_of, trainer_of

torch = pytest.importorskip("torch")

TABLE = {"kind": "table"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_resumes_to_identical_bits_from_every_round(tmp_path: Path, space: NetworkSpace, kind: str) -> None:
    unbroken, kept, copies = tmp_path / "unbroken", [], []
    first = trainer_of(space, kind, unbroken, keep=lambda round_, policy: kept.append(policy))
    while not first.done:
        first.step()
        copies.append(shutil.copy(unbroken, tmp_path / f"after-{len(copies)}"))
    assert len(set(kept)) == 3
    for done, path in enumerate(copies[:-1], 1):
        again: list[MlpPolicy] = []
        resumed = trainer_of(space, kind, path, jobs=2, keep=lambda round_, policy, to=again: to.append(policy))
        assert resumed.state.round == done
        resumed.run()
        assert again == kept[done:]
        assert [replace(row, cpu_s=0) for row in resumed.state.learning] == [
            replace(row, cpu_s=0) for row in first.state.learning
        ]


@pytest.mark.parametrize("kind", KINDS)
def test_seeds_matter_and_nothing_else_does(space: NetworkSpace, kind: str) -> None:
    torch.manual_seed(123)
    before = torch.rand(3)
    torch.manual_seed(123)
    once = trainer_of(space, kind, rounds=1, steps=1000).run()
    assert torch.equal(torch.rand(3), before)  # the world's random numbers are left alone
    np.random.seed(5)
    assert trainer_of(space, kind, rounds=1, steps=1000, jobs=2).run() == once
    assert trainer_of(space, kind, rounds=1, steps=1000, seed=2).run() != once


def expected(trainer: Any, views: np.ndarray) -> np.ndarray:
    """What PyTorch says of views without noise, by Stable-Baselines3's own `predict`."""
    algorithm = trainer.algorithm
    width = algorithm.model.observation_space.shape[0]
    seen = algorithm._standard.first(views.shape[1])(views)
    padded = np.zeros((len(views), width), dtype=np.float32)
    padded[:, : views.shape[1]] = seen
    return np.asarray(algorithm.model.predict(padded, deterministic=True)[0])


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("ppo", {}),
        ("ppo", {"privileged": True, "history": 3, "hidden": [16, 8]}),
        ("ppo", {"activation": "relu", "hidden": [16]}),
        ("ppo", {"steering": TABLE}),
        ("sac", {}),
        ("sac", {"activation": "relu", "steering": {"kind": "rate"}}),
    ],
    ids=str,
)
def test_the_policy_is_pytorchs(space: NetworkSpace, kind: str, changes: dict[str, Any]) -> None:
    trainer = trainer_of(space, kind, rounds=1, steps=1500, **changes)
    policy = trainer.run()
    views = np.random.default_rng(1).uniform(0, 3, (300, policy.agent.inputs)).astype(np.float32)
    said = policy.actions(policy.outputs(views)[0])
    if changes.get("steering") == TABLE:
        assert (said[:, 0] == expected(trainer, views)).mean() > 0.99  # but for ties
    else:
        np.testing.assert_allclose(np.clip(said, -1, 1), expected(trainer, views), atol=1e-5)


@pytest.mark.parametrize("privileged", [False, True])
def test_the_recurrent_policy_is_pytorchs(space: NetworkSpace, privileged: bool) -> None:
    trainer = trainer_of(space, "recurrent-ppo", rounds=1, steps=1500, privileged=privileged)
    policy, algorithm = trainer.run(), trainer.algorithm
    net, standard = algorithm.model.policy, algorithm._standard.first(policy.agent.inputs)  # type: ignore[attr-defined]
    views = np.random.default_rng(1).uniform(0, 3, (40, 5, policy.agent.inputs)).astype(np.float32)
    with torch.no_grad():
        latent, _ = net.lstm_actor(torch.from_numpy(standard(views)))
        wanted = net.action_net(net.mlp_extractor.policy_net(latent)).numpy()
    states = None
    for view, want in zip(views, wanted, strict=True):
        said, states = policy.outputs(view, states)
        np.testing.assert_allclose(said, want, atol=1e-5)


def test_lessons_go_from_easy_to_all(space: NetworkSpace) -> None:
    config = config_of(curriculum=[{"until": 0.5, "networks": {"senders": 1}}, {"until": 1, "networks": {}}], rounds=4)
    trainer = trainer_of(space)
    most = []
    for round_ in range(4):
        lanes = lanes_of(trainer.task, config, trainer.agent, trainer.engine, round_, 1)
        most.append(max(network.senders for network in lanes.networks.networks))
    assert most == [1, 1, 2, 2]
    assert space_at(space, config_of(flows="one"), 0.3).senders.max == 1
    with pytest.raises(InputError, match="curriculum"):
        space_at(space, config_of(curriculum=[{"until": 1, "networks": {"sender": 1}}]), 0.0)


def test_checkpoints_of_others_are_refused(tmp_path: Path, space: NetworkSpace) -> None:
    path = tmp_path / "state.json"
    trainer_of(space, checkpoint=path, rounds=2).step()
    with pytest.raises(InputError, match="of another training; remove"):
        trainer_of(space, checkpoint=path, identity="other")
    path.write_text("{")
    with pytest.raises(InputError, match="damaged"):
        trainer_of(space, checkpoint=path)


def test_without_the_extra_the_mend_is_told(space: NetworkSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trainer_module, "find_spec", lambda name: None if name == "torch" else name)
    with pytest.raises(InputError, match=r"need the package torch: pip install 'lcca\[drl\]'"):
        trainer_of(space)


def test_logs_for_tensorboard(tmp_path: Path, space: NetworkSpace) -> None:
    pytest.importorskip("tensorboard")
    trainer_of(space, checkpoint=tmp_path / "e2e.json", rounds=1, steps=1000, tensorboard=True).run()
    assert list((tmp_path / "tensorboard" / "e2e").glob("events.*"))


def test_signals_are_those_of_the_task(space: NetworkSpace) -> None:
    assert trainer_of(space).run().signals == SIGNALS
