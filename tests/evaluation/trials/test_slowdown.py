"""The utility of completion times against numbers by hand: means, tails, sizes, flows that did not finish."""

import numpy as np
import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.outcome import FlowTimes, flow_times
from lcca.evaluation.trials.ratio import Slowdown
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import UTILITIES, fabric_utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import FixedWindow

# Two trials: slowdowns 1, 2 and 8 of 1, 10 and 100 kB; slowdown 4 of 1 kB, and one of 10 kB that is under way.
TIMES = FlowTimes(
    size_bytes=np.array([1e3, 1e3, 1e4, 1e5, 1e4]),
    taken=np.array([5.0, 4.0, 20.0, 400.0, np.nan]),
    ideal=np.array([5.0, 1.0, 10.0, 50.0, 10.0]),
    so_far=np.array([900.0, 900.0, 900.0, 900.0, 160.0]),
    trial=np.array([0, 1, 0, 0, 1]),
)


@pytest.mark.parametrize(
    ("wanted", "scores"),
    [
        (Slowdown("mean"), (-(0 + 1 + 3) / 3, -(2 + 4) / 2)),
        (Slowdown("p100", 1.0), (-3, -4)),
        (Slowdown("p50", 0.5), (-1, -np.log2(10))),
        (Slowdown("p75", 0.75), (-np.log2(5), -np.log2(13))),
        (Slowdown("short", below_bytes=1e4), (0, -2)),
        (Slowdown("middle", from_bytes=1e4, below_bytes=1e5), (-1, -4)),
        (Slowdown("long-p99", 0.99, from_bytes=1e5), (-3, np.nan)),
    ],
)
def test_scores(wanted: Slowdown, scores: tuple[float, float]) -> None:
    np.testing.assert_allclose(wanted.score_flows(TIMES, 2).score_bits, scores, rtol=1e-12)


def test_flows_without_end_are_counted_as_what_they_take_at_least() -> None:
    found = Slowdown("slowdown").score_flows(TIMES, 3)
    assert found.senders_counted.tolist() == [3, 2, 0] and found.starved.tolist() == [0, 1, 0]
    late = FlowTimes(*(np.array([x]) for x in (1e3, np.nan, 10.0, 2.0)), trial=np.array([0]))
    assert np.isnan(late.slowdown).all() and not len(late.telling.slowdown)  # the trial ended before it could
    never = FlowTimes(*(np.array([x]) for x in (1e3, np.nan, 1.0, 1e9)), trial=np.array([0]))
    assert Slowdown("slowdown").score_flows(never, 1).score_bits[0] == -20


def test_sizes_are_parted_without_gaps() -> None:
    sizes = np.array([1.0, 99_999, 100_000, 999_999, 1_000_000, 1e9])
    flows = FlowTimes(sizes, np.full(6, 2.0) ** np.arange(6), np.ones(6), np.ones(6), np.zeros(6, dtype=np.int64))
    for end, tail in (("", (-0.5, -2.5, -4.5)), ("-p99", (-0.99, -2.99, -4.99))):
        found = [
            fabric_utility(f"slowdown-{size}{end}").score_flows(flows, 1).score_bits[0]
            for size in ("short", "medium", "long")
        ]
        assert found == pytest.approx(tail, abs=0.03)


def test_the_engine_s_flows_have_the_slowdowns_of_their_table() -> None:
    network = Network(0, 1.5, 15.0, 2, 3, 40.0, 60.0, 0.01, "bytes")  # drops and losses: some flows never finish
    engine = Engine(3000.0, jobs=1)
    record = engine.run([engine.compile(FixedWindow(9))], NetworkList([network]), [0], [0], [5], keep_flows=True)
    times = flow_times(record)
    delivered, length = record["flow_delivered"], record["flow_length"]
    assert ((delivered == length) == times.finished).all() and 0 < times.finished.sum() < len(length)
    assert (times.slowdown >= 1 - 1e-12).all()
    alone = times.finished & (length == 1)
    assert not alone.any() or times.ideal[alone].min() == pytest.approx(15 + 1 / 1.5)


def test_flows_without_size_are_refused() -> None:
    network = Network(0, 1.5, 15.0, 2, 30, 40.0, 60.0, 0.0)
    with pytest.raises(InputError, match="slowdown needs flows with sizes: use networks with `switched: bytes`"):
        run_trials(Engine(500.0, jobs=1), {"w": FixedWindow(2)}, [network], [1], UTILITIES["slowdown"])


@pytest.mark.parametrize("said", [{}, {"packet_bytes": 1000}, {"packet_bytes": 1500}, {"packet_bytes": 9000}])
def test_sizes_of_flows_count_the_bytes_of_the_space_s_packets(said: dict[str, int]) -> None:
    """Flows of 78.5 packets of 1500 bytes are 117,750 bytes, and so are not short: 100 kB is where those end."""
    fixed = {"link_rate": 3, "rtt": 25, "senders": 2, "buffer": 200, "mean_on": 78.5, "mean_off": 60, "loss": 0}
    space = NetworkSpace.model_validate({**fixed, **said, "duration": 3000, "switched": "bytes"})
    networks = NetworkList(NetworkSpace.model_validate(space.model_dump()).draw(1, 2))
    engine = Engine(3000.0, jobs=1)
    record = engine.run([engine.compile(FixedWindow(9))], networks, [0, 0], [0, 1], [5, 6], keep_flows=True)
    size = record.floats("flow_length") * said.get("packet_bytes", 1500)
    assert flow_times(record).size_bytes.tolist() == size.tolist()
    short = UTILITIES["slowdown-short"].score(record).senders_counted
    assert short.sum() == (size < 100_000).sum() < len(size)
