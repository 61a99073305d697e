"""AgentSlots as Stable-Baselines3's `VecEnv` and Gymnasium's `VectorEnv`."""

from __future__ import annotations

import sys

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")

import lcca.gym_envs.registration  # noqa: E402, F401
from lcca.gym_envs.batch.agent_slots import AgentSlots, Rules  # noqa: E402
from lcca.gym_envs.batch.vector_env import AgentSlotsVectorEnv  # noqa: E402
from lcca.gym_envs.interface.spaces import agent_with  # noqa: E402
from lcca.inputs.errors import InputError  # noqa: E402
from lcca.remy_plus.policies.agents import TableSteering, WindowSteering  # noqa: E402

from .slots_support import BYTES, TIME  # noqa: E402


def slots(steering: WindowSteering | TableSteering | None = None) -> AgentSlots:
    rules = Rules(agent_with("e2e", 2, steering=steering), patience=4.0)
    return AgentSlots(rules, [TIME, BYTES], environments=6, whole_rows=True)


def no_stable_baselines() -> None:
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed: pip install 'lcca[drl]'")


@pytest.mark.slow
@pytest.mark.parametrize("steering", [None, TableSteering()], ids=["box", "discrete"])
def test_both_forms_tell_the_same(steering: TableSteering | None) -> None:
    no_stable_baselines()
    from lcca.gym_envs.batch.vec_env import AgentSlotsVecEnv

    ours, theirs = AgentSlotsVecEnv(slots(steering)), AgentSlotsVectorEnv(slots(steering))
    ours.seed(3)
    np.testing.assert_array_equal(ours.reset(), theirs.reset(seed=3)[0])
    theirs.action_space.seed(1)
    returns, ended = np.zeros(ours.num_envs), 0
    for _ in range(1500):
        actions = theirs.action_space.sample()
        seen, rewards, dones, infos = ours.step(actions)
        other, also, terminated, truncated, more = theirs.step(actions)
        np.testing.assert_array_equal(seen, other)
        np.testing.assert_array_equal(rewards, also)
        np.testing.assert_array_equal(dones, terminated | truncated)
        np.testing.assert_array_equal(ours.acting, more["acting"])
        assert ours.observation_space.contains(seen[0])
        returns += rewards
        for slot in np.flatnonzero(dones):
            np.testing.assert_array_equal(infos[slot]["terminal_observation"], more["final_obs"][slot])
            assert infos[slot]["TimeLimit.truncated"] == truncated[slot]
            assert infos[slot]["episode"]["r"] == pytest.approx(returns[slot], abs=1e-3)
            assert infos[slot]["episode"]["l"] >= 1
            ended += 1
        returns[dones] = 0
    assert ended > 20


def test_reset_goes_on_and_seeds_repeat() -> None:
    env = AgentSlotsVectorEnv(slots())
    first, _ = env.reset(seed=8)
    actions = np.zeros(env.action_space.shape)
    steps = [env.step(actions)[0] for _ in range(20)]
    again, _ = env.reset(seed=8)
    np.testing.assert_array_equal(first, again)
    for step in steps:
        np.testing.assert_array_equal(step, env.step(actions)[0])


def test_gymnasium_makes_them() -> None:
    env = gymnasium.make_vec("lcca/Bottleneck-v0", num_envs=5, agent="link")
    seen, _ = env.reset(seed=1)
    assert seen.shape == (5, 5)
    seen, rewards, *_ = env.step(env.action_space.sample())
    assert rewards.shape == (5,)
    assert env.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP


@pytest.mark.slow
def test_ppo_learns_on_many_flows() -> None:
    no_stable_baselines()
    from stable_baselines3 import PPO
    from stable_baselines3.common.evaluation import evaluate_policy

    from lcca.gym_envs.batch.vec_env import AgentSlotsVecEnv

    env = AgentSlotsVecEnv(slots())
    model = PPO("MlpPolicy", env, n_steps=16, batch_size=16 * env.num_envs, n_epochs=1, device="cpu")
    model.learn(2 * 16 * env.num_envs)
    assert model.num_timesteps == 2 * 16 * env.num_envs
    mean, _ = evaluate_policy(model, AgentSlotsVecEnv(slots()), n_eval_episodes=4)
    assert np.isfinite(mean)


def test_compact_rows_are_refused() -> None:
    with pytest.raises(InputError, match="whole_rows"):
        AgentSlotsVectorEnv(AgentSlots(Rules(agent_with("e2e")), [TIME], environments=1))


@pytest.mark.parametrize(
    ("package", "module"),
    [
        ("gymnasium", "lcca.gym_envs.interface.spaces"),
        ("stable_baselines3.common.vec_env.base_vec_env", "lcca.gym_envs.batch.vec_env"),
    ],
)
def test_a_missing_package_is_named(package: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(InputError, match=r"pip install 'lcca\[drl\]'"):
        importlib.import_module(module)
