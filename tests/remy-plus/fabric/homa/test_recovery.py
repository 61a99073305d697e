"""Homa where packets are lost, paused or sprayed: what is sent arrives once, and the same run is the same."""

from itertools import product

import numpy as np
import pytest

from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.topology import FabricTopology

from .homa_support import PAYLOAD, homa, incast, many, messages

LEAF_SPINE = leaf_spine(hosts_per_tor=4, tors=3, spines=2)


def packets(sizes: np.ndarray) -> int:
    return int(np.ceil(sizes / PAYLOAD).sum())


@pytest.mark.parametrize("topology", [star(6), LEAF_SPINE], ids=["star", "leaf-spine"])
@pytest.mark.parametrize("priorities", [None, 1, 2, 4])
def test_without_losses_every_packet_arrives_once(topology: FabricTopology, priorities: int | None) -> None:
    sent = many(topology, 300, seed=3)
    found = homa(priorities=priorities, retransmit_after_us=0).run(topology, sent)
    assert not np.isnan(found["flow_fct_ns"]).any()
    np.testing.assert_array_equal(found["flow_delivered_bytes"], sent.size_bytes)
    to_hosts, from_hosts = found["port_peer"] < topology.hosts, found["port_node"] < topology.hosts
    for ports in (to_hosts, from_hosts):
        assert found["port_data_packets"][ports].sum() == packets(sent.size_bytes)
    assert found["port_drops"].sum() == 0 == found["retransmitted_packets"]


@pytest.mark.parametrize(("seed", "at_ack"), [*product(range(3), (False, True))])
def test_what_a_lossy_fabric_drops_is_asked_for(seed: int, at_ack: bool) -> None:
    sent = many(LEAF_SPINE, 200, seed, over_ns=3e4)
    lossy = homa(lossless=False, buffer_bytes=30e3, alpha=0.5, fct_at_ack=at_ack, retransmit_after_us=100)
    found = lossy.run(LEAF_SPINE, sent, horizon_ns=1e9)
    assert found["port_drops"].sum() > 50 and found["retransmitted_packets"] > 50
    assert not np.isnan(found["flow_fct_ns"]).any()
    np.testing.assert_array_equal(found["flow_delivered_bytes"], sent.size_bytes)
    arrived = found["port_data_packets"][found["port_peer"] < LEAF_SPINE.hosts].sum()
    assert arrived >= packets(sent.size_bytes)


def test_without_resends_losses_stay() -> None:
    sent = many(LEAF_SPINE, 200, 1, over_ns=3e4)
    lossy = homa(lossless=False, buffer_bytes=30e3, alpha=0.5, retransmit_after_us=0)
    found = lossy.run(LEAF_SPINE, sent, horizon_ns=1e9)
    ended = ~np.isnan(found["flow_fct_ns"])
    assert 0 < ended.sum() < len(sent)
    np.testing.assert_array_equal(found["flow_delivered_bytes"] == sent.size_bytes, ended)


@pytest.mark.parametrize("retransmit_after_us", [100.0, 1000.0])
def test_a_message_of_which_nothing_came_is_asked_about(retransmit_after_us: float) -> None:
    """Forty messages of a packet meet at a buffer for few: those that are dropped come a timeout later."""
    lossy = homa(lossless=False, buffer_bytes=8000, alpha=1, retransmit_after_us=retransmit_after_us)
    found = lossy.run(star(41), incast(*[PAYLOAD] * 40), horizon_ns=1e9)
    late = found["flow_fct_ns"] > retransmit_after_us * 1000
    assert found["port_drops"].sum() > 20 and late.sum() > 10
    assert not np.isnan(found["flow_fct_ns"]).any()
    assert found["flow_fct_ns"][~late].max() < 20_000


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_with_pfc_whatever_the_load(seed: int) -> None:
    sent = many(LEAF_SPINE, 300, seed, mean=100e3, over_ns=3e4)
    found = homa(buffer_bytes=[20e3, 60e3, 200e3][seed], retransmit_after_us=0).run(LEAF_SPINE, sent)
    assert found["port_drops"].sum() == 0
    assert found["port_pauses_sent"].sum() == found["port_pauses_received"].sum() > 0
    np.testing.assert_array_equal(found["flow_delivered_bytes"], sent.size_bytes)
    assert not np.isnan(found["flow_fct_ns"]).any()


def test_packets_of_a_message_share_the_spines() -> None:
    found = homa().run(LEAF_SPINE, messages((0, 4, 4_000_000, 0)))
    spine = found["port_node"] >= LEAF_SPINE.hosts + 3
    carried = found["port_data_packets"][spine & (found["port_data_packets"] > 0)]
    assert len(carried) == 2 and carried.sum() == 4000
    assert carried.min() > 0.4 * 4000
    one_way = homa(spraying="flow").run(LEAF_SPINE, messages((0, 4, 4_000_000, 0)))
    assert (one_way["port_data_packets"][spine] > 0).sum() == 1


def test_a_run_is_the_same_again_and_another_seed_is_not() -> None:
    sent = many(LEAF_SPINE, 200, 2)
    first, again, other = (homa().run(LEAF_SPINE, sent, seed=seed) for seed in (1, 1, 2))
    for name, values in first.items():
        np.testing.assert_array_equal(values, again[name], err_msg=name)
    assert (first["flow_fct_ns"] != other["flow_fct_ns"]).any()
