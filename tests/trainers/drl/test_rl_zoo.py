"""The hyperparameters of RL Baselines3 Zoo are Stable-Baselines3's, for environments that are there."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")
sb3 = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed: pip install 'lcca[drl]'")

from stable_baselines3.common.env_util import make_vec_env  # noqa: E402

from lcca.gym_envs.registration import ENVIRONMENTS  # noqa: E402

FILE = Path(__file__).parents[3] / "configs" / "drl" / "rl-zoo" / "ppo.yml"
BLOCKS: dict[str, Any] = YAML(typ="safe").load(FILE.read_text())


@pytest.mark.parametrize("name", BLOCKS)
def test_ppo_takes_them(name: str) -> None:
    """As `rl_zoo3.exp_manager` reads them: three keys are its own, text is evaluated, ``lin_`` falls to 0."""
    assert name in ENVIRONMENTS
    values = dict(BLOCKS[name])
    steps, many = values.pop("n_timesteps"), values.pop("n_envs")
    assert steps % (values["n_steps"] * many) < steps
    assert values["n_steps"] * many % values["batch_size"] == 0
    rate = str(values["learning_rate"])
    first = float(rate.removeprefix("lin_"))
    values |= {"learning_rate": lambda left: first * left, "policy_kwargs": eval(values["policy_kwargs"])}
    assert values.keys() <= inspect.signature(sb3.PPO).parameters.keys()
    assert gymnasium.spec(name).max_episode_steps == 100_000
    env = make_vec_env(name, many, seed=1)  # as the Zoo does, with a way to draw
    env.reset()
    assert env.render() is not None
    model = sb3.PPO(env=env, device="cpu", **(values | {"n_steps": 2, "batch_size": 2 * many, "n_epochs": 1}))
    model.learn(2 * many)
    assert model.policy.optimizer.param_groups[0]["lr"] <= first
    env.close()
