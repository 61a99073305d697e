"""Runs over time: against the record of the run, round trips by hand, and what a tuner set look by look."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from lcca.evaluation.fabric.figures.series import OVER_TIME, changed, draw_series, series
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.trials import run_fabric_trials
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import star
from lcca.remy_plus.fabric.engine import FabricEngine, engine_of
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.observation import MOST_LOOKS, Observation
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.switches.control import Change, Given, Seen
from lcca.remy_plus.switches.markers import marking
from lcca.remy_plus.tuners.tuned import named_transport
from lcca.workers.pool import Threads

RED, PRED, STEP = marking("red"), marking("pred"), marking("step", k_bytes=1)


@dataclass
class Script:
    """Sets one thing after another, a look each."""

    changes: list[Change]
    every_us: float = 10
    delay_us: float = 0
    sketch: None = None
    seen: list[Seen] = field(default_factory=list)

    def build(self) -> "Script":
        return self

    def begin(self, given: Given) -> Change:
        return Change({"increase_gbps": 7})

    def tune(self, seen: Seen) -> Change:
        self.seen.append(seen)
        return self.changes.pop(0) if self.changes else Change()


def incast(payload: int = 200_000) -> FabricFlows:
    return FabricFlows(np.array([0, 1, 2]), np.full(3, 3), np.full(3, payload), np.zeros(3))


@pytest.mark.parametrize(("delay_us", "from_look"), [(0.0, 1), (5.0, 1), (15.0, 2)])
def test_what_holds_is_what_was_set_and_is_due(delay_us: float, from_look: int) -> None:
    """Ports of the switch are 4 to 7; that to host 3, port 7, is the fullest."""
    script = Script(
        [Change({"g": 0.5}, {None: STEP, 7: PRED}, {"share": 0.25}), Change(markers={None: RED})], delay_us=delay_us
    )
    observed = Observation(script, every_us=1)
    FabricEngine("dcqcn", tuner=observed).run(star(4), incast())
    table = series("x", observed)
    assert len(table) == len(script.seen) > 4 and table["time_us"].tolist() == [
        10.0 * (k + 1) for k in range(len(table))
    ]
    assert (table["increase_gbps"] == 7).all() and table["told.share"].dropna().to_dict() == {0: 0.25}
    assert table["g"].tolist() == [1 / 256] * from_look + [0.5] * (len(table) - from_look)
    held = [bool(row["pred.fcs"] == 1) for _, row in table.iterrows()]
    assert held == [False] * from_look + [True] + [False] * (len(table) - from_look - 1)
    back = table["red.pmax"].notna().tolist()
    assert back == [True] * from_look + [False] + [True] * (len(table) - from_look - 1)
    assert changed([table])[0] == "g" and "increase_gbps" not in changed([table])


def test_measures_add_up_to_the_record() -> None:
    observed = Observation(None, every_us=1)  # the end of a run, after the last look, is not seen
    record = FabricEngine("dcqcn", tuner=observed).run(star(4), incast())
    table = series("dcqcn", observed)
    time_us = np.diff(table["time_us"], prepend=0)
    end_us = record["end_ns"] / 1000
    to_host = (record["port_node"] == 4) & (record["port_peer"] == 3)
    delivered = record["port_data_bytes"][to_host].sum()
    assert (table["throughput_gbps"] * time_us).sum() * 125 == pytest.approx(delivered, rel=0.02)
    mean = (table["queue_bytes"] * time_us).sum() / end_us
    assert mean == pytest.approx(record["port_mean_queued_bytes"][to_host][0], rel=0.02)
    assert (table["longest_queue_bytes"] == table["queue_bytes"]).all() and table["queue_bytes"].max() > 1e5
    assert table["utility"].between(0, 1).all() and (table["red.kmin_bytes"] == 400e3).all()


def test_round_trips_of_a_flow_alone() -> None:
    observed = Observation(None, every_us=50)
    flow = FabricFlows(np.array([1]), np.array([0]), np.array([10**6]), np.zeros(1))
    FabricEngine("window", {"bdps": 0.01}, tuner=observed).run(star(3, 10.0, delay_ns=5000), flow)
    table = series("window", observed)
    assert table["rtt_us"].iloc[2] == pytest.approx(20 + 2 * (1048 + 60) * 8 / 10 / 1000, abs=1e-3)
    assert table["throughput_gbps"].iloc[2] == pytest.approx(1048 * 8 / (table["rtt_us"].iloc[2] * 1000), rel=0.3)


def test_pred_counts_the_flows_and_moves_by_its_steps() -> None:
    """Three flows within a window each; the slope goes in steps of 0.025 from 0.1, and what it tries is not shown."""
    flows = FabricFlows(np.array([0, 1, 2]), np.full(3, 3), np.full(3, 2 * 10**6), np.zeros(3))
    both, alone = (Observation(None, every_us=5) for _ in range(2))
    pred = {"count_us": 12, "adjust_us": 10}
    for observed, parts in ((both, {}), (alone, {"qla": 0, "fcs": 0})):
        engine = FabricEngine(
            "dctcp-window", settings=settings(marker=marking("pred", **pred, **parts)), tuner=observed
        )
        engine.run(star(4), flows)
    found, constant = series("both", both), series("alone", alone)
    assert (found["now.flows"].iloc[10:70] == 3).all()
    steps = (found["now.slope_per_mb"] - 0.1) / 0.025
    np.testing.assert_allclose(steps, steps.round(), atol=1e-9)
    assert found["now.slope_per_mb"].nunique() > 1 and found["now.slope_per_mb"].min() >= 0.05 - 1e-12
    still = constant[["now.flows", "now.slope_per_mb", "now.kmin_bytes"]].to_numpy()
    np.testing.assert_allclose(still, np.tile([1, 0.1, 15e3], (len(constant), 1)))
    assert "now.slope_per_mb" in changed([found]) and (found["pred.slope_per_mb"] == 0.1).all()


KEYS = {
    "name": "star",
    "topology": {"kind": "star", "hosts": 4},
    "workload": {"kind": "incast", "senders": 3, "bytes": 50_000, "load": 0.1},
    "duration_us": 200,
}


@pytest.mark.slow
def test_observing_changes_no_result_and_looks_at_the_first_seed() -> None:
    scenario = FabricScenario.model_validate(KEYS)
    names = ("dcqcn", "dcqcn@paraleon:interval_us=20,sizes=0", "dcqcn@expert")
    engines = {name: engine_of(named_transport(name), scenario.settings()) for name in names}
    observed = {name: Observation(each.tuner, 50) for name, each in engines.items()}
    plain = run_fabric_trials(scenario, engines, [4, 5])
    looked = run_fabric_trials(scenario, engines, [4, 5], Threads(2), observed=observed)
    for a, b in zip(plain, looked, strict=True):
        np.testing.assert_array_equal(a.record["flow_fct_ns"], b.record["flow_fct_ns"])
    tables = [series(name, each) for name, each in observed.items()]
    assert [each["time_us"].iloc[0] for each in tables] == [50, 20, 50]
    assert tables[0]["time_us"].iloc[-1] <= looked[0].record["end_ns"] / 1000
    assert (tables[2]["increase_gbps"] == 0.05).all()
    panels = [*(each.head for each in OVER_TIME.values()), *changed(tables)]
    figure = draw_series(tables, "star")
    assert len([ax for ax in figure.axes if ax.get_visible()]) == len(panels) and "red.kmin_bytes" in panels


@pytest.mark.slow
def test_too_many_looks_are_refused() -> None:
    flows = FabricFlows(np.array([0]), np.array([1]), np.array([10**6]), np.zeros(1))
    engine = FabricEngine("window", {"bdps": 0.01}, tuner=Observation(None, 0.01))
    with pytest.raises(InputError, match=rf"more than {MOST_LOOKS:,} looks, one every 0\.01 µs"):
        replace(engine).run(star(2), flows)
