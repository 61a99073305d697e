"""`lcca verdict`: a run's verdicts again, from its stored trials alone."""

import json
from pathlib import Path

import pytest

from lcca.evaluation.trials.layout import part_name
from lcca.evaluation.trials.store import TrialStore

from ...fixtures import RunCommand

PART = part_name("test", "default", 0)


def test_the_stored_verdicts_come_out_again(lcca: RunCommand, copied: Path) -> None:
    stored = json.loads((copied / "verdicts.json").read_text())
    before = {file: file.read_bytes() for file in copied.rglob("*") if file.is_file()}
    answer = lcca("verdict", copied, "--json")
    assert (answer.status, answer.json()) == (0, stored)
    assert {file: file.read_bytes() for file in copied.rglob("*") if file.is_file()} == before
    shown = lcca("verdict", copied)
    assert shown.status == 0 and "as stored in verdicts.json" in shown.out
    assert "selected policies, paired on fresh networks" in shown.out


def test_neither_the_summary_nor_the_verdicts_are_needed(lcca: RunCommand, copied: Path) -> None:
    stored = json.loads((copied / "verdicts.json").read_text())
    for name in ("verdicts.json", "summary.json", "report.html", "learning.parquet"):
        (copied / name).unlink()
    answer = lcca("verdict", copied, "--json")
    assert (answer.status, answer.json()) == (0, stored)


def test_changed_verdicts_are_found(lcca: RunCommand, copied: Path) -> None:
    stored = copied / "verdicts.json"
    stored.write_text(stored.read_text().replace('"alpha": 0.05', '"alpha": 0.01', 1))
    answer = lcca("verdict", copied)
    assert answer.status == 2 and f"{stored}: damaged" in answer.err


def test_a_changed_trial_is_found(lcca: RunCommand, copied: Path) -> None:
    store = TrialStore(copied / "trials")
    rows = store.read(PART)
    rows.loc[0, "score_bits"] += 0.5
    store.add(PART, rows)
    answer = lcca("verdict", copied, "--json")
    assert answer.status == 1
    assert answer.json() != json.loads((copied / "verdicts.json").read_text())


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("part-validation,loss+rtt.default.s1", "loss+rtt.default.s1 has not been validated yet"),
        ("part-test,default,*", "no test trials for utility default"),
    ],
)
def test_an_unfinished_run_is_one_error_with_its_mend(lcca: RunCommand, copied: Path, lost: str, message: str) -> None:
    for file in (copied / "trials").glob(f"{lost}.parquet"):
        file.unlink()
    answer = lcca("verdict", copied)
    assert (answer.status, answer.out) == (2, "")
    assert message in answer.err and "finish the run with lcca sweep\n" in answer.err


def test_a_folder_without_a_run(lcca: RunCommand, tmp_path: Path) -> None:
    answer = lcca("verdict", tmp_path)
    assert answer.status == 2 and "no run here; name a run's folder" in answer.err
