"""Tables of runs as files, and the names of policies as columns."""

from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

from lcca.api import load_run
from lcca.evaluation.trials.loaded_run import TABLES
from lcca.evaluation.trials.policy_names import at_rules, policy_id, words_of
from lcca.experiments.reading.exporting import latex

from ...conftest import RunCommand


@pytest.mark.parametrize("candidate", ["e2e", "link+queue", "a.b.s3", "@8"])
@pytest.mark.parametrize("utility", ["default", "2t.d", "u-x"])
def test_what_a_name_stands_for_comes_back(candidate: str, utility: str) -> None:
    name = policy_id(candidate, utility, 12)
    assert words_of(name, utility) == (candidate, 12, "", "", 0)
    assert words_of(f"{name}.round-03", utility) == (candidate, 12, "", "round-03", 0)
    assert words_of(at_rules(name, 16), utility) == (candidate, 12, "", "", 16)
    assert words_of(candidate, utility) is None and words_of(name, "other") is None


def test_trials_have_the_words_of_their_policies(finished: Path) -> None:
    run = load_run(finished)
    tested = run.trials.query("phase == 'trainings-test' and rules.isna()")
    of_policies = run.policies.set_index("id").loc[tested["policy"], ["candidate", "training_seed"]]
    assert (of_policies.to_numpy() == tested[["candidate", "training_seed"]].to_numpy()).all()
    assert run.trials.query("phase == 'validation'")["checkpoint"].str.fullmatch(r"round-\d+").all()
    spent = run.learning.groupby("policy_base")["trials"].max()
    assert run.policies.set_index("id")["training_trials"].to_dict() == spent.to_dict()
    assert set(run.verdicts["candidate"]) == {"loss+queue"} and set(run.verdicts["baseline"]) == {"loss+rtt"}
    assert len(run.looks) and run.looks["n"].is_monotonic_increasing


def test_exported_tables_are_those_of_the_run(lcca: RunCommand, finished: Path, tmp_path: Path) -> None:
    folders = {form: tmp_path / form for form in ("csv", "parquet", "latex")}
    asked = (word for form, folder in folders.items() for word in (f"--{form}", folder))
    answer = lcca("export", finished, *asked, "--json")
    assert sorted(answer.json()["files"]) == sorted(str(file) for file in tmp_path.glob("*/*") if file.is_file())
    run = load_run(finished)
    there = [name for name in TABLES if len(getattr(run, name))]
    assert there == ["trials", "networks", "policies", "verdicts", "looks", "learning", "costs"]
    for name in there:
        table = getattr(run, name)
        read = pd.read_csv(folders["csv"] / f"{name}.csv", keep_default_na=False, na_values=[""])
        assert list(read) == list(table) and len(read) == len(table)
        for column in table.select_dtypes("float"):
            pd.testing.assert_series_equal(read[column].astype(float), table[column], check_dtype=False, rtol=0, atol=0)
        pd.testing.assert_frame_equal(pd.read_parquet(folders["parquet"] / f"{name}.parquet"), table)
    assert {file.stem for file in folders["latex"].iterdir()} == {"policies", "verdicts", "costs"}


def test_latex_escapes_text_and_sets_numbers_in_math() -> None:
    table = pd.DataFrame({"a_b": ["50%_&", "−µ"], "x": [-0.1234, float("nan")], "n": [3, 20_000], "ok": [True, False]})
    text = latex(table).decode()
    assert r"a b & x & n & ok \\" in text and r"\begin{tabular}{lrrl}" in text
    assert r"50\%\_\& & $-0.123$ & $3$ & yes \\" in text and r"$-$\textmu{} & -- & $20000$ & no \\" in text
    assert text.count(r"\toprule") == text.count(r"\midrule") == text.count(r"\bottomrule") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["RUN"], "say where its tables go, as in --csv tables"),
        (["RUN", "x.dna", "--csv", "t"], "say where its tables go"),
        (["POLICY", "--csv", "t"], "--csv needs a run's folder"),
        (["POLICY"], "name the file to write"),
        ([".", "--csv", "t"], "no run here"),
        (["RUN", "--csv", "POLICY"], "cannot be made"),
    ],
)
def test_export_says_what_it_needs(lcca: RunCommand, finished: Path, arguments: list[str], words: str) -> None:
    names = {"RUN": str(finished), "POLICY": str(next(finished.glob("policies/*.json")))}
    answer = lcca("export", *(names.get(each, each) for each in arguments))
    assert answer.status == 2 and words in answer.err


def test_a_ranking_has_its_tables(lcca: RunCommand, tmp_path: Path) -> None:
    space = Path(__file__).parents[3] / "configs" / "networks" / "default.yaml"
    few = ("--trials", 96, "--set", "duration=500")
    assert lcca("rank", "aimd", "fixed-window:12", "--on", space, *few, "--out", tmp_path / "run").status == 0
    run = load_run(tmp_path / "run")
    assert list(run.policies["id"]) == [row["id"] for row in run.result["policies"]]
    assert run.policies["best_rank"].min() == 1 and len(run.verdicts) == 1 and set(run.verdicts["phase"]) == {"rank"}
    scores = run.trials.pivot(index="network", columns="policy", values="score_bits")
    scores = scores.dropna()  # without networks on which one had no sender to score
    means = scores.groupby(scores.index // 16).mean().mean()  # the unit is a block of networks
    assert run.policies.set_index("id")["score_bits"].to_dict() == pytest.approx(means.to_dict())
    assert lcca("export", tmp_path / "run", "--csv", tmp_path).status == 0
    assert pd.read_csv(StringIO((tmp_path / "verdicts.csv").read_text()))["n"].tolist() == run.verdicts["n"].tolist()


def test_comparisons_and_evaluations_have_their_tables(lcca: RunCommand, tmp_path: Path) -> None:
    networks = Path(__file__).parents[3] / "configs" / "networks"
    pairs = (
        "--on",
        networks / "default.yaml",
        "--trials",
        96,
        "--set",
        "duration=500",
        "--out",
        tmp_path / "pairs",
        "--json",
    )
    told, run = lcca("compare", "aimd", "fixed-window:12", *pairs).json(), load_run(tmp_path / "pairs")
    assert run.verdicts["difference"].tolist() == [told["comparisons"][0]["difference"]] and len(run.trials) == 2 * 96
    few = (
        "--on",
        networks / "examples.yaml",
        "--seeds",
        2,
        "--set",
        "duration=500",
        "--out",
        tmp_path / "few",
        "--json",
    )
    told, run = lcca("evaluate", "aimd", *few).json(), load_run(tmp_path / "few")
    assert run.policies["score_bits"].tolist() == [row["score_bits"] for row in told["policies"]]
    assert run.policies["network"].tolist() == run.networks["network"].tolist()
