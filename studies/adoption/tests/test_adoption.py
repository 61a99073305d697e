"""Adoption: what adopters gain and others pay, against what follows from windows and from nobody changing anything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lcca.api import compare
from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.scenarios.spaces import NetworkSpaces
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.source import NetworkTrials
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.experiments.recipes.prepared import Result
from lcca.inputs.errors import InputError
from lcca.remy_plus.core.shares import chosen
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network, NetworkList
from lcca.remy_plus.policies.policy import Aimd, FixedWindow, Mixture, compile_policy
from lcca.remy_plus.topology import Topology
from lcca.studies.adoption.populations import ADOPTERS, ALL, OTHERS, jain, of_senders, rows_by_population

SPACE = NetworkSpace.model_validate(
    {
        "link_rate": {"min": 1, "max": 2, "step": 0.5},
        "rtt": 20,
        "senders": {"min": 1, "max": 5, "step": 1},
        "buffer": 50,
        "mean_on": 500,
        "mean_off": 100,
        "loss": 0.01,
        "duration": 800,
    }
)
ALWAYS = NetworkSpace.model_validate(
    {
        "link_rate": 2,
        "rtt": 20,
        "senders": 4,
        "buffer": float("inf"),
        "mean_on": 1e12,
        "mean_off": 0,
        "loss": 0,
        "duration": 20_000,
    }
)
STAR = """\
name: star
topology: {kind: star, hosts: 6}
workload: {kind: poisson, sizes: fb-hadoop, load: 0.5, load_of: host-links}
duration_us: 30
"""


def windows(folder: Path, name: str, sizes: list[int]) -> str:
    """Trainings, as the command names them."""
    for seed, size in enumerate(sizes, 1):
        text = f'{{"format": 1, "kind": "fixed-window", "parameters": {{"window": {size}}}}}'
        (folder / f"{name}.s{seed}.json").write_text(text)
    return f"{folder}/{name}.s{{{','.join(str(each) for each in range(1, len(sizes) + 1))}}}.json"


def test_populations_are_parts_of_the_whole() -> None:
    shape = (2.0, 60.0, 4, 40.0, 700.0, 300.0, 0.001)
    networks = NetworkList(
        [Network(3, *shape), Network(4, *shape[:2], 3, *shape[3:], topology=Topology("multi-bottleneck"))]
    )
    index = np.repeat([0, 1], 2)
    policy = compile_policy(Mixture(Aimd(), FixedWindow(5), 0.5))
    record = Engine(2500.0, jobs=1).run([policy], networks, 0 * index, index, np.arange(4), keep_flows=True)
    adopts = np.arange(record.sender_trial.size) % 3 != 1
    parts = [of_senders(record, each) for each in (adopts, ~adopts)]
    for name in ("sender_sent", "sender_delivered", "sender_delay_sum_us", "flow_delivered", "flow_length"):
        assert sum(each.floats(name).sum() for each in parts) == pytest.approx(record.floats(name).sum(), rel=1e-12)
    for each in (*parts, record):
        of_flows = np.bincount(np.repeat(np.arange(4), np.diff(each["flow_begin"])), each["flow_sent"], 4)
        assert (of_flows == np.bincount(each.sender_trial, each["sender_sent"], 4)).all()
    whole = of_senders(record, np.ones(adopts.size, dtype=bool))
    assert all(whole[name].tobytes() == record[name].tobytes() for name in record.columns if name != "rule_hits")


def test_rows_are_of_the_same_senders_and_add_up() -> None:
    place = NetworkTrials(Engine(800.0, jobs=1), SPACE, 1, [7], DEFAULT)
    mixtures = {str(share): Mixture(Aimd(), FixedWindow(9), share) for share in (0.0, 0.4, 1.0)}
    rows = rows_by_population(place, mixtures, Block(0, 0, 24))
    by = rows.set_index(["mix", "share", "population", "network"])
    assert set(rows.groupby(["mix", "share", "population"]).groups) == {
        (0.0, 0.0, ALL), (1.0, 1.0, ALL), (0.4, 0.4, ALL),
        *((mix, 0.4, population) for mix in (0.0, 0.4) for population in (ADOPTERS, OTHERS)),
    }  # fmt: skip
    for network in place.space.draw(1, 24):
        count = chosen(7, network.id, "adoption", 0, network.senders, 0.4).sum()
        assert np.isnan(by.loc[(0.4, 0.4, ADOPTERS, network.id), "score_bits"]) == (count in (0, network.senders))
    counted = by["senders_counted"].unstack("population").xs(0.4, level="mix")
    assert (counted[ADOPTERS] + counted[OTHERS] == counted[ALL]).all()


def test_adopters_of_several_spaces_are_the_senders_that_have_the_policy() -> None:
    content = SPACE.model_dump(mode="json") | {"senders": 4, "loss": 0}
    both = NetworkSpaces.model_validate({"spaces": [content, {"networks": content, "topology": "line"}]})
    place = NetworkTrials(Engine(800.0, jobs=1), both, 1, [7], DEFAULT)
    rows = rows_by_population(place, {"mix": Mixture(FixedWindow(40), FixedWindow(1), 0.5)}, Block(0, 0, 32))
    taken = rows[rows["population"] == ADOPTERS].dropna(subset="score_bits")["taken"]
    assert len(taken) > 10 and taken.min() > 1


@pytest.mark.slow
def test_adopters_of_a_fabric_are_the_hosts_that_have_the_transport(tmp_path: Path) -> None:
    """The second training meets traffic of its own, whose seeds are larger than the engine's."""
    (tmp_path / "star.yaml").write_text(STAR)
    names = (windows(tmp_path, name, [size] * 2) for name, size in (("small", 1), ("large", 60)))
    rows = compare(*names, tmp_path / "star.yaml", shares=(0.5,), trials=12).rows
    mixed = rows[(rows["mix"] == 0.5) & rows["score_bits"].notna()].set_index(["pair", "network", "population"])
    gap = mixed["score_bits"].unstack("population")
    assert ((gap[ADOPTERS] - gap[OTHERS]).groupby("pair").mean() > 0.3).all()


def test_jains_index_is_that_of_the_book() -> None:
    found = jain(np.array([1.0, 1.0, 1.0, 0.0, 5.0, 1.0, 3.0]), np.array([0, 0, 0, 1, 1, 3, 3]), 4)
    np.testing.assert_allclose(found, [1, 0.5, np.nan, 16 / 20])


def test_a_policy_beside_itself_gains_nothing_at_all() -> None:
    found = compare("aimd", "aimd", SPACE, shares=(0.3, 0.6), trials=120)
    for each in found.content["adoption"]:
        assert each["adopters"]["difference"] == each["others"]["difference"] == 0
        assert each["fairness"]["taken_adopters"]["mean"] == pytest.approx(1, abs=0.15)
    assert found.content["everyone"]["difference"] == 0


@pytest.mark.slow
def test_windows_take_what_they_take_and_verdicts_say_so(tmp_path: Path) -> None:
    """Of a queue that never drops, w of Σ w: with half of the senders at 3 w, theirs is 1.5 times their part."""
    large, small = windows(tmp_path, "large", [300] * 10), windows(tmp_path, "small", [100] * 10)
    found: Result = compare(small, large, ALWAYS, shares=(0.5,), trials=4, utility="100t")
    (at_half,) = found.content["adoption"]
    assert found.content["adopted"] == "large" and found.content["trainings"] == 10
    assert at_half["adopters"]["level"] == "set" and at_half["adopters"]["n"] == 10
    fair = at_half["fairness"]
    assert fair["taken_adopters"]["mean"] == pytest.approx(1.5, rel=0.02)
    assert fair["taken_others"]["mean"] == pytest.approx(0.5, rel=0.02)
    assert fair["jain_all"]["mean"] == pytest.approx(8**2 / (4 * (9 + 9 + 1 + 1)), rel=0.02)
    assert fair["jain_adopters"]["mean"] == pytest.approx(1, rel=1e-3)
    per_bit = 100  # of utility 100t, a doubling of the throughput
    assert at_half["adopters"]["difference"] / per_bit == pytest.approx(np.log2(1.5), abs=0.05)
    assert at_half["others"]["difference"] / per_bit == pytest.approx(-1, abs=0.05)
    assert (at_half["adopters"]["verdict"], at_half["others"]["verdict"]) == ("better", "worse")
    assert at_half["says"] == "adopting pays, and costs the others"
    assert abs(found.content["everyone"]["difference"]) / per_bit < 0.05  # a tragedy: nobody has gained in the end


def test_trainings_are_met_by_traffic_of_their_own_and_a_run_goes_on(tmp_path: Path) -> None:
    names = "aimd", windows(tmp_path, "a", [4, 4, 9])
    found = compare(*names, SPACE, shares=(0.5,), trials=8, out=tmp_path / "run")
    rows = found.rows[found.rows["population"] == ALL]
    assert rows["pair"].nunique() == 3
    first, second = (rows[(rows["pair"] == at) & (rows["mix"] == 1)]["score_bits"].to_numpy() for at in (0, 1))
    assert not np.array_equal(first, second)  # the same window, other networks
    again = compare(*names, SPACE, shares=(0.5,), trials=8, out=tmp_path / "run", resume=True)
    assert again.content == found.content


@pytest.mark.slow
def test_hosts_of_a_fabric_adopt(tmp_path: Path) -> None:
    (tmp_path / "star.yaml").write_text(STAR)
    found = compare("dcqcn", "hpcc", tmp_path / "star.yaml", shares=(0.5,), trials=24)
    assert found.content["utility"] == "slowdown" and found.content["simulator"] == "fabric"
    (at_half,) = found.content["adoption"]
    assert np.isfinite(at_half["adopters"]["difference"]) and 0 < at_half["fairness"]["jain_all"]["mean"] <= 1


@pytest.mark.parametrize(
    ("a", "shares", "how", "said"),
    [
        ("aimd", (0.0,), {}, "--share: must be between 0 and 1"),
        ("aimd", (0.1, float("nan"), 0.5), {}, "--share: must be between 0 and 1"),
        ("aimd", (0.5, 0.1, 0.5), {}, "--share: one is given twice; give each once"),
        ("fixed-window:{1,2}", (0.5,), {}, "2 trainings meet 3"),
        ("aimd", (0.5,), {"utility": "queue"}, "queue"),
    ],
)
def test_what_cannot_be_asked_is_refused(a: str, shares: tuple[float, ...], how: dict[str, str], said: str) -> None:
    other = "fixed-window:{3,4,5}" if "{" in a else "fixed-window:3"
    with pytest.raises(InputError, match=said):
        compare(other, a, SPACE, shares=shares, trials=120, **how)  # type: ignore[arg-type]
