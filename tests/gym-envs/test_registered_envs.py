"""Every registered id: Gymnasium's and Stable-Baselines3's checkers, worker processes, what is told without extras."""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import lcca.gym_envs.registration  # noqa: E402, F401
from lcca.gym_envs.ecn.incast import Incast  # noqa: E402
from lcca.gym_envs.ns3 import simulator as ns3_module  # noqa: E402
from lcca.gym_envs.ns3.simulator import installed  # noqa: E402
from lcca.inputs.errors import InputError  # noqa: E402

NAMES = ["lcca/Bottleneck-v0", "lcca/Ns3Bottleneck-v0", "lcca/Ns3Ecn-v0"]
QUICK: dict[str, dict[str, Any]] = {
    "lcca/Ns3Bottleneck-v0": {"duration": 3000.0},
    "lcca/Ns3Ecn-v0": {"incast": Incast(hosts=3, duration_us=2000, large_every_us=1000)},
}


def made(name: str) -> Any:
    if "Ns3" in name:
        try:
            installed()
        except InputError as error:
            pytest.skip(str(error))
    return gymnasium.make(name, **QUICK.get(name, {})).unwrapped


def stable_baselines() -> None:
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed: pip install 'lcca[drl]'")


@pytest.mark.parametrize("name", NAMES)
def test_both_checkers_pass(name: str) -> None:
    stable_baselines()
    from stable_baselines3.common.env_checker import check_env as check_sb3_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = made(name)
        check_sb3_env(env)
        check_env(made(name), skip_render_check=True)
        env.close()


@pytest.mark.parametrize("name", NAMES)
def test_worker_processes_tell_the_same(name: str) -> None:
    """`SubprocVecEnv`, whose daemons may have no `multiprocessing` children, against the same in this process."""
    stable_baselines()
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    made(name).close()

    def maker() -> Any:  # of this function's own, so that it travels whole

        return gymnasium.make(name, **quick)

    quick = QUICK.get(name, {})
    rollouts = []
    for kind in (DummyVecEnv, SubprocVecEnv):
        vec = kind([maker, maker])
        vec.seed(4)
        vec.action_space.seed(4)
        seen = [vec.reset()]
        for _ in range(15):
            observation, reward, done, _ = vec.step(np.array([vec.action_space.sample() for _ in range(2)]))
            seen += [observation, reward, done]
        vec.close()
        rollouts.append(seen)
    for ours, theirs in zip(*rollouts, strict=True):
        np.testing.assert_array_equal(np.float32(ours), np.float32(theirs))  # one keeps rewards in single precision


@pytest.mark.parametrize("name", [name for name in NAMES if "Ns3" in name])
def test_without_ns3_the_mend_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lcca.ns3", None)
    ns3_module.installed.cache_clear()
    try:
        with pytest.raises(InputError, match="make ns3"):
            gymnasium.make(name)
    finally:
        ns3_module.installed.cache_clear()


@pytest.mark.parametrize("module", ["lcca.gym_envs.flow.env", "lcca.gym_envs.ecn.env"])
def test_without_gymnasium_the_extra_is_told(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    for name in [module, "lcca.gym_envs.batch.spaces"]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(InputError, match=r"pip install 'lcca\[drl\]'"):
        importlib.import_module(module)
