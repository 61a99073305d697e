"""What is possible: closed forms, the engine's own trials, and that no policy is better than the certified bound."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.bounds import certified
from lcca.evaluation.bounds.bottleneck import bottleneck
from lcca.evaluation.bounds.byte_switched import ProcessorSharing
from lcca.evaluation.bounds.byte_switched import upper_bound as byte_switched_bound
from lcca.evaluation.bounds.ideals import IDEALS, ideal_scores
from lcca.evaluation.bounds.summary import beside_ideals, gap_closed, ideal_summary, population_fair_bits
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.throughput_delay import ThroughputDelay
from lcca.evaluation.trials.utilities import UTILITIES
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.errors import InputError
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine, planned_flows
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.topology import Topology

CONFIGS = Path(__file__).parents[3] / "configs"
DEFAULT = UTILITIES["default"]
NETWORK = Network(0, 3.0, 25.0, 4, 100, 2000.0, 500.0, 0.001)


@pytest.fixture(scope="module")
def space() -> NetworkSpace:
    return read_config(CONFIGS / "networks" / "default.yaml", NetworkSpace)


def policies() -> dict[str, Policy]:
    """The repository's example policies, and simple ones from timid to reckless."""
    files = sorted(path for path in (CONFIGS / "policies").glob("*.json") if path.stem != "vegas-like")
    names = [*map(str, files), "aimd", "fixed-window:2", "fixed-window:12", "fixed-window:1000"]
    return {name: policyfile.load(name).policy for name in names}


def best_score(networks: Sequence[Network], utility: Utility, seed: int, duration: float) -> pd.Series:
    """The best score of any policy on each network."""
    trials = run_trials(Engine(duration, jobs=1), policies(), networks, [seed], utility, keep_delays=False)
    return trials.groupby("network")["score_bits"].max()


def short_flows(count: int, **changes: object) -> list[Network]:
    """Flows of few round trips, where what a sender leaves in the queue counts most."""
    rng = np.random.default_rng(3)
    network = replace(NETWORK, **{"mean_on": 100.0, "mean_off": 400.0, "buffer": math.inf, "loss": 0.0} | changes)
    senders = rng.integers(1, 9, count)
    return [replace(network, id=i, senders=int(n)) for i, n in enumerate(senders)]


@pytest.mark.parametrize("topology", ["dumbbell", "line", "reverse-path"])
def test_flows_are_those_of_the_engine(topology: str, space: NetworkSpace) -> None:
    networks = [replace(n, topology=Topology.of(topology)) for n in space.draw(1, 16)]
    policy = Engine().compile(policyfile.load("fixed-window:3").policy)
    record = Engine(jobs=1).run([policy], NetworkList(networks), [0] * 16, range(16), range(16), keep_flows=True)
    for i, network in enumerate(networks):
        flows = slice(*record["flow_begin"][i : i + 2])
        sender, start, end = (record[f"flow_{name}"][flows] for name in ("sender", "start_us", "end_us"))
        order, plan = np.lexsort((start, sender)), planned_flows(network, i, 10_000.0)
        assert (sender[order] == plan.sender).all()
        assert (start[order] == plan.start_us).all()
        assert (end[order] == np.minimum(plan.end_us, 10_000.0)).all()


@pytest.mark.parametrize("utility", [DEFAULT, ThroughputDelay("own", 1.5, 0.5)], ids=lambda u: u.name)
def test_senders_that_are_always_on_share_the_link(utility: ThroughputDelay) -> None:
    network = replace(NETWORK, mean_on=1e12, mean_off=0.0)
    expected = utility.throughput_weight * math.log2(3 * 0.999) - utility.delay_weight * math.log2((25 + 1 / 3) / 100)
    found = ideal_scores([network], [1], utility, 10_000.0).iloc[0]
    assert found[list(IDEALS)].to_list() == pytest.approx([expected] * 4, abs=1e-9)
    assert found["senders_counted"] == 4


def test_fair_share_is_the_closed_form_whatever_the_times(space: NetworkSpace) -> None:
    networks = space.draw(5, 20)
    expected = [math.log2(n.link_rate * 0.999) - math.log2((n.rtt + 1 / n.link_rate) / 100) for n in networks]
    assert ideal_scores(networks, [2], DEFAULT, 10_000.0)["fair_bits"].to_list() == pytest.approx(expected, abs=1e-12)
    assert population_fair_bits(space, DEFAULT) == pytest.approx(3.533, abs=5e-4)


def test_ideals_are_in_order_and_certified(space: NetworkSpace) -> None:
    found = ideal_scores(space.draw(1, 200), [1], DEFAULT, 10_000.0)
    assert (found["clairvoyant_bits"] >= found["causal_bits"] - 1e-9).all()
    assert (found["upper_bits"] >= found["clairvoyant_bits"] - 1e-9).all()
    assert found["gap_bits"].max() < 1e-4
    # On 200 other networks, measured by other code: +0.036, +0.040 and +0.042 bits over the fair share.
    gains = found[list(IDEALS[1:])].mean() - found["fair_bits"].mean()
    assert gains.to_list() == pytest.approx([0.036, 0.040, 0.042], abs=0.012)


@pytest.mark.parametrize("name", ["default", "2t", "2d"])
def test_no_policy_exceeds_the_bound(name: str, space: NetworkSpace) -> None:
    networks, utility = space.draw(9, 24), UTILITIES[name]
    upper = ideal_scores(networks, [4], utility, 10_000.0).set_index("network")["upper_bits"]
    assert (best_score(networks, utility, 4, 10_000.0) <= upper).all()


def leaving_packets_behind() -> tuple[pd.Series, pd.DataFrame]:
    """Scores with short flows where delay hardly matters: reckless policies leave much to be served after the end."""
    networks, utility = short_flows(24), UTILITIES["100t"]
    ideals = ideal_scores(networks, [1], utility, 5000.0).set_index("network")
    return best_score(networks, utility, 1, 5000.0), ideals


def test_policies_that_leave_packets_behind_beat_the_clairvoyant_but_not_the_bound() -> None:
    best, ideals = leaving_packets_behind()
    assert (best > ideals["clairvoyant_bits"]).sum() >= 3
    assert (best <= ideals["upper_bits"]).all()


def test_a_wrong_bound_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    prices = certified.prices

    def of_nobody_who_leaves(*given: Any) -> certified.Prices:
        return replace(prices(*given), departures=np.zeros(given[1].shape, dtype=np.int64))

    monkeypatch.setattr(certified, "prices", of_nobody_who_leaves)
    best, ideals = leaving_packets_behind()
    assert (best > ideals["upper_bits"]).any()


HIGH_SENDERS = read_config(CONFIGS / "networks" / "high-senders.yaml", NetworkSpace)


def byte_switched(senders: int, mean_on: float, count: int = 8) -> list[Network]:
    network = Network(0, 3.0, 15.0, senders, math.inf, mean_on, 300.0, 0.0, "bytes")
    return [replace(network, id=i) for i in range(count)]


@pytest.mark.parametrize("senders", [1, 2, 16])
@pytest.mark.parametrize("mean_on", [20.0, 300.0])
def test_no_policy_exceeds_the_bound_of_byte_switched_senders(senders: int, mean_on: float) -> None:
    """With one sender it is the link's rate, which a window as long as the flow must not seem to pass."""
    networks = byte_switched(senders, mean_on)
    ideals = ideal_scores(networks, [4], DEFAULT, 5000.0).set_index("network")
    assert (best_score(networks, DEFAULT, 4, 5000.0) <= ideals["upper_bits"]).all()
    assert (ideals["fair_bits"] <= ideals["upper_bits"]).all() and ideals["clairvoyant_bits"].isna().all()
    if senders == 1:
        assert ideals["upper_bits"][0] == pytest.approx(math.log2(3) - math.log2((15 + 1 / 3) / 100))


def test_no_policy_exceeds_the_bound_of_high_senders() -> None:
    networks = HIGH_SENDERS.draw(1, 6)
    upper = ideal_scores(networks, [4], DEFAULT, 3000.0).set_index("network")["upper_bits"]
    assert (best_score(networks, DEFAULT, 4, 3000.0) <= upper).all()


@pytest.mark.parametrize("senders", [1, 3, 7])
def test_processor_sharing_is_that_of_small_steps(senders: int) -> None:
    """The same by steps of 0.05 µs: who is on, what each has left to send, and what has to arrive."""
    network, step, duration = byte_switched(senders, 90.0, 1)[0], 0.05, 800.0
    plan, link = planned_flows(network, 3, duration), bottleneck(network, 0.1)
    found = ProcessorSharing(plan, senders, link, duration)
    owned = plan.sender == np.arange(senders)[:, None]
    flows = [list(zip(plan.pause_us[own], plan.length[own], strict=True)) for own in owned]
    begin = np.array([own[0][0] if own else np.inf for own in flows])
    left, arrives, packets, share = np.zeros(senders), np.full(senders, np.inf), np.zeros(senders), np.zeros(senders)
    on, turn = np.zeros(senders, dtype=bool), np.zeros(senders, dtype=int)
    for now in np.arange(0, duration, step):
        for i in np.flatnonzero(~on & (begin <= now)):
            on[i], left[i], arrives[i] = True, flows[i][turn[i]][1], np.inf
        for i in np.flatnonzero(on & (arrives <= now)):
            on[i], turn[i] = False, turn[i] + 1
            begin[i] = now + flows[i][turn[i]][0] if turn[i] < len(flows[i]) else np.inf
        sending = on & (left > 0)
        served = np.where(sending, np.minimum(left, 3.0 * step / max(sending.sum(), 1)), 0.0)
        left, packets, share = left - served, packets + served, share + on * step / max(on.sum(), 1)
        arrives[sending & (left <= 0)] = now + step + network.rtt
    np.testing.assert_allclose(found.packets, packets, rtol=0.02)
    np.testing.assert_allclose(found.share_us, share, rtol=0.02)


def test_nobody_counts_where_nobody_comes() -> None:
    found = ideal_scores([replace(NETWORK, mean_off=1e9)], [1], DEFAULT, 1000.0)
    assert found.loc[0, "senders_counted"] == 0 and math.isnan(found.loc[0, "upper_bits"])


def test_the_line_limits_as_its_middle_link_does() -> None:
    far = replace(NETWORK, mean_on=1e12, mean_off=0.0, topology=Topology.of("line"))
    found = ideal_scores([far], [1], DEFAULT, 10_000.0).iloc[0]
    assert found["fair_bits"] == pytest.approx(math.log2(3 * 0.999) - math.log2((25 + 4 * 1.1 / 3) / 100))
    assert found["upper_bits"] == pytest.approx(found["fair_bits"], abs=2e-3)  # the last hop's packets come later


@pytest.mark.slow
@pytest.mark.parametrize("topology", ["line", "line:hosts_per_router=2", "reverse-path"])
def test_no_policy_exceeds_the_bound_of_other_topologies(topology: str, space: NetworkSpace) -> None:
    networks = [replace(n, topology=Topology.of(topology)) for n in space.draw(9, 6)]
    upper = ideal_scores(networks, [4], DEFAULT, 3000.0).set_index("network")["upper_bits"]
    assert (best_score(networks, DEFAULT, 4, 3000.0) <= upper).all()


def test_what_has_no_bound_is_refused(space: NetworkSpace) -> None:
    class Other:
        name = "slowdown"

    with pytest.raises(InputError, match="utility slowdown: there are bounds for utilities of throughput and delay"):
        ideal_scores([NETWORK], [1], Other(), 1000.0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"network 0: there is no bound on topology multi-bottleneck.*use dumbbell"):
        ideal_scores([replace(NETWORK, topology=Topology.of("multi-bottleneck"))], [1], DEFAULT, 1000.0)


def test_summary_has_standard_errors_of_blocks(space: NetworkSpace) -> None:
    scores = ideal_scores(space.draw(1, 32), [1], DEFAULT, 10_000.0)
    plain, blocked = ideal_summary(scores), ideal_summary(scores, block=16)
    assert plain["fair_bits"] == pytest.approx(scores["fair_bits"].mean())
    assert plain["fair_bits_se"] == pytest.approx(scores["fair_bits"].sem())
    halves = [scores["fair_bits"][:16].mean(), scores["fair_bits"][16:].mean()]
    assert blocked["fair_bits_se"] == pytest.approx(abs(halves[1] - halves[0]) / 2)


def test_policies_beside_ideals() -> None:
    found = beside_ideals({"fair_bits": 3.5}, {"a": 3.1, "b": 3.3}, "a")["policies"]
    assert found[0] == {"policy": "a", "score_bits": 3.1, "below_fair_bits": pytest.approx(0.4), "gap_closed": None}
    assert found[1]["gap_closed"] == pytest.approx(0.5)
    assert gap_closed(3.3, 3.6, 3.5) is None and gap_closed(math.nan, 3.1, 3.5) is None


def test_short_flows_served_first_get_more_than_the_links_rate_of_their_share() -> None:
    """Sixteen flows that come at once, served one after another: the k-th waits among 16, then 15, … others."""
    link = bottleneck(Network(0, 1.0, 99.0, 16, 100, 20.0, 300.0, 0.0, "bytes"), 0.1)
    times = np.cumsum(1 / np.arange(16, 0, -1))  # of fair share, in units of one flow's service
    serial = float(np.log2(1 / times).mean())
    assert (
        0.5 < serial < byte_switched_bound(16, 16, link, DEFAULT) == pytest.approx(math.log2(math.factorial(16)) / 16)
    )
