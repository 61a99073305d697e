"""RCP, XCP and the explicit fair rate against their fixed points: flows that are always on share the link alike."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.core.stamping import raw_stamping
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.explicit import FairShare, Rcp, Xcp
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.policies.policy import FixedRate, Policy, WithHeader, compile_policy
from lcca.remy_plus.policies.rules import one_rule
from lcca.remy_plus.record import Record
from lcca.remy_plus.topology import Topology

RATE, RTT = 3.0, 25.0
FLOWS = (1, 2, 5, 16)


def network(senders: int, topology: str = "dumbbell") -> Network:
    """Senders that come on within some 200 µs and stay."""
    return Network(0, RATE, RTT, senders, math.inf, 1e15, 50.0, 0.0, topology=Topology(topology))


def run(policy: Policy, where: Network, duration: float) -> Record:
    nothing = np.zeros(1)
    return Engine(duration, jobs=1).run([compile_policy(policy)], NetworkList([where]), nothing, nothing, nothing)


def late(policy: Policy, where: Network, duration: float) -> tuple[np.ndarray, float]:
    """Each sender's rate and the mean delay in the second half: two trials agree in what the first half held."""
    whole, half = run(policy, where, duration), run(policy, where, duration / 2)
    names = ("sender_delivered", "sender_delay_sum_us")
    packets, delays = (whole.floats(name) - half.floats(name) for name in names)
    return packets / (duration / 2), float(delays.sum() / packets.sum())


def trace(policy: Policy, where: Network, duration: float) -> dict[str, np.ndarray]:
    compiled = compile_policy(policy), compile_network(where)
    return _core.trace(*compiled, 0, duration=duration, model=Model().parts(), script=[])


@pytest.mark.parametrize("senders", FLOWS)
def test_rcp_comes_to_a_share_of_the_target_and_no_queue(senders: int) -> None:
    """Its fixed point: y = ηC and q = 0, so R = ηC / N."""
    rates, delay = late(Rcp(target=0.9), network(senders), 6000.0)
    np.testing.assert_allclose(rates, 0.9 * RATE / senders, rtol=0.03)
    assert delay < RTT + (1 + 0.5 * senders) / RATE  # packets of all may come at once
    assert trace(Rcp(target=0.9), network(senders), 6000.0)["fair_rate"][-1] == pytest.approx(
        0.9 * RATE / senders, rel=0.05
    )


def test_rcp_drains_the_queue_that_its_flows_left_as_they_came() -> None:
    """At a target of the whole capacity the queue of the beginning stays, unless its own gain drains it."""
    delays = [late(Rcp(target=1.0, beta=beta), network(8), 4000.0)[1] for beta in (0.0, 1.0)]
    assert delays[0] > RTT + 10 / RATE
    assert delays[1] < RTT + 6 / RATE


def test_rcp_grants_all_while_one_flow_takes_less_than_its_share() -> None:
    idle = WithHeader(FixedRate(0.5), raw_of("fair_rate"))
    assert trace(idle, network(1), 1000.0)["fair_rate"][-1] == pytest.approx(RATE)


def test_rcp_falls_under_overload_as_its_equation_says() -> None:
    """Updates each µs, a mean RTT that stays 25 µs: R' = R · (1 + T/d · α (ηC − y) / ηC) with y = 2C, β = 0."""
    policy = Rcp(alpha=0.4, beta=0.0, target=1.0, interval=5.0)
    told = policy.equipped(raw_of("fair_rate"))
    overload = WithHeader(FixedRate(2 * RATE), told)
    rows = trace(overload, network(1), 400.0)
    sent = rows["now_us"] - rows["sent_us"]
    assert sent[0] < 27  # the first packets meet no queue
    steps = np.unique(rows["fair_rate"])[::-1]
    steps = steps[(steps < RATE) & (steps > 0.05 * RATE)]
    ratios = steps[1:] / steps[:-1]
    rtt = 1 - ratios  # T/d · α: the mean RTT that it takes grows with the queue
    assert len(steps) > 5
    assert rtt.max() < 0.4 * 5 / RTT * 1.1 and (np.diff(rtt) < 0.01).all()


def raw_of(*signals: str):
    found = raw_stamping(signals)
    assert found is not None
    return found


@pytest.mark.parametrize("senders", FLOWS)
def test_xcp_comes_to_fair_windows_and_a_full_link(senders: int) -> None:
    rates, delay = late(Xcp(), network(senders), 12_000.0)
    assert rates.sum() > 0.95 * RATE
    np.testing.assert_allclose(rates, RATE / senders, rtol=0.15)
    assert delay < RTT + 1 / RATE + (2 + senders / 2) / RATE


def test_xcp_is_fair_by_its_shuffling_alone() -> None:
    """Two flows, the second when the first has the link: without shuffling the first keeps what it has."""
    spread = []
    for shuffle in (0.0, 0.1):
        rates, _ = late(Xcp(shuffle=shuffle), replace(network(2), mean_off=2000.0), 20_000.0)
        spread.append(rates.max() / rates.min())
    assert spread[1] < 1.1 < spread[0]


@pytest.mark.parametrize("senders", FLOWS)
@pytest.mark.parametrize("share", [0.8, 0.97])
def test_an_explicit_fair_rate_is_the_share(senders: int, share: float) -> None:
    rates, _ = late(FairShare(share=share), network(senders), 3000.0)
    np.testing.assert_allclose(rates, share * RATE / senders, rtol=0.01)


def test_a_rule_table_paced_by_the_fair_rate_is_rcp_s_sender() -> None:
    """Same gaps, once the window is wide open."""
    table = replace(one_rule(("fair_rate",), "1/fair_rate"), pacing=np.ones(1), increment=np.full(1, 8.0))
    assert table.seen == ("fair_rate",)
    mine, theirs = (late(policy, network(4), 6000.0)[0] for policy in (table, Rcp()))
    np.testing.assert_allclose(mine, theirs, rtol=0.02)


def test_a_rule_table_paced_by_flows_over_capacity_is_the_fair_share() -> None:
    table = replace(one_rule(("rtt_ratio",), "flows/capacity"), pacing=np.full(1, 1 / 0.9), increment=np.full(1, 8.0))
    assert table.seen == ("rtt_ratio", "flows", "capacity")
    rates, _ = late(table, network(5), 3000.0)
    np.testing.assert_allclose(rates, 0.9 * RATE / 5, rtol=0.01)


def test_signals_of_a_path_are_those_of_its_bottleneck() -> None:
    """The line's links have equal rates, and its hops two senders each; capacity is told exactly."""
    line = network(4, "line")
    rows = trace(one_rule(("capacity", "fair_rate", "xcp_feedback")), line, 800.0)
    seen = rows["capacity"][rows["capacity"] > 0]
    np.testing.assert_allclose(seen, RATE, rtol=1e-12)
    assert rows["fair_rate"].max() <= RATE * (1 + 1e-12) and rows["xcp_feedback"].max() > 0


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("rcp:alfa=1", r"'alfa=1': write 'rcp:alpha=0.4,beta=1'; rcp has alpha, beta, target, interval, initial_rate"),
        ("rcp:alpha", r"'alpha': write"),
        ("rcp:alpha=1,alpha=2", "alpha: given twice"),
        ("rcp:alpha=x", "alpha: must be a number"),
        ("xcp:shuffle=2", "shuffle: must be a number from 0 to 1"),
        ("fair-rate:share=0", "share: must be a number from 0.01 to 2"),
    ],
)
def test_bad_parameters_are_told(name: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        baseline(name)


def test_a_header_that_does_not_carry_the_rate_is_refused() -> None:
    with pytest.raises(InputError, match="header none does not carry the signal fair_rate"):
        WithHeader(Rcp(), raw_of("flows"))
