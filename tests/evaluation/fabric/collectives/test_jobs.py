"""Jobs of training as workloads: what begins when, where ranks are, what they take at the least, and bad keys."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from lcca.evaluation.fabric.figures.jobs import draw_steps, step_points
from lcca.evaluation.fabric.scenario import FabricScenario
from lcca.evaluation.fabric.summary import summary
from lcca.evaluation.fabric.trials import run_fabric_trials
from lcca.evaluation.fabric.workload.collectives.bounds import Packets, Ways
from lcca.evaluation.fabric.workload.collectives.operations import Experts
from lcca.evaluation.fabric.workload.part import Streams
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine

STAR = {"kind": "star", "hosts": 8, "gbps": 100}
LEAVES = {"kind": "leaf-spine", "tors": 4, "spines": 2, "hosts_per_tor": 2, "host_gbps": 100, "uplink_gbps": 100}
RING = {"kind": "all-reduce", "bytes": 160_000}


def scenario(topology: dict[str, Any], *jobs: dict[str, Any], **more: Any) -> FabricScenario:
    parts = [{"kind": "job"} | each for each in jobs]
    return FabricScenario.model_validate(
        {"name": "t", "topology": topology, "workload": {"kind": "mix", "parts": parts}} | more
    )


def run(found: FabricScenario, transport: str = "window", seed: int = 1) -> Any:
    return run_fabric_trials(found, {transport: FabricEngine(transport, {}, found.settings())}, [seed])[0]


def test_a_rank_begins_an_iteration_once_it_has_received_and_computed() -> None:
    job = {"operations": [RING | {"compute_us": 50}], "iterations": 3, "ranks": 4}
    trial = run(scenario(STAR, job))
    flows, start = trial.flows, trial.record["flow_start_ns"]
    end = start + trial.record["flow_fct_ns"]
    for number in (1, 2):
        for host in range(4):
            own = (flows.round == number) & (flows.src == host)
            into = (flows.round == number - 1) & (flows.dst == host)
            assert start[own].min() == pytest.approx(end[into].max() + 50_000, abs=1e-3)
    first = [start[(flows.round == 0) & (flows.src == host)].min() for host in range(4)]
    assert first == [50_000] * 4


def test_a_barrier_waits_for_all() -> None:
    exchange = {"kind": "all-to-all", "bytes": 30_000, "barrier": True}
    stragglers = {"share": 0.25, "factor": 3}
    operations = [RING | {"compute_us": 20}, exchange]
    trial = run(scenario(STAR, {"operations": operations, "ranks": 4, "stragglers": stragglers}))
    flows, start = trial.flows, trial.record["flow_start_ns"]
    end = start + trial.record["flow_fct_ns"]
    later = flows.step >= 6
    assert start[later].min() == pytest.approx(end[~later].max() + 1000, abs=1e-3)  # which hosts hear a link later
    assert sorted(start[flows.step == 0])[:3] == [20_000] * 3 and start[flows.step == 0].max() == 60_000


@pytest.mark.parametrize(
    ("placement", "hosts"),
    [("packed", [0, 1, 2, 3]), ("stride", [0, 2, 4, 6]), ((7, 1, 3, 2), [7, 1, 3, 2])],
)
def test_ranks_are_where_they_are_placed(placement: Any, hosts: list[int]) -> None:
    flows = scenario(LEAVES, {"operations": [RING], "ranks": 4, "placement": placement}).flows(1)
    assert flows.src[flows.step == 0].tolist() == hosts
    assert flows.dst[flows.step == 0].tolist() == np.roll(hosts, -1).tolist()


def test_jobs_share_no_host() -> None:
    jobs = [{"operations": [RING], "ranks": 4, "placement": "random", "skip_hosts": skip} for skip in (0, 4)]
    found = scenario(LEAVES, *jobs)
    placements = {tuple(found.flows(seed).src[found.flows(seed).job == 0][:4]) for seed in range(5)}
    assert len(placements) == 5
    stride = [each | {"placement": "stride"} for each in jobs]
    flows = scenario(LEAVES, *stride).flows(1)
    assert not set(flows.src[flows.job == 0]) & set(flows.src[flows.job == 1])


def test_rails_and_nodes() -> None:
    """A hierarchical all-reduce: within the servers over NVLink, and each rail's share between them."""
    node = {"kind": "reduce-scatter", "bytes": 80_000, "among": "node"}
    rails = {"kind": "all-reduce", "bytes": 40_000, "among": "rail"}
    job = {"operations": [node, rails], "ranks_per_node": 2, "nvlink_gbps": 1600}
    trial = run(scenario(STAR, job))
    flows, start = trial.flows, trial.record["flow_start_ns"]
    assert ((flows.dst - flows.src) % 2 == 0).all() and set(flows.size_bytes) == {10_000}
    assert (start[flows.step == 0] == 40_000 * 8 / 1600).all()  # half of the buffer leaves a rank
    over_fabric = scenario(STAR, {key: value for key, value in job.items() if key != "nvlink_gbps"}).flows(1)
    assert (np.abs(over_fabric.dst - over_fabric.src)[over_fabric.step == 0] == 1).all()


@pytest.mark.parametrize("skew", [0.0, 0.6, 1.5, 4.0])
def test_experts_get_all_tokens(skew: float) -> None:
    """Each token goes to `top` experts, none of them twice; popularity k is chosen k^−skew as often, up to that."""
    experts = Experts(kind="experts", tokens=1000, top=4, out_bytes=10, back_bytes=20, skew=skew)
    shares = experts.shares(16, Streams(3), 7)
    assert shares.sum() == pytest.approx(4) and shares.max() <= 1
    ordered = np.sort(shares)[::-1]
    free = ordered < 1
    wanted = np.arange(1, 17)[free] ** -skew
    np.testing.assert_allclose(ordered[free] / ordered[free][0], wanted / wanted[0])
    (_, out), (_, back) = experts.parts(16, Streams(3), 7)
    assert sum(back.size) == 2 * sum(out.size)
    assert abs(sum(out.size) - 10 * 1000 * (4 * 16 - shares.sum())) <= 10 * 16 * 16


def test_layers_are_drawn_anew_for_each_iteration_and_trial() -> None:
    experts = {"kind": "experts", "tokens": 100, "top": 2, "out_bytes": 10, "back_bytes": 20, "skew": 1}
    found = scenario(STAR, {"operations": [experts], "iterations": 2})

    def into(seed: int, number: int) -> list[int]:
        flows = found.flows(seed)
        own = (flows.round == number) & (flows.step < 7)
        return np.bincount(flows.dst[own], flows.size_bytes[own], 8).astype(int).tolist()

    assert into(1, 0) != into(1, 1) and into(1, 0) != into(2, 0) and into(1, 0) == into(1, 0)


def test_a_lone_ring_on_a_star_takes_its_bound() -> None:
    """But for ACKs and the last packets of each message."""
    found = scenario(STAR, {"operations": [RING | {"compute_us": 30}], "iterations": 2}, switch={"pfc": False})
    trial = run(found)
    (look,), (took,), (finished,) = trial.jobs, trial.job_times["took_us"], trial.job_times["finished"]
    assert finished and look.compute_ns == 60_000
    assert 1 <= took * 1000 / look.bound_ns < 1.05
    row = trial.row(fabric_utility("completion"))
    assert row["score_bits"] == pytest.approx(-np.log2(took * 1000 / look.bound_ns))
    assert row["iteration_us"] == pytest.approx(took / 2)
    assert row["exposed_us"] == pytest.approx((took - 60) / 2)
    assert row["bus_gbps"] == pytest.approx(2 * 2 * 7 / 8 * 160_000 * 8 / (took - 60) / 1000)


def test_a_job_that_takes_from_others_gains_by_completion_alone() -> None:
    """The mean of two scores, of the job and of flows of no job: these lose where a class of their own comes last."""
    both = fabric_utility("completion-and-slowdown")
    rows = {}
    for storage in (0, 1):
        job = {"kind": "job", "priority": 0, "operations": [RING]}
        other = {"kind": "poisson", "sizes": "fb-hadoop", "load": 0.6}
        parts = {"parts": [job, other | {"load_of": "host-links", "priority": storage}], "kind": "mix"}
        keys = {"name": "t", "topology": STAR, "workload": parts, "duration_us": 300, "switch": {"priorities": 2}}
        trial = run(FabricScenario.model_validate(keys), "dctcp")
        others = trial.times.where(trial.flows.job[trial.started] < 0)
        of_job, of_others = (trial.row(each)["score_bits"] for each in map(fabric_utility, ("completion", "slowdown")))
        slowdowns = -np.log2(others.telling.slowdown).mean()
        rows[storage] = of_job, slowdowns
        assert slowdowns != pytest.approx(of_others)
        assert trial.row(both)["score_bits"] == pytest.approx((of_job + slowdowns) / 2)
        assert both.unfinished(trial)[0] == 1 + len(others.size_bytes)
    assert rows[1][0] > rows[0][0] and rows[1][1] < rows[0][1]
    alone = run(scenario(STAR, {"operations": [RING]}), "dctcp")
    assert alone.row(both)["score_bits"] == alone.row(fabric_utility("completion"))["score_bits"]


@pytest.mark.parametrize("transport", ["dctcp", "nscc", "homa"])
@pytest.mark.parametrize("uplink", [100, 25])
def test_no_job_ends_before_its_bound(transport: str, uplink: int) -> None:
    jobs = [
        {"operations": [RING], "ranks": 4, "placement": "stride", "iterations": 2},
        {"operations": [{"kind": "all-to-all", "bytes": 200_000}], "ranks": 4, "placement": "stride", "skip_hosts": 4},
    ]
    more = {"switch": {"pfc": False}} | ({"spraying": "oblivious"} if transport == "nscc" else {})
    trial = run(scenario(LEAVES | {"uplink_gbps": uplink}, *jobs, **more), transport)
    assert trial.job_times["finished"].all()
    for took, look in zip(trial.job_times["took_us"], trial.jobs, strict=True):
        assert took * 1000 >= look.bound_ns


def test_cuts_are_those_of_hosts_leaves_and_slow_links() -> None:
    """Two leaves with two hosts each, over spines of 100 and 25 Gb/s; all cross."""
    fabric = leaf_spine(2, 2, 2, 100, 100)
    gbps = np.where(fabric.b == fabric.nodes - 1, 25.0, fabric.gbps)
    slow = Ways(type(fabric)(fabric.hosts, fabric.switches, fabric.a, fabric.b, gbps, fabric.delay_ns))
    src, dst, size = np.array([0, 1]), np.array([2, 3]), np.full(2, 1_000_000)
    wire = 1_048_000 * 8
    assert slow.cut_ns(src, dst, size, Packets(1000, 48)) == pytest.approx(2 * wire / 125)
    assert Ways(fabric).cut_ns(src, dst, size, Packets(1000, 48)) == pytest.approx(wire / 100)
    assert [each[0] for each in slow.way(0, 2)] == [100, 100, 100, 100]
    assert Ways(star(4)).cut_ns(src, np.array([3, 3]), size, Packets(1000, 48)) == pytest.approx(2 * wire / 100)


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ({"ranks": 9}, "parts.0.ranks: must be from 2 to 8"),
        ({"ranks": 4, "skip_hosts": 6}, "ranks: must be from 2 to 2"),
        ({"placement": [0, 1, 1]}, "placement.2: host 1 is a rank already"),
        ({"placement": [0, 99]}, "placement.1: host 99 is unknown; the fabric has hosts 0 to 7"),
        (
            {"ranks": 6, "operations": [RING | {"algorithm": "halving-doubling"}]},
            "operations.0.algorithm: halving-doub",
        ),
        ({"operations": [RING | {"algorithm": "double-tree", "slots": 3}]}, "operations.0.slots: is of rings"),
        ({"operations": [RING | {"algorithm": "halving-doubling", "pieces": 2}]}, "operations.0.pieces: is of rings"),
        ({"operations": [RING | {"among": "node"}]}, "operations.0.among: node has one rank alone; set ranks_per_node"),
        ({"ranks": 6, "ranks_per_node": 4}, "ranks_per_node: must divide the 6 ranks"),
        (
            {"operations": [RING | {"among": "node"}], "ranks_per_node": 2, "nvlink_gbps": 100},
            "operations: send nothing over the fabric",
        ),
        (
            {"operations": [{"kind": "experts", "tokens": 1, "top": 1, "out_bytes": 1, "back_bytes": 1}]},
            "operations: send nothing over the fabric",
        ),
        ({"operations": []}, "operations: Tuple should have at least 1 item"),
        (
            {"operations": [{"kind": "experts", "tokens": 1, "top": 9, "out_bytes": 1, "back_bytes": 1}]},
            "operations.0.top: must be at most the 8 experts",
        ),
    ],
)
def test_keys_that_cannot_be(job: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match="(?s)" + message.replace(": ", r"\n\s+")):
        scenario(STAR, {"operations": [RING]} | job)


def test_completion_needs_jobs(tmp_path: Path) -> None:
    from lcca.evaluation.fabric.trials import require_rounds

    bare = FabricScenario.model_validate(
        {"name": "t", "topology": STAR, "workload": {"kind": "permutation", "bytes": 1}}
    )
    with pytest.raises(InputError, match="completion: t has no jobs; give it a workload of kind job"):
        require_rounds([bare], fabric_utility("completion"))


def test_jobs_have_rows_and_a_timeline() -> None:
    """Each with the time of its iterations; bars from each message's start to its end, by the rank that sends it."""
    jobs = [{"operations": [RING], "ranks": 4, "placement": "stride", "skip_hosts": skip} for skip in (0, 4)]
    found = scenario(LEAVES, *jobs)
    engines = {name: FabricEngine(name, {}, found.settings()) for name in ("dctcp", "hpcc")}
    trials = run_fabric_trials(found, engines, [1, 2])
    for row in summary(trials, fabric_utility("completion")):
        own = [each for each in trials if each.policy == row["id"]]
        for place, each in enumerate(row["by_job"]):
            took = [trial.job_times["took_us"].iloc[place] for trial in own]
            assert (each["job"], each["unfinished"]) == (place, 0)
            assert each["iteration_us"]["mean"] == pytest.approx(np.mean(took))
    points = step_points([each for each in trials if each.seed == 1])
    assert len(points) == 2 * 2 * 4 * 6
    first = points[(points["policy"] == "hpcc") & (points["job"] == 1)]
    record = trials[1].record
    assert (
        first["end_us"].max() * 1000
        == (record["flow_start_ns"] + record["flow_fct_ns"])[trials[1].flows.job == 1].max()
    )
    assert sorted(set(first["rank"])) == [0, 1, 2, 3] and len(draw_steps(points, "t").axes) == 4


def test_a_job_goes_on_after_the_duration() -> None:
    """Traffic beside it begins within the duration; its own messages until it ends, `drain_us` later at the latest."""
    storage = {"kind": "poisson", "sizes": "uniform:1:2000", "load": 0.1, "load_of": "host-links"}
    job = {"kind": "job", "operations": [RING], "iterations": 4}
    keys = {"name": "t", "topology": STAR, "duration_us": 100, "drain_us": 5000}
    found = FabricScenario.model_validate(keys | {"workload": {"kind": "mix", "parts": [job, storage]}})
    trial = run(found)
    start, own = trial.record["flow_start_ns"], trial.flows.job >= 0
    assert trial.job_times["finished"].all() and start[own].max() > 200_000 > 100_000 >= start[~own].max()


def test_what_ranks_do_after_the_last_message_counts() -> None:
    """The all-gather within servers that ends a hierarchical all-reduce: before the next iteration, and at the end."""
    rails = {"kind": "all-reduce", "bytes": 40_000, "among": "rail"}
    gather = {"kind": "all-gather", "bytes": 80_000, "among": "node"}
    job = {"ranks_per_node": 2, "nvlink_gbps": 160, "iterations": 2}
    with_it, without = (run(scenario(STAR, job | {"operations": each})) for each in ([rails, gather], [rails]))
    gather_us = 40_000 * 8 / 160 / 1000
    took = [each.job_times["took_us"].iloc[0] for each in (with_it, without)]
    assert took[0] == pytest.approx(took[1] + 2 * gather_us, abs=0.1)
    bounds = [each.jobs[0].bound_ns for each in (with_it, without)]
    assert bounds[0] == pytest.approx(bounds[1] + 2000 * gather_us)


def test_a_way_is_the_fastest_whatever_the_hosts_share() -> None:
    fabric = leaf_spine(2, 2, 2, 100, 100)
    gbps = np.where(fabric.a == 0, 10.0, np.where(fabric.b == fabric.nodes - 1, 25.0, fabric.gbps))
    ways = Ways(type(fabric)(fabric.hosts, fabric.switches, fabric.a, fabric.b, gbps, fabric.delay_ns))
    assert [[gbps for gbps, _ in ways.way(src, 3)] for src in (0, 1, 2)] == [[10, 100, 100, 100], [100] * 4, [100] * 2]
