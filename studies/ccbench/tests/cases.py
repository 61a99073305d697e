"""A benchmark, for the tests that ask all places."""

from lcca.studies.ccbench.benchmark import Benchmark, benchmark
from lcca.studies.ccbench.scenario import draw

PLACES = {"benchmark": benchmark("cc-bench-1")}
DRAWN = {Benchmark: lambda place, seed: draw(place, seed, 200, 0)}
"""By place: what its first 200 trials are."""
FOLDERS = {"benchmark": "studies/ccbench/lcca/studies/ccbench/benchmarks"}
"""Of files of a kind."""

BENCHMARK = """\
name: small
source: after CC-Bench
grid:
  - {link_mbps: [12, 24], rtt_ms: [20], buffer_bdp: [1, 4], loss: [0, 0.01]}
duration_s: 2
intervals_s: [[0, 1], [1, 2]]
score: {kind: power, exponent: 2, winners_percent: 10}
jitter_s: 0.5
"""
VALID_FILES = {"benchmark": (BENCHMARK, "rank aimd fixed-window:20 --on file.yaml --simulator engine --trials 104")}
"""A valid file of a kind, and a command that takes it."""
