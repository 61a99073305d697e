"""Lists of runs, and two runs side by side."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lcca.api import load_run
from lcca.evaluation.report.words.headline import headline
from lcca.evaluation.trials.loaded_run import read_manifest
from lcca.evaluation.trials.stored import write_json, write_state
from lcca.experiments.reading.difference import difference
from lcca.experiments.reading.listing import runs_in
from lcca.inputs.errors import InputError
from lcca.inputs.files import write_with_digest

from ...fixtures import RunCommand


def begin(folder: Path, **told: Any) -> Path:
    """Make a folder with a manifest of a run that has begun."""
    folder.mkdir(parents=True)
    write_state(folder / "manifest.json", {"kind": "rank", "name": "r", "state": "begun", "version": "1"} | told)
    return folder


def test_runs_are_found_at_any_depth_but_not_inside_of_others(lcca: RunCommand, copied: Path, tmp_path: Path) -> None:
    begin(tmp_path / "grid" / "point")
    begin(copied / "contenders" / "inner")
    bad = begin(tmp_path / "bad")
    (bad / "manifest.json").write_text((bad / "manifest.json").read_text().replace("begun", "ended"))
    lines = {line.folder.relative_to(tmp_path).as_posix(): line for line in runs_in(tmp_path)}
    assert set(lines) == {"copied", "grid/point", "bad"}
    sweep, costs = lines["copied"], load_run(copied).costs
    assert (sweep.kind, sweep.name, sweep.state) == ("sweep", "tiny", "complete")
    assert sweep.cpu_s == pytest.approx(costs["cpu_s"].sum()) and sweep.trials == costs["trials"].sum()
    assert sweep.headline == "Nothing is settled yet: 2 of at least 5 training seeds"
    assert lines["bad"].state == "damaged" and "does not match its digest" in lines["bad"].headline
    assert (lines["grid/point"].state, lines["grid/point"].headline) == ("begun", "")
    told = lcca("runs", tmp_path, "--json").json()["runs"]
    assert [each["folder"] for each in told] == [str(line.folder) for line in runs_in(tmp_path)]
    assert "tiny" in lcca("runs", tmp_path).out
    assert "no such folder" in lcca("runs", tmp_path / "gone").err
    (tmp_path / "empty").mkdir()
    assert lcca("runs", tmp_path / "empty").out == f"no run in {tmp_path / 'empty'}\n"


def first(policy: str, best: int | None) -> dict[str, Any]:
    return {"id": policy, "best_rank": best}


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"policies": [first("a", 1), first("b", 2)]}, "best: a"),
        ({"policies": [first("a", 1), first("b", 1)]}, "may be best: a, b"),
        ({"policies": [first("a", None)]}, "open: too few for a rank"),
        ({"comparisons": [{"A": "default", "B": "tuned", "verdict": "better"}]}, "tuned: better"),
        ({"comparisons": [{"A": "a", "B": name, "verdict": "better"} for name in "bc"]}, "2 better"),
        ({"net_benefit": {"choices": [{"utility": "default", "take": "ecn"}]}}, "Take ecn"),
        (
            {"net_benefit": {"choices": [{"utility": "u", "take": "e2e", "pairs": [{"n": 2, "low": None}]}]}},
            "No recommendation yet: 2 of at least 5 training seeds",
        ),
        ({}, ""),
        ({"agreement": [{"metric": "score_bits", "verdict": "agree within 0.1"}]}, "1 of 1 mean scores agree"),
    ],
)
def test_headlines(result: dict[str, Any], words: str) -> None:
    assert headline(result) == words


def test_results_of_a_former_format_name_the_commit_that_reads_them(lcca: RunCommand, tmp_path: Path) -> None:
    for name in ("summary.json", "estimate.json"):
        run = begin(tmp_path / name, state="complete")
        write_json(run / name, {"format": 1, "standings": []})
        words = f"{run / name}: written in format 1, which commit 736f1f5 reads (git checkout 736f1f5)"
        with pytest.raises(InputError, match=re.escape(words)):
            load_run(run)
        assert [line.headline for line in runs_in(run)] == [words]
        assert lcca("plot", run, "--figure", "list").err == f"lcca: {words}\n"


def test_a_run_and_a_copy_do_not_differ(finished: Path, copied: Path) -> None:
    found = difference(load_run(finished), load_run(copied))
    assert found.config.empty
    for table in (found.verdicts, found.costs):
        one, two = (table.filter(regex=f"_{side}$") for side in (1, 2))
        pd.testing.assert_frame_equal(one, two.set_axis(one.columns, axis=1))
    assert len(found.verdicts) == len(load_run(finished).verdicts)


@pytest.mark.slow
def test_what_was_changed_is_what_differs(lcca: RunCommand, finished: Path, copied: Path) -> None:
    manifest = read_manifest(copied)
    assert manifest
    write_state(copied / "manifest.json", manifest | {"version": "9", "files": []})
    text = (copied / "config.yaml").read_text().replace("margin_percent: 3.0", "margin_percent: 4.0")
    write_with_digest(copied / "config.yaml", text.encode())
    verdicts = json.loads((copied / "verdicts.json").read_text())
    gone = verdicts["comparisons"].pop(0)
    verdicts["comparisons"][0]["difference"] += 1
    write_json(copied / "verdicts.json", verdicts)
    found = difference(load_run(finished), load_run(copied))
    assert found.config.set_index("key").T.to_dict("list") == {
        "manifest.version": [manifest["version"], "9"], "settle.margin_percent": [3.0, 4.0],
    }  # fmt: skip
    changed = found.verdicts["difference_2"] - found.verdicts["difference_1"]
    assert sorted(changed.dropna()) == [1] and changed.isna().sum() == 1
    assert found.verdicts.loc[changed.isna(), "level"].tolist() == [gone["level"]]
    told = lcca("diff", finished, copied)
    assert told.status == 0 and "settle.margin_percent" in told.out and "–" in told.out
    assert len(lcca("diff", finished, copied, "--json").json()["config"]) == 2
    shutil.rmtree(copied)
    assert "no run here" in lcca("diff", finished, copied).err


def test_runs_of_other_kinds_differ(finished: Path, tmp_path: Path, lcca: RunCommand) -> None:
    """Records of the one have a condition, those of the other have none."""
    space = tmp_path / "space.yaml"
    space.write_text(
        "{link_rate: 2, rtt: 20, senders: 2, buffer: 50, mean_on: 40, mean_off: 60, loss: 0, duration: 500}"
    )
    other = tmp_path / "compare"
    assert lcca("compare", "aimd", "fixed-window:9", "--on", space, "--trials", "96", "--out", other).status == 0
    for runs in ((finished, other), (other, finished)):
        found = lcca("diff", *runs)
        assert found.status == 0 and "fixed-window:9 against aimd" in found.out
