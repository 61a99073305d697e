"""A tiny search, for the tests that ask all kinds of runs."""

from lcca.studies.design.config import DesignConfig
from tests.experiments.runs.run_files import RunKind
from tests.experiments.runs.verbs import read

GROUND = """\
link_rate: {min: 1, max: 2, step: 0.5}
rtt: 20
senders: {min: 1, max: 8, step: 1}
buffer: 80
mean_on: 300
mean_off: 100
loss: 0
duration: 600
"""
SMALL = """\
name: small
networks: ground.yaml
signal_sets: [e2e]
search:
  most: {bytes: 1, state_bits: 256}
  sources: [flows, queue]
  fields: 1
  windows_rtts: [0.5]
  memories: [64]
  bits: [4, 8]
  placebos: 1
  screen: {trials: 32, networks: 16}
  again: {trials: 32, networks: 16}
  codes: 1
  finalists: 1
trainer:
  kind: law
  networks: 2
  check_networks: 4
  stages:
    - {trials: 64, features: own}
    - {trials: 32, features: new}
training_seeds: [1, 2, 3, 4, 5, 6]
validation: {networks: 16}
test: {pairs: 32, at_least: 32, block: 16, per_training_seed: 16}
"""

RUNS = {
    "design": RunKind(
        ("design", "small.yaml"),
        {"small.yaml": SMALL, "ground.yaml": GROUND},
        ("ground.yaml", GROUND.replace("loss: 0", "loss: 0.01")),
        [
            ("search.sources=[queu]", "search.sources: no number 'queu' (did you mean 'queue'?)"),
            ("search.sources=[rank]", "search.sources: rank: nothing that ports of these networks can say"),
            (
                "search.most={state_bits: 0, operations: 2}",
                "search.most: no header is within it; the smallest, queue-4b, takes 1 on the wire",
            ),
            ("search.placebos=0", "search.placebos: must be >= 1"),
            ("headers=[ecn]", "headers: a search finds its headers"),
            ("training_seeds=[1, 2]", "training_seeds: with 2 no headers can have an interval"),
            ("trainer.stages=[{trials: 9}]", "trainer.stages: a search needs stages without signals first"),
            ("trainer={kind: rplus}", "trainer.kind: a search learns laws: use law"),
        ],
        named="networks.loss: ",
    )
}
VERBS = {"design": read(DesignConfig, SMALL + "seed: 4\n", RUNS["design"].files)}
