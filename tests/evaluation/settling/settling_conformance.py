"""What every settling rule must do. A new rule subclasses `SettlingConformance` and gives its `rule`.

Error rates are measured, on normal blocks whose noise is twice the margin, and held against the
binomial bound that a true rate of α passes in 999 of 1,000 runs of the suite.
"""

import math
from collections import Counter
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError
from scipy import stats

from lcca.evaluation.settling.base import FEWEST_ALIKE, Forecast, Rule, Settling
from lcca.evaluation.settling.rules import AnyRule

MARGIN = math.log(1.03)
NOISE = 2 * MARGIN
RUNS = 300
MOST = 1500
"""Blocks that a comparison may take."""


def at_most(rate: float, runs: int) -> int:
    return int(stats.binom.ppf(0.999, runs, rate))


def ended(rule: Rule, draw: np.ndarray, accurate: bool = False) -> Settling:
    """Run until it is safe to stop, or as accurate as a run is to be, as a campaign does."""
    run = rule.start(MARGIN)
    for each in draw.tolist():
        run.feed([each])
        if run.accurate if accurate else run.state.verdict.settled:
            return run
    assert run.finished or rule.ceiling is None
    return run


@cache
def verdicts(rule: Rule, effect: float, seed: int = 1, accurate: bool = False) -> Counter[str]:
    rng = np.random.default_rng(seed)
    runs = RUNS // 5 if accurate else RUNS
    draws = (rng.normal(effect, NOISE, rule.ceiling or MOST) for _ in range(runs))
    return Counter(ended(rule, draw, accurate).state.verdict.name for draw in draws)


class SettlingConformance:
    rule: ClassVar[Rule]

    def start(self, **changes: object) -> Settling:
        return self.rule.model_copy(update=changes).start(MARGIN)

    def draw(self, seed: int, effect: float = 0.02, n: int = 1500) -> list[float]:
        return np.random.default_rng(seed).normal(effect, NOISE, n).tolist()

    # It is a value that a file can name.

    def test_a_file_names_it_by_its_kind(self) -> None:
        adapter: TypeAdapter[Rule] = TypeAdapter(AnyRule)
        assert adapter.validate_python({"kind": self.rule.kind}) == type(self.rule)()
        assert adapter.validate_python(self.rule.model_dump(mode="json")) == self.rule
        with pytest.raises(ValidationError):
            adapter.validate_python({"kind": self.rule.kind, "alfa": 0.1})
        with pytest.raises(ValidationError, match="ceiling must be at least first_look"):
            adapter.validate_python({"kind": self.rule.kind, "ceiling": 5})

    # Its state is a function of the first n differences alone.

    @pytest.mark.parametrize("size", [1, 7, 999])
    def test_neither_batches_nor_looking_matter(self, size: int) -> None:
        for seed in range(5):
            d = self.draw(seed, effect=0.01 * seed, n=1200)
            whole, parts = self.start(), self.start()
            whole.feed(d)
            for at in range(0, len(d), size):
                parts.feed(d[at : at + size])
                _ = (parts.state, parts.forecast(), parts.finished)
            assert whole.looks == parts.looks and whole.looks

    def test_what_is_not_fed_does_not_matter(self) -> None:
        for seed in range(5):
            d = self.draw(seed)
            long = self.start()
            long.feed(d[:200])
            for look in long.looks[:: max(len(long.looks) // 10, 1)]:
                short = self.start()
                assert short.feed(d[: look.n]) == look

    def test_the_last_look_counts_and_is_on_everything(self) -> None:
        d = self.draw(3, effect=0.2, n=300)
        run = self.start(ceiling=300)
        last = run.feed(d)
        assert last.verdict.name == "better" and last.verdict.by_more_than_margin and run.finished
        assert last.n == 300 and last.mean == pytest.approx(np.mean(d))
        assert last.spread == pytest.approx(np.std(d, ddof=1)) and last.skewness == pytest.approx(stats.skew(d))
        assert run.feed([-9.0] * 5000) == last
        changed = self.start(ceiling=300)
        changed.feed(d[:100] + [-9.0] * 200)
        assert changed.state.verdict.name != "better"

    def test_signs_and_units_do_not_matter(self) -> None:
        d = np.array(self.draw(5))
        there, back, scaled = self.start(), self.start(), self.rule.start(8 * MARGIN)
        there.feed(d.tolist()), back.feed((-d).tolist()), scaled.feed((8 * d).tolist())
        assert [(x.n, x.low, x.high) for x in there.looks] == [(x.n, -x.high, -x.low) for x in back.looks]
        ends = [(x.n, pytest.approx(x.low), pytest.approx(x.high)) for x in scaled.looks]
        assert [(x.n, 8 * x.low, 8 * x.high) for x in there.looks] == ends

    # It looks when it says, and ends when it must.

    def test_looks_are_in_order(self) -> None:
        looks = ended(self.rule, np.array(self.draw(11)), accurate=True).looks
        numbers = [look.n for look in looks]
        assert numbers == sorted(set(numbers)) and numbers[0] >= self.rule.first_look
        assert all(look.low <= look.mean <= look.high for look in looks)

    def test_before_the_first_look_nothing_is_said(self) -> None:
        run = self.start()
        state = run.feed([0.1] * 5)
        assert (state.n, state.low, state.e_value, run.forecast(), run.finished) == (0, -math.inf, 1.0, None, False)

    def test_the_last_look_is_at_the_ceiling(self) -> None:
        run = self.rule.model_copy(update={"ceiling": 45}).start(NOISE / 1000)
        state = run.feed(self.draw(2, effect=0.0, n=100))
        assert (state.n, run.finished) == (45, True)

    def test_differences_that_are_all_alike_wait(self) -> None:
        for value, name in ((0.0, "equivalent"), (0.2, "better")):
            run = self.start(ceiling=30)
            assert not run.feed([value] * (FEWEST_ALIKE - 1)).verdict.settled
            assert not run.looks or run.forecast() == Forecast(FEWEST_ALIKE, FEWEST_ALIKE, FEWEST_ALIKE)
            state = run.feed([value] * 24)
            assert state.verdict.name == name and state.n >= FEWEST_ALIKE

    def test_input_is_checked(self) -> None:
        with pytest.raises(ValueError, match="difference 2 is not finite"):
            self.start().feed([0.0, math.nan])
        with pytest.raises(ValueError, match="margin must be > 0"):
            self.rule.start(0.0)

    def test_forecasts_are_ranges_that_hold(self) -> None:
        inside = 0
        for seed in range(60):
            d = self.draw(seed, effect=0.0)
            run = self.start()
            for difference in d:
                run.feed([difference])
                if run.looks:
                    break
            ahead, n = run.forecast(), ended(self.rule, np.array(d)).state.n
            assert ahead is not None and 6 <= ahead.likely_low <= ahead.likely_high <= ahead.ceiling
            inside += ahead.likely_low <= n <= ahead.likely_high + self.rule.every
        assert inside >= 45

    def test_sharing_alpha_takes_longer(self) -> None:
        shared = self.rule.shared_among(10)
        assert (type(shared), shared.alpha) == (type(self.rule), pytest.approx(self.rule.alpha / 10))
        d = np.array(self.draw(4, effect=0.0, n=self.rule.ceiling or 6000))
        later, sooner = ended(shared, d).state, ended(self.rule, d).state
        assert (later.n, later.high - later.low) > (sooner.n, sooner.high - sooner.low)

    # Its error rates.

    def check(self, wrong: int) -> None:
        assert wrong <= at_most(self.rule.alpha, RUNS)

    def test_equal_policies_have_no_winner(self) -> None:
        found = verdicts(self.rule, 0.0)
        self.check(found["better"] + found["worse"])

    def test_a_difference_of_the_margin_is_not_equivalent(self) -> None:
        found = verdicts(self.rule, MARGIN)
        assert found["equivalent"] + found["worse"] <= at_most(self.rule.alpha, RUNS)

    @pytest.mark.slow
    def test_it_is_as_right_at_its_end(self) -> None:
        """Blocks that were run after it was safe to stop count too: the last look is held to the same rate."""
        null, at_margin = (verdicts(self.rule, effect, accurate=True) for effect in (0.0, MARGIN))
        wrong = null["better"] + null["worse"], at_margin["equivalent"] + at_margin["worse"]
        assert max(wrong) <= at_most(self.rule.alpha, RUNS // 5)

    def test_clear_differences_are_found(self) -> None:
        found = verdicts(self.rule, 2 * MARGIN)
        assert found["better"] >= 0.97 * RUNS

    def test_equal_policies_are_found_equivalent(self) -> None:
        missed = RUNS - verdicts(self.rule, 0.0)["equivalent"]
        assert missed <= at_most(self.rule.alpha, RUNS)

    def test_evidence_holds_where_it_stops(self) -> None:
        rng = np.random.default_rng(3)
        draws = (rng.normal(0, NOISE, self.rule.ceiling or MOST) for _ in range(RUNS))
        strong = sum(ended(self.rule, draw).state.e_value >= 20 for draw in draws)
        assert strong <= at_most(0.05, RUNS)
