"""All kinds of runs alike: killed ones and those of a full disk go on to the same bytes, other files are refused."""

import errno
import io
import json
import multiprocessing
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.cli.main import main
from lcca.evaluation.report.figures.style import REPORT
from lcca.evaluation.report.plots import plot
from lcca.evaluation.report.words.statements import capital, number
from lcca.evaluation.trials import place
from lcca.evaluation.trials.loaded_run import LoadedRun
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, FLOWS, NETWORK_TRIALS
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.reading.exporting import export_tables
from lcca.experiments.recipes import kept, sweep
from lcca.gym_envs.ns3.plan import Ns3Options
from lcca.remy_plus.engine import Engine

from ...evaluation.report.test_report import read
from ...fixtures import Answer, RunCommand
from ...studies import of_studies
from ..reading.pdflatex import problems_of_paper
from .run_files import RunKind
from .run_kinds import KINDS

LEARNING = ("learning.parquet", "learning.parquet.sha256")
UNLIKE = {".lock", "log.txt", "costs.json", *LEARNING, "study.sqlite3", "claims", "training", "report.html"}
"""Files and folders that tell of time, or in what order something was tried."""


class EngineForNs3(Engine):
    """Stands for ns-3: the same trials by another name."""

    name = "ns-3"
    options = Ns3Options()

    def __init__(self, duration: float, model: Any, jobs: int, *_: Any) -> None:
        super().__init__(duration, model, jobs)


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    """Leave out the drawing of figures, which takes longer than all the rest, and ns-3."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (kept, sweep):
            patch.setattr(module, "render", lambda folder, costs: (folder / "report.html").touch())
        for module, names in of_studies("DRAWING").values():
            for name in names:
                patch.setattr(module, name, lambda *_: None)
        patch.setattr(place, "Ns3", EngineForNs3)
        yield


@dataclass(frozen=True)
class Whole:
    """A run that was never broken, not to be changed: its kind and folder, what was said, and files written."""

    kind: RunKind
    run: Path
    out: str
    writes: int

    def command(self, run: Path, *options: object) -> list[str]:
        return [*self.kind.command, "--out", str(run), *map(str, options)]


def results(run: Path) -> dict[str, bytes]:
    """Return all files of a run that must be the same."""
    names = {file.relative_to(run): file for file in run.rglob("*") if file.is_file()}
    return {str(name): file.read_bytes() for name, file in names.items() if not UNLIKE.intersection(name.parts)}


def trials_of(run: Path) -> dict[str, tuple[int, int]]:
    """Return how many trials and packets the phases of a run took."""
    phases = json.loads((run / "costs.json").read_text())["phases"]
    return {each["name"]: (each["trials"], each["packets"]) for each in phases}


QUICK = ("compare", "evaluate-fabric", "map", "sweep")
"""Kinds of runs that `make test` goes through; `make test-slow` goes through the others."""


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in KINDS],
)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    kind = KINDS[request.param]
    if missing := [name for name in kind.needs if find_spec(name) is None]:
        pytest.skip(f"{missing[0]} is not installed")
    folder, count, flush = kind.write(tmp_path_factory.mktemp("whole")), [0], os.fsync

    def counted(descriptor: int) -> None:
        count[0] += 1
        flush(descriptor)

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with patch.context() as counting, redirect_stdout(io.StringIO()) as out:
            counting.setattr(os, "fsync", counted)
            assert main([*kind.command, "--out", "run", "--jobs", "1", "--json"]) == 0
        yield Whole(kind, folder / "run", out.getvalue(), count[0])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "run"


@pytest.fixture
def copied(whole: Whole, run: Path) -> Path:
    """A copy of the run."""
    return Path(shutil.copytree(whole.run, run))


def failing(writes: int, fail: Callable[[], None]) -> Any:
    """Return what flushes files to disk, and fails after so many."""
    left = iter(range(writes))

    def flush(descriptor: Any) -> None:
        if next(left, None) is None:
            fail()

    return flush


def run_until_killed(command: list[str], writes: int) -> None:
    os.fsync = failing(writes, lambda: os.kill(os.getpid(), signal.SIGKILL))  # this process ends with it
    main(command)


def test_a_killed_run_goes_on_to_the_same_bytes(whole: Whole, run: Path) -> None:
    """Killed while it writes a file, and again while it goes on with other jobs."""
    for writes, jobs in ((whole.writes // 3, 1), (whole.writes // 2, 2)):
        arguments = (whole.command(run, "--jobs", jobs), writes)
        process = multiprocessing.get_context("fork").Process(target=run_until_killed, args=arguments)
        process.start()
        process.join(60)
        assert process.exitcode == -signal.SIGKILL
    assert results(run) != results(whole.run)
    assert main(whole.command(run, "--jobs", 2)) == 0
    assert results(run) == results(whole.run) and not list(run.rglob("*.part"))
    assert trials_of(run) == trials_of(whole.run)


@pytest.mark.slow
def test_the_number_of_jobs_changes_no_byte(whole: Whole, run: Path) -> None:
    assert main(whole.command(run, "--jobs", 2)) == 0
    assert results(run) == results(whole.run)


def test_the_executor_changes_no_byte(whole: Whole, run: Path) -> None:
    if whole.kind.command[0] == "sweep":
        pytest.skip("tests/experiments/testing/test_executors.py asks it of campaigns")
    assert main(whole.command(run, "--jobs", 2, "--executor", "processes")) == 0
    assert results(run) == results(whole.run)


KEYS = ("test.pairs", "trainer.dqn.steps", "estimate.ceiling", "points")


PLANNED = {
    **dict.fromkeys(("estimate", "map", "tune", "study"), ()),
    **dict.fromkeys(("estimate-several", "estimate-controlled", "acc"), pytest.mark.slow),
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=marks) for n, marks in PLANNED.items() if n in KINDS])
def test_a_plan_keeps_nothing(name: str, lcca: RunCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS[name]
    if missing := [each for each in kind.needs if find_spec(each) is None]:
        pytest.skip(f"{missing[0]} is not installed")
    monkeypatch.chdir(kind.write(tmp_path))
    found = lcca(*kind.command, "--plan", "--json").json()
    costs = [found, *found.get("contenders", {}).values()]
    ends = [end for each in costs for end in each.get("costs", ())]
    assert {path.name for path in tmp_path.iterdir()} == {Path(name).parts[0] for name in kind.files}
    assert all(end["cpu_s"] > 0 for end in ends) and len(ends) >= 1
    counts = {end["by"]: count_of(end) for end in ends if end.get("by") in KEYS}
    twice = [word for key, count in counts.items() for word in ("--set", f"{key}={2 * count}")]
    again = lcca(*kind.command, "--plan", "--json", *twice).json().get("costs", ())
    assert {end["by"]: count_of(end) / 2 for end in again if end.get("by") in KEYS} == counts
    assert counts or name == "study"


def count_of(end: dict[str, Any]) -> int:
    return next(value for value in end.values() if isinstance(value, int))


def test_a_full_disk_is_one_line_and_loses_nothing(
    whole: Whole, run: Path, lcca: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", failing(whole.writes // 2, full))
        answer = lcca(*whole.command(run))
    assert answer.status == 2 and is_one_line(answer, "cannot be written: No space left on device")
    assert main(whole.command(run)) == 0
    assert results(run) == results(whole.run)


def test_a_complete_run_has_its_result_and_runs_nothing(
    whole: Whole, copied: Path, lcca: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(store: TrialStore, part: str, rows: Any) -> None:
        raise AssertionError(f"{part} was there")

    monkeypatch.setattr(TrialStore, "add", fails)
    assert lcca(*whole.command(copied, "--json")).out == whole.out
    assert results(copied) == results(whole.run)


def test_a_kept_configuration_is_read_again_as_it_is(whole: Whole, copied: Path, lcca: RunCommand) -> None:
    command, named, *options = whole.command(copied, "--json")
    if named not in whole.kind.files or command in ("compare", "rank", "evaluate"):
        pytest.skip("no file describes it")
    assert lcca(command, copied / "config.yaml", *options).out == whole.out


def test_a_changed_file_is_refused_by_its_name(whole: Whole, copied: Path, lcca: RunCommand) -> None:
    name, text = whole.kind.changed
    file = whole.run.parent / name
    file.write_text(text)
    answer = lcca(*whole.command(copied))
    file.write_text(whole.kind.files[name])
    assert answer.status == 2 and is_one_line(answer, f"{copied}: a run of another configuration: ")
    assert (whole.kind.named or f"{name} has another content") in answer.err
    assert results(copied) == results(whole.run)


def test_its_page_has_its_names_and_its_numbers_with_labels(whole: Whole, copied: Path, lcca: RunCommand) -> None:
    assert lcca("report", copied, "--json").json()["report"] == str(copied / "report.html")
    assert results(whole.run).items() <= results(copied).items()
    page, text = read(copied / "report.html")
    source = (copied / "report.html").read_text(encoding="utf-8")
    assert "http" not in source and all(each.startswith("#") for each in page.references)
    assert not page.tags & {"img", "iframe", "object", "link"} and len(set(page.ids)) == len(page.ids)
    assert not re.search(r"<td[^>]*>(?:[^<]*[\s\[(])?-\d", source)  # a minus is no hyphen
    titles = re.findall("<h2>(.*?)</h2>", source)
    result, metrics = LoadedRun(copied).result, NETWORK_TRIALS | FABRIC_TRIALS | FLOWS
    metrics |= {each.over_trials.name: each.over_trials for each in metrics.values()}
    assert lcca("show", "run", copied, "--json").json() == result
    for each in result.get("policies", ()):
        assert each["id"] in text and each.get("condition", "") in text
        for metric in (metrics[name] for name in each if name in metrics):
            found = each[metric.name]
            mean = found["value" if "value" in found else "mean"] if isinstance(found, dict) else found
            assert capital(metric.head) in text
            assert number(mean / metric.scale, metric.digits) in text.replace(" -", " −")
    for each in result.get("agreement", ()):
        assert each["policy"] in text and metrics[each["metric"]].label in text and f"{each['difference']:+.3f}" in text
    for each in result.get("comparisons", ()):
        assert f"against {each['A']}" in text and each["B"] in text and each["verdict"] in text
        assert number(each["difference"], 3, signed=True) in text
    for each in result.get("estimates", ()):
        metric = metrics[each["metric"]]
        assert metric.label in text and f"{each['estimate'] / metric.scale:.5g}" in text
    assert ("Candidates" in titles) == (copied / "candidates.parquet").exists()
    assert ("Learning curve" in titles) == ("curve" in result)


def test_pdflatex_sets_its_tables(whole: Whole, tmp_path: Path) -> None:
    texts = {file.name: file.read_text() for file in export_tables(LoadedRun(whole.run), tmp_path, "latex")}
    assert {"costs.tex", "numbers.tex"} <= set(texts)
    assert problems_of_paper(texts, tmp_path) == []


@pytest.mark.parametrize("whole", ["rank"], indirect=True)
def test_a_kept_ranking_has_means_and_ends_where_they_belong(whole: Whole) -> None:
    """The keys of a file are sorted: high, low, mean."""
    ranked = LoadedRun(whole.run).result["policies"]
    drawn = plot(whole.run, "ranking", REPORT)
    scores = [each["score_bits"] for each in ranked]
    assert all(score["low"] < score["mean"] < score["high"] for score in scores)
    assert drawn.data[["score_bits", "low", "high"]].to_dict("records") == [
        {"score_bits": score["mean"], "low": score["low"], "high": score["high"]} for score in scores
    ]
    lines = [tuple(np.asarray(line.get_xdata()).tolist()) for line in drawn.figure.axes[0].lines]
    assert lines == [ends for score in scores for ends in ((score["low"], score["high"]), (score["mean"],))]


REFUSED = [(name, asked, words) for name, kind in KINDS.items() for asked, words in kind.refused]


@pytest.mark.parametrize(("name", "asked", "words"), REFUSED, ids=lambda value: str(value)[:40])
def test_what_cannot_be_is_refused(
    name: str, asked: str | tuple[str, ...], words: str, lcca: RunCommand, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(KINDS[name].write(tmp_path))
    options = ("--set", asked) if isinstance(asked, str) else asked
    answer = lcca(*KINDS[name].command, "--out", "run", *options)
    assert answer.status == 2 and is_one_line(answer, words)


def is_one_line(answer: Answer, words: str) -> bool:
    """Tell whether one error is said, with these words, and no traceback; its lines may be folded."""
    error = answer.err[answer.err.rindex("lcca: ") :]
    return words in error.replace("\n", " ") and answer.err.count("lcca: ") == 1 and "Traceback" not in answer.err
