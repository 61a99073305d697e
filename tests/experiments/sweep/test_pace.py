"""The tables that the pace of a campaign is measured under."""

from pathlib import Path

import numpy as np
import pytest

from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.sweep.pace import LOOK_UPS, PROBE, probe_table, trial_cpu_s
from lcca.experiments.sweep.training import engine_of
from lcca.trainers.rplus.actions import action_of
from lcca.trainers.rplus.lookups import look_up

from ...conftest import TINY


@pytest.mark.parametrize("rules", [1, 5, 12])
def test_a_table_is_as_large_as_the_trainers_and_its_rules_are_used(tmp_path: Path, rules: int) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY + "headers: [nosignal-8b]\n")
    config = read_campaign(tmp_path / "tiny.yaml")
    engine, networks = engine_of(config, 1), config.networks.draw(1, LOOK_UPS)
    for candidate in config.candidates:
        table = probe_table(candidate, rules, engine, networks)
        assert len(table) == rules and table == probe_table(candidate, rules, engine, networks)
        used = look_up(engine, engine.compile(candidate.equip(table)), table, networks, 1).use
        assert np.count_nonzero(used) > rules / 2
        assert (action_of(table, 0) == PROBE) == (rules == 1)


def test_a_table_that_cannot_be_parted_so_often_is_as_large_as_it_can_be(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(TINY)
    config = read_campaign(tmp_path / "tiny.yaml")
    networks = config.networks.draw(1, 1)
    assert 1 <= len(probe_table(config.candidates[0], 500, engine_of(config, 1), networks)) < 500
    assert trial_cpu_s(config) > 0
