"""Every kind of run that a folder keeps, with a tiny configuration: what `test_conformance.py` asks of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POLICY = '{"format": 1, "kind": "fixed-window", "parameters": {"window": 9}}'
OTHER = POLICY.replace("9", "3")
SPACE = """\
link_rate: {min: 1, max: 2, step: 0.5}
rtt: {min: 10, max: 20, step: 5}
senders: {min: 1, max: 4, step: 1}
buffer: 50
mean_on: {min: 200, max: 1000, step: 100}
mean_off: 100
loss: 0.01
duration: 500
"""
NETWORKS = "".join(
    f"- {{link_rate: {1 + i}, rtt: 100, senders: 2, buffer: 50, mean_on: 1000, mean_off: 1000, loss: 0}}\n"
    for i in range(12)
)
LINKS = "a,b,gbps,delay_ns\n" + "".join(f"{host},6,100,1000\n" for host in range(6))
OTHER_LINKS = LINKS.replace("5,6,100", "5,6,200")
STAR = """\
name: star
topology: {kind: file, links: links.csv}
workload: {kind: poisson, sizes: fb-hadoop, load: 0.5, load_of: host-links}
duration_us: 40
"""
FABRIC = {"star.yaml": STAR, "links.csv": LINKS}

ESTIMATE = """\
name: small
seed: 4
policy: dctcp:increase_gbps=0.3
fabric: star.yaml
estimate: {metric: fct_us, quantile: 0.9, accuracy_percent: 4, ceiling: 40, flows: {from_bytes: 300, below_bytes: 1e4}}
"""
SEVERAL = ESTIMATE[: ESTIMATE.index("estimate:")] + "estimate: metrics.yaml\n"
SMALL, LARGE = "{below_bytes: 1e4}", "{from_bytes: 1e4}"
METRICS = f"""\
target: mean-of-trials
accuracy_percent: 8
ceiling: 48
every: 1
block: 8
metrics:
  - {{metric: fct_us, quantile: 0.5, flows: {SMALL}}}
  - {{metric: slowdown, quantile: 0.9, target: pooled, flows: {LARGE}, accuracy_percent: 30}}
  - {{metric: slowdown}}
"""
MODEL_BASED = """\
name: small
policy: policy.json
network: {link_rate: 1, rtt: 5, traffic: {load: 0.7, sizes: "lognormal:8:1", packet_bytes: 1000}}
duration: 90
estimate:
  metric: fct_us
  quantile: 0.99
  accuracy_percent: 6
  ceiling: 60
  method: model-based
  importance: {epochs: 1, cycles: 20, pilot: 20}
"""
TUNE = """\
name: small
fabric: star.yaml
tuner:
  policy: window:bdps=0.1
  space: {bdps: [0.1, 1, 0.05]}
  sampler: {kind: grid}
  trials: null
  networks: 12
  race: {first_look: 8, every: 4}
test: {pairs: 40, at_least: 24, block: 8}
"""
STUDY = """\
name: windows
contenders:
  small: window:bdps=0.1
  whole: window:bdps=1
  same: window:bdps=1
  tuned:
    tune:
      name: tune-window
      fabric: star.yaml
      tuner:
        policy: window:bdps=0.1
        space: {bdps: [0.1, 1]}
        sampler: {kind: grid}
        trials: null
        networks: 8
        race: {first_look: 4, every: 4}
      test: {pairs: 24, at_least: 24, block: 8}
scenarios:
  - star.yaml
  - name: incast
    topology: {kind: star, hosts: 6}
    workload: {kind: incast, senders: 5, bytes: 20000, period_us: 50}
    duration_us: 100
questions:
  - name: size
    figure: Fig. 1
    asks: Is a whole window better than a tenth of one?
    theirs: It is.
    contender: whole
    against: [small, tuned]
    scenarios: [star]
    utilities: [slowdown, slowdown-p99]
    expected: better
  - {name: name, contender: whole, against: [same], expected: equivalent}
pairs: 24
"""
ACC = """\
name: acc
fabric: star.yaml
held_out:
  - name: busy-star
    topology: {kind: star, hosts: 4}
    workload: {kind: poisson, sizes: fb-hadoop, load: 0.8, load_of: host-links}
    duration_us: 60
trainer:
  interval_us: 10
  delay_us: 2
  templates: {kmin_bytes: [10000, 50000], kmax_bytes: [100000, 400000], pmax: [0.1, 0.5, 1]}
  dqn: {steps: 300, hidden: [8], batch: 32, warm_up: 100, explore_steps: 200, learn_every: 8, sync_every: 20}
  checkpoint_every: 2
test: {pairs: 24, explore: 0}
"""
SWEEP = """\
name: tiny
seed: 1
networks: space.yaml
signal_sets: [loss+rtt, loss+queue]
baseline: loss+rtt
trainer: {kind: rplus, rounds: 1, passes: 1, networks: 4, check_networks: 40, optimise: [increment]}
training_seeds: [1, 2]
validation: {networks: 20}
test: {pairs: 96, block: 32, at_least: 32, per_training_seed: 48}
per_network: {networks: 3, seeds: 2}
generalisation: [{name: line, topology: line, pairs: 20}]
"""
FABRIC_SWEEP = """\
name: flows
networks: {fabric: star.yaml}
signal_sets: [e2e]
headers: [hpcc]
hand_designed: [dctcp]
trainer:
  rounds: 0
  grow: {rules: [1, 2], pairs: 4, look_ups: 2}
  polish: {networks: 2, check_networks: 4}
  budget_trials: 40
training_seeds: [1]
validation: {networks: 4}
test: {pairs: 24, at_least: 24, block: 24, per_training_seed: 4}
"""

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
WINDOW = '{{"format": 1, "kind": "fixed-window", "parameters": {{"window": {}}}}}'
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

Refused = Sequence[tuple[str | tuple[str, ...], str]]


@dataclass(frozen=True)
class RunKind:
    """A kind of run.

    Attributes:
        command: words of a command line in the folder with the files.
        files: by name.
        changed: a file that the run names, and another text of it.
        refused: options, or a key of its file with a value, and what is said of them.
        needs: packages besides those that are always there.
        named: what a refusal says of the changed file; its name unless given.
    """

    command: tuple[str, ...]
    files: Mapping[str, str]
    changed: tuple[str, str]
    refused: Refused
    needs: tuple[str, ...] = ()
    named: str = ""

    def write(self, folder: Path) -> Path:
        """Write the files into a folder and return it."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        return folder


NOT_A_SPACE = ("--set", "loss=2"), "loss"
KINDS: dict[str, RunKind] = {
    "compare": RunKind(
        ("compare", "aimd", "policy.json", "--on", "space.yaml", "--trials", "112", "--rule", "step=16"),
        {"space.yaml": SPACE, "policy.json": POLICY},
        ("policy.json", OTHER),
        [NOT_A_SPACE, (("--rule", "alpha=2"), "alpha: must be between 0 and 1, got 2")],
    ),
    "rank": RunKind(
        (
            "rank",
            "aimd",
            "policy.json",
            "fixed-window:20",
            "--on",
            "space.yaml",
            "--trials",
            "112",
            "--rule",
            "step=16",
        ),
        {"space.yaml": SPACE, "policy.json": POLICY},
        ("policy.json", OTHER),
        [NOT_A_SPACE, (("--margin-percent", "0"), "--margin-percent: must be > 0, got 0")],
    ),
    "stress": RunKind(
        (
            *("stress", "aimd", "--against", "policy.json", "--on", "space.yaml", "--candidates", "40"),
            *("--networks", "3", "--fresh", "9"),
        ),
        {"space.yaml": SPACE, "policy.json": POLICY},
        ("policy.json", OTHER),
        [
            NOT_A_SPACE,
            (("--metric", "delay"), "--metric: 'delay' is no metric (did you mean 'delay_us'?)"),
            (("--metric", "delay_us", "--against", "ideal-fair"), "--metric delay_us: ideals have a score alone"),
            (("--fresh", "1"), "--fresh: an interval needs at least 2 trials"),
            (("--on", "policy.json"), "policy.json"),
            (
                ("--set", "link_rate=1", "--set", "rtt=9", "--set", "senders=2", "--set", "mean_on=900"),
                "nothing varies in this space: give a parameter a range",
            ),
        ],
        needs=("optuna",),
    ),
    "adopt": RunKind(
        (*("compare", "aimd", "policy.json", "--on", "space.yaml", "--trials", "120"), "--share", "0.5"),
        {"space.yaml": SPACE, "policy.json": POLICY},
        ("policy.json", OTHER),
        [NOT_A_SPACE, (("--share", "2"), "--share: must be between 0 and 1")],
    ),
    "evaluate": RunKind(
        ("evaluate", "aimd", "policy.json", "--on", "list.yaml", "--seeds", "30"),
        {"list.yaml": NETWORKS, "policy.json": POLICY},
        ("policy.json", OTHER),
        [(("--utility", "2x"), "unknown utility '2x'")],
    ),
    "evaluate-fabric": RunKind(
        ("evaluate", "dctcp", "dcqcn", "--on", "star.yaml", "--trials", "9"),
        FABRIC,
        ("links.csv", OTHER_LINKS),
        [(("--utility", "default"), "default: scores networks, not a fabric")],
    ),
    "evaluate-both": RunKind(
        ("evaluate", "policy.json", "--on", "space.yaml", "--trials", "32", "--simulator", "both"),
        {"space.yaml": SPACE, "policy.json": POLICY},
        ("policy.json", OTHER),
        [NOT_A_SPACE],
    ),
    "estimate": RunKind(
        ("estimate", "small.yaml"),
        FABRIC | {"small.yaml": ESTIMATE},
        ("links.csv", OTHER_LINKS),
        [
            ("policy=vegas", "vegas: runs in ns-3 only"),
            ("policy=quic", "'quic': neither a transport"),
            ("policy=dctcp:gain=1", "gain is not a parameter"),
            ("estimate.method=model-based", "needs network.traffic (one link with open flows), not fabric"),
            ("estimate.metric=rtt_p99_us", "'rtt_p99_us' is not measured here"),
            ("estimate.metric=slowdown_p99", "small.yaml:5: estimate.flows: only with a fabric and a metric of flows"),
            ("estimate={metric: drops, quantile: 0.5}", "only flows have quantiles here; name a column such as slo"),
            ("estimate.flows.from_bytes=20000", "from_bytes (20000) must be less than below_bytes (10000)"),
            ("estimate.flows.below_bytes=301", "estimate.metric: fct_us has no value in any of 20 trials"),
            ("utility=default", "default: scores networks, not a fabric"),
            ("fabric.workload.load=3", "fabric.workload.load: asks for"),
            ("fabric.topology.links=gone.csv", "gone.csv"),
            ("fabric.drain_us=0", "a flow did not complete: the load is too high for this policy and duration (on a"),
            ("network={link_rate: 1, rtt: 1, traffic: {load: 0.5, sizes: websearch}}", "give one of network"),
        ],
    ),
    "estimate-controlled": RunKind(
        (
            *("estimate", "small.yaml", "--set"),
            "estimate={metric: slowdown, quantile: 0.9, target: mean-of-trials, accuracy_percent: 4, ceiling: 24, "
            "control: {simulator: fluid, per_trial: 3}}",
        ),
        FABRIC | {"small.yaml": ESTIMATE},
        ("links.csv", OTHER_LINKS),
        [],
    ),
    "estimate-several": RunKind(
        ("estimate", "small.yaml"),
        FABRIC
        | {"small.yaml": ESTIMATE[: ESTIMATE.index("estimate:")] + "estimate: metrics.yaml\n", "metrics.yaml": METRICS},
        ("links.csv", OTHER_LINKS),
        [
            ("estimate.metric=fct_us", "metric and metrics exclude each other"),
            ("estimate.metrics=[]", "give metric, or several in metrics"),
            ("estimate.metrics.0.metric=fct", "'fct' is not measured here"),
            ("estimate.metrics.0.metric=drops", "estimate.metrics.0.flows: only with a fabric and a metric of flows"),
            ("estimate.metrics=[{metric: drops}, {metric: fct_us}]", "metrics of flows and columns of trials"),
            ("estimate.metrics=[{metric: score_bits}]", "estimate.metrics.0: score_bits has an arbitrary zero"),
            ("estimate.metrics.0.flows={from_bytes: 1e9}", "estimate.metrics: fct_us has no value in any of 24 trials"),
            ("estimate=gone.yaml", "gone.yaml"),
        ],
    ),
    "estimate-model-based": RunKind(
        ("estimate", "small.yaml"),
        {"small.yaml": MODEL_BASED, "policy.json": POLICY},
        ("policy.json", OTHER),
        [("estimate.importance={epochs: 1, cycles: 30, pilot: 40}", "search and pilot take 70 trials")],
    ),
    "durations": RunKind(
        ("estimate", "small.yaml", "--durations", "20,80", "--simulated-time", "1600"),
        FABRIC | {"small.yaml": ESTIMATE},
        ("links.csv", OTHER_LINKS),
        [("estimate.quantile=null", "--durations: needs one quantile of flows")],
    ),
    "tune": RunKind(
        ("tune", "small.yaml"),
        FABRIC | {"small.yaml": TUNE},
        ("links.csv", OTHER_LINKS),
        [
            ("tuner.policy=vegas", "tuner.policy: vegas: runs in ns-3 only; a fabric has"),
            ("tuner.policy=dcqcn@expert", "'dcqcn@expert': expert sets parameters itself; tune the transport without"),
            ("tuner.policy=quic", "tuner.policy: 'quic': neither a transport"),
            ("tuner.space={gain: [1, 2]}", "no parameter 'gain' (known: bdps, loss_factor)"),
            ("tuner.space={bdps: [-1, 2]}", "bdps: must be from 0 to 1e+09, got -1"),
            ("tuner.space=table-5", "table-5 has no ranges for 'window'"),
            ("tuner.race.first_look=12", "tuner: race.first_look must be below networks (12)"),
            ("utility=default", "default: scores networks, not a fabric"),
            ("simulator=ns3", "simulator: ns3 does not run fabrics"),
            ("fabric=null", "give either networks (a space) or fabric (a scenario)"),
            ("fabric.workload.load=4", "fabric.workload.load: asks for"),
        ],
        needs=("optuna",),
    ),
    "study": RunKind(
        ("study", "windows.yaml"),
        FABRIC | {"windows.yaml": STUDY},
        ("links.csv", OTHER_LINKS),
        [
            ("contenders.small=quic", "contenders.small.policy: 'quic': neither a transport"),
            ("contenders.small={policy: dctcp, tune: null, pace: 1}", "contenders.small.pace"),
            ("contenders.small={}", "contenders.small: give one of policy, a name, tune, a tuning, and train"),
            ("questions.0.against=[smal]", "questions.0.against.0: there is no 'smal' (did you mean 'small'"),
            ("questions.0.scenarios=[ring]", "questions.0.scenarios.0: there is no 'ring'"),
            ("questions.0.against=[whole]", "questions.0: against: whole would meet itself"),
            ("questions.0.utilities=[default]", "questions.0.utilities: default: scores networks, not a fabric"),
            ("questions.1.name=size", "questions: two questions are called 'size'"),
            ("scenarios.1.name=star", "scenarios: two scenarios are called 'star'"),
            ("contenders.tuned.tune.fabric.workload.load=4", "contenders.tuned.tune.fabric.workload.load: asks for"),
            (("--set", "scenarios.0.mtu_bytes=1060", "--set", "contenders.same=hpcc"), "contenders"),
            ("pairs=8", "pairs"),
            ("questions.0.against=[small, small]", "questions.0.against: 'small' is listed twice"),
            ("questions.0.utilities=[slowdown, slowdown]", "questions.0.utilities: 'slowdown' is listed twice"),
            ("questions.0.scenarios=[star, star]", "questions.0.scenarios: 'star' is listed twice"),
            ("questions.0.against=[tuned]", "contenders.small: no question names it; leave it out"),
            ("questions.1.scenarios=[star]", "scenarios.1: no question is about incast; leave it out"),
            ("questions.1.utilities=[slowdown, rounds]", "questions.1.utilities.1: rounds: star has no rounds; work"),
            ("contenders.tuned.tune.tuner.space={bdp: [1, 2]}", "contenders.tuned.tune.tuner"),
            ("contenders.tuned.tune.utility=rounds", "contenders.tuned.tune: rounds: star has no rounds"),
        ],
        needs=("optuna",),
    ),
    "acc": RunKind(
        ("acc", "small.yaml"),
        FABRIC | {"small.yaml": ACC},
        ("links.csv", OTHER_LINKS),
        [("trainer.interval_us=0", "trainer.interval_us")],
        needs=("torch", "gymnasium"),
    ),
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
    "sweep": RunKind(
        ("sweep", "tiny.yaml"),
        {"tiny.yaml": SWEEP, "space.yaml": SPACE},
        ("space.yaml", SPACE.replace("0.01", "0.02")),
        [("trainer.rounds=-1", "trainer.rounds"), ("networks=gone.yaml", "gone.yaml")],
        named="networks.loss: 0.01 → 0.02",
    ),
    "sweep-fabric": RunKind(
        ("sweep", "flows.yaml"),
        FABRIC | {"flows.yaml": FABRIC_SWEEP},
        ("links.csv", OTHER_LINKS),
        [("trainer.rounds=-1", "trainer.rounds")],
    ),
}
