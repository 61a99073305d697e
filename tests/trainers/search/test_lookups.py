"""What rules see agrees with the engine's own counts and cuts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.utilities import utility
from lcca.remy_plus import _core
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import NetworkList, compile_network
from lcca.remy_plus.policies.policy import compile_policy
from lcca.remy_plus.policies.rules import CUT_STEP, bisect, one_rule
from lcca.trainers.search import trials
from lcca.trainers.search.trials import Effort, NetworkSample, even_cut

SIGNALS = ("rtt_ratio", "queue", "loss", "queue_ewma")


def test_cuts_and_use_are_those_of_the_engine(space: NetworkSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "EVERY", 1)
    table = bisect(one_rule(SIGNALS), 0, np.array([1.3, 2.0, np.nan, np.nan])).with_action(0, 2, 0.9, 1)
    engine, networks = Engine(space.duration, jobs=1), space.draw(5, 12)
    sample = NetworkSample(Effort(), engine, NetworkList(networks), 3, utility("default"))
    found = sample.look_ups(compile_policy(table), table)
    index, seeds = np.arange(12), np.full(12, 3)
    for rule in range(4):
        of_rule = found.values[found.rule == rule]
        expected = engine.cuts(compile_policy(table), NetworkList(networks), index, seeds, rule, SIGNALS)
        inside = (table.lower[rule] < expected) & (expected < table.upper[rule]) & (len(of_rule) >= trials.FEWEST)
        np.testing.assert_allclose(found.cuts()[rule], np.where(inside, expected, np.nan), rtol=2e-7)
    rows = engine.run([compile_policy(table)], NetworkList(networks), np.zeros(12), index, seeds, keep_rule_hits=True)
    hits = np.asarray(rows["trial_rule_hits"]).sum(axis=0)
    np.testing.assert_allclose(found.use, hits / hits.sum(), atol=0.05)  # which count flows' starts too


def test_look_ups_are_rows_of_a_trace(space: NetworkSpace) -> None:
    table = bisect(one_rule(SIGNALS), 0, np.array([1.3, 2.0, np.nan, np.nan])).with_action(0, 2, 0.9, 1)
    engine, networks, policy = Engine(space.duration, jobs=1), space.draw(6, 4), compile_policy(table)
    found = NetworkSample(Effort(), engine, NetworkList(networks), 3, utility("default")).look_ups(policy, table)
    options: dict[str, Any] = {"duration": engine.duration, "model": engine.model.parts()}
    traces = [_core.trace(policy, compile_network(each), 3, script=[], **options) for each in networks]
    kept = [np.flatnonzero(rows["current"])[:: trials.EVERY] for rows in traces]
    rules = [rows["rule"][at] for rows, at in zip(traces, kept, strict=True)]
    np.testing.assert_array_equal(found.rule, np.concatenate(rules))
    for axis, name in enumerate(SIGNALS):
        values = np.concatenate([rows[name][at] for rows, at in zip(traces, kept, strict=True)])
        np.testing.assert_array_equal(found.values[:, axis], values.astype(np.float32))


def test_look_ups_are_of_signals_that_the_table_looks_at() -> None:
    options: dict[str, Any] = {"duration": 100.0, "model": Engine().model.parts(), "every": 1}
    with pytest.raises(ValueError, match="does not look at link"):
        _core.look_ups(compile_policy(one_rule(SIGNALS)), [], 0, axes=["link"], **options)


@given(st.lists(st.integers(0, 8), min_size=2, max_size=40))
def test_no_other_cut_parts_more_evenly(whole: list[int]) -> None:
    values = np.array(whole, dtype=np.float32)
    cut = even_cut(values)
    if len(set(whole)) == 1:
        assert math.isnan(cut)
        return
    assert cut % CUT_STEP == 0

    def off(at: float) -> int:
        return abs(2 * int((values < at).sum()) - len(values))

    assert off(cut) == min(off(at) for at in values[values > values.min()])


def test_a_signal_that_fades_is_cut_at_what_can_be_told_from_0() -> None:
    """An EWMA long after the last loss: below the smallest cut it counts as 0, and does not hide what is above."""
    fading = 0.125 * 0.875 ** np.arange(0.0, 1000.0)
    cut = even_cut(fading.astype(np.float32))
    assert cut == CUT_STEP
    assert math.isnan(even_cut(fading[fading < CUT_STEP].astype(np.float32)))
