"""A model of Stable-Baselines3 becomes a policy that acts as the model does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

sb3 = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed: pip install 'lcca[drl]'")

from lcca.gym_envs.flow.bottleneck import BottleneckEnv  # noqa: E402
from lcca.gym_envs.interface.spaces import agent_with  # noqa: E402
from lcca.inputs.errors import InputError  # noqa: E402
from lcca.remy_plus.files import policyfile  # noqa: E402
from lcca.remy_plus.policies.agents import TableSteering  # noqa: E402
from lcca.trainers.drl.export import policy_of  # noqa: E402


@pytest.mark.parametrize("name", ["PPO", "A2C", "SAC", "TD3", "DDPG", "DQN", "PPO, table"])
def test_the_policy_does_what_the_model_does(name: str, tmp_path: Any) -> None:
    discrete = name in ("DQN", "PPO, table")
    env = BottleneckEnv(agent_with("link+queue", 2, steering=TableSteering() if discrete else None))
    model = getattr(sb3, name.partition(",")[0])("MlpPolicy", env, seed=1, device="cpu")
    policy = policy_of(model, env.agent)
    views = np.random.default_rng(1).uniform(0, 1, (50, env.agent.inputs)).astype(np.float32)
    said, _ = policy.outputs(views)
    theirs, _ = model.predict(views, deterministic=True)
    ours = said.argmax(axis=1) if discrete else np.clip(said, -1, 1)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert len(np.unique(theirs)) > 1 or discrete
    policyfile.write(tmp_path / "policy.json", policyfile.PolicyFile(policy))
    assert policyfile.read(tmp_path / "policy.json").policy == policy


def test_another_model_is_refused() -> None:
    env = BottleneckEnv()
    with pytest.raises(InputError, match="model: PPO has no dense layers"):
        kinds = {"activation_fn": __import__("torch").nn.ELU}
        policy_of(sb3.PPO("MlpPolicy", env, policy_kwargs=kinds, device="cpu"), env.agent)
