"""Rule tables: validation, equality, bisecting."""

import dataclasses
import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import SIGNAL_CEILING, SIGNALS
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import compile_policy
from lcca.remy_plus.policies.rules import LARGEST_INCREMENT, LARGEST_MULTIPLE, RuleTable, bisect, lifted, one_rule
from lcca.remy_plus.policies.tiling import tiling

TOP = SIGNAL_CEILING
seeds = st.integers(0, 2**32 - 1)


def table_of(*boxes, signals=("send_ewma", "rtt_ratio")):
    """A table from (lower, upper) pairs with the default action."""
    ones = np.ones(len(boxes))
    lower, upper = zip(*boxes, strict=True)
    return RuleTable(signals, lower, upper, ones, ones, ones)


def test_one_rule_has_the_default_action():
    relative, absolute = one_rule(SIGNALS[:4]), one_rule(SIGNALS[:3], "absolute")
    assert (relative.increment[0], relative.multiple[0], relative.pacing[0]) == (1, 1, 1.5)
    assert (absolute.pacing[0], absolute.pacing_kind) == (3, "absolute")
    assert relative.lower.tolist() == [[0] * 4]
    assert relative.upper.tolist() == [[TOP] * 4]
    tiling(relative)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"signals": ()}, "signals: at least one"),
        (
            {"signals": ("rtt_rato", "send_ewma")},
            r"signals.0: unknown signal 'rtt_rato' \(did you mean 'rtt_ratio'",
        ),
        ({"signals": ("send_ewma", "send_ewma")}, r"signals.1: 'send_ewma' is listed twice"),
        ({"signals": ("send_ewma", 3)}, r"signals.1: must be a name"),
        ({"lower": [[0]]}, "lower: shape"),
        ({"lower": [[0, 0], [1]]}, "lower: must be numbers"),
        ({"lower": [["x", 0]]}, "lower: must be numbers"),
        ({"increment": [1, 2]}, "lower: shape"),
        ({"multiple": [[1]]}, "multiple: shape"),
        ({"increment": []}, "rules: between 1 and"),
        ({"upper": [[TOP + 1, TOP]]}, r"rules.0: send_ewma from 0 to 163841"),
        ({"lower": [[-1, 0]]}, r"rules.0: send_ewma from -1"),
        ({"lower": [[0, math.nan]]}, r"rules.0: rtt_ratio from nan"),
        ({"upper": [[0, math.inf]]}, r"rules.0: rtt_ratio from 0 to inf"),
        ({"lower": [[2, 0]], "upper": [[1, TOP]]}, r"rules.0: send_ewma from 2 to 1"),
        ({"lower": [[1, 0]], "upper": [[1, TOP]]}, "every box is empty"),
        ({"increment": [1.5]}, r"rules.0.increment: must be a whole number"),
        ({"increment": [1_000_001]}, r"rules.0.increment: must be a whole number of packets up to ±1,000,000"),
        ({"increment": [-1_000_001]}, r"rules.0.increment"),
        ({"increment": [math.nan]}, r"rules.0.increment"),
        ({"multiple": [math.inf]}, r"rules.0.multiple"),
        ({"multiple": [1000.5]}, r"rules.0.multiple: must be between 0 and 1000"),
        ({"multiple": [-0.1]}, r"rules.0.multiple"),
        ({"pacing": [math.inf]}, r"rules.0.pacing"),
        ({"pacing": [-1]}, r"rules.0.pacing"),
        ({"pacing_kind": "ticks"}, "pacing: must be 'relative', 'absolute', a signal, or .*, got 'ticks'"),
        ({"pacing_kind": "1/1"}, "pacing: 1/1 is written 'absolute'"),
        ({"pacing_kind": "flows/capcity"}, r"got 'flows/capcity' \(did you mean 'capacity'\?\)"),
        ({"pacing_kind": "receive_ewma"}, "pacing: receive_ewma is written 'relative'"),
    ],
)
def test_bad_tables_are_told(change, message):
    good = one_rule(("send_ewma", "rtt_ratio"))
    with pytest.raises(InputError, match=message):
        dataclasses.replace(good, **change)


def test_a_table_cannot_be_changed_from_outside():
    lower = np.zeros((1, 2))
    table = RuleTable(("send_ewma", "rtt_ratio"), lower, lower + TOP, [1], [1], [1])
    lower[0, 0] = 5
    assert table.lower[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        table.increment[0] = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.pacing_kind = "absolute"


@given(seeds, st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_equal_content_is_equal(grow, seed, splits):
    table, again = grow(seed, splits), grow(seed, splits)
    assert table == again
    assert hash(table) == hash(again)
    assert table.digest == pickle.loads(pickle.dumps(table)).digest
    changed = table.with_action(0, int(table.increment[0]) + 1, 1, 1)
    assert changed != table
    assert dataclasses.replace(table, pacing_kind="absolute") != table


def test_the_digest_is_the_same_on_every_machine():
    # Pinned: a change of the digest breaks resuming and comparing across versions.
    assert one_rule(SIGNALS[:4]).digest[:16] == "37cb511ea7e386f5"


def test_real_windows_have_increments_of_any_size_and_another_digest():
    whole = one_rule(SIGNALS[:4])
    real = dataclasses.replace(whole, windows="real")
    assert real != whole == dataclasses.replace(real, windows="whole")
    finer = real.with_action(0, -0.25, 0.99, 1)
    assert finer.increment.tolist() == [-0.25]
    for changed in (bisect(finer, 0, [1, 1, 2, 1]), lifted(finer, SIGNALS)):
        assert changed.windows == "real" and set(changed.increment) == {-0.25}
    with pytest.raises(InputError, match=r"rules.0.increment: must be a number of packets up to ±1,000,000, got nan"):
        real.with_action(0, math.nan, 1, 1)
    with pytest.raises(InputError, match="windows: must be 'whole' or 'real', got 'ral'"):
        dataclasses.replace(whole, windows="ral")


def test_negative_zero_is_zero():
    box = ([-0.0, 0.0], [TOP, TOP])
    assert table_of(box).digest == table_of(([0.0, 0.0], [TOP, TOP])).digest


def test_a_population_is_tables_with_other_actions(grow):
    """Made in one call, they run as tables that are compiled one by one, the header kept."""
    table = grow(3)
    rng = np.random.default_rng(1)
    shape = (4, len(table))
    actions = np.stack([rng.integers(0, 9, shape), rng.random(shape), rng.uniform(0.2, 3, shape)], axis=2)
    networks = NetworkList([Network(0, 2.0, 20.0, 2, 50, 500.0, 100.0, 0.0)])
    each = [
        compile_policy(dataclasses.replace(table, increment=a[:, 0], multiple=a[:, 1], pacing=a[:, 2])) for a in actions
    ]
    made = compile_policy(table).population(actions)
    one, other = (
        Engine(2000.0, jobs=1).run(p, networks, np.arange(4), np.zeros(4), np.ones(4), keep_rule_hits=True).columns
        for p in (made, each)
    )
    for name in ("trial_delivered", "trial_rule_hits", "sender_delivered"):
        np.testing.assert_array_equal(one[name], other[name])
    assert made[0].__getstate__()[1:] != made[1].__getstate__()[1:]
    with pytest.raises(ValueError, match=rf"\(policies, {len(table)}, 3\)"):
        compile_policy(table).population(actions[:, 1:])
    with pytest.raises(ValueError, match="multiple"):
        compile_policy(table).population(-actions)


def test_with_action_changes_one_rule(grow):
    table = grow(1)
    changed = table.with_action(2, 7, 0.5, 0.25)
    others = np.arange(len(table)) != 2
    assert (changed.increment[2], changed.multiple[2], changed.pacing[2]) == (7, 0.5, 0.25)
    for name in ("increment", "multiple", "pacing"):
        np.testing.assert_array_equal(getattr(changed, name)[others], getattr(table, name)[others])
    np.testing.assert_array_equal(changed.lower, table.lower)
    for index in (-1, len(table)):
        with pytest.raises(InputError, match=f"rule {index}: the table has rules 0 to {len(table) - 1}"):
            table.with_action(index, 1, 1, 1)


def test_bisect_cuts_at_the_medians_in_order():
    table = bisect(one_rule(("send_ewma", "rtt_ratio", "link")), 0, [1.5, 2, 0.25])
    halves = [[(0, 1.5), (1.5, TOP)], [(0, 2), (2, TOP)], [(0, 0.25), (0.25, TOP)]]
    expected = np.array(list(itertools.product(*halves)))
    np.testing.assert_array_equal(np.stack([table.lower, table.upper], axis=2), expected)


def test_bisect_puts_children_in_the_parents_place(grow):
    table = grow(5)
    children = bisect(table, 4, table.lower[4] + 0.01)
    assert len(children) == len(table) + 7
    for name in ("lower", "upper", "increment", "multiple", "pacing"):
        old, new = getattr(table, name), getattr(children, name)
        np.testing.assert_array_equal(new[:4], old[:4])
        np.testing.assert_array_equal(new[12:], old[5:])
    for name in ("increment", "multiple", "pacing"):
        assert set(getattr(children, name)[4:12]) == {getattr(table, name)[4]}


def test_bisect_leaves_an_axis_without_a_median_alone():
    table = bisect(one_rule(("rtt_ratio", "queue")), 0, [1.5, math.nan])
    assert table.upper.tolist() == [[1.5, TOP], [TOP, TOP]]


@pytest.mark.parametrize("median", [0.0, TOP, -3.0, 1e9, math.inf])
def test_bisect_falls_back_to_the_midpoint(median):
    table = bisect(one_rule(("send_ewma",)), 0, [median])
    assert table.upper[:, 0].tolist() == [TOP / 2, TOP]


def test_bisect_leaves_an_axis_uncut_that_is_too_thin():
    thin = np.nextafter(1.0, 2.0)
    table = table_of(([0, 0], [1, TOP]), ([1, 0], [thin, TOP]), ([thin, 0], [TOP, TOP]))
    children = bisect(table, 1, [1.0, 3.0])
    assert len(children) == 4
    assert children.live.all()
    tiling(children)


def test_bisect_refuses_what_it_cannot_do():
    table = table_of(([0, 0], [0, TOP]), ([0, 0], [TOP, TOP]))
    with pytest.raises(InputError, match="rule 0 has no volume"):
        bisect(table, 0, [1, 1])
    with pytest.raises(InputError, match="rule 2: the table has rules 0 to 1"):
        bisect(table, 2, [1, 1])
    with pytest.raises(InputError, match="medians: 2 numbers are needed"):
        bisect(table, 1, [1])


@given(seeds, st.integers(1, 6), st.lists(st.floats(0, TOP, exclude_max=True), min_size=3, max_size=3))
@settings(max_examples=60, deadline=None)
def test_bisecting_keeps_the_tiling_and_the_actions(grow, seed, splits, point):
    table = grow(seed, splits)
    tiling(table)
    assert table.live.all()
    rule = table.find(point)
    children = bisect(table, rule, point)
    tiling(children)
    assert children.live.all()
    child = children.find(point)
    assert rule <= child < rule + 8
    assert children.increment[child] == table.increment[rule]


def test_find_takes_the_first_match_and_skips_dead_rules():
    table = table_of(([0, 0], [0, TOP]), ([0, 0], [2, TOP]), ([2, 0], [TOP, TOP]))
    assert [table.find(point) for point in ([0, 0], [1.999, 5], [2, 0])] == [1, 1, 2]
    with pytest.raises(InputError, match="no rule holds send_ewma=163840"):
        table.find([TOP, 0])


@pytest.mark.parametrize("sign", [1, -1])
def test_the_engine_takes_the_largest_actions_and_no_larger_ones(sign: int) -> None:
    compiled = compile_policy(one_rule(("send_ewma",)).with_action(0, sign * LARGEST_INCREMENT, LARGEST_MULTIPLE, 1))
    compiled.with_action(0, sign * LARGEST_INCREMENT, LARGEST_MULTIPLE, 1.0)
    for action in ((sign * (LARGEST_INCREMENT + 1), 1.0, 1.0), (1.0, LARGEST_MULTIPLE * 1.001, 1.0)):
        with pytest.raises(ValueError, match="must be"):
            compiled.with_action(0, *action)


def test_a_lifted_table_does_as_before_whatever_the_new_signals_say() -> None:
    table = bisect(one_rule(("rtt_ratio", "queue")), 0, np.array([1.5, 20.0]))
    table = table.with_action(2, 3, 0.5, 0.25)
    more = lifted(table, ("link", "queue", "rtt_ratio"))
    rng = np.random.default_rng(1)
    for link, queue, ratio in rng.uniform(0, [1, 100, 3], (200, 3)):
        assert more.find([link, queue, ratio]) == table.find([ratio, queue])
    assert np.array_equal(more.increment, table.increment)
    with pytest.raises(InputError, match="queue missing"):
        lifted(table, ("rtt_ratio", "link"))


def test_rules_without_volume_are_never_applied():
    """First, between and last: the trials of the table without them, but for the numbers of rules."""
    dead = ([0, 0], [0, TOP])
    below, above = ([0, 0], [2, TOP]), ([2, 0], [TOP, TOP])
    whole = ([0, 0], [TOP, TOP])
    network = NetworkList(
        [Network(1, link_rate=2.0, rtt=20.0, senders=3, buffer=100, mean_on=500, mean_off=100, loss=0.0)]
    )
    engine = Engine(2000.0, jobs=1)
    for boxes, padded, live in (([whole], [dead, whole], [1]), ([below, above], [below, dead, above, dead], [0, 2])):
        records = []
        for kept in (boxes, padded):
            increment = [3 if box == dead else 1 for box in kept]
            table = dataclasses.replace(table_of(*kept), increment=increment)
            records.append(engine.run([compile_policy(table)], network, [0], [0], [7], keep_rule_hits=True).columns)
        hits = [np.asarray(record["trial_rule_hits"]).ravel() for record in records]
        assert hits[1][live].tolist() == hits[0].tolist() and hits[1].sum() == hits[0].sum() > 10
        np.testing.assert_array_equal(records[0]["trial_delivered"], records[1]["trial_delivered"])
