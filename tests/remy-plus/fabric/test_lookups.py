"""Look-ups of rules on a fabric, against counts of packets and a search of the table in Python."""

from dataclasses import replace

import numpy as np
import pytest

from lcca.remy_plus.core.signals import SIGNALS
from lcca.remy_plus.fabric.builders import leaf_spine
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, compiled
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import FabricSettings
from lcca.remy_plus.policies.rules import RuleTable, bisect, one_rule

FABRIC = leaf_spine(tors=2, hosts_per_tor=3, spines=1)
SIZES = np.array([300_000, 40_000, 90_500, 250_000, 100])
FLOWS = FabricFlows(np.array([0, 1, 2, 4, 5]), np.array([3, 3, 3, 0, 0]), SIZES, np.array([0, 0, 10, 200, 1e6]))
PACKETS = int(np.ceil(SIZES / 1000).sum())


def table() -> RuleTable:
    """Return three rules that differ, over an end-to-end signal and the queue."""
    rules = one_rule(("receive_ewma", "queue")).with_action(0, 12, 0.6, 0.2)
    rules = bisect(rules, 0, np.array([0.2, np.nan]))
    rules = bisect(rules, 1, np.array([np.nan, 5.0]))
    return rules.with_action(1, 3, 0.7, 0.5)


def run(rules: RuleTable, every: int) -> FabricRecord:
    policy = replace(compiled(rules, FabricSettings()), keep_every=every)
    return FabricEngine(policy).run(FABRIC, FLOWS)


def test_a_rule_is_looked_up_once_a_flow_and_once_an_ack() -> None:
    record = run(one_rule(("rtt_ratio",)).with_action(0, 8, 0, 0.1), 1)
    assert record["port_drops"].sum() == 0 and PACKETS == 682  # so that each packet is acknowledged once
    acks = PACKETS - 1  # the run ends as the last flow's one packet is received
    assert record["rule_hits"].tolist() == [acks + len(SIZES)]
    assert len(record["look_up_rule"]) == acks


def test_hits_are_of_the_rules_that_hold_what_was_seen() -> None:
    rules, record = table(), run(table(), 1)
    seen = record["look_up_values"][:, [SIGNALS.index(name) for name in rules.signals]].astype(float)
    found = np.array([rules.find(values) for values in seen])
    np.testing.assert_array_equal(found, record["look_up_rule"])
    started = np.zeros(3, dtype=int)
    started[rules.find([0.0, 0.0])] = len(SIZES)
    np.testing.assert_array_equal(np.bincount(found, minlength=3) + started, record["rule_hits"])
    assert (np.bincount(found, minlength=3) > 20).all()


@pytest.mark.parametrize("every", [4, 7])
def test_one_look_up_in_so_many_is_kept_and_changes_nothing(every: int) -> None:
    whole, some, none = (run(table(), each) for each in (1, every, 0))
    np.testing.assert_array_equal(some["look_up_rule"], whole["look_up_rule"][::every])
    np.testing.assert_array_equal(some["look_up_values"], whole["look_up_values"][::every])
    assert not len(none["look_up_rule"])
    for name in ("flow_fct_ns", "rule_hits", "port_data_bytes"):
        np.testing.assert_array_equal(whole[name], none[name])


def test_the_queue_that_rules_see_is_that_of_the_fullest_port() -> None:
    """Five windows of 40 packets fill the port to their receiver: ACKs bring the length of its queue."""
    flows = FabricFlows(np.arange(1, 6), np.zeros(5, dtype=int), np.full(5, 200_000), np.zeros(5))
    policy = replace(compiled(table().with_action(0, 40, 0, 0.1), FabricSettings()), keep_every=1)
    record = FabricEngine(policy).run(FABRIC, flows)
    seen = record["look_up_values"][:, SIGNALS.index("queue")].max()
    most = record["port_most_queued_bytes"][record["port_node"] >= FABRIC.hosts].max() / (1048 + 42)
    assert most - 2 <= seen <= most
