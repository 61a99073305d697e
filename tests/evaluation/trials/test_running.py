"""Policies that run together meet the same traffic: common random numbers."""

import numpy as np

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.policy import FixedWindow

SPACE = {
    "link_rate": {"min": 1, "max": 2, "step": 0.5},
    "rtt": {"min": 10, "max": 20, "step": 5},
    "senders": {"min": 1, "max": 3, "step": 1},
    "buffer": 50,
    "mean_on": 300,
    "mean_off": 100,
    "loss": 0.01,
    "duration": 1000,
}


def test_a_policy_has_the_same_records_under_every_name_and_beside_every_other() -> None:
    networks = NetworkSpace.model_validate(SPACE).draw(3, 4)
    window = FixedWindow(6)
    rows = run_trials(
        Engine(1000.0, jobs=1), {"a": window, "b": FixedWindow(2), "c": window}, networks, [1, 2], DEFAULT
    )
    first, _, last = (rows[rows["policy"] == name].drop(columns="policy").reset_index(drop=True) for name in "abc")
    assert first.equals(last)
    assert len(np.unique(first["score_bits"].dropna())) > 4  # networks and seeds do differ
