"""Policies as text for people."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcca.remy_plus.core.signals import SIGNAL_CEILING, SIGNALS
from lcca.remy_plus.files.policyfile import PolicyFile, load
from lcca.remy_plus.files.text import describe
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow
from lcca.remy_plus.policies.rules import RuleTable, bisect, one_rule


def test_a_rule_table_reads_like_this():
    table = bisect(one_rule(("receive_ewma", "rtt_ratio")), 0, [1.25, 1.5])
    table = table.with_action(0, 2, 0.9, 1.3).with_action(1, -10, 1, 0).with_action(2, 3, 0, 0.5)
    table = table.with_action(3, 0, 1, 1)
    file = PolicyFile(table, "custom", None, {"seed": 7, "config_hash": "ab12"}, (8, 0, 1, 1))
    assert describe(file) == (
        "policy       rule table: 4 rules; pacing relative\n"
        "signals      receive_ewma, rtt_ratio\n"
        "signal set   custom\n"
        "config hash  ab12\n"
        "seed         7\n"
        "\n"
        "0  receive EWMA below 1.25 µs, RTT ratio below 1.5\n"
        "   → window × 0.9 + 2, pace at 1.3 × receive interval  [80.0% of hits]\n"
        "1  receive EWMA below 1.25 µs, RTT ratio from 1.5 → window − 10, unpaced  [0.0% of hits]\n"
        "2  receive EWMA from 1.25 µs, RTT ratio below 1.5\n"
        "   → window = 3, pace at 0.5 × receive interval  [10.0% of hits]\n"
        "3  receive EWMA from 1.25 µs, RTT ratio from 1.5\n"
        "   → window unchanged, pace at 1 × receive interval  [10.0% of hits]\n"
    )


def test_real_windows_are_said():
    table = dataclasses.replace(one_rule(("rtt_ratio",)), windows="real").with_action(0, -0.25, 0.995, 0)
    assert "1 rule; pacing relative; real windows" in describe(PolicyFile(table))
    assert "window × 0.995 − 0.25, unpaced" in describe(PolicyFile(table))
    assert "window = 1," in describe(PolicyFile(table.with_action(0, 0.5, 0, 0)))


def test_absolute_pacing_and_dead_rules_are_said():
    lower, upper = np.array([[1.0], [0.0]]), np.array([[1.0], [SIGNAL_CEILING]])
    ones = np.ones(2)
    text = describe(PolicyFile(RuleTable(("queue",), lower, upper, ones, ones, ones * 2.5, "absolute")))
    assert "2 rules, 1 of them with empty boxes; pacing absolute" in text
    assert "0  never (empty box) → window + 1, pace at 2.5 µs" in text
    assert "1  always → window + 1, pace at 2.5 µs" in text


@pytest.mark.parametrize(
    ("policy", "line"),
    [
        (FixedWindow(20), "window = 20 packets, unpaced"),
        (FixedRate(0.5), "one packet each 2 µs (0.5 packets/µs), no window"),
        (Aimd(), "then + 1 per RTT, × 0.5 at a loss; unpaced"),
    ],
)
def test_other_policies_are_said(policy, line):
    assert line in describe(PolicyFile(policy))


@given(st.integers(0, 2**32 - 1), st.integers(0, 3), st.permutations(SIGNALS))
@settings(max_examples=25, deadline=None)
def test_every_rule_is_told_once(grow, seed, splits, names):
    """By its number, or among those that have the most frequent action."""
    table = grow(seed, splits, tuple(names[:3]))
    lines = describe(PolicyFile(table)).splitlines()[3:]
    assert max(map(len, lines)) <= 100
    column = len(str(len(table) - 1))  # a name that breaks before "2 RTTs" begins a line further right
    numbers = [int(line[:column]) for line in lines if line[:column].strip().isdigit()]
    alike = [int(line.split()[1]) for line in lines if line.split()[0] == "all"]
    assert numbers == sorted(set(numbers)) and len(numbers) + sum(alike) == len(table) and len(alike) <= 1


def test_rules_that_a_search_never_changed_are_told_together():
    table = bisect(bisect(one_rule(("receive_ewma", "rtt_ratio")), 0, [1.25, 1.5]), 0, [0.5, 1.2])
    assert len(table) == 7
    table = table.with_action(2, -10, 1, 0)
    text = describe(PolicyFile(table, rule_hits=(1, 2, 3, 1, 1, 1, 1)))
    rules = text.split("\n\n")[1].splitlines()
    assert len(rules) == 2 and rules[0].startswith("2  ") and "[30.0% of hits]" in rules[0]
    assert rules[1].startswith("   all 6 others → window") and rules[1].endswith("[70.0% of hits]")


def test_hostile_provenance_stays_on_its_line():
    text = describe(PolicyFile(Aimd(), provenance={"note": "a\nb\r\nc", "notes": ["x", "y\nz"]}))
    assert "note        a b c\n" in text
    assert "notes       x\nnotes       y z\n" in text


def test_reference_files_can_be_shown(reference):
    text = describe(load(reference / "data" / "dna" / "RemyCC-2013-delta1.dna"))
    assert text.startswith("policy         rule table: 190 rules, 24 of them with empty boxes; pacing absolute")
    assert sum(line.split()[0].isdigit() for line in text.split("\n\n")[1].splitlines()) > 150
