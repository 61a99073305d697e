"""Flows that wait for rounds: starts against completion times, whatever the off time and the windows."""

import numpy as np
import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, Watch
from lcca.remy_plus.fabric.flows import FabricFlows, in_order
from lcca.remy_plus.fabric.settings import settings

DELAY_NS = 1000.0
HOSTS = 4


def rounds(count: int, off_ns: float, size: int = 20_000, hosts: int = HOSTS) -> FabricFlows:
    """Return all-to-all rounds, each after the one before."""
    src, dst = (each.ravel() for each in np.nonzero(~np.eye(hosts, dtype=bool)))
    number = np.repeat(np.arange(count), len(src))
    ends, sizes = (np.tile(src, count), np.tile(dst, count)), np.full(len(number), size)
    off = np.full(len(number), off_ns)
    return FabricFlows(*ends, sizes, np.zeros(len(number)), round=number, after=number - 1, off_ns=off)


def ended(found: FabricRecord, flows: FabricFlows) -> np.ndarray:
    """Return when the last flow of every round ended."""
    end = found["flow_start_ns"] + found["flow_fct_ns"]
    return np.array([end[flows.round == number].max() for number in range(flows.round.max() + 1)])


@pytest.mark.parametrize("ends", [{"fct_at_ack": False}, {"fct_at_ack": True}])
@pytest.mark.parametrize("off_ns", [0.0, 300.0, DELAY_NS, 7_654.321])
def test_a_round_begins_after_the_one_before(off_ns: float, ends: dict[str, bool]) -> None:
    """As the last flow has ended and the off time is over, which is a link's delay at least."""
    flows, topology = rounds(5, off_ns), star(HOSTS, delay_ns=DELAY_NS)
    found = FabricEngine("dcqcn", settings=settings(**ends)).run(topology, flows)
    assert not np.isnan(found["flow_fct_ns"]).any()
    starts = found["flow_start_ns"].reshape(5, -1)
    assert (starts == starts[:, :1]).all() and (starts[0] == 0).all()
    np.testing.assert_allclose(starts[1:, 0], ended(found, flows)[:-1] + max(off_ns, DELAY_NS), rtol=0, atol=1e-3)
    assert found["end_ns"] >= ended(found, flows)[-1]


def test_rounds_far_apart_are_like_the_first() -> None:
    """Nothing of a round is left when the next begins, but for the paths of its flows: there is one here."""
    found = FabricEngine("window").run(star(HOSTS), rounds(4, 5e5))
    times = found["flow_fct_ns"].reshape(4, -1)
    np.testing.assert_allclose(times, np.tile(times[0], (4, 1)), rtol=0, atol=1e-3)


@pytest.mark.parametrize("transport", ["hpcc", "dctcp"])
def test_known_starts_are_the_same_flows(transport: str) -> None:
    """The starts that a closed loop found, given as such, lead to the same times: nothing else is different."""
    topology, flows = leaf_spine(2, 2, 2), rounds(4, 2_500.0, 50_000)
    closed = FabricEngine(transport).run(topology, flows)
    given = FabricFlows(flows.src, flows.dst, flows.size_bytes, closed["flow_start_ns"])
    opened = FabricEngine(transport).run(topology, given)
    for name, values in closed.items():
        np.testing.assert_array_equal(values, opened[name], err_msg=name)


@pytest.mark.parametrize("every_ns", [137.0, 20_000.0])
def test_a_watch_changes_no_start(every_ns: float) -> None:
    flows = rounds(3, 0.0)
    plain, watched = (FabricEngine("hpcc").run(star(HOSTS), flows, watch=w) for w in (None, Watch(every_ns, [0, 30])))
    np.testing.assert_array_equal(plain["flow_start_ns"], watched["flow_start_ns"])
    np.testing.assert_array_equal(plain["flow_fct_ns"], watched["flow_fct_ns"])
    before = watched["sample_ns"] < plain["flow_start_ns"][30]
    assert before.any() and not watched["sample_gbps"][before, 1].any()


def test_rounds_begin_before_the_last_moment_they_may() -> None:
    flows = rounds(6, 1e4)
    all_of_them = FabricEngine("window").run(star(HOSTS), flows)["flow_start_ns"].reshape(6, -1)[:, 0]
    for last, begun in ((all_of_them[3], 3), (all_of_them[3] + 0.01, 4), (0.0, 1)):
        found = FabricEngine("window").run(star(HOSTS), flows, last_round_ns=last)
        starts = found["flow_start_ns"].reshape(6, -1)
        np.testing.assert_array_equal(starts[:begun, 0], all_of_them[:begun])
        assert np.isnan(starts[begun:]).all() and not np.isnan(found["flow_fct_ns"].reshape(6, -1)[:begun]).any()
        assert found["flow_delivered_bytes"].reshape(6, -1)[begun:].sum() == 0


def test_a_round_that_cannot_end_lets_none_begin() -> None:
    lossy = settings(lossless=False, buffer_bytes=500)
    found = FabricEngine("window", settings=lossy).run(star(HOSTS), rounds(2, 0.0))
    assert np.isnan(found["flow_start_ns"]).sum() == HOSTS * (HOSTS - 1) and found["end_ns"] < 1.1e9


def test_a_pause_between_rounds_may_be_long() -> None:
    """Longer than a run without progress may last."""
    assert not np.isnan(FabricEngine("window").run(star(HOSTS), rounds(2, 3e9))["flow_fct_ns"]).any()


def test_the_rounds_of_several_workloads_are_apart() -> None:
    random = np.random.default_rng(1)
    others = FabricFlows(*(np.repeat([a], 9) for a in (0, 3)), np.full(9, 9000), np.sort(random.uniform(0, 4e4, 9)))
    both = in_order([rounds(3, 0.0), others, rounds(2, 5000.0, 1000, hosts=3)])
    assert sorted(set(zip(both.round.tolist(), both.after.tolist(), strict=True))) == [
        *[(-1, -1), (0, -1), (1, 0), (2, 1), (3, -1), (4, 3)]
    ]
    found = FabricEngine("dctcp").run(star(HOSTS), both)
    waiting = both.after >= 0
    least = ended(found, both)[both.after[waiting]] + np.maximum(both.off_ns[waiting], DELAY_NS)
    np.testing.assert_allclose(found["flow_start_ns"][waiting], least, rtol=0, atol=1e-3)
    np.testing.assert_allclose(found["flow_start_ns"][~waiting], both.start_ns[~waiting], rtol=0, atol=1e-3)


def test_waiting_that_cannot_be() -> None:
    one = np.ones(2)
    for round, after, off, message in (
        ([0, 1], [-1, 1], one, "flow 1: after: must be a round before its own"),
        ([-1, -1], [-1, 0], one, "flow 1: after: must be a round before its own"),
        ([0, 1], [-1, 0], -one, "off_ns: must be from 0"),
    ):
        with pytest.raises(InputError, match=message):
            FabricFlows(0 * one, one, one, one, round=np.array(round), after=np.array(after), off_ns=off)
    with pytest.raises(InputError, match="flow 1: after: waits for flows that there are not"):
        FabricFlows(0 * one, one, one, one, round=np.array([0, 2]), after=np.array([-1, 1]))
