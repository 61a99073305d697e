"""Configuration of training by deep reinforcement (`kind: ppo`)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, field_validator, model_validator
from pydantic import Field as Key

from lcca.gym_envs.interface.episode import Kind
from lcca.inputs.errors import InputError
from lcca.inputs.model import Model
from lcca.inputs.names import NAMES_A_FILE, FileOrName
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.files.policyjson import LawContent
from lcca.remy_plus.policies.agents import (
    Agent,
    Decisions,
    LawSteering,
    RateSteering,
    Steering,
    TableSteering,
    WindowSteering,
)
from lcca.remy_plus.policies.law import Law
from lcca.trainers.base import Budget, TrainerConfig

Floats = NDArray[np.float32]
Share: TypeAlias = Annotated[float, Key(ge=0, le=1)]
Width: TypeAlias = Annotated[int, Key(ge=1, le=4096)]


class DecisionsConfig(Model):
    """When a flow decides; see `lcca.remy_plus.policies.agents.Decisions`.

    Attributes:
        rtts: round trips between decisions; 0 for every acknowledgement.
        round_trip: the flow's latest RTT, or its smallest so far.
    """

    rtts: Annotated[float, Key(ge=0)] = 1.0
    round_trip: Literal["latest", "smallest"] = "latest"


PPO_WINDOW = WindowSteering(multiple=0.25, increment=1.0, initial=3.0)
"""What deep reinforcement starts from, in place of the defaults of `WindowSteering`: steps smaller than doubling and
halving, a packet to add or take away, and a small first window. All else has the engine's defaults."""


class WindowConfig(Model):
    """Numbers that change the window; see `lcca.remy_plus.policies.agents.WindowSteering`.

    Attributes:
        multiple: the window changes by a factor of up to 1 plus this.
        increment: and by so many packets; 0 for a policy without this number.
        pacing: the gap is the receive EWMA changed by a factor of up to 1 plus this; 0 for windows alone.
        initial: first window, packets.
        smallest: packets.
        largest: packets.
    """

    kind: Literal["window"] = "window"
    multiple: Annotated[float, Key(gt=0)] = PPO_WINDOW.multiple
    increment: Annotated[float, Key(ge=0)] = PPO_WINDOW.increment
    pacing: Annotated[float, Key(ge=0)] = PPO_WINDOW.pacing
    initial: Annotated[float, Key(gt=0)] = PPO_WINDOW.initial
    smallest: Annotated[float, Key(gt=0)] = PPO_WINDOW.smallest
    largest: Annotated[float, Key(gt=0)] = PPO_WINDOW.largest


class RateConfig(Model):
    """A number that changes the sending rate; see `lcca.remy_plus.policies.agents.RateSteering`.

    Attributes:
        multiple: the rate changes by a factor of up to 1 plus this.
        initial: first rate, packets/µs.
        smallest: packets/µs.
        largest: packets/µs.
    """

    kind: Literal["rate"] = "rate"
    multiple: Annotated[float, Key(gt=0)] = RateSteering.multiple
    initial: Annotated[float, Key(gt=0)] = RateSteering.initial
    smallest: Annotated[float, Key(gt=0)] = RateSteering.smallest
    largest: Annotated[float, Key(gt=0)] = RateSteering.largest


class TableConfig(Model):
    """One of a list of actions; see `lcca.remy_plus.policies.agents.TableSteering`.

    Attributes:
        actions: [increment, multiple, pacing] of each, as rule tables have them.
        initial: first window, packets.
        smallest: packets.
        largest: packets.
    """

    kind: Literal["table"] = "table"
    actions: Annotated[tuple[tuple[float, float, float], ...], Key(min_length=2)] = TableSteering().actions
    initial: Annotated[float, Key(ge=0)] = TableSteering.initial
    smallest: Annotated[float, Key(ge=0)] = TableSteering.smallest
    largest: Annotated[float, Key(gt=0)] = TableSteering.largest


def _law(value: Any) -> Any:
    """Return the content of a policy file with a law; what is no text stays."""
    if not isinstance(value, str):
        return value
    try:
        policy = policyfile.load(value).policy
    except InputError as error:
        raise ValueError(str(error)) from error
    if not isinstance(policy, Law):
        raise ValueError(f"{value}: not a law; `trainer: {{kind: law}}` learns one")
    return policy.content()


class LawSteeringConfig(Model):
    """Numbers that are added to the sums of a law; see `lcca.remy_plus.policies.agents.LawSteering`.

    Attributes:
        law: a policy file with a law, or its content.
        scale: what is added at 1.
    """

    kind: Literal["law"]
    law: Annotated[LawContent, NAMES_A_FILE, BeforeValidator(_law)]
    scale: Annotated[float, Key(ge=0, le=1000)] = LawSteering.scale


STEERINGS: Mapping[str, type[Steering]] = {"window": WindowSteering, "rate": RateSteering, "table": TableSteering}


class RewardConfig(Model):
    """What a decision is worth; see `lcca.gym_envs.interface.episode.Reward`. The weights are those of the utility.

    Attributes:
        kind: `power`, the utility without its logarithm, learns best.
        interval: base delays over which a reward is measured at least.
        aurora_second: µs that stand for Aurora's second.
    """

    kind: Kind = "power"
    interval: Annotated[float, Key(ge=0)] = 1.0
    aurora_second: Annotated[float, Key(gt=0)] = 100.0


class StageConfig(Model):
    """One part of a curriculum: until this share of all steps, the networks with these parameters.

    Attributes:
        until: share of all steps; that of the last stage is 1.
        networks: parameters of the network space in place of the campaign's, as in ``{senders: 1}``; what is not
            named stays as it is.
    """

    until: Annotated[float, Key(gt=0, le=1)]
    networks: dict[str, Any] = Key(default_factory=dict)


AURORA: Mapping[str, Any] = MappingProxyType(
    {
        "flows": "one",
        "history": 10,
        "decisions": {"rtts": 0.5, "round_trip": "latest"},
        "steering": {"kind": "rate", "multiple": 0.025},
        "reward": {"kind": "aurora"},
        "hidden": (32, 16),
        "activation": "tanh",
        "discount": 0.99,
        "discount_per": "decision",
        "learning_rate": 1e-3,
        "anneal": True,
        "rollout": 8192,
        "batch": 2048,
        "epochs": 4,
        "clip": 0.2,
        "gae": 0.95,
        "entropy": 0.01,
        "noise": 1.0,
        "normalise": "batch",
        "steps": 3_936_000,
    }
)
"""Jay et al., "A Deep Reinforcement Learning Perspective on Internet Congestion Control", ICML 2019, and its code.

One flow alone on its network, monitor intervals of half a round trip, a change of the rate by at most 2.5 %, ten
intervals of history, layers of 32 and 16, the reward 10 · throughput − 1000 · latency − 2000 · loss. Its signals are
those of the signal set in `configs/drl/aurora.yaml`; its networks are the campaign's.
"""


class PpoConfig(TrainerConfig):
    """Proximal policy optimisation (Schulman et al., 2017), by Stable-Baselines3.

    Attributes:
        preset: values for what is not named: ``aurora``, the set-up of Jay et al. (ICML 2019).
        steps: decisions to learn from, of all flows together.
        rounds: checkpoints; each is a policy file, of which the campaign's validation picks one.
        environments: networks that are simulated at once.
        flows: ``all`` flows of a network learn, competing; or ``one`` flow that is alone on its network.
        history: decisions whose signals the network sees.
        decisions: when it decides.
        steering: what its numbers do.
        reward: what a decision is worth.
        common: share of a decision's reward that is the mean over all flows of its network. With 0 each flow learns
            what is best for itself, and all together fill the buffer; with 1 they learn what is best for all.
        patience: see `lcca.gym_envs.batch.agent_slots.Rules`.
        hidden: widths of the policy's hidden layers.
        critic: widths of the critic's; the same if left out.
        activation: of hidden layers.
        privileged: whether the critic sees, in place of what the flow saw, what no flow could: the network's
            parameters, how many flows are on, and the mean of what they saw last. The critic alone: the policy does
            without.
        learning_rate: of Adam.
        anneal: whether the learning rate falls to 0, in proportion.
        discount: γ.
        discount_per: γ is per ``base-delay``, whatever is decided how often; or per ``decision``, as usual
            elsewhere: then a flow whose rewards are losses gains by putting its decisions closer together.
        curriculum: networks from easy to all; none: all networks all the time.
        scores: networks on which each checkpoint is scored for the learning curve; they pick nothing.
        tensorboard: whether to write logs for TensorBoard beside the checkpoint, where that is installed.
        rollout: decisions between two updates.
        batch: decisions per gradient step.
        epochs: passes over a rollout.
        clip: how far the probability of an action may move, as a share.
        gae: λ of generalised advantage estimation.
        entropy: weight of the entropy bonus.
        value_weight: weight of the critic's loss; at 0 there is no critic: decisions are compared with the rollout's
            mean reward.
        largest_gradient: norm to which gradients are held.
        noise: standard deviation of actions at first (not for tables). Small, since flows explore at once: much
            noise fills the buffer, and there the smallest round trip that a flow has seen tells it nothing.
        last_noise: what it falls to, by the same factor for every decision; learnt with the weights if left out.
        normalise: advantages are centred and scaled within each ``network``, or over the whole ``batch``.
        callbacks: classes of Stable-Baselines3's `BaseCallback` that are called in every training, as in
            ``my.py:EarlyStop:patience=5``; see `lcca.trainers.drl.named_callbacks`.
    """

    trainer: ClassVar[str] = "lcca.trainers.drl.trainer:DrlTrainer"
    libraries: ClassVar[Mapping[str, str]] = {
        "torch": "torch",
        "stable_baselines3": "stable-baselines3",
        "gymnasium": "gymnasium",
    }

    kind: Literal["ppo"] = "ppo"
    preset: Literal["aurora"] | None = None
    steps: Annotated[int, Key(ge=1000)] = 2_000_000
    rounds: Annotated[int, Key(ge=1)] = 10
    environments: Annotated[int, Key(ge=1, le=100_000)] = 128
    flows: Literal["all", "one"] = "all"
    history: Annotated[int, Key(ge=1, le=1000)] = 1
    decisions: DecisionsConfig = DecisionsConfig()
    steering: Annotated[WindowConfig | RateConfig | TableConfig | LawSteeringConfig, Key(discriminator="kind")] = (
        WindowConfig()
    )
    reward: RewardConfig = RewardConfig()
    common: Share = 1.0
    patience: Annotated[float, Key(ge=0)] = 0.0
    hidden: Annotated[tuple[Width, ...], Key(max_length=8)] = (64, 64)
    critic: Annotated[tuple[Width, ...], Key(max_length=8)] | None = None
    activation: Literal["tanh", "relu"] = "tanh"
    privileged: bool = False
    learning_rate: Annotated[float, Key(gt=0, le=1)] = 3e-4
    anneal: bool = True
    discount: Annotated[float, Key(ge=0, lt=1)] = 0.98
    discount_per: Literal["base-delay", "decision"] = "base-delay"
    curriculum: tuple[StageConfig, ...] = ()
    scores: Annotated[int, Key(ge=1)] = 100
    tensorboard: bool = True
    rollout: Annotated[int, Key(ge=64)] = 32_768
    batch: Annotated[int, Key(ge=8)] = 4096
    epochs: Annotated[int, Key(ge=1)] = 5
    clip: Annotated[float, Key(gt=0, lt=1)] = 0.2
    gae: Share = 0.95
    entropy: Annotated[float, Key(ge=0)] = 0.0
    value_weight: Annotated[float, Key(ge=0)] = 0.5
    largest_gradient: Annotated[float, Key(gt=0)] = 0.5
    noise: Annotated[float, Key(gt=0, le=10)] = 0.1
    last_noise: Annotated[float, Key(gt=0, le=10)] | None = None
    normalise: Literal["network", "batch"] = "network"
    callbacks: tuple[FileOrName, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _fill_in_preset(cls, value: Any) -> Any:
        if not isinstance(value, dict) or value.get("preset") != "aurora":
            return value
        merged: dict[str, Any] = dict(AURORA)
        for key, own in value.items():
            preset: Any = merged.get(key)
            both = isinstance(own, dict) and isinstance(preset, dict)  # of a union: may be merged if of the same kind
            merged[key] = {**preset, **own} if both and own.get("kind") in (None, preset.get("kind")) else own
        return merged

    @field_validator("curriculum")
    @classmethod
    def _in_order(cls, stages: tuple[StageConfig, ...]) -> tuple[StageConfig, ...]:
        ends = [stage.until for stage in stages]
        if ends and (ends[-1] != 1 or any(before >= after for before, after in pairwise(ends))):
            raise ValueError(f"`until` must rise, and end with 1, got {ends}")
        return stages

    @model_validator(mode="after")
    def _agent_is_possible(self) -> PpoConfig:
        try:
            self.agent(("rtt_ratio",))
        except InputError as error:
            raise ValueError(str(error)) from error
        return self

    @property
    def budget(self) -> Budget:
        """Decisions of all flows together."""
        return Budget(self.steps, "decisions")

    @property
    def logs(self) -> bool:
        """As `tensorboard` says."""
        return self.tensorboard

    def require_installed(self) -> None:
        """As of every trainer; the callbacks too must be there."""
        super().require_installed()
        if self.callbacks:
            from lcca.trainers.drl.named_callbacks import Callbacks

            Callbacks(self.callbacks)

    def discounts(self, elapsed: Floats) -> Floats:
        """Return (n,) γ over decisions that took (n,) base delays."""
        if self.discount_per == "decision":
            return np.full_like(elapsed, self.discount)
        return np.asarray(self.discount**elapsed, dtype=np.float32)

    def agent(self, signals: tuple[str, ...]) -> Agent:
        """Return how a network with these signals sees and steers a flow."""
        steering: Steering
        if isinstance(self.steering, LawSteeringConfig):
            steering = LawSteering(self.steering.law.law(), self.steering.scale)
        else:
            steering = STEERINGS[self.steering.kind](**self.steering.model_dump(exclude={"kind"}))
        return Agent(signals, self.history, Decisions(**self.decisions.model_dump()), steering)
