"""Topologies as data, and what the engine makes of them."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.network import Network, NetworkList, compile_layout, compile_network, open_network
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow, Policy, compile_policy
from lcca.remy_plus.policies.rules import one_rule
from lcca.remy_plus.record import Record
from lcca.remy_plus.topology import KINDS, Topology, layout
from lcca.remy_plus.workload import FlowSizes, OpenFlows

NETWORK = Network(3, 3.0, 24.0, 4, 50.0, 800.0, 200.0, 0.01)
TOPOLOGIES = [Topology(kind) for kind in KINDS] + [
    Topology("line", hosts_per_router=2),
    Topology("reverse-path", reverse_senders=1, one_way=True),
    Topology("multi-bottleneck", hosts_per_router=4),
]
ALWAYS_ON = {"mean_on": 1e12, "mean_off": 1e-3}


def run(
    network: Network, policy: Policy, duration: float = 3000.0, model: Model | None = None, **options: Any
) -> Record:
    engine = Engine(duration=duration, model=model or Model(), jobs=1)
    return engine.run([compile_policy(policy)], NetworkList([network]), [0], [0], [7], keep_links=True, **options)


def trace(network: _core.Network, policy: Policy, script: list[list[float]], ack_size: float = 0.1) -> dict[str, Any]:
    model = Model(ack_size=ack_size).parts()
    return _core.trace(compile_policy(policy), network, 1, script=script, duration=600.0, model=model)


def laid_out(laid: _core.Layout) -> _core.Network:
    """Senders on a layout that come on once."""
    return _core.Network(
        id=1,
        link_rate=1.0,
        rtt=0.0,
        senders=laid.measured,
        buffer=math.inf,
        loss=0.0,
        workload=("time-switched", 1e12, 100.0),
        layout=laid,
    )


def run_laid(laid: _core.Layout, policy: Policy, duration: float) -> Record:
    listed = NetworkList([replace(NETWORK, senders=laid.measured)])
    listed.compiled = lambda _: [laid_out(laid)]  # type: ignore
    return Engine(duration=duration, jobs=1).run([compile_policy(policy)], listed, [0], [0], [5])


# --- as data


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=str)
def test_the_name_names_it(topology: Topology) -> None:
    assert Topology.of(str(topology)) == topology


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("lin", r"unknown kind 'lin' \(did you mean 'line'\?\)"),
        ("line:hosts=3", "unknown option 'hosts'"),
        ("line:hosts_per_router=0", "hosts_per_router must be a whole number >= 1, got 0"),
        ("reverse-path:reverse_senders=many", "reverse_senders must be a whole number >= 1, got 'many'"),
        ({"kind": "line", "one_way": "maybe"}, "one_way must be true or false, got 'maybe'"),
        (3, "must be a name or a mapping"),
        (["line"], "must be a name or a mapping"),
    ],
)
def test_what_names_none_is_refused(value: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Topology.of(value)


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=str)
@pytest.mark.parametrize("senders", [1, 2, 5])
def test_layouts_hold_together(topology: Topology, senders: int) -> None:
    network = replace(NETWORK, senders=senders)
    laid = layout(network, topology)
    assert laid.measured == senders
    assert [route.measured for route in laid.routes] == sorted((r.measured for r in laid.routes), reverse=True)
    assert len(laid.routes) == topology.senders(senders)
    assert max(len(route.forward) for route in laid.routes) == topology.hops(senders)
    for route in laid.routes:
        way = route.forward + route.backward
        assert all(laid.links[a].head == laid.links[b].tail for a, b in pairwise(way))
        assert laid.links[way[0]].tail == laid.links[way[-1]].head
        if route.measured:
            assert math.isclose(sum(laid.links[link].delay for link in way), network.rtt)


def test_open_flows_need_the_dumbbell() -> None:
    network = open_network(0, 1.0, 10.0, OpenFlows(0.5, FlowSizes("two", (1.0, 2.0), (0.0, 1.0))))
    with pytest.raises(InputError, match="open flows need the dumbbell, not topology line"):
        replace(network, topology=Topology("line"))


def test_senders_must_be_countable() -> None:
    with pytest.raises(InputError, match="more than 65535 senders"):
        replace(NETWORK, senders=40_000, topology=Topology("reverse-path"))


def test_networks_with_a_topology_travel() -> None:
    listed = NetworkList([replace(NETWORK, topology=Topology("line"))])
    assert pickle.loads(pickle.dumps(listed)).networks == listed.networks


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"forward": [[2]]}, "sender 0: its way has a link that is not there"),
        ({"forward": [[]]}, "sender 0: at least one link must lead to its receiver"),
        ({"link_rate": [0.0, 1.0]}, "link 0: rate must be > 0"),
        ({"link_delay": [1.0, -1.0]}, "link 1: delay must be >= 0"),
        ({"link_buffer": [1.0]}, "must have one entry per link"),
        ({"measured": 2}, "at least one sender must be measured"),
    ],
)
def test_impossible_layouts_are_refused(changes: dict[str, Any], message: str) -> None:
    good = {
        "link_rate": [1.0, 1.0],
        "link_delay": [1.0, 1.0],
        "link_buffer": [1.0, 1.0],
        "forward": [[0]],
        "backward": [[1]],
        "measured": 1,
    }
    with pytest.raises(ValueError, match=message):
        _core.Layout(**good | changes)


# --- the same traffic, the same counting


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=str)
def test_measured_senders_come_and_go_alike_everywhere(topology: Topology) -> None:
    plain = run(NETWORK, Aimd(), keep_flows=True)
    found = run(replace(NETWORK, topology=topology), Aimd(), keep_flows=True)
    for name in ("sender_first_on_us", "flow_start_us", "flow_end_us", "flow_sender"):
        np.testing.assert_array_equal(found[name], plain[name], err_msg=name)


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=str)
def test_packets_are_conserved(topology: Topology) -> None:
    """Of flows that ended long ago nothing is under way; what was sent was delivered, lost or dropped."""
    network = replace(NETWORK, switched="bytes", mean_on=60.0, loss=0.05, buffer=8.0, topology=topology)
    batch = run(network, FixedWindow(30), 20_000.0, keep_flows=True)
    done = np.asarray(batch["flow_finished"], dtype=bool) & (batch.floats("flow_end_us") < 18_000)
    sent, fates = batch["flow_sent"], sum(batch[f"flow_{fate}"] for fate in ("delivered", "lost", "dropped"))
    np.testing.assert_array_equal(fates[done], sent[done])
    assert (fates <= sent).all() and done.sum() > 30
    assert not ((fates == batch["flow_length"]) & ~np.asarray(batch["flow_finished"], dtype=bool)).any()
    assert (batch["flow_acks_dropped"] <= batch["flow_delivered"]).all()
    assert batch["sender_lost"].sum() > 10 and batch["sender_dropped"].sum() > 10
    assert batch["trial_hops"][0] == batch["link_accepted"].sum()
    if topology.kind == "line":  # every sender is measured: links drop what flows miss
        dropped = batch["sender_dropped"].sum() + batch["sender_acks_dropped"].sum()
        assert batch["link_dropped"].sum() == dropped


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=str)
def test_totals_are_those_of_the_fullest_link(topology: Topology) -> None:
    batch = run(replace(NETWORK, topology=topology), Aimd())
    fullest = int(np.argmax(batch["link_utilisation"]))
    assert 0 < batch.floats("trial_utilisation")[0] == batch.floats("link_utilisation")[fullest] <= 1
    assert batch.floats("trial_queue_mean_packets")[0] == batch.floats("link_queue_mean_packets")[fullest]
    assert (batch.floats("link_queue_mean_packets") <= NETWORK.buffer).all()


@pytest.mark.parametrize("topology", TOPOLOGIES, ids=str)
def test_stamped_queues_fit_the_buffer(topology: Topology) -> None:
    network = replace(NETWORK, buffer=9.0, loss=0.0, topology=topology)
    found = trace(compile_network(network), FixedWindow(40), [[1.0 + i] for i in range(4)])
    assert found["stamp_queue"].max() <= 9


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    networks = [replace(NETWORK, id=i, senders=1 + i % 5, topology=TOPOLOGIES[i % 7]) for i in range(21)]
    index = np.arange(21)

    def columns(jobs: int) -> dict[str, Any]:
        engine = Engine(duration=900.0, jobs=jobs)
        options = {"keep_flows": True, "keep_delays": True, "keep_links": True}
        found = engine.run([compile_policy(Aimd())], NetworkList(networks), 0 * index, index, index, **options)
        return dict(found.columns)

    one, four = columns(1), columns(4)
    for name in one.keys() - {"rule_hits"}:
        np.testing.assert_array_equal(one[name], four[name], err_msg=name)


def test_unmeasured_senders_show_in_no_count() -> None:
    table = one_rule(("rtt_ratio", "queue"))
    batch = run(replace(NETWORK, topology=Topology("reverse-path")), table, keep_flows=True, keep_delays=True)
    assert len(batch["sender_sent"]) == NETWORK.senders
    assert batch["flow_sender"].max() < NETWORK.senders
    assert batch["trial_sent"][0] == batch["sender_sent"].sum() == batch["flow_sent"].sum()
    heard = batch["sender_delivered"].sum() - batch["sender_acks_dropped"].sum()
    assert batch.rule_hits[0].sum() == heard + batch["sender_flows"].sum()
    assert batch["link_utilisation"][1] > 1.3 * batch["link_utilisation"][0] > 0


# --- timing


@pytest.mark.parametrize("senders", [1, 3, 8])
def test_a_lone_packet_takes_its_services_and_delays(senders: int) -> None:
    network = replace(NETWORK, senders=senders, loss=0.0, topology=Topology("line"))
    found = trace(compile_network(network), FixedWindow(1), [[5.0], *([[]] * (senders - 1))])
    expected = network.rtt + senders * 1.1 / network.link_rate
    np.testing.assert_allclose(found["now_us"] - found["sent_us"], expected, rtol=1e-12)
    batch = run(replace(network, **ALWAYS_ON, senders=senders), FixedWindow(1))
    np.testing.assert_allclose(batch.further_service_us, expected - network.rtt - 1 / network.link_rate)


def test_a_line_with_all_hosts_at_one_router_is_a_dumbbell() -> None:
    line = run(replace(NETWORK, topology=Topology("line", hosts_per_router=4)), Aimd(), model=Model(ack_size=0.0))
    plain = run(NETWORK, Aimd(), model=Model(ack_size=0.0))
    for name in ("sender_sent", "sender_delivered", "sender_lost", "sender_dropped"):
        np.testing.assert_array_equal(line[name], plain[name], err_msg=name)
    np.testing.assert_allclose(line.floats("sender_delay_sum_us"), plain.floats("sender_delay_sum_us"), rtol=1e-9)
    np.testing.assert_array_equal(line.floats("sender_share_us"), plain.floats("sender_share_us"))


def test_a_silent_way_back_is_a_dumbbell() -> None:
    script = [[5.0 + 40 * i] for i in range(4)]
    quiet = replace(NETWORK, loss=0.0, topology=Topology("reverse-path"))
    found, plain = (
        trace(compile_network(each), FixedWindow(20), script, ack_size=0.0)
        for each in (quiet, replace(NETWORK, loss=0.0))
    )
    for name in ("now_us", "sent_us", "one_way_ratio", "rtt_ratio", "stamp_link", "stamp_queue", "sequence"):
        np.testing.assert_allclose(found[name], plain[name], rtol=1e-9, err_msg=name)


def test_acknowledgements_take_time_by_their_size() -> None:
    network = compile_network(replace(NETWORK, senders=1, loss=0.0, topology=Topology("reverse-path")))
    small, large = (trace(network, FixedWindow(1), [[5.0]], ack_size=size) for size in (0.0, 0.5))
    longer = (large["now_us"] - large["sent_us"]).mean() - (small["now_us"] - small["sent_us"]).mean()
    assert math.isclose(longer, 0.5 / NETWORK.link_rate, rel_tol=1e-9)


# --- sharing


def test_a_crossing_flow_takes_half() -> None:
    """One link, one flow along the line and one across it, with equal windows and delays."""
    crossed = Topology("multi-bottleneck")
    network = replace(NETWORK, senders=1, buffer=math.inf, loss=0.0, **ALWAYS_ON, topology=crossed)
    batch = run(network, FixedWindow(100), 20_000.0)
    assert math.isclose(batch.floats("sender_delivered")[0] / 20_000, network.link_rate / 2, rel_tol=0.01)
    assert math.isclose(batch.floats("sender_share_us")[0], 10_000, rel_tol=1e-3)
    assert batch.floats("trial_utilisation")[0] > 0.99


def test_every_link_of_many_bottlenecks_is_one() -> None:
    network = replace(NETWORK, senders=3, buffer=math.inf, loss=0.0, **ALWAYS_ON, topology=Topology("multi-bottleneck"))
    batch = run(network, FixedWindow(150), 20_000.0, Model(ack_size=0.0))
    forward = batch.floats("link_utilisation")[0::2]
    assert len(forward) == 5 and (forward > 0.98).all()
    np.testing.assert_allclose(batch.floats("sender_share_us"), 20_000 / 4, rtol=1e-3)  # three along, one across


def test_the_share_is_by_the_most_crowded_link() -> None:
    """Senders 0 and 1 meet on link 1, senders 1 and 2 on link 2; the way back does not count."""
    forward, duration = [[0, 1], [1, 2], [2]], 2000.0
    laid = _core.Layout([1.0] * 3, [1.0] * 3, [math.inf] * 3, forward, [[], [0], [1, 0]], measured=3)
    batch = run_laid(laid, FixedWindow(1), duration)
    on = batch.floats("sender_first_on_us")
    times = np.sort(np.append(on, duration))
    expected = np.zeros(3)
    for begin, end in pairwise(times):
        crowd = [sum(on[i] <= begin for i in range(3) if link in forward[i]) for link in range(3)]
        for i in range(3):
            if on[i] <= begin:
                expected[i] += (end - begin) / max(crowd[link] for link in forward[i])
    np.testing.assert_allclose(batch.floats("sender_share_us"), expected, rtol=1e-9)
    assert expected.sum() > 1.2 * duration * 0.8


# --- signals along the way


def congested(one_way: bool, reverse: bool) -> dict[str, Any]:
    """A flow at half the rate; four senders on the way back at twice the rate in all, if any."""
    topology = Topology("reverse-path", reverse_senders=4, one_way=one_way)
    network = replace(NETWORK, senders=1, link_rate=1.0, loss=0.0, topology=topology)
    script = [[1.3], *([[3.0 + 0.77 * i] if reverse else [] for i in range(4)])]
    return trace(compile_network(network), FixedRate(0.5), script, ack_size=0.0)


def test_one_way_signals_do_not_see_the_way_back() -> None:
    busy, quiet = congested(one_way=True, reverse=True), congested(one_way=True, reverse=False)
    both = min(len(busy["now_us"]), len(quiet["now_us"]))
    assert both > 50
    np.testing.assert_array_equal(busy["stamp_link"][:both], quiet["stamp_link"][:both])
    np.testing.assert_array_equal(busy["one_way_ratio"][2:both], np.ones(both - 2))
    assert busy["stamp_queue"].max() <= 4  # acknowledgements that wait for a packet's service
    assert busy["rtt_ratio"][-20:].min() > 1.5


def test_two_way_signals_see_the_way_back() -> None:
    busy, quiet = congested(one_way=False, reverse=True), congested(one_way=False, reverse=False)
    assert busy["stamp_queue"][-20:].min() > 20 > quiet["stamp_queue"].max()
    assert busy["stamp_link"][-20:].min() > 0.9 > quiet["stamp_link"][-20:].max()


def test_available_capacity_is_that_of_the_tightest_link() -> None:
    """The faster link is used less in share, but the slower one has less to spare."""
    network = laid_out(_core.Layout([4.0, 1.0], [2.0, 2.0], [math.inf] * 2, [[0, 1]], [[]], 1))
    found = trace(network, FixedRate(0.5), [[1.3]])
    late = slice(40, None)
    np.testing.assert_allclose(found["available_capacity"][late], 1.0 * (1 - found["stamp_link"][late]), rtol=1e-12)
    assert 0.4 < found["stamp_link"][late].mean() < 0.7


def test_one_way_delay_on_the_dumbbell() -> None:
    """All delay but half of the propagation is on the way there."""
    found = trace(compile_network(replace(NETWORK, senders=2, loss=0.0)), FixedWindow(60), [[1.3], [9.1]])
    for sender in range(2):
        mine = found["sender"] == sender
        delay = (found["now_us"] - found["sent_us"])[mine] - NETWORK.rtt / 2
        ratio = delay / np.minimum.accumulate(delay)
        np.testing.assert_allclose(found["one_way_ratio"][mine][1:], ratio[1:], rtol=1e-12)
    assert found["one_way_ratio"].max() > found["rtt_ratio"].max() > 1.2


def test_layouts_of_the_same_shape_are_the_same() -> None:
    laid = layout(NETWORK, Topology())
    assert laid == layout(NETWORK, Topology("line", hosts_per_router=4))
    assert compile_layout(laid).senders == compile_layout(laid).measured == 4
