"""From models of Stable-Baselines3's PPO to policies of the engine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from torch import nn

from lcca.inputs.errors import InputError
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.agents import Agent, MlpPolicy
from lcca.remy_plus.policies.layers import Activation, Layer
from lcca.signal_sets.headers.header import Header, described

ACTIVATIONS: dict[type[nn.Module], Activation] = {nn.Tanh: "tanh", nn.ReLU: "relu", nn.Identity: "linear"}


def export_policy(model: Any, path: str | os.PathLike[str], agent: Agent | None = None) -> MlpPolicy:
    """Write a model's policy as a file that every command, the engine and ns-3 read; return it.

    Args:
        model: as `policy_of`.
        path: of the file, which ends in ``.json``.
        agent: of the environment that the model was trained in; that of the model's own environment if left out.

    Raises:
        InputError: as `policy_of`, the model has no environment of ours, or the file cannot be written.
    """
    policy = policy_of(model, agent or agent_of(model))
    header = _attribute(model, "header")
    written = described(header) if isinstance(header, Header) else None
    provenance = {"trainer": type(model).__name__}
    policyfile.write(path, policyfile.PolicyFile(policy, header=written, provenance=provenance))
    return policy


def _attribute(model: Any, name: str) -> Any:
    """Return an attribute of the first environment that a model was trained in; None if it has none."""
    env = model.get_env()
    try:
        return env.get_attr(name)[0] if env is not None else None
    except (AttributeError, ValueError):
        return None


def agent_of(model: Any) -> Agent:
    """Return the agent of the environment that a model was trained in.

    Raises:
        InputError: it has none, or none of ours, or inputs were normalised by statistics that a policy file has not.
    """
    agent = _attribute(model, "agent")
    if not isinstance(agent, Agent):
        raise InputError("model: was not trained in an environment of lcca; say agent=, as in env.unwrapped.agent")
    if model.get_vec_normalize_env() is not None and model.get_vec_normalize_env().norm_obs:
        raise InputError("model: VecNormalize changed what it saw; train with norm_obs=False (views are of order 1)")
    return agent


def layers_of(modules: Iterable[nn.Module]) -> tuple[Layer, ...]:
    """Return the dense layers of linear modules and activations in their order."""
    layers: list[Layer] = []
    for module in modules:
        if isinstance(module, nn.Linear):
            weights, biases = (np.array(x.detach().cpu().numpy(), np.float32) for x in (module.weight, module.bias))
            layers.append(Layer(weights, biases))
        else:
            layers[-1] = replace(layers[-1], activation=ACTIVATIONS[type(module)])
    return tuple(layers)


def policy_of(model: Any, agent: Agent) -> MlpPolicy:
    """Return a model of Stable-Baselines3 as a policy that the engine and ns-3 run, without exploration.

    Args:
        model: PPO with ``"MlpPolicy"``, trained in an environment of ours without ``VecNormalize``.
        agent: of that environment (``env.unwrapped.agent``).

    Raises:
        InputError: a model of another algorithm, or with other activations than tanh and ReLU.
    """
    policy = model.policy
    try:
        return MlpPolicy(agent, layers_of([*policy.mlp_extractor.policy_net, policy.action_net]))
    except (AttributeError, KeyError, IndexError) as error:
        raise InputError(
            f"model: {type(model).__name__} with these layers cannot be exported; use PPO with layers of tanh or ReLU"
        ) from error
