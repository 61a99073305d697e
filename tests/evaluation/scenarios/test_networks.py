"""Network spaces: levels, draws, list files, and what is refused."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from lcca.evaluation.scenarios.networks import ListedNetworks, NetworkSpace, Range
from lcca.experiments.places import space_of
from lcca.inputs.errors import InputError
from lcca.inputs.validation import read_config
from lcca.remy_plus.network import Network

CONFIGS = Path(__file__).resolve().parents[3] / "configs" / "networks"
PLAIN: dict[str, Any] = {
    "link_rate": 3, "rtt": 20, "senders": 2, "buffer": 100, "mean_on": 1000, "mean_off": 500,
    "loss": 0, "duration": 1000,
}  # fmt: skip
NETWORK: dict[str, Any] = {
    "id": 1, "link_rate": 3.0, "rtt": 27.0, "senders": 6, "buffer": 225.0, "mean_on": 4500.0,
    "mean_off": 900.0, "loss": 0.001,
}  # fmt: skip


def networks_of(path: Path) -> list[Network]:
    """Return the networks of a list in a file."""
    listed = space_of(path)
    assert isinstance(listed, ListedNetworks)
    return listed.draw(0, listed.length)


def space(**changes: Any) -> NetworkSpace:
    return NetworkSpace.model_validate(PLAIN | changes)


def shipped(name: str) -> NetworkSpace:
    return read_config(CONFIGS / f"{name}.yaml", NetworkSpace)


@pytest.mark.parametrize(
    ("low", "high", "step", "levels"),
    [
        (2, 4, 0.5, [2, 2.5, 3, 3.5, 4]),
        (0, 0.3, 0.1, [0, 0.1, 0.2, 0.3]),
        (20, 10000, 100, [20 + 100 * i for i in range(100)]),  # the maximum is not a level
        (1, 1, 0, [1]),
        (1, 2, 5, [1]),
    ],
)
def test_levels(low: float, high: float, step: float, levels: list[float]) -> None:
    assert Range(min=low, max=high, step=step).values() == pytest.approx(levels)


def test_levels_by_factors() -> None:
    """A log-uniform range: equal factors (to the six digits that levels keep), the ends exact, as many as asked for."""
    found = Range(min=0.03, max=30, levels=31).values()
    assert (len(found), found[0], found[10], found[-1]) == (31, 0.03, 0.3, 30)
    assert np.diff(np.log(found)) == pytest.approx(np.log(10) / 10, rel=1e-4)
    assert space(link_rate={"min": 1, "max": 64, "levels": 7}).levels_of("link_rate") == [1, 2, 4, 8, 16, 32, 64]
    assert space(senders={"min": 1, "max": 8, "levels": 5}).levels_of("senders") == [1, 2, 3, 5, 8]  # 8^(i/4), whole


@pytest.mark.slow
def test_a_parameter_by_factors_is_log_uniform() -> None:
    drawn = space(link_rate={"min": 0.1, "max": 100, "levels": 1001}, duration=10_000).draw(1, 1600)
    logs = [math.log(network.link_rate / 0.1) / math.log(1000) for network in drawn]
    assert stats.kstest(logs, "uniform").statistic < 0.015  # of independent draws 0.022 in the mean


def test_shipped_spaces_are_table_1() -> None:
    default, high = shipped("default"), shipped("high-senders")
    assert default.size == 1_755_600  # the paper: about 1.75 million
    assert (default.switched, default.duration, default.loss.values()) == ("time", 10_000, [0.001])
    assert default.varying() == ("link_rate", "rtt", "senders", "buffer", "mean_on", "mean_off")
    assert high.switched == "bytes" and high.senders.values()[-1] == 64 and high.loss.values() == [1e-6]
    assert high.size == 5 * 11 * 25 * 100


def test_draws_are_uniform_over_levels() -> None:
    drawn = shipped("default").draw(seed=5, count=4000)
    for name, levels in (("link_rate", 5), ("senders", 16), ("mean_on", 19), ("rtt", 11)):
        counts = list(Counter(getattr(network, name) for network in drawn).values())
        assert len(counts) == levels
        assert stats.chisquare(counts).pvalue > 1e-4


def test_parameters_ids_and_seeds_are_independent() -> None:
    every = shipped("default")
    drawn, other = every.draw(seed=1, count=4000), every.draw(seed=2, count=4000)

    def column(networks: list[Network], name: str) -> np.ndarray:
        return np.array([getattr(network, name) for network in networks], dtype=float)

    pairs = [
        (column(drawn, "rtt"), column(drawn, "senders")),
        (column(drawn, "mean_on"), column(drawn, "mean_off")),
        (column(drawn, "senders"), column(other, "senders")),
        (column(drawn, "senders")[16:], column(drawn, "senders")[:-16]),  # the same place of the next block
    ]
    for x, y in pairs:
        assert stats.pearsonr(x, y).pvalue > 1e-4


def test_a_network_depends_on_seed_and_id_alone() -> None:
    every = shipped("default")
    assert every.draw(3, 50)[20:30] == every.draw(3, 10, first_id=20)
    assert every.draw(3, 50) != every.draw(4, 50)
    assert [network.id for network in every.draw(3, 3, first_id=7)] == [7, 8, 9]


def test_draws_stay_as_they_are() -> None:
    """Published results name a seed: these values must never change."""
    first = shipped("default").draw(seed=1, count=1)[0]
    assert first == Network(id=0, link_rate=2.5, rtt=29, senders=5, buffer=100, mean_on=5000, mean_off=1100, loss=0.001)


def test_links_lose_nothing_where_nothing_is_said() -> None:
    said = {key: value for key, value in space(loss=0).model_dump(mode="json").items() if key != "loss"}
    assert NetworkSpace.model_validate(said) == space(loss=0)


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"rtt": {"min": 3, "max": 2, "step": 1}}, "rtt", "min must not exceed max, got 3 > 2"),
        ({"rtt": {"min": 1, "max": 2}}, "rtt", "step must be > 0 where min < max"),
        ({"rtt": {"min": 1, "max": 2, "step": -1}}, "rtt", "step must be > 0"),
        ({"link_rate": 0}, "link_rate", "every level must be > 0"),
        ({"link_rate": {"min": -1, "max": 2, "step": 1}}, "link_rate", "got -1"),
        ({"senders": 0}, "senders", "whole number from 1"),
        ({"senders": {"min": 1, "max": 3, "step": 0.5}}, "senders", "got 1.5"),
        ({"loss": 1}, "loss", "less than 1"),
        ({"loss": -0.1}, "loss", "got -0.1"),
        ({"buffer": -1}, "buffer", ">= 0"),
        ({"buffer": math.nan}, "buffer", "got NaN"),
        ({"mean_on": math.inf}, "mean_on", "finite"),
        ({"rtt": "x"}, "rtt", "must be a number, found 'x'"),
        ({"rtt": True}, "rtt", "must be a number or a range"),
        ({"rtt": {"min": 0, "max": 1, "step": 1e-12}}, "rtt", "at most 1000000 levels"),
        ({"rtt": {"min": 0, "max": 9, "levels": 3}}, "rtt", "levels need 0 < min < max"),
        ({"rtt": {"min": 1, "max": 9, "levels": 3, "step": 1}}, "rtt", "no step beside them"),
        ({"switched": "byte"}, "switched", "'time' or 'bytes'"),
        ({"rttt": 1}, "rttt", "not permitted"),
        ({"duration": 20}, "", "nothing would arrive"),
    ],
)
def test_impossible_spaces(changes: dict[str, Any], key: str, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        space(**changes)
    found = caught.value.errors()
    assert len(found) == 1 and message in found[0]["msg"]
    assert found[0]["loc"] == ((key,) if key else ())


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(ValidationError) as caught:
        space(rtt={"min": 3, "max": 2}, senders=0, loss=2)
    assert {error["loc"][0] for error in caught.value.errors()} == {"rtt", "senders", "loss"}


def test_space_survives_json() -> None:
    for each in (shipped("default"), shipped("high-senders"), space(buffer="inf"), space(buffer=math.inf),
                 space(rtt={"min": 2, "max": 20, "levels": 3})):  # fmt: skip
        assert NetworkSpace.model_validate_json(each.model_dump_json()) == each
    assert space(buffer="inf").model_dump()["buffer"] == "inf"
    assert space(buffer="inf").draw(1, 1)[0].buffer == math.inf


def write(folder: Path, text: str) -> Path:
    path = folder / "networks.yaml"
    path.write_text(text)
    return path


def test_list_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "- {link_rate: 3.0, rtt: 27, senders: 6, buffer: 225, mean_on: 4500, mean_off: 900, loss: 1e-3}\n"
        "- {link_rate: 2, rtt: 20, senders: 1, buffer: inf, mean_on: 100, mean_off: 10, loss: 0, "
        "switched: bytes}\n",
    )
    first, second = networks_of(path)
    assert first == Network(**NETWORK | {"id": 0})
    assert (second.id, second.buffer, second.switched) == (1, math.inf, "bytes")
    assert isinstance(second.senders, int) and type(second.link_rate) is float


def test_list_file_names_every_problem_with_its_line(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "- {link_rate: 3, rtt: 27, senders: 6, buffer: 225, mean_on: 4500, mean_off: 900, loss: 0.001}\n"
        "- link_rate: -3\n"
        "  rtt: fast\n"
        "  senders: 6.5\n"
        "  bufer: 10\n"
        "  mean_on: .nan\n"
        "  mean_off: 900\n"
        "  loss: true\n"
        "- 3\n",
    )
    with pytest.raises(InputError) as caught:
        networks_of(path)
    lines = [line.removeprefix(f"{path}:") for line in str(caught.value).splitlines()]
    assert lines == [
        "2: 1.link_rate: must be > 0 packets/µs and finite, got -3",
        "2: 1.buffer: required key is missing",
        "3: 1.rtt: must be a number, found 'fast'; give a plain number of us, or a unit as in 12 us, 2.5 ms or 1 s",
        "4: 1.senders: must be a whole number, found 6.5",
        "5: 1.bufer: unknown key (did you mean 'buffer'?)",
        "6: 1.mean_on: must be a finite number, found nan",
        "8: 1.loss: must be a number, found true",
        "9: 2: must be keys with values, found 3",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "must be a list with at least one network"),
        ("link_rate: 3", "rtt: required key is missing"),
        (str([NETWORK | {"mean_off": 0, "switched": "bytes"}]).replace("'id': 1, ", ""), "1: 0: mean_off must be > 0"),
    ],
)
def test_bad_list_files(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        networks_of(write(tmp_path, text))


def test_network_names_every_bad_field() -> None:
    with pytest.raises(InputError) as caught:
        Network(**NETWORK | {"link_rate": -1, "senders": 0, "switched": "maybe"})
    assert str(caught.value) == (
        "network 1: link_rate must be > 0 packets/µs and finite, got -1; "
        "senders must be a whole number from 1 to 65535, got 0; "
        "switched must be time or bytes, got 'maybe'"
    )


def test_networks_with_units_are_those_with_plain_numbers(tmp_path: Path) -> None:
    """At 1500 bytes a packet/µs is 12 Gb/s; what a byte-switched flow sends is a size, not a time."""
    told = write(
        tmp_path,
        "- {packet_bytes: 1500 B, link_rate: 36 Gbps, rtt: 0.027 ms, senders: 6, buffer: 337.5 kB, mean_on: 4500 us,"
        " mean_off: 900 us, loss: 0.001}\n"
        "- {packet_bytes: 1500, link_rate: 12 Gb/s, rtt: 15 us, senders: 2, buffer: inf, mean_on: 3 MB,"
        " mean_off: 1 ms, loss: 0, switched: bytes}\n",
    )
    assert networks_of(told) == [
        Network(0, 3.0, 27.0, 6, 225.0, 4500.0, 900.0, 0.001),
        Network(1, 1.0, 15.0, 2, math.inf, 2000.0, 1000.0, 0.0, switched="bytes"),
    ]
    ranges = {"packet_bytes": 1500, "link_rate": {"min": "24 Gbps", "max": "48 Gbps", "step": "6 Gbps"}}
    found, plain = space(**ranges), space(link_rate={"min": 2, "max": 4, "step": 0.5})
    assert found.model_dump_json() == plain.model_dump_json()
    with pytest.raises(ValidationError, match="is a size"):
        space(mean_on="3 MB", packet_bytes=1500)
