"""By phase: what is lost adds up to the trial's parts, and is what a count packet by packet says."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.evaluation.bounds.gap import gap_phases
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.phases import PARTS
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.throughput_delay import ThroughputDelay
from lcca.evaluation.trials.utilities import UTILITIES
from lcca.evaluation.trials.utility import Utility
from lcca.inputs.validation import read_config
from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine, planned_flows
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.record import PHASES, Record
from lcca.remy_plus.topology import Topology

pytestmark = pytest.mark.slow

CONFIGS = Path(__file__).parents[3] / "configs"
DEFAULT = UTILITIES["default"]
ALONE = Network(0, 3.0, 25.0, 1, math.inf, 1e12, 0.0, 0.0)
ROUND_TRIP = 25 + 1 / 3
KEPT = ("share_us", "delivered", "delay_sum_us")


@pytest.fixture(scope="module")
def space() -> NetworkSpace:
    return read_config(CONFIGS / "networks" / "default.yaml", NetworkSpace)


def record_of(networks: list[Network], name: str, jobs: int = 1, **keep: Any) -> Record:
    count, engine = len(networks), Engine(5000.0, jobs=jobs)
    policy = engine.compile(policyfile.load(name).policy)
    return engine.run([policy], NetworkList(networks), [0] * count, range(count), range(count), **keep)


@pytest.mark.parametrize("topology", ["dumbbell", "line", "reverse-path"])
@pytest.mark.parametrize("utility", [DEFAULT, ThroughputDelay("own", 1.5, 0.5)], ids=lambda u: u.name)
def test_phases_add_up_to_the_parts_of_every_trial(utility: Utility, topology: str, space: NetworkSpace) -> None:
    networks = [replace(n, topology=Topology.of(topology), loss=(n.id % 3) / 100) for n in space.draw(7, 9)]
    names = (str(CONFIGS / "policies" / "e2e.json"), "aimd", "fixed-window:1", "fixed-window:200")
    policies = {name: policyfile.load(name).policy for name in names}
    trials = run_trials(Engine(5000.0, jobs=1), policies, networks, [3], utility, keep_delays=False, keep_phases=True)
    sums = {part: sum(trials[f"phase_{phase}_{part}"] for phase in PHASES) for part in PARTS}
    assert sums["utilisation_bits"].to_numpy() == pytest.approx(trials["utilisation_gap_bits"].to_numpy(), abs=1e-11)
    assert sums["delay_bits"].to_numpy() == pytest.approx(trials["delay_gap_bits"].to_numpy(), abs=1e-11)
    assert sums["time_share"].to_numpy() == pytest.approx(1, abs=1e-12)
    means = gap_phases(trials)
    assert [each["phase"] for each in means] == [*PHASES] * len(names)
    assert means[8]["delay_bits"] == pytest.approx(trials["phase_ended_delay_bits"][9:18].mean())


def test_starved_senders_lose_delay_while_they_are_on(space: NetworkSpace) -> None:
    networks = [replace(n, loss=0.999, mean_on=300.0, mean_off=3000.0) for n in space.draw(7, 12)]
    policies = {"one": policyfile.load("fixed-window:1").policy}
    trials = run_trials(Engine(5000.0, jobs=1), policies, networks, [3], DEFAULT, keep_delays=False, keep_phases=True)
    assert trials["starved"].sum() > 20
    sums = sum(trials[f"phase_{phase}_delay_bits"] for phase in PHASES)
    assert sums.to_numpy() == pytest.approx(trials["delay_gap_bits"].to_numpy(), abs=1e-11)


@pytest.mark.parametrize("name", ["aimd", "fixed-window:30", str(CONFIGS / "policies" / "e2e.json")])
def test_packets_and_shares_are_those_of_a_count_one_by_one(name: str, space: NetworkSpace) -> None:
    networks = [replace(n, mean_on=400.0, mean_off=200.0, senders=4) for n in space.draw(3, 4)]
    record = record_of(networks, name, keep_phases=True)
    for i, network in enumerate(networks):
        plan, round_trip = planned_flows(network, i, 5000.0), network.rtt + 1 / network.link_rate
        changes = sorted([*((t, "start") for t in plan.start_us), *((t, "end") for t in plan.end_us)])

        def phase(time: float, changes: Any = changes, round_trip: float = round_trip) -> int:
            before = [each for each in changes if each[0] <= time]
            if not before:
                return 5
            since = (time - before[-1][0]) / round_trip
            near = 0 if before[-1][1] == "start" else 2
            return near if since < 1 else near + 1 if since < 4 else 4 if since < 12 else 5

        trace = _core.trace(
            Engine().compile(policyfile.load(name).policy),
            compile_network(network),
            i,
            duration=5000.0,
            model=Engine().model.parts(),
            script=[],
        )
        expected = np.zeros((4, 6, 2))
        for sender, now, sent in zip(trace["sender"], trace["now_us"], trace["sent_us"], strict=True):
            expected[sender, phase(now - network.rtt - 0.5 / network.link_rate)] += (1, now - sent)
        own = slice(*record["sender_begin"][i : i + 2])
        assert (record["sender_phase_delivered"][own] == expected[:, :, 0]).all()
        assert record["sender_phase_delay_sum_us"][own] == pytest.approx(expected[:, :, 1], rel=1e-9)
        times = np.arange(5000) + 0.5  # µs, of the trial
        on = np.array(
            [[((s == plan.sender) & (plan.start_us <= t) & (t < plan.end_us)).any() for s in range(4)] for t in times]
        )
        shares = np.zeros((4, 6))
        at = np.array([phase(t) for t in times])
        for k in range(6):
            shares[:, k] = (on[at == k] / np.maximum(on[at == k].sum(axis=1, keepdims=True), 1)).sum(axis=0)
        assert record["sender_phase_share_us"][own] == pytest.approx(shares, abs=12)
    assert record["sender_phase_share_us"].sum(axis=1) == pytest.approx(record["sender_share_us"], abs=1e-8)
    assert (record["sender_phase_delivered"].sum(axis=1) == record["sender_delivered"]).all()


def test_a_flow_that_stays_goes_through_the_phases_after_its_start() -> None:
    record = record_of([ALONE], "fixed-window:38", keep_phases=True)
    lengths = ROUND_TRIP * np.array([1, 3, 0, 0, 8])
    shares = record["sender_phase_share_us"][0]
    assert shares[:5] == pytest.approx(lengths) and shares.sum() == pytest.approx(5000)
    packets = record["sender_phase_delivered"][0]
    assert packets[:5] == pytest.approx([38, 114, 0, 0, 304], abs=1)  # half of the BDP, a window a round trip
    waited = record["sender_phase_delay_sum_us"][0] - ROUND_TRIP * packets
    assert waited[0] == pytest.approx(sum(range(38)) / 3)  # the burst, whose packets wait for each other
    assert waited[1:] == pytest.approx(0, abs=1e-6)  # then acknowledgements clock them


def test_bits_are_shared_out_by_packets_that_miss_and_by_waiting() -> None:
    record = record_of([ALONE], "fixed-window:38", keep_phases=True)
    policies = {"half": policyfile.load("fixed-window:38").policy}
    trial = run_trials(Engine(5000.0, jobs=1), policies, [ALONE], [0], DEFAULT, keep_phases=True).iloc[0]
    share, packets, delays = (record[f"sender_phase_{name}"][0] for name in KEPT)
    missing, waited = 3 * share - packets, delays - ROUND_TRIP * packets
    for part, bits, weights in (
        ("utilisation_bits", math.log2(15_000 / packets.sum()), missing),
        ("delay_bits", math.log2(delays.sum() / packets.sum() / ROUND_TRIP), waited),
    ):
        found = [trial[f"phase_{phase}_{part}"] for phase in PHASES]
        assert found == pytest.approx(bits * weights / weights.sum(), abs=1e-9)
    assert 0 < trial["phase_started_delay_bits"] == pytest.approx(trial["delay_gap_bits"])
    assert trial["phase_steady_utilisation_bits"] > 0.9 * trial["utilisation_gap_bits"] > 0.9


def test_keeping_phases_changes_nothing_else(space: NetworkSpace) -> None:
    networks = space.draw(5, 8)
    plain = record_of(networks, "aimd", keep_delays=True, keep_flows=True)
    kept = record_of(networks, "aimd", jobs=2, keep_delays=True, keep_flows=True, keep_phases=True)
    assert set(kept.columns) - set(plain.columns) == {f"sender_phase_{name}" for name in KEPT}
    for column in plain.columns.keys() - {"rule_hits"}:
        np.testing.assert_array_equal(plain[column], kept[column])
    alone = record_of(networks, "aimd", keep_phases=True)
    for name in KEPT:
        np.testing.assert_array_equal(kept[f"sender_phase_{name}"], alone[f"sender_phase_{name}"])


def test_flows_that_end_by_their_length_have_no_phases(space: NetworkSpace) -> None:
    timed, sized = space.draw(5, 2)
    networks = [timed, replace(sized, switched="bytes", mean_on=50.0, mean_off=50.0)]
    policies = {"aimd": policyfile.load("aimd").policy}
    trials = run_trials(Engine(5000.0, jobs=1), policies, networks, [1], DEFAULT, keep_delays=False, keep_phases=True)
    kept = trials[[f"phase_{phase}_{part}" for phase in PHASES for part in PARTS]]
    assert kept.iloc[0].notna().all() and kept.iloc[1].isna().all()
    assert gap_phases(trials.drop(columns=kept.columns[0])) == []
    with pytest.raises(ValueError, match="phases need flows that end by time"):
        _core.run_batch(
            [Engine().compile(policies["aimd"])],
            [compile_network(networks[1])],
            np.zeros(1, np.uint32),
            np.zeros(1, np.uint32),
            np.zeros(1, np.uint64),
            duration=100.0,
            model=Engine().model.parts(),
            jobs=1,
            keep_delays=False,
            keep_flows=False,
            keep_rule_hits=False,
            keep_links=False,
            phase_round_trips=[25.0],
        )
