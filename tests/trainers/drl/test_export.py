"""A model of Stable-Baselines3 becomes a policy that acts as the model does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
from lcca.trainers.drl.callback import EvaluationCallback  # noqa: E402
from lcca.trainers.drl.export import agent_of, export_policy, policy_of  # noqa: E402

SPACE = Path(__file__).parents[3] / "configs" / "networks" / "default.yaml"
MODELS = ("PPO", "A2C", "SAC", "TD3", "DDPG", "DQN", "PPO, table")
CONTRIBUTED = ("TRPO", "TQC", "CrossQ", "QRDQN", "ARS", "MaskablePPO")


@pytest.mark.parametrize("name", [*MODELS, *CONTRIBUTED])
def test_the_policy_does_what_the_model_does(name: str, tmp_path: Any) -> None:
    discrete = name in ("DQN", "PPO, table", "QRDQN", "MaskablePPO")
    env = BottleneckEnv(agent_with("link+queue", 2, steering=TableSteering() if discrete else None))
    library = sb3 if name in MODELS else pytest.importorskip("sb3_contrib")
    model = getattr(library, name.partition(",")[0])("MlpPolicy", env, seed=1, device="cpu")
    if name == "CrossQ":
        _renormalise(model.policy.actor)
    if name == "ARS":  # it begins with zeros
        model.policy.action_net.apply(lambda module: getattr(module, "reset_parameters", int)())
    policy = export_policy(model, tmp_path / "policy.json")
    views = np.random.default_rng(1).uniform(0, 1, (50, env.agent.inputs)).astype(np.float32)
    said, _ = policy.outputs(views)
    theirs, _ = model.predict(views, deterministic=True)
    ours = said.argmax(axis=1) if discrete else np.clip(said, -1, 1)
    np.testing.assert_allclose(ours, theirs, atol=1e-5)
    assert len(np.unique(theirs)) > 1 or discrete
    assert policyfile.read(tmp_path / "policy.json").policy == policy


def _renormalise(actor: Any) -> None:
    """Give an actor statistics as of a training; those of a new one change nothing."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    for module in actor.latent_pi:
        if hasattr(module, "ra_mean"):
            for name in ("ra_mean", "ra_var", "scale", "bias"):
                getattr(module, name).data.uniform_(0.5, 2)


def test_a_memory_does_what_the_model_does(tmp_path: Path) -> None:
    contrib, env = pytest.importorskip("sb3_contrib"), BottleneckEnv("link+queue")
    model = contrib.RecurrentPPO("MlpLstmPolicy", env, seed=1, device="cpu", policy_kwargs={"lstm_hidden_size": 8})
    policy = export_policy(model, tmp_path / "policy.json")
    views = np.random.default_rng(1).uniform(0, 1, (20, 1, env.agent.inputs)).astype(np.float32)
    own, theirs, first = None, None, np.ones(1, dtype=np.bool_)
    for view in views:  # one flow, decision by decision
        said, own = policy.outputs(view, own)
        action, theirs = model.predict(view, theirs, first, deterministic=True)
        first = np.zeros(1, dtype=np.bool_)
        np.testing.assert_allclose(np.clip(said, -1, 1), action, atol=1e-5)
    deep = {"lstm_hidden_size": 8, "n_lstm_layers": 2}
    with pytest.raises(InputError, match="no dense layers"):
        export_policy(contrib.RecurrentPPO("MlpLstmPolicy", env, device="cpu", policy_kwargs=deep), tmp_path / "x.json")


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
    with pytest.raises(InputError, match="model: PPO has no dense layers"):
        kinds = {"activation_fn": __import__("torch").nn.ELU}
        policy_of(sb3.PPO("MlpPolicy", env, policy_kwargs=kinds, device="cpu"), env.agent)
