"""Homa against what its paper found by simulation: tails of short messages at a load of 80 %."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lcca.evaluation.fabric.scenario import read_scenario
from lcca.evaluation.fabric.trials import FabricTrial, run_fabric_trials
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.switches.transports import Transport

SCENARIO = Path(__file__).parents[3] / "configs" / "fabric" / "homa.yaml"
MOST_OF_SHORT = 2.2
"""p99 of the slowdown of the shortest half of the messages at 80 %, whatever the workload (paper, section 5.2)."""


def trial(sizes: str, load: float, duration_us: float, *more: str, **parameters: float) -> FabricTrial:
    own = (f"workload.sizes={sizes}", f"workload.load={load}", f"duration_us={duration_us}")
    scenario = read_scenario(SCENARIO, [*own, f"warmup_us={duration_us / 5}", *more])
    engine = engine_of(Transport("homa", parameters), scenario.settings())
    return run_fabric_trials(scenario, {"homa": engine}, [1])[0]


def tails(found: FabricTrial) -> np.ndarray:
    """Return the p99 of the slowdown of each tenth of the messages, by size."""
    size, slowdown = found.flows.size_bytes[found.started], found.times.at_least / found.times.ideal
    ends = np.quantile(size, np.arange(11) / 10)
    parts = [(size >= low) & (size <= high) for low, high in pairwise(ends)]
    return np.array([np.quantile(slowdown[part], 0.99) for part in parts])


@pytest.mark.full
@pytest.mark.parametrize(
    ("sizes", "load", "duration_us", "parameters"),
    [
        ("google-rpc", 0.73, 4000, {"unscheduled_levels": 4}),  # W3; its simulator gave granted data four classes
        ("fb-hadoop", 0.75, 20_000, {}),  # W4
        ("websearch", 0.75, 50_000, {}),  # W5
    ],
)
def test_tails_of_short_messages(sizes: str, load: float, duration_us: float, parameters: dict[str, float]) -> None:
    found = trial(sizes, load, duration_us, **parameters)
    short = tails(found)[:5]
    assert found.record["port_drops"].sum() == 0
    assert 1.3 < short.max() < 1.15 * MOST_OF_SHORT


@pytest.mark.full
def test_without_classes_of_traffic_tails_are_longer() -> None:
    """With one class, short messages wait behind long ones."""
    eight, one = (tails(trial("fb-hadoop", 0.75, 10_000, *more)) for more in ((), ("switch.priorities=1",)))
    assert (one[:5] > 1.4 * eight[:5]).all()
