"""What every trainer is: a task and a configuration in, steps, and a policy, its learning curve and its cost out.

Campaigns know trainers by this contract alone (`Trainer`, `TrainerConfig`); `registry` finds them by the `kind` that a
configuration file names. A conformance suite (`tests/trainers/conformance.py`) puts the same questions to all of them.

Two other packages learn and are no trainers in this sense, because their task is another one. `tune` chooses the
parameters of a hand-designed congestion control: no signal set and no header come in, every trial of its study is a
policy, and Optuna's database is its state. `ecn` learns the marking of a switch in one ns-3 scenario: it has an
environment in the place of a network space, and its policy drives no sender. Their checkpoints are kept as here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Protocol, TypeAlias

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from lcca.evaluation.scenarios.spaces import HardNetworks
from lcca.inputs.errors import InputError
from lcca.inputs.extras import require_libraries
from lcca.inputs.model import Model

if TYPE_CHECKING:  # what comes in: whoever makes a task has imported it
    from lcca.evaluation.fabric.space import FabricSpace
    from lcca.evaluation.scenarios.networks import DrawnNetworks
    from lcca.evaluation.trials.blocks import InBlocks
    from lcca.evaluation.trials.utility import Utility
    from lcca.remy_plus.core.stamping import Stamping
    from lcca.remy_plus.engine import Engine
    from lcca.remy_plus.policies.policy import Policy

BLOCKS_PER_STEP = 1 << 16
"""Blocks of networks set aside for each step, so that no two steps share a network's random streams."""


def first_network(space: InBlocks, step: float) -> int:
    """Return the number of a step's first network, which begins a block; a step may be parted in two halves."""
    return int(step * BLOCKS_PER_STEP) * space.block


@dataclass(frozen=True)
class WarmStart:
    """A policy to go on from, and the steps that were taken for it: their networks are not met again. 0 if by hand."""

    policy: Policy
    step: int


@dataclass(frozen=True)
class Task:
    """What to learn: for these signals, on this space, for this utility, from this training seed.

    Attributes:
        identity: names the task in its checkpoint: a checkpoint of another one is refused.
        signals: names of what a policy sees.
        space: networks are drawn from it, or flows of a fabric. Only for trainers that learn on fabrics.
        utility: what a policy is to make large.
        seed: everything random follows from it.
        header: what carries the signals of the network: its bytes are charged as it says, and its signals are all that
            is seen of the network. Only for trainers that take `headers`.
        warm_start: what to go on from. Only for trainers that take `warm_starts`.
        rivals: policies for some of the signals that a policy must not be worse than: where one is better, a training
            goes on from it. Trainers that do not take `rivals` leave them out.
    """

    identity: str
    signals: tuple[str, ...]
    space: DrawnNetworks | FabricSpace
    utility: Utility
    seed: int
    header: Stamping | None = None
    warm_start: WarmStart | None = None
    rivals: tuple[Policy, ...] = ()

    @property
    def networks(self) -> DrawnNetworks:
        """The space of networks, or several, for trainers that learn on networks alone.

        Raises:
            InputError: it is a fabric.
        """
        from lcca.evaluation.scenarios.networks import DrawnNetworks

        if not isinstance(self.space, DrawnNetworks):
            raise InputError("networks: this trainer does not learn on fabrics; use trainer.kind law or rplus")
        return self.space


@dataclass(frozen=True)
class LearningRow:
    """One step of a training. Scores in bits on that step's own networks, so noisy from step to step.

    Attributes:
        step: rises from row to row.
        round: that the step belongs to, from 0.
        kind: of step, in the trainer's words.
        rules: of the policy before the step; 0 where it is no rule table.
        score_bits: mean score of a policy of this step.
        trials: simulated so far, those of a warm start not counted.
        packets: delivered so far.
        cpu_s: CPU seconds so far.
    """

    step: int
    round: int
    kind: str
    rules: int
    score_bits: float
    trials: int
    packets: int
    cpu_s: float


class Budget(NamedTuple):
    """What a training may take: it ends with the step that uses it up.

    Attributes:
        amount: in its unit.
        key: of the configuration, that it follows from.
        shared: part of the amount that trainings of equal `Learner.shared_key` take once for all of them.
    """

    amount: int
    unit: str
    key: str = "budget_trials"
    shared: int = 0


class TrainerConfig(Model):
    """The part of a configuration that all trainers have.

    A trainer's own is a subclass with its `kind` as a literal. It must be importable without what the trainer needs.

    Attributes:
        trainer: ``module:Class`` of the trainer, imported when a training begins.
        libraries: modules that it needs beyond those of lcca, and the packages that have them.
        warm_starts: whether it can go on from a policy that was trained for some of its signals.
        headers: whether it can learn with headers.
        formulas: whether its policies can have signals that are formulas.
        of_hosts: whether, on fabrics, they can have signals of selective hosts.
        rivals: whether it takes rivals.
        fabrics_alone: whether it learns nowhere else.
        begins_without_header: whether what tasks share is trained without the bytes of their headers.
        unsaid: defaults of keys that came later.
        kind: names the trainer in configuration files.
        rounds: each ends with a policy file, of which validation picks one.
        hard_networks: that have a share of the training, as where `lcca stress` has found that policies lose; not on a
            fabric.
    """

    trainer: ClassVar[str]
    libraries: ClassVar[Mapping[str, str]] = {}
    warm_starts: ClassVar[bool] = False
    headers: ClassVar[bool] = False
    formulas: ClassVar[bool] = False
    of_hosts: ClassVar[bool] = False
    rivals: ClassVar[bool] = False
    fabrics_alone: ClassVar[bool] = False
    begins_without_header: ClassVar[bool] = False
    unsaid: ClassVar[Mapping[str, Any]] = {"hard_networks": None}

    kind: str
    rounds: Annotated[int, Field(ge=1)] = 1
    hard_networks: HardNetworks | None = None

    @model_serializer(mode="wrap")
    def _defaults_unsaid(self, content: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what was not always a key, where it has its default: a name by the content must not change."""
        said: dict[str, Any] = content(self)
        return {key: value for key, value in said.items() if key not in self.unsaid or value != self.unsaid[key]}

    @property
    def policies(self) -> int:
        """How many policy files a training leaves at most."""
        return self.rounds

    @property
    def sizes(self) -> int:
        """At how many numbers of rules, the same for all tasks, policies are to be compared."""
        return 0

    @property
    def rules(self) -> int:
        """How many rules a table has at the end of a training, or about as many; 1 where it learns none."""
        return 1

    @property
    def budget(self) -> Budget:
        """What a training may take."""
        return Budget(self.policies, "rounds")

    @property
    def logs(self) -> bool:
        """Whether learning curves are written for TensorBoard, where that is installed."""
        return True

    @property
    def provenance(self) -> dict[str, str]:
        """What a policy file says about how it was trained."""
        return {"trainer": self.kind}

    def example(self, signals: Sequence[str]) -> Policy:
        """Return a policy of the kind that is learnt, which looks at signals."""
        from lcca.remy_plus.policies.policy import looking_at

        return looking_at(signals)

    @model_validator(mode="before")
    @classmethod
    def _has_callbacks(cls, value: Any) -> Any:
        if isinstance(value, dict) and "callbacks" in value and "callbacks" not in cls.model_fields:
            raise ValueError(f"callbacks are Stable-Baselines3's, and kind {value.get('kind')} has none; use kind ppo")
        return value

    def require_installed(self) -> None:
        """Check that all that a training needs is installed, before one begins.

        Raises:
            InputError: it is not.
        """
        require_libraries(self.libraries, f"trainings by {self.kind}")

    def require(self, signals: Sequence[str]) -> None:
        """Check that a policy over these signals can be learnt.

        Raises:
            InputError: it cannot; the message names what is missing.
        """

    def require_fabric(self, signals: Sequence[str]) -> None:
        """Check that a policy over these signals can be learnt on a fabric, as few trainers can.

        Raises:
            InputError: it cannot.
        """
        raise InputError(f"trainer.kind: {self.kind} does not learn on fabrics; use law or rplus")


Keeper: TypeAlias = "Callable[[int, Policy], None]"
"""Takes the number of a round, from 0, and the policy that it ended with."""


class Trainer(Protocol):
    """A training that can be stopped after any step and goes on from its checkpoint with the same bits.

    Equal tasks and configurations give equal bits, whatever the number of the engine's threads.

    Args:
        task: what to learn.
        config: how.
        engine: runs the trials, and says their duration and model.
        checkpoint: file of the training's state, written after every step; a training that finds one goes on from it.
        keep: called once for each round of the learning rows, and again with the same policy if the round is repeated
            after a kill.
        shared: file of a state that is the same for all tasks that differ only in signals and headers. A trainer may
            begin there and leave it for others, or have no use for it.

    Raises:
        InputError: the checkpoint is damaged or another task's, or the task asks for what the trainer cannot do.
        MissingPackage: a library that the training needs is not installed.
    """

    def __init__(
        self,
        task: Task,
        config: Any,
        engine: Engine,
        checkpoint: Path | None = None,
        keep: Keeper = ...,
        shared: Path | None = None,
    ) -> None: ...

    @property
    def done(self) -> bool:
        """Whether the training has ended."""

    @property
    def used(self) -> int:
        """How much of the budget is used up, in its unit."""

    @property
    def learning(self) -> Sequence[LearningRow]:
        """One row per step so far."""

    @property
    def policy(self) -> Policy:
        """What is learnt so far."""

    def step(self) -> None:
        """Take one step and write the checkpoint; a step that was cut short is repeated with the same bits."""


def run(trainer: Trainer) -> Policy:
    """Train to the end and return the policy."""
    while not trainer.done:
        trainer.step()
    return trainer.policy
