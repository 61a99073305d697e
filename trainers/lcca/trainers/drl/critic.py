"""A policy whose critic sees more than its actor."""

from __future__ import annotations

from typing import Any

import torch
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor


class TwoViews(MlpExtractor):
    """Layers of actor and critic, of which the actor's see the first numbers alone.

    Args:
        seen: how many of them.
        inputs: how many the critic sees.
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
    """An `ActorCriticPolicy` whose actor sees the first `seen` numbers, its critic all of them."""

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
