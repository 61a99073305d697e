"""Hard networks have their share of a training, whatever trains, and of nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lcca.evaluation.scenarios.networks import DrawnNetworks, NetworkSpace
from lcca.evaluation.scenarios.spaces import HardNetworks, NetworkSpaces
from lcca.experiments.campaign.config import CampaignConfig, read_campaign
from lcca.experiments.learning.plan import learners
from lcca.inputs.errors import InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.network import Network
from lcca.trainers.registry import trainer_class

from ...trainers.test_conformance import LAW, PPO, RPLUS
from ..runs.run_files import FABRIC, FABRIC_SWEEP, SPACE, SWEEP

RTT = 45
"""Of the hard networks; the space has 20 at most."""

HARD = "".join(
    f"# loses\n- {{link_rate: 1, rtt: {RTT}, senders: {senders}, buffer: 50, mean_on: 900, mean_off: 100}}\n"
    for senders in (3, 4)
)


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    for name, text in {"space.yaml": SPACE, "hard.yaml": HARD, "tiny.yaml": SWEEP}.items():
        (tmp_path / name).write_text(text)
    return tmp_path / "tiny.yaml"


def with_hard(campaign: Path, *more: str) -> CampaignConfig:
    file = campaign.with_name("hard.yaml")
    return read_campaign(campaign, [*more, f"trainer.hard_networks={{networks: '{file}', share: 0.2}}"])


@pytest.mark.parametrize("kind", ["law", "rplus", pytest.param("ppo", marks=pytest.mark.full)])
def test_every_trainer_meets_them(campaign: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kind == "ppo":
        pytest.importorskip("stable_baselines3")
    met: list[Network] = []
    draw = DrawnNetworks.draw

    def noted(space: DrawnNetworks, seed: int, count: int, first_id: int = 0) -> list[Network]:
        drawn = draw(space, seed, count, first_id)
        met.extend(drawn if isinstance(space, NetworkSpaces) else ())
        return drawn

    monkeypatch.setattr(DrawnNetworks, "draw", noted)
    trainer = {"kind": kind, **{"law": LAW | {"networks": 20}, "rplus": RPLUS | {"networks": 40}, "ppo": PPO}[kind]}
    config = with_hard(campaign, f"trainer={trainer}", "signal_sets=[e2e]", "baseline=e2e")
    learner = learners(config, [1])[0]
    how = learner.trained_by(config)
    made = trainer_class(how)(learner.task(config), how, Engine(config.networks.duration), None)
    made.step()
    assert 0.1 <= sum(each.rtt == RTT for each in met) / len(met) <= 0.3
    assert {each.senders for each in met if each.rtt == RTT} == {3, 4}


def test_a_block_has_the_share_and_validation_and_test_have_none(campaign: Path) -> None:
    plain, config = read_campaign(campaign), with_hard(campaign)
    (task, *_), (before, *_) = ([each.task(own) for each in learners(own, [1])] for own in (config, plain))
    assert config.networks == plain.networks == before.space
    assert task.identity != before.identity and config.hash != plain.hash
    assert "hard_networks" not in plain.content["trainer"]
    block = task.space.draw(7, task.space.block)
    rtts = Counter(each.rtt for each in block)
    assert rtts[RTT] * 5 == len(block)
    usual = [each for each in block if each.rtt != RTT]
    alone = {(n.link_rate, n.rtt, n.senders, n.mean_on) for n in plain.network_space.draw(7, len(usual))}
    assert {(n.link_rate, n.rtt, n.senders, n.mean_on) for n in usual} == alone


def test_parts_of_several_spaces_keep_their_proportion() -> None:
    one: dict[str, Any] = {"link_rate": 1, "rtt": 20, "senders": 2, "buffer": 50, "mean_on": 500, "mean_off": 200}
    one |= {"duration": 1500}
    own = NetworkSpaces.model_validate(
        {"spaces": [{"networks": one, "weight": 2, "name": "a"}, {"networks": one | {"rtt": 30}, "name": "b"}]}
    )
    hard = HardNetworks(networks=NetworkSpace.model_validate(one | {"rtt": RTT}), share=0.4)
    found = hard.beside(own)
    rtts = Counter(each.rtt for each in found.draw(1, found.block))
    assert rtts[20] == 2 * rtts[30] and 3 * rtts[RTT] == 2 * (rtts[20] + rtts[30])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HARD.replace("- {", "- {packet_bytes: 900, "), "packets of 900 bytes, not the 1,500"),
        (HARD.replace(f"rtt: {RTT}", "rtt: 800"), "duration must exceed rtt"),
        (HARD.replace("senders: 3", "senders: 0"), "senders"),
        ("[]", "hard_networks"),
    ],
)
def test_what_does_not_go_with_the_space_is_refused(campaign: Path, text: str, words: str) -> None:
    campaign.with_name("hard.yaml").write_text(text)
    with pytest.raises(InputError, match="hard_networks") as refused:
        with_hard(campaign)
    assert words in str(refused.value)


def test_a_fabric_has_none(campaign: Path) -> None:
    for name, text in {**FABRIC, "flows.yaml": FABRIC_SWEEP}.items():
        campaign.with_name(name).write_text(text)
    with pytest.raises(InputError, match=r"trainer.hard_networks: not on a fabric; leave it out"):
        with_hard(campaign.with_name("flows.yaml"))
