"""Results of format 2 called means of trials' quantiles and quantiles of all flows by the same name."""

from pathlib import Path

import pytest

from lcca.evaluation.trials.loaded_run import FORMAT, LoadedRun
from lcca.evaluation.trials.records import renamed
from lcca.evaluation.trials.stored import write_json, write_state
from lcca.inputs.errors import InputError

P99 = {"mean": 3.0, "low": 2.0, "high": 4.0}
MERIT = {"merit_bits": P99, "decades": [{"size_from": 0, "p99_bits": P99}], "short_p99": {"us": P99}}
VALUE = {"value": 3.0, "low": 2.0, "high": 4.0}


def former(kind: str, **policy: object) -> dict[str, object]:
    return {"format": 2, "kind": kind, "policies": [{"id": "dctcp", "slowdown_mean": P99, **policy}]}


def test_an_evaluation_keeps_the_name_and_has_values() -> None:
    parts = [{"size_from": 0, "slowdown_mean": P99, "slowdown_p50": P99}]
    (found,) = renamed(former("evaluate", slowdown_p99=P99, by_size=parts, merit=MERIT, score_bits=P99))["policies"]
    assert found["slowdown_mean"] == found["score_bits"] == P99 and found["slowdown_p99"] == VALUE
    assert found["by_size"] == [{"size_from": 0, "slowdown_mean": P99, "slowdown_p50": VALUE}]
    assert found["merit"]["merit_bits"] == found["merit"]["short_p99"]["us"] == VALUE
    assert found["merit"]["decades"][0]["p99_bits"] == VALUE


def test_what_averages_trials_has_the_name_of_that() -> None:
    (study,) = renamed(former("study", slowdown_p99=P99, fct_p99_us=P99, queue_p99_bytes=P99))["policies"]
    assert study == {
        **{"id": "dctcp", "slowdown_mean": P99, "queue_p99_bytes": P99},
        **{"mean_of_trials_slowdown_p99": P99, "mean_of_trials_fct_p99_us": P99},
    }
    (sweep,) = renamed(former("sweep", trained={"slowdown_p999": 3.0, "slowdown_p999_se": 0.1}))["policies"]
    assert sweep["trained"] == {"mean_of_trials_slowdown_p999": 3.0, "mean_of_trials_slowdown_p999_se": 0.1}


def test_results_of_today_stay_as_they_are() -> None:
    today = former("evaluate", slowdown_p99=VALUE) | {"format": FORMAT}
    assert renamed(today) == today


@pytest.mark.parametrize(("number", "readable"), [(1, False), (2, True), (FORMAT, True), (FORMAT + 1, False)])
def test_runs_of_both_formats_are_read_and_others_refused(tmp_path: Path, number: int, readable: bool) -> None:
    write_json(tmp_path / "summary.json", former("study", slowdown_p99=P99) | {"format": number})
    write_state(tmp_path / "manifest.json", {"kind": "study", "state": "complete"})
    if readable:
        name = "slowdown_p99" if number == FORMAT else "mean_of_trials_slowdown_p99"
        assert LoadedRun(tmp_path).policies[name].tolist() == [3.0]
    else:
        with pytest.raises(InputError, match=f"written in format {number}"):
            print(LoadedRun(tmp_path).result)
