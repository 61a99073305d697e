"""Both kinds of utility keep the contract: of senders' totals, which ship, and of flows, as a fabric's will be."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from lcca.evaluation.comparison.compare import compare_policies
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.verdict import SettlingRule
from lcca.evaluation.trials import utilities
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import UTILITIES
from lcca.evaluation.trials.utility import TrialScores
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.record import Record

from .utility_conformance import UtilityConformance

SPACE = {
    "link_rate": {"min": 1, "max": 2, "step": 0.5},
    "rtt": {"min": 10, "max": 20, "step": 5},
    "senders": {"min": 1, "max": 3, "step": 1},
    "buffer": 50,
    "mean_on": 40,
    "mean_off": 60,
    "loss": 0,
    "switched": "bytes",
    "duration": 1000,
}
NETWORKS = NetworkSpace.model_validate(SPACE).draw(3, 6)


@dataclass(frozen=True)
class MeanSlowdown:
    """−log2 of the mean slowdown of completed flows: one bit is half the slowdown."""

    name: str = "slowdown"
    unit: str = "bits"
    keeps: frozenset[str] = frozenset({"flows"})
    worst: float = -20.0
    emphasis: str = ""

    def score(self, batch: Record) -> TrialScores:
        networks, index = batch.networks, batch.network_index
        trial = np.repeat(np.arange(batch.trials), np.diff(batch["flow_begin"]))
        ideal = (networks.rtt[index] + batch.further_service_us)[trial]
        ideal = ideal + batch.floats("flow_length") / networks.link_rate[index][trial]
        fct = batch.floats("flow_last_arrival_us") - batch.floats("flow_start_us")
        done = batch["flow_finished"].astype(bool) & (batch.floats("flow_delivered") >= batch.floats("flow_length"))
        n = np.bincount(trial[done], minlength=batch.trials)
        total = np.bincount(trial[done], weights=(fct / ideal)[done], minlength=batch.trials)
        mean = np.divide(total, n, out=np.full(batch.trials, np.nan), where=n > 0)
        return TrialScores(np.maximum(-np.log2(mean), self.worst), np.zeros(batch.trials, dtype=np.int64), n)

    def percent(self, difference: float) -> float:
        return 100 * math.expm1(math.log(2) * difference)

    def difference(self, percent: float) -> float:
        return math.log2(1 + percent / 100)

    def margin(self, percent: float) -> float:
        return self.difference(percent)

    def content(self) -> dict[str, Any]:
        return {"kind": "slowdown"}


class TestThroughputDelay(UtilityConformance):
    wanted, networks = UTILITIES["2d"], NETWORKS


class TestFlows(UtilityConformance):
    wanted, networks = MeanSlowdown(), NETWORKS

    def test_policies_are_run_and_compared_by_it(self) -> None:
        networks = NetworkSpace.model_validate(SPACE).draw(3, 320)
        rows = run_trials(Engine(1000.0, jobs=1), {"good": self.good, "bad": self.bad}, networks, [1], self.wanted)
        good, bad = (rows.loc[rows["policy"] == name, "score_bits"].to_numpy() for name in ("good", "bad"))
        found = compare_policies("bad", "good", bad, good, utility=self.wanted, rule=SettlingRule()).to_json()
        assert (found["verdict"], found["utility"], found["unit"]) == ("better", "slowdown", "bits")

    def test_files_name_it_without_weights(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(utilities, "UTILITIES", {**UTILITIES, "slowdown": self.wanted})
        asked = utilities.UtilityModel.model_validate("slowdown")
        assert asked.build() == utilities.UtilityModel.model_validate(asked.model_dump()).build() == self.wanted
        assert utilities.utilities_of("utilities: [slowdown, 2t]", ["slowdown"]) == {"slowdown": self.wanted}
        with pytest.raises(ValidationError, match="'slowdown' is another utility"):
            utilities.UtilityModel.model_validate({"name": "slowdown", "throughput_weight": 1, "delay_weight": 1})
