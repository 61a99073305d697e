"""A policy whose critic sees other things than its actor: the network as a whole."""

from __future__ import annotations

from typing import Any

import torch
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor


class TwoViews(MlpExtractor):
    """Layers of an actor that sees the first numbers alone, and of a critic that sees all the others.

    Args:
        seen: how many the actor sees.
        inputs: how many there are.
        more: what `MlpExtractor` takes.
    """

    def __init__(self, seen: int, inputs: int, **more: Any) -> None:
        super().__init__(inputs, **more)
        self.seen = seen
        self.policy_net = MlpExtractor(seen, **more).policy_net
        self.value_net = MlpExtractor(inputs - seen, **more).value_net

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        """Return what the actor's last hidden layer says."""
        return super().forward_actor(features[:, : self.seen])

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        """Return what the critic's last hidden layer says."""
        return super().forward_critic(features[:, self.seen :])


class PrivilegedPolicy(ActorCriticPolicy):
    """An `ActorCriticPolicy` whose actor sees the first `seen` numbers, its critic the others."""

    def __init__(self, *arguments: Any, seen: int, **more: Any) -> None:
        self._seen = seen
        super().__init__(*arguments, **more)

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = TwoViews(
            self._seen,
            self.features_dim,
            net_arch=self.net_arch,
            activation_fn=self.activation_fn,
            device=self.device,
        )
