"""A model of Stable-Baselines3 becomes a policy that acts as the model does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

sb3 = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed: pip install 'lcca[drl]'")

from lcca.evaluation.scenarios.networks import NetworkSpace  # noqa: E402
from lcca.evaluation.trials.running import run_trials  # noqa: E402
from lcca.evaluation.trials.utilities import DEFAULT  # noqa: E402
from lcca.gym_envs.flow.bottleneck import BottleneckEnv  # noqa: E402
from lcca.gym_envs.interface.spaces import agent_with  # noqa: E402
from lcca.inputs.errors import InputError  # noqa: E402
from lcca.inputs.validation import read_config  # noqa: E402
from lcca.remy_plus.engine import Engine  # noqa: E402
from lcca.remy_plus.files import policyfile  # noqa: E402
from lcca.remy_plus.policies.agents import TableSteering  # noqa: E402
from lcca.remy_plus.policies.policy import WithHeader  # noqa: E402
from lcca.signal_sets.load import resolve  # noqa: E402
from lcca.trainers.drl.callback import EvaluationCallback  # noqa: E402
from lcca.trainers.drl.export import agent_of, export_policy, policy_of  # noqa: E402

SPACE = Path(__file__).parents[3] / "configs" / "networks" / "default.yaml"


@pytest.mark.parametrize("discrete", [False, True])
def test_the_policy_does_what_the_model_does(discrete: bool, tmp_path: Path) -> None:
    env = BottleneckEnv(agent_with("link+queue", 2, steering=TableSteering() if discrete else None))
    model = sb3.PPO("MlpPolicy", env, seed=1, device="cpu")
    policy = export_policy(model, tmp_path / "policy.json")
    views = np.random.default_rng(1).uniform(0, 1, (50, env.agent.inputs)).astype(np.float32)
    said, _ = policy.outputs(views)
    theirs, _ = model.predict(views, deterministic=True)
    ours = said.argmax(axis=1) if discrete else np.clip(said, -1, 1)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert len(np.unique(theirs)) > 1 or discrete
    assert policyfile.read(tmp_path / "policy.json").policy == policy


def test_what_the_agent_is_must_be_known(tmp_path: Path) -> None:
    model = sb3.PPO("MlpPolicy", BottleneckEnv(), device="cpu")
    model.save(tmp_path / "model.zip")
    loaded = sb3.PPO.load(tmp_path / "model.zip", device="cpu")
    with pytest.raises(InputError, match="say agent="):
        export_policy(loaded, tmp_path / "policy.json")
    assert export_policy(loaded, tmp_path / "policy.json", BottleneckEnv().agent) == policy_of(model, agent_of(model))
    normal = sb3.common.vec_env.VecNormalize(sb3.common.vec_env.DummyVecEnv([BottleneckEnv]))
    with pytest.raises(InputError, match="VecNormalize"):
        export_policy(sb3.PPO("MlpPolicy", normal, device="cpu"), tmp_path / "policy.json")


@pytest.mark.slow
def test_the_callback_scores_as_evaluate_does(tmp_path: Path) -> None:
    space = read_config(SPACE, NetworkSpace)
    scores = EvaluationCallback(space, every=100, networks=32, best=tmp_path / "best.json")
    model = sb3.PPO("MlpPolicy", BottleneckEnv("link"), n_steps=64, n_epochs=1, seed=1, device="cpu")
    model.learn(256, callback=scores)
    assert [each.steps for each in scores.evaluations] == [100, 200]
    last = scores.evaluate()
    policy = policy_of(model, agent_of(model))
    rows = run_trials(Engine(space.duration, jobs=1), {"it": policy}, scores.networks, [1], DEFAULT)
    blocks = rows["score_bits"].to_numpy().reshape(-1, space.block).mean(axis=1)
    half = stats.t.ppf(0.975, len(blocks) - 1) * blocks.std(ddof=1) / len(blocks) ** 0.5
    assert (last.score_bits, last.high) == (pytest.approx(blocks.mean()), pytest.approx(blocks.mean() + half))
    assert policyfile.read(tmp_path / "best.json").policy.signals == policy.signals


def test_another_model_is_refused() -> None:
    env = BottleneckEnv()
    with pytest.raises(InputError, match="model: SAC with these layers cannot be exported"):
        policy_of(sb3.SAC("MlpPolicy", env, device="cpu"), env.agent)
    with pytest.raises(InputError, match="model: PPO with these layers cannot be exported; use PPO"):
        kinds = {"activation_fn": __import__("torch").nn.ELU}
        policy_of(sb3.PPO("MlpPolicy", env, policy_kwargs=kinds, device="cpu"), env.agent)


def test_a_policy_is_exported_with_its_header(tmp_path: Path) -> None:
    env = BottleneckEnv(agent_with(("rtt_ratio", "capacity")), header="hpcc")
    export_policy(sb3.PPO("MlpPolicy", env, n_steps=8, batch_size=8, device="cpu"), tmp_path / "it.json")
    found = resolve(str(tmp_path / "it.json"))
    assert found.header is not None
    assert found.header.name == "hpcc"
    assert isinstance(found.policy, WithHeader)
