"""What makes runs, for the tests of all that a result depends on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from lcca.experiments.recipes.kept import config_of
from lcca.experiments.runs.config import RunConfig

from . import run_files as kinds

CONTROL = {
    "mine.py": "import lcca_t_gain\nclass Mine:\n    files = ('table.txt',)\n"
    "    def start(self): return lcca_t_gain.GAIN, 0\n    def on_ack(self, ack): return 4, 0\n",
    "lcca_t_gain.py": "GAIN = 9\n",
    "table.txt": "1\n",
}
UTILITY = {
    "utility.py": "import numpy as np\nimport lcca_t_weight\nfiles = ('weight.txt',)\n"
    "def f(throughput, delay): return np.log2(throughput) - lcca_t_weight.W * np.log2(delay)\n",
    "lcca_t_weight.py": "W = 1\n",
    "weight.txt": "1\n",
}
POLICIES = {"policy.json": kinds.POLICY, "other.json": kinds.POLICY}
STAR = """\
extends: rest.yaml
name: star
topology: {kind: file, links: links.csv}
workload:
  kind: mix
  parts:
    - {kind: poisson, sizes: sizes.yaml, load: 0.5, load_of: host-links}
    - {kind: trace, flows: flows.csv}
"""
FABRIC = {
    "star.yaml": STAR,
    "rest.yaml": "duration_us: 40\n",
    "links.csv": kinds.LINKS,
    "sizes.yaml": "extends: base.yaml\nname: two\n",
    "base.yaml": "source: here\npoints: [[100, 0], [20000, 100]]\n",
    "flows.csv": "id,src,dst,size_bytes,start_ns\n0,0,1,20000,0\n1,2,1,20000,100\n",
}
NETWORKS = {
    "space.yaml": "extends: levels.yaml\nlink_rate: 2\n",
    "levels.yaml": kinds.SPACE,
    **UTILITY,
}


@dataclass(frozen=True)
class Verb:
    """What makes runs: the configuration of one by its files, all of which count, and what it needs installed."""

    files: Mapping[str, str]
    config: Callable[[], RunConfig]
    library: str = ""


MIX = "mix:0.5(policy.json|other.json)"


def met(prepare: Callable[..., Any], verb: Callable[..., Any], *names: Any, library: str = "", **options: Any) -> Verb:
    """Return a verb on networks that an own function scores."""
    asked = partial(verb, *names, on="space.yaml", utility="utility.py:f", **options)
    return Verb(NETWORKS | CONTROL | POLICIES, lambda: prepare(asked()).config, library)


def read(model: type[RunConfig], text: str, files: Mapping[str, str], library: str = "") -> Verb:
    """Return a verb that a file describes."""
    return Verb(files | {"small.yaml": text}, lambda: config_of("small.yaml", model), library)
