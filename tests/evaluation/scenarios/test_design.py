"""Blocks of networks: every stratum once, uniform, evenly spread, and the same however they are asked for."""

import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats
from scipy.stats import qmc

from lcca.evaluation.scenarios.design import DIRECTIONS, FEWEST, BlockDesign, block_size, sobol_points
from lcca.evaluation.scenarios.networks import PARAMETERS, NetworkSpace
from lcca.inputs.errors import InputError
from lcca.inputs.validation import read_config
from lcca.remy_plus.network import Network

CONFIGS = Path(__file__).resolve().parents[3] / "configs" / "networks"
DEFAULT = read_config(CONFIGS / "default.yaml", NetworkSpace)
HIGH = read_config(CONFIGS / "high-senders.yaml", NetworkSpace)


def changed(**changes: Any) -> NetworkSpace:
    return NetworkSpace.model_validate({**DEFAULT.model_dump(), **changes})


def test_directions_are_sobols() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = qmc.Sobol(len(DIRECTIONS), scramble=False).random_base2(6) * 64
    assert DIRECTIONS.keys() == set(PARAMETERS)
    for column, name in zip(points.T, DIRECTIONS, strict=True):
        for count in (2, 16, 64):  # the order within a power of two is another one
            assert set(sobol_points(name, count)) == set(column[:count].astype(int))


@pytest.mark.parametrize(("levels", "size"), [(1, 16), (2, 16), (3, 18), (16, 16), (25, 25), (64, 64), (65, 16)])
def test_a_block_has_whole_strata(levels: int, size: int) -> None:
    assert block_size(levels) == size >= FEWEST


@pytest.mark.parametrize("space", [DEFAULT, HIGH], ids=["default", "high-senders"])
def test_every_block_has_every_number_of_senders_once_in_its_own_order(space: NetworkSpace) -> None:
    drawn = [n.senders for n in space.draw(4, 6 * space.block)]
    blocks = [tuple(drawn[i : i + space.block]) for i in range(0, len(drawn), space.block)]
    assert all(sorted(block) == space.senders.values() for block in blocks)
    assert len(set(blocks)) == len(blocks)


def test_few_strata_occur_equally_often_and_many_in_groups() -> None:
    few = changed(senders={"min": 2, "max": 4, "step": 1})
    assert few.block == 18 and set(Counter(n.senders for n in few.draw(1, 18)).values()) == {6}
    many = changed(strata="rtt", rtt={"min": 1, "max": 160, "step": 1})
    assert many.block == 16
    assert sorted((n.rtt - 1) // 10 for n in many.draw(1, 16)) == list(range(16))


def test_another_parameter_may_be_stratified() -> None:
    space = changed(strata="mean_on")
    assert space.block == 19
    assert sorted(n.mean_on for n in space.draw(1, 19)) == space.mean_on.values()
    assert changed(senders=4).block == 16 and changed(senders=4, strata="buffer").block == 21


@pytest.mark.slow
@pytest.mark.parametrize("space", [DEFAULT, HIGH], ids=["default", "high-senders"])
def test_every_place_of_a_block_is_uniform(space: NetworkSpace) -> None:
    """The first and the last network of blocks, by themselves, are like independent draws."""
    every = space.draw(8, 800 * space.block)
    for place in (0, space.block - 1):
        drawn = every[place :: space.block]
        for name in space.varying():
            levels = getattr(space, name).values()
            counts = Counter(float(getattr(n, name)) for n in drawn)
            assert stats.chisquare([counts[float(level)] for level in levels]).pvalue > 1e-4


def test_each_parameter_is_spread_over_the_cells_of_a_block() -> None:
    for size in (16, 18, 25, 64):
        for name in PARAMETERS:
            assert sorted(BlockDesign(3, 7, size).cells(name)) == list(range(size))
    drawn = DEFAULT.draw(5, 16)
    for name, levels in (("link_rate", 5), ("mean_on", 19), ("mean_off", 15), ("rtt", 11), ("buffer", 7)):
        counts = Counter(getattr(n, name) for n in drawn)
        assert max(counts.values()) <= 16 // levels + 2  # a level overlaps no more cells


def test_pairs_of_parameters_are_spread_too() -> None:
    """Senders and buffer: one network in each quarter by quarter of the square, as in a (0, 4, 2)-net."""
    for number in range(20):
        design = BlockDesign(1, number, 16)
        x, y = design.cells("senders"), design.cells("buffer")
        assert len({(a // 4, b // 4) for a, b in zip(x, y, strict=True)}) == 16


SMOOTH: dict[str, Callable[[Network], float]] = {
    "additive": lambda n: n.senders / 16 + n.link_rate / 4 + n.mean_on / 10_000 - n.rtt / 30,
    "product": lambda n: np.log2(n.link_rate / (1 + (n.senders - 1) * n.mean_on / (n.mean_on + n.mean_off))),
    "one network in sixteen": lambda n: float(n.senders == 1) * n.mean_on / 10_000,
}


@pytest.mark.parametrize(("function", "gain"), [("additive", 30), ("product", 20), ("one network in sixteen", 2)])
def test_the_mean_of_a_block_varies_less(function: str, gain: float) -> None:
    values = np.array([SMOOTH[function](n) for n in DEFAULT.draw(2, 200 * 16)])
    assert values.reshape(200, 16).mean(axis=1).var() * gain < values.var() / 16


def test_blocks_are_independent() -> None:
    values = np.array([SMOOTH["product"](n) for n in DEFAULT.draw(6, 300 * 16)]).reshape(300, 16).mean(axis=1)
    assert stats.pearsonr(values[1:], values[:-1]).pvalue > 1e-3


@pytest.mark.parametrize("space", [DEFAULT, HIGH], ids=["default", "high-senders"])
def test_a_network_is_the_same_however_many_are_drawn(space: NetworkSpace) -> None:
    many = space.draw(9, 400)
    assert many[:20] == space.draw(9, 20)
    for first in (1, 15, 16, 333):
        assert many[first : first + 7] == space.draw(9, 7, first_id=first)
    assert space.draw(9, 0) == []


def test_spaces_that_share_a_range_share_its_values() -> None:
    other = changed(rtt=5, mean_off={"min": 1, "max": 9, "step": 2})
    for name in ("senders", "link_rate", "buffer", "mean_on"):
        assert [getattr(n, name) for n in DEFAULT.draw(3, 40)] == [getattr(n, name) for n in other.draw(3, 40)]


def test_whole_blocks() -> None:
    assert [DEFAULT.whole(n) for n in (3, 15, 16, 17, 200, 208)] == [3, 15, 16, 32, 208, 208]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"strata": "loss"}, "strata: loss has one level; name one that varies (link_rate, rtt, senders"),
        ({"strata": "senders", "senders": 3}, "senders has one level"),
        ({"strata": "colour"}, "Input should be 'link_rate', 'rtt'"),
        ({"strata": 3}, "Input should be"),
    ],
)
def test_impossible_strata(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        changed(**changes)
    assert len(caught.value.errors()) == 1 and message in caught.value.errors()[0]["msg"]


def test_bad_strata_are_reported_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "space.yaml"
    text = (CONFIGS / "default.yaml").read_text()
    path.write_text(text + "strata: sender\n")
    with pytest.raises(InputError) as caught:
        read_config(path, NetworkSpace)
    assert str(caught.value).startswith(f"{path}:{text.count(chr(10)) + 1}: strata: ")


def test_strata_survive_json() -> None:
    space = changed(strata="rtt")
    assert NetworkSpace.model_validate_json(space.model_dump_json()) == space
    assert "strata" not in DEFAULT.model_dump()


def test_draws_stay_as_they_are() -> None:
    """Published results name a seed: these values must never change."""
    assert BlockDesign(1, 0, 16).cells("rtt") == [13, 2, 10, 6, 3, 14, 9, 1, 5, 4, 12, 8, 15, 7, 0, 11]
    assert BlockDesign(1, 2, 25).cells("senders")[:8] == [6, 5, 24, 13, 19, 10, 8, 14]
    assert BlockDesign(1, 2, 16).indices("mean_on", 10**9)[:3] == [392091533, 909198188, 41285489]
