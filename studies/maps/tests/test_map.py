"""A map of real trials: training seeds have networks of their own, sets are paired, other metrics, unfinished runs."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.source import NetworkTrials
from lcca.experiments.experiment import Trials
from lcca.experiments.recipes import kept
from lcca.inputs.errors import InputError
from lcca.remy_plus.network import Network
from lcca.studies.maps.config import MapConfig
from lcca.studies.maps.recipe import content
from lcca.studies.maps.survey import Surveyor, surveyor
from lcca.workers.pool import Threads
from tests.experiments.runs.run_files import WINDOW
from tests.fixtures import RunCommand

from .cases import RUNS as KINDS

SIDE = {"rtt": 10, "queue": 12}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return KINDS["map"].write(tmp_path)


def config(run: Path, **changed: object) -> MapConfig:
    wanted = {"name": "m", "campaign": str(run / "tiny.yaml"), "run": str(run), "over": ["senders"], "points": 64}
    return MapConfig.model_validate(wanted | changed)


def asked(found: MapConfig) -> Surveyor:
    return surveyor(found, Threads(1))


def test_sets_are_paired_and_training_seeds_are_apart(run: Path) -> None:
    """Equal policies differ by nothing; all seeds have the map's parameters, each networks and traffic of its own."""
    for seed in range(1, 7):
        (run / f"policies/loss+queue.default.s{seed}.json").write_text(WINDOW.format(10))
        (run / f"policies/loss+rtt.default.s{seed}.json").write_text(WINDOW.format(10))
    surveyor = asked(config(run, looks=1))
    rows = surveyor.rows({}, Block(0, 0, 64))
    one, two = (rows[rows["policy"] == f"loss+{name}.default.s3"] for name in SIDE)
    assert np.array_equal(one["score_bits"], two["score_bits"]) and np.array_equal(one["rtt"], two["rtt"])
    other = rows[rows["policy"] == "loss+rtt.default.s4"]
    assert np.array_equal(one["senders"], other["senders"]) and not np.array_equal(one["rtt"], other["rtt"])
    assert not set(one["network"]) & set(other["network"])
    assert len(rows) == 64 * 12 and rows.duplicated(["policy", "network"]).sum() == 0
    (found,) = surveyor(Trials([rows], 64)).content.looks.values()
    assert found.shares(found.points)["equivalent"] == 1 and found.settled


def test_cost_of_looks(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Made once: 100 s of the ground, 10 s of the points of each look; made anew: 1 s of each difference."""
    surveyor, clock, known = asked(config(run, metrics=["throughput_share", "delay_us"], looks=2)), [0.0], set()

    def look(ground: object, spectra: object, *_: object) -> None:
        clock[0] += 1 + 100 * (ground not in known) + 10 * (spectra not in known)
        known.update((ground, spectra))

    monkeypatch.setattr("lcca.studies.maps.survey.look", look)
    monkeypatch.setattr("lcca.studies.maps.survey.time.process_time", lambda: clock[0])
    assert surveyor.looks_cpu_s() == 2 * (10 + 2 * 1)


def planted(surveyor: Surveyor, values: dict[str, float]) -> pd.DataFrame:
    """Return rows as of trials, with a candidate that is so much better, by column."""
    parts, source = [], surveyor.source
    assert isinstance(source, NetworkTrials)
    for number, (seed, own) in enumerate(surveyor.config.trainings.items()):
        for name, each in own.items():
            networks: list[Network] = surveyor._networks(source, number, Block(0, 0, surveyor.config.points))
            table = {"policy": each.learner.id, "network": [n.id for n in networks], "status": "ok", "seed": 1}
            better = 1.0 + (name == "loss+queue") * np.where([n.senders <= 2 for n in networks], 1.0, 0.0)
            noise = 1 + 0.01 * np.random.default_rng(seed).standard_normal(len(networks))
            columns = {column: 8 * better**power * noise for column, power in values.items()}
            parts.append(pd.DataFrame({**table, "senders": [n.senders for n in networks], **columns}))
    return pd.concat(parts, ignore_index=True)


def test_metrics_are_compared_by_ratios_in_their_better_direction(run: Path) -> None:
    """With at most two senders throughput is twice as high and delay four times: better by one, worse by the other."""
    surveyor = asked(config(run, metrics=["throughput_share", "delay_us"], looks=1))
    assert surveyor.config.error_rate == 0.05 / 2
    answer = surveyor(Trials([planted(surveyor, {"throughput_share": 1, "delay_us": 2})], 64))
    more, less = content(surveyor, answer.content)["maps"]
    first = next(each for each in more["points"] if each["senders"] == 1)
    assert first["percent"] == pytest.approx(100, abs=6) and first["verdict"] == "better"
    first = next(each for each in less["points"] if each["senders"] == 1)
    assert first["percent"] == pytest.approx(300, abs=25) and first["verdict"] == "worse"
    assert less["regions"][-1]["words"] == "senders ≤ 2" and more["regions"][0]["words"] == "senders ≤ 2"
    assert first["percent_low"] < first["percent"] < first["percent_high"]


def test_points_without_a_value_are_left_out_of_all(run: Path) -> None:
    surveyor = asked(config(run, looks=1))
    rows = planted(surveyor, {"score_bits": 1})
    rows.loc[[3, 70], "status"] = "failed"
    found = surveyor(Trials([rows], 64)).content
    assert (found.points, found.left_out) == (62, 2)


def test_the_campaigns_key_says_how_much_may_be_unfinished(run: Path) -> None:
    """Of three points 2, 4 and 100 % of the flows are unfinished."""
    left_out, of_all = {}, config(run, looks=1)
    for percent in (1, 3, 50):
        settle = of_all.trained_by.settle.model_copy(update={"unfinished_percent": percent})
        of_all.__dict__["trained_by"] = of_all.trained_by.model_copy(update={"settle": settle})
        rows = planted(surveyor := asked(of_all), {"score_bits": 1}).assign(score_of=100, score_unfinished=0)
        rows.loc[[3, 9, 27], "score_unfinished"] = 2, 4, 100
        left_out[percent] = surveyor(Trials([rows], 64)).content.left_out
    assert left_out == {1: 3, 3: 2, 50: 1}


def test_an_unfinished_run_has_the_training_seeds_that_all_sets_have_finished(run: Path) -> None:
    """Trainings without a selection run with their last checkpoint, and the summary names them."""
    selected = run / "policies/loss+queue.default.s2.json"
    rounds = run / "policies/loss+queue.default.s2"
    rounds.mkdir()
    selected.rename(rounds / "round-01.json")
    found = config(run)
    assert list(found.trainings) == [1, 2, 3, 4, 5, 6]
    summary = content(survey := asked(found), survey(Trials([planted(survey, {"score_bits": 1})], 64)).content)
    assert summary["trainings_without_selection"] == ["loss+queue.default.s2"]
    (rounds / "round-01.json").unlink()
    assert list(config(run).trainings) == [1, 3, 4, 5, 6]
    (run / "policies/loss+rtt.default.s5.json").unlink()
    with pytest.raises(InputError, match="4 training seeds with finished trainings of loss\\+queue, loss\\+rtt, and a"):
        _ = config(run).trainings


def test_a_map_without_trainings_names_its_own_file(lcca: RunCommand, run: Path) -> None:
    (run / "small.yaml").write_text((run / "small.yaml").read_text().replace("run: .", "run: policies"))
    refused = lcca("map", run / "small.yaml", "--plan")
    assert refused.status == 2 and "small.yaml:3: run: " in refused.err and "0 training seeds with" in refused.err


def test_a_policy_of_another_set_is_refused(run: Path) -> None:
    file = run / "policies/loss+queue.default.s2.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"signal_set": "e2e"}))
    with pytest.raises(InputError, match="learnt from e2e, not from loss\\+queue"):
        asked(config(run)).experiment()


@pytest.mark.slow
def test_a_campaigns_file_and_wider_ranges(run: Path, lcca: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command with a campaign's file and names of parameters is a map of its own name; a mix has shares."""
    monkeypatch.setattr(kept, "render", lambda folder, costs: None)  # takes longer than all the rest
    (run / "mix.yaml").write_text(KINDS["map"].files["space.yaml"].replace("max: 4", "max: 2"))
    wide = ("--set", "within.senders={min: 1, max: 8, step: 1}", "--set", "mix=mix.yaml", "--set", "looks=1")
    command = ("map", "tiny.yaml", "--over", "senders", "--set", "points=64", "--set", "run=.", *wide)
    answer = lcca(*command, "--out", "out")
    summary = json.loads((run / "out/summary.json").read_text())
    assert (
        answer.status == 0
        and summary["campaign"] == "map-tiny"
        and "By the stated mix of traffic the verdict is " in answer.out
    )
    (each,) = summary["maps"]
    mixed = sum(row["mix_share"] for row in each["regions"])
    assert mixed == pytest.approx(1) and ("of the mix" in answer.out)
    assert [row["senders"] for row in each["points"]] == [*range(1, 9)] and "loss+queue against loss+rtt" in answer.out
    assert sum(each["mix_shares"].values()) == pytest.approx(1)
    refused = lcca("map", "tiny.yaml", "--out", "other")
    assert refused.status == 2 and "--over: name the parameters of the map" in refused.err
