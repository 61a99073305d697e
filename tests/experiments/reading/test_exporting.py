"""Tables of runs as files, and the names of policies as columns."""

import re
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

from lcca.api import load_run
from lcca.evaluation.report.words.statements import interval, number, with_error
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.loaded_run import TABLES
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, FLOWS, NETWORK_TRIALS
from lcca.evaluation.trials.policy_names import at_rules, policy_id, words_of
from lcca.experiments.reading.exporting import export_tables
from lcca.experiments.reading.latex import table

from ...fixtures import RunCommand
from .pdflatex import problems_of_paper


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
    for form, folder in folders.items():
        answer = lcca("export", finished, folder, *(("--form", form) if form != "csv" else ()), "--json")
        assert sorted(answer.json()["files"]) == sorted(map(str, folder.iterdir()))
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
    assert {file.stem for file in folders["latex"].iterdir()} == {"policies", "verdicts", "costs", "numbers"}


# --- LaTeX, read by rules of its own, since TeX need not be there


def cells_of(row: str) -> list[str]:
    r"""Return the cells of a row: what stands between & outside braces, a \multicolumn as often as it is wide."""
    parts = [part.strip() for part in re.split(r"(?<!\\)&(?![^{}]*\})", row.removesuffix(r"\\"))]
    return [cell for part in parts for cell in [part] * int((re.match(r"\\multicolumn\{(\d+)\}", part) or [0, 1])[1])]


def read_tabular(text: str) -> tuple[list[str], list[str], list[list[str]]]:
    """Return the columns of the only table of a text, its head, and its rows; check what TeX would stop at."""
    opened: list[str] = []
    for what, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        assert what == "begin" or opened.pop() == name
        opened += [name] if what == "begin" else []
    assert not opened and text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert [text.count(word) for word in (r"\toprule", r"\midrule", r"\bottomrule", r"\caption{", r"\label{tab:")] == [
        1
    ] * 5
    found = re.search(r"\\begin\{tabular\}\{(.*)\}\n", text)
    assert found
    columns = re.findall(r"S\[table-format=[^\]]*\]|l", re.sub(r"@\{.*?\}", "", found[1]))
    inside = text[text.index(r"\toprule") : text.index(r"\bottomrule")].splitlines()
    head, *rows = [cells_of(line.strip()) for line in inside if line.endswith(r"\\")]
    for row in (head, *rows):
        assert len(row) == len(columns), row
        if row[0].startswith(rf"\multicolumn{{{len(columns)}}}"):
            continue
        for column, cell in zip(columns, row, strict=True):
            if column == "l" or cell.startswith(("{", r"\multicolumn")):
                continue
            number = re.fullmatch(r"(-?)(\d+)(?:\.(\d+))?(?:\((\d+)\))?", cell.removeprefix(r"\bfseries ") or "x")
            form = re.fullmatch(r"S\[table-format=(-?)(\d+)(?:\.(\d+))?(?:\((\d+)\))?\]", column)
            assert number and form, (cell, column)
            assert number[1] in form[1] and len(number[2]) <= int(form[2]) and len(number[3] or "") == int(form[3] or 0)
            assert len(number[4] or "") <= int(form[4] or 0)
    return columns, head, [row for row in rows if not row[0].startswith(r"\multicolumn")]


def test_latex_is_what_a_paper_prints(finished: Path, tmp_path: Path) -> None:
    run = load_run(finished)
    files = {file.stem: file.read_text() for file in export_tables(run, tmp_path, "latex")}
    assert list(files) == ["policies", "verdicts", "costs", "numbers"]
    for name in ("policies", "verdicts", "costs"):
        _, head, rows = read_tabular(files[name])
        assert len(rows) <= len(getattr(run, name)) and not re.search(r"_|\bse\b|equivalent percent", " ".join(head))
    _, head, rows = read_tabular(files["verdicts"])
    place = [cell.startswith("{Difference, bits}") for cell in head].index(True)
    ordered = pd.concat([own for _, own in run.verdicts.groupby(["level", "condition"], sort=False)])
    for cells, record in zip(rows, ordered.sort_index().to_dict("records"), strict=False):
        value, half = re.match(r"(-?[\d.]+)(?:\((\d+)\))?", cells[place]).groups()  # type: ignore[union-attr]
        assert float(value) == pytest.approx(record["difference"], abs=0.6 * 10.0 ** -len(value.partition(".")[2]))
        if half:
            error = int(half) / 10 ** len(value.partition(".")[2])
            assert float(value) - error == pytest.approx(record["low"], abs=1.1 * 10.0 ** -len(value.partition(".")[2]))
    _, head, rows = read_tabular(files["policies"])
    means = run.policies.groupby("candidate", sort=False)["score_bits"].mean()
    assert head[0] == "{Candidate}" and [row[0] for row in rows] == list(means.index)
    scores = [row[head.index("{Score, bits}")] for row in rows]
    assert [score.startswith(r"\bfseries") for score in scores] == list(means == means.max()) or means.nunique() == 1
    commands = re.findall(r"^\\newcommand\{\\(.*?)\}\{(.*)\}$", files["numbers"], flags=re.M)
    assert len(dict(commands)) == len(commands) == files["numbers"].count("newcommand") > 20
    assert all(name.isalpha() and name.isascii() for name, _ in commands)
    assert dict(commands)["lccaTrials"] == rf"\num{{{run.costs['trials'].sum()}}}"
    for record in run.verdicts.query("level == 'set'").to_dict("records"):
        assert rf"\num{{{record['difference']:.3f}}}" in dict(commands).values()


def test_intervals_that_are_not_symmetric_stand_in_brackets_and_the_best_is_bold() -> None:
    rows = [
        ("50%_&", interval(12.31, 11.0, 15.0, "{:.0f}"), number(3, 0)),
        ("−µ", interval(9.2, 9.0, 9.9, "{:.0f}"), number(20_000, 0)),
        ("x", interval(None, None, None, "{:.0f}"), number(7, 0)),
    ]
    text = table(Table("50 % of all", ("A & b", "Mean delay, µs", "n"), rows), "a-b", {"Mean delay, µs": "less"})
    form, head, found = read_tabular(text)
    assert form == ["l", "S[table-format=2.1]", "l", "S[table-format=5]"] and r"\caption{50 \% of all}" in text
    assert head[:2] == [r"{A \& b}", r"\multicolumn{2}{c}{Mean delay, \textmu{}s}"]
    assert found[0] == [r"50\%\_\&", "12.3", r"[\num{11.0}, \num{15.0}]", "3"]
    assert found[1] == [r"$-$\textmu{}", r"\bfseries 9.2", r"[\num{9.0}, \num{9.9}]", "20000"]
    assert found[2][1:3] == ["{--}", ""]


def test_a_symmetric_interval_is_an_error_and_parts_have_headings() -> None:
    rows = [("a", interval(-0.1234, -0.1734, -0.0734, "{:.3f}")), ("b", interval(0.5, 0.4, 0.6, "{:.3f}"))]
    text = table(Table("c", ("Candidate", "Score, bits"), rows), "d", {"Score, bits": "more"}, ["one", "two"])
    form, _, found = read_tabular(text)
    assert form[1] == "S[table-format=-1.3(3)]" and [row[1] for row in found] == ["-0.123(50)", r"\bfseries 0.500(100)"]
    assert text.count(r"\emph{") == 2


def test_standard_errors_are_errors_and_numbers_alone_have_their_digits() -> None:
    rows = [(with_error(-1234.56, 7.8, 1), number(-1.25, 2), "≥ 3"), (with_error(2.5, 9.6, 1), number(None), number(4))]
    form, _, found = read_tabular(table(Table("", ("a", "b", "c"), rows), "d"))
    assert form == ["S[table-format=-4.1(2)]", "S[table-format=-1.2]", "l"]
    assert found == [["-1234.6(78)", "-1.25", r"$\geq$ 3"], ["2.5(96)", "{--}", "4.000"]]


def test_pdflatex_sets_what_is_exported(finished: Path, tmp_path: Path) -> None:
    every_letter = "".join(sorted(set("&%$#_{}\\~^−µ±α\u00a0<>|\"'`-–→≥≤×∞Δαβγéß")))
    skewed = [interval(-1.5, -9, 0, "{}"), interval(2.25, 2, 2.75, "{}")]
    five = [interval(10.5, 9, 12, "{}"), interval(2.25, 2, 2.5, "{}")]
    heads = ("Policy", *(f"Mean of {i}, kB" for i in range(5)), "Trials")
    wide = [
        (name, *[cell] * 5, number(n, 0)) for name, cell, n in zip(("a.default.s1", "b"), five, (1, 2), strict=True)
    ]
    letters = list(zip((every_letter, "x"), skewed, strict=True))
    metrics = (NETWORK_TRIALS | FABRIC_TRIALS | FLOWS).values()
    own = {
        "letters": table(Table(every_letter, (every_letter, "Skewed, µs"), letters), "letters", {"Skewed, µs": "less"}),
        "wide": table(Table("c", heads, wide), "wide"),
        "labels": table(Table("", ("label", "unit"), [(each.label, each.unit) for each in metrics]), "m"),
    }
    exported = {file.stem: file.read_text() for file in export_tables(load_run(finished), tmp_path, "latex")}
    assert problems_of_paper(own | exported, tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["RUN"], "required: FOLDER|STORE|FILE"),
        (["RUN", "law.c"], "law.c: tables are several files; name a folder"),
        (["POLICY", "t", "--form", "csv"], "--form is c or bpf here; tables are of a run's folder"),
        (["RUN", "t", "--form", "bpf"], "--form is csv or parquet or latex or fct here"),
        (["RUN", "sqlite:///x.db", "--form", "csv"], "has one form: leave --form out"),
        ([".", "t"], "no run here"),
        (["RUN", "MAKEFILE"], "cannot be made"),
    ],
)
def test_export_says_what_it_needs(lcca: RunCommand, finished: Path, arguments: list[str], words: str) -> None:
    names = {
        "RUN": str(finished),
        "POLICY": str(next(finished.glob("policies/*.json"))),
        "MAKEFILE": str(Path(__file__).parents[3] / "Makefile"),
    }
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
    assert lcca("export", tmp_path / "run", tmp_path).status == 0
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
