"""Many agents with one network: the ports of `lcca/FabricEcn-v0`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from lcca.remy_plus.policies.layers import Layer
from lcca.studies.acc.learner.config import FabricAccConfig
from lcca.studies.acc.learner.double_dqn import DoubleDqn
from lcca.studies.acc.marking.fabric_env import FabricEcnEnv
from lcca.studies.acc.marking.model import AccModel, content_of_layers

RATE = 1
"""Where a port's view has the rate of the latest interval."""


def play_ports(env: FabricEcnEnv, learner: DoubleDqn, seed: int) -> float:
    """Play an episode on the flows of a seed and learn from it; return the mean reward of ports that sent something.

    An interval in which a port sends nothing teaches nothing: whatever it chose, it earned the same.
    """
    env.reset(options={"trial_seed": seed})
    seen, earned, over = env.view, list[NDArray[np.float64]](), False
    while not over:
        actions = learner.act_each(seen)
        _, _, _, over, info = env.step(actions)
        after, rewards = env.view, np.array(info["rewards"])
        busy = np.flatnonzero(after[:, RATE] > 0)
        for port in busy:
            learner.observe(seen[port], int(actions[port]), float(rewards[port]), after[port], False)
        earned.append(rewards[busy])
        seen = after
    found = np.concatenate(earned)
    return float(found.mean()) if len(found) else 0.0


def model_of(learner: DoubleDqn, config: FabricAccConfig, provenance: dict[str, Any]) -> AccModel:
    """Return what a learner has learnt."""
    dense = [each for each in learner.online.layers if isinstance(each, nn.Linear)]
    kinds = ["relu"] * (len(dense) - 1) + ["linear"]
    layers = [
        Layer(each.weight.detach().numpy(), each.bias.detach().numpy(), kind)  # type: ignore[arg-type]
        for each, kind in zip(dense, kinds, strict=True)
    ]
    return AccModel(
        interval_us=config.interval_us,
        delay_us=config.delay_us,
        history=config.history,
        heads=config.heads,
        templates=config.templates,
        layers=content_of_layers(layers),
        provenance=provenance,
    )
