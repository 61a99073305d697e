"""A campaign with several trainers: a signal set is worth what its best one makes of it, chosen by validation."""

import json
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lcca.api import load_run
from lcca.evaluation.comparison.sets import DEPENDS, mixture, trainers_remark
from lcca.evaluation.report.words.headline import answer
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.settling.sequence import half_width
from lcca.evaluation.trials.policy_names import words_of
from lcca.evaluation.trials.tables import RunTables
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.experiments.campaign.config import MOST_TRAINERS, read_campaign
from lcca.experiments.learning.cache import TrainingCache
from lcca.experiments.learning.plan import in_groups, learners
from lcca.experiments.testing.forecast import End, Forecast, Training, forecast
from lcca.experiments.testing.groups import Group, best_of_trainers
from lcca.experiments.testing.net_benefit import compare_all
from lcca.experiments.testing.summary import trainers_content
from lcca.inputs.errors import ConfigError
from lcca.trainers.base import Budget

from ...fixtures import BRIEF, RunCommand, results, start, undrawn

LONG = "{kind: rplus, rounds: 2, passes: 1, networks: 6, check_networks: 40, optimise: [increment, pacing]}"
SHORT = "{kind: rplus, rounds: 1, passes: 1, networks: 4, check_networks: 8, optimise: [increment]}"
SETS = ("loss+rtt", "loss+queue")


def campaign(**trainers: str) -> str:
    """The tiny campaign with these trainers in place of its own, or with the one called ``trainer`` alone."""
    one = trainers.pop("trainer", "")
    named = "".join(f"  {name}: {how}\n" for name, how in trainers.items())
    lines = [line for line in BRIEF.splitlines() if not line.startswith("trainer:")]
    return "\n".join(lines) + (f"\ntrainer: {one}\n" if one else f"\ntrainers:\n{named}")


def swept(folder: Path, text: str, *options: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "tiny.yaml").write_text(text)
    process = start(folder / "tiny.yaml", folder / "run", "--jobs", "2", *options)
    out = process.communicate(timeout=240)
    assert process.returncode == 0, out
    return folder / "run"


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign with two trainers, whose trainings are in the cache beside it."""
    folder = tmp_path_factory.mktemp("both")
    return swept(folder, campaign(short=SHORT, long=LONG), "--training-cache", str(folder / "cache"))


@pytest.fixture(scope="module")
def summary(both: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((both / "summary.json").read_text())
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("name", "how"), [("short", SHORT), ("long", LONG)])
def test_each_trainer_learns_and_is_tested_as_in_a_campaign_of_its_own(
    both: Path, summary: dict[str, Any], tmp_path: Path, name: str, how: str
) -> None:
    alone = swept(tmp_path, campaign(trainer=how))
    one, all_ = load_run(alone), load_run(both)
    for seed in (1, 2):
        for candidate in SETS:
            mine, theirs = f"{candidate}.default.s{seed}", f"{candidate}.default.s{seed}-{name}"
            files = [sorted((run / "policies" / id).glob("*.json")) for run, id in ((alone, mine), (both, theirs))]
            assert [file.name for file in files[0]] == [file.name for file in files[1]]
            for pair in zip(*files, strict=True):
                first, second = ({**json.loads(file.read_text()), "provenance": {}} for file in pair)
                assert first == second
            curves = [run.learning[run.learning["policy_base"] == id] for run, id in ((one, mine), (all_, theirs))]
            columns = ["step", "round", "kind", "rules", "score_bits", "trials", "packets"]
            pd.testing.assert_frame_equal(*(curve[columns].reset_index(drop=True) for curve in curves))
            tests = [
                run.trials[(run.trials["policy"] == id) & (run.trials["phase"] == "trainings-test")]
                for run, id in ((one, mine), (all_, theirs))
            ]
            assert len(tests[0]) == 48
            pd.testing.assert_frame_equal(
                *(rows[["network", "seed", "score_bits"]].reset_index(drop=True) for rows in tests)
            )
    whole = json.loads((alone / "summary.json").read_text())
    rows = {row["name"]: row for row in summary["trainers"] if row["trainer"] == name}
    for row in whole["signal_sets"]:
        assert rows[row["name"]]["scores_bits"] == row["scores_bits"]
        assert rows[row["name"]]["score_bits_sd"] == row["score_bits_sd"]
    (found,) = [c for c in whole["comparisons"] if c["level"] == "set"]
    theirs = rows["loss+queue"]["comparison"]
    assert {key: theirs[key] for key in ("difference", "low", "high", "alpha", "n")} == {
        key: found[key] for key in ("difference", "low", "high", "alpha", "n")
    }


@pytest.mark.slow
def test_the_trainer_with_the_best_validation_over_seeds_is_the_sets(both: Path, summary: dict[str, Any]) -> None:
    validated = load_run(both).trials.query("phase == 'validation'")
    assert set(validated["trainer"]) == {"short", "long"}
    best_checkpoint = validated.groupby(["candidate", "trainer", "training_seed", "checkpoint"])["score_bits"].mean()
    by_seed = best_checkpoint.groupby(["candidate", "trainer", "training_seed"]).max()
    mean = by_seed.groupby(["candidate", "trainer"]).mean()
    for row in summary["trainers"]:
        assert row["validation_score_bits"] == pytest.approx(mean[row["name"], row["trainer"]])
        assert row["best"] == (mean[row["name"]].idxmax() == row["trainer"])
    for row in summary["signal_sets"]:
        assert row["trainer"] == mean[row["name"]].idxmax()
        (best,) = [each for each in summary["trainers"] if each["name"] == row["name"] and each["best"]]
        assert (row["score_bits"], row["scores_bits"]) == (best["score_bits"], best["scores_bits"])


@pytest.mark.slow
def test_sets_are_compared_by_their_best_trainers(both: Path, summary: dict[str, Any]) -> None:
    rows = {row["name"]: row for row in summary["signal_sets"]}
    of_sets, of_policies = summary["comparisons"]
    assert of_sets["difference"] == pytest.approx(rows["loss+queue"]["score_bits"] - rows["loss+rtt"]["score_bits"])
    assert of_policies["A"].endswith(f"-{rows['loss+rtt']['trainer']}")
    assert len(summary["policies"]) == 8
    for policy in summary["policies"]:
        words = words_of(policy["id"], "default")
        assert words is not None and words[:3] == (policy["signal_set"], policy["training_seed"], policy["trainer"])
        assert not policy["selected"] or policy["trainer"] == rows[policy["signal_set"]]["trainer"]
    assert sum(policy["selected"] for policy in summary["policies"]) == 2
    tables = RunTables.load(both)
    assert {policy["trainer"] for policy in tables.policies} == {row["trainer"] for row in rows.values()}
    assert len(tables.policies) == 4


@pytest.mark.slow
def test_every_trainer_has_its_row_on_the_screen_and_in_the_report(
    both: Path, summary: dict[str, Any], tmp_path: Path, lcca: RunCommand
) -> None:
    copied = Path(shutil.copytree(both, tmp_path / "run"))
    screen = lcca("sweep", both.parent / "tiny.yaml", "--out", copied, "--tables").out
    with undrawn():
        assert lcca("report", copied).status == 0
    report = (copied / "report.html").read_text()
    for row in summary["trainers"]:
        assert f"{row['name']}.default.s1-{row['trainer']}" in screen
        assert any(row["trainer"] in line and f"{row['score_bits']:.3f}" in line for line in screen.splitlines())
        assert f"<td>{row['score_bits']:.3f}</td>" in report
    assert "learnt by" in screen and "Every trainer" in report


@pytest.mark.slow
def test_verdicts_come_back_from_the_trials(both: Path, lcca: RunCommand) -> None:
    assert lcca("verdict", both).status == 0


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_a_run_that_was_killed_ends_with_the_same_bytes(both: Path, tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(campaign(long=LONG, short=SHORT))  # the order of names means nothing
    run = tmp_path / "run"
    process = start(tmp_path / "tiny.yaml", run)
    while len(list(run.glob("training/*.json"))) < 3:
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert not (run / "summary.json").exists()
    again = start(tmp_path / "tiny.yaml", run, "--trainings", "2")
    again.communicate(timeout=240)
    assert again.returncode == 0 and results(run) == results(both)


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_trainings_are_shared_with_campaigns_of_one_trainer(both: Path, tmp_path: Path, lcca: RunCommand) -> None:
    (tmp_path / "tiny.yaml").write_text(campaign(other=SHORT, trainer=""))
    cache = both.parent / "cache"
    planned = lcca("sweep", tmp_path / "tiny.yaml", "--plan", "--json", "--training-cache", cache).json()["points"][0]
    assert planned["to_train"] == [0, 0] and planned["budgets"] == {"other": {"amount": 1, "unit": "rounds"}}
    (tmp_path / "tiny.yaml").write_text(campaign(trainer=SHORT))
    planned = lcca("sweep", tmp_path / "tiny.yaml", "--plan", "--json", "--training-cache", cache).json()["points"][0]
    assert planned["to_train"] == [0, 0] and (planned["budget"], planned["unit"]) == (1, "rounds")


# Of made-up scores.

SEEDS = range(1, 9)
SIGNALS = {"e2e": ("rtt_ratio",), "link": ("rtt_ratio", "link")}


def group(trainer: str, tested: dict[str, float], validated: dict[str, float], spread: float = 0.001) -> Group:
    """Trainings of one trainer that score so many bits but for a little luck, and so many in validation."""
    policies: list[Any] = []
    rows = []
    for seed in SEEDS:
        for name, signals in SIGNALS.items():
            of = SimpleNamespace(name=name, signals=signals)
            id = f"{name}.default.s{seed}-{trainer}"
            learner = SimpleNamespace(signals=of, id=id, training_seed=seed, trainer=trainer, candidate=NO_HEADER)
            luck = (7 * seed % 11 - 5) * len(signals)
            each = SimpleNamespace(learner=learner, endings=("",), by_rules={})
            each.validation_score_bits = validated[name] + 0.001 * luck
            policies.append(each)
            score = tested[name] + spread * luck
            rows += [{"policy": id, "network": 16 * seed + i, "score_bits": score} for i in range(16)]
    selected = {each.learner.signals.name: each for each in policies}
    trained = pd.DataFrame(rows).assign(status="ok")
    return Group(DEFAULT, "e2e", SettlingRule(), 16, policies, selected, trained, trainer=trainer)


def together(**parts: Group) -> Group:
    trained = pd.concat([part.trained for part in parts.values()], ignore_index=True)
    return best_of_trainers({name: replace(part, trained=trained) for name, part in parts.items()})


NO_HEADER = SimpleNamespace(header=None)


def test_the_test_has_no_say_in_the_choice() -> None:
    """Link's tables are better in the test, and its laws in validation."""
    laws = group("laws", {"e2e": 3.4, "link": 3.4}, {"e2e": 3.4, "link": 3.5})
    tables = group("tables", {"e2e": 3.3, "link": 3.6}, {"e2e": 3.3, "link": 3.4})
    both = together(laws=laws, tables=tables)
    assert both.learnt_by("e2e", "link") == {"e2e": "laws", "link": "laws"}
    assert [c.learner.id for c in both.of_seed(3)] == ["e2e.default.s3-laws", "link.default.s3-laws"]
    assert both.compare_all_candidates(1)[0].difference == pytest.approx(laws.compare_all_candidates(1)[0].difference)


def test_each_set_has_a_trainer_of_its_own() -> None:
    laws = group("laws", {"e2e": 3.4, "link": 3.4}, {"e2e": 3.4, "link": 3.4})
    tables = group("tables", {"e2e": 3.3, "link": 3.6}, {"e2e": 3.3, "link": 3.6})
    both = together(laws=laws, tables=tables)
    (found,) = compare_all([both])
    assert found.verdict.name == "better" and found.difference == pytest.approx(0.2, abs=0.01)
    assert found.note.endswith(
        "learnt by laws (e2e) and tables (link); depends on the trainer: better with the best of each, "
        "equivalent with laws"
    )
    rows = {(row["name"], row["trainer"]): row for row in trainers_content([both])}
    assert [key for key, row in rows.items() if row["best"]] == [("e2e", "laws"), ("link", "tables")]
    alone = rows["link", "tables"]["comparison"]
    assert alone["difference"] == pytest.approx(0.3, abs=0.01) and alone["alpha"] == found.alpha
    assert rows["e2e", "tables"]["comparison"] is None


@pytest.mark.parametrize(("spread", "depends"), [(0.001, ""), (0.1, "better with laws, not settled with tables")])
def test_a_verdict_that_depends_on_the_trainer_says_so(spread: float, depends: str) -> None:
    """Tables with much luck settle nothing."""
    worth = {"e2e": 3.4, "link": 3.6}
    laws = group("laws", worth, worth)
    tables = group("tables", {"e2e": 3.2, "link": 3.35}, {"e2e": 3.2, "link": 3.35}, spread)
    (found,) = compare_all([together(laws=laws, tables=tables)])
    assert found.verdict.name == "better"
    assert found.note.partition("learnt by laws")[2] == (f"; {DEPENDS}{depends}" if depends else "")
    (statement,) = answer([found.to_json()]).sets
    assert statement.text.endswith(f"; learnt by laws{f'; {DEPENDS}{depends}' if depends else ''}.")


def test_one_trainer_has_no_remark() -> None:
    worth = {"e2e": 3.4, "link": 3.6}
    alone = group("", worth, worth)
    assert best_of_trainers({"": alone}) is alone
    (found,) = compare_all([alone])
    assert "learnt" not in found.note and trainers_content([alone]) == []


def test_trainers_that_agree_are_named_together() -> None:
    said = {"a": "better", "b": "worse", "c": "not settled", "d": "worse"}
    found = trainers_remark({"x": "a", "y": "a"}, "better", said)
    assert found == "learnt by a; depends on the trainer: better with a, worse with b and d, not settled with c"


@pytest.mark.parametrize(("own", "others"), [(1, (1,) * MOST_TRAINERS), (0.1, (1,) * MOST_TRAINERS), (0.1, (1, 3))])
def test_the_choice_keeps_the_error_rate(own: float, others: tuple[float, ...]) -> None:
    """One set has one trainer far ahead of its rest, the other one several equals, of which the luckiest is taken.

    All are looked at after every seed from the fifth on; validation tells a training's luck exactly: the worst case.
    """
    rng, campaigns, most, wrong = np.random.default_rng(3), 1000, 24, 0
    for _ in range(campaigns):
        a, b = rng.normal(0, own, most), np.array([rng.normal(0, spread, most) for spread in others])
        for n in range(5, most + 1):
            d = b[b[:, :n].mean(axis=1).argmax(), :n] - a[:n]
            if abs(d.mean()) > half_width(n, float(d.std(ddof=1)), mixture(0.05), 0.05):  # that of `SeedInterval`
                wrong += 1
                break
    assert wrong <= 0.05 * campaigns


# Plans and configurations.


@pytest.mark.slow
def test_the_plan_counts_the_trainings_and_trials_of_all(tmp_path: Path, both: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(campaign(short=SHORT, long=LONG))
    config = read_campaign(tmp_path / "tiny.yaml")
    planned = forecast(config, TrainingCache(None), jobs=1)
    assert [each.id for each in planned.trainings] == [
        f"{name}.default.s{seed}-{trainer}" for seed in (1, 2) for trainer in ("long", "short") for name in SETS
    ]
    costs = {each["name"]: each["trials"] for each in json.loads((both / "costs.json").read_text())["phases"]}
    by_rules = 2 * 2 * 2 * 48  # two seeds, sets and trainers: how many sizes are compared is not known of a search
    assert sum(costs.values()) - costs["training"] - by_rules == planned.ends[1].tests


def test_time_follows_from_each_trainers_budget_and_pace() -> None:
    trainings = tuple(Training(f"{i}", f"{i}", False, "ab"[i % 2]) for i in range(4))
    budgets, paces = {"a": Budget(1000, "trials"), "b": Budget(100, "trials")}, {"a": 0.01, "b": 0.03}
    base = Forecast(trainings, budgets, paces, (End(2, 100), End(4, 200)), 2, 1, (2, 2))
    assert base.trial_cpu_s == pytest.approx(0.02)
    assert base.cpu_parts["training"] == ("trainers.a.budget_trials", pytest.approx(13), pytest.approx(26))
    assert base.wall_s == (pytest.approx((13 + 2) / 2), pytest.approx((26 + 4) / 2))
    assert replace(base, at_once=2).wall_s == (pytest.approx(10 + 1), pytest.approx(20 + 2)), (
        "the dearest of each group"
    )
    assert replace(base, at_once=2, groups=(4,)).wall_s == (pytest.approx(10 + 1), pytest.approx(13 + 2)), (
        "10, 3, 10, 3"
    )
    assert base.to_json()["budgets"]["b"] == {"amount": 100, "unit": "trials"}
    shared = tuple(each._replace(follows=i > 1) for i, each in enumerate(trainings))
    less = replace(base, trainings=shared, budgets={**budgets, "a": Budget(1000, "trials", "stages", 400)})
    assert less.cpu_parts["training"] == ("trainers.a.stages", pytest.approx(13), pytest.approx(22)), "shared once"


def test_trainings_go_on_from_their_own_trainer_alone(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(campaign(short=SHORT, long=LONG))
    changes = ["signal_sets=[loss, loss+rtt]", "baseline=loss"]
    config = read_campaign(tmp_path / "tiny.yaml", [*changes, "rivals=subsets"])
    found = {each.id: [rival.id for rival in each.rivals(config)] for each in learners(config, [1])}
    assert found == {
        "loss.default.s1-long": [],
        "loss+rtt.default.s1-long": ["loss.default.s1-long"],
        "loss.default.s1-short": [],
        "loss+rtt.default.s1-short": ["loss.default.s1-short"],
    }
    config = read_campaign(tmp_path / "tiny.yaml", [*changes, "start=baseline"])
    first, then = in_groups(config, [1])
    assert [each.id for each in first] == ["warm-start.default.s1-long", "warm-start.default.s1-short"]
    assert {start.id for each in then for start in each.needs(config)} == {each.id for each in first}
    assert all(start.trainer == each.trainer for each in then for start in each.needs(config))


def test_of_several_trainers_those_learn_apart_that_take_no_rivals(tmp_path: Path) -> None:
    (tmp_path / "tiny.yaml").write_text(campaign(rules=SHORT, net="{kind: ppo, steps: 1000}"))
    changes = ["signal_sets=[loss, loss+rtt]", "baseline=loss"]
    config = read_campaign(tmp_path / "tiny.yaml", [*changes, "rivals=subsets"])
    with_rivals = {each.trainer for each in learners(config, [1]) if each.rivals(config)}
    assert with_rivals == {"rules"}
    with pytest.raises(ConfigError, match=r"start: trainers.net.kind ppo has no warm start"):
        read_campaign(tmp_path / "tiny.yaml", [*changes, "start=baseline"])
    with pytest.raises(ConfigError, match=r"headers: trainers.net.kind ppo cannot learn with them"):
        read_campaign(tmp_path / "tiny.yaml", ["signal_sets=[e2e]", "baseline=e2e", "headers=[nosignal-8b]"])


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("trainer={kind: rplus}", "give either trainer or trainers"),
        ("trainers=null", "give either trainer or trainers"),
        ("trainers={}", "--set: trainers: must have at least 1 item"),
        ("trainers.long.rouns=2", "--set: trainers.long.rouns: unknown key (did you mean 'rounds'?)"),
        ("trainers.long.kind=rpluss", "--set: trainers.long.kind: must be"),
        ("trainers.a.b.kind=rplus", "trainers.a.b"),
        ("trainers={2nd: {kind: rplus}}", "trainers.2nd: must match"),
        ("trainers={a: {}, b: {}, c: {}, d: {}, e: {}}", "trainers: must have at most 4 items"),
        ("trainers.long.pacing=1/fair_rate", "trainers.long: loss+rtt: trainer.pacing: 1/fair_rate needs fair_rate"),
    ],
)
def test_bad_trainers_are_told_by_their_keys(tmp_path: Path, override: str, expected: str) -> None:
    (tmp_path / "tiny.yaml").write_text(campaign(short=SHORT, long=LONG))
    with pytest.raises(ConfigError) as found:
        read_campaign(tmp_path / "tiny.yaml", [override])
    assert expected in str(found.value)


def test_a_campaign_of_one_trainer_is_called_as_before(tmp_path: Path) -> None:
    """Its configuration says nothing of `trainers`, and one with names nothing of `trainer`."""
    path = tmp_path / "tiny.yaml"
    path.write_text(BRIEF)
    one = read_campaign(path)
    path.write_text(campaign(short=SHORT, long=LONG))
    two, other = read_campaign(path), read_campaign(path, ["trainers.short.rounds=2"])
    assert "trainers" not in one.content and one.content["trainer"]["kind"] == "rplus"
    assert "trainer" not in two.content and list(two.content["trainers"]) == ["long", "short"]
    assert len({one.hash, two.hash, other.hash}) == 3
    assert list(read_campaign(path, ["trainers=null", "trainer={rounds: 1}"]).named_trainers) == [""]
