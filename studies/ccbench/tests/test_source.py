"""Trials of a benchmark with a runner that knows what every control does."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.comparison.ranking import rank
from lcca.evaluation.settling.rules import BY_KIND
from lcca.evaluation.trials.blocks import Block
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.policies.policy import Policy
from lcca.studies.ccbench.benchmark import Benchmark, benchmark
from lcca.studies.ccbench.scenario import Drawn, Measured
from lcca.studies.ccbench.source import BenchTrials

FIRST = benchmark("cc-bench-1")
FULL, HALF, LATE = (baseline(f"fixed-window:{n}") for n in (1, 2, 3))
NAMES = {"full": FULL, "half": HALF, "late": LATE}


class Known:
    """All of the link without a queue; half of it; all of it, but three times as late and once in five not at all."""

    name = "known"

    def key(self, benchmark: Benchmark, policy: Policy, drawn: Drawn) -> str:
        return f"{policy} {drawn}"

    def measure(self, benchmark: Benchmark, asked: Sequence[tuple[Policy, Drawn]]) -> Iterator[tuple[int, Measured]]:
        for place, (policy, drawn) in reversed(list(enumerate(asked))):
            yield place, self._one(policy, drawn, len(benchmark.intervals_s))

    def _one(self, policy: Policy, drawn: Drawn, count: int) -> Measured:
        link, delay = drawn.scenario.link_mbps, drawn.scenario.rtt_ms / 2
        if policy == LATE and drawn.number % 5 == 4:
            return Measured(np.empty(0), np.empty(0), "ns-3 ended itself")
        rates = np.full(count, link / 2 if policy == HALF else link)
        delays = np.full(count, 3 * delay if policy == LATE else delay)
        if policy == FULL:
            rates[0] = 0.1  # slow to begin: the first interval is another's
        return Measured(rates, delays)


SOURCE = BenchTrials(FIRST, 1, Known())


def test_who_wins_follows_from_all_controls_of_a_trial() -> None:
    """First interval: a third of the power against a quarter; the others: all of it at once."""
    rows = SOURCE.rows(NAMES, Block(0, 0, 4)).set_index(["policy", "network"])["score_bits"].unstack()
    assert (rows.loc["full"] == 0.75).all() and (rows.loc["late"] == 0.25).all() and (rows.loc["half"] == 0).all()


def test_a_failed_trial_leaves_the_others_a_winner() -> None:
    rows = SOURCE.rows(NAMES, Block(0, 4, 1)).set_index("policy")
    assert rows["status"].to_dict() == {"full": "ok", "half": "ok", "late": "failed"}
    assert rows["won"].to_dict() == {
        "full": [False, True, True, True],
        "half": [True, False, False, False],
        "late": [False] * 4,
    }


def test_stretches_add_up_to_the_whole() -> None:
    whole = SOURCE.rows(NAMES, Block(0, 0, 12)).sort_values(["policy", "network"])
    parts = pd.concat([SOURCE.rows(NAMES, Block(i, 6 * i, 6)) for i in range(2)]).sort_values(["policy", "network"])
    pd.testing.assert_frame_equal(whole.reset_index(drop=True), parts.reset_index(drop=True))


def test_equal_controls_settle_nothing_before_a_hundred_scenarios() -> None:
    scores = {name: np.zeros((SOURCE.first_look - 1) * SOURCE.block) for name in ("a", "b")}
    rule = BY_KIND["t-mixture"](ceiling=40, first_look=SOURCE.first_look)
    found = rank(scores, utility=SOURCE.utility, rule=rule, block=SOURCE.block)
    assert not found.settled and SOURCE.first_look * SOURCE.block >= 100


def test_winning_rates_make_a_ranking_with_intervals() -> None:
    rng = np.random.default_rng(3)
    scores = {name: rng.binomial(4, p, 720) / 4 for name, p in (("a", 0.6), ("b", 0.3), ("c", 0.3))}
    found = rank(scores, utility=SOURCE.utility, rule=BY_KIND["t-mixture"](ceiling=40), block=SOURCE.block)
    assert found.standings[0].policy == "a"
    assert found.standings[0].worst_rank == 1 and found.standings[1].best_rank == 2
    assert found.standings[0].low < 0.6 < found.standings[0].high
    assert found.comparisons[0].margin == pytest.approx(0.03)
