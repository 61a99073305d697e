"""Search spaces of tuning: the paper's ranges, levels, neighbours, and what is refused."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from lcca.gym_envs.ns3.baselines import with_hand_designed
from lcca.inputs.errors import InputError
from lcca.remy_plus.network import Network
from lcca.remy_plus.policies.hand_designed import HandDesigned, hand_designed
from lcca.remy_plus.policies.policy import Aimd, FixedWindow
from lcca.trainers.tune.config import TABLE_5, TuneConfig, table_5
from lcca.trainers.tune.space import Range, Space

NETWORK = Network(0, 1.0, 20.0, 1, 100, 1000.0, 100.0, 0.0)


def config(**given: Any) -> TuneConfig:
    return TuneConfig.model_validate({"policy": "fixed-window:8", "space": {"window": {"min": 1, "max": 20}}} | given)


@pytest.mark.parametrize(("name", "points"), [("vegas", 16 * 15 * 20), ("cubic", 2025), ("bbr", 42_336)])
def test_papers_ranges_are_parameters_of_ours(name: str, points: int) -> None:
    space = Space(hand_designed(name), TABLE_5[name])
    assert math.prod(len(space.levels(axis) or ()) for axis in space.axes) == points
    for axis, start in space.start.items():
        levels = space.levels(axis)
        assert levels is not None and levels[0] <= start <= levels[-1], f"{axis}: the default is outside"  # type: ignore[operator]


def test_papers_milliseconds_reach_ns3_as_milliseconds() -> None:
    """A.3: the unit of time is the millisecond; Table 5 has a PROBE_RTT of 100 to 350 ms and a window of 4 to 14 s."""
    axes = TABLE_5["bbr"]
    for end, probe, window in (("min", "100000000ns", "4000000000ns"), ("max", "350000000ns", "14000000000ns")):
        policy = HandDesigned("bbr", {n: getattr(axes[n], end) for n in ("probe_rtt_duration", "rtt_window_length")})
        plan = with_hand_designed({"options": {}}, policy, NETWORK)
        assert plan["options"]["time_scale"] == 1000
        attributes = plan["policy"][1]["attributes"]
        assert (attributes["ProbeRttDuration"], attributes["RttWindowLength"]) == (probe, window)
    plan = with_hand_designed({"options": {}}, HandDesigned("cubic", {"delta": 14}), NETWORK)
    assert plan["policy"][1]["attributes"]["CubicDelta"] == "14000000ns"


def test_levels_have_no_noise_of_sums() -> None:
    space = Space(hand_designed("bbr"), TABLE_5["bbr"])
    assert space.levels("high_gain") == [2.75, 2.8, 2.85, 2.9, 2.95, 3.0, 3.05]
    assert space.levels("bw_window_length") == [4, 6, 8, 10, 12, 14]
    assert all(type(level) is int for level in space.levels("bw_window_length") or [])


def test_grid_leaves_out_what_does_not_go_together() -> None:
    space = Space(hand_designed("vegas"), {"alpha": Range(min=0, max=3, step=1), "beta": Range(min=1, max=3, step=1)})
    points = list(space.grid())
    assert len(points) == 9 and {"alpha": 3, "beta": 1} not in points and {"alpha": 3, "beta": 3} in points
    assert not space.fits({"alpha": 3, "beta": 2})


def test_neighbours_of_a_point_between_levels() -> None:
    space = Space(hand_designed("bbr"), {"high_gain": TABLE_5["bbr"]["high_gain"]})
    assert space.start == {"high_gain": 2.89}
    assert [p["high_gain"] for p in space.neighbours(space.start, 1)] == [2.85, 2.9]
    assert [p["high_gain"] for p in space.neighbours({"high_gain": 2.75}, 2)] == [2.8, 2.85]
    words = Space(hand_designed("cubic"), {"hystart": (True, False), "hystart_detect": ("delay", "both")})
    assert words.neighbours(words.start, 1) == [
        {"hystart": False, "hystart_detect": "both"},
        {"hystart": True, "hystart_detect": "delay"},
    ]


def test_kinds_of_numbers_are_those_of_the_policy() -> None:
    assert Space(FixedWindow(8), {"window": Range(min=1, max=3)}).levels("window") == [1, 2, 3]
    aimd = Space(Aimd(), {"increase": Range(min=0.1, max=10, log=True), "decrease": Range(min=0.5, max=0.5)})
    assert aimd.levels("increase") is None and aimd.levels("decrease") == [0.5]
    assert aimd.build({"increase": 2, "decrease": 0.5}) == Aimd(2.0, 0.5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"space": {"widow": {"min": 1, "max": 2}}}, "did you mean 'window'"),
        ({"space": {"window": {"min": 0, "max": 2}}}, "between 1 and"),
        ({"space": {"window": {"min": 3, "max": 2}}}, "must not be above max"),
        ({"space": {}}, "at least one parameter"),
        ({"space": "table-5"}, "table-5 has no ranges"),
        ({"policy": "vegas", "space": {"alpha": {"min": 0, "max": 2000}}}, "from 0 to 1000"),
        ({"policy": "vega"}, "did you mean 'vegas'"),
        ({"trials": None}, "never runs out"),
        ({"policy": "aimd", "space": {"increase": {"min": 1, "max": 2}}, "sampler": {"kind": "greedy"}}, "a step"),
        ({"networks": 8}, "below networks"),
    ],
)
def test_what_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises((ValidationError, InputError), match=words):
        config(**given)


def test_table_5_by_name() -> None:
    assert table_5("bbr-prime") is TABLE_5["bbr"]
    assert config(policy="vegas:gamma=3", space="table-5").build_space().start == {"alpha": 2, "beta": 4, "gamma": 3}


def test_markers_parameters_are_searched_with_the_controls():
    axes = {"red.kmin_bytes": Range(min=1e4, max=1e6, log=True), "red.kmax_bytes": Range(min=5e4, max=2e6), "g": (0.1,)}
    space = Space(hand_designed("dctcp@red"), axes)
    assert space.start == {"red.kmin_bytes": 400e3, "red.kmax_bytes": 1600e3, "g": 0.0625}
    made = space.build({"red.kmin_bytes": 2e4, "red.kmax_bytes": 3e5, "g": 0.1})
    assert made == hand_designed("dctcp:g=0.1@red:kmin_bytes=20000,kmax_bytes=300000")
    assert not space.fits({"red.kmin_bytes": 1e6, "red.kmax_bytes": 1e5, "g": 0.1})
    with pytest.raises(InputError, match=r"no parameter 'pie\.target_us'"):
        Space(hand_designed("dctcp@red"), {"pie.target_us": Range(min=1, max=2)})


def test_the_usual_ranges_are_those_of_the_marker():
    axes = TuneConfig(policy="dctcp@codel", space="usual").build_space().axes
    assert set(axes) == {"codel.target_us", "codel.interval_us"}
    with pytest.raises(ValidationError, match="usual: only transports of a fabric and markers"):
        TuneConfig(policy="dctcp", space="usual")
