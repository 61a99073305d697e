"""A campaign on a fabric, from the configuration to the report."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lcca.experiments.recipes.sweep as run
from lcca.evaluation.comparison.net_benefit import CHARGED
from lcca.evaluation.fabric.merit import merits
from lcca.evaluation.fabric.space import FabricTrials
from lcca.evaluation.report.report import render
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.loaded_run import load_run
from lcca.evaluation.trials.store import TrialStore
from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.learning.plan import learners
from lcca.inputs.errors import ConfigError
from lcca.inputs.files import write_with_digest
from lcca.remy_plus.files.policyfile import read
from lcca.remy_plus.tuners.tuned import named_transport
from lcca.signal_sets.load import resolve

from ...fixtures import RunCommand, undrawn

pytestmark = pytest.mark.slow

STAR = """\
name: star
topology: {kind: star, hosts: 5}
workload: {kind: poisson, sizes: fb-hadoop, load: 0.4, load_of: host-links}
duration_us: 60
"""
CAMPAIGN = """\
name: flows
networks:
  fabric:
    - star.yaml
    - name: incast
      topology: {kind: star, hosts: 5}
      workload: {kind: incast, senders: 4, bytes: 40000, period_us: 50}
      duration_us: 45
signal_sets: [e2e]
headers: [hpcc]
hand_designed: [dctcp, max-min, srpt-hosts, srpt]
trainer:
  rounds: 0
  grow: {rules: [1, 2], pairs: 4, look_ups: 2}
  polish: {networks: 2, check_networks: 4}
  budget_trials: 120
training_seeds: [1, 2]
validation: {networks: 8}
test: {pairs: 24, at_least: 24, block: 24, per_training_seed: 8}
generalisation: [{name: ahead, networks: {fabric: elsewhere/star.yaml}, pairs: 20}]
"""
NAMES = ("summary.json", "verdicts.json", "config.yaml")


def written(folder: Path, text: str = CAMPAIGN) -> Path:
    (folder / "elsewhere").mkdir(exist_ok=True)
    (folder / "star.yaml").write_text(STAR)
    (folder / "elsewhere" / "star.yaml").write_text(STAR.replace("0.4", "0.6"))
    (folder / "flows.yaml").write_text(text)
    return folder / "flows.yaml"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a campaign that was never broken."""
    path = written(tmp_path_factory.mktemp("fabric"))
    with undrawn():
        run.sweep(path, out=path.parent / "run")
    return path.parent / "run"


def results(folder: Path) -> dict[str, bytes]:
    files = [*(folder / name for name in NAMES), *folder.glob("policies/**/*.json")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_every_scenario_is_met_equally_often_by_all_policies(finished: Path) -> None:
    trials = TrialStore(finished / "trials").all("test")
    assert set(trials["policy"].str.replace(CHARGED, "").str.split(".").str[0]) == {
        "e2e",
        "hpcc",
        "dctcp",
        "max-min",
        "srpt-hosts",
        "srpt",
    }
    for _, own in trials.groupby("policy"):
        assert list(own.sort_values("network")["scenario"]) == ["star", "incast"] * (len(own) // 2)
    assert (trials.groupby("network")["seed"].nunique() == 1).all()
    others = [set(TrialStore(finished / "trials").all(phase)["seed"]) for phase in ("validation", "trainings-test")]
    assert not set(trials["seed"]).intersection(*others) and not others[0] & others[1]
    own = TrialStore(finished / "trials").all("trainings-test")
    first, second = (set(own["seed"][own["policy"].str.contains(f".s{seed}", regex=False)]) for seed in (1, 2))
    assert len(first) == len(second) == 8 and not first & second


def test_other_fabrics_are_met_too(lcca: RunCommand, finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    (found,) = summary["generalisation"]
    trials = TrialStore(finished / "trials").all("generalisation")
    assert found["condition"] == "ahead" and found["pairs"] == 20 and set(trials["scenario"]) == {"star"}
    (charged,) = {name for name in trials["policy"] if name.startswith("hpcc.")}
    file, seed = finished / "policies" / f"{charged}.json", trials["seed"].min()
    again = lcca("evaluate", file, "--on", finished.parent / "elsewhere" / "star.yaml", "--seed", seed, "--json")
    own = trials[(trials["policy"] == charged) & (trials["seed"] == seed)]
    assert again.json()["rows"][0]["slowdown_mean"] == own["slowdown_mean"].item()
    of_all = TrialStore(finished / "trials").all("generalisation-trainings")
    own = of_all[of_all["policy"] == charged].iloc[0]
    again = lcca("evaluate", file, "--on", finished.parent / "elsewhere" / "star.yaml", "--seed", own["seed"], "--json")
    assert again.json()["rows"][0]["slowdown_mean"] == own["slowdown_mean"], "bytes charged here too"


def test_what_a_header_costs_is_that_of_its_bytes(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    (row,) = summary["net_benefit"]["rows"]
    trials = TrialStore(finished / "trials").all("test")
    scores = trials.pivot(index="network", columns="policy", values="score_bits")
    cost = (scores[row["net"]["B"]] - scores[row["gross"]["B"]]).to_numpy()
    assert row["cost"]["difference"] == pytest.approx(cost.mean())
    assert -0.1 < cost.mean() < 0 and summary["net_benefit"]["packet_bytes"] == 1056
    assert row["wire_bytes"] > 0 and {c["level"] for c in summary["comparisons"]} == {"set", "policy"}


def test_what_a_header_can_be_worth_is_from_the_best_without_one_to_the_ideals(finished: Path) -> None:
    summary = json.loads((finished / "summary.json").read_text())
    trials = TrialStore(finished / "trials").all("test")
    means = trials.groupby("policy")["score_bits"].mean()
    (base,) = {row["net"]["A"] for row in summary["net_benefit"]["rows"]}
    rival = max((base, "dctcp"), key=means.__getitem__)
    most = summary["worth_at_most"]
    assert [each["ideal"] for each in most] == ["max-min", "srpt-hosts", "srpt"]
    assert [each["rival"] for each in most] == [rival, rival, "srpt-hosts"], "a network's ideal counts from the hosts'"
    assert most[2]["worth_bits"] == pytest.approx(means["srpt"] - means["srpt-hosts"])
    assert all(row["gap_closed"] is None for row in most[2]["policies"])
    (net,) = summary["net_benefit"]["rows"]
    for each in most[:2]:
        gap = means[each["ideal"]] - means[rival]
        assert each["worth_bits"] == pytest.approx(gap) and each["worth_low"] < gap < each["worth_high"]
        for row in each["policies"]:
            share = (means[row["name"]] - means[rival]) / gap
            assert row["gap_closed"] == (pytest.approx(share) if gap > net["required"] else None)
        of_sets = {row["name"]: row["score_bits"] for row in each["signal_sets"]}
        assert of_sets["e2e"] == pytest.approx(means[base])
        assert of_sets["hpcc"] - of_sets["e2e"] == pytest.approx(net["gross_set"]["difference"])
    fair, shortest, _ = (each["worth_bits"] for each in most)
    assert fair < net["required"] < shortest, "dctcp is as good as max-min here: both are shown"
    page = (finished / "report.html").read_text()
    assert "The gap to ideals" in page and "less than what it must bring" in page
    assert (
        f"The gap to the ideals, with its bytes charged, is {fair:.3f} bits" in page
        and f"{shortest:.3f} bits from {rival} to srpt-hosts, of which" in page
    )


def test_the_figure_of_merit_is_of_all_flows_of_all_trainings(finished: Path) -> None:
    """Of a policy it is that of the same trials run again; of a set the flows of all its trainings are pooled."""
    summary = json.loads((finished / "summary.json").read_text())
    found = {(row["level"], row["id"]): row["merit"] for row in summary["merit"]}
    assert {name for level, name in found if level == "set"} == {"e2e", "hpcc", "hpcc" + CHARGED}
    assert {"dctcp", "max-min", "srpt"} < {name for level, name in found if level == "policy"}
    assert found["set", "e2e"]["against"] == "e2e" and found["set", "e2e"]["difference_bits"]["value"] == 0
    own = TrialStore(finished / "trials").all("test").query("policy == 'dctcp'")
    space = read_campaign(finished.parent / "flows.yaml").networks
    place = FabricTrials(space, int(own["seed"].min()), space.utility("slowdown"))  # type: ignore[arg-type, union-attr]
    again = merits(place.trials({"dctcp": named_transport("dctcp")}, Block(0, 0, len(own))))["dctcp"]
    assert found["policy", "dctcp"]["merit_bits"]["value"] == pytest.approx(again["merit_bits"]["value"], abs=5e-4)
    for row, exact in zip(found["policy", "dctcp"]["decades"], again["decades"], strict=True):
        assert row["flows"] == exact["flows"] > 0
        assert row["p99_bits"]["value"] == pytest.approx(exact["p99_bits"]["value"], abs=5e-4)
    trained = TrialStore(finished / "trials").all("trainings-test")
    ids = [name for name in trained["policy"].unique() if name.startswith("e2e.") and "@" not in name]
    assert len(ids) == 2
    flows = trained[trained["policy"].isin(ids)]["flows"].sum()
    assert sum(row["flows"] for row in found["set", "e2e"]["decades"]) == flows > 0
    assert "Figure of merit" in (finished / "report.html").read_text()


def test_measures_beside_the_score_are_those_of_the_flows_of_every_training_seed(finished: Path) -> None:
    """All trainings run again on their trials, bytes charged; quantiles and means by numpy and by hand."""
    summary = json.loads((finished / "summary.json").read_text())
    (row,) = summary["net_benefit"]["rows"]
    space = read_campaign(finished.parent / "flows.yaml").networks
    trained = TrialStore(finished / "trials").all("trainings-test")
    flows, scores = {}, {}
    for name in ("e2e", "hpcc"):
        for seed in (1, 2):
            id = f"{name}.slowdown.s{seed}"
            ended = id + CHARGED * (name == "hpcc")
            own = trained[trained["policy"] == ended]
            place = FabricTrials(space, int((own["seed"] - own["network"]).iloc[0]), space.utility("slowdown"))  # type: ignore[arg-type, union-attr]
            policy = {id: resolve(str(finished / "policies" / f"{id}.json"), "fabric").policy}
            flows[name, seed] = place.flow_rows(policy, Block(0, int(own["network"].min()), len(own)))
            for scenario in ("star", "incast"):
                scores[name, seed, scenario] = own[own["scenario"] == scenario]["score_bits"].mean()
    assert all(each["completed"].all() for each in flows.values())
    short = {key: each[each["size_bytes"] < 100_000] for key, each in flows.items()}
    bits = {key: -np.log2(np.quantile(each["slowdown"], 0.99)) for key, each in short.items()}
    decades = ((0, 1e4), (1e4, 1e5), (1e5, 1e6), (1e6, np.inf))
    parts = {
        key: [each.loc[each["size_bytes"].between(a, b, inclusive="left"), "slowdown"] for a, b in decades]
        for key, each in flows.items()
    }
    shared = [i for i in range(4) if all(len(own[i]) for own in parts.values())]
    merit = {key: -np.log2([np.quantile(own[i], (0.5, 0.99)) for i in shared]).mean() for key, own in parts.items()}
    assert len(shared) > 1
    for measure, by in (("merit", merit), ("short_p99", bits)):
        net = row["measures"][measure]["net_set"]
        expected = np.mean([by["hpcc", seed] - by["e2e", seed] for seed in (1, 2)])
        assert net["difference"] == pytest.approx(expected, abs=1e-3) and abs(expected) > 1e-3
        assert net["alpha"] == row["net_set"]["alpha"] and net["margin"] == row["required"]
        assert row["measures"][measure]["decision"] == "open"
    for each in row["scenarios"]:
        gains = [scores["hpcc", s, each["scenario"]] - scores["e2e", s, each["scenario"]] for s in (1, 2)]
        assert each["net_set"]["difference"] == pytest.approx(np.mean(gains))
    found = {each["id"]: each["merit"]["short_p99"] for each in summary["merit"] if each["level"] == "set"}
    pooled = {
        name: np.quantile(np.concatenate([short[name, s]["fct_us"] for s in (1, 2)]), 0.99) for name in ("e2e", "hpcc")
    }
    assert found["e2e"]["us"]["value"] == pytest.approx(pooled["e2e"], rel=1e-3)
    more = pooled["hpcc"] - pooled["e2e"]
    assert found["hpcc" + CHARGED]["us_more"]["value"] == pytest.approx(more, abs=2e-3 * pooled["e2e"])
    page = (finished / "report.html").read_text()
    pages = page[page.index('id="summary"') : page.index('id="which-header"')]
    for words in (
        f"{pooled['e2e']:.1f}",
        "incasts of 4 × 40 kB",
        "not trained on: ahead",
        "5 hosts",
        "2 training seeds",
    ):
        assert words in pages, words
    assert row["switch"] == {"state_bits": 0, "operations": 12} and re.search(
        "No recommendation yet: .*; it takes (about|at least) 3", pages
    )


@pytest.mark.browser
@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
def test_the_first_part_of_eight_settled_headers_fits_two_pages(finished: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(finished, tmp_path / "run")
    summary = json.loads((folder / "summary.json").read_text())
    (row,) = summary["net_benefit"]["rows"]
    settled = {"low": -0.0254, "high": -0.0151, "n": 12, "verdict": "worse"}
    settled["throughput_equivalent_percent"] = {"difference": -1.32, "low": -1.74, "high": -1.04}  # type: ignore[assignment]
    measures = {name: {"decision": "does not pay", "net_set": row["net_set"] | settled} for name in row["measures"]}
    own = row | {"decision": "does not pay", "net_set": row["net_set"] | settled, "measures": measures}
    own["scenarios"] = [{"scenario": f"websearch-lossy-{i}", "net_set": own["net_set"]} for i in range(7)]
    summary["net_benefit"]["rows"] = [own | {"header": f"csig-compact-abw-{i}"} for i in range(8)]
    summary["net_benefit"]["choices"][0] |= {"take": "e2e", "answers": ["e2e"], "pairs": [own["net_set"]], "front": []}
    write_with_digest(folder / "summary.json", json.dumps(summary).encode())
    page = render(folder).read_text()
    first, last = page.index("<nav"), page.index('<section id="summary">')
    end = page.index("</section>", last)
    (tmp_path / "first.html").write_text(page[:first] + page[last:end] + "</section></main></body></html>")
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    printed = tmp_path / "first.pdf"
    asked = [f"--print-to-pdf={printed}", "--no-pdf-header-footer", (tmp_path / "first.html").as_uri()]
    subprocess.run([*command, *asked], check=True, capture_output=True, timeout=120)
    assert re.findall(rb"/Count (\d+)", printed.read_bytes()) == [b"2"]


def test_a_stored_policy_scores_the_same_by_itself(lcca: RunCommand, finished: Path, tmp_path: Path) -> None:
    """`lcca evaluate` on the seeds of the test gives the trials of the run again, bytes charged."""
    trials = TrialStore(finished / "trials").all("test")
    own = trials[trials["policy"].str.endswith(CHARGED) & (trials["scenario"] == "star")].iloc[0]
    file = finished / "policies" / (own["policy"].removesuffix(CHARGED) + ".json")
    again = lcca("evaluate", file, "--on", finished.parent / "star.yaml", "--seed", own["seed"], "--json").json()
    assert again["rows"][0]["slowdown_mean"] == own["slowdown_mean"]
    assert read(file).header is not None


def test_verdicts_and_tables_can_be_had_again(lcca: RunCommand, finished: Path) -> None:
    assert lcca("verdict", finished).status == 0
    page = (finished / "report.html").read_text()
    assert "Slowdowns by scenario" in page and "half the typical slowdown" in page
    assert "Throughput against delay" not in page
    loaded = load_run(finished)
    assert loaded.trials["slowdown_mean"].notna().all()
    assert np.isfinite(loaded.policies["mean_of_trials_slowdown_p99"]).all()
    assert (
        isinstance(loaded.costs, pd.DataFrame) and (loaded.costs.set_index("name")["packets"].drop("other") > 0).all()
    )


def test_a_changed_scenario_is_another_training(tmp_path: Path) -> None:
    def keys(*overrides: str) -> set[str]:
        config = read_campaign(written(tmp_path), overrides)
        return {each.key(config) for each in learners(config, [1])}

    assert keys() == keys("test.pairs=40") and not keys() & keys("networks.fabric.1.duration_us=50")
    links = tmp_path / "links.csv"
    links.write_text("a,b,gbps,delay_ns\n" + "".join(f"{host},5,100,1000\n" for host in range(5)))
    from_file = f"networks.fabric.1.topology={{kind: file, links: {links}}}"
    before = keys(from_file)
    links.write_text(links.read_text().replace("4,5,100", "4,5,50"))
    assert len(before) == 2 and not before & keys(from_file)


@pytest.mark.slow
def test_a_search_does_not_depend_on_what_was_trained_before(lcca: RunCommand, tmp_path: Path) -> None:
    """The packets of sets that look at hops are longer: their searches have no beginning in common."""
    brief = "trainer={rounds: 2, passes: 1, networks: 4, check_networks: 0, optimise: [increment]}"
    wanted = ["--set", brief, "--set", "training_seeds=[1]", "--set", "baseline=link+queue", "--until", "trained"]
    for folder, sets in (("both", "e2e, link+queue"), ("alone", "link+queue")):
        named = ["--set", f"signal_sets=[{sets}]", "--out", tmp_path / folder]
        assert lcca("sweep", written(tmp_path), *wanted, *named).status == 0
    both, alone = (tmp_path / each / "policies" / "link+queue.slowdown.s1" for each in ("both", "alone"))
    assert [read(file).policy for file in sorted(both.glob("*.json"))] == [
        read(file).policy for file in sorted(alone.glob("*.json"))
    ]


def test_a_plan_says_what_it_costs(lcca: RunCommand, tmp_path: Path) -> None:
    (point,) = lcca("sweep", written(tmp_path), "--plan", "--out", tmp_path / "x", "--json").json()["points"]
    assert point["to_train"] == [4, 4] and 0 < point["trial_cpu_s"] < 1 and not (tmp_path / "x").exists()
    parts = point["cpu_s_by_part"]
    keys = {name: each["key"] for name, each in parts.items()}
    assert keys == {
        "training": "trainer.budget_trials", "validation": "validation.networks", "test": "test.pairs"
    }  # fmt: skip
    assert sum(each["most"] for each in parts.values()) == pytest.approx(point["cpu_s"][1], abs=0.3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("trainer={kind: ppo}", "trainer.kind: ppo does not learn on fabrics; use law or rplus"),
        ("trainer={kind: rplus, mode: exact}", "trainer.prune: trials on a fabric have no shorter form"),
        ("validation.ns3={}", "validation.ns3: not on a fabric; leave it out"),
        ("per_network={}", "--set: per_network: not on a fabric"),
        ("generalisation=[{name: line, topology: line}]", "--set: generalisation: line: give networks.fabric"),
        ("generalisation.0.networks.fabric.payload_bytes=400", "generalisation: ahead: payload_bytes and overhead"),
        (
            "generalisation.0.networks.fabric.mtu_bytes=1060",
            "s.yaml:20: generalisation: ahead: hpcc: star: mtu_",
        ),
        ("model.link_interval=20", "model: not on a fabric"),
        ("utilities=[default]", "--set: utilities: default: scores networks, not a fabric; one of slowdown"),
        ("utilities=[rounds]", "--set: utilities: rounds: star has no rounds; workloads of kind all-to-all have them"),
        (
            "signal_sets=[e2e, flows]",
            "flows: fabric: policy: the fabric does not tell flows; without",
        ),
        ("signal_sets=[e2e, e2e+trims]", "e2e+trims: fabric: policy: trims: known to selective hosts alone"),
        ("signal_sets=[e2e, e2e+credit]", "e2e+credit: fabric: policy: credit: known to selective hosts alone"),
        ("hand_designed=[vegas]", "vegas: runs in ns-3 only; a fabric has"),
        (
            "utilities=[queue]",
            "hand_designed: queue: scores ports, which max-min has not: it is an ideal; leave it out",
        ),
        ("packet_bytes=800", "packets of the fabric have 1056"),
        ("networks.fabric.1.name=star", "two scenarios are called 'star'"),
        ("networks.fabric.1.payload_bytes=500", "payload_bytes and overhead_bytes must be the same"),
        ("networks.fabric.1.mtu_bytes=1060", "more than 1060; raise mtu_bytes"),
        ("networks.fabric.1.duration_us=none", "networks.fabric.1.duration_us"),
        ("networks.fabric=[]", "networks.fabric"),
        ("networks.topology=line", "networks: fabric and topology exclude each other"),
        ("networks.rttt=5", "networks.rttt: unknown key"),
    ],
)
def test_what_cannot_work_is_refused_by_file_and_key(tmp_path: Path, change: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_campaign(written(tmp_path), [change])
    assert message in str(caught.value)


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_tests_in_other_processes_leave_the_same(lcca: RunCommand, finished: Path, tmp_path: Path) -> None:
    path, asked = finished.parent / "flows.yaml", ("--out", tmp_path / "run", "--executor", "processes", "--jobs", 2)
    assert lcca("sweep", path, *asked).status == 0
    assert results(tmp_path / "run") == results(finished)


def test_a_campaign_that_scores_jobs_alone_has_jobs_alone() -> None:
    """Laws would learn to starve what is not scored."""
    for utility in ("completion", "rounds"):
        with pytest.raises(
            ConfigError, match=f"{utility}: ai-small-storage has other flows, which policies would learn"
        ):
            read_campaign(Path("configs/ai/headers.yaml"), [f"utilities=[{utility}]"])
    alone = "networks.fabric=[configs/ai/scenarios/small.yaml]"
    assert read_campaign(Path("configs/ai/headers.yaml"), ["utilities=[completion]", alone]).name == "ai-headers"
