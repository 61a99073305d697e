"""Maps of tiny campaigns, for the tests that ask all kinds of runs."""

from lcca.studies.maps.config import MapConfig
from tests.experiments.runs.run_files import FABRIC, FABRIC_SWEEP, SPACE, SWEEP, WINDOW, RunKind
from tests.experiments.runs.verbs import read

TRAINED = SWEEP.replace("[1, 2]", "[1, 2, 3, 4, 5, 6]")
MAP = """\
name: small
campaign: tiny.yaml
run: .
over: [senders, rtt]
metrics: [delay_us]
mix: space.yaml
points: 64
looks: 2
"""
TRAININGS = {
    f"policies/loss+{name}.default.s{seed}.json": WINDOW.format(window + seed)
    for name, window in (("rtt", 10), ("queue", 12))
    for seed in range(1, 7)
}
FLOWS_TRAINED = FABRIC_SWEEP.replace("seeds: [1]", "seeds: [1, 2, 3, 4, 5]")
MAP_OF_FLOWS = """\
name: small
campaign: flows.yaml
run: .
over: [workload.load, drain_us]
within:
  workload.load: {min: 0.2, max: 0.8, step: 0.2}
  drain_us: {min: 10, max: 1000, levels: 5}
metrics: [score_bits, fct_mean_us]
points: 64
looks: 2
"""
FLOWS_TRAININGS = {
    f"policies/{name}.slowdown.s{seed}.json": WINDOW.format(window + seed)
    for name, window in (("e2e", 10), ("hpcc", 30))
    for seed in range(1, 6)
}
RUNS = {
    "map": RunKind(
        ("map", "small.yaml"),
        {"small.yaml": MAP, "tiny.yaml": TRAINED, "space.yaml": SPACE} | TRAININGS,
        ("policies/loss+rtt.default.s2.json", WINDOW.format(3)),
        [
            ("over=[loss]", "over: loss has one level"),
            ("over=[senders, senders]", "'senders' is listed twice"),
            ("metrics=[dely_us]", "metrics.0: 'dely_us' is no metric with a better direction (did you mean 'delay_us'"),
            ("metrics=[packets_delivered]", "'packets_delivered' is no metric with a better direction"),
            ("pairs=[[loss+rtt, e2e]]", "pairs: the campaign has no set 'e2e'"),
            ("utility=2t", "utility: the campaign trains for default"),
            ("trainer=laws", "trainer: name one of the campaign's"),
            ("within.senders={min: 2, max: 3, step: 1}", "mix: senders is from 1 to 4, beyond the map; widen it in"),
            ("within.rtt={min: 600, max: 900, step: 100}", "duration must exceed rtt"),
            (
                "run=elsewhere",
                "--set: run: elsewhere: 0 training seeds with finished trainings of loss+queue, loss+rtt,",
            ),
            ("campaign=gone.yaml", "gone.yaml"),
        ],
        named="trainings.loss+rtt.default.s2: ",
    ),
    "map-fabric": RunKind(
        ("map", "small.yaml"),
        FABRIC | {"small.yaml": MAP_OF_FLOWS, "flows.yaml": FLOWS_TRAINED} | FLOWS_TRAININGS,
        ("policies/hpcc.slowdown.s2.json", WINDOW.format(3)),
        [
            (
                "over=[workload.load]",
                "over: drain_us: a fabric needs ranges of all of `over` and no others, as in within={",
            ),
            ("over=[drain_us, workload.sizes]", "over: workload.load, workload.sizes: a fabric needs ranges of all"),
            ("within.drain_us=10", "over: drain_us has one level"),
            (
                "within.workload.load={min: 0.2, max: 1.2, step: 0.2}",
                "at workload.load=1.2, drain_us=10: fabric.workload.",
            ),
            ("within={workload.load: {min: 1, max: 2}, drain_us: 1}", "within.workload.load: step must be > 0"),
            (("--over", "mtu_bytes", "--set", "within={mtu_bytes: {min: 1500, max: 1501, step: 0.5}}"), "mtu_bytes"),
            (
                ("--over", "lod", "--set", "within={lod: {min: 1, max: 2, step: 1}}"),
                "at lod=1: fabric.lod: unknown key",
            ),
            (
                ("--over", "name", "--set", "within={name: {min: 1, max: 2, step: 1}}"),
                "at name=1: fabric.name: must be",
            ),
            ("metrics=[delay_us]", "metrics.0: 'delay_us' is no metric with a better direction"),
            ("metrics=[round_mean_us]", "metrics.0: 'round_mean_us' is no metric with a better direction"),
            ("networks={fabric: [star.yaml, {name: other, topology: {kind: star, hosts: 3}}]}", "networks.fabric.1"),
            ("mix=space.yaml", "space.yaml"),
        ],
        named="trainings.hpcc.slowdown.s2: ",
    ),
}
VERBS = {"map": read(MapConfig, MAP + "seed: 4\n", RUNS["map"].files)}
