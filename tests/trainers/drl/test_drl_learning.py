"""Learning happens: a trained network is settled better than every fixed window."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lcca.evaluation.comparison.compare import compare_policies
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import DEFAULT, utility
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.policy import FixedWindow, Policy
from lcca.trainers.base import Task, run

pytest.importorskip("stable_baselines3")

from lcca.trainers.drl.config import PpoConfig
from lcca.trainers.drl.trainer import DrlTrainer

SPACE = NetworkSpace.model_validate(
    {
        "link_rate": {"min": 1, "max": 3, "step": 1},
        "rtt": {"min": 10, "max": 20, "step": 5},
        "senders": {"min": 1, "max": 4, "step": 1},
        "buffer": 100,
        "mean_on": 2000,
        "mean_off": 500,
        "loss": 0.001,
        "duration": 4000,
    }
)
CONFIG = {
    "steps": 40_000,
    "rounds": 1,
    "environments": 32,
    "hidden": [16, 16],
    "noise": 0.3,
    "rollout": 2048,
    "batch": 512,
    "learning_rate": 5e-3,
    "privileged": True,
    "tensorboard": False,
}
MARGIN = 0.1  # bits
TESTED = 200


def scores(engine: Engine, policies: dict[str, Policy], seed: int, count: int) -> dict[str, NDArray[np.float64]]:
    """Scores of policies on the same networks, by name."""
    rows = run_trials(engine, policies, SPACE.draw(seed, count), [seed], utility("default"), keep_delays=False)
    return {name: rows["score_bits"][rows["policy"] == name].to_numpy() for name in policies}


@pytest.mark.slow
def test_ppo_beats_the_best_fixed_window() -> None:
    """The best window is chosen on the very networks of the comparison; the network has never met them."""
    engine = Engine(SPACE.duration, jobs=1)
    task = Task("learning", ("receive_ewma", "rtt_ratio", "queue", "link"), SPACE, utility("default"), seed=1)
    learnt = run(DrlTrainer(task, PpoConfig.model_validate(CONFIG), engine))
    windows: dict[str, Policy] = {f"window {w}": FixedWindow(w) for w in (*range(2, 20), *range(20, 64, 4))}
    found = scores(engine, {"learnt": learnt, **windows}, seed=77, count=TESTED)
    best = max(windows, key=lambda name: float(found[name].mean()))
    verdict = compare_policies(
        best,
        "learnt",
        found[best] + MARGIN,
        found["learnt"],
        utility=DEFAULT,
        rule=SettlingRule(ceiling=TESTED),
    )
    assert verdict.verdict.name == "better", (best, found[best].mean(), found["learnt"].mean(), verdict)
