"""Headers in ns-3: the engine's hops in ns-3's wires, with the bytes in its packets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.gym_envs.ns3.simulator import Ns3
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.explicit import FairShare, Rcp, Xcp
from lcca.remy_plus.policies.policy import FixedWindow, WithHeader
from lcca.remy_plus.policies.rules import bisect, one_rule
from lcca.remy_plus.topology import Topology
from lcca.signal_sets.headers.header import Header, header, packaged_headers
from lcca.signal_sets.headers.simulated import stamping

pytestmark = pytest.mark.usefixtures("ns3")

BYTES = 590  # of ns-3's packets, in both simulators here
NETWORKS = [Network(i, rate, 25.0, 3, 150.0, 4000.0, 600.0, 0.0) for i, rate in enumerate((2.0, 3.0, 4.0))]
LINES = [replace(network, topology=Topology("line")) for network in NETWORKS]
CUTS = {"link": 0.9, "queue": 8.0, "hop_delay": 3.4, "queue_time": 3.4, "available_capacity": 0.4, "mark": 0.2,
        "load": 1.1}  # fmt: skip
FINE = {"bits": 32, "encode": {"kind": "linear", "step": "2^-20"}}
TOLD = """
class Told:
    signals = ("flows",)

    def start(self):
        return 120, 0

    def on_ack(self, ack):
        with open({!r}, "a") as log:
            print(ack.now, ack.flows, file=log)
        return 120, 0
"""
SIMULATED = [name for name in packaged_headers() if name not in ("bolt", "none", "rank")]  # that one is for fabrics


def steering(signal):
    """Towards a window of 40 while the signal says that there is room, of 10 where it does not."""
    cut = bisect(one_rule((signal,)), 0, np.array([CUTS[signal]]))
    room = np.array([1.0, 0.0]) if signal != "available_capacity" else np.array([0.0, 1.0])
    return replace(cut, increment=1 + 3 * room, multiple=np.full(2, 0.9), pacing=np.full(2, 0.3))


def driven(made):
    """By the first signal that there is a rule for; RCP and XCP by their own senders."""
    own = {"fair_rate": Rcp(), "xcp_feedback": Xcp(), "flows": FairShare()}
    signal = next(name for name in made.signals if name in CUTS or name in own)
    return own.get(signal) or steering(signal)


def delivered(simulator, policies, networks):
    index, where = np.repeat(np.arange(len(policies)), len(networks)), np.tile(np.arange(len(networks)), len(policies))
    compiled = [simulator.compile(policy) for policy in policies]
    batch = simulator.run(compiled, NetworkList(networks), index, where, np.full(len(index), 3))
    errors = [error for error in batch.columns.get("trial_error", ()) if error]
    assert not errors
    shape = len(policies), len(networks)
    return batch.floats("trial_delivered").reshape(shape), batch.floats("trial_queue_mean_packets").reshape(shape)


def check(names, networks):
    policies = [WithHeader(driven(made), made) for name in names for made in [stamping(header(name)).on_packets(BYTES)]]
    fast, fast_queue = delivered(Engine(10_000.0, jobs=1), policies, networks)
    real, real_queue = delivered(Ns3(10_000.0, jobs=2), policies, networks)
    for name, a, b, c, d in zip(names, fast, real, fast_queue, real_queue, strict=True):
        assert b.sum() == pytest.approx(a.sum(), rel=0.04), name  # cycles at the edge of a coarse bucket differ most
        assert d.mean() == pytest.approx(c.mean(), abs=max(1.0, 0.1 * c.mean())), name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "names"),
    [
        (NETWORKS[1], ["ecn", "csig-compact-abw", "nosignal-8b", "xcp"]),
        (LINES[0], ["csig-compact-delay", "hpcc", "rcp-16"]),
    ],
    ids=["dumbbell", "line"],
)
def test_policies_with_headers_do_the_same_in_both(network, names):
    check(names, [network])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "keys"),
    [
        ({"window": "aged", "interval_us": 50, "memory_bits": 8}, {}),
        ({"refresh_us": 200, "delay_us": 100, "bias": 0.5, "noise": 0.3}, {"stamp_loss": 0.5}),
    ],
    ids=["map", "late"],
)
def test_imperfect_counts_are_as_far_off_in_both(measure, keys):
    """Two senders divide the link by what their headers say: what they leave idle is the count's error."""
    whole = header("fair-share").model_dump(mode="json") | keys
    flows = whole["fields"][1]
    flows["measure"] |= measure
    flows["encode"] = {"kind": "linear", "step": 0.0625}
    policies = [WithHeader(FairShare(), stamping(made).on_packets(BYTES))
                for made in (header("fair-share"), Header.model_validate(whole))]  # fmt: skip
    networks = [replace(network, senders=2) for network in NETWORKS]
    fast, _ = delivered(Engine(10_000.0, jobs=1), policies, networks)
    real, _ = delivered(Ns3(10_000.0, jobs=1), policies, networks)
    np.testing.assert_allclose(real.sum(axis=1), fast.sum(axis=1), rtol=0.02)
    np.testing.assert_allclose(real, fast, rtol=0.08)  # one network's errors are of 50 readings
    assert np.abs(fast[1] / fast[0] - 1).max() > 0.05


def counting(keys, **flows):
    """Return `fair-share` on ns-3's packets, with keys of a header and of its field `flows`."""
    whole = header("fair-share").model_dump(mode="json") | keys
    whole["fields"][1] |= flows
    return stamping(Header.model_validate(whole)).on_packets(BYTES)


def test_sampled_headers_tell_and_cost_in_a_share_of_the_packets(tmp_path):
    """A lone flow fills its link: packets with an estimate of their own, and those that take longer, are the same."""
    keys = {"select": {"kind": "sample", "prob": 0.25}, "placement": {"layer": "l3", "fixed_bits": 896}}
    used = counting(keys, **FINE, measure={"shift": 5, "shift_noise": 1})
    assert used.sent_bytes == (BYTES / 5,)  # times in ns-3 are whole ns
    file, log = tmp_path / "told.py", tmp_path / "log"
    file.write_text(TOLD.format(str(log)))
    policy = WithHeader(load(f"{file}:Told").policy, used)
    log.write_text("")  # it was rehearsed
    delivered(Ns3(3_000.0, jobs=1), [policy], [replace(NETWORKS[0], senders=1, mean_on=1e6, mean_off=1.0)])
    now, flows = np.loadtxt(log)[1000:].T
    of, own = len(now) - 1, (np.diff(flows) != 0).sum()
    assert abs(own - 0.25 * of) < 4 * np.sqrt(of * 0.25 * 0.75)
    assert ((now[-1] - now[0]) * 2 - of) * 5 == pytest.approx(own, abs=2)


@pytest.mark.slow
def test_counts_saturate_at_the_largest_code_and_at_a_full_map():
    """24 senders divide a fifth of the link by what they are told: 24, 7 of 3 bits, and m ln m of a full map."""
    crowd = replace(NETWORKS[1], senders=24, mean_on=1e9, mean_off=1.0)
    few = {"window": "aged", "interval_us": 300, "memory_bits": 4}
    used = [counting({}), counting({}, bits=3), counting({}, **FINE, measure=few)]
    policies = [WithHeader(FairShare(share=0.2), each) for each in used]
    early, later = (delivered(Ns3(duration, jobs=1), policies, [crowd])[0][:, 0] for duration in (500.0, 1_500.0))
    np.testing.assert_allclose(later - early, 0.2 * 3 * 1_000 * 24 / np.array([24, 7, 4 * np.log(4)]), rtol=0.005)


@pytest.mark.full
@pytest.mark.parametrize("networks", [NETWORKS, LINES], ids=["dumbbell", "line"])
def test_all_headers_do_the_same_in_both(networks):
    check(SIMULATED, networks)


@pytest.mark.slow
def test_bytes_are_in_the_packets():
    """A full link carries packets at the rate that headers leave; an ACK of the line carries them too."""
    lone = replace(NETWORKS[1], senders=1, mean_on=1e6, mean_off=1.0)
    policies = [
        FixedWindow(120),
        *(WithHeader(FixedWindow(120), stamping(header(n))) for n in ("hpcc", "int-md", "ecn")),
    ]
    found, _ = delivered(Ns3(5_000.0, jobs=1), policies, [lone])
    slower = [1, 1 + 42 / BYTES, 1 + 32 / BYTES, 1]
    np.testing.assert_allclose(found[:, 0] / found[0, 0], 1 / np.array(slower), rtol=0.002)
    free, _ = delivered(Ns3(5_000.0, jobs=1, options=Ns3Options(header_bytes=0)), policies[:2], [lone])
    np.testing.assert_array_equal(free[:, 0], free[0, 0])
    with pytest.raises(InputError, match="header_bytes: header hpcc says what it costs"):
        Ns3(options=Ns3Options(header_bytes=8)).compile(policies[1])


@pytest.mark.slow
def test_free_32_bits_are_ns3s_own_signals():
    cut = bisect(one_rule(("link", "queue")), 0, np.array([0.875, 5.0]))
    table = replace(cut, increment=np.arange(1.0, 5.0), multiple=np.linspace(1, 0.5, 4), pacing=np.full(4, 0.3))
    free = WithHeader(table, stamping(header("nosignal-8b")))
    found, queue = delivered(
        Ns3(5_000.0, jobs=1, options=Ns3Options(header_bytes=0)), [table, free], [NETWORKS[1], LINES[0]]
    )
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(queue[0], queue[1])


@pytest.mark.slow
def test_signals_without_a_header_come_in_ns3_too():
    policies = [steering("hop_delay"), steering("queue_time"), steering("mark")]
    fast, _ = delivered(Engine(10_000.0, jobs=1), policies, NETWORKS[:1])
    real, _ = delivered(Ns3(10_000.0, jobs=1, options=Ns3Options(header_bytes=0)), policies, NETWORKS[:1])
    np.testing.assert_allclose(real.sum(axis=1), fast.sum(axis=1), rtol=0.03)


def test_formulas_are_refused():
    table = one_rule(("rtt_ratio", "own = queue * rtt_ratio"))
    for policy in (table, WithHeader(table, stamping(header("nosignal-8b")))):
        with pytest.raises(InputError, match="signals: own: ns-3 has no signals that are formulas; the engine has"):
            Ns3(jobs=1).compile(policy)
