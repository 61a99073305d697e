"""A map of a fabric campaign: points are variants of a scenario, the difference that of planted and direct trials."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lcca.evaluation.fabric.scenario import read_scenario
from lcca.evaluation.fabric.space import FabricSpace, FabricTrials
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.place import Execution
from lcca.experiments.experiment import Trials
from lcca.experiments.recipes import kept
from lcca.inputs.validation import read_config
from lcca.remy_plus.simulator import told_of_trials
from lcca.studies.maps.config import MapConfig
from lcca.studies.maps.recipe import content
from lcca.studies.maps.report.words import region_table
from lcca.studies.maps.survey import Surveyor, surveyor
from lcca.workers.pool import Threads
from tests.fixtures import RunCommand

from .cases import RUNS as KINDS

LOADS = {"min": 0.1, "max": 0.9, "step": 0.1}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return KINDS["map-fabric"].write(tmp_path)


def asked(run: Path, jobs: int = 1, **changed: object) -> Surveyor:
    wanted = {"name": "m", "campaign": str(run / "flows.yaml"), "run": str(run), "points": 64, "looks": 1}
    over = {"over": ["workload.load"], "within": {"workload.load": LOADS}}
    return surveyor(MapConfig.model_validate(wanted | over | changed), Threads(jobs))


@pytest.mark.slow
def test_a_point_is_the_scenario_file_with_these_values(run: Path) -> None:
    """Trials have the bits of the file with `--set`: of whole numbers, of keys that it has not said, and of both."""
    within = {"workload.load": LOADS, "payload_bytes": {"min": 500, "max": 1400, "step": 300}}
    within["switch.buffer_bytes"] = {"min": 800_000, "max": 3_200_000, "levels": 3}
    surveyor = asked(run, 2, over=list(within), within=within)
    rows = surveyor.rows({}, Block(0, 0, 8))
    assert len(rows) == 8 * 10 and len({*rows["payload_bytes"]}) > 1
    policies = {e.learner.id: e.policy for own in surveyor.config.trainings.values() for e in own.values()}
    assert isinstance(surveyor.source, FabricTrials)
    for at in (0, 13, 42, 79):
        row = rows.iloc[at]
        scenario = read_scenario("star.yaml", [f"{key}={float(row[key])!r}" for key in within])
        alone = FabricTrials(FabricSpace(fabric=scenario), int(row["seed"]), surveyor.source.utility)
        direct = alone.rows({row["policy"]: policies[row["policy"]]}, Block(0, 0, 1)).iloc[0]
        measured = [name for name in direct.index if name != "network"]
        pd.testing.assert_series_equal(row[measured], direct[measured], check_names=False, check_exact=True)


def test_sets_of_a_training_seed_meet_the_same_and_seeds_do_not(run: Path) -> None:
    rows = asked(run).rows({}, Block(0, 0, 4))
    by_policy = {name: own.sort_values("network") for name, own in rows.groupby("policy")}
    a, b, other = (by_policy[f"{name}.slowdown.s{seed}"] for name, seed in (("e2e", 2), ("hpcc", 2), ("hpcc", 3)))
    assert [*a["seed"]] == [*b["seed"]] and not {*b["seed"]} & {*other["seed"]}
    assert [*a["workload.load"]] == [*other["workload.load"]] and not {*b["network"]} & {*other["network"]}
    assert rows["seed"].nunique() == 4 * 5


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_trial_is_told_of_once(run: Path, jobs: int) -> None:
    ended: list[int] = []
    with told_of_trials(lambda: ended.append(1)):
        asked(run, jobs).rows({}, Block(0, 0, 2))
    assert len(ended) == 2 * 10


def truth(load: float) -> float:
    """Return the bits that a header is planted to bring."""
    return 1.2 * (load - 0.5)


def planted(surveyor: Surveyor) -> pd.DataFrame:
    """Return trials in which a header loses below a load of 0.5 and gains above."""
    loads, rng, parts = surveyor.values[:, 0], np.random.default_rng(4), []
    for number, own in enumerate(surveyor.config.trainings.values()):
        for name, each in own.items():
            bits = -1 + rng.normal(0, 0.02, len(loads)) + (name == "hpcc") * (truth(loads) + rng.normal(0, 0.01))
            table = {"policy": each.learner.id, "network": number * 64 + np.arange(64), "status": "ok"}
            parts.append(pd.DataFrame({**table, "score_bits": bits}))
    return pd.concat(parts, ignore_index=True)


def test_a_planted_difference_is_found(run: Path) -> None:
    """By −log2 of slowdowns; the band holds at every load."""
    surveyor = asked(run)
    answer = surveyor(Trials([planted(surveyor)], 64))
    summary = content(surveyor, answer.content)
    (each,) = summary["maps"]
    assert (each["A"], each["B"], summary["scenario"]) == ("e2e", "hpcc", "star") and "topology" not in summary
    for point in each["points"]:
        exact = truth(point["workload.load"])
        assert point["low"] <= exact <= point["high"] and abs(point["difference"] - exact) < 0.06
        assert point["percent"] == pytest.approx(100 * (2 ** point["difference"] - 1), abs=0.01)
    verdicts = {round(point["workload.load"], 1): point["verdict"] for point in each["points"]}
    assert verdicts[0.1] == "worse" and verdicts[0.9] == "better"
    assert each["regions"][0]["words"].startswith("workload.load > 0.") and each["regions"][0]["mix_share"] is None


def test_a_mix_of_scenarios_has_its_shares(run: Path) -> None:
    """Three scenarios at loads of 0.2, 0.6 and 0.9, each a third of the mix, where a header is better above 0.5."""
    mix = [{"extends": "star.yaml", "name": f"load-{load}", "workload": {"load": load}} for load in (0.2, 0.6, 0.9)]
    for each in mix:
        (run / f"{each['name']}.yaml").write_text(json.dumps(each))
    files = [f"{each['name']}.yaml" for each in mix]
    (run / "map.yaml").write_text(
        json.dumps(
            {"name": "m", "campaign": "flows.yaml", "run": ".", "over": ["workload.load"], "points": 64, "looks": 1}
            | {"within": {"workload.load": LOADS}, "mix": {"fabric": files}}
        )
    )
    surveyor = Surveyor(read_config(run / "map.yaml", MapConfig), Execution(pool=Threads(1)))
    assert surveyor.ground.mix.tolist() == [[0.2], [0.6], [0.9]]
    (found,) = content(surveyor, surveyor(Trials([planted(surveyor)], 64)).content)["maps"]
    assert found["mix_shares"]["better"] == pytest.approx(2 / 3)
    for row in found["regions"]:
        inside = [eval(row["words"].replace("workload.load", str(load)).replace("≤", "<=")) for load in (0.2, 0.6, 0.9)]
        assert row["mix_share"] == pytest.approx(sum(inside) / 3)
    summary = {"utility": "slowdown", "scenario": "star"}
    assert [*region_table(found, summary).head][1:3] == ["of the space", "of the mix"]


@pytest.mark.slow
def test_the_map_has_the_difference_of_direct_trials(run: Path) -> None:
    """Fresh traffic at two loads, far from the map's own seeds: their means over training seeds lie in the band."""
    surveyor = asked(run, 2, within={"workload.load": {"min": 0.2, "max": 0.8, "step": 0.1}})
    look = surveyor(Trials([surveyor.rows({}, Block(0, 0, 64))], 64)).content.looks["e2e", "hpcc", "score_bits"]
    assert isinstance(surveyor.source, FabricTrials)
    for at, load in ((0, 0.2), (-1, 0.8)):
        place = FabricSpace(fabric=read_scenario("star.yaml", [f"workload.load={load}"]))
        differences = []
        for seed, own in surveyor.config.trainings.items():
            fresh = FabricTrials(place, 10_000 * seed, surveyor.source.utility)
            policies = {name: each.policy for name, each in own.items()}
            scores = fresh.rows(policies, Block(0, 0, 20)).groupby("policy")["score_bits"].mean()
            differences.append(scores["hpcc"] - scores["e2e"])
        row = look.points.stop - 1 if at else 0
        assert look.band.low[row] <= np.mean(differences) <= look.band.high[row]
        assert look.band.high[row] - look.band.low[row] < 1


@pytest.mark.slow
def test_a_campaigns_file_and_ranges_by_dotted_keys(
    run: Path, lcca: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--set within.workload.load=…` is the range of `workload.load`; `--plan` costs it and writes nothing."""
    monkeypatch.setattr(kept, "render", lambda folder, costs: None)  # takes longer than all the rest
    ranged = ("--set", "within.workload.load={min: 0.3, max: 0.7, step: 0.2}", "--set", "points=64", "--set", "run=.")
    ranged += ("--set", "networks.fabric=star.yaml", "--set", "networks.fabric.duration_us=10")
    command = ("map", "flows.yaml", "--over", "workload.load", *ranged, "--set", "looks=1")
    planned = lcca(*command, "--plan", "--out", "out")
    assert (
        planned.status == 0
        and "64 points" in planned.out
        and "and: 1 looks" in planned.out
        and not (run / "out").exists()
    )
    answer = lcca(*command, "--out", "out")
    assert answer.status == 0 and "hpcc against e2e, score" in answer.out and "% of typical slowdown" in answer.out
    (run / "two.yaml").write_text((run / "star.yaml").read_text().replace("name: star", "name: two"))
    several = lcca(*command, "--set", "networks={fabric: [star.yaml, two.yaml]}", "--out", "more")
    assert several.status == 2 and "networks: the campaign has several scenarios: name the one to map" in several.err
