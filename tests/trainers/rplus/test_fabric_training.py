"""The search and the growth on trials of a fabric."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.trials.utilities import utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.rules import RuleTable, bisect, one_rule
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping
from lcca.trainers.base import Task, run
from lcca.trainers.rplus.config import RplusConfig
from lcca.trainers.rplus.trainer import RplusTrainer
from lcca.trainers.search.trials import training_trials

SIGNALS = ("rtt_ratio", "receive_ewma")
INCAST = {
    "name": "incast",
    "topology": {"kind": "star", "hosts": 9},
    "workload": {"kind": "incast", "senders": 8, "bytes": 60_000, "period_us": 100},
    "duration_us": 90,
}
FLOWS = {
    "name": "flows",
    "topology": {"kind": "leaf-spine", "tors": 2, "hosts_per_tor": 2, "spines": 1},
    "workload": {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.4, "load_of": "host-links"},
    "duration_us": 60,
}
SPACE = FabricSpace.model_validate({"fabric": [INCAST, FLOWS]})
TASK = Task("task", SIGNALS, SPACE, utility("slowdown"), 5)
GROWN: dict[str, Any] = {
    "rounds": 0,
    "polish": {"networks": 2, "check_networks": 4},
    "grow": {"rules": [1, 2], "pairs": 8, "look_ups": 4},
    "budget_trials": 400,
}
SEARCHED: dict[str, Any] = {"rounds": 2, "passes": 1, "networks": 4, "check_networks": 4, "optimise": ["increment"]}


def trainer(given: dict[str, Any], jobs: int = 1, task: Task = TASK, **more: Any) -> RplusTrainer:
    return RplusTrainer(task, RplusConfig.model_validate(given), Engine(jobs=jobs), **more)


def test_a_growth_beats_the_rule_that_it_began_with_on_fresh_seeds() -> None:
    learner = trainer(GROWN)
    table = run(learner)
    assert isinstance(table, RuleTable) and len(table) == 2 and learner.used <= 400
    fresh = training_trials(replace(TASK, seed=6), Engine(jobs=1)).draw(8, 0)
    before, after = (
        fresh.scores([learner.trials.compiled(each)], [np.arange(8)])[0] for each in (one_rule(SIGNALS), table)
    )
    assert (after - before)[::2].min() > 0.5 and (after - before).mean() > 0.3  # incasts: a third less slowdown


@pytest.mark.slow
@pytest.mark.parametrize("given", [GROWN, SEARCHED], ids=["grown", "searched"])
def test_neither_stops_nor_threads_change_a_bit(given: dict[str, Any], tmp_path: Path) -> None:
    whole = trainer(given, jobs=1)
    run(whole)
    for _ in range(100):
        part = trainer(given, jobs=2, checkpoint=tmp_path / "state.json")
        if part.done:
            break
        part.step()
    assert part.policy.digest == whole.policy.digest
    assert [replace(row, cpu_s=0) for row in part.learning] == [replace(row, cpu_s=0) for row in whole.learning]


def test_trials_are_told_by_their_numbers() -> None:
    trials = training_trials(TASK, Engine(jobs=1))
    policy = trials.compiled(one_rule(SIGNALS).with_action(0, 5, 0.5, 0.1))
    whole, part = trials.draw(8, 16), trials.draw(3, 20)
    (scores,) = whole.scores([policy], [np.arange(8)])
    again = part.scores([policy, policy], [np.array([1, 1]), np.array([2, 0])])
    np.testing.assert_array_equal(again, [scores[[5, 5]], scores[[6, 4]]])
    assert len(set(scores[1::2])) == 4 and trials.task.space.block == 4


def test_cuts_part_what_a_rule_sees_into_halves_and_hits_count_it() -> None:
    trials = training_trials(TASK, Engine(jobs=1))
    table = bisect(one_rule(SIGNALS).with_action(0, 9, 0.5, 0.1), 0, np.array([1.5, np.nan]))
    policy, drawn = trials.compiled(table), trials.draw(4, 0)
    seen = drawn.look_ups(policy, table)
    hits = drawn.baseline(policy)[1].sum(axis=0)
    assert len(seen.rule) == pytest.approx(hits.sum() / 4, rel=0.05)
    np.testing.assert_allclose(seen.use, hits / hits.sum(), atol=0.05)
    ratio, gap = seen.values.T  # a ratio of at least 1, after a flow's first packet; gaps of 0.09 µs and more
    assert ((ratio == 0) | (ratio >= 1)).all() and ratio.max() > 1 and 0 < np.median(gap) < 0.7
    for rule in range(2):
        cuts, values = drawn.cuts(policy, rule, SIGNALS), seen.values[seen.rule == rule]
        for axis, cut in enumerate(cuts):  # of all look-ups, against a part of them
            off = [abs((values[:, axis] < at).mean() - 0.5) for at in (cut, *np.unique(values[:, axis])[1:])]
            assert off[0] <= min(off) + 0.1


def test_a_header_shows_its_signals_and_free_bytes_cost_nothing() -> None:
    names = (*SIGNALS, "link")
    free, charged = (
        replace(TASK, signals=names, header=stamping(header("hpcc"), charged=each)) for each in (False, True)
    )
    table = bisect(one_rule(names).with_action(0, 9, 0.5, 0.1), 0, np.array([np.nan, np.nan, 0.5]))
    scores = []
    for task in (free, charged):
        trials = training_trials(task, Engine(jobs=1))
        found, rule_hits = trials.draw(8, 0).baseline(trials.compiled(table))
        scores.append(found.mean())
        assert (rule_hits.sum(axis=0) > 0).all()
    assert scores[0] > scores[1] + 0.005


@pytest.mark.parametrize(
    ("task", "given", "message"),
    [
        (replace(TASK, utility=utility("default")), GROWN, "default: scores networks, not a fabric"),
        (replace(TASK, signals=("flows",)), GROWN, "the fabric does not tell flows"),
        (TASK, SEARCHED | {"mode": "exact"}, "trials on a fabric have no shorter form"),
    ],
)
def test_what_cannot_be_learnt_is_refused(task: Task, given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(trainer(given, task=task))
