"""Trainers by reinforcement: policies that are PyTorch's."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.inputs.errors import InputError

pytest.importorskip("stable_baselines3")

from lcca.trainers.base import run
from lcca.trainers.drl.collector import Collector, Experience
from lcca.trainers.drl.ppo import advantages, by_network, privileges
from lcca.trainers.drl.trainer import slots_of, space_at

from .drl_support import config_of, trainer_of

torch = pytest.importorskip("torch")

TABLE = {"kind": "table"}
LAW_CONTENT = {"terms": {"increase": -1, "boost": 2, "decrease": 0.5}, "features": {"age_2": [0.1, 0, 0]}}
LAW = {"kind": "law", "law": LAW_CONTENT}


def expected(trainer: Any, views: np.ndarray) -> np.ndarray:
    """What PyTorch says of views without noise, by Stable-Baselines3's own `predict`."""
    algorithm = trainer.algorithm
    width = algorithm.model.observation_space.shape[0]
    seen = algorithm._standard.first(views.shape[1])(views)
    padded = np.zeros((len(views), width), dtype=np.float32)
    padded[:, : views.shape[1]] = seen
    return np.asarray(algorithm.model.predict(padded, deterministic=True)[0])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"privileged": True, "history": 3, "hidden": [16, 8]},
        {"activation": "relu", "hidden": [16]},
        {"steering": {"kind": "rate"}},
        {"steering": TABLE},
        {"steering": LAW, "privileged": True},
    ],
    ids=str,
)
def test_the_policy_is_pytorchs(space: NetworkSpace, changes: dict[str, Any]) -> None:
    trainer = trainer_of(space, rounds=1, steps=1500, **changes)
    policy = run(trainer)
    views = np.random.default_rng(1).uniform(0, 3, (300, policy.agent.inputs)).astype(np.float32)
    said = policy.actions(policy.outputs(views)[0])
    if changes.get("steering") == TABLE:
        assert (said[:, 0] == expected(trainer, views)).mean() > 0.99  # but for ties
    else:
        np.testing.assert_allclose(np.clip(said, -1, 1), expected(trainer, views), atol=1e-5)


def test_it_begins_at_the_law(space: NetworkSpace) -> None:
    policy = trainer_of(space, steering=LAW).policy
    views = np.random.default_rng(1).uniform(-2, 2, (300, policy.agent.inputs)).astype(np.float32)
    assert not policy.outputs(views)[0].any()


def test_noise_falls_by_one_factor(space: NetworkSpace) -> None:
    trainer, spread = trainer_of(space, noise=0.4, last_noise=0.1, rollout=1000), list[float]()
    while not trainer.done:
        trainer.step()
        spread.append(float(trainer.algorithm.model.policy.log_std.exp().mean()))
    assert spread == pytest.approx([0.4, 0.4 * 0.25 ** (1 / 3), 0.4 * 0.25 ** (2 / 3)])  # one rollout a round


def test_without_a_critic_none_is_learnt(space: NetworkSpace) -> None:
    trainer = trainer_of(space, value_weight=0)
    policy = trainer.algorithm.model.policy
    before = [each.clone() for each in (*policy.value_net.parameters(), *policy.action_net.parameters())]
    trainer.step()
    after = [*policy.value_net.parameters(), *policy.action_net.parameters()]
    assert [bool((a == b).all()) for a, b in zip(before, after, strict=True)] == [True, True, False, False]


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


def experience(following: list[int]) -> Experience:
    """Experience of which only the next rows matter."""
    columns = {each.name: np.zeros(len(following)) for each in fields(Experience)}
    return Experience(**{**columns, "next": np.array(following, dtype=np.int32)})


def test_advantages_run_along_each_flow() -> None:
    """Five rows: 0 → 2 → 4 of one flow; 1 and 3 by themselves."""
    rows = experience([2, -1, 4, -1, -1])
    reward = np.array([1, 2, 3, 4, 5], dtype=np.float32)
    value, after = np.full(5, 0.5, np.float32), np.full(5, 0.25, np.float32)
    discount = np.array([0.5, 0.5, 0.25, 0.5, 0.5], dtype=np.float32)
    found = advantages(rows, reward, value, after, discount, gae=0.8)
    surprise = reward + discount * after - value
    last, middle = surprise[4], surprise[2] + 0.25 * 0.8 * surprise[4]
    expected = [surprise[0] + 0.5 * 0.8 * middle, surprise[1], middle, surprise[3], last]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(ValueError, match="come later"):
        advantages(experience([1, 0]), reward[:2], value[:2], after[:2], discount[:2], gae=0.8)


def test_values_afterwards_are_those_of_what_was_seen_then(space: NetworkSpace) -> None:
    """Along flows, those of the next row; at ends and cuts those of rows by themselves, here by PyTorch one by one."""
    trainer = trainer_of(space, privileged=True, gae=0.0, normalise="batch", discount_per="decision", common=0.0)
    algorithm = trainer.algorithm
    slots = slots_of(trainer.task, trainer.config, trainer.agent, trainer.engine, 0, 1)
    rows = algorithm._collect(Collector(slots, privileges(slots.networks), 1), 400)
    columns = algorithm._columns(rows)
    last = {int(row): rows.after[i] for i, row in enumerate(rows.after_of)}
    value_net, critic = algorithm.model.policy.value_net, algorithm.model.policy.mlp_extractor.forward_critic

    def value(seen: np.ndarray) -> float:
        with torch.no_grad():
            return float(value_net(critic(torch.from_numpy(algorithm._standard(seen[None])))))

    gamma = trainer.config.discount
    for row in range(0, 400, 7):
        after = value(last[row] if rows.next[row] < 0 else rows.seen[rows.next[row]])
        expected = float(rows.reward[row]) * (1 - gamma) + gamma * after - value(rows.seen[row])
        assert float(columns.advantages[row]) == pytest.approx(expected, abs=2e-5)
    assert len(last) > 10


def test_advantages_are_scaled_within_networks() -> None:
    random = np.random.default_rng(1)
    values = np.concatenate([random.normal(5, 10, 200), random.normal(-3, 0.1, 100), [7.0]]).astype(np.float32)
    network = np.repeat([0, 2, 3], [200, 100, 1])
    scaled = by_network(values, network)
    for which in (0, 2):
        assert abs(scaled[network == which].mean()) < 1e-4
        assert scaled[network == which].std() == pytest.approx(1, abs=1e-4)
    assert abs(scaled[-1]) < 3  # alone on its network: scaled as all are
