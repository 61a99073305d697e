"""What every registered environment keeps: checkers, seeds, actions that are none, closing, and a fresh start."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import psutil
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'lcca[drl]'")

from gymnasium import spaces  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

from lcca.gym_envs.fabric.fabrics import SmallFabric  # noqa: E402
from lcca.gym_envs.interface.spaces import agent_with  # noqa: E402
from lcca.gym_envs.ns3 import simulator as ns3_module  # noqa: E402
from lcca.gym_envs.ns3.simulator import installed  # noqa: E402
from lcca.gym_envs.registration import ENVIRONMENTS  # noqa: E402
from lcca.inputs.errors import InputError  # noqa: E402
from lcca.inputs.studies import added  # noqa: E402
from lcca.remy_plus.policies.agents import EVERY_ACK, RateSteering, TableSteering, WindowSteering  # noqa: E402

from ..studies import of_studies  # noqa: E402

AGENTS = {
    "acknowledgements": agent_with("link+queue", 3, EVERY_ACK, WindowSteering(largest=40)),
    "rate": agent_with(("loss", "rtt_ratio"), steering=RateSteering(largest=2)),
    "table": agent_with("e2e", 2, steering=TableSteering(largest=40)),
}
SMALL_WINDOWS = agent_with("e2e", steering=WindowSteering(largest=40))
FLOW: dict[str, Any] = {"duration": 2000.0, "others": "aimd"}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "Bottleneck": ("lcca/Bottleneck-v0", FLOW),
    **{f"Bottleneck, {name}": ("lcca/Bottleneck-v0", FLOW | {"agent": agent}) for name, agent in AGENTS.items()},
    "Ns3Bottleneck": ("lcca/Ns3Bottleneck-v0", FLOW | {"agent": SMALL_WINDOWS}),
    **{f"Ns3Bottleneck, {name}": ("lcca/Ns3Bottleneck-v0", FLOW | {"agent": agent}) for name, agent in AGENTS.items()},
    "FabricFlow": ("lcca/FabricFlow-v0", {"scenario": SmallFabric(30, 200.0)}),
    "FabricFlow, acknowledgements": (
        "lcca/FabricFlow-v0",
        {"agent": AGENTS["acknowledgements"], "others": "hpcc", "smallest_bytes": 1000},
    ),
    **of_studies("ENVIRONMENTS"),
}
FIRST = [
    next(case for case, (name, _) in CASES.items() if name == each) for each in [*ENVIRONMENTS, *added("environments")]
]
"""One case of each id."""

SEPARATE = [case for case in FIRST if case not in ("Bottleneck", "FabricEcn", "FabricFlow")]
"""Those with a process of their own."""


@pytest.fixture
def made(request: pytest.FixtureRequest) -> Any:
    """A function that makes an environment of a case; it is closed after the test."""
    with contextlib.ExitStack() as stack:

        def make(case: str) -> Any:
            name, options = CASES[case]
            if case.startswith(("Ns3Bottleneck", "Ns3Ecn")):
                request.getfixturevalue("ns3")
            if case == "Ns3Gym":
                pytest.importorskip("zmq", reason="pyzmq is not installed: pip install 'lcca[ns3gym]'")
            return stack.enter_context(contextlib.closing(gymnasium.make(name, **options).unwrapped))

        yield make


def rollout(env: Any, seed: int, refused: Sequence[Any] = ()) -> list[Any]:
    """Play an episode of random actions; before each of the first ones come some that must be refused."""
    seen, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    steps, over = [(seen, info)], False
    while not over:
        for bad in refused if len(steps) < 3 else ():
            with pytest.raises(InputError, match=r"^(step|action): "):
                env.step(bad)
        steps.append(env.step(env.action_space.sample()))
        over = steps[-1][2] or steps[-1][3]
    return steps


def same(ours: list[Any], theirs: list[Any]) -> bool:
    return len(ours) == len(theirs) and all(
        np.array_equal(a[0], b[0]) and a[1:] == b[1:] for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.parametrize("case", CASES)
def test_both_checkers_pass(case: str, made: Any) -> None:
    sb3 = pytest.importorskip("stable_baselines3.common.env_checker", reason="stable-baselines3 is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if case == "Ns3Gym":  # its spaces are the simulation's
            warnings.filterwarnings("ignore", message="(?s).*(symmetric and normalized|uint32)")
        env = made(case)
        sb3.check_env(env)
        check_env(env, skip_render_check=True)


@pytest.mark.parametrize("case", CASES)
def test_seeds_give_the_same_bits(case: str, made: Any) -> None:
    env = made(case)
    first, other = rollout(env, 4), rollout(env, 5)
    assert same(first, rollout(env, 4))
    assert same(first, rollout(made(case), 4)), "another environment"
    assert first[-1][-1] != other[-1][-1]
    assert all(env.observation_space.contains(step[0]) for step in first)


@pytest.mark.parametrize("case", FIRST)
def test_other_seeds_share_no_trial(case: str, made: Any) -> None:
    env, drawn = made(case), []
    for seed in (1, 2, 3, 201):
        for number in range(5 if case in SEPARATE else 200):
            _, info = env.reset(seed=None if number else seed)
            drawn.append(tuple(info.get(name) for name in ("network", "trace", "trial_seed", "seed")))
            env.step(env.action_space.sample())  # or a simulation that has just begun goes on
    assert len(set(drawn)) == len(drawn) and drawn[0].count(None) < 4


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("lcca/Bottleneck-v0", {"duration": 300.0}),
        ("lcca/FabricFlow-v0", {"scenario": SmallFabric(30, 30.0)}),
    ],
)
def test_other_seeds_of_vector_environments_share_no_trial(name: str, options: dict[str, Any]) -> None:
    env: Any = gymnasium.make_vec(name, num_envs=4, **options)
    env.action_space.seed(1)
    found: list[set[int]] = []
    for seed in (1, 2, 5, 2**32 + 1):  # the last has the words 1 and 1, of 32 bits, as the second trial of seed 1
        env.reset(seed=seed)
        found.append(set())
        while len(found[-1]) < 40:
            slots = env.unwrapped.slots
            found[-1] |= set(np.atleast_1d(getattr(slots, "core", slots).trial_seed).tolist())
            env.step(env.action_space.sample())
    assert len(set.union(*found)) == sum(map(len, found))
    env.close()


def bad_actions(space: Any) -> list[Any]:
    size = int(np.prod(space.shape))
    bad = ["left", {"action": 1}, None, np.zeros(size + 1), [[1], [1, 2]], np.full(space.shape, np.nan)]
    if isinstance(space, spaces.Box):
        return bad + ([np.full(space.shape, np.inf)] if space.dtype == np.float32 else [np.full(space.shape, 0.5)])
    return [*bad, np.full(space.shape, 0.5), np.full(space.shape, -1), np.full(space.shape, 252)]


@pytest.mark.parametrize("case", CASES)
def test_an_action_that_is_none_is_refused_and_the_episode_goes_on(case: str, made: Any) -> None:
    env = made(case)
    undisturbed = rollout(env, 4)
    assert same(undisturbed, rollout(env, 4, bad_actions(env.action_space)))


@pytest.mark.parametrize("case", FIRST)
def test_a_step_out_of_an_episode_is_refused(case: str, made: Any) -> None:
    env = made(case)
    if case != "Ns3Gym":  # it plays from the start on: its spaces come from the simulation
        with pytest.raises(InputError, match="call reset first"):
            env.step(env.action_space.sample())
    rollout(env, 4)
    with pytest.raises(InputError, match="call reset first"):
        env.step(env.action_space.sample())


@pytest.mark.parametrize("case", SEPARATE)
def test_a_process_that_dies_is_told_and_the_next_reset_works(case: str, made: Any) -> None:
    before = set(psutil.Process().children())
    env = made(case)
    first = rollout(env, 4)
    env.reset(seed=4)
    (process,) = set(psutil.Process().children()) - before
    os.kill(process.pid, signal.SIGSEGV)
    with pytest.raises(RuntimeError, match="ended with signal SIGSEGV"):
        env.step(env.action_space.sample())
    with pytest.raises(InputError, match="call reset first"):
        env.step(env.action_space.sample())
    assert same(first, rollout(env, 4))
    env.close()
    env.close()
    assert set(psutil.Process().children()) == before, "closing leaves nothing behind"


@pytest.mark.parametrize("case", SEPARATE)
def test_daemons_may_have_one(case: str, made: Any) -> None:
    """`SubprocVecEnv`, whose daemons may have no children of `multiprocessing`, against the same in this process."""
    vec_env = pytest.importorskip("stable_baselines3.common.vec_env", reason="stable-baselines3 is not installed")
    made(case).close()
    name, options = CASES[case]
    rollouts = []
    for kind, how in ((vec_env.DummyVecEnv, {}), (vec_env.SubprocVecEnv, {"start_method": "fork"})):
        vec = kind([lambda: gymnasium.make(name, **options)], **how)
        vec.seed(4)
        vec.action_space.seed(4)
        seen = [vec.reset()]
        for _ in range(5):
            seen += vec.step(np.array([vec.action_space.sample()]))[:3]
        vec.close()
        rollouts.append(seen)
    for ours, theirs in zip(*rollouts, strict=True):
        np.testing.assert_array_equal(np.float32(ours), np.float32(theirs))  # one keeps rewards in single precision


@pytest.mark.parametrize("case", [case for case in FIRST if case in ("Ns3Bottleneck", "Ns3Ecn")])
def test_without_ns3_the_error_says_how_to_install_it(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lcca.ns3", None)
    installed.cache_clear()
    try:
        with pytest.raises(InputError, match="make ns3"):
            gymnasium.make(CASES[case][0])
    finally:
        ns3_module.installed.cache_clear()


ASKED = "import importlib.util as u; assert u.find_spec('gymnasium')"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("imports", "name"),
    [
        ("import gymnasium", "lcca.gym_envs:lcca/Bottleneck-v0"),
        ("import gymnasium, lcca.gym_envs", "lcca/Bottleneck-v0"),
        ("import lcca.gym_envs, gymnasium", "lcca/Bottleneck-v0"),
        ("import lcca.gym_envs.ns3.plan; import gymnasium", "lcca/Bottleneck-v0"),
        (f"import lcca.gym_envs; {ASKED}; import gymnasium", "lcca/Bottleneck-v0"),
    ],
)
def test_the_package_registers_whatever_is_imported_first(imports: str, name: str) -> None:
    """Gymnasium has no entry points for plugins since 1.0; it imports the module before the colon of a name."""
    done = subprocess.run(
        [sys.executable, "-c", f"{imports}; print(gymnasium.make('{name}').spec.id)"], capture_output=True, text=True
    )
    assert done.stdout == "lcca/Bottleneck-v0\n", done.stderr


def test_the_package_does_not_import_gymnasium() -> None:
    code = "import sys, lcca.gym_envs.ns3.plan; print('gymnasium' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


@pytest.mark.parametrize(
    "module",
    [
        "lcca.gym_envs.flow.env",
        "lcca.gym_envs.fabric.env",
        "lcca.gym_envs.registration",
        *of_studies("NEED_GYMNASIUM"),
    ],
)
def test_without_gymnasium_the_error_names_the_extra(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    monkeypatch.setitem(sys.modules, "gymnasium.envs.registration", None)
    for name in [module, "lcca.gym_envs.interface.spaces"]:
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(InputError, match=r"pip install 'lcca\[drl\]'"):
        importlib.import_module(module)
