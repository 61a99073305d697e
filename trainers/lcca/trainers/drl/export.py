"""From models of Stable-Baselines3 and sb3-contrib, and PyTorch's modules, to policies of the engine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import nn

from lcca.inputs.errors import InputError
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.mlp import Activation, Floats, Layer, Lstm, MlpPolicy

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
    policyfile.write(path, policyfile.PolicyFile(policy, provenance={"trainer": type(model).__name__}))
    return policy


def agent_of(model: Any) -> Agent:
    """Return the agent of the environment that a model was trained in.

    Raises:
        InputError: it has none, or none of ours, or inputs were normalised by statistics that a policy file has not.
    """
    env = model.get_env()
    try:
        (agent, *_) = env.get_attr("agent") if env is not None else []
    except (AttributeError, ValueError):
        agent = None
    if not isinstance(agent, Agent):
        raise InputError("model: was not trained in an environment of lcca; say agent=, as in env.unwrapped.agent")
    if model.get_vec_normalize_env() is not None and model.get_vec_normalize_env().norm_obs:
        raise InputError("model: VecNormalize changed what it saw; train with norm_obs=False (views are of order 1)")
    return agent


def array(tensor: torch.Tensor) -> Floats:
    """Return a tensor's numbers."""
    return np.array(tensor.detach().cpu().numpy(), dtype=np.float32)


def layers_of(modules: Iterable[nn.Module], end: Activation = "linear") -> tuple[Layer, ...]:
    """Return the dense layers of linear modules and activations in their order.

    A batch renormalisation (CrossQ) scales and shifts what the next linear module sees, and is folded into it.

    Args:
        modules: those of a network, one after another.
        end: activation of the last layer where none follows it.
    """
    layers: list[Layer] = []
    scale, shift = np.float32(1), np.float32(0)
    for module in modules:
        if isinstance(module, nn.Linear):
            weights = array(module.weight)
            biases = array(module.bias) if hasattr(module.bias, "detach") else np.zeros(len(weights), np.float32)
            layers.append(Layer(weights * scale, biases + weights @ np.broadcast_to(shift, weights.shape[1:])))
            scale, shift = np.float32(1), np.float32(0)
        elif hasattr(module, "ra_mean"):
            scale, shift = _renormalisation(module)
        else:
            layers[-1] = Layer(layers[-1].weights, layers[-1].biases, ACTIVATIONS[type(module)])
    last = layers[-1]
    return (*layers[:-1], Layer(last.weights, last.biases, end if last.activation == "linear" else last.activation))


def _renormalisation(module: Any) -> tuple[Any, Any]:
    """Return what a trained batch renormalisation multiplies by, and what it adds."""
    deviation = np.sqrt(array(module.ra_var) + np.float32(module.eps))
    own, added = (array(module.scale), array(module.bias)) if module.affine else (np.float32(1), np.float32(0))
    scale = own / deviation
    return scale, added - scale * array(module.ra_mean)


def lstm_of(module: nn.LSTM) -> Lstm:
    """Return a memory of one layer; PyTorch's two biases are added up."""
    found = {name: array(tensor) for name, tensor in module.state_dict().items()}
    return Lstm(found["weight_ih_l0"], found["weight_hh_l0"], found["bias_ih_l0"] + found["bias_hh_l0"])


def policy_of(model: Any, agent: Agent) -> MlpPolicy:
    """Return a model of Stable-Baselines3 or sb3-contrib as a policy that the engine and ns-3 run, without exploration.

    Args:
        model: PPO, A2C, SAC, TD3, DDPG, DQN, TRPO, TQC, CrossQ, QR-DQN, ARS or MaskablePPO with ``"MlpPolicy"``, or
            RecurrentPPO with ``"MlpLstmPolicy"`` (one layer), trained in an environment of ours without
            ``VecNormalize``.
        agent: of that environment (``env.unwrapped.agent``).

    Raises:
        InputError: a model of another kind, or with other activations than tanh and ReLU.
    """
    policy = model.policy
    try:
        return MlpPolicy(agent, _layers(policy), _memory(policy))
    except (AttributeError, KeyError, IndexError) as error:
        raise InputError(f"model: {type(model).__name__} has no dense layers that a policy could have") from error


def _layers(policy: Any) -> tuple[Layer, ...]:
    """Return the layers from what is seen, or from the memory, to the actions."""
    if hasattr(policy, "mlp_extractor"):
        return layers_of([*policy.mlp_extractor.policy_net, policy.action_net])
    if hasattr(policy, "q_net"):
        return layers_of(policy.q_net.q_net)
    if hasattr(policy, "quantile_net"):
        return _mean_of_quantiles(layers_of(policy.quantile_net.quantile_net), policy.quantile_net.n_quantiles)
    if not hasattr(policy, "actor"):  # ARS
        return layers_of(policy.action_net)
    if hasattr(policy.actor, "latent_pi"):
        return layers_of([*policy.actor.latent_pi, policy.actor.mu], end="tanh")
    return layers_of(policy.actor.mu)


def _mean_of_quantiles(layers: tuple[Layer, ...], count: int) -> tuple[Layer, ...]:
    """Return layers that say each action's mean over its quantiles, quantile by quantile in the last layer's rows."""
    last = layers[-1]
    weights = last.weights.reshape(count, -1, last.weights.shape[1]).mean(axis=0)
    return (*layers[:-1], Layer(weights, last.biases.reshape(count, -1).mean(axis=0)))


def _memory(policy: Any) -> Lstm | None:
    """Return the memory before the layers, if there is one.

    Raises:
        IndexError: it has several layers.
    """
    module = getattr(policy, "lstm_actor", None)
    if module is not None and module.num_layers > 1:
        raise IndexError("layers of memory")
    return None if module is None else lstm_of(module)
