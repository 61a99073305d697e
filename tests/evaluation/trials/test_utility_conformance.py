"""All kinds of utility keep the contract: of senders' totals, of flows, and of what a fabric alone tells."""

from typing import ClassVar

import pytest
from pydantic import ValidationError

from lcca.evaluation.comparison.compare import compare_policies
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.trials.ratio import CompletionTime, Slowdown
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import UTILITIES, UtilityModel, utilities_of
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.tuners.tuned import named_transport

from .fabric_conformance import FabricUtilityConformance
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


class TestThroughputDelay(UtilityConformance):
    wanted, networks = UTILITIES["2d"], NETWORKS


class TestSlowdown(UtilityConformance):
    wanted, networks = UTILITIES["slowdown"], NETWORKS

    def test_policies_are_run_and_compared_by_it(self) -> None:
        networks = NetworkSpace.model_validate(SPACE).draw(3, 320)
        rows = run_trials(Engine(1000.0, jobs=1), {"good": self.good, "bad": self.bad}, networks, [1], self.wanted)
        good, bad = (rows.loc[rows["policy"] == name, "score_bits"].to_numpy() for name in ("good", "bad"))
        found = compare_policies("bad", "good", bad, good, utility=self.wanted, rule=SettlingRule()).to_json()
        assert (found["verdict"], found["utility"], found["unit"]) == ("better", "slowdown", "bits")

    def test_files_name_it_without_weights(self) -> None:
        asked = UtilityModel.model_validate("slowdown")
        assert asked.build() == UtilityModel.model_validate(asked.model_dump()).build() == self.wanted
        assert utilities_of("utilities: [slowdown, 2t]", ["slowdown"]) == {"slowdown": self.wanted}
        with pytest.raises(ValidationError, match="'slowdown' is another utility"):
            UtilityModel.model_validate({"name": "slowdown", "throughput_weight": 1, "delay_weight": 1})


class TestTailOfLongFlows(UtilityConformance):
    wanted, networks = Slowdown("tail-of-long", quantile=0.9, from_bytes=20_000), NETWORKS


class TestCompletionTime(UtilityConformance):
    wanted, networks = CompletionTime("tail-of-short", quantile=0.9, below_bytes=100_000), NETWORKS


class TestCompletionTimeOnAFabric(FabricUtilityConformance):
    wanted, good, bad = UTILITIES["fct"], named_transport("window"), named_transport("window:bdps=0.05")


class TestQueue(FabricUtilityConformance):
    wanted = UTILITIES["queue-p95"]


class TestRoundTime(FabricUtilityConformance):
    wanted, good, bad = UTILITIES["rounds"], named_transport("window"), named_transport("window:bdps=0.05")
    workload: ClassVar = {"kind": "all-to-all", "bytes": 20_000, "off_us": 10}


class TestThroughput(FabricUtilityConformance):
    wanted, good, bad = UTILITIES["throughput"], named_transport("window"), named_transport("window:bdps=0.05")
    workload: ClassVar = {"kind": "incast", "senders": 4, "bytes": 10**8, "receiver": 0, "period_us": 1e6}
