"""What users of Stable-Baselines3 hang into `model.learn`: scores on fresh networks, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lcca.evaluation.scenarios.networks import DrawnNetworks
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.settling.units import means_of
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.extras import missing
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.trainers.drl.export import agent_of, policy_of

try:
    from stable_baselines3.common.callbacks import BaseCallback
except ImportError as error:
    raise missing("stable-baselines3", "callbacks") from error


@dataclass(frozen=True)
class Evaluation:
    """A policy's scores while it is learnt.

    Attributes:
        steps: of the environments by then.
        score_bits: mean over the networks.
        low: lower end of its 95 % interval, Student's t over blocks of networks.
        high: upper end.
    """

    steps: int
    score_bits: float
    low: float
    high: float


class EvaluationCallback(BaseCallback):
    """Scores the policy without exploration every so many steps, as `lcca evaluate` would: all flows follow it.

    All evaluations meet the same networks, so that differences between them are those of the policy. The interval is
    for other networks of the space; it is not one for the best of many evaluations, which is chosen on these networks:
    score that one on others (`lcca evaluate`, `lcca rank`).

    Args:
        space: networks are drawn from it.
        every: steps of the environments between two evaluations.
        networks: how many, in whole blocks of the space.
        seed: of the networks and the traffic.
        best: file for the policy of the best evaluation so far; none if left out.
        utility: that scores a trial.
        jobs: threads.

    Attributes:
        evaluations: so far.
    """

    def __init__(
        self,
        space: DrawnNetworks,
        every: int = 10_000,
        networks: int = 96,
        seed: int = 1,
        best: str | Path | None = None,
        utility: Utility = DEFAULT,
        jobs: int = 1,
    ) -> None:
        super().__init__()
        self.space, self.every, self.best, self.utility, self.seed = space, every, best, utility, seed
        self.networks = space.draw(seed, space.whole(networks))
        self.engine = Engine(space.duration, jobs=jobs)
        self.evaluations: list[Evaluation] = []
        self._next = every

    def _on_training_start(self) -> None:
        self.agent = agent_of(self.model)

    def _on_step(self) -> bool:
        if self.num_timesteps >= self._next:
            self._next += self.every * (1 + (self.num_timesteps - self._next) // self.every)
            self.evaluate()
        return True

    def evaluate(self) -> Evaluation:
        """Score the policy as it is, log it (`lcca/score_bits`, `lcca/low`, `lcca/high`), and keep it if it is best."""
        policy = policy_of(self.model, self.agent)
        rows = run_trials(self.engine, {"it": policy}, self.networks, [self.seed], self.utility, keep_delays=False)
        means = means_of(rows["score_bits"].to_numpy(dtype=np.float64), rows["network"], self.space.block)
        scored = Evaluation(self.num_timesteps, *t_interval(means))
        if self.best is not None and scored.score_bits > max((e.score_bits for e in self.evaluations), default=-np.inf):
            policyfile.write(self.best, policyfile.PolicyFile(policy, provenance={"steps": scored.steps}))
        self.evaluations.append(scored)
        for name in ("score_bits", "low", "high"):
            self.logger.record(f"lcca/{name}", getattr(scored, name))
        return scored
