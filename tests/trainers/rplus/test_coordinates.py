"""Points and actions are the same thing in other units, whole and inside the ranges."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lcca.remy_plus.policies.rules import Windows, one_rule
from lcca.trainers.rplus.actions import FIELDS, Coordinates, Field, actions_of, limits, with_actions

Kind = Literal["relative", "absolute"]
KINDS: tuple[Kind, ...] = ("relative", "absolute")


@pytest.mark.parametrize("kind", KINDS)
@given(increment=st.integers(0, 256), multiple=st.floats(0, 1), pacing=st.floats(0.25, 3))
def test_an_action_survives_its_coordinates(kind: Kind, increment: int, multiple: float, pacing: float) -> None:
    actions = np.array([[increment, multiple, pacing]])
    coordinates = Coordinates(kind)
    again = coordinates.actions(coordinates.point(actions), actions)
    assert again[0, 0] == increment
    np.testing.assert_allclose(again, actions, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3))
def test_coordinates_are_those_of_the_limits(kind: Kind, values: list[float]) -> None:
    point = np.array([values])
    found = Coordinates(kind).actions(point, np.ones((1, 3)))[0]
    for field, at, value in zip(FIELDS, values, found, strict=True):
        within = limits(kind)[field]
        along = math.exp(min(at * within.scale, 100.0)) if within.ratio else at * within.scale
        expected = min(max(along, within.low), within.high)
        assert math.isclose(value, round(expected) if field == "increment" else expected, abs_tol=1e-12)
    back = [
        (math.log(value) if limits(kind)[field].ratio else value) / limits(kind)[field].scale
        for field, value in zip(FIELDS, found, strict=True)
    ]
    np.testing.assert_allclose(Coordinates(kind).point(found[None])[0], back, atol=1e-9)


@given(increment=st.floats(-1, 256), multiple=st.floats(0, 1), pacing=st.floats(0.1, 3))
def test_an_action_of_a_real_window_survives_its_coordinates(increment: float, multiple: float, pacing: float) -> None:
    actions = np.array([[increment, multiple, pacing]])
    coordinates = Coordinates("relative", windows="real")
    point = coordinates.point(actions)
    np.testing.assert_allclose(coordinates.actions(point, np.zeros((1, 3))), actions, rtol=1e-12, atol=1e-12)
    signed = [np.copysign(np.log1p(abs(d) / knee), d) / 0.5 for d, knee in ((increment, 0.1), (multiple - 1, 0.02))]
    np.testing.assert_allclose(point[0, :2], signed, rtol=1e-9, atol=1e-9)


def test_steps_of_real_windows_are_fine_near_none_and_wide_far_from_it() -> None:
    coordinates = Coordinates("relative", windows="real")
    places = np.array([[[0.0, 1.0, 1.0]], [[40.0, 0.5, 1.0]]])
    steps = np.abs(coordinates.actions(coordinates.point(places) - 0.1, places[0]) - places)[:, 0]
    assert 0.001 < steps[0, 0] < 0.01 and 1 < steps[1, 0] < 3
    assert 0.0005 < steps[0, 1] < 0.002 and 0.01 < steps[1, 1] < 0.04


@pytest.mark.parametrize("windows", ["whole", "real"])
@pytest.mark.parametrize("fields", [("pacing",), ("pacing", "increment"), ("multiple",)])
def test_fields_that_are_not_optimised_keep_their_values(fields: tuple[Field, ...], windows: Windows) -> None:
    rng = np.random.default_rng(1)
    others = np.column_stack([rng.integers(0, 256, 4), rng.random(4), rng.uniform(0.25, 3, 4)])
    coordinates = Coordinates("relative", fields, windows)
    point = rng.uniform(-5, 30, (6, 4, len(fields)))
    found = coordinates.actions(point, others)
    assert found.shape == (6, 4, 3)
    for at, field in enumerate(FIELDS):
        same = (found[..., at] == others[:, at]).all()
        assert same == (field not in fields)
    np.testing.assert_array_equal(coordinates.inside(coordinates.point(found)), coordinates.point(found))


def test_a_table_with_other_actions_keeps_its_boxes() -> None:
    table = one_rule(("loss",), "absolute")
    changed = with_actions(table, np.array([[7.0, 0.5, 2.0]]))
    assert actions_of(changed).tolist() == [[7, 0.5, 2]]
    assert changed == table.with_action(0, 7, 0.5, 2)
