"""From PyTorch's modules to policies of the engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch import nn

from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.agents import Agent
from lcca.remy_plus.policies.mlp import Activation, Floats, Layer, Lstm, MlpPolicy

ACTIVATIONS: dict[type[nn.Module], Activation] = {nn.Tanh: "tanh", nn.ReLU: "relu", nn.Identity: "linear"}


def array(tensor: torch.Tensor) -> Floats:
    """Return a tensor's numbers."""
    return np.array(tensor.detach().cpu().numpy(), dtype=np.float32)


def layers_of(modules: Iterable[nn.Module], end: Activation = "linear") -> tuple[Layer, ...]:
    """Return the dense layers of linear modules and activations in their order.

    Args:
        modules: those of a network, one after another.
        end: activation of the last layer where none follows it.
    """
    layers: list[Layer] = []
    for module in modules:
        if isinstance(module, nn.Linear):
            layers.append(Layer(array(module.weight), array(module.bias)))
        else:
            layers[-1] = Layer(layers[-1].weights, layers[-1].biases, ACTIVATIONS[type(module)])
    last = layers[-1]
    return (*layers[:-1], Layer(last.weights, last.biases, end if last.activation == "linear" else last.activation))


def lstm_of(module: nn.LSTM) -> Lstm:
    """Return a memory of one layer; PyTorch's two biases are added up."""
    found = {name: array(tensor) for name, tensor in module.state_dict().items()}
    return Lstm(found["weight_ih_l0"], found["weight_hh_l0"], found["bias_ih_l0"] + found["bias_hh_l0"])


def policy_of(model: Any, agent: Agent) -> MlpPolicy:
    """Return a model of Stable-Baselines3 as a policy that the engine and ns-3 run, without exploration.

    Args:
        model: PPO, A2C, SAC, TD3, DDPG or DQN with ``"MlpPolicy"``, trained in an environment of ours without
            ``VecNormalize``.
        agent: of that environment (``env.unwrapped.agent``).

    Raises:
        InputError: a model of another kind, or with other activations than tanh and ReLU.
    """
    policy = model.policy
    try:
        if hasattr(policy, "mlp_extractor"):
            layers = layers_of([*policy.mlp_extractor.policy_net, policy.action_net])
        elif hasattr(policy, "q_net"):
            layers = layers_of(policy.q_net.q_net)
        elif hasattr(policy.actor, "latent_pi"):
            layers = layers_of([*policy.actor.latent_pi, policy.actor.mu], end="tanh")
        else:
            layers = layers_of(policy.actor.mu)
    except (AttributeError, KeyError, IndexError) as error:
        raise InputError(f"model: {type(model).__name__} has no dense layers that a policy could have") from error
    return MlpPolicy(agent, layers)
