import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcca.remy_plus.policies.rules import one_rule
from lcca.trainers.rplus.actions import (
    ABSOLUTE,
    FIELDS,
    MOST_CANDIDATES,
    RELATIVE,
    Action,
    Field,
    Limits,
    action_of,
    candidates,
)
from lcca.trainers.rplus.config import RplusConfig

START = Action(1, 1, 1.5)


def values(grid: list[Action], field: Field) -> list[float]:
    return list(dict.fromkeys(getattr(action, field) for action in grid))


def test_the_start_rule_has_the_140_candidates_of_rplus() -> None:
    grid = candidates(START, "relative")
    assert values(grid, "increment") == [1, 2, 0, 5, 17]
    assert values(grid, "multiple") == [1, 0.99, 0.96, 0.84]
    assert values(grid, "pacing") == [1.5, 1.55, 1.45, 1.7, 1.3, 2.3, 0.7]
    assert len(grid) == 5 * 4 * 7 == 140


def test_the_start_rule_is_the_one_that_a_search_begins_with() -> None:
    assert action_of(one_rule(["rtt_ratio"]), 0) == START
    assert action_of(one_rule(["rtt_ratio"], "absolute"), 0) == Action(1, 1, 3)


def test_candidates_come_in_rplus_order_the_action_itself_first() -> None:
    grid = candidates(START, "relative")
    increments, multiples, pacings = (values(grid, field) for field in FIELDS)
    assert grid == [Action(*each) for each in itertools.product(increments, multiples, pacings)]
    assert grid[0] == START


@pytest.mark.parametrize(
    ("optimise", "count"),
    [
        (("increment",), 5),
        (("multiple",), 4),
        (("pacing",), 7),
        (("increment", "pacing"), 35),
        (("pacing", "multiple"), 28),
    ],
)
def test_fields_that_are_not_optimised_keep_their_value(optimise: tuple[Field, ...], count: int) -> None:
    grid = candidates(START, "relative", optimise)
    assert len(grid) == count
    for field in FIELDS:
        if field not in optimise:
            assert values(grid, field) == [getattr(START, field)]


def test_a_rule_amid_its_limits_has_343_candidates() -> None:
    assert len(candidates(Action(40, 0.5, 1.5), "relative")) == MOST_CANDIDATES == 343
    assert len(candidates(Action(40, 0.5, 1.5), "relative", ("increment", "pacing"))) == 49


def test_multiple_and_pacing_are_cut_to_four_decimals() -> None:
    odd = Action(40, 0.42345, 1.00009)
    grid = candidates(odd, "relative")
    assert grid[0] == odd
    assert {0.4234, 0.4334, 0.4134} < set(values(grid[1:], "multiple"))
    assert {1.0, 1.05, 0.95} < set(values(grid[1:], "pacing"))
    assert len(grid) == MOST_CANDIDATES


def test_a_climb_meets_the_same_candidates_again() -> None:
    assert all(START in candidates(neighbour, "relative") for neighbour in candidates(START, "relative"))


def test_absolute_pacing_reaches_a_fair_share_of_many_senders_in_equal_ratios() -> None:
    grid = values(candidates(Action(1, 1, 4), "absolute"), "pacing")
    assert 16 / 2 < ABSOLUTE["pacing"].high and ABSOLUTE["pacing"].low == 0.25
    assert max(grid) == pytest.approx(4 * math.exp(0.8), rel=0.03) and min(grid) == pytest.approx(4 / 2.23, rel=0.03)
    assert min(values(candidates(Action(1, 1, 0.4), "relative"), "pacing")) == 0.2


def test_pacing_by_signals_is_searched_around_its_unit() -> None:
    grid = values(candidates(Action(1, 1, 1), "1/fair_rate"), "pacing")
    assert grid == pytest.approx([1, 1.0202, 0.9801, 1.0832, 0.9231, 1.3771, 0.7261], abs=1e-3)


@pytest.mark.parametrize(
    ("signals", "kind"),
    [
        (("rtt_ratio", "queue"), "relative"),
        (("flows", "rtt_ratio"), "relative"),
        (("capacity",), "relative"),
        (("flows", "capacity"), "flows/capacity"),
        (("capacity", "flows", "fair_rate"), "1/fair_rate"),
    ],
)
def test_auto_takes_what_the_signals_offer(signals: tuple[str, ...], kind: str) -> None:
    assert RplusConfig(pacing="auto").pacing_of(signals) == kind
    assert RplusConfig(pacing="absolute").pacing_of(signals) == "absolute"


def test_a_climb_in_equal_ratios_meets_the_same_candidates_again() -> None:
    middle = candidates(Action(1, 1, 1), "absolute")[0]
    assert all(middle in candidates(neighbour, "absolute") for neighbour in candidates(middle, "absolute"))


def test_steps_grow_by_the_factor_up_to_the_largest() -> None:
    assert RELATIVE["increment"].steps() == [1, 4, 16]
    assert RELATIVE["multiple"].steps() == pytest.approx([0.01, 0.04, 0.16])
    assert RELATIVE["pacing"].steps() == pytest.approx([0.05, 0.2, 0.8])
    assert Limits(0, 10, 1, 16, 1).steps() == [1, 4, 16]


def test_alternatives_are_cut_off_at_the_most() -> None:
    assert RELATIVE["increment"].alternatives(40, 4) == [40, 41, 39, 44]


@given(
    st.integers(0, 256),
    st.integers(0, 10_000).map(lambda n: n / 10_000),
    st.integers(1000, 30_000).map(lambda n: n / 10_000),
    st.lists(st.sampled_from(FIELDS), min_size=1, max_size=3, unique=True),
)
def test_every_candidate_lies_inside_the_limits(
    increment: int, multiple: float, pacing: float, optimise: list[Field]
) -> None:
    action = Action(increment, multiple, pacing)
    grid = candidates(action, "relative", tuple(optimise))
    assert grid[0] == action
    assert len(grid) == len(set(grid)) <= MOST_CANDIDATES
    for field in FIELDS:
        limits = RELATIVE[field]
        assert all(limits.low <= getattr(each, field) <= limits.high for each in grid)
    assert all(each.increment == math.floor(each.increment) for each in grid)
