"""Files of tiny runs, and what a kind of run is for the tests that ask all of them."""

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

WINDOW = '{{"format": 1, "kind": "fixed-window", "parameters": {{"window": {}}}}}'

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
        plans: whether its command takes --plan.
    """

    command: tuple[str, ...]
    files: Mapping[str, str]
    changed: tuple[str, str]
    refused: Refused
    needs: tuple[str, ...] = ()
    named: str = ""
    plans: bool = True

    def write(self, folder: Path) -> Path:
        """Write the files into a folder and return it."""
        for name, text in self.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        return folder


NOT_A_SPACE = ("--set", "loss=2"), "loss"
"""An option that is refused by every kind of run on a space, and what is said of it."""
