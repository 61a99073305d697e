"""Double DQN on plain PyTorch (``pip install 'lcca[drl]'``)."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lcca.inputs.extras import missing
from lcca.studies.acc.learner.config import DqnConfig, FabricAccConfig

try:
    import torch
    from torch import Tensor, nn
except ImportError as error:
    raise missing("torch", "trainings of ACC") from error

_LEAST_SPREAD = 1e-6
"""Of rewards; below, they are all alike and only shifted."""


Batch = dict[str, NDArray[Any]]
"""Transitions: (n, inputs) ``seen`` before the action, its index ``action``, its ``reward``, (n, inputs) what was seen
``after`` it, and ``ended``, 1 where nothing can be earned afterwards."""


class Replay:
    """A replay memory: the latest `size` transitions of states of `inputs` numbers, drawn uniformly."""

    def __init__(self, size: int, inputs: int) -> None:
        self.columns: dict[str, NDArray[Any]] = {
            "seen": np.zeros((size, inputs), dtype=np.float32),
            "action": np.zeros(size, dtype=np.int64),
            "reward": np.zeros(size, dtype=np.float32),
            "after": np.zeros((size, inputs), dtype=np.float32),
            "ended": np.zeros(size, dtype=np.float32),
        }
        self._size = size
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, self._size)

    def add(self, **transition: Any) -> None:
        """Remember a transition, in the place of the oldest; keys are those of a `Batch`."""
        at = self._added % self._size
        for name, column in self.columns.items():
            column[at] = transition[name]
        self._added += 1

    @property
    def rewards(self) -> NDArray[np.float32]:
        """(n,) the remembered rewards."""
        return self.columns["reward"][: len(self)]

    @property
    def any_ended(self) -> bool:
        """Whether any remembered transition was the last of its episode."""
        return bool(self.columns["ended"][: len(self)].any())

    def sample(self, draws: np.random.Generator, count: int) -> Batch:
        """Return `count` transitions, drawn with replacement."""
        rows = draws.integers(len(self), size=count)
        return {name: column[rows] for name, column in self.columns.items()}

    def state(self) -> dict[str, Any]:
        """Return everything in it, as plain values and arrays."""
        return {"added": self._added} | {name: column[: len(self)].copy() for name, column in self.columns.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Take on what `state` returned."""
        self._added = int(state["added"])
        for name, column in self.columns.items():
            column[: len(self)] = state[name]


class QNetwork(nn.Module):
    """A network from states to a value per action, with ReLU between its layers.

    Args:
        inputs: length of a state.
        hidden: widths of its hidden layers.
        factors: how many choices each part of an action has; their product is the number of actions, the last part
            varying fastest. With several, an action's value is the sum of what its parts are worth: what is learnt of
            one action is learnt of all that share a part with it.
    """

    def __init__(self, inputs: int, hidden: tuple[int, ...], factors: tuple[int, ...]) -> None:
        super().__init__()
        widths = [inputs, *hidden]
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [nn.Linear(before, after), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(widths[-1], sum(factors)))
        self.factors = factors

    def forward(self, seen: Tensor) -> Tensor:
        """Return (n, actions) values of (n, inputs) states."""
        parts = self.layers(seen).split(self.factors, dim=1)
        total: Tensor = parts[0]
        for part in parts[1:]:
            total = (total[:, :, None] + part[:, None, :]).flatten(1)
        return total


def next_values(online: Tensor, target: Tensor, double: bool) -> Tensor:
    """Return (n,) what the next states are worth.

    Args:
        online: (n, actions) their values by the network that learns.
        target: (n, actions) by the target network.
        double: let the first choose and the second judge; else the second does both, and its largest error wins.
    """
    chosen = (online if double else target).argmax(dim=1, keepdim=True)
    return target.gather(1, chosen).squeeze(1)


class DoubleDqn:
    """A learner for states that are vectors and one discrete action.

    Everything random is drawn from streams of its own, so that the same seed gives the same bits, and `state` holds
    all that `restore` needs to go on with them.

    Args:
        config: of the learner.
        inputs: length of a state.
        actions: how many there are, or how many choices each part of an action has (see `QNetwork`).
        seed: of the first weights, of exploration and of replay.
    """

    def __init__(self, config: DqnConfig, inputs: int, actions: int | tuple[int, ...], seed: int) -> None:
        self.config = config
        factors = actions if isinstance(actions, tuple) else (actions,)
        self.inputs, self.actions = inputs, math.prod(factors)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed % 2**63)
            self.online = QNetwork(inputs, config.hidden, factors)
        self.target = QNetwork(inputs, config.hidden, factors)
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=config.learning_rate)
        self.replay = Replay(config.replay, inputs)
        self.draws = np.random.default_rng(seed)
        self.steps = 0
        self.updates = 0
        self.reward_mean, self.reward_spread = 0.0, 1.0

    def values(self, seen: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return (n, actions) values of (n, inputs) states, in units of the scaled reward."""
        with torch.no_grad():
            found: NDArray[np.float32] = self.online(torch.from_numpy(np.atleast_2d(seen))).numpy()
        return found

    def best(self, seen: NDArray[np.float32]) -> int:
        """Return the action that is worth most in a state."""
        return int(self.values(seen)[0].argmax())

    def act(self, seen: NDArray[np.float32]) -> int:
        """Return an action to learn from: the best one, or a random one as often as the step explores."""
        explore = self.draws.random() < self.config.exploration(self.steps)
        return int(self.draws.integers(self.actions)) if explore else self.best(seen)

    def act_each(self, seen: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return (n,) actions to learn from in (n, inputs) states, each the best or a random one as in `act`."""
        explore = self.draws.random(len(seen)) < self.config.exploration(self.steps)
        at_random = self.draws.integers(self.actions, size=len(seen))
        return np.where(explore, at_random, self.values(seen).argmax(axis=1))

    def observe(
        self, seen: NDArray[np.float32], action: int, reward: float, after: NDArray[np.float32], ended: bool
    ) -> None:
        """Remember a step, and learn if it is time to.

        Args:
            seen: (inputs,) before the action.
            action: its index.
            reward: what it earned.
            after: (inputs,) after it.
            ended: whether nothing can be earned afterwards; false where time merely ran out.
        """
        self.replay.add(seen=seen, action=action, reward=reward, after=after, ended=float(ended))
        self.steps += 1
        if self.steps == self.config.warm_up:
            # Fix the scale of rewards. A shift changes no choice, unless episodes end before their time.
            rewards = self.replay.rewards.astype(np.float64)
            spread = float(rewards.std())
            self.reward_mean = 0.0 if self.replay.any_ended else float(rewards.mean())
            self.reward_spread = spread if spread > _LEAST_SPREAD else 1.0
        if self.steps < self.config.warm_up or self.steps % self.config.learn_every:
            return
        for group in self.optimizer.param_groups:
            group["lr"] = self.config.rate(self.steps)
        self.update(self.replay.sample(self.draws, self.config.batch))
        self.updates += 1
        if self.updates % self.config.sync_every == 0:
            self.target.load_state_dict(self.online.state_dict())

    def update(self, batch: Batch) -> float:
        """Take one gradient step on a batch; return the loss (Huber's)."""
        seen, action, reward, after, ended = (torch.from_numpy(batch[name]) for name in self.replay.columns)
        reward = (reward - self.reward_mean) / self.reward_spread
        with torch.no_grad():
            future = next_values(self.online(after), self.target(after), self.config.double)
            wanted = reward + self.config.discount * (1 - ended) * future
        predicted = self.online(seen).gather(1, action[:, None])
        loss = nn.functional.smooth_l1_loss(predicted.squeeze(1), wanted)
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.online.parameters(), 10.0)
        self.optimizer.step()
        return float(loss.detach())

    def state(self) -> dict[str, Any]:
        """Return all that going on needs, as tensors and plain values."""
        replay = {k: torch.from_numpy(v) if isinstance(v, np.ndarray) else v for k, v in self.replay.state().items()}
        return {
            "online": self.online.state_dict(),
            "target": self.target.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "replay": replay,
            "draws": json.dumps(self.draws.bit_generator.state),
            "steps": self.steps,
            "updates": self.updates,
            "reward": [self.reward_mean, self.reward_spread],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Take on what `state` returned, of a learner of the same shape."""
        self.online.load_state_dict(state["online"])
        self.target.load_state_dict(state["target"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.replay.restore({k: v.numpy() if isinstance(v, Tensor) else v for k, v in state["replay"].items()})
        self.draws.bit_generator.state = json.loads(state["draws"])
        self.steps, self.updates = int(state["steps"]), int(state["updates"])
        self.reward_mean, self.reward_spread = state["reward"]


def new_learner(config: FabricAccConfig, inputs: int, shape: tuple[int, ...], seed: int) -> DoubleDqn:
    """Return a learner of ACC that has not learnt yet.

    Args:
        config: of the training.
        inputs: numbers that an agent sees in an interval.
        shape: how many choices each part of an action has.
        seed: of all that it draws.
    """
    actions = shape if config.heads == "parts" else math.prod(shape)
    return DoubleDqn(config.dqn, inputs * config.history, actions, seed)
