"""A benchmark's trials in the fast engine: against arithmetic, and against ns-3 where nothing is lost."""

import importlib.util
from pathlib import Path

import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.files.policyfile import load
from lcca.remy_plus.policies.hand_designed import baseline
from lcca.remy_plus.policies.policy import Policy
from lcca.studies.ccbench.benchmark import Benchmark, benchmark
from lcca.studies.ccbench.description import Ecn, Grid
from lcca.studies.ccbench.engine import EngineBench
from lcca.studies.ccbench.ns3 import Ns3Bench
from lcca.studies.ccbench.scenario import Drawn, Measured, draw

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


def _run(runner: EngineBench | Ns3Bench, control: str | Policy, drawn: list[Drawn] = DRAWN) -> list[Measured]:
    policy = baseline(control) if isinstance(control, str) else control
    found = dict(runner.measure(SHORT, [(policy, each) for each in drawn]))
    return [found[place] for place in range(len(drawn))]


@pytest.mark.parametrize("window", [7, 50])
def test_a_window_makes_its_rate_and_its_queue(window: int) -> None:
    """w packets in a round trip of RTT and a transmission, or the link's rate and Little's law for the rest."""
    for drawn, found in zip(DRAWN, _run(EngineBench(1), f"fixed-window:{window}"), strict=True):
        idle_ms = drawn.scenario.rtt_ms + 1
        rate = min(window / idle_ms, 1.0)  # packets/ms
        for at, span_ms in ((1, 3000), (2, 1000)):  # up to a window more or less falls into an interval
            assert found.mbps[at] == pytest.approx(12 * rate, abs=12 * window / span_ms)
        assert found.delay_ms[1:] == pytest.approx([max(window, idle_ms) - drawn.scenario.rtt_ms / 2] * 2, rel=1e-3)


@pytest.mark.slow
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


CLASSES = """
class Paced:
    def start(self):
        return 1e6, 2000

    def on_ack(self, ack):
        return 1e6, 2000


class Shared:
    seen = 0

    def start(self):
        return 4, 0

    def on_ack(self, ack):
        Shared.seen += 1
        return 4 + Shared.seen % 97, 0


class Told(Paced):
    signals = ("receive_ewma", "rtt_difference", "available_capacity", "rtt_ratio", "queue")

    def start(self):
        return 1, 0

    def on_ack(self, ack):
        rtt = 1000 * round(ack.smallest_rtt / 1000) if ack.now > 4.5e6 else 0
        told = ack.rtt, ack.smallest_rtt, ack.receive_ewma, ack.rtt_difference, ack.rtt_ratio, ack.queue
        expected = rtt, rtt, rtt, 0, 1, 0
        if rtt and any(abs(a - b) > 0.02 * b + 1e-6 for a, b in zip(told, expected)):
            raise ValueError(f"{told} is not about {expected}")
        if rtt and not 0.0008 < ack.available_capacity <= 0.001:
            raise ValueError(f"available capacity {ack.available_capacity}")
        if ack.now > 6.2e6:
            raise ValueError(f"now {ack.now}")
        return (2 if rtt and rtt not in (21000, 41000, 81000) else 1), 0
"""


@pytest.mark.slow
@pytest.mark.parametrize("runner", [EngineBench(1), pytest.param(None, marks=needs_ns3)])
def test_a_class_is_told_us_and_says_us(tmp_path: Path, runner: EngineBench | Ns3Bench | None) -> None:
    """A gap of 2,000 µs is half of 12 Mb/s; one packet in a round trip of 20 ms meets one of 20 ms and 1 ms to send."""
    runner = runner or Ns3Bench(1)
    (tmp_path / "mine.py").write_text(CLASSES)
    ends = [DRAWN[0], DRAWN[-1]]
    paced, told = (_run(runner, load(f"{tmp_path}/mine.py:{name}").policy, ends) for name in ("Paced", "Told"))
    assert not any(each.error for each in (*paced, *told))
    for found, one, drawn in zip(paced, told, ends, strict=True):
        assert found.mbps[1:] == pytest.approx([6.0, 6.0], rel=0.01)
        assert one.mbps[1] == pytest.approx(12 / (drawn.scenario.rtt_ms + 1), rel=0.05)
    for found, expected in zip(paced, _run(runner, "fixed-rate:0.5", ends), strict=True):
        assert found.mbps.tobytes() == expected.mbps.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("runner", [EngineBench(1), pytest.param(None, marks=needs_ns3)])
def test_a_trial_knows_nothing_of_those_before_it(tmp_path: Path, runner: EngineBench | Ns3Bench | None) -> None:
    (tmp_path / "mine.py").write_text(CLASSES)
    first, again = _run(runner or Ns3Bench(1), load(f"{tmp_path}/mine.py:Shared").policy, [DRAWN[0]] * 2)
    assert first.mbps.tobytes() == again.mbps.tobytes() and first.delay_ms.tobytes() == again.delay_ms.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("runner", [EngineBench(1), pytest.param(None, marks=needs_ns3)])
def test_a_trial_that_is_kept_belongs_to_what_a_class_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runner: EngineBench | Ns3Bench | None
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "mine.py"

    def key(step: int) -> str:
        (tmp_path / "lcca_bench_steps.py").write_text(f"STEP = {step}\n")
        file.write_text(f"from lcca_bench_steps import STEP\n{CLASSES}")
        return (runner or Ns3Bench(1)).key(SHORT, load(f"{file}:Paced").policy, DRAWN[0])

    assert key(1) == key(1) != key(2)


def test_what_the_engine_has_not_is_refused() -> None:
    for name, missing in (("cc-bench-1", "rates that change"), ("cc-bench-2", "a first flow")):
        with pytest.raises(InputError, match=f"{missing}.*--simulator ns3"):
            EngineBench(1).check(benchmark(name), baseline("aimd"))
    marking = FLAT.model_copy(update={"ecn": Ecn()})
    with pytest.raises(InputError, match=r"marks \(ecn\); use --simulator ns3"):
        EngineBench(1).check(marking, baseline("aimd"))
    with pytest.raises(InputError, match="cubic"):
        EngineBench(1).check(FLAT, baseline("cubic"))
