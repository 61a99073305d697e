"""Small valid files of every kind that users write, each with the commands that take it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lcca.remy_plus.files.dna_tree import R_PLUS_AXES, Tree
from lcca.remy_plus.files.policyfile import PolicyFile, dumps
from lcca.remy_plus.policies.path_law import PathLaw
from lcca.remy_plus.policies.rules import bisect, one_rule
from lcca.remy_plus.switches.transports import Transport
from lcca.signal_sets.load import resolve

from ...experiments.runs.run_files import FABRIC, NETWORKS, SPACE
from ...experiments.runs.run_kinds import KINDS
from ...studies import of_studies

ROOT = Path(__file__).parents[3]
Words = tuple[str, ...]


@dataclass(frozen=True)
class Subject:
    """A valid file.

    Attributes:
        file: its name, by whose ending it is altered.
        files: all that must be there, by name.
        commands: that take it, each in words.
        runs: commands that take longer, each tried once in ten times.
    """

    file: str
    files: Mapping[str, str | bytes]
    commands: Sequence[Words]
    runs: Sequence[Words] = ()

    @property
    def syntax(self) -> str:
        """How it is altered."""
        return self.file.rpartition(".")[2]

    def write(self, folder: Path, data: bytes | None = None) -> None:
        """Write all files into a folder, this one with other bytes if there are any."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        if data is not None:
            (folder / self.file).write_bytes(data)

    @property
    def valid(self) -> bytes:
        """Its bytes."""
        content = self.files[self.file]
        return content.encode() if isinstance(content, str) else content


def words(text: str) -> Words:
    return tuple(text.split())


HEADER = """\
name: mine
title: Queue and unused share, 4 bytes
reference: our own
doc: The longest queue, the smallest unused share of a link, and its hop.
placement: {layer: l2, fixed_bits: 16}
fields:
  - name: queue
    source: qlen_pkts
    bits: 6
    encode: {kind: log, base: 1.2, min: 1, zero: true}
    agg: max
    measure: {refresh_us: 20, delay_us: 5, bias: 0.1, noise: 0.05}
  - {name: unused, source: abw_over_c, unit: percent, bits: 6, encode: {kind: linear, max: 100}, agg: min,
     measure: {window: tumbling, interval_us: 50}}
  - {name: drain, source: "expr:qlen_bytes / 100 + 2", unit: us, bits: 10, agg: max, when: qlen_bytes > 3000}
  - {name: where, source: hop_count, bits: 4, agg: "with:unused"}
  - {name: kind, source: const, bits: 2, encode: {kind: enum, values: [a, b, c]}, agg: first, scope: src_once, init: b}
stamp_loss: 0.01
direction: one_way
"""
SIGNAL_SET = """\
name: pressure
title: With pressure
signals:
  - receive_ewma
  - rtt_ratio
  - {name: pressure, expr: "rtt_ratio * queue + min(queue, 9)", unit: packets}
doc: The queue that costs time.
"""
WITH_SET = """\
name: tiny
seed: 1
networks: space.yaml
signal_sets: [loss+rtt, set.yaml]
baseline: loss+rtt
trainer: {kind: rplus, rounds: 1, passes: 1, networks: 4, check_networks: 40, optimise: [increment]}
training_seeds: [1, 2]
validation: {networks: 20}
test: {pairs: 96, block: 32, at_least: 32, per_training_seed: 48}
"""
SPACES = """\
spaces:
  - space.yaml
  - {networks: space.yaml, topology: "line:hosts_per_router=2", name: line, weight: 2}
  - {networks: list.yaml, name: hard}
"""
FULL_LIST = """\
- {link_rate: 3.0, rtt: 27, senders: 6, buffer: 225, mean_on: 4500, mean_off: 900, loss: 0.001, packet_bytes: 1500}
- link_rate: 10 Gbps
  rtt: 150 us
  senders: 2
  buffer: inf
  mean_on: 1e3
  mean_off: 1000
  loss: 0
  switched: bytes
  topology: {kind: reverse-path, reverse_senders: 3, one_way: true}
"""
MIX = """\
name: mix
topology: {kind: leaf-spine, tors: 2, hosts_per_tor: 4, spines: 2, uplink_gbps: 400 Gbps, host_delay_ns: 800}
workload:
  kind: mix
  parts:
    - {kind: poisson, sizes: sizes.csv, load: 0.3, load_of: host-links}
    - {kind: incast, senders: 5, bytes: 20 kB, load: 0.02, priority: 1}
    - {kind: all-to-all, workers: 3, bytes: 5000, off_us: 10, rounds: 2, start_us: 5}
duration_us: 60
drain_us: 2000
warmup_us: 5
payload_bytes: 1000
overhead_bytes: 48
mtu_bytes: 1500
switch: {buffer_bytes: 2 MB, pfc: true, priorities: 3}
stamping: {switches: random, share: 0.5}
entropies: 32
"""
EVENTS = """\
name: failing
topology: {kind: leaf-spine, tors: 2, hosts_per_tor: 2, spines: 2, host_gbps: 100, uplink_gbps: 400}
workload: {kind: permutation, bytes: 150_000, start_us: 2}
drain_us: 5 ms
events:
  - {at_us: 4, switch: 6, for_us: 10}
  - {at_us: 20, link: [4, 7], gbps: 100, for_us: 10}
convergence_us: 3
spraying: oblivious
selective: true
"""
BUSY = """\
name: busy
topology: {kind: star, hosts: 6}
workload: {kind: incast, senders: 5, bytes: 200000, receiver: 0, period_us: 90}
duration_us: 100
drain_us: 2000
"""
LINKS = FABRIC["links.csv"]
TRACE = """\
id,src,dst,size_bytes,start_ns,path
1,0,4,30000,0,
2,1,4,20000,0,
3,2,4,1000,500.5,
7,3,4,5e4,1e3,
"""
SIZES = "bytes,cumulative\n100,0\n1000,0.25\n10000,0.75\n50000,1\n"
SIZES_YAML = """\
name: mine
source: measured by us
points:
  - [0, 0]
  - [1000, 25]
  - [10000, 75]
  - [50000, 100]
"""
ON_SIZES = """\
name: sized
topology: {kind: star, hosts: 6}
workload: {kind: poisson, sizes: %s, load: 0.4, load_of: host-links}
duration_us: 60
"""
ON_LINKS = FABRIC["star.yaml"].replace("fb-hadoop", "sizes.csv")
ON_TRACE = """\
name: traced
topology: {kind: file, links: links.csv}
workload: {kind: trace, flows: flows.csv}
duration_us: 40
"""
LAWS = """\
name: quick
seed: 1
networks: space.yaml
signal_sets: [e2e, capacity+flows]
headers: [hpcc]
hand_designed: [aimd]
baseline: e2e
utilities: [default]
trainer:
  kind: law
  stages:
    - {trials: 40, terms: plain, features: none, width: 1}
    - {trials: 30}
training_seeds: [1, 2, 3]
validation: {networks: 16}
test: {pairs: 48, at_least: 16, block: 16}
settle: {margin_percent: 3, alpha: 0.05}
per_network: {networks: 3, seeds: 4}
"""
PPO = """\
name: deep
networks: space.yaml
signal_sets: [e2e, queue]
baseline: e2e
trainer:
  kind: ppo
  steps: 4096
  rounds: 1
  environments: 4
  history: 2
  learning_rate: 1e-3
validation: {networks: 16}
test: {pairs: 48, at_least: 16}
"""
CONTROL = """\
import math


class Mine:
    signals = ("receive_ewma", "queue")

    def __init__(self, packets=2.0):
        self.window = packets

    def start(self):
        return self.window, 0

    def on_ack(self, ack):
        if ack.lost > 0 or ack.queue > 30 :
            self.window = max( 2.0, self.window / 2 )
        else:
            self.window += 1 / self.window
        return min( self.window, 1e6 ), math.floor( 0.5 )
"""
UTILITY = """\
import numpy as np


def score(throughput, delay):
    return np.log2( throughput ) - 0.5 * np.log2( delay + 1 )
"""
MLP = {
    "format": 1,
    "kind": "mlp",
    "signals": ["rtt_ratio", "loss"],
    "agent": {"history": 2, "decisions": {}, "steering": {"kind": "window"}},
    "layers": [
        {"weights": [[0.1, 0.2, 0.3, 0.4], [0.5, -0.1, 0.2, 0.1]], "biases": [0, 0.1], "activation": "tanh"},
        {"weights": [[0.3, -0.2]], "biases": [0.05], "activation": "linear"},
    ],
}
NAMED = {
    "aimd": "engine",
    "fixed-window:9": "engine",
    "fixed-rate:0.3": "engine",
    "fair-rate": "engine",
    "rcp": "engine",
    "xcp": "engine",
    "dcqcn@dcqcn-plus": "fabric",
    "hpcc:eta=0.9": "fabric",
    "dctcp-window@red": "fabric",
    "ndp": "fabric",
}
"""Policies by name, and where they run."""

PLACES = {"engine": words("--on space.yaml --trials 16"), "fabric": words("--on busy.yaml --trials 1")}


def policies() -> dict[str, Subject]:
    """Return files of every kind of policy, by kind."""
    folder = ROOT / "configs"
    texts = {
        "rule-table": (policy_of_rules(), "engine"),
        "mlp": (json.dumps(MLP), "engine"),
        "law": ((folder / "policies" / "law-e2e.json").read_text(), "engine"),
        "fabric-law": ((folder / "fabric" / "law-e2e.json").read_text(), "fabric"),
        "path-law": (dumps(PolicyFile(PathLaw.of(Transport("nscc"), {}, {"queue": 1.0}), header="fullest")), "fabric"),
        "described-header": (policy_of_header(), "engine"),
    }
    texts |= {name: (dumps(PolicyFile(resolve(name, where).policy)), where) for name, where in NAMED.items()}
    found = {}
    for name, (text, where) in texts.items():
        commands = [("show", "policy", "p.json"), *[("evaluate", "p.json", *PLACES[where])] * 2]
        found[name] = Subject("p.json", {"p.json": text, "space.yaml": SPACE, "busy.yaml": BUSY}, commands)
    return found


def policy_of_rules() -> str:
    table = bisect(one_rule(("send_ewma", "rtt_ratio", "queue")), 0, [1.5, 2.0, 20.0])
    return dumps(PolicyFile(table, signal_set="custom", provenance={"seed": 1, "link_interval_us": 10}))


def policy_of_header() -> str:
    fields = [{"name": "queue", "source": "qlen_pkts", "bits": 6, "agg": "max"}]
    described = {"name": "small", "title": "A queue", "placement": {"layer": "l2"}, "fields": fields}
    rules = one_rule(("rtt_ratio", "queue"))
    return json.dumps(json.loads(dumps(PolicyFile(rules))) | {"header": described})


def dna() -> bytes:
    """Return a tree of four rules as R+ writes it."""
    root = Tree()
    names = R_PLUS_AXES[:3]
    bounds = (0.0, 1.0, 5.0, 20.0, 163840.0)
    for name in names:
        setattr(root.box.lower, name, 0.0)
        setattr(root.box.upper, name, 163840.0)
    for i in range(4):
        leaf = root.children.add()
        for name in names:
            setattr(leaf.box.lower, name, bounds[i] if name == names[0] else 0.0)
            setattr(leaf.box.upper, name, bounds[i + 1] if name == names[0] else 163840.0)
        leaf.rule.increment, leaf.rule.multiple, leaf.rule.pacing = i, 1.0, 0.5 + i
    return bytes(root.SerializeToString(deterministic=True))


def run_of(name: str) -> Subject:
    """Return the file of a kind of run, planned where it can be, and now and then run."""
    kind = KINDS[name]
    file, plan = kind.command[1], ("--plan",) if kind.plans else ()
    return Subject(file, kind.files, [(*kind.command, *plan)], [kind.command])


def planned(file: str, files: Mapping[str, str | bytes], command: str) -> Subject:
    """Return a file of a run that is planned alone."""
    return Subject(file, files, [words(f"{command} --plan")])


def evaluated(file: str, files: Mapping[str, str | bytes], *policies: str, trials: int = 1, place: str = "") -> Subject:
    """Return a file of a place, or one that a place names."""
    commands = [("evaluate", *each.split(), "--on", place or file, "--trials", str(trials)) for each in policies]
    return Subject(file, files, commands)


def on_each(file: str, files: Mapping[str, str | bytes], policy: str) -> Subject:
    """Return a list of networks that a policy runs on, each twice."""
    return Subject(file, files, [words(f"evaluate {policy} --on {file} --seeds 2")])


@cache
def subjects() -> dict[str, list[Subject]]:
    """Return valid files by kind."""
    space, on_list = {"space.yaml": SPACE}, {"list.yaml": FULL_LIST}
    star = FABRIC | {"sizes.csv": SIZES, "star.yaml": ON_LINKS}
    trace = {"traced.yaml": ON_TRACE, "links.csv": LINKS, "flows.csv": TRACE}
    show = ("show", "networks", "space.yaml")
    at_space = ("evaluate", "aimd", "--on", "space.yaml", "--trials", "16")
    sized = {name: {f"sizes.{name}": text, "s.yaml": ON_SIZES % f"sizes.{name}"} for name, text in by_syntax().items()}
    found = {
        "header": [Subject("h.yaml", {"h.yaml": HEADER}, [("show", "header", "h.yaml")])],
        "signal-set": [
            Subject("set.yaml", {"set.yaml": SIGNAL_SET}, [("show", "signal-set", "set.yaml")]),
            planned("set.yaml", {"set.yaml": SIGNAL_SET, "c.yaml": WITH_SET, **space}, "sweep c.yaml"),
        ],
        "networks": [Subject("space.yaml", space, [show, at_space, at_space])],
        "network-list": [
            on_each("list.yaml", {"list.yaml": NETWORKS}, "aimd"),
            on_each("list.yaml", on_list, "fixed-window:9"),
        ],
        "spaces": [evaluated("s.yaml", {"s.yaml": SPACES, **space, **on_list}, "aimd", trials=16)],
        "scenario": [
            evaluated("m.yaml", {"m.yaml": MIX, "sizes.csv": SIZES}, "dctcp", "hpcc", "ndp", "dcqcn@step"),
            evaluated("e.yaml", {"e.yaml": EVENTS}, "dctcp", "nscc"),
            evaluated("star.yaml", star, "dctcp"),
            planned("m.yaml", {"m.yaml": MIX, "sizes.csv": SIZES}, "compare dctcp hpcc --trials 48 --on m.yaml"),
        ],
        "links": [
            evaluated("links.csv", star, "dctcp", place="star.yaml"),
            evaluated("links.csv", trace, "dctcp", place="traced.yaml"),
        ],
        "trace": [evaluated("flows.csv", trace, "dctcp", "hpcc", place="traced.yaml")],
        "flow-sizes": [evaluated(f"sizes.{name}", files, "dctcp", place="s.yaml") for name, files in sized.items()],
        "campaign": [
            run_of("sweep"),
            run_of("sweep-fabric"),
            Subject("c.yaml", {"c.yaml": LAWS, **space}, [words("sweep c.yaml --plan")], [words("sweep c.yaml")]),
            planned("c.yaml", {"c.yaml": PPO, **space}, "sweep c.yaml"),
        ],
        "study": [run_of("study")],
        "tune": [run_of("tune")],
        "dna": [
            Subject(
                "t.dna",
                {"t.dna": dna(), **space},
                [words("import t.dna p.json"), words("show policy t.dna"), ("evaluate", "t.dna", *PLACES["engine"])],
            )
        ],
        "control": [Subject("own.py", {"own.py": CONTROL, **space}, [("evaluate", "own.py:Mine", *PLACES["engine"])])],
        "utility": [Subject("own.py", {"own.py": UTILITY, **space}, [(*at_space, "--utility", "own.py:score")])],
    }
    of_files = [name for name, kind in of_studies("RUNS").items() if kind.command[1].endswith(".yaml")]
    found |= {name: [run_of(name)] for name in of_files}
    for kind, (text, command) in of_studies("VALID_FILES").items():
        found[kind] = [Subject("file.yaml", {"file.yaml": text}, [words(command)])]
    return found | {f"policy {name}": [subject] for name, subject in policies().items()}


def by_syntax() -> dict[str, str]:
    return {"csv": SIZES, "yaml": SIZES_YAML}
