"""Jobs of training in reports and exports: what each takes, from messages that are timed here, with its interval."""

import html
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lcca.experiments.recipes.sweep as run
from lcca.evaluation.fabric.scenario import read_scenario
from lcca.evaluation.fabric.trials import run_fabric_trials
from lcca.experiments.reading.fabric_runs import load_run
from lcca.remy_plus.fabric.engine import engine_of
from lcca.signal_sets.load import resolve

from ...fixtures import RunCommand, undrawn

JOBS = """\
name: jobs
topology: {kind: star, hosts: 6, gbps: 100}
switch: {pfc: false}
workload:
  kind: mix
  parts:
    - {kind: job, ranks: 3, iterations: 2, operations: [{kind: all-reduce, bytes: 30000, compute_us: 5}]}
    - {kind: job, ranks: 4, placement: random, operations: [{kind: all-to-all, bytes: 40000}]}
"""
CAMPAIGN = """\
name: of-jobs
networks:
  fabric:
    - jobs.yaml
    - {name: bare, topology: {kind: star, hosts: 3}, workload: {kind: permutation, bytes: 9000}}
signal_sets: [e2e, e2e+receiver-rank]
hand_designed: [dctcp]
utilities: [slowdown]
trainer: {kind: law, networks: 4, stages: [{trials: 16, width: 1}]}
training_seeds: [1, 2]
validation: {networks: 8}
test: {pairs: 24, at_least: 24, block: 24, per_training_seed: 8}
"""


def rows_of_section(page: Path) -> list[list[str]]:
    """Return the cells of the tables in the section on jobs."""
    (text,) = re.findall(r'<section[^>]*id="jobs".*?</section>', page.read_text(encoding="utf-8"), re.DOTALL)
    rows = re.findall(r"<tr.*?</tr>", text, re.DOTALL)
    return [
        [html.unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in re.findall(r"<t[dh].*?</t[dh]>", row, re.S)]
        for row in rows
    ]


def took_us(scenario: Path, policy: str, seeds: list[int]) -> np.ndarray:
    """Return (trials, jobs) times, from the first start of a job, which is 0, to its last message."""
    found = read_scenario(scenario)
    engine = engine_of(resolve(policy, "fabric").policy, found.settings())
    again = run_fabric_trials(found, {policy: engine}, seeds)
    end = [(each.record["flow_start_ns"] + each.record["flow_fct_ns"]) / 1000 for each in again]
    return np.array(
        [[own[each.flows.job == job].max() for job in (0, 1)] for own, each in zip(end, again, strict=True)]
    )


def test_an_evaluation_tells_of_each_job(lcca: RunCommand, tmp_path: Path) -> None:
    """A ring of three sends 4 times 10 kB; each rank of an exchange of four 3 times 40 kB."""
    (tmp_path / "jobs.yaml").write_text(JOBS)
    lcca("evaluate", "dctcp", "swift", "--on", tmp_path / "jobs.yaml", "--trials", 5, "--out", tmp_path / "run")
    lcca("report", tmp_path / "run")
    lcca("export", tmp_path / "run", tmp_path / "tables")
    jobs = pd.read_csv(tmp_path / "tables" / "jobs.csv")
    assert len(jobs) == 2 * 5 * 2 and jobs["finished"].all()
    assert load_run(tmp_path / "run").jobs["took_us"].tolist() == jobs["took_us"].tolist()
    shown = rows_of_section(tmp_path / "run" / "report.html")[1:]
    assert [row[:2] for row in shown] == [[policy, job] for policy in ("dctcp", "swift") for job in "12"]
    for policy, first in (("dctcp", 0), ("swift", 2)):
        own = jobs[jobs["policy"] == policy]
        took = took_us(tmp_path / "jobs.yaml", policy, own["seed"].drop_duplicates().tolist())
        for job, (iterations, computed, sent) in enumerate([(2, 10, 2 * 40_000), (1, 0, 120_000)]):
            each, cells = own[own["job"] == job], shown[first + job]
            assert each["took_us"].tolist() == pytest.approx(took[:, job].tolist())
            assert cells[2].startswith(f"{took[:, job].mean() / iterations:.1f} [")
            assert cells[3].startswith(f"{(took[:, job].mean() - computed) / iterations:.1f} [")
            assert cells[5].startswith(f"{np.mean(sent * 8 / 1000 / (took[:, job] - computed)):.1f} [")
            assert (each["job_over_bound"] > 1).all() and cells[4].startswith(f"{each['job_over_bound'].mean():.3f} [")
            assert cells[6] == "5"


def test_times_of_jobs_that_do_not_end_are_bounds(lcca: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "jobs.yaml").write_text(f"{JOBS}duration_us: 1\ndrain_us: 12\n")
    lcca("evaluate", "dctcp", "--on", tmp_path / "jobs.yaml", "--trials", 3, "--out", tmp_path / "run")
    lcca("report", tmp_path / "run")
    head, first, second = rows_of_section(tmp_path / "run" / "report.html")
    assert head[-1] == "Without an end" and first[-1] == "3"
    assert first[2].startswith("≥ ") and first[4].startswith("≥ ") and first[5].startswith("≤ ")
    assert second[-1] in ("3", "0") and second[2].startswith("≥ ") == (second[-1] == "3")


@pytest.mark.slow
def test_a_campaign_tells_of_each_job(tmp_path: Path) -> None:
    """By scenario: of signal sets the means of training seeds; a scenario without jobs has no row."""
    (tmp_path / "jobs.yaml").write_text(JOBS)
    (tmp_path / "campaign.yaml").write_text(CAMPAIGN)
    with undrawn():
        run.sweep(tmp_path / "campaign.yaml", out=tmp_path / "run")
    found = load_run(tmp_path / "run")
    assert set(found.jobs["scenario"]) == {"jobs"}
    head, *shown = rows_of_section(tmp_path / "run" / "report.html")
    selected = shown.index(head)
    sets, policies = shown[:selected], shown[selected + 1 :]
    assert [row[:2] for row in sets] == [[name, job] for name in ("e2e", "e2e+receiver-rank") for job in "12"]
    assert {row[0] for row in policies} == {"e2e", "e2e+receiver-rank", "dctcp"}
    for phase, rows in (("trainings-test", sets), ("test", policies)):
        for name, job, cell, *_ in rows:
            words = found.jobs["policy"].str.split(".").str[0]
            own = found.jobs[words == name].query(f"phase == '{phase}' and job == {int(job) - 1}")["iteration_us"]
            assert len(own) == (2 * 4 if phase == "trainings-test" else 12)
            assert cell.startswith(f"{own.mean():.1f} [")
            ends = [float(end) for end in re.findall(r"[\d.]+", cell)[1:]]  # none where all are the same
            assert len(ends) == 2 * (own.std() > 1e-9) and (not ends or ends[0] <= own.mean() + 0.05 <= ends[1] + 0.1)


@pytest.mark.slow
def test_studies_and_mixtures_tell_of_each_job(lcca: RunCommand, tmp_path: Path) -> None:
    """Each trial counts once, though those of mixtures have a row for each population."""
    (tmp_path / "jobs.yaml").write_text(JOBS)
    question = "{name: size, asks: x, contender: whole, against: [small], utilities: [slowdown], expected: better}"
    contenders = "{small: 'window:bdps=0.1', whole: 'window:bdps=1'}"
    study = f"name: s\ncontenders: {contenders}\nscenarios: [jobs.yaml]\nquestions: [{question}]\npairs: 24\n"
    (tmp_path / "study.yaml").write_text(study)
    lcca("study", tmp_path / "study.yaml", "--out", tmp_path / "study")
    lcca("compare", "dctcp", "hpcc", "--share", 0.5, "--on", tmp_path / "jobs.yaml", "--out", tmp_path / "shares")
    for name, policies in (("study", 2), ("shares", 3)):
        found = load_run(tmp_path / name)
        assert found.jobs.groupby("policy")["seed"].nunique().sum() * 2 == len(found.jobs) and len(found.trials)
        lcca("report", tmp_path / name)
        assert len(rows_of_section(tmp_path / name / "report.html")) == 1 + 2 * policies
