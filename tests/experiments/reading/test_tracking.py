"""Runs in a tracking store of MLflow, read back by MLflow's own client."""

from pathlib import Path

import pytest

from lcca.api import load_run

from ...fixtures import RunCommand

pytest.importorskip("mlflow")
pytest.importorskip("alembic")

from mlflow import MlflowClient

from .test_hostile_folders import COSTS, NUMBERS, POLICY, SUMMARY, VERDICT, make, signed


def test_a_campaign_is_a_run_with_one_below_for_each_training(
    lcca: RunCommand, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = f"sqlite:///{tmp_path}/mlflow.db"
    answer = lcca("export", finished, store, "--json").json()
    run, client = load_run(finished), MlflowClient(tracking_uri=store)
    experiment = client.get_experiment_by_name("tiny")
    assert experiment is not None
    top, kept = client.get_run(answer["mlflow"]), client.search_runs([experiment.experiment_id])
    assert top.info.status == "FINISHED" and top.data.tags["lcca.kind"] == "sweep"
    assert top.data.params["settle.margin_percent"] == "3.0" and top.data.params["trainer.rounds"] == "2"
    for row in run.costs.to_dict("records"):
        assert top.data.metrics[f"cost/{row['name']}/trials"] == row["trials"]
    (sets,) = run.verdicts[run.verdicts["level"] == "set"].to_dict("records")
    assert top.data.metrics["test/set/default/loss_queue against loss_rtt/difference"] == sets["difference"]
    assert {each.path for each in client.list_artifacts(top.info.run_id)} == {
        "config.yaml",
        "summary.json",
        "report.html",
    }
    text = Path(client.download_artifacts(top.info.run_id, "summary.json")).read_bytes()
    assert text == (finished / "summary.json").read_bytes()

    below = {each.info.run_name: each for each in kept if each.data.tags.get("mlflow.parentRunId") == top.info.run_id}
    assert set(below) == set(run.policies["id"]) and len(below) == len(kept) - 1 == 4
    for row in run.policies.to_dict("records"):
        own, learning = below[row["id"]], run.learning[run.learning["policy_base"] == row["id"]]
        assert own.data.metrics["score_bits"] == row["score_bits"] and own.data.params["candidate"] == row["candidate"]
        steps = [(each.step, each.value) for each in client.get_metric_history(own.info.run_id, "learning/score_bits")]
        assert steps == list(zip(learning["step"], learning["score_bits"], strict=True))


def test_what_cannot_be_logged_is_said(lcca: RunCommand, copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "or a store of MLflow, as in sqlite:///mlflow.db" in lcca("export", copied, "e2e.dna").err
    refused = lcca("export", copied, "nonsense://x")
    assert (
        refused.status == 2 and refused.err.startswith("lcca: nonsense://x: MLflow: ") and refused.err.count("\n") == 1
    )
    monkeypatch.setattr("lcca.inputs.extras.find_spec", lambda name: None)
    assert "need the package mlflow-skinny: pip install 'lcca[mlflow]'" in lcca("export", copied, "sqlite:///x.db").err


def test_names_that_are_no_names_of_files_are_logged(
    lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as the file of a control of one's own in another folder, or a mixture of many."""
    monkeypatch.chdir(tmp_path)
    store = f"sqlite:///{tmp_path}/mlflow.db"
    for i, name in enumerate(("../../own.py:Law", "./a", "a//b", "/a", "..", "x" * 400)):
        run = make(tmp_path / str(i))
        policies = [POLICY | {"id": each} for each in (name, f"{name}2")]
        verdict = VERDICT | NUMBERS | {"A": name, "B": f"{name}2", "utility": name}
        signed(run / "summary.json", SUMMARY | {"policies": policies, "comparisons": [verdict]})
        signed(run / "costs.json", {"phases": [COSTS["phases"][0] | {"name": name}]})
        (run / "verdicts.json").unlink()
        answer = lcca("export", run, store, "--json")
        assert answer.status == 0, answer.err
        metrics = MlflowClient(tracking_uri=store).get_run(answer.json()["mlflow"]).data.metrics
        assert sorted(metrics.values()).count(1.5) == 2 and 96.0 in metrics.values()  # a cost, an end, n and trials


@pytest.mark.parametrize("store", ["sqlite:///{}", "postgresql://127.0.0.1:1/x", "foo://x"])
def test_a_store_that_cannot_be_opened_is_bad_input(
    lcca: RunCommand, tmp_path: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mlflow.store.db.utils.MAX_RETRY_COUNT", 1)
    named = store.format(tmp_path)
    answer = lcca("export", make(tmp_path / "run"), named)
    assert answer.status == 2 and f"{named}: MLflow: " in answer.err and "Traceback" not in answer.err
