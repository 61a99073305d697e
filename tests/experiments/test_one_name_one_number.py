"""Label, key and formula of every metric of a fabric belong together, wherever a number is printed or written.

Every table on the terminal, on a page, in LaTeX and in Markdown, and every record of JSON, is compared with numbers
that NumPy finds from what the engine recorded of every flow and port.
"""

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lcca.api import load_run
from lcca.evaluation.fabric.trials import FabricTrial
from lcca.evaluation.report.words.table import Table
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, View, shown

from ..fixtures import RunCommand
from .runs.run_files import STUDY, TUNE
from .test_new_metric import CAMPAIGN

STAR = """\
name: star
topology: {kind: star, hosts: 6}
workload: {kind: poisson, sizes: fb-hadoop, load: 0.5, load_of: host-links}
duration_us: 150
"""

Trials = Sequence[FabricTrial]
Number = Callable[[Trials], float]
Lines = tuple[str, list[str], list[list[str]]]
"""The caption of a table, its head and its rows."""


def slowdowns(trial: FabricTrial) -> np.ndarray:
    return trial.record["flow_fct_ns"] / trial.record["flow_ideal_ns"]


def times(trial: FabricTrial) -> np.ndarray:
    """In µs."""
    return trial.record["flow_fct_ns"] / 1000


def goodput(trial: FabricTrial) -> float:
    start, took = (trial.record[f"flow_{name}_ns"] for name in ("start", "fct"))
    return 8 * trial.flows.size_bytes.sum() / ((start + took).max() - start.min())


def over_trials(of: Callable[[FabricTrial], Any]) -> Number:
    return lambda trials: float(np.mean([of(each) for each in trials]))


def fullest(column: str) -> Number:
    """Of the ports of switches."""
    return over_trials(lambda t: t.record[f"port_{column}"][t.record["port_node"] >= t.hosts].max())


def total(column: str) -> Number:
    return over_trials(lambda t: t.record[column].sum())


def geometric(of: Callable[[FabricTrial], Any]) -> Number:
    """Over trials, and over the flows of each."""
    return lambda trials: float(np.exp(np.mean([np.log(of(each)).mean() for each in trials])))


def own(of: Callable[[FabricTrial], np.ndarray], p: float) -> Callable[[FabricTrial], Any]:
    return lambda trial: np.quantile(of(trial), p)


def pooled(of: Callable[[FabricTrial], np.ndarray], p: float) -> Number:
    return lambda trials: float(np.quantile(np.concatenate([of(each) for each in trials]), p))


METRICS: dict[str, tuple[str, float, Number]] = {
    "slowdown_mean": ("mean slowdown", 1, over_trials(lambda t: slowdowns(t).mean())),
    "fct_mean_us": ("mean completion time, ms", 1e3, over_trials(lambda t: times(t).mean())),
    "unfinished_percent": ("unfinished flows, %", 1, over_trials(lambda t: 100 * np.isnan(times(t)).mean())),
    "goodput_gbps": ("goodput, Gb/s", 1, over_trials(goodput)),
    "queue_max_bytes": ("largest queue, kB", 1e3, fullest("most_queued_bytes")),
    "queue_mean_bytes": ("mean queue, kB", 1e3, fullest("mean_queued_bytes")),
    "queue_p99_bytes": ("queue p99, kB", 1e3, fullest("p99_queued_bytes")),
    "ecn_marks": ("ECN marks", 1, total("port_marked_packets")),
    "pfc_pauses": ("PFC pauses", 1, total("port_pauses_sent")),
    "paused_us": ("paused, µs", 1, over_trials(lambda t: t.record["port_paused_ns"].sum() / 1000)),
    "drops": ("drops", 1, total("port_drops")),
    "retransmissions": ("retransmissions", 1, over_trials(lambda t: t.record["retransmitted_packets"])),
    "packets": ("data packets", 1, over_trials(lambda t: np.ceil(t.flows.size_bytes / 1000).sum())),
}
for name, p in {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}.items():
    said = f"p{100 * p:g}"
    METRICS[f"slowdown_{name}"] = (f"slowdown {said}", 1, pooled(slowdowns, p))
    METRICS[f"mean_of_trials_slowdown_{name}"] = (f"mean of trials' slowdown {said}", 1, over_trials(own(slowdowns, p)))
    fct = f"mean of trials' completion time {said}"
    METRICS[f"mean_of_trials_fct_{name}_us"] = (f"{fct}, ms", 1e3, over_trials(own(times, p)))
"""By key: label with unit, one of that unit in the unit of the key, and the number in the unit of the key."""

HEADS: dict[str, Number] = {
    **{head: lambda trials, of=of, scale=scale: of(trials) / scale for head, scale, of in METRICS.values()},
    "mean of trials' completion time p99, µs": over_trials(own(times, 0.99)),
    "typical (geometric mean) slowdown": geometric(slowdowns),
    "typical (geometric mean) slowdown-p99": geometric(own(slowdowns, 0.99)),
    "score, bits (slowdown)": lambda trials: -np.log2(geometric(slowdowns)(trials)),
}
OTHERS = re.compile(r"[Δ−] .*|(typical )?slowdown, .* above .*|p99 slowdown below 100 kB.*")
"""Heads of differences."""


@pytest.mark.parametrize("view", ["evaluate", "campaign", "report", "study"])
def test_every_metric_that_is_shown_has_a_formula_here(view: View) -> None:
    metrics = [each for each in shown(FABRIC_TRIALS, view) if each.needs in ("flows", "ports")]
    assert {each.over_trials.name: each.over_trials.head for each in metrics}.items() <= {
        key: head for key, (head, _, _) in METRICS.items()
    }.items()


@pytest.fixture
def met(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, int], FabricTrial]:
    """All trials that are run, by policy and seed."""
    found: dict[tuple[str, int], FabricTrial] = {}
    row = FabricTrial.row

    def kept(trial: FabricTrial, utility: Any) -> Any:
        found[trial.policy, trial.seed] = trial
        return row(trial, utility)

    monkeypatch.setattr(FabricTrial, "row", kept)
    return found


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[Lines]:
    """All tables that are made."""
    found: list[Lines] = []
    made = Table.__init__

    def kept(table: Table, *arguments: Any, **named: Any) -> None:
        made(table, *arguments, **named)
        found.append((table.caption, list(table.head), [list(row) for row in table.rows]))

    monkeypatch.setattr(Table, "__init__", kept)
    return found


def on_page(page: Path) -> Iterator[Lines]:
    for table in re.findall(r"<table.*?</table>", page.read_text(encoding="utf-8"), re.S):
        lines = [
            [html.unescape(re.sub("<[^>]*>", "", cell)).strip() for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.S)]
            for row in re.findall(r"<tr.*?</tr>", table, re.S)
        ]
        yield "", lines[0], lines[1:]


def check_tables(tables: Sequence[Lines], trials: Mapping[str, Trials]) -> set[str]:
    """Compare every cell below a known head; return the heads that were there."""
    seen = set()
    for _, head, rows in tables:
        for column, name in enumerate(head):
            name = name if name in HEADS or name.startswith("Δ") else name[:1].lower() + name[1:]
            if name not in HEADS:
                about = re.search(r"slowdown|completion|\bp\d\d", name)
                assert not about or OTHERS.fullmatch(name), f"{name}: no formula"
                continue
            for row in rows:
                who = [each for each in (cell.removesuffix(" *") for cell in row[:2]) if each in trials]
                text = re.match(r"-?[\d,]+(\.\d+)?", row[column].replace("−", "-"))
                if not who or text is None:
                    continue
                digits = len((text[1] or ".")[1:])
                value = HEADS[name](trials[who[-1]])
                rounded = max(0.51 * 10**-digits, 0.006 * abs(value) if digits == 0 else 0, 1e-9)
                assert float(text[0].replace(",", "")) == pytest.approx(value, abs=rounded), (name, row)
                seen.add(name)
    return seen


def check_record(record: Mapping[str, Any], trials: Trials) -> set[str]:
    """Compare every number below a known key; return the keys that were there."""
    seen = set()
    for key, value in record.items():
        if (
            key.endswith(("_se", "_low", "_high", "_of", "_unfinished", "_lacking_us"))
            or isinstance(value, list)
            or key.startswith("merit")
        ):
            continue
        if key not in METRICS:
            assert not re.search(r"slowdown|fct|_p\d\d", key) or key.endswith("_bits"), f"{key}: no formula"
            continue
        if isinstance(value, Mapping):
            assert set(value) == {"value" if re.match(r"slowdown_p\d", key) else "mean", "low", "high"}
            value = value.get("value", value.get("mean"))
        assert value == pytest.approx(METRICS[key][2](trials), rel=1e-9, abs=1e-12), key
        seen.add(key)
    return seen


def of_run(run: Path, met: Mapping[tuple[str, int], FabricTrial], phase: str) -> dict[str, Trials]:
    """Return the trials of a phase by policy."""
    rows = load_run(run).trials.query("phase == @phase")[["policy", "seed"]].drop_duplicates()
    found: dict[str, list[FabricTrial]] = {}
    for policy, seed in rows.itertuples(index=False):
        assert not np.isnan(met[policy, seed].record["flow_fct_ns"]).any(), "all flows end, or nothing here is right"
        found.setdefault(policy, []).append(met[policy, seed])
    return found


TRIALS_OWN = {"mean_of_trials_slowdown_p99", "mean_of_trials_fct_p99_us", "slowdown_mean"}
ASKED = {"typical (geometric mean) slowdown", "mean slowdown", "mean of trials' slowdown p99"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("star.yaml").write_text(STAR)


Met = dict[tuple[str, int], FabricTrial]


@pytest.mark.usefixtures("place")
def test_evaluations_pool_flows(lcca: RunCommand, met: Met, printed: list[Lines]) -> None:
    command = ("evaluate", "dctcp", "hpcc", "--on", "star.yaml", "--trials", 4, "--out", "run")
    assert lcca(*command, "--tables").status == 0
    trials = of_run(Path("run"), met, "evaluate")
    assert pooled(slowdowns, 0.99)(trials["dctcp"]) > 1.01 * over_trials(own(slowdowns, 0.99))(trials["dctcp"])
    pools = {"slowdown p50", "slowdown p95", "slowdown p99", "slowdown p99.9", "mean slowdown", "queue p99, kB"}
    assert check_tables(printed, trials) >= pools | {"score, bits (slowdown)", "ECN marks"}
    for record in lcca(*command, "--json").json()["policies"]:
        assert check_record(record, trials[record["id"]]) >= {"slowdown_p999", "slowdown_mean", "queue_p99_bytes"}
        check_sizes(record["by_size"], trials[record["id"]])
    for one in lcca(*command, "--json").json()["rows"]:
        assert one["slowdown_p99"] == pytest.approx(np.quantile(slowdowns(met[one["policy"], one["seed"]]), 0.99))
    assert lcca("report", "run").status == 0 and lcca("export", "run", ".", "--form", "latex").status == 0
    assert check_tables([*on_page(Path("run/report.html"))], trials) >= pools
    assert check_tables(printed, trials) >= pools
    for record in load_run("run").policies.to_dict("records"):
        assert "slowdown_p99" in check_record(record, trials[record["id"]])


def check_sizes(classes: Sequence[Mapping[str, Any]], trials: Trials) -> None:
    for each in classes:
        high = np.inf if each["size_to"] is None else each["size_to"]
        of = [slowdowns(t)[(t.flows.size_bytes >= each["size_from"]) & (t.flows.size_bytes < high)] for t in trials]
        assert each["flows"] == sum(map(len, of))
        assert each["slowdown_mean"]["mean"] == pytest.approx(np.mean([x.mean() for x in of if len(x)]))
        assert each["slowdown_p99"]["value"] == pytest.approx(np.quantile(np.concatenate(of), 0.99))


@pytest.mark.usefixtures("place")
def test_comparisons_say_what_their_page_averages(lcca: RunCommand, met: Met) -> None:
    command = ("compare", "dctcp", "hpcc", "--on", "star.yaml", "--trials", 24, "--out", "run")
    assert lcca(*command).status == 0 and lcca("report", "run").status == 0
    asked = check_tables([*on_page(Path("run/report.html"))], of_run(Path("run"), met, "compare"))
    assert asked >= {*ASKED, "mean of trials' completion time p99, µs", "goodput, Gb/s"}


@pytest.mark.usefixtures("place")
def test_studies_average_trials(lcca: RunCommand, met: Met, printed: list[Lines]) -> None:
    pytest.importorskip("optuna")
    whole = STUDY.replace("  tuned:\n    tune:", "  unused:\n    tune:").replace("[small, tuned]", "[small]")
    text = re.sub(r"  unused:.*?(?=scenarios:)", "", whole, flags=re.S)
    Path("study.yaml").write_text(re.sub(r"  - name: incast.*?(?=questions:)", "", text, flags=re.S))
    records = lcca("study", "study.yaml", "--out", "run", "--json").json()["policies"]
    trials = of_run(Path("run"), met, "scenario")
    assert check_tables(printed, trials) >= {*ASKED, "typical (geometric mean) slowdown-p99", "queue p99, kB"}
    for record in records:
        assert check_record(record, trials[record["id"]]) >= TRIALS_OWN
    assert lcca("report", "run").status == 0
    assert check_tables([*on_page(Path("run/report.html"))], trials) >= ASKED - {"typical (geometric mean) slowdown"}


@pytest.mark.usefixtures("place")
def test_tunings_have_both_means(lcca: RunCommand, met: Met, printed: list[Lines]) -> None:
    pytest.importorskip("optuna")
    Path("tune.yaml").write_text(TUNE)
    assert lcca("tune", "tune.yaml", "--out", "run").status == 0
    trials = of_run(Path("run"), met, "test")
    assert check_tables(printed, trials) >= {"typical (geometric mean) slowdown", "mean slowdown"}
    for record in lcca("tune", "tune.yaml", "--out", "run", "--json").json()["policies"]:
        assert check_record(record, trials[record["id"]]) >= TRIALS_OWN
    assert check_tables([*on_page(Path("run/report.html"))], trials) >= ASKED


@pytest.mark.slow
@pytest.mark.usefixtures("place")
def test_campaigns_average_trials(lcca: RunCommand, met: Met, printed: list[Lines]) -> None:
    Path("star.yaml").write_text(STAR.replace("fb-hadoop", "sizes.csv"))
    Path("sizes.csv").write_text("bytes,cumulative\n500,0\n2000,0.5\n20000,1\n")
    Path("flows.yaml").write_text(CAMPAIGN)
    assert lcca("sweep", "flows.yaml", "--out", "run", "--tables").status == 0
    trials = of_run(Path("run"), met, "trainings-test")
    records = lcca("sweep", "flows.yaml", "--out", "run", "--json").json()["policies"]
    for record in records:
        assert check_record(record["trained"], trials[record["id"]]) >= TRIALS_OWN
    assert check_tables(printed, trials) >= ASKED - {"typical (geometric mean) slowdown"}
    trials |= {record["signal_set"]: trials[record["id"]] for record in records}
    assert check_tables([*on_page(Path("run/report.html"))], trials) >= ASKED
    assert lcca("export", "run", ".", "--form", "latex").status == 0
    assert check_tables(printed, trials) >= {"mean of trials' slowdown p99"}
