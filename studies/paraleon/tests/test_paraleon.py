"""PARALEON's parts: sketches against exact counts, states against the paper's figure, annealing to known optima."""

import numpy as np
import pytest

from lcca.remy_plus.fabric.builders import leaf_spine
from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.switches.control import Change, Given, Samples, Seen, Sketch, Sketches
from lcca.remy_plus.switches.markers import USUAL
from lcca.remy_plus.tuners.registry import tuning
from lcca.studies.paraleon.annealing import Annealing, Schedule, Step
from lcca.studies.paraleon.flow_sizes import FlowSizes, FlowStates
from lcca.studies.paraleon.paraleon import STEPS, Paraleon, host_ports
from tests.watchers import Watcher, with_tuner

TOPOLOGY = leaf_spine(2, 4, 2)


def flows(count: int = 80) -> FabricFlows:
    rng = np.random.default_rng(2)
    src = rng.integers(0, 8, count)
    sizes = np.where(rng.random(count) < 0.8, rng.integers(1, 5000, count), rng.integers(50_000, 500_000, count))
    return FabricFlows(src, (src + rng.integers(1, 8, count)) % 8, sizes, np.sort(rng.uniform(0, 100_000, count)))


def counted(sketch: Sketch | Samples, seed: int = 1) -> tuple[list[Sketches], np.ndarray]:
    """Return what every interval's sketches say, and the bytes on the wire of each flow."""
    watcher = Watcher(every_us=20, sketch=sketch)
    with_tuner(FabricEngine("dcqcn"), watcher).run(TOPOLOGY, flows(), seed)
    sizes = flows().size_bytes
    return [each.sketches for each in watcher.seen if each.sketches], sizes + 48 * -(-sizes // 1000)


def by_flow(found: list[Sketches], count: int) -> np.ndarray:
    total = np.zeros(count)
    for each in found:
        np.add.at(total, each.flow.astype(int), each.bytes)
    return total


def test_a_large_sketch_counts_every_packet_once() -> None:
    found, exact = counted(Sketch(buckets=1 << 16, counters=16))
    heavy = by_flow(found, len(exact))
    ended = sum(each.flow.size == 0 for each in found)
    np.testing.assert_array_equal(heavy[heavy > 0], exact[heavy > 0])
    assert (heavy > 0).sum() >= 0.9 * len(exact) and ended < len(found)
    assert all(set(each.node) <= {8, 9} for each in found)  # the switches that hosts are at


def test_a_small_sketch_keeps_the_large_flows() -> None:
    """Of a flow in a bucket no byte is counted twice, and what is missing of large ones is little."""
    found, exact = counted(Sketch(buckets=24, counters=1024))
    heavy, large = by_flow(found, len(exact)), exact > 50_000
    assert (heavy <= exact).all()
    assert heavy[large].sum() > 0.9 * exact[large].sum() > 0
    assert (heavy[~large] > 0).mean() < 0.9
    assert sum(each.small_flows.sum() for each in found) > 5


def test_samples_of_all_packets_are_exact() -> None:
    found, exact = counted(Samples(1))
    sent = by_flow(found, len(exact))
    np.testing.assert_array_equal(sent[sent > 0], exact[sent > 0])
    assert (sent > 0).sum() >= 0.9 * len(exact) and sum(each.small_flows.sum() for each in found) == 0


def test_samples_are_right_in_the_mean() -> None:
    """So many bytes per flow, and a flow of n packets is met with the chance 1 − (1 − 1/N)^n."""
    one_in, seeds = 10, range(1, 41)
    total, met = np.zeros(80), np.zeros(80)
    for seed in seeds:
        sent = by_flow(counted(Samples(one_in), seed)[0], 80)
        total, met = total + sent / len(seeds), met + (sent > 0)
    packets = -(-flows().size_bytes // 1000)
    exact = flows().size_bytes + 48 * packets
    looked = by_flow(counted(Samples(1))[0], 80) == exact  # that ended before the last look
    error = (total - exact)[looked] / (1048 * np.sqrt((one_in - 1) * packets[looked] / len(seeds)))
    assert abs(error.mean()) < 3 / np.sqrt(looked.sum()) and 0.8 < error.std() < 1.2
    chance = 1 - (1 - 1 / one_in) ** packets[looked]
    spread = np.sqrt(len(seeds) * (chance * (1 - chance)).sum())
    assert abs(met[looked].sum() - len(seeds) * chance.sum()) < 4 * spread
    assert len({tuple(by_flow(counted(Samples(one_in), seed)[0], 80)) for seed in (1, 1, 2)}) == 2


def sketched(sent: dict[int, float], small: float = 0) -> Sketches:
    names, sizes = np.array(list(sent), dtype=float), np.array(list(sent.values()), dtype=float)
    return Sketches(np.zeros(len(sent)), names, sizes, np.array([small]))


def test_states_are_those_of_the_papers_figure_4() -> None:
    second, third = [25, 28, 33, 100, 216, 221, 423, 530], [27, 19, 13, 12, 12, 6, 4]
    states = FlowStates(1e6, 3)
    for interval in range(8):
        sent = {2: second[interval] * 1e3} | ({3: third[interval] * 1e3} if interval < 7 else {})
        found = states.update(sketched(sent, small=1))
        assert found.flows == len(sent) + 1
        sums = [sum(second[: interval + 1]), sum(third[: interval + 1])]
        likely = min(sums[0] / 1000, 1) + (sums[1] / 1000 if interval < 7 else 0)
        assert found.elephants == pytest.approx(likely if interval >= 2 else 0)
    assert states.update(sketched({2: 10, 3: 10})).elephants == 1  # the third was silent, so its intervals begin anew


def test_after_a_silence_sizes_are_known_at_once() -> None:
    """Of a connection that was an elephant, and of one that becomes one, but not of a new one."""
    states = FlowStates(1e6, 3)
    assert states.update(sketched({1: 1.2e6, 2: 9e5})).elephants == 1
    assert states.update(sketched({})).flows == 0
    assert states.update(sketched({1: 10, 2: 2e5, 3: 9e5})).elephants == 2


def test_sizes_may_be_looked_at_more_seldom() -> None:
    """Every third interval: what was sent since the look before it counts as one interval."""
    tuner = tuning("paraleon", sampling=100, sizes_every=3, trials=1, cooling=0.1, ternary=0).build()
    assert tuner.sketch == Samples(100)
    tuner.begin(Given(TOPOLOGY, "dcqcn", {}, USUAL, 1))
    zeros, ones = np.zeros(sum(len(each) for each in TOPOLOGY.neighbours)), np.ones(8)
    heated = []
    for interval in range(12):
        sent = {1: 4e5, 2: 1e5} if interval < 6 else {1: 4e5, 2: 4e5}
        change = tuner.tune(Seen(1, 1, *[zeros] * 6, ones, ones, ones, sketched(sent)))
        heated += [interval] if change.parameters else []
    assert heated == [8]  # 1.2 MB and 0.3 MB, twice; then 1.2 MB both


def test_rounds_of_training_heat_once() -> None:
    """20 connections send 0.6 MB per interval, four in a row, and rest for ten, again and again."""
    tuner = tuning("paraleon", trials=1, cooling=0.1).build()
    tuner.begin(Given(TOPOLOGY, "dcqcn", {}, USUAL, 1))
    zeros, ones = np.zeros(sum(len(each) for each in TOPOLOGY.neighbours)), np.ones(8)
    heated = []
    for interval in range(42):
        sent = {flow: 6e5 for flow in range(20)} if interval % 14 < 4 else {}
        change = tuner.tune(Seen(1, 1, *[zeros] * 6, ones, ones, ones, sketched(sent)))
        heated += [interval] if change.parameters else []
    assert heated == [1]  # as the mice of the first interval become elephants


def test_rounds_share_connections() -> None:
    rounds = np.repeat([0, 1], 6)
    src, dst = np.tile([0, 0, 1, 1, 2, 2], 2), np.tile([1, 2, 0, 2, 0, 1], 2)
    flows = FabricFlows(
        src, dst, np.full(12, 30_000), np.zeros(12), round=rounds, after=rounds - 1, off_ns=np.full(12, 1e5)
    )
    np.testing.assert_array_equal(flows.connection, np.tile(np.arange(6), 2))
    watcher = Watcher(every_us=20, sketch=Sketch(buckets=1 << 12))
    with_tuner(FabricEngine("dcqcn"), watcher).run(TOPOLOGY, flows)
    found = by_flow([each.sketches for each in watcher.seen if each.sketches], 12)
    assert (found[6:] == 0).all() and (found[:6] > 30_000).all()
    alone = FabricFlows(src, dst, np.full(12, 30_000), np.zeros(12))
    np.testing.assert_array_equal(alone.connection, np.arange(12))


def test_a_sketch_alone_forgets() -> None:
    states = FlowStates(1e6, 3, ternary=False)
    shares = [states.update(sketched({1: 6e5, 2: 1.2e6})).elephants for _ in range(4)]
    assert shares == [1, 1, 1, 1]


def test_divergence() -> None:
    found = FlowSizes(3, 10).divergence(FlowSizes(1, 2))
    assert found == pytest.approx(0.3 * np.log(0.3 / 0.5) + 0.7 * np.log(0.7 / 0.5))
    assert FlowSizes(1, 2).divergence(FlowSizes(5, 10)) == 0 < FlowSizes(1, 1).divergence(FlowSizes(0, 1)) < 20


def annealed(guided: bool, share: float, target: float, trials: int, seed: int) -> float:
    """Return how far, in shares of the range, the best of an annealing is from the optimum of a concave utility."""
    steps = {name: Step(0.5, 0, 1, 0.1, way) for name, way in (("up", 1), ("down", -1), ("more", 1))}
    optimum = {"up": target, "down": 1 - target, "more": target}
    search = Annealing(steps, Schedule(5, 0.5, 0.8, trials), 0.8, guided, np.random.default_rng(seed))
    search.heat()
    while not search.cold:
        distance = np.mean([(search.tried[name] - optimum[name]) ** 2 for name in steps])
        search.move(100 * (1 - distance), share)
    assert search.tried == search.best
    return float(np.sqrt(np.mean([(search.best[name] - optimum[name]) ** 2 for name in steps])))


def test_annealing_comes_to_a_known_optimum() -> None:
    assert max(annealed(False, 0.5, 0.7, 60, seed) for seed in range(10)) < 0.07


def test_guided_moves_come_there_sooner() -> None:
    """Where the traffic asks for what the utility rewards; and later where it asks for the contrary."""
    guided, naive, wrong = (
        np.mean([annealed(each, share, 0.95, 2, seed) for seed in range(40)])
        for each, share in ((True, 0.9), (False, 0.9), (True, 0.1))
    )
    assert guided < 0.7 * naive < 0.7 * wrong


def test_utility_by_hand() -> None:
    tuner = tuning("paraleon", throughput=0.2, rtt=0.5, pfc=0.3).build()
    assert isinstance(tuner, Paraleon)
    hosts = host_ports(Given(TOPOLOGY, "dcqcn", {}, USUAL, 1))
    ports = sum(len(each) for each in TOPOLOGY.neighbours)
    sent, paused = np.zeros(ports), np.zeros(ports)
    sent[:2], sent[9], paused[5] = [5000.0, 10_000.0], 1e9, 0.5
    acks, share = np.zeros(8), np.full(8, np.nan)
    acks[:2], share[:2] = [3, 1], [0.5, 0.9]
    zeros = np.zeros(ports)
    seen = Seen(1000, 1000, sent, zeros, zeros, zeros, zeros, paused, acks, share, share)
    used = np.mean([0.4, 0.8])
    assert tuner.weights.utility(seen, hosts) == pytest.approx(0.2 * used + 0.5 * 0.7 + 0.3 * (1 - 0.5 / ports))


def test_it_looks_until_the_traffic_changes() -> None:
    tuner = tuning("paraleon", trials=2, cooling=0.3).build()
    assert isinstance(tuner, Paraleon)
    begun = tuner.begin(Given(TOPOLOGY, "dcqcn", {}, USUAL, 1))
    ports, hosts = sum(len(each) for each in TOPOLOGY.neighbours), np.ones(8)
    zeros = np.zeros(ports)

    def look(elephants: int, mice: int) -> Change:
        sent = {flow: 2e6 for flow in range(elephants)} | {100 + flow: 10.0 for flow in range(mice)}
        return tuner.tune(Seen(1, 1, *[zeros] * 6, hosts, hosts, hosts, sketched(sent)))

    assert begun.parameters["increase_us"] == STEPS["increase_us"].start and begun.parameters["alpha_divisor"] == 2
    for _ in range(3):
        change = look(2, 8)
        assert not change.parameters and change.told["elephant_share"] == pytest.approx(0.2, abs=1e-4)
    tried = [look(8, 2) for _ in range(4)]  # two temperatures, two trials each
    assert all(each.parameters for each in tried)
    assert not look(8, 2).parameters


def test_when_nobody_sends_nothing_is_known_of_sizes() -> None:
    tuner = tuning("paraleon").build()
    tuner.begin(Given(TOPOLOGY, "dcqcn", {}, USUAL, 1))
    zeros = np.zeros(sum(len(each) for each in TOPOLOGY.neighbours))
    for sent in ({1: 2e6}, {}, {1: 2e6}):
        change = tuner.tune(Seen(1, 1, *[zeros] * 6, np.zeros(8), zeros, zeros, sketched(sent)))
        assert not change.parameters and change.told["elephant_share"] == 1


def test_no_move_is_sure_whatever_the_traffic() -> None:
    steps = {str(number): Step(0, -1, 1, 0.1, 1) for number in range(2000)}
    search = Annealing(steps, Schedule(5, 0.5, 0.8, 1), 0.8, True, np.random.default_rng(1))
    search.heat()
    up = np.mean([value > 0 for value in search.move(1, 1.0).values()])
    assert up == pytest.approx(0.8, abs=0.04)


def test_what_it_sets_is_in_the_units_of_transport_and_marker() -> None:
    tuner = tuning("paraleon").build()
    assert isinstance(tuner, Paraleon)
    tuner.begin(Given(TOPOLOGY, "dcqcn", {}, USUAL, 1))
    values = {name: step.start for name, step in STEPS.items()} | {"g_1024": 960, "pmax": 0.31, "gd": 12}
    change = tuner._change(values)
    assert change.parameters["g"] == 64 / 1024 and change.parameters["alpha_divisor"] == 4
    assert change.markers[None].parameters == {"kmin_bytes": 400e3, "kmax_bytes": 1600e3, "pmax": 0.31}
