"""`lcca/Bottleneck-v0`, as Gymnasium's and Stable-Baselines3's users meet it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")


import lcca.gym_envs.registration  # noqa: E402, F401
from lcca.evaluation.scenarios.networks import NetworkSpace  # noqa: E402
from lcca.gym_envs.flow.bottleneck import BottleneckEnv  # noqa: E402
from lcca.gym_envs.interface.episode import Reward  # noqa: E402
from lcca.gym_envs.interface.spaces import agent_with  # noqa: E402
from lcca.inputs.errors import InputError  # noqa: E402
from lcca.inputs.validation import read_config  # noqa: E402
from lcca.remy_plus.engine import Engine  # noqa: E402
from lcca.remy_plus.network import Network, NetworkList  # noqa: E402
from lcca.remy_plus.policies.agents import EVERY_ACK, Agent, TableSteering  # noqa: E402
from lcca.remy_plus.policies.policy import (  # noqa: E402
    FixedWindow,
    compile_policy,
)

SPACE = NetworkSpace(
    link_rate={"min": 2, "max": 4, "step": 0.5},
    rtt={"min": 20, "max": 30, "step": 1},
    senders={"min": 1, "max": 4, "step": 1},
    buffer=150,
    mean_on=3000,
    mean_off=300,
    loss=0.001,
    duration=10_000,
)


def rollout(env: BottleneckEnv, seed: int) -> tuple[list[np.ndarray], list[float], dict[str, object], bool]:
    seen, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    views, rewards, terminated, truncated = [seen], [], False, False
    while not (terminated or truncated):
        seen, reward, terminated, truncated, info = env.step(env.action_space.sample())
        views.append(seen)
        rewards.append(reward)
    return views, rewards, info, truncated


def test_flows_end_or_trials_do() -> None:
    env = BottleneckEnv("e2e", SPACE.draw)
    ends = [rollout(env, seed) for seed in range(30)]
    assert {truncated for *_, truncated in ends} == {True, False}
    assert all(truncated == (info["now_us"] == 10_000) for *_, info, truncated in ends)


def test_a_fixed_window_earns_the_engines_utility() -> None:
    """The flow of the engine's trial with the same seed: always on, so its episode ends with the trial."""
    network = Network(5, 3.0, 25.0, 3, 60, 1e9, 100.0, 0.002)
    agent = agent_with("e2e", 1, EVERY_ACK, TableSteering(((20, 0, 0),)))
    env = BottleneckEnv(agent, network, Reward("gain"), others=FixedWindow(20))
    env.reset(options={"trial_seed": 77})
    total, over = 0.0, False
    while not over:
        _, reward, terminated, over, info = env.step(0)
        assert not terminated
        total += reward
    assert info == {"network": 5, "trial_seed": 77, "now_us": 10_000}
    batch = Engine(duration=10_000, jobs=1).run(
        [compile_policy(FixedWindow(20))], NetworkList([network]), [0], [0], [77]
    )
    share, delivered, delay = (batch.floats(f"sender_{name}")[0] for name in ("share_us", "delivered", "delay_sum_us"))
    expected = np.log2(delivered / share / 3.0) - np.log2(delay / delivered / (25 + 1 / 3))
    assert total == pytest.approx(expected, abs=1e-4)


def test_bad_use_is_told() -> None:
    with pytest.raises(InputError, match="unknown signal set"):
        BottleneckEnv("e3e")
    with pytest.raises(InputError, match="render_mode"):
        BottleneckEnv(render_mode="human")
    with pytest.raises(InputError, match="no flow came on"):
        BottleneckEnv(duration=1e-3).reset(seed=1)


@pytest.mark.parametrize("agent", [agent_with("e2e"), agent_with("e2e", 2, steering=TableSteering())])
def test_ppo_learns_from_its_name(agent: Agent) -> None:
    sb3 = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed: pip install 'lcca[drl]'")
    model = sb3.PPO(
        "MlpPolicy", gymnasium.make("lcca/Bottleneck-v0", agent=agent), n_steps=128, n_epochs=2, device="cpu"
    )
    model.learn(256)
    assert model.num_timesteps == 256
    assert sb3.PPO("MlpPolicy", "lcca/Bottleneck-v0", n_steps=64, n_epochs=1, device="cpu").learn(64)


def test_networks_may_be_the_file_of_a_space(tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    path.write_text(
        "link_rate: 3\nrtt: 25\nsenders: 1\nbuffer: 150\nmean_on: 3000\nmean_off: 300\nloss: 0\nduration: 9000\n"
    )
    space = read_config(path, NetworkSpace)
    by_file, by_space = BottleneckEnv("e2e", str(path)), BottleneckEnv("e2e", space.draw)
    for seed in range(3):
        ours, theirs = (rollout(env, seed) for env in (by_file, by_space))
        assert ours[1:] == theirs[1:]
    with pytest.raises(InputError, match="missing"):
        BottleneckEnv("e2e", "missing.yaml")


def test_a_header_costs_its_bytes() -> None:
    """Two episodes that differ by the header alone."""
    returns = [rollout(BottleneckEnv("e2e", header=name), 3)[1] for name in (None, "hpcc")]
    assert returns[0] != returns[1]
    with pytest.raises(InputError, match="does not carry the signal flows"):
        BottleneckEnv(agent_with(("flows",)), header="hpcc")


def test_a_reward_may_be_a_function_of_ones_own() -> None:
    """It gets what the step returns; the trial does not change."""
    steps = []

    def worth(seen: np.ndarray, action: np.ndarray, info: dict[str, object]) -> float:
        steps.append((seen, action, info))
        return 10 * float(seen[0])

    own, usual = gymnasium.make("lcca/Bottleneck-v0", reward=worth), BottleneckEnv()
    views, rewards, info, _ = rollout(own, 3)
    assert [10 * float(view[0]) for view in views[1:]] == rewards and len(set(rewards)) > 1
    assert np.array_equal(views, rollout(usual, 3)[0]) and steps[-1][2] == info
    wrong = BottleneckEnv(reward=lambda seen, action, info: float("nan"))
    wrong.reset(seed=1)
    with pytest.raises(InputError, match="reward: the function must return a finite number, got nan"):
        wrong.step(wrong.action_space.sample())


def test_rewards_that_cannot_be_say_what_can() -> None:
    with pytest.raises(InputError, match=r"reward: must be a kind \(utility, power, .*\), a Reward, or .* got 3"):
        BottleneckEnv(reward=3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="where one flow learns alone a function of"):
        gymnasium.make_vec("lcca/Bottleneck-v0", vectorization_mode="vector_entry_point", reward=lambda *step: 0)
