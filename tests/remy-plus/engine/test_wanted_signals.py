"""Signals that nobody wants are not computed: trials are the same as where all are, as in a trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lcca.remy_plus import _core
from lcca.remy_plus.core.signals import SIGNALS
from lcca.remy_plus.core.stamping import ONLY_IN_HEADERS
from lcca.remy_plus.engine import Engine, Model
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.network import Network, NetworkList, compile_network
from lcca.remy_plus.policies.agents import Agent, MlpPolicy, WindowSteering
from lcca.remy_plus.policies.law import FEATURES, Law
from lcca.remy_plus.policies.layers import Layer
from lcca.remy_plus.policies.policy import Policy, WithHeader, compile_policy
from lcca.remy_plus.policies.rules import bisect, one_rule
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping

NETWORK = Network(id=1, senders=3, rtt=25.0, link_rate=3.0, buffer=60, mean_on=900.0, mean_off=300.0, loss=0.002)
DURATION = 4000.0


def law(*inputs: str) -> Law:
    """A law that goes by these signals too."""
    numbers = np.random.default_rng(3).uniform(-0.4, 0.4, (len(FEATURES) + len(inputs), 3)).tolist()
    return Law.of({"window": 2, "boost": 2}, dict(zip((*FEATURES, *inputs), numbers, strict=True)), inputs=inputs)


def table(name: str) -> Policy:
    """Two rules that one signal parts, where senders often have it on either side."""
    rules = one_rule((name,)).with_action(0, 8, 0.7, 0.3)
    cut = 1.05 if "ratio" in name else 0.02 if name in ("loss", "mark") else 0.9
    return bisect(rules, 0, np.array([cut])).with_action(1, 2, 0.8, 0.6)


def outcome(policy: Policy) -> tuple[list[float], list[float]]:
    """Packets and delays of senders, by a batch and by a trace, which wants every signal."""
    compiled = compile_policy(policy)
    record = Engine(DURATION, jobs=1).run([compiled], NetworkList([NETWORK]), [0], [0], [5])
    rows = _core.trace(compiled, compile_network(NETWORK), 5, script=[], duration=DURATION, model=Model().parts())
    delays = rows["now_us"] - rows["sent_us"]
    senders = rows["sender"].astype(int)
    traced = [np.bincount(senders, minlength=NETWORK.senders), np.bincount(senders, delays, NETWORK.senders)]
    batch = [record.floats("sender_delivered"), record.floats("sender_delay_sum_us")]
    return [float(x) for each in batch for x in each], [float(x) for each in traced for x in each]


@pytest.mark.parametrize("name", sorted(set(SIGNALS) - ONLY_IN_HEADERS))
def test_a_table_needs_what_it_looks_at_alone(name: str) -> None:
    batch, traced = outcome(table(name))
    assert batch == pytest.approx(traced, rel=1e-12)
    assert sum(batch) > 0


@pytest.mark.parametrize("inputs", [(), ("link",), ("queue",), ("flows",), ("available_capacity_ewma",), ("loss",)])
def test_a_law_needs_what_it_looks_at_alone(inputs: tuple[str, ...]) -> None:
    batch, traced = outcome(law(*inputs))
    assert batch == pytest.approx(traced, rel=1e-12)


HEADERS = [
    ("nosignal-8b", ()),
    ("nosignal-8b", ("queue",)),
    ("nosignal-8b", ("link_ewma", "queue_ewma")),
    ("ecn", ("mark",)),
    ("fair-share", ("flows",)),
    ("rcp-16", ("fair_rate",)),
    ("xcp", ("xcp_feedback",)),
]


@pytest.mark.parametrize(("name", "inputs"), HEADERS)
def test_of_headers_too(name: str, inputs: tuple[str, ...]) -> None:
    """XCP's and RCP's routers go by the RTT that senders have measured, whether these look at it or not."""
    batch, traced = outcome(WithHeader(law(*inputs), stamping(header(name))))
    assert batch == pytest.approx(traced, rel=1e-12)


def test_an_agent_has_the_round_trip_and_the_gap_that_it_goes_by() -> None:
    """Whatever it sees."""
    steering = WindowSteering(pacing=0.5)
    layer = Layer(np.array([[0.3], [-0.2]], dtype=np.float32), np.array([0.1, 0.2], dtype=np.float32))
    batch, traced = outcome(MlpPolicy(Agent(("queue",), steering=steering), (layer,)))
    assert batch == pytest.approx(traced, rel=1e-12)


def test_a_class_in_python_has_the_round_trip(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "class Mine:\n"
        "    def start(self):\n        return 4, 0\n"
        "    def on_ack(self, ack):\n        return max(1, 200 / ack.rtt), ack.rtt / 20\n"
    )
    batch, traced = outcome(load(f"{file}:Mine").policy)
    assert batch == pytest.approx(traced, rel=1e-12)


def test_a_census_counts_what_its_table_does_not_look_at() -> None:
    def cut(*signals: str) -> float:
        policy = compile_policy(WithHeader(one_rule((*signals, "receive_ewma")), stamping(header("nosignal-8b"))))
        return float(Engine(DURATION, jobs=1).cuts(policy, NetworkList([NETWORK]), [0], [5], 0, ["queue"])[0])

    assert cut("link") == cut("link", "queue") > 0
