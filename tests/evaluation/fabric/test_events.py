"""Events of scenarios: what their files say, what cannot be, and what trials and utilities make of them."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ruamel.yaml import YAML

from lcca.evaluation.fabric.events import EventModel, link_events
from lcca.evaluation.fabric.scenario import FabricScenario, read_scenario
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.fabric.trials import FabricTrial, require_rounds, require_runs, run_fabric_trials
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.metrics import of_fabric_trial
from lcca.evaluation.trials.place import Execution
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import leaf_spine
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.tuners.tuned import named_transport

CONFIG = Path(__file__).parents[3] / "configs" / "fabric" / "link-failure.yaml"
KEYS: dict[str, Any] = {
    "name": "small",
    "topology": {"kind": "leaf-spine", "tors": 2, "hosts_per_tor": 2, "spines": 2},  # 0 to 3, 4 and 5, 6 and 7
    "workload": {"kind": "permutation", "bytes": 400_000},
    "duration_us": 200,
    "drain_us": 5000,
}


def event(**keys: Any) -> EventModel:
    return EventModel.model_validate(keys)


def test_events_become_changes_of_links() -> None:
    """A flapping link that is slow, and a switch with two links to ToRs: in time, what ends first."""
    topology = leaf_spine(2, 2, 2)
    slow = event(at_us=20, link=[6, 4], gbps=25, for_us=5, times=2, every_us=10)
    found = link_events(
        [slow, event(at_us=10, switch=7, for_us=15), event(at_us=25, link=[0, 4], down=True)], 7, topology
    )
    assert found.convergence_ns == 7000
    assert [(each.at_ns, each.a, each.b, each.gbps, each.event) for each in found.changes] == [
        (10_000, 4, 7, 0, 0),
        (10_000, 5, 7, 0, 0),
        (20_000, 4, 6, 25, 1),
        (25_000, 4, 7, None, 0),
        (25_000, 5, 7, None, 0),
        (25_000, 4, 6, None, 1),
        (25_000, 0, 4, 0, 2),
        (30_000, 4, 6, 25, 1),
        (35_000, 4, 6, None, 1),
    ]


def test_scenarios_without_events_are_written_as_before() -> None:
    """Their texts decide digests of runs that are kept."""
    plain = FabricScenario.model_validate(KEYS)
    assert {"events", "convergence_us"}.isdisjoint(plain.model_dump()) and plain.fabric.events is None
    down = FabricScenario.model_validate(KEYS | {"events": [{"at_us": 5, "link": [4, 6], "down": True}]})
    assert down.model_dump()["convergence_us"] == 100
    assert FabricScenario.model_validate(down.model_dump(exclude_none=True)) == down


DOWN = {"at_us": 50, "link": [4, 6], "down": True}


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([{"at_us": 5}], r"s\.yaml:\d+: events\.0\.link: name the two nodes of a link, or in its place a switch"),
        ([DOWN | {"switch": 6}], r"events\.0\.link: name the two nodes"),
        ([{"at_us": 5, "switch": 6, "gbps": 5}], r"s\.yaml:\d+: events\.0\.gbps: is of a link"),
        ([{"at_us": 5, "link": [4, 6]}], r"events\.0\.down: say down: true, or in its place the rate, gbps"),
        ([DOWN | {"gbps": 5}], r"events\.0\.gbps: say down: true"),
        ([DOWN | {"down": False}], r"events\.0\.down: say down: true"),
        ([DOWN | {"times": 3}], r"events\.0\.every_us: goes with times above 1"),
        ([DOWN | {"every_us": 3}], r"events\.0\.every_us: goes with times above 1"),
        ([DOWN | {"times": 3, "every_us": 9}], r"events\.0\.for_us: must be below every_us \(9\), so that it ends"),
        ([DOWN | {"times": 3, "every_us": 9, "for_us": 9}], r"events\.0\.for_us: must be below every_us"),
        ([DOWN | {"link": [4, 1000]}], r"s\.yaml:\d+: events\.0\.link: nodes 4 and 1000 have no link; .* 0, 1, 6, 7"),
        ([DOWN | {"link": [9, 4]}], r"events\.0\.link: nodes 9 and 4 have no link; nodes are 0 to 7"),
        ([DOWN | {"link": [0, 1]}], r"events\.0\.link: nodes 0 and 1 have no link; node 0 has links to 4"),
        ([{"at_us": 5, "switch": 3}], r"events\.0\.switch: must be a switch, 4 to 7, got 3"),
        (
            [{"switch": 6, "at_us": k, "for_us": 1e-6, "times": 10_000, "every_us": 2e-6} for k in range(11)],
            r"s\.yaml:\d+: events: change links 220,000 times, more than 200,000; ask for fewer",
        ),
        ([DOWN | {"at_us": 200}], r"events\.0\.at_us: must be less than duration_us \(200\)"),
        (
            [DOWN | {"at_us": 60}, DOWN | {"link": [6, 4]}],
            r"s\.yaml:\d+: events\.0\.at_us: changes link 4–6 at 60 µs, .* events\[1\] holds to the end; give",
        ),
        (
            [DOWN | {"for_us": 20}, {"at_us": 69, "switch": 6}],
            r"events\.1\.at_us: changes link 4–6 at 69 µs, which events\[0\] holds until 70 µs",
        ),
        ([DOWN | {"at_us": -1}], r"s\.yaml:\d+: events\.0\.at_us: must be >= 0"),
        ([DOWN | {"for": 1}], r"s\.yaml:\d+: events\.0\.for: unknown key \(did you mean 'for_us'\?\)"),
    ],
)
def test_events_that_cannot_be(tmp_path: Path, events: list[dict[str, Any]], message: str) -> None:
    with (tmp_path / "s.yaml").open("w") as file:
        YAML().dump(KEYS | {"events": events}, file)
    with pytest.raises(InputError, match=message) as raised:
        read_scenario(tmp_path / "s.yaml")
    assert str(raised.value).count(": events") == 1


def test_events_one_after_another_go_together() -> None:
    events = [DOWN | {"for_us": 20}, {"at_us": 70, "switch": 6, "for_us": 1}, DOWN | {"at_us": 71}]
    assert len(FabricScenario.model_validate(KEYS | {"events": events}).fabric.events.changes) == 7  # type: ignore[union-attr]


def trial_of(took_ns: list[float], begins_ns: list[float], end_ns: float) -> FabricTrial:
    record = {
        "flow_start_ns": np.zeros(1),
        "flow_fct_ns": np.full(1, np.nan),
        "flow_ideal_ns": np.ones(1),
        "end_ns": end_ns,
        "event_ns": np.array(begins_ns),
        "event_recovery_ns": np.array(took_ns),
        "event_lost_packets": np.arange(len(took_ns), dtype=float),
    }
    return FabricTrial("x", 1, 2, FabricFlows(np.array([0]), np.array([1]), np.array([1]), np.zeros(1)), record)


def test_the_recovery_of_a_trial_by_hand() -> None:
    """60 µs; until the end, which is 300 µs later; one that did not begin. 1 + 180 / 10 = 19."""
    trial, recovery = trial_of([60e3, math.inf, math.nan], [100e3, 700e3, 2e6], 1e6), fabric_utility("recovery")
    found = of_fabric_trial(trial)
    assert (found["recovery_us"], found["lost_packets"]) == (180, 3)
    assert trial.score(recovery) == pytest.approx(-math.log2(19))
    assert recovery.measured(trial.score(recovery)) == pytest.approx(180)
    assert trial_of([0.0], [0.0], 1.0).score(recovery) == 0
    assert np.isnan(trial_of([math.nan], [2e6], 1e6).score(recovery))


def test_what_has_no_events_or_no_links_is_refused() -> None:
    plain, recovery = FabricScenario.model_validate(KEYS), fabric_utility("recovery")
    with pytest.raises(InputError, match="recovery: small has no events; give it some, in which links fail"):
        require_rounds([plain], recovery)
    down = FabricScenario.model_validate(KEYS | {"events": [DOWN]})
    require_rounds([down], recovery)
    ideal = engine_of(named_transport("srpt"), down.settings())
    with pytest.raises(InputError, match="srpt cannot have events, in which links fail or slow down; leave it out"):
        require_runs(down, "srpt", ideal, fabric_utility("slowdown"))
    fluids = FabricSpace(fabric=down).trials(1, fabric_utility("slowdown"), Execution(simulator="fluid"))
    with pytest.raises(InputError, match="simulator fluid cannot have events"):
        fluids.rows({"dctcp": named_transport("dctcp")}, Block(0, 0, 4))


def test_the_scenario_that_ships_tells_timers_from_notices() -> None:
    """Windows of what is lost wait for the timer of 1 ms; those that go on sending hear of it as routing does."""
    scenario = read_scenario(CONFIG)
    engines = {name: engine_of(named_transport(name), scenario.settings()) for name in ("dctcp", "dcqcn")}
    windows, rates = run_fabric_trials(scenario, engines, [1])
    assert of_fabric_trial(rates)["recovery_us"] == pytest.approx(scenario.convergence_us, abs=20)
    assert of_fabric_trial(windows)["recovery_us"] == pytest.approx(1000, abs=50)
    assert of_fabric_trial(windows)["flows_finished"] == 16
    assert of_fabric_trial(rates)["lost_packets"] > of_fabric_trial(windows)["lost_packets"] > 0
