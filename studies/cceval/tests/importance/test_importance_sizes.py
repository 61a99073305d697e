import math

import numpy as np
import pytest

from lcca.evaluation.scenarios.sizes import flow_sizes
from lcca.studies.cceval.importance.flows import LognormalSizes, TableSizes
from lcca.studies.cceval.importance.size_models import fit_sizes

TABLES = ("websearch", "fb-hadoop", "ali-storage", "google-rpc")


@pytest.mark.parametrize("name", TABLES)
def test_a_lognormal_does_not_fit_well(name: str) -> None:
    fit = fit_sizes(flow_sizes(name, 1000), 0.99)
    assert fit.rms_error <= fit.largest_error < 1
    assert not fit.usable


def test_a_lognormal_for_websearch_has_four_times_its_mean() -> None:
    fit = fit_sizes(flow_sizes("websearch", 1000), 0.99)
    assert fit.mean_ratio == pytest.approx(4, rel=0.1)
    assert fit.sizes().mean / flow_sizes("websearch", 1000).mean_packets == pytest.approx(fit.mean_ratio, rel=0.01)


def test_a_lognormal_recovers_itself() -> None:
    fit = fit_sizes(flow_sizes("lognormal:9:1", 1000), 0.99)
    assert fit.family == "lognormal" and fit.usable
    assert fit.parameters["sigma"] == pytest.approx(1, abs=0.01)
    assert fit.parameters["mu"] == pytest.approx(9 - math.log(1000), abs=0.01)
    assert isinstance(fit.sizes(), LognormalSizes)


def test_p_must_be_possible() -> None:
    with pytest.raises(ValueError, match="p must be"):
        fit_sizes(flow_sizes("websearch", 1000), 1.0)


def test_table_sizes_are_whole_packets() -> None:
    sizes = TableSizes(flow_sizes("websearch", 1000))
    drawn = sizes.beyond(1 - np.random.default_rng(1).random(200_000))
    assert (drawn == np.ceil(drawn)).all() and drawn.min() >= 1
    assert drawn.mean() == pytest.approx(sizes.mean, rel=0.02)
    assert sizes.beyond(np.array([0.0, 0.1]))[0] == 30_000 and sizes.beyond(np.array([0.1]))[0] == 5000
