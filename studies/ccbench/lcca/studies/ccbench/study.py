"""CC-Bench: benchmarks of single bottlenecks whose scenarios congestion controls win or lose."""

from lcca.inputs.studies import AddedPlace, FileOfUsers, Study

STUDY = Study(
    files={"benchmark": FileOfUsers("a benchmark", "lcca rank --on FILE", "benchmark:Benchmark")},
    places={"benchmark": AddedPlace("place:KIND", "benchmarks")},
    moved={"configs/cc-bench": "configs", "configs/networks/cc-bench.yaml": "configs/networks.yaml"},
)
