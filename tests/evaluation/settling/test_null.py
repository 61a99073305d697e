"""The benchmark of the rules on different real policies, in little: it passes what holds, and fails what does not."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.running import common_scores, run_trials
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile

ROOT = Path(__file__).parents[3]
REPETITIONS = 150


@pytest.fixture(scope="module")
def null() -> Any:
    """The benchmark as a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "benchmarks" / "settling"))
        import null

        return null


@pytest.fixture(scope="module")
def differences() -> np.ndarray:
    """Differences of two policies on 100 blocks of short trials."""
    space = read_config(ROOT / "configs" / "networks" / "default.yaml", NetworkSpace)
    policies = {n: policyfile.load(str(ROOT / "configs" / "policies" / f"{n}.json")).policy for n in ("e2e", "queue")}
    rows = run_trials(Engine(2000.0, jobs=1), policies, space.draw(3, 1600), [3], DEFAULT, keep_delays=False)
    scores = common_scores(rows)
    return (scores["queue"] - scores["e2e"]).reshape(-1, space.block)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t-mixture", "group-sequential"])
def test_rules_keep_their_rate_on_blocks(null: Any, differences: np.ndarray, name: str) -> None:
    row = null.measure(name, null.RULES[name], null._centred("a pair", differences, plain=False), REPETITIONS, 40)
    assert row.winner_low <= 0.05 and row.covered_high >= 0.95
    assert null.fails([row]) == [] or row.winner_high > 0.05  # few repetitions leave a wide bound


@pytest.mark.slow
def test_single_pairs_with_rare_losses_are_found_out(null: Any, differences: np.ndarray) -> None:
    rare = np.random.default_rng(5).random(differences.shape) < 1 / 300
    plain = null._centred("a pair", differences - 6 * rare, plain=True)
    row = null.measure("plain", null.PLAIN, plain, REPETITIONS, 1000)
    assert row.winner_low > 0.05
    repeated = null._centred("a pair", differences, plain=False)
    found = null.measure("repeated-t", null.RULES["repeated-t"], repeated, REPETITIONS, 40)
    assert found.all_covered < 0.9


def test_cceval_judges_once_and_only_when_accurate(null: Any) -> None:
    rule = null.CCEvalRule(accuracy_percent=1)
    margin = rule.margin_bits()
    run = rule.start()
    run.feed(np.random.default_rng(4).normal(0.2, 0.1, 4000).tolist())
    target = margin * math.log(1.01) / math.log(1.03)
    widths = [(look.high - look.low) / 2 for look in run.looks]
    judged = next(i for i, look in enumerate(run.looks) if look.verdict.settled)
    assert widths[judged] <= target < min(widths[:judged])
    assert run.looks[0].low > margin  # clear long before
    assert run.accurate and run.forecast().likely_low > 0


def test_rare_losses_count_at_the_end_of_a_run_that_meets_them(null: Any, differences: np.ndarray) -> None:
    row = null.measure("t-mixture", null.RULES["t-mixture"], null._centred("a pair", differences, plain=False), 20, 40)
    early = replace(row, winner=0.3, winner_high=0.32, winner_end=0.0, winner_end_high=0.01, covered_high=0.97)
    assert null.fails([early]) == ["t-mixture, a pair: winners 30.0%"]
    assert null.fails([replace(early, pair="made up: poor with one or two senders")]) != []
    assert null.fails([replace(early, winner=0.04, winner_high=0.05, covered=0.9, covered_high=0.94)]) != []
    rare = replace(early, pair="made up: one network in 300 starves", covered_high=0.9)
    assert null.fails([rare]) == []
    assert null.fails([replace(rare, winner_end=0.04, winner_end_high=0.07)]) != []
    assert null.fails([replace(rare, winner_end=0.055, winner_end_high=0.058)]) != []
    assert null.fails([replace(rare, rule="repeated-t", winner_end_high=0.5)]) == []  # not offered as valid
    assert row.winner_end <= row.winner_end_high <= row.winner_high  # what ends as a winner was one at a look
