"""SimAI's workloads: as generators write them, spoiled, and when their messages begin."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from lcca.evaluation.fabric.formats.reading import read_text
from lcca.evaluation.fabric.formats.written import flow_table, usual_moment
from lcca.evaluation.fabric.workload.collectives.job import Job
from lcca.evaluation.fabric.workload.part import Streams
from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric import builders
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.traces import read_flows
from tests.fixtures import RunCommand

from .test_htsim import file, same

POLICY = "HYBRID_TRANSFORMER_FWD_IN_BCKWD"
USUAL = "pp: 1 vpp: 1 ga: 1"
NO_CHECKPOINTS = "checkpoints: 0 checkpoint_initiates: 0"


def head(tp: int, ep: int, gpus: int, more: str = USUAL, checkpoints: str = NO_CHECKPOINTS) -> str:
    return f"{POLICY} model_parallel_NPU_group: {tp} ep: {ep} {more} all_gpus: {gpus} {checkpoints}\n"


def layer(name: str, *passes: tuple[int, str, int], gap: str = "\t") -> str:
    """A line; passes that are left out take 1 ns, as AICB writes them."""
    own = [*passes, *[(1, "NONE", 0)] * 3][:3]
    return gap.join([name, "-1", *(str(word) for each in own for word in each), "100"]) + "\n"


def workload(first: str, *layers: str) -> str:
    return f"{first}{len(layers)}\n{''.join(layers)}"


NOTHING = (1, "NONE", 0)
MICRO = workload(head(8, 1, 8), layer("embedding_layer", (556000, "ALLREDUCE", 80_000), gap="     "))
GRADIENTS = (
    layer("grad_gather", NOTHING, NOTHING, (1, "ALLGATHER", 4000)),
    layer("grad_param_comm", NOTHING, NOTHING, (1, "REDUCESCATTER", 8000)),
    layer("grad_param_compute", NOTHING, (29700, "NONE", 0)),
    layer("embedding_grads", NOTHING, (1, "ALLREDUCE", 2000)),
    layer("moe_grad_norm1", NOTHING, NOTHING, (1, "ALLGATHER_DP_EP", 4000)),
    layer("moe_grad_norm2", NOTHING, NOTHING, (1, "REDUCESCATTER_DP_EP", 8000)),
)
ATTENTION = layer("attention_column", (1750, "ALLGATHER", 4000), (875, "REDUCESCATTER", 0), (875, "NONE", 0))
EXPERTS = layer("mlp_moelayer", (1, "ALLTOALL_EP", 8000), (1, "ALLTOALL_EP", 8000))
MOE = workload(head(2, 2, 8), *GRADIENTS, ATTENTION, EXPERTS)
DENSE = workload(head(2, 1, 4), layer("a", (10, "ALLREDUCE", 800), (20, "ALLREDUCE", 800), (30, "ALLREDUCE", 400)))

FILES: dict[str, tuple[str, int]] = {
    "one all-reduce": (MICRO, 8 * 14),
    "no line at the end": (MICRO.rstrip(), 8 * 14),
    "lines of Windows": (MICRO.replace("\n", "\r\n"), 8 * 14),
    "experts": (MOE, 8 * (3 + 3 + 2 + 1 + 1 + 1 + 2)),
    "dense": (DENSE, 4 * (2 + 2 + 2)),
    "a pipeline": (DENSE.replace("pp: 1 vpp: 1 ga: 1", "pp: 2 vpp: 2 ga: 24"), 4 * 6),
    "pp_comm without a colon": (DENSE.replace("ates: 0\n", "ates: 0 pp_comm 251658240\n"), 4 * 6),
    "pp_comm with a point": (DENSE.replace("ates: 0\n", "ates: 0 pp_comm: 8388608.0\n"), 4 * 6),
    "checkpoints": (DENSE.replace(NO_CHECKPOINTS, "checkpoints: 2 0 1 checkpoint_initiates: 1 0"), 4 * 6),
    "the other policy": (DENSE.replace(POLICY, "HYBRID_TRANSFORMER"), 4 * 6),
    "more lines than counted": (DENSE + layer("b", (1, "ALLREDUCE", 8)), 4 * 6),
    "a group of one": (DENSE.replace("Group: 2", "Group: 1").replace("group: 2", "group: 1"), 4 * 6),
    "few bytes": (DENSE.replace("800", "1"), 4 * 6),
}

MALFORMED: dict[str, str] = {
    MICRO.replace(
        POLICY, "HYBRID_TRANSFORM"
    ): ":1: HYBRID_TRANSFORM: unknown here (did you mean 'HYBRID_TRANSFORMER'?)",
    MICRO.replace(POLICY, "MICRO"): ":1: MICRO: unknown here",
    MICRO.replace(POLICY, POLICY.lower()): ":1: has 17 words: HPCC's flows begin with their number",
    MICRO.replace("ep: 1", "ep: 3"): ":1: ep: must divide all_gpus / model_parallel_NPU_group, 1, got 3",
    MICRO.replace("gpus: 8", "gpus: 12"): ":1: model_parallel_NPU_group: must divide all_gpus, 12, got 8",
    MICRO.replace("ep: 1 ", ""): ":1: ep: is missing; write ep: and a number",
    MICRO.replace("ep: 1", "ep 1"): ":1: ep: unknown here (did you mean 'ep:'?)",
    MICRO.replace("ep: 1", "ep: 1 ep: 1"): ":1: ep: stands there twice; leave one out",
    MICRO.replace("ep: 1", "tp: 1"): ":1: tp:: unknown here",
    MICRO.replace("gpus: 8", "gpus: 0"): ":1: all_gpus: must be a whole number from 1",
    MICRO.replace("gpus: 8", "gpus: 2000000000"): ":1: all_gpus: must be a whole number from 1 to 1000000, found",
    MICRO.replace("gpus: 8", "gpus: eight"): ":1: all_gpus: must be a whole number from 1",
    MICRO.replace(
        "initiates: 0", "initiates: 2 0"
    ): ":1: checkpoint_initiates: its value is missing at the end of the line",
    head(8, 1, 8): ":1: line 2 must be the number of layers; write it, then a line each",
    MICRO.replace("\n1\n", "\n"): ":2: line 2 must be the number of layers",
    MICRO.replace("\n1\n", "\none\n"): ":2: number of layers: must be a whole number from 1",
    MICRO.replace("\n1\n", "\n3\n"): ":2: number of layers: 3 are counted, and 1 follow; write 1",
    MICRO.replace("     100", ""): ":3: has 11 columns; write 12: name dependency, then ns COLLECTIVE bytes",
    MICRO.replace("     100", "     100     DATA"): ":3: has 13 columns",
    MICRO.replace("556000", "0.5"): ":3: forward ns: must be a whole number from 0",
    MICRO.replace("556000", "-1"): ":3: forward ns: must be a whole number from 0",
    MICRO.replace("ALLREDUCE", "ALLREDUCES"): ":3: ALLREDUCES: unknown here (did you mean 'ALLREDUCE'?)",
    MICRO.replace("ALLREDUCE", "ALLREDUCE_TP"): ":3: ALLREDUCE_TP: unknown here (did you mean 'ALLREDUCE_EP'?)",
    MICRO.replace("ALLREDUCE", "allreduce"): ":3: allreduce: unknown here",
    MICRO.replace("80000", "80kB"): ":3: forward bytes: must be a whole number from 0",
    MICRO.replace("-1", "x"): ":3: dependency: must be a whole number from -1",
    MICRO.replace("     100", "     soon"): ":3: update: must be a whole number from 0",
    MICRO.replace("80000", "0"): ":2: layers: send 0 messages, and from 1 to 1,000,000 can be read; take other ones",
    MICRO.replace(": 8", ": 1000"): ":2: layers: send 1,998,000 messages, and from 1",
    DENSE.replace("400\t100", "400.5\t100"): ":3: weight gradient bytes: must be a whole number from 0",
}


def flows_of(folder: Path, text: str) -> FabricFlows:
    found = read_text(file(folder, text, "a.txt")).what
    assert isinstance(found, FabricFlows)
    return found


def ends(flows: FabricFlows, hosts: int) -> np.ndarray:
    record = FabricEngine("window").run(builders.star(hosts), flows)
    return np.asarray(record["flow_start_ns"] + record["flow_fct_ns"])


@pytest.mark.parametrize("name", FILES)
def test_workloads_convert(tmp_path: Path, name: str) -> None:
    """Into as many messages, and a trace of ours that holds the same."""
    text, count = FILES[name]
    flows = flows_of(tmp_path, text)
    assert len(flows) == count
    (tmp_path / "a.csv").write_text(flow_table(flows), encoding="utf-8")
    same(flows, read_flows(tmp_path / "a.csv", builders.star(8), over=usual_moment(flows)))


@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_workloads_have_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        read_text(file(tmp_path, text, "a.txt"))
    assert MALFORMED[text] in str(caught.value) and len(str(caught.value).splitlines()) == 1


def pairs(flows: FabricFlows, rows: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(each) for each in zip(flows.src[rows].tolist(), flows.dst[rows].tolist(), strict=True)}


def rings(groups: Iterable[tuple[int, ...]]) -> set[frozenset[int]]:
    return {frozenset((own[at - 1], own[at])) for own in groups for at in range(len(own))}


@pytest.mark.parametrize(
    ("passes", "groups"),
    [
        ([(0, "ALLREDUCE", 8)], [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11)]),
        ([NOTHING, (0, "ALLGATHER", 8)], [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11)]),
        ([NOTHING, NOTHING, (0, "ALLREDUCE", 8)], [(0, 2, 4, 6, 8, 10), (1, 3, 5, 7, 9, 11)]),
        ([(0, "ALLGATHER_EP", 8)], [(0, 2, 4), (1, 3, 5), (6, 8, 10), (7, 9, 11)]),
        ([NOTHING, NOTHING, (0, "REDUCESCATTER_EP", 8)], [(0, 2, 4), (1, 3, 5), (6, 8, 10), (7, 9, 11)]),
        ([(0, "ALLREDUCE_DP_EP", 8)], [(0, 6), (1, 7), (2, 8), (3, 9), (4, 10), (5, 11)]),
    ],
)
def test_groups_are_those_of_simai(
    tmp_path: Path, passes: list[tuple[int, str, int]], groups: list[tuple[int, ...]]
) -> None:
    """12 GPUs, 2 next to each other share a layer, 3 of these pairs the experts."""
    flows = flows_of(tmp_path, workload(head(2, 3, 12), layer("a", *passes)))
    assert pairs(flows, np.arange(len(flows))) == rings(groups)


def test_sizes_are_of_the_whole_buffer(tmp_path: Path) -> None:
    for kind, sent in {"ALLREDUCE": 6, "ALLGATHER": 3, "REDUCESCATTER": 3, "ALLTOALL": 3}.items():
        flows = flows_of(tmp_path, workload(head(4, 1, 4), layer("a", (0, kind, 4000))))
        assert flows.size_bytes.tolist() == [1000] * 4 * sent


def test_layers_go_forward_and_back_as_a_job_does(tmp_path: Path) -> None:
    """Blocking collectives, computations between; whose order is written here by hand."""
    layers = [layer("a", (1000, "ALLREDUCE", 8000), (2000, "ALLGATHER", 4000), (3000, "NONE", 0))]
    layers += [layer("b", (5000, "REDUCESCATTER", 4000), (7000, "ALLTOALL", 4000), (11000, "NONE", 0))]
    steps = [("all-reduce", 8000, 1), ("reduce-scatter", 4000, 5), ("all-to-all", 1000, 7), ("all-gather", 4000, 13)]
    operations = [{"kind": kind, "bytes": size, "compute_us": us} for kind, size, us in steps]
    job = Job.model_validate({"kind": "job", "operations": operations}).draw(builders.star(4), Streams(1), 1e9)
    found = flows_of(tmp_path, workload(head(4, 1, 4), *layers))
    np.testing.assert_array_equal(np.sort(ends(found, 4)), np.sort(ends(job, 4)))
    assert sorted(set(found.step.tolist())) == [0, 1, 2, 3]


def test_collectives_of_weight_gradients_are_not_awaited(tmp_path: Path) -> None:
    """The last layer's begins after its computation; what follows begins then too, after one of its own."""
    layers = [layer("a", NOTHING, (500, "ALLREDUCE", 8000)), layer("b", NOTHING, NOTHING, (70, "ALLREDUCE", 8_000_000))]
    flows = flows_of(tmp_path, workload(head(2, 1, 4), *layers))
    gradients, back = (np.flatnonzero(flows.step == step) for step in (0, 1))
    assert pairs(flows, gradients) == {frozenset({0, 2}), frozenset({1, 3})}
    assert pairs(flows, back) == {frozenset({0, 1}), frozenset({2, 3})}
    starts = [set(flows.start_ns[own][flows.after[own] < 0].tolist()) for own in (gradients, back)]
    assert starts == [{1 + 1 + 1 + 70}, {73 + 500}]
    assert ends(flows, 4)[back].max() < ends(flows, 4)[gradients].max()


def test_what_is_assumed_is_said(tmp_path: Path) -> None:
    def said(name: str) -> str:
        return " ".join(read_text(file(tmp_path, FILES[name][0], "a.txt")).assumed)

    assert "stages" in said("a pipeline") and "stages" not in said("dense")
    assert "checkpoints are left out" in said("checkpoints") and "checkpoints" not in said("dense")
    assert "1 lines after them are left out, as SimAI does" in said("more lines than counted")
    assert "go on beside what follows" in said("dense") and "go on beside" not in said("one all-reduce")
    assert "of 2 ns, are left out" in said("one all-reduce") and "left out" in said("one all-reduce")


def test_workloads_run(lcca: RunCommand, tmp_path: Path) -> None:
    path, topology = file(tmp_path, MOE, "moe.txt"), ["10 4 1 1 16 H100", "8 9"]
    links = [f"{gpu} 8 2880Gbps 0.000025ms 0\n{gpu} 9 400Gbps 0.0005ms 0" for gpu in range(8)]
    file(tmp_path, "\n".join([*topology, *links]) + "\n", "hpn.txt")
    assert lcca("evaluate", "dctcp", "--on", path, "--trials", 1).status == 0
    answer = lcca("import", path, tmp_path / "hpn.txt", tmp_path / "to")
    assert answer.status == 0 and "assumed: GPU r is host r" in answer.out
    assert lcca("evaluate", "hpcc", "--on", tmp_path / "to" / "scenario.yaml", "--trials", 1).status == 0


def test_many_messages_are_read_at_once(tmp_path: Path) -> None:
    """A thousand layers on 32 GPUs: waiting does not add up from layer to layer."""
    layers = [layer("a", (10, "ALLREDUCE", 800), (10, "ALLGATHER", 800))] * 100
    flows = flows_of(tmp_path, workload(head(4, 1, 32), *layers))
    assert len(flows) == 100 * 32 * 9 and max(len(each.flows) for each in flows.sets) <= 7
    assert flows.off_ns.max() == 10 + 1  # a computation, and that of the weight gradients before it
