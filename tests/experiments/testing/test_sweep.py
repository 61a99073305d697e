import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pandas as pd
import pytest

from lcca.evaluation.report.words.statements import finding
from lcca.evaluation.trials.layout import part_name
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.recipes import sweep as sweep_run
from lcca.experiments.runs.folder import RunFolder
from lcca.inputs.errors import InputError
from lcca.inputs.files import DIGEST

from ...fixtures import BRIEF, Answer, RunCommand, results, start, undrawn

Moment = Callable[[Path], int]


def files(pattern: str) -> Moment:
    return lambda run: len(list(run.glob(pattern)))


def said(text: str) -> Moment:
    return lambda run: (run / "log.txt").read_text().count(text) if (run / "log.txt").exists() else 0


MOMENTS: dict[str, tuple[Moment, int]] = {
    "the first training": (files("training/*.json"), 1),
    "a later training": (files("training/*.json"), 3),
    "validation": (files("trials/part-validation,*"), 1),
    "testing": (files("trials/part-test*.parquet"), 2),
    "reporting": (said("drawing the report"), 1),
}


def stop(process: subprocess.Popen[str], run: Path, moment: Moment, count: int, how: signal.Signals) -> Answer:
    """Wait until a run has come to a moment, then stop it."""
    while moment(run) < count:
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    return Answer(process.returncode, out, err)


def test_a_sweep_leaves_all_its_results(finished: Path) -> None:
    names = {file.name for file in finished.iterdir() if file.suffix != DIGEST} - {".lock"}
    assert names == {
        *("config.yaml", "manifest.json", "log.txt", "costs.json", "policies", "training", "trials"),
        *("learning.parquet", "summary.json", "verdicts.json", "report.html", "figures"),
    }
    assert json.loads((finished / "manifest.json").read_text())["state"] == "complete"
    assert not list(finished.rglob("*.part"))


def test_every_step_of_a_training_is_a_point_for_tensorboard(finished: Path) -> None:
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    learning = pd.read_parquet(finished / "learning.parquet")
    logs = finished / "training" / "tensorboard"
    assert f"tensorboard --logdir {logs}" in (finished / "log.txt").read_text().replace("\n", "")
    for name, rows in learning.groupby("policy_base"):
        read = events.EventAccumulator(str(logs / str(name) / "steps"), {"tensors": 0})  # 0: all points
        read.Reload()
        points = {each.step: each.tensor_proto.float_val[0] for each in read.Tensors("score_bits")}
        assert points == pytest.approx(dict(zip(rows["step"], rows["score_bits"], strict=True)), rel=1e-6)


def test_the_summary_tells_what_was_found(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    ids = [policy["id"] for policy in summary["policies"]]
    assert ids == ["loss+rtt.default.s1", "loss+queue.default.s1", "loss+rtt.default.s2", "loss+queue.default.s2"]
    assert (summary["comparisons"][0]["level"], summary["comparisons"][0]["A"]) == ("set", "loss+rtt")
    of_sets, of_policies = summary["comparisons"]
    assert of_policies["A"].startswith("loss+rtt.default.s")
    assert of_policies["B"].startswith("loss+queue.default.s")
    assert (of_policies["verdict"], of_policies["n"]) == ("not settled", 96)  # the best of two short trainings each
    assert (of_sets["verdict"], of_sets["n"]) == ("not settled", 2)
    assert {policy["rules"] for policy in summary["policies"]} == {4}
    assert sum(policy["selected"] for policy in summary["policies"]) == 2
    scores = {policy["trained"]["score_bits"] for policy in summary["policies"]}
    assert len(scores) == 4  # the sets and seeds learnt different policies


def test_the_summary_agrees_with_the_trials(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    store = TrialStore(finished / "trials")
    trials, trained = store.all("test"), store.all("trainings-test")
    for policy in summary["policies"]:
        rows = trained[trained["policy"] == policy["id"]]
        assert policy["trained"]["score_bits"] == pytest.approx(rows["score_bits"].mean())
        assert policy["trained"]["trials"] == len(rows) == 48
        assert policy["selected"] == (policy["test"] is not None) == (policy["id"] in set(trials["policy"]))
    assert trials["network"].nunique() in (32, 64, 96)  # whole blocks, and no more than the configuration allows


def test_the_summary_says_what_is_possible(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    (found,) = summary["ideal"]
    selected = {policy["id"]: policy["test"]["score_bits"] for policy in summary["policies"] if policy["selected"]}
    assert {row["policy"]: row["score_bits"] for row in found["policies"]} == pytest.approx(selected)
    assert max(selected.values()) < found["fair_bits"] < found["clairvoyant_bits"] <= found["upper_bits"]
    assert (found["networks"], found["baseline"]) == (96, summary["comparisons"][1]["A"])


def test_training_seeds_have_test_networks_of_their_own(finished: Path) -> None:
    trained = TrialStore(finished / "trials").all("trainings-test")
    met = {policy: set(rows["network"]) for policy, rows in trained.groupby("policy")}
    assert met["loss+rtt.default.s1"] == met["loss+queue.default.s1"]
    assert met["loss+rtt.default.s1"].isdisjoint(met["loss+rtt.default.s2"])


def test_a_set_is_compared_by_its_mean_over_training_seeds(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    mean = {row["name"]: row["score_bits"] for row in summary["signal_sets"]}
    for row in summary["signal_sets"]:
        own = [p["trained"]["score_bits"] for p in summary["policies"] if p["signal_set"] == row["name"]]
        assert row["scores_bits"] == pytest.approx(own) and row["score_bits"] == pytest.approx(sum(own) / 2)
    assert summary["comparisons"][0]["difference"] == pytest.approx(mean["loss+queue"] - mean["loss+rtt"])


def test_sets_are_compared_at_equal_numbers_of_rules_too(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    trained = TrialStore(finished / "trials").all("trainings-test")
    rows = {(row["name"], row["rules"]): row for row in summary["capacity"]}
    assert set(rows) == {(name, rules) for name in ("loss+rtt", "loss+queue") for rules in (4,)}
    mean = trained.groupby("policy")["score_bits"].mean()
    for (name, rules), row in rows.items():
        own = [mean[f"{name}.default.s{seed}@{rules}"] for seed in (1, 2)]
        assert row["score_bits"] == pytest.approx(sum(own) / 2) and row["training_seeds"] == 2
    found = rows["loss+queue", 4]["comparison"]
    assert found["difference"] == pytest.approx(rows["loss+queue", 4]["score_bits"] - rows["loss+rtt", 4]["score_bits"])
    assert found["alpha"] == pytest.approx(0.05)  # one size


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_training_seeds_are_added_until_all_is_settled(tiny: Path, lcca: RunCommand) -> None:
    """A margin so wide that the first look settles; one so narrow that nothing does."""
    short = (
        "--set",
        "trainer.check_networks=0",
        "--set",
        "training_seeds={first: 5, most: 6}",
        "--set",
        "test.pairs=20",
        "--training-cache",
        tiny.parent / "cache",
    )
    for margin, seeds in ((900, 5), (0.001, 6)):
        run = tiny.parent / str(seeds)
        answer = lcca("sweep", tiny, "--out", run, *short, "--set", f"settle.margin_percent={margin}", "--json").json()
        assert [row["training_seeds"] for row in answer["signal_sets"]] == [list(range(1, seeds + 1))] * 2
        assert (answer["comparisons"][0]["verdict"] == "equivalent") == (seeds == 5)
        assert not (run / "so-far.json").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_a_campaign_that_is_stopped_says_what_it_has_found_so_far(
    tiny: Path, lcca: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same as a campaign says in the end that has these training seeds alone."""
    short = ("--set", "trainer.check_networks=0", "--set", "test.pairs=20", "--training-cache", tiny.parent / "cache")
    run, whole = tiny.parent / "stopped", tiny.parent / "whole"

    def stop(*_: object) -> NoReturn:
        raise InputError("stopped")

    with monkeypatch.context() as patch:
        patch.setattr(sweep_run, "run_tests", stop)
        assert lcca("sweep", tiny, "--out", run, *short).status == 2
    found = lcca("report", run, "--json").json()
    assert "not finished" in lcca("report", run).out
    summary = lcca("sweep", tiny, "--out", whole, *short, "--json").json()
    assert found["signal_sets"] == summary["signal_sets"]
    sets = [c for c in summary["comparisons"] if c["level"] == "set"]
    assert [(c["B"], c["difference"]) for c in found["comparisons"]] == [(c["B"], c["difference"]) for c in sets]


def test_training_validation_and_test_networks_are_different(finished: Path) -> None:
    store = TrialStore(finished / "trials")
    assert set(store.all("validation")["seed"]).isdisjoint(store.all("test")["seed"])


def test_the_chosen_checkpoint_is_the_best_on_the_validation_networks(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    for policy in summary["policies"]:
        means = (
            TrialStore(finished / "trials")
            .read(part_name("validation", policy["id"]))
            .groupby("policy")["score_bits"]
            .mean()
        )
        assert policy["validation_score_bits"] == means.max()
        assert means[f"{policy['id']}.{policy['checkpoint'].removesuffix('.json')}"] == means.max()
        chosen = (finished / "policies" / f"{policy['id']}.json").read_bytes()
        assert chosen == (finished / "policies" / policy["id"] / policy["checkpoint"]).read_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_training_first_and_sweeping_later_changes_no_byte(finished: Path, tiny: Path, lcca: RunCommand) -> None:
    run = tiny.parent / "run"
    answer = lcca("sweep", tiny, "--until", "trained", "--out", run, "--json")
    assert [row["id"] for row in answer.json()["rows"]] == [
        f"{name}.default.s{seed}" for seed in (1, 2) for name in ("loss+rtt", "loss+queue")
    ]
    assert lcca("sweep", tiny, "--out", run).status == 0
    assert results(run) == results(finished)


@pytest.mark.full
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_killed_once_ends_with_the_same_bytes(finished: Path, tiny: Path, moment: str) -> None:
    run = tiny.parent / "run"
    stop(start(tiny, run), run, *MOMENTS[moment], signal.SIGKILL)
    process = start(tiny, run)
    process.communicate(timeout=120)
    assert process.returncode == 0
    assert results(run) == results(finished)


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_ctrl_c_exits_with_130_and_says_how_to_go_on(finished: Path, tiny: Path, lcca: RunCommand) -> None:
    run = tiny.parent / "run"
    answer = stop(start(tiny, run), run, *MOMENTS["a later training"], signal.SIGINT)
    assert answer.status == 130
    assert answer.err.endswith("lcca: stopped; the same command goes on from here\n")
    assert "Traceback" not in answer.err
    assert answer.out == ""
    assert lcca("sweep", tiny, "--out", run).status == 0
    assert results(run) == results(finished)


def test_resuming_a_complete_run_is_quick_and_changes_nothing(copied: Path, tiny: Path, lcca: RunCommand) -> None:
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in copied.rglob("*") if file.is_file()}
    lcca("sweep", tiny, "--out", copied, "--json")  # loads libraries
    began = time.process_time()
    answer = lcca("sweep", tiny, "--out", copied, "--json")
    assert time.process_time() - began < 1
    assert answer.json() == json.loads((copied / "summary.json").read_text())
    assert "complete already; nothing to do" in answer.err
    after = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in copied.rglob("*") if file.is_file()}
    del before[copied / ".lock"], after[copied / ".lock"]
    assert after == before


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
@pytest.mark.parametrize("lost", ["summary.json", "verdicts.json", "report.html", "learning.parquet", "config.yaml"])
def test_what_can_be_computed_again_is(finished: Path, copied: Path, tiny: Path, lcca: RunCommand, lost: str) -> None:
    (copied / lost).unlink()
    (copied / "report.html").unlink(missing_ok=True)
    assert lcca("sweep", tiny, "--out", copied).status == 0
    assert (copied / lost).exists()
    assert results(copied) == results(finished)


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
@pytest.mark.parametrize(("part", "kept"), [("test,default,000001", 0), ("validation,loss+rtt.default.s1", 500)])
def test_a_damaged_part_of_the_trials_is_one_error_with_its_mend(
    finished: Path, copied: Path, tiny: Path, lcca: RunCommand, part: str, kept: int
) -> None:
    (copied / "report.html").unlink()
    path = copied / "trials" / f"part-{part}.parquet"
    path.write_bytes(path.read_bytes()[:kept])
    answer = lcca("sweep", tiny, "--out", copied)
    assert answer.status == 2
    error = answer.err.splitlines()[-1]
    assert error.startswith(f"lcca: {path}: damaged (")
    assert error.endswith("delete it and resume to run its trials again")
    path.unlink()
    assert lcca("sweep", tiny, "--out", copied).status == 0
    assert results(copied) == results(finished)


@pytest.mark.usefixtures("no_report")
def test_a_full_disk_does_not_stop_the_log(tiny: Path, lcca: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, text: bytes) -> None:
            raise OSError(28, "No space left on device")

        close = write

    from lcca.experiments.runs.progress import Reporter

    reporter = Reporter(tiny.parent / "log.txt")
    monkeypatch.setattr(reporter, "_log", Full())
    reporter.note("hello")


@pytest.mark.usefixtures("no_report")
def test_a_campaign_of_one_set_has_nothing_to_compare(tiny: Path, lcca: RunCommand) -> None:
    changes = ("--set", "signal_sets=[loss]", "--set", "baseline=loss", "--set", "training_seeds=[1]")
    short = ("--set", "trainer.rounds=1", "--set", "test.pairs=20")
    answer = lcca("sweep", tiny, "--out", tiny.parent / "run", *changes, *short, "--json")
    assert answer.json()["comparisons"] == []
    assert len(answer.json()["policies"]) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_hand_designed_policies_are_tested_beside_the_selected_ones(tiny: Path, lcca: RunCommand) -> None:
    changes = ("--set", "hand_designed=[aimd, fixed-window:3]", "--set", "trainer.rounds=1", "--set", "test.pairs=20")
    summary = lcca("sweep", tiny, "--out", tiny.parent / "run", *changes, "--json").json()
    policies = [c["B"] for c in summary["comparisons"] if c["level"] == "policy"]
    assert policies[1:] == ["aimd", "fixed-window:3"]
    answer = lcca("sweep", tiny, "--out", tiny.parent / "other", "--set", "hand_designed=[cubic]")
    assert answer.status == 2 and "cubic runs in ns-3 alone" in answer.err


@pytest.mark.slow
def test_a_hand_designed_policy_meets_what_was_learnt_from_its_signals(tiny: Path, lcca: RunCommand) -> None:
    sets = ("--set", "signal_sets=[loss+rtt, capacity+flows, flows]", "--set", "baseline=loss+rtt")
    changes = ("--set", "hand_designed=[aimd, rcp, fair-rate]", "--set", "trainer.rounds=1", "--set", "test.pairs=20")
    run = tiny.parent / "run"
    with undrawn():
        told = lcca("sweep", tiny, "--out", run, "--tables", *sets, *changes)
    assert told.status == 0 and "Hand-designed policies against learnt ones" in told.out
    summary = json.loads((run / "summary.json").read_text())
    (found,) = summary["hand_designed"]
    (learnt,) = (p for p in summary["policies"] if p["selected"] and p["signal_set"] == "capacity+flows")
    assert (found["A"], found["B"], found["signals"]) == (learnt["id"], "fair-rate", ["flows", "capacity"])
    scores = TrialStore(run / "trials").all("test").groupby("policy")["score_bits"].mean()
    assert found["difference"] == pytest.approx(scores["fair-rate"] - scores[learnt["id"]])
    page = (run / "report.html").read_text()
    assert "Hand-designed policies with the same signals" in page and finding(found) in page


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_several_utilities_are_trained_and_tested_apart(tiny: Path, lcca: RunCommand) -> None:
    changes = ("--set", "utilities=[default, {name: mine, throughput_weight: 3, delay_weight: 1}]")
    short = ("--set", "trainer.rounds=1", "--set", "test.pairs=20", "--set", "training_seeds=[1]")
    summary = lcca("sweep", tiny, "--out", tiny.parent / "run", *changes, *short, "--json").json()
    assert [p["utility"] for p in summary["policies"]] == ["default"] * 2 + ["mine"] * 2
    assert [(c["level"], c["utility"]) for c in summary["comparisons"]] == [
        *(("set", "default"), ("set", "mine")),
        *(("policy", "default"), ("policy", "mine")),
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_testing_stops_when_every_difference_is_known(tiny: Path, lcca: RunCommand) -> None:
    """A margin so wide that the first look is accurate enough."""
    run = tiny.parent / "run"
    answer = lcca(
        "sweep", tiny, "--out", run, "--set", "settle.margin_percent=1e6", "--set", "test.pairs=400", "--json"
    )
    (*_, of_policies) = answer.json()["comparisons"]
    assert (of_policies["verdict"], of_policies["n"]) == ("equivalent", 96)
    assert len(list((run / "trials").glob("part-test*.parquet"))) == 3  # of two blocks each


def test_progress_on_a_plain_output_is_sparse(finished: Path) -> None:
    assert json.loads((finished.parent / "out.txt").read_text())["campaign"] == "tiny"
    lines = (finished.parent / "err.txt").read_text().splitlines()
    assert f"tiny: 4 trainings, then tests; everything goes to {finished}" in lines[:2]  # the other is on TensorBoard
    assert len(lines) < 20
    assert sum(line.endswith(": done") for line in lines) == 4
    assert len((finished / "log.txt").read_text().splitlines()) > len(lines)


def test_a_folder_is_free_again_after_a_run_failed(tiny: Path, lcca: RunCommand) -> None:
    from lcca.experiments.campaign.config import read_campaign

    run = tiny.parent / "run"
    (run / "training").mkdir(parents=True)
    assert lcca("sweep", tiny, "--out", run).status == 2
    (run / "training").rmdir()
    RunFolder.open(run, read_campaign(tiny), resume=False).close()
    RunFolder.open(run, read_campaign(tiny), resume=True).close()
    assert BRIEF == tiny.read_text()
