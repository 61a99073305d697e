"""Where the bits go: the parts of the gap to the fair share add up in every trial, and are what theory says."""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.bounds.gap import MEASURED, gap_groups
from lcca.evaluation.bounds.ideals import ideal_scores
from lcca.evaluation.bounds.summary import WORDS
from lcca.evaluation.report.words.gap import NOTE, gap_table
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.metrics import BELOW_FAIR, GAP_PARTS
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.throughput_delay import ThroughputDelay
from lcca.evaluation.trials.utilities import UTILITIES
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.topology import Topology

CONFIGS = Path(__file__).parents[3] / "configs"
DEFAULT = UTILITIES["default"]
ALONE = Network(0, 3.0, 25.0, 1, math.inf, 1e12, 0.0, 0.0)
PARTS = [each.name for each in GAP_PARTS]


@pytest.fixture(scope="module")
def space() -> NetworkSpace:
    return read_config(CONFIGS / "networks" / "default.yaml", NetworkSpace)


def run(networks: list[Network], utility: Utility, *names: str, seeds: tuple[int, ...] = (3,)) -> pd.DataFrame:
    policies = {name: policyfile.load(name).policy for name in names}
    return run_trials(Engine(10_000.0, jobs=1), policies, networks, seeds, utility, keep_delays=False)


@pytest.mark.parametrize(
    "topology", ["dumbbell", pytest.param("line", marks=pytest.mark.slow), "line:hosts_per_router=3", "reverse-path"]
)
@pytest.mark.parametrize(
    "utility", [pytest.param(DEFAULT, marks=pytest.mark.slow), ThroughputDelay("own", 1.5, 0.5)], ids=lambda u: u.name
)
def test_parts_add_up_to_the_gap_in_every_trial(utility: Utility, topology: str, space: NetworkSpace) -> None:
    networks = [replace(n, topology=Topology.of(topology), loss=(n.id % 3) / 100) for n in space.draw(7, 12)]
    files = sorted(str(path) for path in (CONFIGS / "policies").glob("*.json"))[:2]
    names = (*files, "aimd", "fixed-window:1", "fixed-window:200")
    trials = run(networks, utility, *names, seeds=(3, 4))
    fair = ideal_scores(networks, [3, 4], utility, 10_000.0)["fair_bits"].to_numpy()
    gap = np.tile(fair, len(names)) - trials["score_bits"].to_numpy()
    assert trials[BELOW_FAIR.name].to_numpy() == pytest.approx(gap, abs=1e-12)
    assert trials[PARTS].sum(axis=1).to_numpy() == pytest.approx(gap, abs=1e-12)


def test_parts_add_up_where_senders_starve(space: NetworkSpace) -> None:
    networks = [replace(n, loss=0.999, mean_on=300.0, mean_off=3000.0) for n in space.draw(7, 24)]
    trials = run(networks, DEFAULT, "fixed-window:1")
    fair = ideal_scores(networks, [3], DEFAULT, 10_000.0)["fair_bits"].to_numpy()
    assert trials["starved"].sum() > 50
    assert trials[PARTS].sum(axis=1).to_numpy() == pytest.approx(fair - trials["score_bits"].to_numpy(), abs=1e-11)


def test_a_window_below_the_bandwidth_delay_product_loses_utilisation_alone() -> None:
    found = run([ALONE], DEFAULT, "fixed-window:10").iloc[0]
    received = 10 / (25 + 1 / 3)  # packets/µs: a window each round trip, spread or not
    assert found["utilisation_gap_bits"] == pytest.approx(math.log2(3 / received), abs=5e-3)
    assert found["unfairness_gap_bits"] == pytest.approx(0, abs=1e-12)
    waiting = sum(range(10)) / 10 / 3  # of the first burst only, unless packets stay together
    assert 0 <= found["delay_gap_bits"] <= math.log2(1 + waiting / (25 + 1 / 3))


def test_a_window_above_it_loses_delay_alone() -> None:
    found = run([ALONE], DEFAULT, "fixed-window:152").iloc[0]
    assert found["utilisation_gap_bits"] == pytest.approx(0, abs=6e-3)  # a round trip of 10,000 µs
    assert found["delay_gap_bits"] == pytest.approx(1, abs=6e-3)  # twice the BDP of 76 packets


def test_unfairness_is_that_of_logs_against_what_all_have_together(space: NetworkSpace) -> None:
    """By hand from the engine's record: means of logs against the log of a mean weighted by time."""
    networks = space.draw(11, 12)
    trials = run(networks, DEFAULT, "fixed-window:9")
    assert not trials["starved"].any()
    policy = Engine().compile(policyfile.load("fixed-window:9").policy)
    record = Engine(10_000.0, jobs=1).run([policy], NetworkList(networks), [0] * 12, range(12), [3] * 12)
    for i in range(12):
        own = slice(*record["sender_begin"][i : i + 2])
        received, share = record.floats("sender_delivered")[own], record.floats("sender_share_us")[own]
        on = share > 25
        shares = received[on] / share[on]
        expected = math.log2(np.average(shares, weights=share[on])) - np.log2(shares).mean()
        assert trials["unfairness_gap_bits"][i] == pytest.approx(expected, abs=1e-12)


def test_without_a_fair_share_there_is_no_gap(space: NetworkSpace) -> None:
    drawn = space.draw(1, 2)
    by_bytes = [replace(n, switched="bytes", mean_on=50.0, mean_off=50.0) for n in drawn]
    crossed = [replace(n, topology=Topology("multi-bottleneck")) for n in drawn]
    for networks, utility in ((by_bytes, DEFAULT), (crossed, DEFAULT), (by_bytes, UTILITIES["slowdown"])):
        trials = run(networks, utility, "aimd")
        assert trials[[BELOW_FAIR.name, *PARTS]].isna().all(axis=None)
        assert trials["score_bits"].notna().all() and gap_groups(trials) == []


def test_groups_divide_the_networks(space: NetworkSpace) -> None:
    networks = space.draw(5, 64)
    trials = run(networks, DEFAULT, "aimd", "fixed-window:4", seeds=(1, 2))
    trials.loc[(trials["policy"] == "aimd") & (trials["network"] == 9) & (trials["seed"] == 1), "status"] = "failed"
    groups = gap_groups(trials)
    for policy, count in (("aimd", 63), ("fixed-window:4", 64)):
        (whole,) = (each for each in groups if each.policy == policy and not each.by)
        assert whole.networks == count
        for by in ("senders", "bdp_packets"):
            own = [each for each in groups if (each.policy, each.by) == (policy, by)]
            assert len(own) > 3 and sum(each.networks for each in own) == count
            for metric in MEASURED:
                weighted = sum(each.networks * (each.bits[metric.name] or 0.0) for each in own)
                assert weighted / count == pytest.approx(whole.bits[metric.name], abs=1e-12)
    (two,) = (each for each in groups if each.policy == "aimd" and each.words == "2 senders")
    rows = trials[(trials["policy"] == "aimd") & (trials["senders"] == 2)]
    assert two.bits["delay_gap_bits"] == pytest.approx(rows["delay_gap_bits"].mean(), abs=1e-12)
    assert two.networks == rows["network"].nunique()
    bdp = [each for each in groups if (each.policy, each.by) == ("fixed-window:4", "bdp_packets")]
    assert [each.low for each in bdp[1:]] == [each.below for each in bdp[:-1]] and math.isinf(bdp[-1].below)
    assert min(each.networks for each in bdp) >= 10  # quarters of 64, but for ends that were rounded


def test_one_group_is_not_repeated() -> None:
    groups = gap_groups(run([ALONE], DEFAULT, "aimd"))
    assert [each.words for each in groups] == ["all networks"]
    assert groups[0].to_json()["by"] is None and groups[0].bits["delay_gap_bits_se"] is None


def test_the_ideal_is_not_called_as_a_header_is() -> None:
    """`fair-share` is a header; what a policy could have at best is another thing."""
    table = gap_table([], "")
    words = [BELOW_FAIR.label, NOTE, *WORDS.values(), *table.head]
    assert not [each for each in words if re.search("fair.share", each, re.IGNORECASE)]
    assert "below what is possible" in (BELOW_FAIR.label, table.head[3].lower().partition(",")[0])
