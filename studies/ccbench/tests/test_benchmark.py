"""The grids of CC-Bench, and the order in which their scenarios are run."""

from collections import Counter
from pathlib import Path

import pytest

from lcca.inputs.errors import InputError
from lcca.inputs.yaml_text import dump
from lcca.studies.ccbench.benchmark import Benchmark, benchmark
from lcca.studies.ccbench.description import Scenario
from lcca.studies.ccbench.scenario import draw


@pytest.fixture(scope="module")
def first() -> Benchmark:
    return benchmark("cc-bench-1")


@pytest.fixture(scope="module")
def second() -> Benchmark:
    return benchmark("cc-bench-2")


def test_as_many_scenarios_and_scored_intervals_as_published(first: Benchmark, second: Benchmark) -> None:
    """150 + 510 scenarios and 2,640 intervals; 125 and 500: the denominators of the published winning rates."""
    assert sum(each.factor == 1 for each in first.scenarios) == 150
    assert sum(each.factor != 1 for each in first.scenarios) == 510
    assert len(first.scenarios) * len(first.intervals_s) == 2640
    assert len(second.scenarios) * len(second.intervals_s) == 500


def test_a_bandwidth_delay_product_is_counted_in_packets_of_1500_bytes() -> None:
    scenario = Scenario(48, 1, 40, 0.5)  # 48 Mb/s × 40 ms = 1.92 Mb = 160 packets
    assert scenario.bdp_packets == 160
    assert scenario.buffer_packets == 80


def test_marks_begin_at_a_share_of_the_bandwidth_delay_product() -> None:
    marking = benchmark("cc-bench-1-ecn")
    assert marking.mark_packets(Scenario(192, 1, 160, 1)) == 436  # 0.17 × 2,560
    assert marking.mark_packets(Scenario(12, 1, 20, 4)) == 10  # at least
    assert marking.mark_packets(Scenario(12, 1, 20, 0.5)) == 5  # half the buffer
    assert marking.mark_packets(Scenario(12, 1, 10, 0.1)) == 1
    assert benchmark("cc-bench-1").mark_packets(Scenario(12, 1, 20, 4)) is None
    assert marking.scenarios == benchmark("cc-bench-1").scenarios


def test_rates_change_every_seven_seconds_and_come_back() -> None:
    rates = Scenario(24, 0.5, 20, 1).rates(7, 7, 30)
    assert rates == ((0, 24), (7, 12), (14, 24), (21, 12), (28, 24))
    assert Scenario(24, 1, 20, 1).rates(7, 7, 30) == ((0, 24),)


def test_every_scenario_comes_once_before_any_comes_again(second: Benchmark) -> None:
    trials = draw(second, 5, 250, 0)
    once = Counter(each.scenario.name for each in trials[:125])
    assert set(once.values()) == {1} and len(once) == 125
    assert set(Counter(each.scenario.name for each in trials).values()) == {2}
    assert {each.late_s for each in trials[:125]} == {0}
    assert all(0 < each.late_s < second.jitter_s for each in trials[125:])
    assert [each.scenario for each in trials[:125]] != [each.scenario for each in trials[125:]]


def test_a_block_has_one_scenario_of_each_stratum(first: Benchmark) -> None:
    parts = first.block
    at = {each: i for i, each in enumerate(first.scenarios)}
    for block in range(20):
        trials = draw(first, 9, parts, block * parts)
        assert sorted(at[each.scenario] * parts // len(at) for each in trials) == list(range(parts))


def test_a_stretch_is_the_same_whoever_asks_for_it(first: Benchmark) -> None:
    assert draw(first, 2, 30, 700) == draw(first, 2, 700 + 30, 0)[700:]
    assert draw(first, 2, 6, 0) != draw(first, 3, 6, 0)


def test_an_interval_after_the_end_is_an_error_with_its_line(tmp_path: Path) -> None:
    content = benchmark("cc-bench-2").model_dump(mode="json") | {"duration_s": 100}
    (tmp_path / "b.yaml").write_text(dump(content))
    with pytest.raises(InputError, match="intervals_s: the flow ends at 100 s, an interval at 120 s"):
        benchmark(tmp_path / "b.yaml")
