"""Campaigns whose trainer learns by reinforcement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.agents import MlpPolicy

from ...fixtures import TINY, RunCommand

pytest.importorskip("stable_baselines3")

TRAINER = (
    "trainer: {kind: ppo, steps: 2000, rounds: 2, environments: 4, hidden: [8], rollout: 512, batch: 128, scores: 4, "
    "tensorboard: false}"
)


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A tiny campaign with one training seed."""
    lines = [TRAINER if line.startswith("trainer:") else line for line in TINY.splitlines()]
    path = tmp_path / "tiny.yaml"
    path.write_text("\n".join(lines).replace("training_seeds: [1, 2]", "training_seeds: [1]") + "\n")
    return path


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_a_sweep_goes_on_from_its_trainings(campaign: Path, tmp_path: Path, lcca: RunCommand) -> None:
    answer = lcca("sweep", campaign, "--until", "trained", "--out", tmp_path / "once", "--json")
    assert answer.status == 0, answer.err
    rows = answer.json()["rows"]
    assert [len(row["policies"]) for row in rows] == [2, 2]
    kept = policyfile.read(rows[0]["policies"][0])
    assert isinstance(kept.policy, MlpPolicy)
    assert kept.provenance["trainer"] == "ppo"
    assert lcca("sweep", campaign, "--out", tmp_path / "once").status == 0
    assert lcca("sweep", campaign, "--out", tmp_path / "again", "--jobs", "1").status == 0
    one, two = ((tmp_path / name / "summary.json").read_bytes() for name in ("once", "again"))
    assert one == two
    assert {policy["rules"] for policy in json.loads(one)["policies"]} == {0}
    shown = lcca("show", "policy", tmp_path / "once" / "policies" / "loss+rtt.default.s1.json")
    assert "trained network" in shown.out


def test_wrong_keys_are_told_by_line(campaign: Path, lcca: RunCommand) -> None:
    campaign.write_text(campaign.read_text().replace("rollout", "rolout"))
    answer = lcca("sweep", campaign)
    assert answer.status == 2
    assert "rolout" in answer.err and "did you mean 'rollout'" in answer.err
    campaign.write_text(campaign.read_text().replace("kind: ppo", "kind: pppo"))
    assert "trainer.kind" in lcca("sweep", campaign).err


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("headers=[ecn]", "headers: trainer.kind ppo cannot learn with them; use signal_sets"),
        ("start=baseline", "start: trainer.kind ppo has no warm start; use scratch"),
    ],
)
def test_what_a_trainer_cannot_do_is_told_before_it_begins(
    campaign: Path, lcca: RunCommand, asked: str, told: str
) -> None:
    answer = lcca("sweep", campaign, "--set", asked)
    assert answer.status == 2 and told in answer.err


def test_a_missing_extra_leaves_no_folder(lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcca.inputs.extras.find_spec", lambda name: None if name == "torch" else name)
    answer = lcca("sweep", Path(__file__).parents[3] / "configs" / "drl" / "quickstart.yaml", "--out", tmp_path / "run")
    assert answer.status == 2 and "pip install 'lcca[drl]'" in answer.err and not (tmp_path / "run").exists()
