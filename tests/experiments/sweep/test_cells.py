"""Trainings that were done before are not done again."""

import json
from pathlib import Path

from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.campaign.plan import learners
from lcca.experiments.sweep.cache import CellStore, cell_key

from ...conftest import RunCommand, results


def log(run: Path) -> str:
    return (run / "log.txt").read_text()


def test_one_more_signal_set_trains_only_that(
    tiny: Path, tmp_path: Path, lcca: RunCommand, no_report: None, finished: Path
) -> None:
    cells = tmp_path / "cells"
    assert lcca("sweep", tiny, "--out", tmp_path / "first", "--cells", cells).status == 0
    assert len(list(cells.glob("*/"))) == 4
    assert results(tmp_path / "first") == results(finished)  # keeping trainings changes nothing
    more = ("--set", "signal_sets=[loss+rtt, loss+queue, e2e]")
    assert lcca("sweep", tiny, *more, "--out", tmp_path / "more", "--cells", cells).status == 0
    assert log(tmp_path / "more").count("done before") == 4
    assert len(list(cells.glob("*/"))) == 6
    assert lcca("sweep", tiny, *more, "--out", tmp_path / "alone").status == 0
    assert "done before" not in log(tmp_path / "alone")
    assert results(tmp_path / "more") == results(tmp_path / "alone")  # the same bytes, provenance included


def test_what_changes_a_training_changes_its_key(tiny: Path) -> None:
    first = learners(read_campaign(tiny))[0].cell(read_campaign(tiny))
    same = ["name=other", "test.pairs=60", "validation.networks=30", "training_seeds=[1]", "packet_bytes=1500"]
    other = ["seed=2", "networks.loss=0.02", "trainer.rounds=1", "model.link_interval=20", "utilities=[2t]"]
    for override in same:
        config = read_campaign(tiny, [override])
        assert learners(config)[0].cell(config) == first, override
    found = {learners(config)[0].cell(config) for o in other for config in [read_campaign(tiny, [o])]}
    assert len(found | {first}) == len(other) + 1


def test_a_key_names_content_not_order() -> None:
    assert cell_key(a=1, b=[2]) == cell_key(b=[2], a=1) != cell_key(a=1, b=[3])


def test_a_store_without_a_folder_has_nothing(tmp_path: Path) -> None:
    state, rounds = tmp_path / "state.json", tmp_path / "rounds"
    state.write_text("{}")
    rounds.mkdir()
    CellStore(None).keep("k", state, rounds)
    assert not CellStore(None).take("k", tmp_path / "a", tmp_path / "b")


def test_a_training_is_finished_only_once_its_checkpoints_are_there(tmp_path: Path) -> None:
    state, rounds = tmp_path / "state.json", tmp_path / "rounds"
    state.write_text("{}")
    rounds.mkdir()
    (rounds / "round-01.json").write_text("1")
    store = CellStore(tmp_path / "cells")
    store.keep("k", state, rounds)
    store.keep("k", state, rounds)  # a second time changes nothing
    taken = tmp_path / "run" / "training" / "a.json"

    def own() -> None:
        assert not taken.exists()
        assert (tmp_path / "run" / "policies" / "a" / "round-01.json").read_text() == "1"

    assert store.take("k", taken, tmp_path / "run" / "policies" / "a", own)
    assert json.loads(taken.read_text()) == {}
    assert not store.take("other", taken, tmp_path)
