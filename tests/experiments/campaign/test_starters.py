"""What `lcca init` writes is a campaign that is complete in itself."""

from pathlib import Path

import pytest

from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.starters import OF_STUDIES, STARTERS

from ...fixtures import RunCommand


@pytest.mark.parametrize("name", sorted(STARTERS.keys() - OF_STUDIES))  # studies have tests of theirs
def test_starter_is_a_campaign(name: str, lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert lcca("init", name).status == 0
    config = read_campaign(f"{name}.yaml")
    assert config.name == name and [file.name for file in tmp_path.iterdir()] == [f"{name}.yaml"]


def test_what_is_there_is_never_overwritten(lcca: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("mine")
    answer = lcca("init", "signals", file)
    assert answer.status == 2 and "there already" in answer.err and file.read_text() == "mine"
