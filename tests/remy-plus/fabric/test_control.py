"""Tuning during a run: what a tuner sees and sets, against the record and against runs without a tuner."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.switches.control import Change, Seen, Sketch
from lcca.remy_plus.switches.markers import marking
from lcca.remy_plus.tuners.registry import TUNERS, tuning

from ...studies import of_studies
from ...watchers import Watcher, with_tuner

FRAME, GBPS, COUNT = 1048, 10.0, 400
SERVICE = FRAME * 8 / GBPS  # ns
NEVER = marking("step", k_bytes=1e12)


def flood(marker: object = NEVER) -> tuple[FabricEngine, FabricFlows]:
    flows = FabricFlows(np.array([1, 2]), np.zeros(2), np.full(2, COUNT * 1000), np.array([0, 0.3 * SERVICE]))
    return FabricEngine("window", {"bdps": 0}, settings(marker=marker)), flows


def many_flows() -> FabricFlows:
    rng = np.random.default_rng(1)
    src = rng.integers(0, 8, 60)
    dst = (src + rng.integers(1, 8, 60)) % 8
    return FabricFlows(src, dst, rng.integers(1, 400_000, 60), np.sort(rng.uniform(0, 100_000, 60)))


@pytest.mark.parametrize("transport", ["dcqcn", "hpcc", "swift", "dctcp-window", "rcp"])
def test_looking_changes_nothing(transport: str) -> None:
    engine, watcher = FabricEngine(transport), Watcher(every_us=7)
    plain = engine.run(leaf_spine(2, 4, 2), many_flows())
    looked = with_tuner(engine, watcher).run(leaf_spine(2, 4, 2), many_flows())
    for name, values in plain.items():
        np.testing.assert_array_equal(values, looked[name], err_msg=name)
    assert len(watcher.seen) > 20


def test_what_is_seen_adds_up_to_the_record() -> None:
    watcher = Watcher(every_us=11)
    record = with_tuner(FabricEngine("dcqcn"), watcher).run(leaf_spine(2, 4, 2), many_flows())
    end = record["end_ns"]
    assert 0 <= end - watcher.seen[-1].now_ns < 11_000
    for name in ("data_packets", "data_bytes", "marked_packets", "drops"):
        total = np.sum([getattr(each, name) for each in watcher.seen], axis=0)
        assert (total <= record[f"port_{name}"]).all() and total.sum() >= 0.9 * record[f"port_{name}"].sum()
    assert all(each.over_ns == pytest.approx(11_000) for each in watcher.seen)
    queue = np.sum([each.mean_queued_bytes * each.over_ns for each in watcher.seen], axis=0) / end
    np.testing.assert_allclose(queue, record["port_mean_queued_bytes"], rtol=0.02, atol=1)


def test_round_trips_of_a_flow_alone() -> None:
    watcher = Watcher(every_us=50)
    flows = FabricFlows(np.array([1]), np.array([0]), np.array([10**6]), np.zeros(1))
    with_tuner(FabricEngine("window", {"bdps": 0.01}), watcher).run(star(3, GBPS, delay_ns=5000), flows)
    seen = watcher.seen[2]
    serialised = 2 * (FRAME + 60) * 8 / GBPS
    assert seen.rtt_ns[1] == pytest.approx(20_000 + serialised, abs=1)
    assert seen.propagation_share[1] == pytest.approx(20_000 / (20_000 + serialised), rel=1e-6)
    assert np.isnan(seen.rtt_ns[0]) and seen.acks[0] == 0


@pytest.mark.parametrize("delay_us", [0, 33.3])
def test_a_marker_is_set_when_it_is_due(delay_us: float) -> None:
    engine, flows = flood()
    all_marked = Change(markers={None: marking("step", k_bytes=0)})
    watcher = Watcher(every_us=100, delay_us=delay_us, at_look=1, change=all_marked)
    found = with_tuner(engine, watcher).run(star(3, GBPS), flows)["port_marked_packets"].sum()
    start = SERVICE * np.arange(1, 2 * COUNT + 1) + 1000  # a link's delay after the first bit was sent
    left = (start >= (200 + delay_us) * 1000).sum()
    assert abs(found - left) <= 2 and found > 100  # the last packet leaves nothing behind


def test_a_marker_of_one_port() -> None:
    topology = star(6, GBPS)
    flows = FabricFlows(np.array([1, 2, 4, 5]), np.array([0, 0, 3, 3]), np.full(4, 10**5), np.zeros(4))
    engine = FabricEngine("window", {"bdps": 0}, settings(marker=NEVER))
    nodes = engine.run(topology, flows)
    port = int(np.flatnonzero((nodes["port_node"] == 6) & (nodes["port_peer"] == 3))[0])
    red = marking("red", kmin_bytes=0, kmax_bytes=0)
    found = with_tuner(engine, Watcher(begins_with=Change(markers={port: red}))).run(topology, flows)
    assert found["port_marked_packets"][port] > 0 == np.delete(found["port_marked_packets"], port).sum()


@pytest.mark.parametrize("kind", ["default", "expert"])
def test_static_settings_are_those_of_a_run_without_a_tuner(kind: str) -> None:
    values = dict(tuning(kind).parameters)
    red = marking("red", **{name: values.pop(name) for name in ("kmin_bytes", "kmax_bytes", "pmax")})
    own = FabricEngine("dcqcn", values, settings(marker=red)).run(leaf_spine(2, 4, 2), many_flows())
    tuned = FabricEngine("dcqcn", tuner=tuning(kind)).run(leaf_spine(2, 4, 2), many_flows())
    other = FabricEngine("dcqcn").run(leaf_spine(2, 4, 2), many_flows())
    np.testing.assert_array_equal(own["flow_fct_ns"], tuned["flow_fct_ns"])
    assert np.array_equal(other["flow_fct_ns"], tuned["flow_fct_ns"]) == (kind == "default")


def test_parameters_hold_from_when_they_are_due() -> None:
    """Set before the first increase they are as if they had always been, and later they are neither these nor those."""
    flows = FabricFlows(np.array([1, 2]), np.zeros(2), np.full(2, 10**7), np.zeros(2))
    before = {"increase_us": 50.0, "increase_gbps": 0.001, "hyper_gbps": 0.001}
    change = {"increase_gbps": 5.0, "hyper_gbps": 10.0}
    red = settings(marker=marking("red", kmin_bytes=2e4, kmax_bytes=2e5))
    engine = FabricEngine("dcqcn", before, red)
    first, other = (FabricEngine("dcqcn", each, red).run(star(3), flows) for each in (before, before | change))
    at_once, later = (
        with_tuner(engine, Watcher(every_us=20, at_look=look, change=Change(change))).run(star(3), flows)
        for look in (0, 40)
    )
    np.testing.assert_array_equal(at_once["flow_fct_ns"], other["flow_fct_ns"])
    assert len({record["flow_fct_ns"].max() for record in (first, later, other)}) == 3


@pytest.mark.parametrize("kind", TUNERS)
def test_every_tuner(kind: str) -> None:
    """A seed means the same run, parameters have meanings and sources, and another transport is refused by name.

    What is learnt marks for any transport, and needs a model.
    """
    made = tuning(kind, of_studies("LEARNT")[kind]() if TUNERS[kind].learnt else None)
    engine = FabricEngine("dcqcn", tuner=made)
    first, again = (engine.run(leaf_spine(2, 4, 2), many_flows(), seed=3) for _ in range(2))
    for name, values in first.items():
        np.testing.assert_array_equal(values, again[name], err_msg=name)
    assert TUNERS[kind].source and all(knob.meaning for knob in TUNERS[kind].knobs.values())
    if TUNERS[kind].learnt:
        with pytest.raises(InputError, match=f"needs the file of a model .* as in dcqcn@{kind}:model.json"):
            tuning(kind)
        FabricEngine("dctcp-window", tuner=made).run(star(3), flood()[1])
        return
    with pytest.raises(InputError, match="has learnt nothing"):
        tuning(kind, object())  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"tuner: sets parameters of dcqcn, not of hpcc"):
        FabricEngine("hpcc", tuner=made).run(star(3), flood()[1])


def test_parameters_that_cannot_change_during_a_run() -> None:
    engine, flows = flood()
    with pytest.raises(InputError, match="cannot change during a run"):
        with_tuner(engine, Watcher(begins_with=Change({"bdps": 1.0}))).run(star(3), flows)


@pytest.mark.parametrize("interval_us", [33.3333, 1.1, 7.7777777])
def test_intervals_that_are_no_whole_picoseconds(interval_us: float) -> None:
    watcher = Watcher(every_us=interval_us, delay_us=interval_us * 1.3)
    record = with_tuner(FabricEngine("dcqcn"), watcher).run(leaf_spine(2, 4, 2), many_flows())
    times = np.array([each.now_ns for each in watcher.seen])
    np.testing.assert_allclose(times, interval_us * 1000 * np.arange(1, len(times) + 1), atol=0.001 * len(times))
    assert record["end_ns"] - times[-1] < 2 * interval_us * 1000


@pytest.mark.parametrize(
    ("every_us", "delay_us", "message"),
    [(0, 0, "every_us: must be from 0.001"), (np.nan, 0, "every_us"), (-1, 0, "every_us"), (1, -1, "delay_us: must")],
)
def test_looks_that_cannot_be(every_us: float, delay_us: float, message: str) -> None:
    with pytest.raises(InputError, match=f"tuner: {message}"):
        with_tuner(FabricEngine("dcqcn"), Watcher(every_us, delay_us)).run(star(3), flood()[1])


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("experts", {}, "kind: 'experts' is not known .*did you mean 'expert'"),
        ("expert", {"gain": 1}, "gain: is not a parameter of expert"),
        ("expert", {"kind": 1}, "kind: is not a parameter of expert"),
        ("expert", {"increase_gbps": -1}, "increase_gbps: must be from 0 to"),
        ("expert", {"pmax": 7}, "pmax: must be from 0 to 1, got 7"),
        ("default", {"kmin_bytes": 9e6}, "kmax_bytes: must be from"),
        ("paraleon", {"interval_us": 0}, "interval_us: must be from 1 to"),
        ("paraleon", {"interval_us": np.nan}, "interval_us: must be from 1 to"),
        ("paraleon", {"delay_us": 1000}, "delay_us: must be below interval_us, 1000"),
        ("paraleon", {"trials": 0}, "trials: must be a whole number from 1 to"),
        ("paraleon", {"trials": 1.5}, "trials: must be a whole number from 1 to"),
        ("paraleon", {"cooling": 1}, "cooling: must be from"),
        ("paraleon", {"window": 0}, "window: must be a whole number from 1 to"),
        ("paraleon", {"buckets": 0}, "buckets: must be a whole number from 1 to"),
        ("paraleon", {"elephant_bytes": 0}, "elephant_bytes: must be from 1 to"),
        ("paraleon", {"sizes": 2}, "sizes: must be a whole number from 0 to 1"),
        ("paraleon", {"first_temperature": 10}, "last_temperature: must be below first_temperature, 10"),
        ("paraleon", {"rtt": 0.6}, "throughput, rtt and pfc: must add up to 1, got 1.1"),
    ],
)
def test_tuners_that_cannot_be(kind: str, parameters: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        tuning(kind, **parameters)


@pytest.mark.parametrize("error", [ValueError("mine"), KeyError("mine"), KeyboardInterrupt()])
def test_what_a_tuner_raises_is_raised(error: BaseException) -> None:
    class Broken(Watcher):
        def tune(self, seen: Seen) -> Change:
            raise error

    with pytest.raises(type(error)) as found:
        with_tuner(FabricEngine("dcqcn"), Broken()).run(star(3), flood()[1])
    assert found.value is error


def test_without_times_in_packets_no_round_trips_are_seen() -> None:
    watcher = Watcher(every_us=50)
    with_tuner(FabricEngine("rcp"), watcher).run(leaf_spine(2, 4, 2), many_flows())
    assert all(np.isnan(each.rtt_ns).all() and each.rtt_ns.shape == (8,) for each in watcher.seen)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Change({"increase": 1.0}), "increase is not known"),
        (Change({"least_factor": 2.0}), "least_factor: must be from 0 to 1"),
        (Change(markers={None: marking("codel")}), "mark_at_dequeue"),
    ],
)
def test_changes_that_cannot_be(change: Change, message: str) -> None:
    engine = FabricEngine("dcqcn", settings=settings(mark_at_dequeue=False))
    with pytest.raises(InputError, match=message):
        with_tuner(engine, Watcher(begins_with=change)).run(star(3), flood()[1])


def test_a_sketch_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="counters: must be from 1 to"):
        with_tuner(FabricEngine("dcqcn"), Watcher(sketch=Sketch(4, 0))).run(star(3), flood()[1])


@pytest.mark.slow
def test_threads_change_nothing() -> None:
    """Every run has a tuner of its own."""
    engine = FabricEngine("dcqcn", tuner=tuning("paraleon", interval_us=5, sizes=0))

    def run(seed: int) -> np.ndarray:
        return engine.run(leaf_spine(2, 4, 2), many_flows(), seed)["flow_fct_ns"]

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, range(1, 7)))
    np.testing.assert_array_equal(together, [run(seed) for seed in range(1, 7)])
    assert not np.array_equal(together[0], together[1])
