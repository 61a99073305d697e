"""Fluids: equal to the whole fabric where they must be, and to sums by hand elsewhere."""

import heapq
import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.builders import leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, FabricRecord, engine_of
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.fluid import IDEALS, run_fluid
from lcca.remy_plus.fabric.settings import FabricSettings, settings
from lcca.remy_plus.tuners.tuned import named_transport

END = 1e9
HUNDRED = np.array([100.0])  # Gb/s
FULL = 1048  # bytes of a full frame
APART = 1e6  # ns


def flows_of(rows: list[tuple[int, int, int, float]], **more: object) -> FabricFlows:
    src, dst, size, start = (np.array(each) for each in zip(*rows, strict=True))
    return FabricFlows(src, dst, size, start.astype(np.float64), **more)  # type: ignore[arg-type]


def engine(name: str, fabric: FabricSettings | None = None) -> FabricEngine:
    return engine_of(named_transport(name), fabric or FabricSettings())


def lone_flows(transport: str, preset: str, uplink_gbps: float, longest: int) -> tuple[FabricRecord, FabricRecord]:
    """Return what lone flows take over two or four links: in the whole fabric and without."""
    topology = leaf_spine(3, 2, 2, host_gbps=100, uplink_gbps=uplink_gbps)
    pairs = [(0, 1), (0, 3), (1, 3), (0, 2), (1, 2), (2, 5), (4, 1)]
    sizes = (1, 999, 1000, 1001, 70_500, longest)
    rows = [(*pair, size, i * APART) for i, (pair, size) in enumerate(itertools.product(pairs, sizes))]
    found = engine(transport, settings(preset))
    whole = found.run(topology, flows_of(rows), 3, END)
    return whole, run_fluid(found, topology, flows_of(rows), 3, END)


@pytest.mark.parametrize("preset", ["default", "hpcc-ns3"])
@pytest.mark.parametrize("transport", ["window", "dctcp", "timely", "dcqcn"])
def test_lone_flows_take_what_they_take_in_the_whole_fabric(transport: str, preset: str) -> None:
    """Also with telemetry, and with the ideal times of a preset (whose rounding to ns leaves 1 ns)."""
    whole, found = lone_flows(transport, preset, 40, 400_000)
    exact = preset == "default"
    np.testing.assert_allclose(found["flow_fct_ns"], whole["flow_fct_ns"], rtol=0, atol=1e-6 if exact else 1)
    np.testing.assert_array_equal(found["flow_ideal_ns"], whole["flow_ideal_ns"])


def test_a_flow_beyond_the_horizon_has_not_ended() -> None:
    rows = [(0, 2, 1_000_000, 0.0), (1, 2, 1000, 0.0), (1, 2, 10_000_000, 10.0)]
    found = run_fluid(engine("window"), star(3), flows_of(rows), 1, 500_000.0)
    assert np.isnan(found["flow_fct_ns"]).tolist() == [False, False, True]
    assert found["flow_delivered_bytes"].tolist() == [1_000_000, 1000, 0] and found["end_ns"] == 500_000


def fair_rates(links: np.ndarray, gbps: np.ndarray) -> np.ndarray:
    """Return max-min fair rates by linear programs: raise the least rate, fix those that cannot rise, and so on."""
    count = len(links)
    crosses = np.array([[port in row for row in links] for port in range(len(gbps))], dtype=float)
    fixed: dict[int, float] = {}
    while len(fixed) < count:
        free = [i for i in range(count) if i not in fixed]

        def best(of: list[int], least: float | None, free: list[int] = free, fixed: dict[int, float] = fixed) -> float:
            """Largest common rate of `of`, while other free ones have at least `least`."""
            rows, right = [], []
            for port in range(len(gbps)):
                rows.append([sum(crosses[port, i] for i in of), *(crosses[port, i] for i in free if i not in of)])
                right.append(gbps[port] - sum(crosses[port, i] * rate for i, rate in fixed.items()))
            bounds = [(0, None), *((least or 0, None) for i in free if i not in of)]
            cost = [-1.0] + [0.0] * (len(bounds) - 1)
            return float(linprog(cost, A_ub=rows, b_ub=right, bounds=bounds).x[0])

        level = best(free, None)
        stuck = [i for i in free if best([i], level) < level * (1 + 1e-7)]
        fixed |= dict.fromkeys(stuck, level)
    return np.array([fixed[i] for i in range(count)])


@pytest.mark.parametrize("seed", range(6))
def test_fluids_have_max_min_fair_rates(seed: int) -> None:
    """The first to end is the one that its rate, by linear programs, lets end first; and at that time."""
    rng = np.random.default_rng(seed)
    gbps = rng.uniform(10, 100, size=5)
    links = np.array([np.append(rng.choice(5, size=2, replace=False), -1) for _ in range(7)], dtype=np.int32)
    bits = rng.uniform(1e5, 1e6, size=7)
    ends = np.asarray(_core.fluid_ends(links, np.zeros(7), bits, gbps, 1e12))
    alone = bits / fair_rates(links, gbps)
    assert np.argmin(ends) == np.argmin(alone) and ends.min() == pytest.approx(alone.min(), rel=1e-9)
    for port in range(5):  # what a link carried in all took it at least so long
        carried = bits[(links == port).any(axis=1)].sum()
        assert ends.max() >= carried / gbps[port] * (1 - 1e-9)


def test_fluids_share_one_link_as_a_processor() -> None:
    """Three at 0, 1000 and 2000 ns of 100 Gb/s with 2, 1 and 0.3 times 10^5 bits, by hand."""
    links = np.zeros((3, 1), dtype=np.int32)
    ends = _core.fluid_ends(links, np.array([0.0, 1000.0, 1100.0]), np.array([2e5, 1e5, 3e4]), np.array([100.0]), 1e9)
    # From 1000 ns on 1e5 bits are left of the first; from 1100 ns on 95,000, 95,000 and 30,000 share the link: the
    # third ends after 900 ns, then 65,000 are left of each at half the rate.
    np.testing.assert_allclose(ends, [3300.0, 3300.0, 2000.0])


def shortest_first(start: np.ndarray, work: np.ndarray) -> list[float]:
    """Return when jobs of one machine end under SRPT: the textbook's, with a heap of what is left of each."""
    ends, waiting, now, order = [0.0] * len(start), [], 0.0, np.argsort(start, kind="stable")
    for k, job in enumerate(order):
        now = max(now, float(start[job]))
        heapq.heappush(waiting, (float(work[job]), int(job)))
        until = float(start[order[k + 1]]) if k + 1 < len(order) else np.inf
        while waiting and now < until:
            left, job = heapq.heappop(waiting)
            if now + left > until:
                heapq.heappush(waiting, (left - (until - now), job))
                now = until
            else:
                ends[job] = now = now + left
    return ends


@pytest.mark.parametrize("seed", range(5))
def test_on_one_link_the_shortest_first_is_the_textbooks_and_ends_soonest_in_the_mean(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start, bits = np.sort(rng.uniform(0, 3e4, size=40)), rng.pareto(1.2, size=40) * 1e4 + 100
    links = np.zeros((40, 1), dtype=np.int32)
    ends, fair = (np.asarray(_core.fluid_ends(links, start, bits, HUNDRED, 1e12, srpt)) for srpt in (1, 0))
    np.testing.assert_allclose(ends, shortest_first(start, bits / 100), rtol=1e-9)
    assert ends.mean() < fair.mean() and ends.max() == pytest.approx(fair.max())


SENDERS, RECEIVERS, HOSTS = 2, 3, 4


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("sharing", "column"), [(SENDERS, 0), (RECEIVERS, 1), (HOSTS, 0), (HOSTS, 1)])
def test_hosts_that_schedule_one_link_are_srpt_there(sharing: int, column: int, seed: int) -> None:
    """All cross the scheduled link, each another one as fast besides: nothing else limits them."""
    rng = np.random.default_rng(seed)
    start, bits = np.sort(rng.uniform(0, 3e4, size=40)), rng.pareto(1.2, size=40) * 1e4 + 100
    links = np.full((40, 2), 0, dtype=np.int32)
    links[:, 1 - column] = 1 + np.arange(40)
    ends = np.asarray(_core.fluid_ends(links, start, bits, np.full(41, 100.0), 1e12, sharing))
    np.testing.assert_allclose(ends, shortest_first(start, bits / 100), rtol=1e-9)
    other = np.asarray(_core.fluid_ends(links[:, ::-1].copy(), start, bits, np.full(41, 100.0), 1e12, SENDERS))
    fair = np.asarray(_core.fluid_ends(links[:, ::-1].copy(), start, bits, np.full(41, 100.0), 1e12, 0))
    if column == 0:  # the shared link is now the receiver's, which senders do not schedule
        np.testing.assert_allclose(other, fair, rtol=1e-9)


def test_hosts_that_schedule_by_hand() -> None:
    """Two of host 0, to 2 and 3, and one of host 1 to 2, over links of 100 Gb/s that 0 and 1 begin at, 2 and 3 end at.

    Senders: the short one of host 0 shares its receiver's link with host 1's, 50 each; the long one has the 50 that
    are left of host 0's link until the short one ends after 200 ns, then 100.
    """
    links = np.array([[0, 2], [0, 3], [1, 2]], dtype=np.int32)
    start, bits, gbps = np.zeros(3), np.array([1e4, 3e4, 4e4]), np.full(4, 100.0)
    ends = [np.asarray(_core.fluid_ends(links, start, bits, gbps, 1e9, sharing)) for sharing in range(5)]
    np.testing.assert_allclose(ends[SENDERS], [200, 200 + 200, 200 + 300])
    # Receivers: host 2 serves the short one alone, which shares host 0's link with the long one.
    np.testing.assert_allclose(ends[RECEIVERS], [200, 200 + 200, 200 + 300])
    # Both: the short one has host 0's link and host 2's; then the two others have theirs.
    np.testing.assert_allclose(ends[HOSTS], [100, 100 + 300, 100 + 400])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sharing", range(5))
def test_fluids_never_have_more_than_their_links(sharing: int, seed: int) -> None:
    """Of two links a flow, whatever the order: no link carries more than it can, and the last ends no later than alone
    one after the other."""
    rng = np.random.default_rng(seed)
    links = np.stack([rng.integers(0, 3, 30), rng.integers(3, 6, 30)], axis=1).astype(np.int32)
    bits, gbps = rng.uniform(1e4, 1e6, size=30), rng.uniform(20, 100, size=6)
    ends = np.asarray(_core.fluid_ends(links, np.zeros(30), bits, gbps, 1e12, sharing))
    for link in range(6):
        those = (links == link).any(axis=1)
        for end in ends[those]:
            assert bits[those & (ends <= end)].sum() <= gbps[link] * end * (1 + 1e-9)
    assert ends.max() <= (bits / gbps[links].min(axis=1)).sum() * (1 + 1e-9)


def greedy_ends(links: list[list[int]], start: np.ndarray, bits: np.ndarray, gbps: np.ndarray) -> np.ndarray:
    """Return when flows end if at every start and end the one with the fewest bits left takes all that it can."""
    left, ends, now = dict[int, float](), np.full(len(start), np.inf), 0.0
    for _ in range(2 * len(start)):
        free, rate = list(gbps), dict[int, float]()
        for flow in sorted(left, key=lambda flow: (left[flow], flow)):
            rate[flow] = min(free[link] for link in links[flow])
            for link in links[flow]:
                free[link] -= rate[flow]
        ahead = {flow: now + left[flow] / rate[flow] for flow in left if rate[flow] > 0}
        later = [float(each) for each in start if each > now or (now == 0 and not left)]
        after = min([*ahead.values(), *later], default=np.inf)
        for flow in [flow for flow, end in ahead.items() if end == after]:
            ends[flow] = after
            del left[flow]
        left = {flow: bits_left - rate[flow] * (after - now) for flow, bits_left in left.items()}
        left |= {flow: float(bits[flow]) for flow in range(len(start)) if start[flow] == after}
        now = after
    return ends


@pytest.mark.parametrize("seed", range(6))
def test_over_several_links_the_shortest_takes_all_of_its_path(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gbps, start, bits = rng.uniform(10, 100, size=6), np.sort(rng.uniform(1, 3e4, size=25)), rng.uniform(1e4, 1e6, 25)
    paths = [rng.choice(6, size=rng.integers(1, 4), replace=False).tolist() for _ in range(25)]
    links = np.array([path + [-1] * (3 - len(path)) for path in paths], dtype=np.int32)
    found = np.asarray(_core.fluid_ends(links, start, bits, gbps, 1e12, True))
    np.testing.assert_allclose(found, greedy_ends(paths, start, bits, gbps), rtol=1e-9)


def busy(count: int = 200) -> FabricFlows:
    rng = np.random.default_rng(3)
    src, size = rng.integers(6, size=count), (rng.pareto(1.1, size=count) * 2000 + 50).astype(np.int64)
    return FabricFlows(src, (src + rng.integers(1, 6, size=count)) % 6, size, np.sort(rng.uniform(0, 2e5, size=count)))


def test_the_ideals_are_contenders_without_telemetry() -> None:
    """Max-min fair rates are those that stand in for what has none; the shortest first is better in the mean."""
    topology, flows = leaf_spine(3, 2, 2, uplink_gbps=100), busy()
    fair, shortest = (engine(name).run(topology, flows, 3, END) for name in ("max-min", "srpt"))
    stands_in = run_fluid(engine("window"), topology, flows, 3, END)
    for name, value in fair.items():
        assert np.asarray(value).tobytes() == np.asarray(stands_in[name]).tobytes(), name
    slowdown = [found["flow_fct_ns"] / found["flow_ideal_ns"] for found in (fair, shortest)]
    assert min(each.min() for each in slowdown) == pytest.approx(1) and slowdown[1].mean() < slowdown[0].mean()
    assert engine("hpcc").telemetry_bytes > engine("srpt").telemetry_bytes == engine("max-min").telemetry_bytes == 0


@pytest.mark.parametrize("ideal", IDEALS)
def test_a_lone_flow_has_no_slowdown_under_an_ideal(ideal: str) -> None:
    rows = [(0, 5, 123_456, 0.0), (2, 3, 999, APART), (1, 4, 2_000_001, 2 * APART)]
    found = engine(ideal).run(leaf_spine(3, 2, 2, uplink_gbps=40), flows_of(rows), 1, END)
    np.testing.assert_allclose(found["flow_fct_ns"], found["flow_ideal_ns"], rtol=0, atol=1e-6)


def test_the_shortest_first_needs_no_classes() -> None:
    rows = [(0, 2, 1_000_000, 0.0), (1, 2, 2_000, 10.0)]
    plain, classes = (
        engine("srpt", settings(priorities=2)).run(star(3), flows_of(rows, **more), 1, END)
        for more in ({}, {"priority": np.array([0, 1])})
    )
    np.testing.assert_array_equal(plain["flow_fct_ns"], classes["flow_fct_ns"])


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("dcqcn@paraleon", {}, "cannot have a tuner, which looks at all ports; use fabric"),
        ("dcqcn@expert", {}, "cannot have a tuner"),
        ("dctcp", {"priority": np.array([0, 1])}, "cannot have several classes"),
        ("max-min", {"priority": np.array([0, 1])}, "max-min cannot have several classes of traffic; leave it out"),
        ("srpt", {"round": np.array([0, 1]), "after": np.array([-1, 0])}, "srpt cannot have rounds.*leave it out"),
        ("dctcp", {"round": np.array([0, 1]), "after": np.array([-1, 0])}, "cannot have rounds"),
    ],
)
def test_what_cannot_be_stood_in_for_is_refused(name: str, more: dict[str, object], message: str) -> None:
    flows = flows_of([(0, 1, 1000, 0.0), (1, 2, 1000, 0.0)], **more)
    with pytest.raises(InputError, match=message):
        run_fluid(engine(name), star(3), flows, 1, END)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("max-min:bdps=2", "max-min: bdps is not a parameter; it has none"),
        ("srpt@red", "srpt is an ideal, without switches: leave out @red"),
        ("max-min@paraleon", "without switches: leave out @paraleon"),
    ],
)
def test_an_ideal_has_neither_parameters_nor_switches(name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        named_transport(name)
