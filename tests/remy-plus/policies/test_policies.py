"""The simple policies and their names."""

import math

import pytest

from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.hand_designed import baseline, is_baseline
from lcca.remy_plus.policies.policy import Aimd, FixedRate, FixedWindow


def test_baselines_have_names():
    assert baseline("aimd") == Aimd(increase=1, decrease=0.5, initial_window=2)
    assert baseline("fixed-window:20") == FixedWindow(20)
    assert baseline("fixed-rate:0.5") == FixedRate(0.5)
    assert all(is_baseline(name) for name in ("aimd", "fixed-window", "fixed-rate:x"))
    assert not is_baseline("policy.json")


def test_equal_policies_are_equal():
    assert FixedRate(1) == FixedRate(1.0)
    assert repr(FixedRate(1)) == repr(FixedRate(1.0))
    assert hash(Aimd(2)) == hash(Aimd(2.0))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("aimdd", r"unknown baseline 'aimdd' \(did you mean 'aimd'\?\)"),
        ("Fixed_window:3", r"unknown baseline 'Fixed_window:3' \(did you mean 'fixed-window'\?\)"),
        ("xyz", r"unknown baseline 'xyz' \(known: aimd, fixed-window, fixed-rate, fair-rate, rcp, xcp, newreno, .*\)"),
        ("aimd:3", "takes no number; write 'aimd'"),
        ("fixed-window", "a number of packets is needed after the colon, as in 'fixed-window:20'"),
        ("fixed-window:1.5", "a number of packets is needed"),
        ("fixed-window:" + "9" * 10_000, "window: must be between 1 and"),
        ("fixed-window:0", "window: must be between 1 and 1e"),
        ("fixed-rate:", "a number of packets/µs is needed"),
        ("fixed-rate:nan", "rate: must be between"),
        ("fixed-rate:inf", "rate: must be between"),
        ("fixed-rate:-1", "rate: must be between"),
    ],
)
def test_bad_names_are_told(name, message):
    with pytest.raises(InputError, match=message):
        baseline(name)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FixedWindow(True), "window: must be a whole number of packets, got True"),
        (lambda: FixedWindow(2.0), "window: must be a whole number"),
        (lambda: FixedWindow(1_000_001), "window: must be between"),
        (lambda: FixedRate("1"), "rate: must be a number, got '1'"),
        (lambda: FixedRate(0), "rate: must be between"),
        (lambda: Aimd(increase=math.nan), "increase: must be between"),
        (lambda: Aimd(decrease=1), "decrease: must be between 0.001 and 0.999, got 1"),
        (lambda: Aimd(initial_window=0.5), "initial_window: must be between 1"),
        (lambda: Aimd(increase=True), "increase: must be a number"),
    ],
)
def test_bad_parameters_are_told(make, message):
    with pytest.raises(InputError, match=message):
        make()
