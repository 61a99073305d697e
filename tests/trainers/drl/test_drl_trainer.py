"""Trainers by reinforcement: policies that are PyTorch's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.inputs.errors import InputError

pytest.importorskip("sb3_contrib")

from lcca.trainers.base import run
from lcca.trainers.drl.curriculum import slots_of, space_at

from .drl_support import config_of, trainer_of

torch = pytest.importorskip("torch")

TABLE = {"kind": "table"}


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
    policy = run(trainer)
    views = np.random.default_rng(1).uniform(0, 3, (300, policy.agent.inputs)).astype(np.float32)
    said = policy.actions(policy.outputs(views)[0])
    if changes.get("steering") == TABLE:
        assert (said[:, 0] == expected(trainer, views)).mean() > 0.99  # but for ties
    else:
        np.testing.assert_allclose(np.clip(said, -1, 1), expected(trainer, views), atol=1e-5)


@pytest.mark.parametrize("privileged", [False, True])
def test_the_recurrent_policy_is_pytorchs(space: NetworkSpace, privileged: bool) -> None:
    trainer = trainer_of(space, "recurrent-ppo", rounds=1, steps=1500, privileged=privileged)
    policy, algorithm = run(trainer), trainer.algorithm
    net, standard = algorithm.model.policy, algorithm._standard.first(policy.agent.inputs)  # type: ignore[attr-defined]
    views = np.random.default_rng(1).uniform(0, 3, (40, 5, policy.agent.inputs)).astype(np.float32)
    with torch.no_grad():
        latent, _ = net.lstm_actor(torch.from_numpy(standard(views)))
        wanted = net.action_net(net.mlp_extractor.policy_net(latent)).numpy()
    states = None
    for view, want in zip(views, wanted, strict=True):
        said, states = policy.outputs(view, states)
        np.testing.assert_allclose(said, want, atol=1e-5)


def test_a_curriculum_goes_from_easy_to_all(space: NetworkSpace) -> None:
    config = config_of(curriculum=[{"until": 0.5, "networks": {"senders": 1}}, {"until": 1, "networks": {}}], rounds=4)
    trainer = trainer_of(space)
    most = []
    for round_ in range(4):
        slots = slots_of(trainer.task, config, trainer.agent, trainer.engine, round_, 1)
        most.append(max(network.senders for network in slots.networks.networks))
    assert most == [1, 1, 2, 2]
    assert space_at(space, config_of(flows="one"), 0.3).senders.max == 1
    with pytest.raises(InputError, match="curriculum"):
        space_at(space, config_of(curriculum=[{"until": 1, "networks": {"sender": 1}}]), 0.0)


def test_a_missing_extra_is_named(space: NetworkSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcca.inputs.extras.find_spec", lambda name: None if name == "torch" else name)
    with pytest.raises(InputError, match=r"need the package torch: pip install 'lcca\[drl\]'"):
        trainer_of(space)


def test_logs_for_tensorboard(tmp_path: Path, space: NetworkSpace) -> None:
    pytest.importorskip("tensorboard")
    torch.manual_seed(123)
    before = torch.random.get_rng_state()
    run(trainer_of(space, checkpoint=tmp_path / "e2e.json", rounds=1, steps=1000, tensorboard=True))
    assert torch.equal(torch.random.get_rng_state(), before)  # the world's random numbers are left alone
    assert list((tmp_path / "tensorboard" / "e2e").glob("events.*"))
