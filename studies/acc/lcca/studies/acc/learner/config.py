"""Configuration of Double DQN, and of ACC around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from lcca.inputs.model import Model
from lcca.studies.acc.marking.model import Heads
from lcca.studies.acc.marking.ports import Templates

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]


class DqnConfig(Model):
    """Double DQN (van Hasselt, Guez and Silver, AAAI 2016) with a uniform replay memory.

    Attributes:
        steps: of the environment.
        hidden: widths of the network's hidden layers.
        discount: γ.
        learning_rate: of Adam at first; it falls in a line to 0, so that the last network is no accident of the last
            batches.
        batch: transitions per update.
        replay: transitions that are remembered.
        warm_up: steps of random actions before the first update; rewards are scaled by their mean and spread in them.
        learn_every: steps between updates.
        sync_every: updates after which the target network becomes a copy of the other.
        explore_first: share of random actions after the warm-up.
        explore_last: the share at which it ends.
        explore_steps: steps after the warm-up over which it falls, in a line.
        double: choose the next action by the network that learns, judge it by the target network. False is DQN, which
            lets the target network do both and overestimates.
    """

    steps: Count = 20_000
    hidden: tuple[Count, ...] = (64, 64)
    discount: Annotated[float, Field(ge=0, lt=1)] = 0.5
    learning_rate: Annotated[float, Field(gt=0, le=1)] = 1e-3
    batch: Count = 256
    replay: Count = 100_000
    warm_up: Count = 1_000
    learn_every: Count = 2
    sync_every: Count = 100
    explore_first: Share = 1.0
    explore_last: Share = 0.05
    explore_steps: Annotated[int, Field(ge=0)] = 10_000
    double: bool = True

    @model_validator(mode="after")
    def _fits(self) -> DqnConfig:
        if self.warm_up < self.batch:
            raise ValueError(f"warm_up must be at least batch ({self.batch}) steps, got {self.warm_up}")
        if self.replay < self.batch:
            raise ValueError(f"replay must hold at least a batch ({self.batch}), got {self.replay}")
        return self

    def rate(self, step: int) -> float:
        """Return the learning rate at a step (from 0)."""
        return self.learning_rate * max(1 - step / self.steps, 0.0)

    def exploration(self, step: int) -> float:
        """Return the share of random actions at a step (from 0)."""
        if step < self.warm_up:
            return 1.0
        done = 1.0 if self.explore_steps == 0 else min((step - self.warm_up) / self.explore_steps, 1.0)
        return self.explore_first + done * (self.explore_last - self.explore_first)


class FabricAccConfig(Model):
    """ACC on a fabric: what its agents see and how their network learns.

    Attributes:
        interval_us: from look to look.
        delay_us: from a look to when ports have what was chosen at it.
        history: intervals that an agent sees.
        throughput: share of the throughput in the reward, the rest is for a short queue.
        templates: that agents choose from.
        heads: ``parts`` makes a template's value the sum of those of its three parts; ``joint`` gives each its own.
        dqn: the learner; a step is an interval of one port in which it sent something.
        checkpoint_every: episodes between checkpoints.
    """

    libraries: ClassVar[Mapping[str, str]] = {"torch": "torch", "gymnasium": "gymnasium"}
    """Modules that it needs, and the packages that have them."""

    interval_us: Annotated[float, Field(ge=1, le=1e9)] = 50.0
    history: Annotated[int, Field(ge=1, le=100)] = 3
    heads: Heads = "parts"
    dqn: DqnConfig = DqnConfig()
    checkpoint_every: Count = 20
    delay_us: Annotated[float, Field(ge=0, le=1e9)] = 0.0
    throughput: Share = 0.5
    templates: Templates = Templates()
