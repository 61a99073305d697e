from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import NetworkList
from lcca.remy_plus.policies.policy import compile_policy
from lcca.remy_plus.policies.rules import RuleTable, bisect, one_rule
from lcca.trainers.base import WarmStart, run
from lcca.trainers.rplus.actions import Action
from lcca.trainers.rplus.search import CandidateScores
from lcca.trainers.rplus.state import SearchState
from lcca.trainers.rplus.trainer import BEFORE_FIRST_SPLIT
from lcca.trainers.search.trials import Effort, NetworkSample

from ..conformance import without_time
from ..conftest import MakeTrainer

SIGNALS = ("rtt_ratio", "queue")
POOR = Action(0, 0, 3)  # never more than one packet on its way


def four_rules() -> RuleTable:
    return bisect(one_rule(SIGNALS), 0, np.array([1.3, 2.0]))


def scores(space: NetworkSpace, table: RuleTable, seed: int = 999, count: int = 100) -> NDArray[np.float64]:
    networks = space.draw(seed, count)
    rows = run_trials(Engine(space.duration, jobs=1), {"it": table}, networks, [seed], utility("default"))
    return rows["score_bits"].to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize("passes", [1, 2])
def test_searches_on_other_signals_share_what_comes_before_the_first_split(
    tmp_path: Path, make_trainer: MakeTrainer, passes: int
) -> None:
    """Before the first split no rule looks at a signal: what one search learnt is what all would have."""
    others: tuple[tuple[str, ...], ...] = (("loss",), ("rtt_ratio", "queue", "link"))
    run(make_trainer(shared=tmp_path / "shared", passes=passes))
    for signals in others:
        begun = make_trainer(signals=signals, shared=tmp_path / "shared", passes=passes)
        alone = make_trainer(signals=signals, passes=passes)
        assert len(begun.learning) == passes  # the improvements of the one rule are there
        assert run(begun) == run(alone)
        assert [without_time(row) for row in begun.learning] == [without_time(row) for row in alone.learning]
    SearchState(four_rules(), [0] * 4, four_rules()).save(tmp_path / "shared", BEFORE_FIRST_SPLIT)
    with pytest.raises(InputError, match="depends on its signals"):
        make_trainer(shared=tmp_path / "shared")


def test_pacing_by_a_signal_is_learnt_by_itself_and_shared_with_nobody(
    tmp_path: Path, make_trainer: MakeTrainer
) -> None:
    trainer = make_trainer(signals=("rtt_ratio", "fair_rate"), shared=tmp_path / "shared", pacing="auto")
    table = run(trainer)
    assert table.pacing_kind == "1/fair_rate" and table.pacing.min() < 3
    assert not (tmp_path / "shared").exists()
    again = make_trainer(signals=("rtt_ratio", "fair_rate"), pacing="1/fair_rate")
    assert run(again) == table


def test_a_search_improves_rules_that_are_given_before_it_splits_them(make_trainer: MakeTrainer) -> None:
    given = one_rule(("fair_rate",), "1/fair_rate")
    trainer = make_trainer(signals=("rtt_ratio", "fair_rate"), warm_start=WarmStart(given, 0))
    table = run(trainer)
    kinds = [row.kind for row in trainer.learning]
    assert kinds[0] == "improve" and "split" in kinds
    assert table.signals == ("rtt_ratio", "fair_rate") and table.pacing_kind == "1/fair_rate"


def test_a_search_goes_on_from_rules_that_are_trained(tmp_path: Path, make_trainer: MakeTrainer) -> None:
    first = make_trainer(signals=("rtt_ratio",))
    run(first)
    kept: dict[int, RuleTable] = {}
    start = WarmStart(first.policy, first.state.step)
    more = make_trainer(signals=("rtt_ratio", "queue"), warm_start=start, keep=kept.__setitem__, shared=tmp_path / "o")
    more.step()
    assert more.state.learning[-1].kind == "split"  # nothing is improved twice
    old, new = first.state.table, more.state.table
    cut = np.unique(np.r_[new.lower[:, 1], new.upper[:, 1]])
    assert len(new) == len(old) + 1 and len(cut) == 3  # one rule is cut, along the new signal alone
    assert np.array_equal(np.unique(new.lower[:, 0]), np.unique(old.lower[:, 0]))
    run(more)
    assert kept[0] == new  # does all that the old rules do: validation may keep what the search began with
    for point in np.random.default_rng(1).uniform(0, [3, 30], (100, 2)):
        assert new.increment[new.find(point)] == old.increment[old.find(point[:1])]
    assert more.state.step > first.state.step and len(more.state.table) > len(old)
    assert not (tmp_path / "o").exists()


def test_without_new_signals_a_split_cuts_along_the_old_ones(make_trainer: MakeTrainer) -> None:
    first = make_trainer(signals=("rtt_ratio", "queue"))
    run(first)
    more = make_trainer(signals=("rtt_ratio", "queue"), warm_start=WarmStart(first.policy, first.state.step))
    more.step()
    assert len(np.unique(more.state.table.lower[:, 0])) == len(np.unique(first.state.table.lower[:, 0])) + 1


def test_a_search_makes_the_start_rule_better(make_trainer: MakeTrainer, space: NetworkSpace) -> None:
    trained = run(make_trainer(networks=16))
    gain = scores(space, trained) - scores(space, one_rule(SIGNALS))
    assert gain.mean() > 4 * gain.std() / np.sqrt(len(gain))
    assert gain.mean() > 0.3


def test_the_rounds_of_a_search(make_trainer: MakeTrainer) -> None:
    kept: list[tuple[int, int]] = []
    trainer = make_trainer(rounds=3, keep=lambda round_, table: kept.append((round_, len(table))))
    run(trainer)
    rows = trainer.state.learning
    assert [row.kind for row in rows[:3]] == ["improve", "split", "check"]
    assert [row.rules for row in rows if row.kind == "improve" and row.round == 0] == [1]
    assert {row.rules for row in rows if row.kind == "improve" and row.round == 1} == {4}
    assert kept == [(0, 4), (1, 7), (2, 7)]  # the last round does not split
    assert [row.step for row in rows] == list(range(1, len(rows) + 1))
    assert all(np.isfinite(row.score_bits) for row in rows)
    assert rows[-1].trials == trainer.state.trials > 0


def test_every_used_rule_is_improved_once_a_pass(make_trainer: MakeTrainer) -> None:
    trainer = make_trainer(rounds=1, passes=2)
    trainer.state = SearchState(four_rules(), [0] * 4, four_rules())
    while trainer.state.stage == "improve":
        trainer.step()
    improved = sum(row.kind == "improve" for row in trainer.state.learning)
    assert improved == 2 * 4  # all four are used


def test_use_counts_choose_the_rule(make_trainer: MakeTrainer, space: NetworkSpace) -> None:
    trainer = make_trainer()
    trainer.state = SearchState(four_rules(), [0] * 4, four_rules())
    networks = NetworkList(space.draw(1, 8))  # those of the first step
    batch = Engine(space.duration, jobs=1).run(
        [compile_policy(four_rules())], networks, np.zeros(8), np.arange(8), np.ones(8), keep_rule_hits=True
    )
    rule_hits = np.asarray(batch["trial_rule_hits"]).sum(axis=0)
    trainer.step()
    assert rule_hits.max() > sorted(rule_hits)[-2]
    assert trainer.state.generations == [int(rule == np.argmax(rule_hits)) for rule in range(4)]


def test_a_rule_without_uses_is_neither_improved_nor_split(make_trainer: MakeTrainer) -> None:
    table = bisect(one_rule(("rtt_ratio",)), 0, np.array([0.5]))  # nothing but the first look-up is below 0.5
    trainer = make_trainer(rounds=2, signals=("rtt_ratio",))
    trainer.state = SearchState(table.with_action(1, *POOR), [0, 0], table)
    while trainer.state.round == 0:
        trainer.step()
    assert trainer.state.table.lower[0, 0] == 0
    assert trainer.state.table.upper[0, 0] == 0.5


@pytest.mark.parametrize("worse", [True, False])
def test_the_check_restores_the_old_table_if_the_new_one_is_worse(
    make_trainer: MakeTrainer, space: NetworkSpace, worse: bool
) -> None:
    good, poor = one_rule(SIGNALS), one_rule(SIGNALS).with_action(0, *POOR)
    kept: list[RuleTable] = []
    trainer = make_trainer(check_networks=200, keep=lambda round_, table: kept.append(table))
    before, after = (good, poor) if worse else (poor, good)
    trainer.state = SearchState(after, [1], before, stage="check", step=5)
    trainer.step()
    assert trainer.state.table == trainer.state.before == good
    assert kept == [good]
    assert trainer.state.learning[-1].kind == "check"
    fresh = scores(space, good)
    assert trainer.state.learning[-1].score_bits == pytest.approx(fresh.mean(), abs=0.2)  # of the one kept
    assert (trainer.state.round, trainer.state.stage) == (1, "improve")


def test_the_check_keeps_a_table_that_is_no_worse(make_trainer: MakeTrainer) -> None:
    trainer = make_trainer()
    trainer.state = SearchState(four_rules(), [1] * 4, one_rule(SIGNALS), stage="check", step=5)
    trainer.step()
    assert trainer.state.table == four_rules()


def test_the_check_may_be_left_out(make_trainer: MakeTrainer) -> None:
    trainer = make_trainer(rounds=1, check_networks=0)
    run(trainer)
    assert [row.kind for row in trainer.state.learning] == ["improve", "split", "check"]
    assert trainer.state.learning[-1].trials == trainer.state.learning[-2].trials


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["racing", "exact"])
def test_no_budget_is_exceeded_and_a_step_that_it_cuts_short_ends_with_the_best_so_far(
    make_trainer: MakeTrainer, mode: str
) -> None:
    whole = make_trainer(mode=mode)
    run(whole)
    found = []
    for budget in range(30, whole.state.trials, 41):
        kept: list[tuple[int, RuleTable]] = []
        short = make_trainer(
            mode=mode, budget_trials=budget, keep=lambda round_, table, kept=kept: kept.append((round_, table))
        )
        table = run(short)
        assert short.state.trials <= budget
        assert short.state.trials >= budget - 120  # what the largest batch takes
        assert kept[-1][1] == table
        assert [round_ for round_, _ in kept] == sorted({round_ for round_, _ in kept})
        steps = len(short.learning)
        assert [r.step for r in short.learning[:-1]] == [r.step for r in whole.learning[: steps - 1]]
        assert [r.score_bits for r in short.learning[:-1]] == [r.score_bits for r in whole.learning[: steps - 1]]
        found.append(steps)
    assert len(set(found)) > 5


def test_the_rules_of_every_table_cover_the_domain_once(make_trainer: MakeTrainer) -> None:
    tables: list[RuleTable] = []
    run(make_trainer(rounds=3, keep=lambda round_, table: tables.append(table)))
    for table in tables:
        compile_policy(table)  # refuses overlaps and leaks


def test_absolute_pacing_and_few_fields_can_be_searched(make_trainer: MakeTrainer) -> None:
    table = run(make_trainer(rounds=1, pacing="absolute", optimise=["pacing"]))
    assert table.pacing_kind == "absolute"
    assert (table.increment[0], table.multiple[0]) == (1, 1)
    assert table.pacing[0] != 3


def test_networks_that_never_use_a_rule_need_no_trial(space: NetworkSpace) -> None:
    table = bisect(one_rule(SIGNALS), 0, np.array([1.3, 20.0])).with_action(0, 2, 1, 0.5)
    engine = Engine(space.duration, jobs=1)
    sample = NetworkSample(Effort(), engine, NetworkList(space.draw(3, 30)), 3, utility("default"))
    found, rule_hits = sample.baseline(compile_policy(table))
    rule = int(np.argmin(np.where(rule_hits.sum(axis=0) > 0, rule_hits.sum(axis=0), np.inf)))
    assert 0 < (rule_hits[:, rule] > 0).sum() < 30
    other = table.with_action(rule, 9, 0.5, 0.7)
    (changed,) = sample.scores([compile_policy(other)], [np.arange(30)])
    assert (changed[rule_hits[:, rule] == 0] == found[rule_hits[:, rule] == 0]).all()
    current = Action(float(table.increment[rule]), float(table.multiple[rule]), float(table.pacing[rule]))
    candidates = CandidateScores(sample, compile_policy(table), rule, current, found, rule_hits[:, rule])
    candidates.first([Action(9, 0.5, 0.7)], len(candidates))
    assert candidates.mean(Action(9, 0.5, 0.7)) == pytest.approx(changed.mean(), abs=1e-12)
