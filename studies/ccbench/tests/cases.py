"""A benchmark, for the tests that ask all places."""

from lcca.studies.ccbench.benchmark import Benchmark, benchmark
from lcca.studies.ccbench.scenario import draw

PLACES = {"benchmark": benchmark("cc-bench-1")}
DRAWN = {Benchmark: lambda place, seed: draw(place, seed, 200, 0)}
"""By place: what its first 200 trials are."""
FOLDERS = {"benchmark": "studies/ccbench/lcca/studies/ccbench/benchmarks"}
"""Of files of a kind."""
