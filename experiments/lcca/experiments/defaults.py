"""How much the commands run, and where they look for it, unless told otherwise; `--help` names these."""

from pathlib import Path

COMPARED = {"engine": 5000, "ns3": 512, "fabric": 256}
"""Pairs at most, by simulator. A trial in ns-3 costs 300 times as much; fewer miss rare events:
`benchmarks/settling/null.py --pairs 512`."""

RANKED = {"engine": 512, "ns3": 512, "fabric": 256}
"""Trials of each policy at most, by simulator."""

IN_BOTH = 96
"""Networks in both simulators."""

SEEDS = 10
"""Trials on each network, networks of a space, or trials on a fabric."""

BOUNDED = 200
"""Networks of a bound without policies."""

TRAINING_CACHE = Path("results") / "training-cache"
TRIAL_CACHE = Path("results") / "trial-cache"
