"""Topologies of network spaces, of lists of networks, and of what is measured on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from lcca.evaluation.scenarios.networks import ListedNetworks, NetworkSpace
from lcca.evaluation.trials.outcome import flow_times
from lcca.evaluation.trials.running import run_record, run_trials
from lcca.evaluation.trials.throughput_delay import sender_totals
from lcca.evaluation.trials.utilities import utility
from lcca.experiments.places import space_of
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import Aimd, FixedWindow, compile_policy
from lcca.remy_plus.record import Record
from lcca.remy_plus.topology import KINDS, Topology

PLAIN: dict[str, Any] = {
    "link_rate": 3, "rtt": 20, "senders": 2, "buffer": 100, "mean_on": 1000, "mean_off": 500,
    "loss": 0, "duration": 1000,
}  # fmt: skip
NETWORK = Network(0, 3.0, 24.0, 4, 50.0, 400.0, 200.0, 0.01)


def networks_of(path: Path) -> list[Network]:
    """Return the networks of a list in a file."""
    listed = space_of(path)
    assert isinstance(listed, ListedNetworks)
    return listed.draw(0, listed.length)


@pytest.mark.parametrize("said", ["line:hosts_per_router=2", {"kind": "line", "hosts_per_router": 2}])
def test_a_space_gives_its_topology_to_every_network(said: object) -> None:
    space = NetworkSpace.model_validate(PLAIN | {"topology": said})
    assert {network.topology for network in space.draw(1, 5)} == {Topology("line", hosts_per_router=2)}
    assert space.model_dump(mode="json")["topology"] == "line:hosts_per_router=2"
    assert NetworkSpace.model_validate(space.model_dump(mode="json")) == space
    plain = NetworkSpace.model_validate(PLAIN)
    assert [replace(network, topology=Topology()) for network in space.draw(1, 5)] == plain.draw(1, 5)


def test_the_plain_dumbbell_is_not_said() -> None:
    """The hash of a campaign is one of this content: campaigns from before topologies keep theirs."""
    for said in ({}, {"topology": "dumbbell"}):
        assert "topology" not in NetworkSpace.model_validate(PLAIN | said).model_dump(mode="json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topology": "lin"}, "unknown kind 'lin'"),
        ({"topology": {"kind": "line", "host": 2}}, "unknown option 'host'"),
        ({"topology": "line", "senders": 60, "duration": 40}, r"duration must exceed rtt \+ 60/link_rate \(40 µs"),
    ],
)
def test_impossible_topologies_are_told(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        NetworkSpace.model_validate(PLAIN | changes)


def test_networks_of_a_list_may_have_one_each(tmp_path: Path) -> None:
    common = "link_rate: 3, rtt: 27, senders: 6, buffer: 225, mean_on: 4500, mean_off: 900, loss: 0.001"
    path = tmp_path / "networks.yaml"
    path.write_text(
        f"- {{{common}}}\n- {{{common}, topology: line}}\n- {{{common}, topology: {{kind: reverse-path}}}}\n"
    )
    assert [str(network.topology) for network in networks_of(path)] == ["dumbbell", "line", "reverse-path"]
    path.write_text(f"- {{{common}}}\n- {{{common}, topology: ring}}\n")
    with pytest.raises(InputError, match=r"networks.yaml:2: 1.topology: unknown kind 'ring'"):
        networks_of(path)


def test_one_policy_runs_on_all() -> None:
    networks = [replace(NETWORK, id=i, topology=Topology(kind)) for i, kind in enumerate(KINDS)]
    trials = run_trials(Engine(2000.0, jobs=1), {"aimd": Aimd()}, networks, [1, 2, 3], utility("default"))
    assert (trials["status"] == "ok").all() and trials["score_bits"].notna().all()
    assert trials["topology"].tolist() == [kind for kind in KINDS for _ in range(3)]


def test_further_hops_make_it_no_better() -> None:
    def score(kind: str) -> float:
        network = replace(NETWORK, topology=Topology.of(kind))
        trials = run_trials(Engine(3000.0, jobs=1), {"a": Aimd()}, [network], range(10), utility("default"))
        return float(trials["score_bits"].mean())

    assert score("dumbbell") > score("line") > score("multi-bottleneck")


def test_ideal_completion_counts_every_hop() -> None:
    """A flow alone on a line takes what is called ideal, however many routers there are."""
    network = replace(
        NETWORK,
        senders=3,
        buffer=1e6,
        switched="bytes",
        mean_on=40.0,
        mean_off=4000.0,
        loss=0.0,
        topology=Topology("line"),
    )
    policies = {"burst": FixedWindow(10_000)}
    times = flow_times(run_record(Engine(50_000.0, jobs=1), policies, [network], [1], keep_flows=True)[0])
    slowdown = (times.taken / times.ideal)[times.finished]
    assert len(slowdown) > 20 and slowdown.min() > 1 - 1e-9
    np.testing.assert_allclose(np.median(slowdown), 1, rtol=1e-9)


def test_packets_whose_acknowledgement_was_dropped_count_with_the_mean_delay_of_others() -> None:
    listed = NetworkList([NETWORK])
    columns = {
        "sender_begin": np.array([0, 4]),
        "sender_delivered": np.array([10, 4, 5, 0]),
        "sender_acks_dropped": np.array([0, 1, 5, 0]),
        "sender_delay_sum_us": np.array([300.0, 90.0, 0.0, 0.0]),
        "sender_share_us": np.ones(4),
        "sender_first_on_us": np.ones(4),
    }
    totals = sender_totals(Record(columns, listed, np.zeros(1, dtype=np.uint32), 1000.0))
    assert totals.delivered.tolist() == [10, 4, 0, 0]
    assert totals.delay_sum_us.tolist() == [300.0, 120.0, 0.0, 0.0]


def test_acknowledgements_are_dropped_where_both_ways_are_full() -> None:
    network = replace(NETWORK, buffer=5.0, topology=Topology("reverse-path"))
    batch = Engine(3000.0, jobs=1).run([compile_policy(FixedWindow(30))], NetworkList([network]), [0], [0], [1])
    assert batch["sender_acks_dropped"].sum() > 0
