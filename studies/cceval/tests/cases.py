"""Tiny estimations, for the tests that ask all kinds of runs."""

import re

from lcca.studies.cceval import durations, recipe
from lcca.studies.cceval.config import EstimationConfig
from tests.experiments.runs import verbs
from tests.experiments.runs.run_files import FABRIC, OTHER, OTHER_LINKS, POLICY, RunKind

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

OWN = """\
name: small
seed: 4
policy: mine.py:Mine
networks: space.yaml
utility: utility.py:f
estimate: {metric: delay_us, ceiling: 40}
"""

RUNS = {
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
        plans=False,
    ),
}
VERBS = {
    "estimate": verbs.read(EstimationConfig, OWN, verbs.NETWORKS | verbs.CONTROL),
    "estimate-fabric": verbs.read(
        EstimationConfig, re.sub("dctcp.*", verbs.MIX, ESTIMATE), verbs.FABRIC | verbs.POLICIES
    ),
}
DRAWING = {"estimates": (recipe, ("_draw", "_draw_looks")), "durations": (durations, ("save",))}
"""Functions that draw figures, which take longer than all the rest of a tiny run."""
CONFIGURED = {
    "estimate": (
        "name: est\npolicy: aimd\nnetworks: {link_rate: 1, rtt: 9, senders: 2, buffer: 9, mean_on: 99, mean_off: 9, "
        "loss: 0, duration: 900}\nestimate: {metric: score_bits, accuracy: 1}\n",
        EstimationConfig,
    )
}
"""Files of a kind of run, and their model."""
