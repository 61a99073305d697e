"""What stands in for a whole fabric: equal to it where it must be, and to sums by hand elsewhere."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from lcca.inputs.errors import InputError
from lcca.remy_plus import _core
from lcca.remy_plus.fabric.builders import dumbbell, fat_tree, leaf_spine, star
from lcca.remy_plus.fabric.engine import FabricEngine, Record
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.policies import engine_of
from lcca.remy_plus.fabric.settings import FabricSettings, settings
from lcca.remy_plus.fabric.simulators.links import run_links
from lcca.remy_plus.fabric.simulators.registry import APPROXIMATIONS, run_on
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.fabric.transports import named_transport

END = 1e9
FULL = 1048  # bytes of a full frame
APART = 1e6  # ns


def flows_of(rows: list[tuple[int, int, int, float]], **more: object) -> FabricFlows:
    src, dst, size, start = (np.array(each) for each in zip(*rows, strict=True))
    return FabricFlows(src, dst, size, start.astype(np.float64), **more)  # type: ignore[arg-type]


def engine(name: str, fabric: FabricSettings | None = None) -> FabricEngine:
    return engine_of(named_transport(name), fabric or FabricSettings())


def lone_flows(transport: str, simulator: str, preset: str, uplink_gbps: float, longest: int) -> tuple[Record, Record]:
    """Return what lone flows take over two or four links: in the whole fabric and without."""
    topology = leaf_spine(3, 2, 2, host_gbps=100, uplink_gbps=uplink_gbps)
    pairs = [(0, 1), (0, 3), (1, 3), (0, 2), (1, 2), (2, 5), (4, 1)]
    sizes = (1, 999, 1000, 1001, 70_500, longest)
    rows = [(*pair, size, i * APART) for i, (pair, size) in enumerate(itertools.product(pairs, sizes))]
    found = engine(transport, settings(preset))
    whole = found.run(topology, flows_of(rows), 3, END)
    return whole, run_on(simulator, found, topology, flows_of(rows), 3, END)


@pytest.mark.parametrize("preset", ["default", "hpcc-ns3"])
@pytest.mark.parametrize("simulator", APPROXIMATIONS)
@pytest.mark.parametrize("transport", ["window", "dctcp", "timely", "dcqcn"])
def test_lone_flows_take_what_they_take_in_the_whole_fabric(simulator: str, transport: str, preset: str) -> None:
    """Also with telemetry, and with the ideal times of a preset (whose rounding to ns leaves 1 ns)."""
    whole, found = lone_flows(transport, simulator, preset, 40, 400_000)
    exact = preset == "default"
    np.testing.assert_allclose(found["flow_fct_ns"], whole["flow_fct_ns"], rtol=0, atol=1e-6 if exact else 1)
    np.testing.assert_array_equal(found["flow_ideal_ns"], whole["flow_ideal_ns"])


@pytest.mark.parametrize("transport", ["hpcc", "powertcp"])
def test_what_a_transport_costs_a_lone_flow_counts_once(transport: str) -> None:
    """It is 11 to 18 % of long flows, and by when a flow starts 5 % more or less; four times that would be 40 %."""
    whole, found = lone_flows(transport, "links", "default", 100, 1_000_000)
    assert (whole["flow_fct_ns"] > 1.1 * whole["flow_ideal_ns"]).any()
    np.testing.assert_allclose(found["flow_fct_ns"], whole["flow_fct_ns"], rtol=0.1)


@pytest.mark.parametrize("transport", ["window", "dctcp", "timely", "hpcc"])
def test_a_single_shared_link_is_the_whole_fabric(transport: str) -> None:
    """Every pair of hosts has one flow, so that all of them wait at the link between the switches alone."""
    topology = dumbbell(8, bottleneck_gbps=100, host_gbps=400)
    rows = [(host, host + 8, 3000 * (host + 1), 300.0 * host) for host in range(8)]
    whole = engine(transport).run(topology, flows_of(rows), 1, END)
    found = run_links(engine(transport), topology, flows_of(rows), 1, END)
    assert whole["flow_fct_ns"].max() > 3 * whole["flow_ideal_ns"].max() / 2
    np.testing.assert_allclose(found["flow_fct_ns"], whole["flow_fct_ns"], rtol=0, atol=0.002)


def test_delays_of_two_links_add_up() -> None:
    """Packets of one frame: flow 1 finds flow 0 at the uplink, and flow 2 at its receiver, 40 ns before it.

    Hosts 0 and 1 are at switch 5, hosts 2, 3 and 4 at switch 6. To each link packets come as by empty ones.
    In the whole fabric flow 1 comes to switch 6 two frames later, of which one is the uplink's own, and finds nobody.
    """
    frame = FULL * 8 / 100
    ends = np.array([5, 5, 6, 6, 6, 6])
    topology = FabricTopology(5, 2, np.arange(6), ends, np.full(6, 100.0), np.full(6, 1000.0))
    rows = flows_of([(0, 4, 1000, 0.0), (1, 2, 1000, 0.0), (3, 2, 1000, 960.0)])
    found = run_links(engine("window"), topology, rows, 1, END)["flow_fct_ns"]
    whole = engine("window").run(topology, rows, 1, END)["flow_fct_ns"]
    uplink, receiver = frame, frame - 40
    np.testing.assert_allclose(
        found, [3000 + 3 * frame, 3000 + 3 * frame + uplink + receiver, 2000 + 2 * frame], atol=0.002
    )
    np.testing.assert_allclose(whole, [3000 + 3 * frame, 3000 + 3 * frame + uplink, 2000 + 2 * frame], atol=0.002)


def test_a_hosts_own_link_counts_once() -> None:
    """Two flows of one host to unlike hosts share its link on all their routes, and take twice as long, not more."""
    topology = fat_tree(4)
    rows = [(0, 8, 200_000, 0.0), (0, 12, 200_000, 0.0)]
    whole = engine("window").run(topology, flows_of(rows), 1, END)
    found = run_links(engine("window"), topology, flows_of(rows), 1, END)
    np.testing.assert_allclose(found["flow_fct_ns"], whole["flow_fct_ns"], rtol=0.01)
    np.testing.assert_allclose(found["flow_fct_ns"] - found["flow_ideal_ns"], 200 * FULL * 8 / 100, rtol=0.01)


def test_threads_change_no_bit() -> None:
    """DCQCN's marks are random, by the trial's seed; on a star there is one route for each flow."""
    rows = [(host, 5, 300_000 + 20_000 * host, 100.0 * host) for host in range(5)]
    flows = flows_of([*rows, (5, 0, 400_000, 500.0), (1, 0, 400_000, 600.0)])
    alone, many = (run_links(engine("dcqcn"), star(6), flows, 5, END, jobs) for jobs in (1, 3))
    for name in alone:
        np.testing.assert_array_equal(alone[name], many[name])
    other = run_links(engine("dcqcn"), star(6), flows, 6, END)
    assert not np.array_equal(alone["flow_fct_ns"], other["flow_fct_ns"])


@pytest.mark.parametrize("simulator", APPROXIMATIONS)
def test_a_flow_beyond_the_horizon_has_not_ended(simulator: str) -> None:
    rows = [(0, 2, 1_000_000, 0.0), (1, 2, 1000, 0.0), (1, 2, 10_000_000, 10.0)]
    found = run_on(simulator, engine("window"), star(3), flows_of(rows), 1, 500_000.0)
    assert np.isnan(found["flow_fct_ns"]).tolist() == [False, False, True]
    assert found["flow_delivered_bytes"].tolist() == [1_000_000, 1000, 0] and found["end_ns"] == 500_000


def test_losses_are_those_of_the_link() -> None:
    """Without PFC a small buffer drops at the receiver's link, as in the whole fabric."""
    lossy = FabricSettings(lossless=False, buffer_bytes=40_000, alpha=1.0)
    rows = [(host, 4, 50_000, 0.0) for host in range(4)]
    whole = engine("dctcp", lossy).run(star(5), flows_of(rows), 1, END)
    found = run_links(engine("dctcp", lossy), star(5), flows_of(rows), 1, END)
    assert whole["port_drops"].sum() > 0
    assert found["flow_fct_ns"].mean() == pytest.approx(whole["flow_fct_ns"].mean(), rel=0.05)


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


@pytest.mark.parametrize(
    ("simulator", "name", "more", "message"),
    [
        ("links", "swift", {}, "cannot have swift: its target counts the switches"),
        ("links", "dctcp-window", {}, "cannot have dctcp-window: its first windows"),
        ("links", "dcqcn@paraleon", {}, "cannot have a tuner, which looks at all ports; use fabric"),
        ("fluid", "dcqcn@expert", {}, "cannot have a tuner"),
        ("fluid", "dctcp", {"priority": np.array([0, 1])}, "cannot have several classes"),
        ("links", "dctcp", {"round": np.array([0, 1]), "after": np.array([-1, 0])}, "cannot have rounds"),
    ],
)
def test_what_cannot_be_stood_in_for_is_refused(
    simulator: str, name: str, more: dict[str, object], message: str
) -> None:
    flows = flows_of([(0, 1, 1000, 0.0), (1, 2, 1000, 0.0)], **more)
    with pytest.raises(InputError, match=message):
        run_on(simulator, engine(name), star(3), flows, 1, END)
