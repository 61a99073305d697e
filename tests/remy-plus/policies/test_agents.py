"""What agents see and say: the maps of the engine against their definitions."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.core.signals import SIGNAL_CEILING, SIGNALS
from lcca.remy_plus.policies.agents import (
    EVERY_ACK,
    Agent,
    Decisions,
    RateSteering,
    TableSteering,
    WindowSteering,
    agent_from_json,
)

ALL = Agent(SIGNALS)

ROW = re.compile(r"^\| (`.+?) \| (?:log₂\(1 \+ x(?: / ([\d.]+))?\)(?: / (\d+))?|x) \|$", re.MULTILINE)


def documented() -> dict[str, tuple[float, float] | None]:
    """Return unit and divisor of log2(1 + value / unit) / divisor as the page has them; None: the value itself."""
    page = (Path(__file__).parents[3] / "docs/reference/environments.md").read_text(encoding="utf-8")
    return {
        name: (float(row[2] or 1), float(row[3] or 1)) if "log" in row[0] else None
        for row in ROW.finditer(page)
        for name in re.findall("`([a-z_0-9]+)`", row[1])
    }


SCALES = documented()


@pytest.mark.parametrize("name", SIGNALS)
def test_signals_are_scaled_as_documented(name: str) -> None:
    at = SIGNALS.index(name)
    scale = SCALES[name]
    values = np.array([0, 1]) if scale is None else np.array([0, 1e-6, 0.3, 1, 7, 1234.5, SIGNAL_CEILING, 1e9])
    rows = np.zeros((len(values), len(SIGNALS)))
    rows[:, at] = values
    seen = np.asarray(Agent((name,)).compile().see(rows))[:, 0]
    if scale is None:
        expected = values.astype(float)
    else:
        expected = np.log2(1 + np.minimum(values, SIGNAL_CEILING) / scale[0]) / scale[1]
    np.testing.assert_allclose(seen, expected, rtol=1e-6)
    assert seen.dtype == np.float32
    assert (seen <= Agent((name,)).bounds[0]).all()


def change(a: float, k: float) -> float:
    a = min(max(a, -1.0), 1.0)
    return 1 + k * a if a >= 0 else 1 / (1 - k * a)


@pytest.mark.parametrize("a", [-3.0, -1.0, -0.4, 0.0, 0.7, 1.0, 2.0])
def test_windows_are_multiplied_and_added_to(a: float) -> None:
    agent = Agent(("loss",), steering=WindowSteering(multiple=0.5, increment=4, pacing=0.8)).compile()
    assert agent.numbers == 3
    numbers = [a, -a, a / 2]
    window, gap, *_ = agent.steer(40.0, 1.0, 0.7, numbers)
    f = [float(np.float32(x)) for x in numbers]
    assert window == pytest.approx(max(40 * change(f[0], 0.5) + 4 * min(max(f[1], -1), 1), 2))
    assert gap == pytest.approx(change(f[2], 0.8) * 0.7)


def test_opposite_numbers_undo_each_other() -> None:
    agent = Agent(("loss",)).compile()
    up, *_ = agent.steer(40.0, 0.0, 0.7, [0.3])
    down, gap = agent.steer(up, 0.0, 0.7, [-0.3])
    assert down == pytest.approx(40)
    assert gap == 0


def test_windows_stay_within_their_bounds() -> None:
    agent = Agent(("loss",), steering=WindowSteering(initial=5, smallest=4, largest=6)).compile()
    assert agent.steer(5.0, 0.0, 1.0, [1.0])[0] == 6
    assert agent.steer(5.0, 0.0, 1.0, [-1.0])[0] == 4


def test_rates_are_multiplied() -> None:
    agent = Agent(("loss",), steering=RateSteering(multiple=0.25, initial=1, smallest=0.5, largest=2)).compile()
    assert agent.steer(1e6, 1.0, 9.0, [1.0]) == (1e6, pytest.approx(1 / 1.25))
    assert agent.steer(1e6, 1.0, 9.0, [-1.0]) == (1e6, pytest.approx(1.25))
    assert agent.steer(1e6, 0.5, 9.0, [1.0])[1] == 0.5
    assert agent.steer(1e6, 2.0, 9.0, [-1.0])[1] == 2.0


def test_tables_act_like_rules() -> None:
    agent = Agent(("loss",), steering=TableSteering(((3, 0.55, 0.4), (0, 2, 0)), smallest=0)).compile()
    assert agent.steer(9.0, 0.0, 0.5, [0]) == (math.floor(9 * 0.55 + 3), 0.4 * 0.5)
    assert agent.steer(9.0, 0.0, 0.5, [1]) == (18, 0)
    with pytest.raises(ValueError, match="index"):
        agent.steer(9.0, 0.0, 0.5, [2])


@pytest.mark.parametrize(
    "agent",
    [
        ALL,
        Agent(("loss", "queue"), 4, EVERY_ACK, TableSteering()),
        Agent(("loss",), 10, Decisions(2.0, "smallest"), RateSteering(0.025, 0.3)),
    ],
)
def test_agents_survive_json(agent: Agent) -> None:
    assert agent_from_json(json.loads(json.dumps(agent.as_json()))) == agent


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"signals": ["los"]}, "did you mean"),
        ({"signals": []}, "signal"),
        ({"history": 0}, "history"),
        ({"history": 1.5}, "history"),
        ({"history": True}, "history"),
        ({"decisions": {"rtts": -1}}, "rtts"),
        ({"decisions": {"rtt": 1}}, "rtts"),
        ({"decisions": {"round_trip": "mean"}}, "round_trip"),
        ({"decisions": 3}, "object"),
        ({"steering": {"kind": "wndow"}}, "did you mean 'window'"),
        ({"steering": {"kind": "window", "initial": 0.5}}, "initial"),
        ({"steering": {"kind": "window", "multiple": math.nan}}, "multiple"),
        ({"steering": {"kind": "rate", "smallest": 0}}, "smallest"),
        ({"steering": {"kind": "table", "actions": []}}, "at least one"),
        ({"steering": {"kind": "table", "actions": [[1, 2]]}}, r"actions.0"),
        ({"stering": {}}, "steering"),
    ],
)
def test_bad_agents_are_refused(change: dict[str, object], message: str) -> None:
    document = {**Agent(("loss",)).as_json(), **change}
    with pytest.raises(InputError, match=message):
        agent_from_json(document)


def test_every_signal_has_its_scale_documented() -> None:
    assert set(SCALES) == set(SIGNALS)
