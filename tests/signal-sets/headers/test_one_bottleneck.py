"""Headers kept beside one bottleneck's port: bit for bit what the engine of many links says of the same link."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.network import Network, NetworkList, compile_network, compile_workload
from lcca.remy_plus.policies.explicit import Rcp
from lcca.remy_plus.policies.policy import FixedRate, Policy, WithHeader, compile_policy
from lcca.remy_plus.policies.rules import bisect, one_rule
from lcca.signal_sets.headers.header import Header, header, packaged_headers
from lcca.signal_sets.headers.simulated import header_signals, stamping

SIMULATED = [name for name in packaged_headers() if name not in ("bolt", "rank", "none")]  # that are for networks
QUEUE = {"name": "q", "source": "qlen_bytes", "bits": 24, "agg": "max"}
FLOWS = {"name": "f", "source": "flows", "bits": 16, "agg": "max"}
OTHERS: dict[str, dict] = {
    "nothing alike": {"select": {"kind": "sample", "prob": 0.4}},
    "lost": {"stamp_loss": 0.3},
    "rare": {"reflect": {"via": "ack", "every_us": 7.0}},
    "every third": {"reflect": {"via": "ack", "every_packets": 3}},
}
COUNTED = {"kind": "linear", "step": 0.25}
GAP = {"name": "gap", "source": "gap", "unit": "us", "bits": 16, "agg": "first", "scope": "src_once"}
SENT = {"window": "tumbling", "interval_us": 30.0}
ALIKE: dict[str, list[dict]] = {  # fields; packets are alike in all but the last
    "sums": [{"name": "q", "source": "qlen_pkts", "bits": 3, "agg": "sum", "init": 2}, FLOWS],
    "smallest": [
        {"name": "l", "source": "abw_over_c", "bits": 9, "encode": {"kind": "linear", "step": 2.0**-9}, "agg": "min"}
    ],
    "first": [{"name": "d", "source": "hop_delay", "unit": "us", "bits": 20, "encode": COUNTED, "agg": "first"}, QUEUE],
    "averages": [
        {"name": "u", "source": "util", "bits": 16, "encode": {"kind": "linear", "step": 2.0**-16}, "agg": "max"}
        | {"measure": {"window": "tumbling", "interval_us": 7.0}},
        {**QUEUE, "measure": {"window": "ewma", "interval_us": 20.0}},
    ],
    "marks": [
        {"name": "e", "source": "mark", "value": "ce", "init": "ect0", "bits": 2, "agg": "or"}
        | {"when": "qlen_pkts > 2 and qdelay > 500", "encode": {"kind": "enum", "values": ["no", "ect0", "ce"]}}
    ],
    "formulas": [
        {"name": "load", "source": "expr:util + 0.5 * qlen_pkts", "unit": "share", "bits": 12, "agg": "max"}
        | {"measure": {"window": "ewma", "interval_us": 20.0}, "encode": {"kind": "linear", "step": 2.0**-6}},
        {"name": "turns", "source": "expr:(ts_out % 4096) / 8", "unit": "packets", "bits": 9, "agg": "max"},
        {"name": "share", "source": "expr:link_rate * 0.000001 / max(1, flows)", "unit": "Mbit/s", "bits": 24}
        | {"agg": "min", "grants": True, "measure": {"window": "aged", "interval_us": 30.0, "memory_bits": 64}},
        {"name": "halves", "source": "expr:fair_rate / 2", "unit": "bit/s", "bits": 40, "agg": "min"},
    ],
    "senders": [GAP, {"name": "n", "source": "senders", "bits": 12, "agg": "max", "encode": COUNTED, "measure": SENT}],
    "formulas of senders": [
        GAP,
        {"name": "share", "source": "expr:link_rate * 0.000001 / max(1, senders)", "unit": "Mbit/s", "bits": 24}
        | {"agg": "min", "grants": True, "measure": SENT},
    ],
    "averages of flows": [{**FLOWS, "measure": {"window": "ewma", "interval_us": 40.0}}, QUEUE],
}


def network(seed: int) -> Network:
    rng = np.random.default_rng(seed)
    rate, rtt, senders = rng.uniform(0.5, 5), rng.uniform(1, 60), int(rng.integers(1, 12))
    buffer, loss = rng.choice((math.inf, 3.0, 50.0)), rng.choice((0.0, 0.01, 0.1))
    switched, mean = (("time", 400.0), ("bytes", 60.0))[int(rng.integers(2))]
    return Network(seed, rate, rtt, senders, float(buffer), mean, 100.0, float(loss), switched)


def as_links(drawn: Network) -> _core.Network:
    """The same bottleneck as a layout of one link, from which nothing leads back."""
    layout = _core.Layout(
        link_rate=[drawn.link_rate],
        link_delay=[drawn.rtt],
        link_buffer=[drawn.buffer],
        forward=[[0]] * drawn.senders,
        backward=[[]] * drawn.senders,
        measured=drawn.senders,
    )
    return _core.Network(
        id=drawn.id,
        link_rate=drawn.link_rate,
        rtt=drawn.rtt,
        senders=drawn.senders,
        buffer=drawn.buffer,
        loss=drawn.loss,
        workload=compile_workload(drawn),
        layout=layout,
    )


def looking(used: Header) -> Policy:
    """A rule table that looks at what the header brings, and has a rule for either half of it."""
    signals = tuple(header_signals(used))
    if not signals:
        return FixedRate(0.7)
    return bisect(one_rule(("rtt_ratio", *signals)), 0, np.array([1.3, *(0.6 for _ in signals)]))


def same(policy: Policy, drawn: Network, seed: int) -> None:
    compiled, options = compile_policy(policy), {"duration": 900.0, "model": Model().parts(), "script": []}
    one, many = (_core.trace(compiled, net, seed, **options) for net in (compile_network(drawn), as_links(drawn)))
    assert len(one["now_us"]) > 0
    for name, values in one.items():
        np.testing.assert_array_equal(many[name], values, err_msg=f"{seed}: {name}")
    listed, linked = NetworkList([drawn]), NetworkList([drawn])
    linked.compiled = lambda _: [as_links(drawn)]  # type: ignore[method-assign]
    records = [
        Engine(900.0, Model(), 1).run([compiled], each, [0], [0], [seed], keep_delays=True, keep_links=True).columns
        for each in (listed, linked)
    ]
    for name in records[0].keys() - {"rule_hits"}:
        np.testing.assert_array_equal(records[1][name], records[0][name], err_msg=f"{seed}: {name}")


@pytest.mark.parametrize("name", SIMULATED)
def test_every_header(name: str) -> None:
    used = header(name)
    for seed in range(6):
        same(WithHeader(looking(used), stamping(used)), network(seed), seed)


@pytest.mark.parametrize("keys", OTHERS.values(), ids=OTHERS)
def test_packets_that_are_not_alike(keys: dict) -> None:
    placement = {"layer": "l2", "fixed_bits": 32}
    fields = [QUEUE, {**FLOWS, "measure": {"noise": 0.3}}] if "stamp_loss" in keys else [QUEUE, FLOWS]
    used = Header.model_validate(
        {"name": "own", "title": "Own", "placement": placement, "fields": fields, "direction": "one_way"} | keys
    )
    for seed in range(6):
        same(WithHeader(looking(used), stamping(used)), network(seed), seed)


@pytest.mark.parametrize("fields", ALIKE.values(), ids=ALIKE)
def test_packets_that_are_alike(fields: list[dict]) -> None:
    own = {"name": "own", "title": "Own", "placement": {"layer": "l2"}, "direction": "one_way"}
    back = {"bits": sum(field["bits"] for field in fields if "scope" not in field)}
    used = Header.model_validate(own | {"fields": fields, "reflect": {"via": "ack"} | back})
    assert header_signals(used)
    policy = WithHeader(looking(used), stamping(used))
    for seed in range(6):
        same(policy, network(seed), seed)
        # Flows come and go before the next packet, behind one that is lost.
        same(policy, Network(seed, 1.0, 0.5, 4, math.inf, 3.0, 30.0, 0.5, "bytes"), seed)


def test_what_hops_make_of_queued_packets() -> None:
    used = Rcp()
    for seed in range(6):
        same(used, network(seed), seed)
        same(WithHeader(FixedRate(0.4), stamping(header("rcp-16"))), network(seed), seed)


def test_more_packets_under_way_than_there_was_room_for() -> None:
    drawn = Network(0, 3.0, 25.0, 8, math.inf, 1e15, 10.0, 0.0)
    for name in ("nosignal-8b", "hpcc"):
        same(WithHeader(FixedRate(1.0), stamping(header(name))), drawn, 0)
