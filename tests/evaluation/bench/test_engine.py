"""A benchmark's trials in the fast engine: against arithmetic, and against ns-3 where nothing is lost."""

import importlib.util

import pytest

from lcca.evaluation.bench.benchmark import Benchmark, Ecn, Grid, benchmark
from lcca.evaluation.bench.engine import EngineBench
from lcca.evaluation.bench.ns3 import Ns3Bench
from lcca.evaluation.bench.runner import Measured
from lcca.evaluation.bench.sampling import draw
from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.policy import baseline

needs_ns3 = pytest.mark.skipif(
    importlib.util.find_spec("lcca.ns3") is None, reason="lcca-ns3 is not installed (make ns3)"
)
FLAT = benchmark("cc-bench-1-flat")
SHORT = FLAT.model_copy(
    update={
        "grid": (Grid(link_mbps=(12.0,), rtt_ms=(20.0, 40.0, 80.0), buffer_bdp=(8.0, 16.0)),),
        "intervals_s": ((0.0, 2.0), (2.0, 5.0), (5.0, 6.0)),
        "duration_s": 6.0,
    }
)
SHORT = Benchmark.model_validate(SHORT.model_dump())
DRAWN = draw(SHORT, 1, 6, 0)


def _run(runner: EngineBench | Ns3Bench, name: str) -> list[Measured]:
    found = dict(runner.measure(SHORT, [(baseline(name), each) for each in DRAWN]))
    return [found[place] for place in range(len(DRAWN))]


@pytest.mark.parametrize("window", [7, 50])
def test_a_window_makes_its_rate_and_its_queue(window: int) -> None:
    """w packets in a round trip of RTT and a transmission, or the link's rate and Little's law for the rest."""
    for drawn, found in zip(DRAWN, _run(EngineBench(1), f"fixed-window:{window}"), strict=True):
        idle_ms = drawn.scenario.rtt_ms + 1
        rate = min(window / idle_ms, 1.0)  # packets/ms
        for at, span_ms in ((1, 3000), (2, 1000)):  # up to a window more or less falls into an interval
            assert found.mbps[at] == pytest.approx(12 * rate, abs=12 * window / span_ms)
        assert found.delay_ms[1:] == pytest.approx([max(window, idle_ms) - drawn.scenario.rtt_ms / 2] * 2, rel=1e-3)


@needs_ns3
@pytest.mark.parametrize("name", ["fixed-window:30", "fixed-rate:0.7"])
def test_ns3_says_the_same_where_nothing_is_lost(name: str) -> None:
    """The first interval has how a flow opens, which differs."""
    for fast, real in zip(_run(EngineBench(1), name), _run(Ns3Bench(1), name), strict=True):
        assert fast.mbps[1:] == pytest.approx(real.mbps[1:], rel=0.03)
        assert fast.delay_ms[1:] == pytest.approx(real.delay_ms[1:], rel=0.03)


def test_threads_and_company_change_nothing() -> None:
    alone = [dict(EngineBench(1).measure(SHORT, [(baseline("aimd"), each)]))[0] for each in DRAWN]
    for one, other in zip(alone, _run(EngineBench(2), "aimd"), strict=True):
        assert one.mbps.tobytes() == other.mbps.tobytes() and one.delay_ms.tobytes() == other.delay_ms.tobytes()


def test_what_the_engine_has_not_is_refused() -> None:
    for name, missing in (("cc-bench-1", "rates that change"), ("cc-bench-2", "a first flow")):
        with pytest.raises(InputError, match=f"{missing}.*--simulator ns3"):
            EngineBench(1).check(benchmark(name), baseline("aimd"))
    marking = FLAT.model_copy(update={"ecn": Ecn()})
    with pytest.raises(InputError, match=r"marks \(ecn\); use --simulator ns3"):
        EngineBench(1).check(marking, baseline("aimd"))
    with pytest.raises(InputError, match="cubic"):
        EngineBench(1).check(FLAT, baseline("cubic"))
