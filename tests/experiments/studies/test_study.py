"""`lcca study`: contenders on scenarios, questions with verdicts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lcca.evaluation.fabric.space as source
from lcca.api import load_run
from lcca.evaluation.settling.group_sequential import GroupSequentialRule
from lcca.evaluation.settling.judgement import Verdict
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.utilities import fabric_utility
from lcca.experiments.recipes.study import study, trials_on
from lcca.experiments.studies.config import StudyConfig
from lcca.experiments.studies.questions import agreement
from lcca.inputs.validation import read_with_files, validate
from lcca.remy_plus.files.policyfile import PolicyFile, write
from lcca.remy_plus.policies.policy import WithHeader
from lcca.remy_plus.policies.rules import one_rule
from lcca.signal_sets.headers.header import header
from lcca.signal_sets.headers.simulated import stamping
from lcca.workers.pool import Threads

from ...fixtures import RunCommand
from ..runs.run_files import STUDY

CONFIG = STUDY.replace("pairs: 24\n", "pairs: 64\n")
STAR = """\
name: star
topology: {kind: star, hosts: 6}
workload: {kind: poisson, sizes: fb-hadoop, load: 0.3, load_of: host-links}
duration_us: 150
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    (folder / "star.yaml").write_text(STAR)
    (folder / "windows.yaml").write_text(CONFIG)
    return folder / "windows.yaml"


RUN = list[int]()
"""Trials of each call in the study that was never stopped."""


@pytest.fixture(scope="module")
def finished(config: Path) -> Path:
    """The folder of a study that was never stopped."""
    pytest.importorskip("optuna")
    run, run_fabric_trials = config.parent / "finished", source.run_fabric_trials

    def counted(scenario: Any, engines: Any, seeds: Any, *more: Any) -> Any:
        RUN.append(len(engines) * len(seeds))
        return run_fabric_trials(scenario, engines, seeds, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "run_fabric_trials", counted)
        study(validate(read_with_files(config, StudyConfig), StudyConfig), out=run)
    return run


@pytest.mark.slow
def test_a_tuning_tests_nothing_for_a_study(finished: Path) -> None:
    """Eight trials of the start and of the one other point, and those of the study."""
    tested = sum(each["trials"] for each in summary(finished)["policies"])
    assert sum(RUN) == 2 * 8 + tested and tested == len(load_run(finished).trials)
    assert not (finished / "contenders/tuned/trials").exists()


def summary(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "summary.json").read_text())
    return found


def results(run: Path) -> dict[str, bytes]:
    files = [*run.glob("trials/*.parquet"), *(run / name for name in ("summary.json", "answers.md", "config.yaml"))]
    return {each.name: each.read_bytes() for each in files}


@pytest.mark.slow
def test_a_small_window_loses_and_a_tuning_finds_the_whole_one(finished: Path) -> None:
    found = {(each["condition"], each["A"], each["utility"]): each for each in summary(finished)["comparisons"]}
    assert len(found) == 6
    for utility in ("slowdown", "slowdown-p99"):
        lost, tied = (found["star", name, utility] for name in ("small", "tuned"))
        assert lost["verdict"] == "better" and lost["low"] > 0.3 and lost["agreement"] == "agrees"
        assert tied["same"] == "the same policy" and tied["difference"] == 0 and tied["agreement"] == "not settled"
    assert [found[name, "same", "slowdown"]["agreement"] for name in ("star", "incast")] == 2 * ["not settled"]
    tuned = summary(finished)["contenders"]["tuned"]
    assert tuned["tuned"] == {"bdps": 1.0} and tuned["policy"] == "window:bdps=0.1" and tuned["tuned_on"] == "star"


def test_intervals_share_alpha_and_rest_on_all_trials(finished: Path) -> None:
    trials = load_run(finished).trials
    own = trials[trials["condition"] == "star"]
    scores = own.pivot(index="network", columns="policy", values="slowdown-p99_bits")
    differences = (scores["whole"] - scores["small"]).to_numpy()
    told = next(each for each in summary(finished)["comparisons"] if each["utility"] == "slowdown-p99")
    assert told["n"] == len(differences) and told["difference"] == pytest.approx(differences.mean())
    run = GroupSequentialRule(alpha=0.05 / 6, ceiling=16).start()
    look = run.feed(differences.reshape(-1, 4).mean(axis=1).tolist())
    assert (told["low"], told["high"]) == pytest.approx((look.low, look.high))
    slowdown = own[own["policy"] == "small"]["slowdown_mean"]
    policies = load_run(finished).policies.set_index(["condition", "id"])
    assert policies.loc[("star", "small"), "slowdown_mean"] == pytest.approx(slowdown.mean())
    assert set(load_run(finished).verdicts["condition"]) == {"star", "incast"}


def test_the_last_look_is_at_all_pairs(config: Path) -> None:
    made = validate(read_with_files(config, StudyConfig, ["pairs=50"]), StudyConfig)
    space = made.space("star")
    assert made.rule.ceiling == 13 and space.whole(made.pairs) == 13 * space.block


def test_scenarios_have_flows_of_their_own(finished: Path) -> None:
    trials = load_run(finished).trials
    seeds = {name: set(rows["seed"]) for name, rows in trials.groupby("condition")}
    assert not seeds["star"] & seeds["incast"]
    assert set(trials[trials["condition"] == "incast"]["policy"]) == {"whole", "same"}


def test_answers_say_what_the_source_found(lcca: RunCommand, config: Path, finished: Path) -> None:
    page = (finished / "answers.md").read_text()
    for text in (
        "## size, Fig. 1",
        "Theirs: It is.",
        "all 6 intervals are simultaneous at 95%",
        "| Theirs: better |",
        "## Measured: incast",
    ):
        assert text in page
    printed = lcca("study", config, "--out", finished).out
    assert "Is a whole window better" in printed and "agrees" in printed


def test_a_policy_file_runs_with_its_header(tmp_path: Path) -> None:
    """And not with a fabric's own telemetry, which is another number of bytes."""
    write(tmp_path / "policy.json", PolicyFile(one_rule(("link",)), header="nosignal-8b"))
    (tmp_path / "star.yaml").write_text(STAR)
    text = (
        "name: headed\ncontenders: {headed: policy.json, window: window}\nscenarios: [star.yaml]\npairs: 24\n"
        "questions: [{name: bytes, contender: headed, against: [window]}]\n"
    )
    (tmp_path / "study.yaml").write_text(text)
    made = validate(read_with_files(tmp_path / "study.yaml", StudyConfig), StudyConfig)
    study(made, out=tmp_path / "run")
    stored = load_run(tmp_path / "run").trials.query("policy == 'headed'")
    policy = WithHeader(one_rule(("link",)), stamping(header("nosignal-8b")))
    own = trials_on(made, "star", fabric_utility("slowdown"), Threads(1)).rows({"headed": policy}, Block(0, 0, 8))
    assert stored["slowdown_mean"].head(8).tolist() == own["slowdown_mean"].tolist()


def test_a_plan_runs_one_trial_of_each(lcca: RunCommand, config: Path) -> None:
    found = lcca("study", config, "--plan", "--json").json()["scenarios"]
    assert [(each["scenario"], each["contenders"], each["comparisons"]) for each in found] == [
        ("star", 4, 5),
        ("incast", 2, 1),
    ]
    assert found[0]["cpu_s_most"] == pytest.approx(found[0]["trial_cpu_s"] * 64)
    assert found[0]["least"] == 28, "the first of ten looks at 16 blocks of 4 that is not before the sixth"


def test_several_studies_run_one_after_another(lcca: RunCommand, config: Path, tmp_path: Path) -> None:
    names = lcca("study", config, config, "--plan", "--json").json()["studies"]
    assert [each["study"] for each in names] == ["windows", "windows"]
    answer = lcca("study", config, config, "--out", tmp_path / "run")
    assert answer.status == 2 and "--out: is for one study" in answer.err


@pytest.mark.parametrize(
    ("verdict", "expected", "said"),
    [
        (Verdict("better", direction="+"), "better", "agrees"),
        (Verdict("worse", direction="-"), "better", "differs"),
        (Verdict("equivalent", direction="+"), "better", "agrees"),
        (Verdict("equivalent"), "worse", "differs"),
        (Verdict("better", True, "+"), "equivalent", "differs"),
        (Verdict("better", direction="+"), "equivalent", "not settled"),
        (Verdict("equivalent", direction="-"), "equivalent", "agrees"),
        (Verdict(), "better", "not settled"),
        (Verdict("better", direction="+"), None, None),
    ],
)
def test_agreement(verdict: Verdict, expected: Any, said: str | None) -> None:
    assert agreement(verdict, expected) == said


def test_policies_that_score_the_same_agree_with_nothing(lcca: RunCommand, config: Path) -> None:
    same = "contenders={dctcp: {policy: dctcp}, again: {policy: dctcp}}"
    asked = "questions=[{name: same, contender: again, against: [dctcp], expected: equivalent}]"
    answer = lcca("study", config, "--set", same, "--set", asked, "--out", config.parent / "same", "--json")
    found = answer.json()["comparisons"]
    assert found and {(each["verdict"], each["agreement"]) for each in found} == {("not settled", "not settled")}


def test_scenarios_without_flows_that_count_are_refused_before_anything_is_tuned(
    lcca: RunCommand, config: Path, tmp_path: Path
) -> None:
    change = "questions.1.utilities=[slowdown-long]"
    answer = lcca("study", config, "--out", tmp_path / "run", "--set", change)
    assert answer.status == 2 and "slowdown-long: no flow of incast counts: 40 start" in answer.err.replace("\n", " ")
    assert not (tmp_path / "run").exists()


def test_means_of_two_scores_differ_by_the_difference(finished: Path) -> None:
    for each in summary(finished)["comparisons"]:
        rows = load_run(finished).trials.query("condition == @each['condition']")
        means = rows.groupby("policy")[f"{each['utility']}_bits"].mean()
        assert np.isclose(means[each["B"]] - means[each["A"]], each["difference"])
    assert isinstance(rows, pd.DataFrame)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("contenders.small=quic", "contenders.small.policy: 'quic': neither a transport"),
        ("contenders.small={policy: dctcp, tune: null, pace: 1}", "contenders.small.pace"),
        ("contenders.small={}", "contenders.small: give one of policy, a name, tune, a tuning, and train"),
        ("questions.0.against=[smal]", "questions.0.against.0: there is no 'smal' (did you mean 'small'"),
        ("questions.0.scenarios=[ring]", "questions.0.scenarios.0: there is no 'ring'"),
        ("questions.0.against=[whole]", "questions.0: against: whole would meet itself"),
        ("questions.0.utilities=[default]", "questions.0.utilities: default: scores networks, not a fabric"),
        ("questions.1.name=size", "questions: two questions are called 'size'"),
        ("scenarios.1.name=star", "scenarios: two scenarios are called 'star'"),
        ("contenders.tuned.tune.fabric.workload.load=4", "contenders.tuned.tune.fabric.workload.load: asks for"),
        ("scenarios.0.mtu_bytes=1060", "contenders"),
        ("pairs=8", "pairs"),
        ("questions.0.against=[small, small]", "questions.0.against: 'small' is listed twice"),
        ("questions.0.utilities=[slowdown, slowdown]", "questions.0.utilities: 'slowdown' is listed twice"),
        ("questions.0.scenarios=[star, star]", "questions.0.scenarios: 'star' is listed twice"),
        ("questions.0.against=[tuned]", "contenders.small: no question names it; leave it out"),
        ("questions.1.scenarios=[star]", "scenarios.1: no question is about incast; leave it out"),
        (
            "questions.1.utilities=[slowdown, rounds]",
            "questions.1.utilities.1: rounds: star has no rounds; work",
        ),
        ("contenders.tuned.tune.tuner.space={bdp: [1, 2]}", "contenders.tuned.tune.tuner"),
        ("contenders.tuned.tune.utility=rounds", "contenders.tuned.tune: rounds: star has no rounds"),
    ],
)
def test_what_cannot_be_is_refused(lcca: RunCommand, config: Path, change: str, message: str) -> None:
    extra = ("--set", "contenders.same=hpcc") if "mtu" in change else ()
    answer = lcca("study", config, "--out", config.parent / "run", "--set", change, *extra)
    assert answer.status == 2 and message in answer.err.replace("\n", " "), answer.err
    assert not (config.parent / "run").exists()
