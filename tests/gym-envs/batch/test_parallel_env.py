"""All senders of a network as agents of PettingZoo."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pettingzoo", reason="pettingzoo is not installed: pip install 'lcca[pettingzoo]'")

from pettingzoo.test import parallel_api_test, parallel_seed_test

from lcca.gym_envs.batch.parallel_env import BottleneckParallelEnv
from lcca.inputs.errors import InputError

from .slots_support import TIME, engine_flows


def made(**changes: object) -> BottleneckParallelEnv:
    return BottleneckParallelEnv(**({"networks": replace(TIME, senders=3), "duration": 2_000.0} | changes))  # type: ignore[arg-type]


def test_the_checks_of_pettingzoo_pass() -> None:
    parallel_api_test(made(), num_cycles=300)
    parallel_seed_test(made, num_cycles=50)


def test_an_episode_is_a_trial() -> None:
    env = made()
    env.reset(seed=5)
    seed = int(env.slots.core.trial_seed[0])
    assert env.agents == ["sender_0", "sender_1", "sender_2"]
    flows = 0
    while env.agents:
        seen, rewards, terminated, truncated, infos = env.step({name: [0.0] for name in env.agents})
        flows += sum(info["flow_ended"] for info in infos.values())
        assert not any(terminated.values())
        assert all(env.observation_space(name).contains(view) for name, view in seen.items())
        assert set(rewards) == set(env.possible_agents)
    assert all(truncated.values())
    from lcca.remy_plus.policies.policy import FixedWindow

    expected = engine_flows(FixedWindow(10), replace(TIME, senders=3), seed, 2_000.0)
    assert abs(flows - len(expected["sender"])) <= 1  # one that was on may end with the trial


def test_a_missing_agent_is_named() -> None:
    env = made()
    env.reset(seed=1)
    with pytest.raises(InputError, match="no action of sender_1"):
        env.step({"sender_0": np.zeros(1), "sender_2": np.zeros(1)})
