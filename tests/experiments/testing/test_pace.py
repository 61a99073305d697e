"""The tables that the pace of a campaign is measured under."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lcca.evaluation.trials.utilities import DEFAULT
from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.learning.training import engine_of
from lcca.experiments.testing.forecast import LOOK_UPS, PROBE, End, Forecast, Training, probe_table, trial_cpu_s
from lcca.trainers.base import Budget, Task
from lcca.trainers.rplus.actions import action_of
from lcca.trainers.search.trials import training_trials

from ...fixtures import TINY


@pytest.mark.parametrize("rules", [1, 5, 12])
def test_a_table_is_as_large_as_the_trainers_and_its_rules_are_used(tmp_path: Path, rules: int) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY + "headers: [nosignal-8b]\n")
    config = read_campaign(tmp_path / "tiny.yaml")
    for candidate in config.candidates:
        task = Task("x", candidate.signals.signals, config.networks, DEFAULT, 1, candidate.stamping(charged=False))
        trials = training_trials(task, engine_of(config, 1))
        table = probe_table(task.signals, rules, trials)
        assert len(table) == rules and table == probe_table(task.signals, rules, trials)
        used = trials.draw(LOOK_UPS, 0).look_ups(trials.compiled(table), table).use
        assert np.count_nonzero(used) > rules / 2
        assert (action_of(table, 0) == PROBE) == (rules == 1)


def test_a_table_that_cannot_be_parted_so_often_is_as_large_as_it_can_be(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    config = read_campaign(tmp_path / "tiny.yaml")
    task = Task("x", config.candidates[0].signals.signals, config.networks, DEFAULT, 1)
    assert 1 <= len(probe_table(task.signals, 500, training_trials(task, engine_of(config, 1)), look_ups=1)) < 500
    assert trial_cpu_s(config, 4) > 0


def test_time_follows_from_cores_and_from_what_must_wait() -> None:
    trainings = tuple(Training(str(i), str(i), i == 0) for i in range(11))  # one is done
    budgets, ends = {"": Budget(1000, "trials")}, (End(7, 200), End(11, 400))
    base = Forecast(trainings, budgets, {"": 0.01}, ends, 4, 1, (4, 3, 4))
    assert base.cpu_s == (6 * 10 + 2, 10 * 10 + 4) and base.wall_s == (62 / 4, 104 / 4), "each in turn, on all cores"
    slower = replace(base, ends=(End(7, 200, more_cpu_s=8.0), End(11, 400, more_cpu_s=20.0)))
    assert slower.cpu_s == (70, 124) and slower.wall_s == (70 / 4, 124 / 4), "trials elsewhere, on all cores"
    many = replace(base, jobs=100, at_once=2)
    assert many.wall_s == pytest.approx(((2 + 2) * 10 + 0.02, (2 + 2 + 2) * 10 + 0.04)), "two at once"
    assert replace(many, jobs=10**9, at_once=10**9).wall_s == pytest.approx((20, 30)), "one after another in each group"
