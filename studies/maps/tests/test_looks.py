"""Synthetic campaigns whose map is known: regions that are found, bands that hold, a map of nothing."""

import numpy as np
import pytest

from lcca.evaluation.settling.spending import spent
from lcca.studies.maps.axes import Axis, coordinates, drawn, filling
from lcca.studies.maps.looks import Ground, Look, look, new_points
from lcca.studies.maps.regions import Bound, Family, inside, words
from lcca.studies.maps.smoothing import Spectra

SENDERS, RTT = Axis("senders", tuple(range(1, 17))), Axis("rtt", tuple(range(20, 31)))
NOTHING = np.empty((0, 1))
MARGIN = 0.04


def truth(values: np.ndarray) -> np.ndarray:
    """Worth 0.15 bits with at most three senders, fading out until eight."""
    return 0.15 * np.clip((8 - values[:, 0]) / 5, 0, 1)


def differences(values: np.ndarray, worth: np.ndarray, seed: int, noise: float = 0.03, seeds: int = 8) -> np.ndarray:
    """Differences of trainings, each with luck that is an offset and a slope."""
    rng = np.random.default_rng(seed)
    luck = 0.005 * rng.standard_normal((2, seeds))
    sloped = luck[0] + luck[1] * np.log2(values[:, :1])
    return worth[:, None] + sloped + noise * rng.standard_normal((len(values), seeds))


def looked(axes: tuple[Axis, ...], worth: float, seed: int, points: int = 64) -> tuple[Ground, Look]:
    ground = Ground(axes, np.empty((0, len(axes))))
    values = filling(axes, seed, 0, points)
    d = differences(values, worth * truth(values), seed)
    return ground, look(ground, Spectra(coordinates(axes, values)), d, MARGIN, 0.05, 0, 1.0)


@pytest.mark.slow
def test_bands_hold_over_everything_together() -> None:
    """Of 16 campaigns one may miss somewhere, on points, regions or effect curves; 4 do so by chance in 1 %."""
    missed = 0
    for seed in range(16):
        ground, found = looked((SENDERS,), 1.0, seed)
        real = ground.means @ truth(ground.values)
        missed += bool(((found.band.low > real) | (found.band.high < real)).any())
    assert missed <= 3


@pytest.mark.slow
def test_a_map_of_nothing_finds_nothing() -> None:
    found = [looked((SENDERS,), 0.0, seed)[1] for seed in range(100, 112)]
    assert sum(each.shares(each.points)["better"] + each.shares(each.points)["worse"] > 0 for each in found) <= 2
    assert np.mean([each.shares(each.points)["equivalent"] for each in found]) > 0.5


@pytest.mark.slow
def test_a_region_is_found_and_told_in_words() -> None:
    ground, found = looked((SENDERS, RTT), 1.0, 1, 128)
    (region, share, row), *_, last = found.regions
    assert words(region, ground.axes, ("", "µs")) in ("senders ≤ 3", "senders ≤ 4")
    assert found.band.low[row] < truth(ground.values)[inside(region, ground.values)].mean() < found.band.high[row]
    assert share == pytest.approx(inside(region, ground.values).mean()) and found.band.mean[last[2]] < 0.04
    verdicts = found.verdicts(found.points)
    few, many = ground.values[:, 0] <= 3, ground.values[:, 0] >= 10
    assert {each.name for each, own in zip(verdicts, few, strict=True) if own} == {"better"}
    assert {each.name for each, own in zip(verdicts, many, strict=True) if own} <= {"equivalent", "not settled"}


def test_the_regions_of_a_tree_cover_the_space_once_and_are_of_the_family() -> None:
    axes = (SENDERS, RTT, Axis("loss", (0.0, 0.1)))
    values = drawn(axes)
    family = Family(axes, values)
    curve = np.where((values[:, 0] > 4) & (values[:, 1] <= 25), 1.0, 0.0)
    leaves = family.tree(curve)
    assert sum(inside(leaf, values).astype(int) for leaf in leaves) == pytest.approx(np.ones(len(values)))
    planted = frozenset({Bound(0, 4.0, True), Bound(1, 25.0, False)})
    assert planted in leaves and family.means[family.number(planted)] @ curve == pytest.approx(1)
    assert (
        family.tree(np.zeros(len(values))) == [frozenset()] and words(frozenset(), axes, ("", "", "")) == "everywhere"
    )
    between = frozenset({Bound(1, 22.0, True), Bound(1, 25.0, False)})
    assert words(between | {Bound(0, 2.0, False)}, axes, ("", "µs", "")) == "senders ≤ 2 and 22 < rtt ≤ 25 µs"


def test_new_points_go_where_it_is_open() -> None:
    """At the edge of what is worth something the band holds 0 or the margin's end: there most of them go."""
    ground, found = looked((SENDERS,), 1.0, 2)
    open_ = {float(value) for value, each in zip(ground.values[:, 0], found.open_at_last, strict=True) if each}
    assert 0 < len(open_) < 12
    new = new_points((SENDERS,), [found], 2, 64, 32)[:, 0]
    assert len(new) == 32 and np.isin(new, list(open_)).mean() >= 0.7
    assert not np.isin(new, list(open_)).all()


def test_looks_share_the_error_rate() -> None:
    """Increments of what may be spent add up to α; the level of the last look is what is left for it."""
    ground = Ground((SENDERS,), NOTHING)
    values = filling((SENDERS,), 5, 0, 64)
    spectra = Spectra(coordinates((SENDERS,), values))
    d = differences(values, truth(values), 5)
    early, late = (look(ground, spectra, d, MARGIN, 0.05, *span) for span in ((0, 0.5), (0.5, 1.0)))
    whole = look(ground, spectra, d, MARGIN, 0.05, 0, 1.0)
    assert early.band.critical > late.band.critical == early.last > whole.band.critical
    assert spent(0.5, 0.05) < 0.05


def test_points_fill_the_coordinates_and_are_the_same_however_many() -> None:
    values = filling((SENDERS, RTT), 9, 0, 64)
    assert np.array_equal(filling((SENDERS, RTT), 9, 16, 8), values[16:24])
    assert not np.array_equal(filling((SENDERS, RTT), 10, 0, 64), values)
    u = coordinates((SENDERS, RTT), values)
    assert np.histogram2d(u[:, 0], u[:, 1], bins=2)[0].min() >= 12 and SENDERS.logarithmic and not RTT.logarithmic
    assert set(drawn((SENDERS,))[:, 0]) == set(SENDERS.levels) and len(drawn((SENDERS, RTT))) == 176
