"""Hosts of two transports on one fabric, and switches that do not write into packets."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.trials import FabricTrial, run_fabric_trials
from lcca.inputs.errors import InputError
from lcca.remy_plus.core.shares import chosen
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.fabric.settings import Deployment, FabricSettings
from lcca.remy_plus.policies.explicit import FairShare, Xcp
from lcca.remy_plus.policies.fabric_law import FabricLaw
from lcca.remy_plus.policies.policy import Aimd, FixedWindow, Mixture, Policy, with_header
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping
from lcca.signal_sets.load import resolve

LEAF_SPINE = {"kind": "leaf-spine", "tors": 2, "hosts_per_tor": 3, "spines": 2}
POISSON = {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.5, "load_of": "host-links"}
POLICIES: dict[str, Policy] = {
    "none": Transport("dctcp"),
    "sent time": Transport("timely"),
    "stacks": Transport("hpcc"),
    "own": Aimd(),
    "header": with_header(FairShare(), stamping(header("fair-share"))),
    "other header": with_header(Xcp(), stamping(header("xcp"))),
}
"""By what packets carry."""


def run(policy: Policy, seed: int = 4, **changes: object) -> FabricTrial:
    content = {"name": "small", "topology": LEAF_SPINE, "workload": POISSON, "duration_us": 60, "mtu_bytes": 1600}
    scenario = FabricScenario.model_validate(content | changes)
    (trial,) = run_fabric_trials(scenario, {"it": engine_of(policy, scenario.settings())}, [seed])
    return trial


def differences(a: FabricTrial, b: FabricTrial) -> Iterator[str]:
    yield from (
        name for name in a.record if np.asarray(a.record[name]).tobytes() != np.asarray(b.record[name]).tobytes()
    )


@pytest.mark.parametrize("mark_at", ["dequeue", "enqueue"])
@pytest.mark.parametrize("name", POLICIES)
def test_nobody_everybody_and_its_like_are_a_transport_alone_bit_for_bit(name: str, mark_at: str) -> None:
    policy, how = POLICIES[name], {"switch": {"mark_at": mark_at, "marker": {"kind": "red"}}}
    other = POLICIES["stacks" if name != "stacks" else "own"]
    alone = run(policy, **how)
    assert not list(differences(run(Mixture(policy, policy, 0.5), **how), alone))
    assert not list(differences(run(Mixture(policy, other, 1), **how), alone))
    assert not list(differences(run(Mixture(other, policy, 0), **how), alone))


def test_what_hosts_know_reaches_laws_in_mixtures() -> None:
    law = FabricLaw.of({}, inputs={"trims": (-2.0, -1.0, 0.5), "marked_ways": (-1.0, -0.5, 0.1)})
    switch = {"queue_bdps": 0.3, "trim_bytes": 64, "marker": {"kind": "step", "k_bytes": 3000}}
    incast = {"kind": "incast", "senders": 5, "bytes": 200_000, "period_us": 60}
    how = {"spraying": "oblivious", "switch": switch, "workload": incast}
    alone = run(law, **how)
    assert list(differences(alone, run(FabricLaw.of({}), **how)))
    assert not list(differences(run(Mixture(law, law, 0.5), **how), alone))
    assert not list(differences(run(Mixture(law, Aimd(), 1), **how), alone))


def test_what_transports_bring_reaches_mixtures() -> None:
    power = Transport("powertcp")
    assert not list(differences(run(Mixture(power, power, 0.5)), run(power)))


@pytest.mark.parametrize(("a", "b"), list(combinations(POLICIES, 2)))
def test_flows_of_both_end_and_none_is_faster_than_alone(a: str, b: str) -> None:
    trial = run(Mixture(POLICIES[a], POLICIES[b], 0.5))
    fct = trial.record["flow_fct_ns"]
    assert np.isfinite(fct).all() and (fct * (1 + 1e-9) >= trial.record["flow_ideal_ns"]).all()
    assert (trial.record["flow_delivered_bytes"] == trial.flows.size_bytes).all()


def test_windows_share_a_port_in_proportion_to_them() -> None:
    star = {"topology": {"kind": "star", "hosts": 3}, "duration_us": 2000, "drain_us": 0}
    incast = {"workload": {"kind": "incast", "senders": 2, "bytes": 10**9, "period_us": 10_000_000}}
    mixture = Mixture(FixedWindow(150), FixedWindow(50), 0.5)
    for seed in range(20):
        trial = run(mixture, seed, **star, **incast)
        adopts = chosen(seed, 0, "adoption", 0, 3, 0.5)[trial.flows.src]
        if adopts.sum() == 1:
            break
    delivered = trial.record["flow_delivered_bytes"]
    assert delivered[adopts][0] / delivered[~adopts][0] == pytest.approx(3, rel=0.02)


def test_bytes_of_a_header_are_paid_by_the_flows_that_have_it() -> None:
    """What the first links carry beyond payload and overhead: the header of the adopters' packets alone."""
    policy = POLICIES["header"]
    telemetry = [engine_of(each, FabricSettings()).telemetry_bytes for each in (policy, Aimd())]
    trial = run(Mixture(policy, Aimd(), 0.5), duration_us=40)
    adopts = chosen(4, 0, "adoption", 0, trial.hosts, 0.5)
    record = trial.record
    nodes = record["port_node"]
    for host in range(trial.hosts):
        own = trial.flows.src == host
        packets = np.ceil(trial.flows.size_bytes[own] / 1000).sum()
        at = nodes == host
        if record["port_data_packets"][at].sum() != packets:
            continue  # something was sent again
        more = record["port_data_bytes"][at].sum() - trial.flows.size_bytes[own].sum() - 48 * packets
        assert more <= telemetry[0 if adopts[host] else 1] * packets
        assert (more > telemetry[1] * packets) == (adopts[host] and packets > 0)


def test_a_deployment_names_switches() -> None:
    fabric = FabricScenario.model_validate(
        {"name": "x", "topology": LEAF_SPINE | {"tors": 4, "spines": 3}, "workload": POISSON, "duration_us": 1}
    ).fabric
    tors, spines = list(range(12, 16)), list(range(16, 19))
    assert Deployment().silent(fabric, 1) == []
    assert Deployment("tor").silent(fabric, 1) == spines and Deployment("spine").silent(fabric, 1) == tors
    halves = [Deployment("random", 0.5).silent(fabric, seed) for seed in range(300)]
    assert {len(each) for each in halves} == {3, 4} and len({tuple(each) for each in halves}) > 30
    some = [Deployment("tor", 0.25).silent(fabric, seed) for seed in range(60)]
    assert all(len(each) == 6 and set(spines) < set(each) for each in some)


def test_who_does_not_look_sees_no_difference_and_marks_are_everywhere() -> None:
    for policy in (Aimd(), Transport("dcqcn"), Transport("dctcp")):
        marker = {"switch": {"marker": {"kind": "step", "k_bytes": 5000}}}
        everywhere, nowhere = (run(policy, stamping=each, **marker) for each in (None, {"switches": "tor", "share": 0}))
        assert not list(differences(everywhere, nowhere))
    assert everywhere.record["port_marked_packets"].sum() > 0


@pytest.mark.parametrize("name", ["stacks", "header"])
def test_on_a_star_top_of_rack_switches_are_all_and_spines_none(name: str) -> None:
    star = {"topology": {"kind": "star", "hosts": 4}}
    alone = run(POLICIES[name], **star)
    assert not list(differences(run(POLICIES[name], stamping={"switches": "tor"}, **star), alone))
    assert list(differences(run(POLICIES[name], stamping={"switches": "spine"}, **star), alone))


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("homa", "dctcp", "need other fabrics than each other"),
        ("rcp", "dctcp", "run side by side whose hosts and switches are of one kind"),
        ("max-min", "dctcp", "neither ideals nor tuners"),
        ("dctcp@red", "dctcp@pred", "need other markers than each other"),
    ],
)
def test_what_does_not_go_together_is_refused(a: str, b: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        resolve(f"mix:0.5({a}|{b})", "fabric")


def test_a_trial_of_some_hosts_counts_their_flows() -> None:
    whole = run(Aimd())
    parts = [
        FabricTrial("it", 4, whole.hosts, whole.flows, whole.record, hosts_of=np.arange(6) % 2 == odd) for odd in (0, 1)
    ]
    slowdowns = [each.times.slowdown for each in (*parts, whole)]
    assert sorted(np.concatenate(slowdowns[:2])) == sorted(slowdowns[2])
