"""All kinds of utility keep the contract: of senders' totals, of flows, and of what a fabric alone tells."""

from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from pydantic import ValidationError

from lcca.evaluation.comparison.compare import compare_policies
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.trials.ratio import CompletionTime, Slowdown
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import UTILITIES, UtilityModel, utilities_of, utility
from lcca.inputs.errors import InputError
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


class TestOwn(UtilityConformance):
    """A function that says what the utility 2d does: the same scores."""

    networks = NETWORKS
    text = (
        "import numpy as np\n"
        "def mine(throughput, delay):\n"
        "    return np.log2(throughput) - 2 * np.log2(delay / 100)\n"
        "def alone(throughput, delay):\n"
        "    return np.log2(throughput) - delay.mean()\n"
        "def backwards(throughput, delay):\n"
        "    return -throughput\n"
        "def fails(throughput, delay):\n"
        "    return throughput + {}['no']\n"
        "def endless(throughput, delay):\n"
        "    return throughput * float('inf')\n"
    )

    @pytest.fixture(autouse=True)
    def own(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "my.py").write_text(self.text)
        monkeypatch.chdir(tmp_path)
        self.wanted = utility("my.py:mine")

    def test_it_scores_as_the_same_function_here(self) -> None:
        given = utility("2d")
        own, theirs = (
            run_trials(Engine(1000.0, jobs=2), {"good": self.good}, NETWORKS, [1, 2], each)["score_bits"]
            for each in (self.wanted, given)
        )
        np.testing.assert_allclose(own, theirs, rtol=1e-12)
        for percent in (-20.0, 3.0, 50.0):
            assert self.wanted.difference(percent) == pytest.approx(given.difference(percent))
            assert self.wanted.percent(given.difference(percent)) == pytest.approx(percent)

    def test_campaigns_name_it_and_its_text_is_hashed(self, tmp_path: Path) -> None:
        model = UtilityModel.model_validate("my.py:mine")
        assert model.name == "mine" and model.build() == self.wanted
        assert "python" not in UtilityModel.model_validate("default").model_dump()
        (tmp_path / "my.py").write_text(self.text.replace("2 *", "3 *"))
        assert utility("my.py:mine").content() != self.wanted.content() and utility("my.py:mine") != self.wanted

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("alone", "must not depend on the others"),
            ("backwards", "must be larger for twice the throughput"),
            ("fails", r"my\.py:9: KeyError: 'no'"),
            ("endless", "must return a finite number for each sender"),
            ("mina", r"no function 'mina' \(did you mean 'mine'\?\)"),
        ],
    )
    def test_functions_that_cannot_be_one(self, name: str, words: str) -> None:
        with pytest.raises(InputError, match=words):
            utility(f"my.py:{name}")


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


class TestRecovery(FabricUtilityConformance):
    """A link is down for 10 µs; with a small window after the timer's 1 ms, with a large one after a NACK."""

    wanted, good, bad = UTILITIES["recovery"], named_transport("window:bdps=30"), named_transport("window:bdps=0.2")
    workload: ClassVar = {"kind": "incast", "senders": 4, "bytes": 10**7, "receiver": 0, "period_us": 1e6}
    more: ClassVar = {"events": [{"at_us": 100, "link": [0, 5], "down": True, "for_us": 10}], "drain_us": 3000}
