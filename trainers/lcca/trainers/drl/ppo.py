"""Proximal policy optimisation on agent slots: Stable-Baselines3's networks and update, on decisions really taken.

SB3 collects one row of every environment at every step. Here flows come and go and decide when they like, so the
rollout is a ragged one, which the engine plays (`collector`), advantages run flow by flow (`advantages`), and SB3's
`PPO.train` gets its batches from it.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from lcca.gym_envs.interface.spaces import action_space
from lcca.inputs.errors import InputError
from lcca.inputs.extras import missing
from lcca.remy_plus import _core
from lcca.remy_plus.network import NetworkList
from lcca.remy_plus.policies.agents import Agent, LawSteering, MlpPolicy
from lcca.remy_plus.policies.layers import Layer
from lcca.trainers.drl.collector import Collector, Experience, Floats, GoOn, Ints
from lcca.trainers.drl.config import PpoConfig
from lcca.trainers.drl.export import ACTIVATIONS, layers_of
from lcca.trainers.drl.monitor import Monitor
from lcca.trainers.drl.named_callbacks import Callbacks

if TYPE_CHECKING:
    from lcca.gym_envs.batch.agent_slots import AgentSlots

try:
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.logger import Logger
    from stable_baselines3.common.policies import ActorCriticPolicy
    from stable_baselines3.common.torch_layers import MlpExtractor
    from stable_baselines3.common.type_aliases import RolloutBufferSamples
except ImportError as error:
    raise missing("stable-baselines3", "trainers by reinforcement") from error

STANDARD_ROWS = 8192
"""Decisions from which the first mean and deviation of the inputs are taken; nothing is learnt from them."""

AT_ONCE = 16_384
"""Rows that the critic values at once: they stay in the caches."""


class Ppo:
    """PPO on agent slots. What it does follows from its state, the slots and the random seed that `seeded` set.

    Args:
        config: how to learn.
        agent: how the network sees and steers.
        seed: of the first weights.
        logger: of Stable-Baselines3.
        monitor: of episodes.
    """

    def __init__(self, config: PpoConfig, agent: Agent, seed: int, logger: Logger, monitor: Monitor) -> None:
        self.config, self.agent, self.monitor = config, agent, monitor
        self.model = self._model(seed)
        self.model.set_logger(logger)
        self._standard = Standard(self.model.observation_space.shape[0])
        self._kept: list[dict[str, Any]] = []  # of callbacks
        self.stopped = False

    def _model(self, seed: int) -> Any:
        config, seen = self.config, self.agent.inputs
        shape: dict[str, Any] = {
            "net_arch": {
                "pi": list(config.hidden),
                "vf": list(config.hidden if config.critic is None else config.critic),
            },
            "activation_fn": {name: module for module, name in ACTIVATIONS.items()}[config.activation],
            "log_std_init": float(np.log(config.noise)),
        }
        model: Any = PPO(
            PrivilegedPolicy if config.privileged else ActorCriticPolicy,
            None,  # type: ignore[arg-type]
            learning_rate=(lambda left: config.learning_rate * left) if config.anneal else config.learning_rate,
            batch_size=config.batch,
            n_epochs=config.epochs,
            clip_range=config.clip,
            ent_coef=config.entropy,
            vf_coef=config.value_weight,
            max_grad_norm=config.largest_gradient,
            policy_kwargs=shape | ({"seen": seen} if config.privileged else {}),
            seed=seed,
            device="cpu",
            _init_setup_model=False,
        )
        inputs = seen + (seen + 1 + len(PRIVILEGES) if config.privileged else 0)
        model.observation_space = spaces.Box(-np.inf, np.inf, (inputs,), dtype=np.float32)
        model.action_space = action_space(self.agent)
        model.n_envs = model.n_steps = 1
        model._setup_model()
        if isinstance(self.agent.steering, LawSteering):  # begin as the law
            for parameter in model.policy.action_net.parameters():
                torch.nn.init.zeros_(parameter)
        return model

    # --- learning

    def learn(self, slots: AgentSlots, decisions: int, begin: float, end: float) -> int:
        """Learn from at least so many decisions, and return how many they were; fewer if a callback stops it.

        Args:
            slots: without whole rows, just reset.
            decisions: to learn from.
            begin: share of all training that is done before.
            end: share that is done afterwards.
        """
        table = privileges(slots.networks) if self.config.privileged else None
        collector, learnt = Collector(slots, table, int(torch.randint(2**62, ()))), 0
        self.monitor.begin()
        callbacks = Callbacks(self.config.callbacks, self.model, self._kept)
        callbacks.begin()
        if self._standard.samples == 0:
            first = self._collect(collector, min(STANDARD_ROWS, self.config.rollout))
            self.monitor.take(first)
            self._standard.take_in(first.seen)
        while learnt < decisions:
            done = begin + (end - begin) * learnt / decisions
            self._set_noise(done)
            callbacks.rollout_begins()
            experience = self._collect(collector, min(self.config.rollout, decisions - learnt), self._asks(callbacks))
            episodes = self.monitor.take(experience)
            if self.stopped:
                break
            callbacks.rollout_ends(episodes)
            self.model._current_progress_remaining = 1 - done
            self.model.rollout_buffer = Rollout(self._columns(experience))
            self.model.train()
            self._standard.take_in(experience.seen)
            learnt += len(experience)
            self._log(experience)
        self._kept = callbacks.end()
        return learnt

    def _asks(self, callbacks: Callbacks) -> GoOn:
        def go_on(part: Experience) -> bool:
            self.stopped = not callbacks.step(part)
            return not self.stopped

        return go_on

    def _set_noise(self, done: float) -> None:
        if self.config.last_noise is not None:
            noise = self.config.noise * (self.config.last_noise / self.config.noise) ** done
            self.model.policy.log_std.requires_grad_(False).fill_(float(np.log(noise)))

    def _collect(self, collector: Collector, count: int, go_on: GoOn = lambda part: True) -> Experience:
        table = isinstance(self.model.action_space, spaces.Discrete)
        deviations = [] if table else self.model.policy.log_std.detach().exp().tolist()
        often = self.config.environments if self.config.callbacks else 0
        return collector.collect(count, self.policy(), deviations, go_on, often)

    @torch.no_grad()
    def _columns(self, experience: Experience) -> RolloutBufferSamples:
        config = self.config
        seen = torch.from_numpy(self._standard(experience.seen))
        discount = config.discounts(experience.elapsed)
        reward = experience.shared(config.common) * np.float32(
            1 - config.discount
        )  # so that values are of a decision, not of a hundred
        if config.value_weight > 0:
            value = self._values(seen)
            after = value[experience.next]
            after[experience.after_of] = self._values(torch.from_numpy(self._standard(experience.after)))
        else:
            value = after = np.full(len(reward), reward.mean() / (1 - discount.mean()), dtype=np.float32)
        gained = advantages(experience, reward, value, after, discount, config.gae)
        scaled = by_network(gained, experience.network) if config.normalise == "network" else gained
        columns = (seen, experience.action, value, experience.log_probability, scaled, gained + value)
        return RolloutBufferSamples(*(torch.as_tensor(column) for column in columns))

    def _values(self, seen: torch.Tensor) -> Floats:
        policy = self.model.policy
        critic = policy.mlp_extractor.forward_critic
        return torch.cat([policy.value_net(critic(part)) for part in torch.split(seen, AT_ONCE)]).flatten().numpy()

    def _log(self, experience: Experience) -> None:
        logger = self.model.logger
        logger.record("rollout/reward_per_decision", float(experience.reward.mean()))
        logger.record("rollout/flows_ended", int((experience.ended != 0).sum()))
        logger.dump(self.model.num_timesteps)

    # --- what was learnt

    def policy(self) -> MlpPolicy:
        """Return what was learnt, without noise.

        Raises:
            InputError: weights are no finite numbers.
        """
        policy, own = self.model.policy, self._standard.first(self.agent.inputs)
        first, *others = layers_of([*policy.mlp_extractor.policy_net, policy.action_net])
        try:
            return MlpPolicy(self.agent, (own.before_layer(first), *others))
        except InputError as error:
            raise InputError(f"trainer: {error}; try a smaller learning_rate") from error

    def state(self) -> str:
        """Return all that `load` needs to go on from here, as text."""
        policy = self.model.policy
        state = {
            "policy": policy.state_dict(),
            "optimiser": policy.optimizer.state_dict(),
            "standard": self._standard.state(),
            "updates": self.model._n_updates,
            "decisions": self.model.num_timesteps,
            "callbacks": self._kept,
        }
        buffer = io.BytesIO()
        torch.save(state, buffer)
        return base64.b64encode(buffer.getvalue()).decode()

    def load(self, text: str) -> None:
        """Go on from a state; it holds tensors and numbers alone."""
        state = torch.load(io.BytesIO(base64.b64decode(text)), weights_only=True)
        self.model.policy.load_state_dict(state["policy"])
        self.model.policy.optimizer.load_state_dict(state["optimiser"])
        self._standard.load(state["standard"])
        self.model._n_updates = state["updates"]
        self.model.num_timesteps = state["decisions"]
        self._kept = state.get("callbacks", [])


class Rollout:
    """A rollout as `PPO.train` asks for it: shuffled batches."""

    def __init__(self, columns: RolloutBufferSamples) -> None:
        self._columns = columns
        self.values = columns.old_values.numpy()
        self.returns = columns.returns.numpy()

    def get(self, batch: int) -> Iterator[RolloutBufferSamples]:
        """Yield all rows once, in batches; a last batch of less than half is left out."""
        order = torch.randperm(len(self._columns.returns))
        for rows in torch.split(order, batch):
            if 2 * len(rows) >= min(batch, len(order)):
                yield RolloutBufferSamples(*(column.index_select(0, rows) for column in self._columns))


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within, PyTorch draws from this seed on one thread; afterwards all is as before.

    One thread: sums over threads would depend on their number.
    """
    threads, numpy_state = torch.get_num_threads(), np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        np.random.seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
            np.random.set_state(numpy_state)


# --- advantages: how much better decisions turned out than the critic had thought

FEWEST = 32
"""Decisions on a network, from which on its advantages are scaled by themselves."""


def advantages(
    experience: Experience, reward: Floats, value: Floats, value_after: Floats, discount: Floats, gae: float
) -> Floats:
    """Return (n,) advantages (Schulman et al., 2016), flow by flow.

    Where a flow or its trial ended, or the outcome of the next decision is not yet known, the critic's value of what
    was seen last stands for the rest. That holds for flows that went off too: what ends them does not depend on what
    they do, and a learner to whom an end were worth nothing would, all rewards being losses, learn to hasten it.

    Args:
        experience: n decisions.
        reward: (n,) their rewards.
        value: (n,) the critic's values of what was seen.
        value_after: (n,) of what was seen afterwards.
        discount: (n,) γ over the time of each.
        gae: λ.
    """
    surprise = reward + discount * value_after - value
    return np.asarray(_core.advantages(surprise, discount * np.float32(gae), experience.next))


def by_network(values: Floats, network: Ints) -> Floats:
    """Centre and scale values within each network; where a network has few, scale them as all are.

    Networks differ in how much a decision can gain; without this the learner would look at some alone.
    """
    count = np.bincount(network)
    many = np.maximum(count, 1)
    mean = np.bincount(network, weights=values) / many
    centred = values - np.where(count >= FEWEST, mean, values.mean())[network]
    spread = np.sqrt(np.bincount(network, weights=centred**2) / many)
    scale = np.where(count >= FEWEST, spread, values.std())
    scaled: Floats = (centred / (scale[network] + 1e-8)).astype(np.float32)
    return scaled


# --- inputs brought to mean 0 and deviation 1: what a flow sees varies little about values near 1

SLOWEST = 0.05
"""Least weight of a new sample in the running mean."""

FINEST = 1e-2
"""Least deviation: inputs that vary less, such as the loss on a clean path, are not blown up."""


@dataclass
class Standard:
    """Running means and variances of columns.

    Attributes:
        width: how many columns.
        samples: taken in so far.
        mean: (width,).
        variance: (width,).
    """

    width: int
    samples: int = 0
    mean: NDArray[np.float64] = field(init=False)
    variance: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        """Begin with what changes nothing."""
        self.mean, self.variance = np.zeros(self.width), np.ones(self.width)

    def take_in(self, rows: Floats) -> None:
        """Move towards the mean and variance of a sample's rows."""
        self.samples += 1
        weight = max(1 / self.samples, SLOWEST)
        spread, mean = (each.double().numpy() for each in torch.var_mean(torch.from_numpy(rows), 0, correction=0))
        second = (1 - weight) * (self.variance + self.mean**2) + weight * (spread + mean**2)
        self.mean = (1 - weight) * self.mean + weight * mean
        self.variance = np.maximum(second - self.mean**2, 0)

    @property
    def deviation(self) -> NDArray[np.float64]:
        """(width,) what is divided by."""
        return np.maximum(np.sqrt(self.variance), FINEST)

    def __call__(self, rows: Floats) -> Floats:
        """Return rows with mean 0 and deviation 1, about."""
        return np.asarray((rows - self.mean.astype(np.float32)) / self.deviation.astype(np.float32))

    def before_layer(self, layer: Layer) -> Layer:
        """Return a layer that does the same to rows as they are."""
        scaled = layer.weights.astype(np.float64) / self.deviation
        biases = (layer.biases - scaled @ self.mean).astype(np.float32)
        return replace(layer, weights=scaled.astype(np.float32), biases=biases)

    def first(self, width: int) -> Standard:
        """Return the same for the first columns alone."""
        own = Standard(width, self.samples)
        own.mean, own.variance = self.mean[:width], self.variance[:width]
        return own

    def state(self) -> dict[str, Any]:
        """Return all that `load` needs."""
        return {"samples": self.samples, "mean": torch.tensor(self.mean), "variance": torch.tensor(self.variance)}

    def load(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.samples = int(state["samples"])
        self.mean, self.variance = state["mean"].numpy().copy(), state["variance"].numpy().copy()


# --- the privileged critic: it sees the network as a whole, which no flow could

PRIVILEGES = ("link_rate", "rtt", "senders", "buffer", "mean_on", "mean_off", "loss")
"""Parameters of a network in the order in which the critic sees them."""


def privileges(networks: NetworkList) -> Floats:
    """Return (networks, 7) parameters, on scales on which usual ones are about 1: log₂ but for losses."""
    rows = [
        [
            np.log2(net.link_rate),
            np.log2(net.rtt) / 4,
            np.log2(net.senders) / 2,
            np.log2(min(net.buffer, 1e5)) / 8,
            np.log2(net.mean_on) / 12,
            np.log2(net.mean_off) / 10,
            net.loss * 100,
        ]
        for net in networks.networks
    ]
    return np.array(rows, dtype=np.float32)


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
