"""What a study will cost, from one trial of every contender on every scenario."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.study.config import StudyConfig
from lcca.experiments.study.run import trials_on
from lcca.signal_sets.load import resolve


@dataclass(frozen=True)
class Cost:
    """What a scenario costs.

    Attributes:
        scenario: its name.
        contenders: that meet there.
        comparisons: that it has.
        trial_cpu_s: CPU seconds of one trial of all contenders.
        least, most: trials of each contender, until the first look and until the budget ends.
    """

    scenario: str
    contenders: int
    comparisons: int
    trial_cpu_s: float
    least: int
    most: int

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values, with CPU seconds until both ends."""
        ends = {"cpu_s_least": self.trial_cpu_s * self.least, "cpu_s_most": self.trial_cpu_s * self.most}
        return asdict(self) | ends


def costs(config: StudyConfig) -> list[Cost]:
    """Return the cost of every scenario. A contender that a tuning finds counts as what the tuning starts from.

    Tunings and trainings come on top: `lcca tune` and `lcca acc` say of each what it costs.
    """
    return [_cost(config, each.name) for each in config.scenarios]


def _cost(config: StudyConfig, scenario: str) -> Cost:
    source = trials_on(config, scenario, fabric_utility("slowdown"), 1)
    policies = {name: resolve(config.contenders[name].start, "fabric").policy for name in config.on(scenario)}
    began = time.process_time()
    source.rows(policies, Block(0, 0, 1))
    spent = time.process_time() - began
    most = source.whole(config.pairs)
    least = config.rule.looks_until(most // source.block)[0] * source.block
    count = sum(each.scenario == scenario for each in config.planned)
    return Cost(scenario, len(policies), count, round(spent, 3), least, most)
