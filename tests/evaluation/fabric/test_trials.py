"""Trials on a fabric, and what is said of them: against sums and quantiles by hand."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.fabric.figures.flows import BY_SIZE, FCT, PAUSED, QUEUE, fabric_points, rate_points
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.fabric.summary import summary
from lcca.evaluation.fabric.trials import FabricTrial, run_fabric_trials
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.utilities import UTILITIES
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.engine import engine_of
from lcca.remy_plus.switches.markers import marking
from lcca.remy_plus.switches.transports import TRANSPORTS, Transport
from lcca.remy_plus.tuners.tuned import named_transport
from lcca.workers.pool import Pool, Threads
from lcca.workers.processes import Processes

SEEDS = (1, 2, 3)
SLOWDOWN = UTILITIES["slowdown"]


def trials_of(
    names: tuple[str, ...],
    pool: Pool | None = None,
    watched: tuple[int, ...] = (),
    seeds: Sequence[int] = SEEDS,
    **changes: object,
) -> list[FabricTrial]:
    content = {
        "name": "small",
        "topology": {"kind": "leaf-spine", "tors": 2, "hosts_per_tor": 4, "spines": 2},
        "workload": {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.4, "load_of": "host-links"},
        "duration_us": 200,
    }
    scenario = FabricScenario.model_validate(content | changes)
    engines = {name: engine_of(named_transport(name), scenario.settings()) for name in names}
    return run_fabric_trials(scenario, engines, seeds, pool, watched=watched)


@pytest.fixture(scope="module")
def trials() -> list[FabricTrial]:
    return trials_of(("dctcp", "hpcc"))


def test_transports_meet_the_same_flows(trials: list[FabricTrial]) -> None:
    assert [(each.policy, each.seed) for each in trials] == [(p, s) for s in SEEDS for p in ("dctcp", "hpcc")]
    for a, b in zip(trials[::2], trials[1::2], strict=True):
        for name in ("src", "dst", "size_bytes", "start_ns"):
            np.testing.assert_array_equal(a.flow_rows()[name], b.flow_rows()[name])
        assert not np.array_equal(a.record["flow_fct_ns"], b.record["flow_fct_ns"])


@pytest.mark.slow
def test_ideals_meet_transports_on_the_same_flows() -> None:
    names = ("max-min", "srpt", "dctcp")
    found = trials_of(names, watched=(0,))
    with Threads(3) as pool:
        again = trials_of(names, pool)
    for a, b in zip(found, again, strict=True):
        pd.testing.assert_frame_equal(a.flow_rows(), b.flow_rows())
    fair, shortest, dctcp = summary(found, SLOWDOWN)
    assert "queue_max_bytes" not in fair and dctcp["queue_max_bytes"]["mean"] > 0
    assert 0 >= shortest["score_bits"]["mean"] > max(each["score_bits"]["mean"] for each in (fair, dctcp))
    assert {each.policy for each in found if each.has_ports} == {"dctcp"} == set(rate_points(found)["policy"])
    points = fabric_points(found)
    assert set(points[points["panel"] == QUEUE]["policy"]) == {"dctcp"} < set(points[points["panel"] == FCT]["policy"])


@pytest.mark.parametrize(
    ("change", "utility", "message"),
    [
        ({}, "queue", "queue: scores ports, which max-min has not: it is an ideal; leave it out"),
        ({"switch": {"priorities": 2}, "priority": 1}, "slowdown", "max-min cannot have several classes of traffic"),
    ],
)
def test_what_an_ideal_cannot_have_is_told_before_anything_runs(
    change: dict[str, object], utility: str, message: str
) -> None:
    workload = {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.4, "load_of": "host-links"}
    content = {"name": "small", "topology": {"kind": "leaf-spine", "tors": 2, "hosts_per_tor": 4, "spines": 2}}
    workload |= {key: change[key] for key in change if key == "priority"}
    content |= {"workload": workload, "duration_us": 200} | {key: change[key] for key in change if key == "switch"}
    place = FabricTrials(FabricSpace.model_validate({"fabric": content}), 1, UTILITIES[utility])
    with pytest.raises(InputError, match=message):
        place.rows({"dctcp": named_transport("dctcp"), "max-min": named_transport("max-min")}, Block(0, 0, 1))


@pytest.mark.parametrize("kind", [Threads, Processes])
def test_where_trials_run_changes_nothing(trials: list[FabricTrial], kind: type[Pool]) -> None:
    with kind(3) as pool:
        again = trials_of(("dctcp", "hpcc"), pool)
    for a, b in zip(trials, again, strict=True):
        pd.testing.assert_frame_equal(a.flow_rows(), b.flow_rows())
        pd.testing.assert_frame_equal(a.port_rows(), b.port_rows())


@pytest.mark.slow
def test_tuners_and_markers_run_in_other_processes_too() -> None:
    names = ("dctcp@red", "dcqcn@paraleon", "timely")
    with Processes(2) as pool:
        elsewhere = trials_of(names, pool, duration_us=100)
    for a, b in zip(trials_of(names, duration_us=100), elsewhere, strict=True):
        pd.testing.assert_frame_equal(a.flow_rows(), b.flow_rows())


def test_flows_of_the_warm_up_run_and_do_not_count(trials: list[FabricTrial]) -> None:
    for whole, rest in zip(trials, trials_of(("dctcp", "hpcc"), warmup_us=120), strict=True):
        flows = whole.flow_rows()
        late = flows[flows.start_ns >= 120_000].reset_index(drop=True)
        pd.testing.assert_frame_equal(rest.flow_rows(), late)
        pd.testing.assert_frame_equal(rest.port_rows(), whole.port_rows())
        assert 0 < rest.row(SLOWDOWN)["flows"] == len(late) < len(flows)
        assert rest.row(SLOWDOWN)["score_bits"] == pytest.approx(-np.log2(late.slowdown).mean())


def test_a_row_is_what_the_flows_and_ports_say(trials: list[FabricTrial]) -> None:
    row, flows, ports = trials[0].row(SLOWDOWN), trials[0].flow_rows(), trials[0].port_rows()
    assert row["score_bits"] == pytest.approx(-np.log2(flows.fct_ns / flows.ideal_ns).mean())
    assert row["packets"] == np.ceil(flows.size_bytes / 1000).sum() == ports[ports.peer < 8].data_packets.sum()
    assert row["queue_max_bytes"] == ports[ports.node >= 8].most_queued_bytes.max() > 0
    assert row["queue_mean_bytes"] == ports[ports.node >= 8].mean_queued_bytes.max() < row["queue_max_bytes"]
    assert row["queue_p99_bytes"] == ports[ports.node >= 8].p99_queued_bytes.max() <= row["queue_max_bytes"]
    assert (row["flows"], row["flows_finished"], row["drops"]) == (len(flows), len(flows), 0)
    assert row["busiest_port_gbps"] == ports[ports.node >= 8].data_bytes.max() * 8 / (1000 * row["end_us"]) > 0
    assert row["delivered_gbps"] == pytest.approx(flows.size_bytes.sum() * 8 / (1000 * row["end_us"]))
    rates = flows.size_bytes / flows.fct_ns  # Jain's index is 1 / (1 + their coefficient of variation squared)
    assert row["jain_index"] == pytest.approx(1 / (1 + rates.var(ddof=0) / rates.mean() ** 2))


def test_flows_without_an_end_count_with_what_they_delivered() -> None:
    incast = {"kind": "incast", "senders": 7, "bytes": 10**9, "receiver": 0, "period_us": 1e6}
    found = trials_of(("dctcp", "swift"), workload=incast, duration_us=1, drain_us=999)
    for row, flows in ((each.row(SLOWDOWN), each.flow_rows()) for each in found):
        sent = flows.delivered_bytes
        assert row["flows_finished"] == 0 == row["goodput_gbps"] and 80 < row["delivered_gbps"] < 100 * 1000 / 1048
        assert row["delivered_gbps"] == pytest.approx(sent.sum() * 8 / 1e6)
        assert row["delivered_gbps"] < row["busiest_port_gbps"] <= 100
        assert row["jain_index"] == pytest.approx(sent.sum() ** 2 / (7 * (sent**2).sum()))
        assert 1 / 7 < row["jain_index"] < 1


def test_summary_pools_flows_for_quantiles_and_averages_trials_for_means(trials: list[FabricTrial]) -> None:
    found, table = summary(trials, SLOWDOWN), pd.concat([each.flow_rows() for each in trials])
    assert [each["id"] for each in found] == ["dctcp", "hpcc"]
    for each in found:
        slowdown = table[table.policy == each["id"]].slowdown
        assert each["slowdown_p99"]["value"] == pytest.approx(np.quantile(slowdown, 0.99))
        means = table[table.policy == each["id"]].groupby("seed").slowdown.mean()
        assert each["slowdown_mean"]["mean"] == pytest.approx(means.mean())
        assert each["slowdown_mean"]["low"] < means.mean() < each["slowdown_mean"]["high"]
        assert (
            each["flows"] == each["flows_finished"] == sum(part["flows"] for part in each["by_size"]) == len(slowdown)
        )
        assert each["slowdown_mean"]["low"] >= 1 and each["goodput_gbps"]["low"] > 0
    scores = [[trial.row(SLOWDOWN)["score_bits"] for trial in trials[side::2]] for side in (0, 1)]
    assert found[0]["difference_bits"]["low"] == 0
    assert found[1]["difference_bits"]["mean"] == pytest.approx(np.subtract(scores[1], scores[0]).mean())


def test_curves_are_quantiles_of_flows_of_similar_size(trials: list[FabricTrial]) -> None:
    table = pd.concat([each.flow_rows() for each in trials])
    for policy, points in fabric_points(trials).groupby("policy"):
        flows = table[table.policy == policy].sort_values("size_bytes", kind="stable")
        groups, of = len(flows) // 50, points.set_index("panel")
        first = flows[: -(-len(flows) // groups)]
        for percent, panel in BY_SIZE.items():
            assert len(of.loc[panel]) == groups and (np.diff(of.loc[panel].x) > 0).all()
            assert of.loc[panel].y.iloc[0] == pytest.approx(np.percentile(first.slowdown, percent))
        np.testing.assert_allclose(of.loc[FCT].x, np.sort(flows.fct_ns) / 1000)
        np.testing.assert_allclose(of.loc["share of flows by slowdown"].x, np.sort(flows.slowdown))


def test_the_curve_of_queues_has_the_means_of_the_fullest_ports(trials: list[FabricTrial]) -> None:
    """The area above a distribution is its mean; lengths are at most 1/32 too long."""
    points = fabric_points(trials).set_index("panel")
    for side, policy in enumerate(("dctcp", "hpcc")):
        of = points[points.policy == policy]
        length, share = (of.loc[QUEUE][axis].to_numpy() for axis in "xy")
        assert length[0] == 0 < share[0] and share[-1] == pytest.approx(1)
        above = ((1 - share[:-1]) * np.diff(length)).sum()
        mean = np.mean([trial.row(SLOWDOWN)["queue_mean_bytes"] for trial in trials[side::2]])
        assert mean <= above <= mean * (1 + 1 / 32)
        paused = [trial.row(SLOWDOWN)["paused_us"] for trial in trials[side::2]]
        np.testing.assert_allclose(of.loc[PAUSED].y, paused)


def test_points_have_intervals_over_trials() -> None:
    """Those of a mean of shares are Student's t, but for the draws of the bootstrap; one trial has none."""
    found = trials_of(("dctcp",), seeds=range(1, 13))
    points = fabric_points(found).set_index("panel")
    for panel in (*BY_SIZE.values(), FCT, QUEUE, PAUSED):
        known = points.loc[panel].dropna(subset=["low", "high"])
        assert len(known) and (known["low"] <= known["high"]).all()
        if panel != PAUSED:
            assert (known["low"] <= known["y"] + 1e-12).all() and (known["y"] <= known["high"] + 1e-12).all()
    sizes = [each.times.size_bytes for each in found]
    assert sum(map(len, sizes)) == len(points.loc[FCT])
    level = points.loc[QUEUE].dropna(subset=["low"])
    level = level[level["y"].between(0.3, 0.9) & (level["low"] > 0) & (level["high"] < 1)].iloc[0]
    shares = []
    for each in found:
        own, ns = each.record["fullest_queued_bytes"], each.record["fullest_queued_ns"]
        shares.append(1 - ns[own > level["x"]].sum() / float(each.record["end_ns"]))
    mean, low, high = t_interval(shares)
    assert level["y"] == pytest.approx(mean) and level["high"] - level["low"] == pytest.approx(high - low, rel=0.15)
    alone = fabric_points(found[:1])
    assert alone[["low", "high"]].isna().all().all()


def test_rates_are_those_of_the_chosen_flows_and_change_nothing(trials: list[FabricTrial]) -> None:
    watched = trials_of(("dctcp", "hpcc"), watched=(4, 2))
    for before, after in zip(trials, watched, strict=True):
        pd.testing.assert_frame_equal(before.flow_rows(), after.flow_rows())
        pd.testing.assert_frame_equal(before.port_rows(), after.port_rows())
    points = rate_points(watched)
    assert list(points.panel.unique()) == [f"Gb/s of flow {flow} by µs" for flow in (4, 2)]
    first = points[(points.policy == "dctcp") & (points.panel == "Gb/s of flow 4 by µs")]
    flow = watched[0].flow_rows().set_index("id").loc[4]
    busy = first.x[first.y > 0] * 1000
    assert flow.start_ns < busy.min() and 0 <= busy.max() - flow.start_ns - flow.fct_ns <= 10_000
    assert first.y.sum() * 10_000 / 8 == pytest.approx(flow.size_bytes)


def test_threads_change_nothing_with_classes_of_traffic() -> None:
    sizes = {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.3, "load_of": "host-links"}
    incast = {"kind": "incast", "senders": 5, "bytes": 50_000, "period_us": 40, "priority": 1}
    changes = {
        "workload": {"kind": "mix", "parts": [sizes, incast]},
        "switch": {"priorities": 2, "ack_priority": 0, "buffer_bytes": 600_000, "alpha": 0.03},
    }
    one, several = (trials_of(("dcqcn", "hpcc"), Threads(jobs), **changes) for jobs in (1, 3))
    for a, b in zip(one, several, strict=True):
        pd.testing.assert_frame_equal(a.flow_rows(), b.flow_rows())
        pd.testing.assert_frame_equal(a.port_rows(), b.port_rows())
    assert one[0].row(SLOWDOWN)["pfc_pauses"] > 0


def test_rounds_wait_for_one_another() -> None:
    """Slower transports have fewer rounds; what did not start is no flow."""
    rounds = {"kind": "all-to-all", "bytes": 20_000, "off_us": 10}
    one, other = trials_of(("window", "window:bdps=0.01"), workload=rounds)[:2]
    for trial in (one, other):
        flows, row = trial.flow_rows(), trial.row(SLOWDOWN)
        starts, ends = np.unique(flows.start_ns), flows.start_ns + flows.fct_ns
        last = [ends[flows.start_ns == start].max() for start in starts]
        np.testing.assert_allclose(starts[1:], np.array(last[:-1]) + 10_000, rtol=0, atol=1e-3)
        assert starts[-1] < 200_000 <= last[-1] + 10_000 and not flows.isna().any(axis=None)
        assert row["flows"] == len(flows) == 56 * len(starts) and row["rounds_finished"] == len(starts)
        assert row["round_mean_us"] == pytest.approx((np.array(last) - starts).mean() / 1000)
    assert len(one.flow_rows()) > len(other.flow_rows())
    assert summary([one], SLOWDOWN)[0]["round_mean_us"]["mean"] == one.row(SLOWDOWN)["round_mean_us"]


def test_counted_rounds_need_no_duration() -> None:
    rounds = {"kind": "all-to-all", "bytes": 1000, "off_us": 900, "rounds": 3}
    trial = trials_of(("hpcc",), workload=rounds, duration_us=None, drain_us=400)[0]
    assert trial.row(SLOWDOWN)["rounds_finished"] == 3


def test_flows_that_cannot_finish_are_counted() -> None:
    found = summary(trials_of(("window",), drain_us=0), SLOWDOWN)[0]
    assert 0 < found["flows_finished"] < found["flows"]
    assert found["slowdown_p999"]["value"] >= 1


def test_packets_with_telemetry_fit_into_the_mtu() -> None:
    assert trials_of(("dctcp",), mtu_bytes=1089)
    with pytest.raises(InputError, match=r"small: mtu_bytes: a packet with the telemetry of hpcc has 1090 bytes, more"):
        trials_of(("dctcp", "hpcc"), mtu_bytes=1089)


def test_parameters_in_names() -> None:
    assert named_transport("hpcc") == Transport("hpcc")
    found = named_transport("dcqcn:increase_us=55, fast_recovery=5")
    assert found == Transport("dcqcn", {"increase_us": 55, "fast_recovery": 5})
    first, second = trials_of(("hpcc", "hpcc:eta=0.5"))[:2]
    assert not np.array_equal(first.record["flow_fct_ns"], second.record["flow_fct_ns"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("quic", "'quic' is not known; one of window"),
        ("dcqcn:increase=55", "increase is not a parameter; one of g,"),
        ("dcqcn:g", "g: must be a number, as in 'dcqcn:increase_us=55', got ''"),
        ("dcqcn:g=nan", "g: must be a number"),
        ("dcqcn:g=-1", "dcqcn: g: must be from 0 to 1, got -1"),
        ("dcqcn:alpha_us=0", r"dcqcn: alpha_us: must be from 0\.001 to 1e\+09, got 0"),
        ("dctcp:min_gbps=0", r"dctcp: min_gbps: must be from 1e-06 to"),
        ("hpcc:eta=0", r"hpcc: eta: must be from 0\.001 to"),
        ("timely:hyper_after=1.5", "timely: hyper_after: must be a whole number from 0"),
        ("window:bdps=-1", "window: bdps: must be from 0 to"),
        ("dcqcn:g=1,g=2", "dcqcn: g: given twice"),
        ("dctcp@prod", r"dctcp@prod: neither a marker nor a tuner \(did you mean 'pred'\?\)"),
        ("dcqcn@expert@default", "dcqcn@default: there is a tuner already, expert"),
        ("dcqcn@codel@expert", "dcqcn@expert: expert sets all markers itself: leave out @codel"),
        ("dcqcn@paraleon@codel", "dcqcn@codel: paraleon sets all markers itself: leave out @codel"),
        ("dcqcn@expert:kmin=1", "dcqcn@expert: kmin: is not a parameter of expert"),
        ("dctcp@red:pmax=2", "dctcp@red: pmax: must be from 0 to 1, got 2"),
    ],
)
def test_names_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        named_transport(text)


def test_markers_in_names() -> None:
    found = named_transport("dctcp:g=0.1@red:pmax=0.3")
    assert found == Transport("dctcp", {"g": 0.1}, marking("red", pmax=0.3))
    wide, narrow = trials_of(("dctcp@step:k_bytes=1e9", "dctcp@step:k_bytes=1e4"), switch={"marker": {"kind": "red"}})[
        :2
    ]
    assert wide.record["port_marked_packets"].sum() == 0 < narrow.record["port_marked_packets"].sum()


def test_every_transport_has_units_and_sources() -> None:
    assert all(kind.source and all(knob.meaning for knob in kind.knobs.values()) for kind in TRANSPORTS.values())
