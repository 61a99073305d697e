"""One trial, two simulators: ns-3's records against those of the fast engine, a second implementation of the model."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lcca.gym_envs.ns3.host import run_plan
from lcca.gym_envs.ns3.plan import Ns3Options, trial_plan
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import FixedRate, FixedWindow, Mixture
from lcca.remy_plus.topology import KINDS, Topology
from lcca.signal_sets.load import resolve

POLICIES = Path(__file__).parents[3] / "configs" / "policies"
DURATION = 5_000.0
NETWORK = Network(3, 2.7, 50.0, 4, math.inf, 1500.0, 1000.0, 0.0)
FREE = Ns3Options(header_bytes=0)


def record(simulator, policy, network, seed=1, **keep):
    """Run one trial."""
    keep = {"keep_delays": True, "keep_flows": True} | keep
    return simulator.run([simulator.compile(policy)], NetworkList([network]), [0], [0], [seed], **keep)


def both(policy, network, seed=1, options=FREE, duration=DURATION):
    """Run one trial in ns-3, in this process' worker, and in the engine."""
    return (
        record(Ns3(duration, jobs=1, options=options), policy, network, seed),
        record(Engine(duration, jobs=1), policy, network, seed),
    )


@pytest.mark.usefixtures("ns3")
class TestRecord:
    """The same traffic and, without losses, the same packets."""

    @pytest.mark.parametrize("policy", [FixedWindow(12), FixedWindow(80), FixedRate(0.4)], ids=repr)
    def test_a_trial_without_losses_is_the_same(self, policy):
        real, fast = both(policy, NETWORK)
        assert real["flow_sender"].tolist() == fast["flow_sender"].tolist()
        for name in ("flow_start_us", "flow_end_us", "flow_share_us"):  # ns-3 counts whole ns
            np.testing.assert_allclose(real[name], fast[name], atol=0.02)
        assert real["sender_delivered"].sum() == pytest.approx(fast["sender_delivered"].sum(), rel=2e-3)
        means = [b["sender_delay_sum_us"].sum() / b["sender_delivered"].sum() for b in (real, fast)]
        assert means[0] == pytest.approx(means[1], abs=0.3)  # an ACK is sent too: 54 bytes at 2.7 packets/µs
        assert real["trial_utilisation"][0] == pytest.approx(fast["trial_utilisation"][0], rel=3e-3)
        assert real["trial_queue_mean_packets"][0] == pytest.approx(
            fast["trial_queue_mean_packets"][0], rel=0.05, abs=0.1
        )
        assert real["trial_rtt_p99_us"][0] == pytest.approx(fast["trial_rtt_p99_us"][0], rel=0.02)

    @pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
    def test_two_senders_with_two_policies_are_the_same(self, share):
        two, mixture = replace(NETWORK, senders=2), Mixture(FixedWindow(90), FixedWindow(30), share)
        real, fast = both(mixture, two)
        received = real["sender_delivered"], fast["sender_delivered"]
        np.testing.assert_allclose(*received, rtol=5e-3)
        if share in (0, 1):
            alone, _ = both(FixedWindow(90 if share else 30), two)
            assert all(np.array_equal(real[name], alone[name]) for name in ("flow_delivered", "flow_delay_sum_us"))

    def test_who_sees_the_network_beside_others_does_the_same(self):
        """The header that brings signals is on all packets, without bytes; who else sends counts as a flow."""
        shared, rate = (resolve(str(POLICIES / f"{name}.json"), "ns3").policy for name in ("fair-share", "fair-rate"))
        for policies in ((shared, FixedWindow(30)), (FixedWindow(30), shared)):
            real, fast = both(Mixture(*policies, 0.5), NETWORK)
            np.testing.assert_allclose(real["sender_delivered"], fast["sender_delivered"], rtol=0.01)
        alone, _ = both(shared, NETWORK)
        assert (abs(alone["sender_delivered"] / real["sender_delivered"] - 1) > 0.05).any()
        with pytest.raises(InputError, match="both need the same signals of the network"):
            Ns3(500.0).plan(Mixture(shared, rate, 0.5), NETWORK, 1)

    def test_senders_of_a_part_of_several_spaces_adopt_as_in_the_part_alone(self):
        many, mixture = replace(NETWORK, id=3, senders=16, stream=8), Mixture(FixedWindow(90), FixedWindow(30), 0.5)
        simulator = Ns3(500.0)
        alone, part = (simulator.plan(mixture, each, 7) for each in (replace(many, id=8, stream=None), many))
        assert alone["policies"] == part["policies"]

    def test_two_markers_on_one_queue_are_refused(self):
        red, step = (resolve(f"dctcp@{name}", "ns3").policy for name in ("red", "step"))
        simulator = Ns3(500.0)
        for adopted, other in ((red, step), (step, red)):
            with pytest.raises(InputError, match="both need the same marker"):
                simulator.plan(Mixture(adopted, other, 0.5), NETWORK, 1)
        assert simulator.plan(Mixture(red, red, 0.5), NETWORK, 1)["queue"] == "marker"

    def test_random_loss_takes_the_same_packets(self):
        lossy = replace(NETWORK, loss=0.01)
        real, fast = both(FixedRate(0.3), lossy)
        assert fast["sender_lost"].sum() > 15
        # The open loop sends the same packet numbers, so the loss stage draws the same ones.
        np.testing.assert_allclose(real["flow_lost"], fast["flow_lost"], atol=1)
        assert abs(int(real["sender_lost"].sum()) - int(fast["sender_lost"].sum())) <= 2

    def test_a_full_buffer_drops_as_many(self):
        tight = replace(NETWORK, buffer=40.0)
        real, fast = both(FixedRate(1.5), tight, duration=1000.0)  # TCP's list of losses grows with the square
        dropped = [int(b["sender_dropped"].sum()) for b in (real, fast)]
        assert dropped[1] > 300
        assert dropped[0] == pytest.approx(dropped[1], rel=0.03)

    @pytest.mark.parametrize("window", [8, 1000])
    def test_byte_switched_shares_of_time_agree(self, window):
        """Until the last packet has arrived, even where the window lets a flow go at once."""
        network = replace(NETWORK, switched="bytes", mean_on=60.0, mean_off=200.0, loss=0.0)
        real, fast = both(FixedWindow(window), network)
        done = real["flow_finished"] == 1
        assert done.sum() > 30
        np.testing.assert_array_equal(real["flow_end_us"][done], real["flow_last_arrival_us"][done])
        for name in ("sender_share_us", "sender_delivered"):  # hosts of ns-3 take turns, so flows that meet differ
            np.testing.assert_allclose(real[name], fast[name], rtol=0.05, err_msg=name)

    @pytest.mark.slow
    def test_byte_switched_flows_are_delivered_whole(self):
        network = replace(NETWORK, switched="bytes", mean_on=100.0, mean_off=200.0, loss=0.01)
        real = record(Ns3(30_000.0, jobs=1, options=replace(FREE, min_rto=500.0)), FixedWindow(20), network)
        early = (real["flow_finished"] == 1) & (real["flow_end_us"] < 15_000)
        assert early.sum() > 50
        assert (real["flow_sent"][early] >= real["flow_length"][early]).all()
        assert real["sender_lost"].sum() > 20
        # What was lost is sent again before the flow ends: TCP delivers everything.
        np.testing.assert_array_equal(real["flow_delivered"][early], real["flow_length"][early])


@pytest.mark.usefixtures("ns3")
class TestTopologies:
    """Multi-hop records agree with the engine's general simulation."""

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "dumbbell"])
    @pytest.mark.parametrize("window", [8, 60])
    def test_fixed_windows(self, kind, window):
        real, fast = both(FixedWindow(window), replace(NETWORK, topology=Topology(kind)))
        assert real["sender_delivered"].sum() == pytest.approx(fast["sender_delivered"].sum(), rel=0.03)
        means = [b["sender_delay_sum_us"].sum() / b["sender_delivered"].sum() for b in (real, fast)]
        assert means[0] == pytest.approx(means[1], rel=0.05)
        np.testing.assert_allclose(real["sender_share_us"], fast["sender_share_us"], rtol=1e-4)

    @pytest.mark.slow
    def test_a_line_with_all_hosts_at_one_router_is_a_dumbbell(self):
        line = replace(NETWORK, topology=Topology("line", hosts_per_router=NETWORK.senders))
        simulator = Ns3(DURATION, jobs=1, options=FREE)
        a, b = (record(simulator, FixedWindow(40), n) for n in (line, NETWORK))
        assert a["sender_delivered"].tolist() == b["sender_delivered"].tolist()


@pytest.mark.usefixtures("ns3")
class TestWire:
    """What only ns-3 has: bytes."""

    @pytest.mark.slow
    def test_header_bytes_are_charged(self):
        busy = replace(NETWORK, senders=1, mean_on=1e6, mean_off=1.0)
        counts = []
        for header in (0, 8, 42):
            options = Ns3Options(header_bytes=header)
            batch = record(Ns3(DURATION, jobs=1, options=options), FixedWindow(400), busy)
            assert batch["trial_utilisation"][0] > 0.98
            counts.append(int(batch["sender_delivered"].sum()))
        assert counts[1] / counts[0] == pytest.approx(590 / 598, abs=1e-3)
        assert counts[2] / counts[0] == pytest.approx(590 / 632, abs=1e-3)

    @pytest.mark.slow
    @pytest.mark.parametrize("rplus", [False, True])
    def test_the_link_signal_is_collected_as_in_the_engine(self, rplus):
        """A learnt table that reads it delivers other packets if it is collected otherwise."""
        table = policyfile.read(POLICIES / "link+queue.json").policy
        model, network = Model(10.0, rplus), Network(5, 3.0, 25.0, 6, 175.0, 5000.0, 800.0, 0.0)
        real = record(Ns3(10_000.0, model, 1, FREE), table, network)
        fast = record(Engine(10_000.0, model, 1), table, network)
        other = record(Engine(10_000.0, Model(10.0, not rplus), 1), table, network)
        delivered = [int(b["sender_delivered"].sum()) for b in (real, fast, other)]
        assert abs(delivered[0] - delivered[1]) < abs(delivered[0] - delivered[2]) / 2
        assert delivered[0] == pytest.approx(delivered[1], rel=0.02)


@pytest.mark.usefixtures("ns3")
class TestProcess:
    """Trials are functions of their plan, and nothing piles up."""

    @pytest.mark.slow
    def test_800_trials_in_one_process_do_not_grow(self):
        psutil = pytest.importorskip("psutil")
        plan = _plan(FixedWindow(10), duration=200.0)
        first = run_plan(plan)
        for _ in range(100):
            run_plan(plan)
        before = psutil.Process().memory_info().rss
        for _ in range(700):
            last = run_plan(plan)
        assert last == first
        assert psutil.Process().memory_info().rss - before < 4 * 2**20

    def test_an_abort_in_ns3_fails_its_trial_alone(self):
        options = Ns3Options(queue="red", queue_attributes=(("NoSuchThing", "1"),))
        batch = record(Ns3(1_000.0, jobs=1, options=options), FixedWindow(5), NETWORK)
        (error,) = batch["trial_error"]
        assert "NoSuchThing" in error
        assert batch["sender_delivered"].sum() == 0


def _plan(policy, duration):
    simulator = Ns3(duration)
    return trial_plan(NETWORK, simulator.compile(policy), 1, duration, Model(), FREE, False)
