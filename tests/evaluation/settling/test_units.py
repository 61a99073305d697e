"""Means over blocks: what every rule is fed."""

import numpy as np
import pytest

from lcca.evaluation.settling.units import block_means, means_of


def test_means_of_whole_blocks() -> None:
    values = np.arange(10.0)
    assert block_means(values, 4).tolist() == [1.5, 5.5]
    assert block_means(values, 1).tolist() == values.tolist()
    assert block_means(values[:3], 4).size == 0


def test_what_is_missing_is_left_out_of_its_block() -> None:
    found = block_means([1.0, np.nan, 3.0, 4.0, np.nan, np.nan], 2)
    assert found[:2].tolist() == [1.0, 3.5] and np.isnan(found[2])


def test_means_of_some_networks() -> None:
    networks = [0, 3, 17, 18, 40]
    found = means_of([1.0, 3.0, 5.0, 8.0, np.nan], networks, 16)
    assert found.tolist() == [2.0, 6.5]
    every = np.random.default_rng(1).normal(size=64)
    assert means_of(every, np.arange(64), 16) == pytest.approx(block_means(every, 16))
