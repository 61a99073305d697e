"""The contract of places, which numbered trials are drawn from, and how trials are run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from lcca.evaluation.trials.blocks import InBlocks
from lcca.evaluation.trials.executors import Batches, runner_on
from lcca.evaluation.trials.source import TrialSource
from lcca.evaluation.trials.utility import Utility
from lcca.gym_envs.linux.plan import LinuxOptions
from lcca.gym_envs.linux.simulator import Linux
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.simulator import Simulator
from lcca.workers.pool import Pool, Threads


@dataclass(frozen=True)
class Execution:
    """How the trials of a place are run; the simulator and its options decide results, the rest never does.

    Attributes:
        simulator: one of the place's; its usual one if empty.
        jobs: threads, or worker processes of ns-3 and of classes in Python.
        pool: that runs them instead; it may be on other machines.
        model: options of networks that the engine and ns-3 have.
        ns3: options of ns-3.
        linux: of trials on this machine.
    """

    simulator: str = ""
    jobs: int = 1
    pool: Pool | None = None
    model: Model = field(default_factory=Model)
    ns3: Ns3Options = field(default_factory=Ns3Options)
    linux: LinuxOptions = field(default_factory=LinuxOptions)

    @classmethod
    def of(cls, engine: Engine) -> Execution:
        """Return how an engine runs trials."""
        pool = engine.runner.pool if isinstance(engine.runner, Batches) else None
        return cls(jobs=engine.jobs, pool=pool, model=engine.model)

    @classmethod
    def on(cls, workers: Pool, simulator: str = "") -> Execution:
        """Return what runs the trials of a simulator, the usual one if none is named, on a pool."""
        return cls(simulator, workers.count, None if workers.here else workers)

    @property
    def workers(self) -> Pool:
        """The pool; threads of this process if none is named."""
        return self.pool or Threads(self.jobs)

    def engine(self, duration: float) -> Engine:
        """Return the fast engine; the duration (µs) is that of trials."""
        return Engine(duration, self.model, self.jobs, runner_on(self.workers))

    def of_networks(self, duration: float) -> Simulator:
        """Return the simulator of trials on networks, likewise.

        Raises:
            InputError: ns-3 is not installed, or what trials on Linux need.
        """
        if self.simulator == "linux":
            return Linux(duration, self.linux)
        if self.simulator == "ns3":
            return Ns3(duration, self.model, self.jobs, self.ns3, self.pool)
        return self.engine(duration)


class Place(InBlocks, Protocol):
    """Where contenders meet: networks, fabric scenarios or a study's own, whatever simulates them.

    A place is what its file says and nothing else; with a seed, a utility and an `Execution` it gives numbered trials.

    Attributes:
        simulators: that run its trials, the usual one first. It is also what `resolve` makes policies for.
        unit: what is numbered, in the plural.
        usual_utility: scores a trial unless another one is named.
        percent_of: what a difference of scores in per cent is of.
    """

    simulators: ClassVar[tuple[str, ...]]
    unit: ClassVar[str]
    usual_utility: ClassVar[str]
    percent_of: ClassVar[str]

    @property
    def length(self) -> int | None:
        """How many trials it consists of; None where they are drawn without end."""

    def utility(self, name: str) -> Utility:
        """Return a utility that scores trials here.

        Raises:
            InputError: there is none of that name, or it scores trials elsewhere.
        """

    def trials(
        self,
        seed: int,
        utility: Utility,
        execution: Execution,
        seeds: Sequence[int] = (),
        keep_delays: bool = False,
    ) -> TrialSource[Policy]:
        """Return numbered trials.

        Args:
            seed: that all which is random in them follows from; with another seed none of them comes again.
            utility: scores them.
            execution: how they are run.
            seeds: of the trials on each network; the seed alone if empty. Elsewhere each number has one trial.
            keep_delays: whether percentiles of the delays on networks are wanted.

        Raises:
            InputError: a simulator that is not installed, or a utility of something that there is not.
        """
