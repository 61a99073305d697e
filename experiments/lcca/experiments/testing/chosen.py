"""What a training is tested with: its best checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lcca.evaluation.comparison.net_benefit import CHARGED
from lcca.experiments.learning.plan import Learner
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.policies.rules import RuleTable


@dataclass(frozen=True)
class Chosen:
    """A training's policy: its best checkpoint.

    Attributes:
        learner: the training.
        checkpoint: file name of the round, as in ``round-02.json``.
        policy: as it was learnt.
        validation_score_bits: its mean score on the validation networks, in the fast engine.
        by_rules: for each number of rules that checkpoints of the training had, the best of them by the same score;
            empty for policies that are no rule tables.
    """

    learner: Learner
    checkpoint: str
    policy: Policy
    validation_score_bits: float
    by_rules: Mapping[int, Policy]

    @property
    def rules(self) -> int:
        """How many rules it has; 0 for what is no table."""
        return len(self.policy) if isinstance(self.policy, RuleTable) else 0

    @property
    def free(self) -> Policy:
        """The policy as simulators run it, with the bytes of its header free."""
        return self.learner.candidate.equip(self.policy)

    @property
    def charged(self) -> Policy:
        """The policy as simulators run it, with the bytes of its header charged."""
        return self.learner.candidate.equip(self.policy, charged=True)

    @property
    def endings(self) -> tuple[str, ...]:
        """What its id ends with in test trials: nothing, and `CHARGED` if its header has bytes."""
        return ("", CHARGED) if self.learner.candidate.costs else ("",)

    @property
    def tested(self) -> dict[str, Policy]:
        """The policy by its id in test trials: with its header's bytes free, and charged if it has any."""
        return {self.learner.id + end: self.charged if end else self.free for end in self.endings}

    def at(self, rules: int) -> Policy:
        """Return the best checkpoint with so many rules as simulators run it, with the bytes of its header free."""
        return self.learner.candidate.equip(self.by_rules[rules])
