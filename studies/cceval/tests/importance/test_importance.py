"""Tilts, weights and cycles: whatever the change of measure, expectations stay those of the true measure."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.studies.cceval.importance.attempt import ImportanceConfig, search, update
from lcca.studies.cceval.importance.cycles import (
    Bench,
    Cycles,
    Measure,
    arrived_by,
    batches,
    quantile,
    tail_curve,
    woodruff,
)
from lcca.studies.cceval.importance.flows import Flows, LognormalSizes, OpenLoop, TableSizes
from lcca.studies.cceval.importance.tilts import NormalTilt, TailBoost
from studies.cceval.queues import first_come_first_served, processor_sharing

QUEUES = {"in order": first_come_first_served(), "sharing": processor_sharing()}
TABLE = TableSizes(flow_sizes("websearch", 1000))
SIZES = {"lognormal": LognormalSizes(0.0, 1.0), "table": TABLE, "equal": LognormalSizes(0.0, 1e-6)}
BOOST = TailBoost((0.0, 0.01, 0.1, 1.0), (0.03, 0.14, 0.83))
TILTS = {"normal": NormalTilt(0.15, 1.05), "boost": BOOST}


def loop(sizes: str = "lognormal", flows: float = 12, load: float = 0.6) -> OpenLoop:
    rate = load / SIZES[sizes].mean
    return OpenLoop(rate, flows / rate, SIZES[sizes])


def plain(workload: OpenLoop) -> Measure:
    return Measure(NormalTilt(), workload.rate)


def one_by_one(arrival: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Processor sharing, slowly."""
    left, done, now, present, following = size.copy(), np.zeros(len(size)), 0.0, [], 0
    while following < len(size) or present:
        least = min(present, key=lambda n: left[n], default=None)
        leave = math.inf if least is None else now + left[least] * len(present)
        arrive = arrival[following] if following < len(size) else math.inf
        then = min(leave, arrive)
        for n in present:
            left[n] -= (then - now) / len(present)
        now = then
        if leave < arrive:
            present.remove(least)
            done[least] = now
        else:
            present.append(following)
            following += 1
    return done - arrival


def each_trial(simulate: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Callable[[Flows], np.ndarray]:
    """Return a simulator of batches from one of single trials: (arrivals, sizes) to FCTs."""

    def batch(flows: Flows) -> np.ndarray:
        cuts = flows.begin[1:-1]
        pairs = zip(np.split(flows.arrival, cuts), np.split(flows.size, cuts), strict=True)
        found = [np.asarray(simulate(*each), dtype=np.float64) for each in pairs]
        return np.concatenate(found) if found else np.zeros(0)

    return batch


def test_queues_agree_with_slow_ones() -> None:
    cycles = Bench(loop(), QUEUES["sharing"]).run(plain(loop()), 200, np.random.default_rng(1))
    flows = cycles.flows
    assert np.diff(flows.begin).min() < 6  # rows of many lengths
    assert QUEUES["sharing"](flows) == pytest.approx(each_trial(one_by_one)(flows))
    fct = QUEUES["in order"](flows)
    for first, last in zip(flows.begin, flows.begin[1:], strict=False):
        free = 0.0
        for n in range(first, last):
            free = max(free, flows.arrival[n]) + flows.size[n]
            assert fct[n] == pytest.approx(free - flows.arrival[n])


def test_trials_without_flows() -> None:
    workload = OpenLoop(0.001, 1.0, SIZES["lognormal"])
    for simulate in (*QUEUES.values(), each_trial(one_by_one)):
        cycles = Bench(workload, simulate).run(Measure(BOOST, 0.002, 1.0), 20, np.random.default_rng(1))
        assert cycles.trials == 20 and cycles.mean_flows == 0.001
        empty = np.diff(cycles.flows.begin) == 0
        assert empty.all() and cycles.cycle_log_weight == pytest.approx(np.full(20, 0.001))  # the age counts


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.parametrize("switch", [math.inf, 3.0])
@pytest.mark.parametrize("faster", [1.0, 1.2])
def test_weights_average_to_one(sizes: str, tilt: str, switch: float, faster: float) -> None:
    workload = loop(sizes)
    measure = Measure(TILTS[tilt], faster * workload.rate, switch * workload.sizes.mean)
    cycles = Bench(workload, QUEUES["sharing"]).run(measure, 4000, np.random.default_rng(3))
    for weights, mean in ((np.exp(cycles.cycle_log_weight), 1.0), (cycles.flows.sums(cycles.weight), 12.0)):
        assert weights.mean() == pytest.approx(mean, abs=4 * weights.std() / math.sqrt(4000))
    assert (cycles.runs > 4000) == (switch < math.inf)


@pytest.fixture(scope="module")
def truths() -> dict[tuple[str, str], tuple[float, float, float]]:
    """Per queue and sizes: a value, the expected flows of a trial beyond it, and the standard error."""
    found = {}
    for queue in QUEUES:
        for sizes in SIZES:
            cycles = Bench(loop(sizes), QUEUES[queue]).run(plain(loop(sizes)), 30_000, np.random.default_rng(5))
            value = float(np.quantile(cycles.value, 0.98))
            beyond = cycles.beyond(value)
            found[queue, sizes] = (value, float(beyond.mean()), float(beyond.std()) / math.sqrt(30_000))
    return found


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("sizes", SIZES)  # "equal" is M/D/1
@pytest.mark.parametrize("tilt", TILTS)
@pytest.mark.parametrize("switching", [False, True])
def test_the_tail_is_unbiased(queue: str, sizes: str, tilt: str, switching: bool, truths) -> None:
    value, wanted, error = truths[queue, sizes]
    measure = Measure(TILTS[tilt], 1.1 * loop(sizes).rate, value if switching else math.inf)
    cycles = Bench(loop(sizes), QUEUES[queue]).run(measure, 6000, np.random.default_rng(7))
    beyond = cycles.beyond(value)
    assert beyond.mean() == pytest.approx(wanted, abs=4 * math.hypot(error, beyond.std() / math.sqrt(6000)))


def test_flows_after_the_switch_add_nothing() -> None:
    workload = loop()
    cycles = Bench(workload, QUEUES["sharing"]).run(
        Measure(BOOST, 1.3 * workload.rate, 4.0), 500, np.random.default_rng(1)
    )
    trial = cycles.flows.trial
    switched = np.full(500, math.inf)
    late = cycles.value > 4.0
    np.minimum.at(switched, trial[late], cycles.finish[late])
    after = cycles.finish >= switched[trial]
    assert 0.1 < after.mean() < 0.9
    assert cycles.log_weight[after] == pytest.approx(cycles.cycle_log_weight[trial[after]])
    assert (cycles.flows.arrival > switched[trial]).any()


def test_the_weight_of_a_flow_by_hand() -> None:
    """Two flows, the second arrives before the first is done; the age since then counts (Eq. 10)."""
    workload = OpenLoop(1.0, 10.0, SIZES["lognormal"])
    measure = Measure(NormalTilt(0.5, 1.0), 2.0)
    cycles = Bench(workload, QUEUES["in order"]).run(measure, 300, np.random.default_rng(2))
    flows, chance = cycles.flows, cycles.chance
    ratio = measure.tilt.log_ratio(chance)
    for n in range(0, len(chance), 37):
        own = flows.begin[flows.trial[n]]
        time = min(cycles.finish[n], 10.0)
        seen = [k for k in range(own, flows.begin[flows.trial[n] + 1]) if flows.arrival[k] <= time]
        wanted = sum(ratio[k] for k in seen) + len(seen) * math.log(1 / 2) + (2 - 1) * time
        assert cycles.log_weight[n] == pytest.approx(wanted)


def test_normal_tilt_is_the_ratio_of_lognormal_densities() -> None:
    sizes, tilt = LognormalSizes(1.0, 2.0), NormalTilt(0.3, 1.4)
    chance = np.array([0.9, 0.5, 0.01, 1e-9])
    x = sizes.beyond(chance)
    true, tilted = stats.lognorm(2.0, scale=math.e), stats.lognorm(2.0 * 1.4, scale=math.exp(1.0 + 2.0 * 0.3))
    assert tilt.log_ratio(chance) == pytest.approx(true.logpdf(x) - tilted.logpdf(x))


@pytest.mark.parametrize("tilt", TILTS.values(), ids=TILTS)
def test_second_moments(tilt) -> None:
    weight = np.exp(tilt.log_ratio(tilt.draw(400_000, np.random.default_rng(1))))
    assert weight.mean() == pytest.approx(1, abs=0.005)
    assert math.log((weight**2).mean()) == pytest.approx(tilt.log_second_moment, abs=0.01)
    assert NormalTilt(0.2).log_second_moment == pytest.approx(0.04)
    assert NormalTilt(0.0, 0.6).log_second_moment == math.inf


@pytest.mark.parametrize("tilt", [NormalTilt(0.4, 1.3), BOOST], ids=TILTS)
def test_fitting_recovers_the_tilt(tilt) -> None:
    uniform = 1 - np.random.default_rng(1).random(200_000)
    found = type(tilt)().fitted if isinstance(tilt, NormalTilt) else TailBoost(BOOST.edges, (0.01, 0.09, 0.9)).fitted
    told = found(uniform, np.exp(-tilt.log_ratio(uniform)))
    if isinstance(told, NormalTilt):
        assert (told.shift, told.scale) == pytest.approx((0.4, 1.3), abs=0.02)
    else:  # a tenth of the true measure is kept
        assert told.masses == pytest.approx(0.9 * np.array(BOOST.masses) + 0.1 * np.diff(BOOST.edges), abs=0.005)
    nothing = found(uniform[:0], uniform[:0])
    assert nothing.log_second_moment == pytest.approx(0)


def test_a_boost_never_falls_towards_the_tail() -> None:
    start = TailBoost.of(0.99)
    assert start.edges[:4] == pytest.approx((0, 0.0025, 0.01, 0.04)) and start.log_second_moment == pytest.approx(0)
    chance = 1 - np.random.default_rng(1).random(3000)
    told = start.fitted(chance, np.where(chance > 0.5, 3.0, np.where(chance > 0.01, 1.0, 0.0)))
    boost = np.array(told.masses) / np.diff(told.edges)
    assert (np.diff(boost) <= 1e-12).all() and boost.min() > 0.1


def test_a_measure_is_kept_within_a_bound() -> None:
    workload = loop()
    strong = Measure(NormalTilt(1.0, 1.5), 2 * workload.rate, 5.0)
    assert strong.log_second_moment(workload) > 1
    assert 0.99 < strong.within(workload, 1.0).log_second_moment(workload) <= 1
    assert strong.within(workload, math.inf) is strong
    weak = Measure(NormalTilt(0.1), workload.rate)
    assert weak.within(workload, 1.0) is weak


def test_cross_entropy_counts_what_came_before_each_flow_of_the_tail() -> None:
    bench = Bench(loop(), QUEUES["sharing"])
    cycles = bench.run(Measure(NormalTilt(0.2), loop().rate, 5.0), 300, np.random.default_rng(1))
    told = update(bench, cycles, Measure(NormalTilt(0.2), loop().rate), 0.97, tilt_rate=True)
    above, flows = quantile(cycles, 0.97), cycles.flows
    total = moved = events = time = 0.0
    score = stats.norm.isf(cycles.chance)
    for first, last in zip(flows.begin, flows.begin[1:], strict=False):
        stop = min((cycles.finish[n] for n in range(first, last) if cycles.value[n] > above), default=math.inf)
        for n in range(first, last):
            until = min(cycles.finish[n], stop)
            before = [k for k in range(first, last) if flows.arrival[k] <= until]
            credit = cycles.weight[n] * (cycles.value[n] > above)
            total, moved = total + credit * len(before), moved + credit * sum(score[k] for k in before)
            events, time = events + credit * len(before), time + credit * min(until, loop().horizon)
    assert told.tilt.shift == pytest.approx(moved / total)
    assert told.rate == pytest.approx(events / time)
    assert told.switch_above == above


def test_search_makes_the_tail_frequent() -> None:
    bench = Bench(loop(flows=10), QUEUES["in order"])
    found = search(bench, ImportanceConfig(quantile=0.999), np.random.default_rng(4))
    assert found.plain.trials == 200 and found.runs >= 600
    assert found.work > 600 * bench.loop.mean_work
    usual = bench.run(plain(bench.loop), 4000, np.random.default_rng(1))
    often = bench.run(found.measure, 4000, np.random.default_rng(1))
    value = quantile(often, 0.999)
    assert (often.beyond(value) > 0).mean() > 8 * (usual.beyond(value) > 0).mean()


def test_counting_arrivals_of_the_same_trial() -> None:
    flows = Flows(np.array([0, 3, 3, 5]), np.array([1.0, 2.0, 3.0, 0.5, 9.0]), np.ones(5))
    assert arrived_by(flows, np.array([1.0, 2.5, math.inf, 0.4, 9.0])).tolist() == [1, 2, 3, 3, 5]


def test_a_simulator_must_be_causal_and_complete() -> None:
    def clairvoyant(arrival: np.ndarray, size: np.ndarray) -> np.ndarray:
        return size + size.sum()

    measure = Measure(BOOST, loop().rate, 5.0)
    with pytest.raises(ValueError, match="not causal"):
        Bench(loop(), each_trial(clairvoyant)).run(measure, 100, np.random.default_rng(1))
    for fct in (lambda a, s: s[:-1], lambda a, s: s * math.nan, lambda a, s: -s):
        with pytest.raises(ValueError, match="one finite completion time"):
            Bench(loop(), each_trial(fct)).run(measure, 100, np.random.default_rng(1))


@pytest.mark.parametrize(("rate", "horizon"), [(0, 1), (1, math.inf), (-1, 1)])
def test_a_workload_must_be_possible(rate: float, horizon: float) -> None:
    with pytest.raises(ValueError, match=r"rate|horizon"):
        OpenLoop(rate, horizon, SIZES["lognormal"])


def test_another_metric() -> None:
    bench = Bench(loop(), QUEUES["sharing"], metric=lambda fct, size: fct / size)
    cycles = bench.run(Measure(BOOST, loop().rate, 3.0), 400, np.random.default_rng(1))
    assert cycles.value.min() >= 1 - 1e-9
    assert cycles.value * cycles.flows.size == pytest.approx(cycles.finish - cycles.flows.arrival)


def of_values(values: np.ndarray, trials: int) -> Cycles:
    """Return plain trials with these values, as many in each."""
    each = len(values) // trials
    flows = Flows(np.arange(0, len(values) + 1, each), np.tile(np.arange(each) / each, trials), np.ones(len(values)))
    zeros = np.zeros(len(values))
    return Cycles(flows, zeros + 0.5, zeros, values, zeros, np.zeros(trials), each, trials, 1.0)


def discrete(values: np.ndarray, p: float) -> float:
    """CCEval's Eq. 8: the first of the ordered flows with at most 1 − p of them from there on."""
    ordered = np.sort(values)
    return float(ordered[len(ordered) - int((1 - p) * len(ordered) + 1e-9)])


def test_interpolation_is_less_biased_than_the_discrete_rule() -> None:
    rng, wanted = np.random.default_rng(1), math.exp(2.3263478740408408)
    samples = [np.exp(rng.standard_normal(400)) for _ in range(2000)]  # batches of 40 trials with 10 flows
    ours = np.mean([quantile(of_values(x, 40), 0.99) for x in samples]) / wanted - 1
    theirs = np.mean([discrete(x, 0.99) for x in samples]) / wanted - 1
    assert theirs > 0.04 and abs(ours) < 0.04 and abs(ours) < 0.7 * theirs


def test_ends_of_the_curve() -> None:
    curve = tail_curve(of_values(np.arange(1.0, 5.0), 2))
    assert curve.at(0.125) == 4 and curve.at(0.5) == 2.5
    assert curve.at(0.1) == math.inf and curve.at(0.9) == -math.inf
    assert quantile(of_values(np.arange(1.0, 5.0), 2), 0.99) == 4


def test_intervals_of_plain_trials() -> None:
    rng = np.random.default_rng(2)
    wanted, hits = math.log(100), {"woodruff": 0, "batches": 0}
    for _ in range(200):
        cycles = of_values(rng.exponential(1, 4000), 400)
        for how in (woodruff, batches):
            found = how(cycles, 0.99, 0.9)
            assert found.low < found.estimate < found.high
            hits[how.__name__] += found.low < wanted < found.high
    assert 165 <= hits["woodruff"] <= 193
    with pytest.raises(ValueError, match="at least 80 trials"):
        batches(of_values(np.ones(100), 50), 0.9, 0.95)
