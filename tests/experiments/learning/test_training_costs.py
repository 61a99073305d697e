"""What trainings cost: as many trials, wherever the run was killed, and only those that the run ran itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lcca.api import sweep
from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.runs import costs
from lcca.inputs.errors import InputError

QUICK = ["trainer.networks=4", "trainer.optimise=[pacing]"]
PLANS = {1: ["training_seeds=[1]"], 2: ["training_seeds=[1, 2]", "signal_sets=[loss+rtt]"]}
"""By trainings in parallel: two that share a beginning would both run it, or one of them, whichever begins when."""


def trials_of(run: Path) -> tuple[int, int]:
    file = run / "costs.json"  # is not there where nothing was run
    phases = json.loads(file.read_text())["phases"] if file.exists() else []
    own = [(each["trials"], each["packets"]) for each in phases if each["name"] == "training"]
    return own[0] if own else (0, 0)


@pytest.mark.parametrize("trainings", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_step_that_was_not_noted_is_counted(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trainings: int
) -> None:
    config, cache = read_campaign(tiny, QUICK + PLANS[trainings]), tmp_path / "cache"
    how: dict[str, Any] = {"until": "trained", "trainings": trainings}
    sweep(config, out=tmp_path / "whole", training_cache=cache, **how)
    expected = trials_of(tmp_path / "whole")
    assert min(expected) > 0

    def killed(path: Path, content: Any) -> None:
        raise InputError("killed")

    with monkeypatch.context() as patch, pytest.raises(InputError, match="killed"):
        patch.setattr(costs, "write_state", killed)
        sweep(config, out=tmp_path / "run", **how)
    assert list((tmp_path / "run" / "training").glob("*.json"))
    sweep(config, out=tmp_path / "run", resume=True, **how)
    assert trials_of(tmp_path / "run") == expected
    sweep(config, out=tmp_path / "taken", training_cache=cache, **how)
    assert trials_of(tmp_path / "taken") == (0, 0)
