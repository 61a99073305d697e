"""Headers in a campaign: from the configuration to the answer on the first page."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.comparison.net_benefit import CHARGED
from lcca.evaluation.comparison.sets import compare_sets
from lcca.evaluation.settling.rules import SettlingRule
from lcca.evaluation.trials.store import TrialStore
from lcca.evaluation.trials.utilities import DEFAULT
from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.recipes import sweep as run
from lcca.experiments.testing.groups import outlooks
from lcca.experiments.testing.net_benefit import compare_all
from lcca.inputs.errors import ConfigError, InputError
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.rules import RuleTable
from lcca.signal_sets.headers.header import header, header_of
from lcca.signal_sets.load import resolve

from ...fixtures import BRIEF, TINY, RunCommand, undrawn

pytestmark = pytest.mark.slow

HEADERS = """\
headers:
  - ecn
  - header: nosignal-8b
    grid: {queue.bits: [4, 32]}
  - {header: hpcc, name: dear}
"""


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    path = tmp_path / "headers.yaml"
    path.write_text(TINY.replace("loss+rtt, loss+queue", "loss+rtt") + HEADERS)
    return path


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished campaign with headers, not to be changed; beside it what it had found before the end."""
    folder = tmp_path_factory.mktemp("headers")
    path = folder / "headers.yaml"
    path.write_text(TINY.replace("loss+rtt, loss+queue", "loss+rtt").replace("[1, 2]", "[1]") + HEADERS)
    run_tests = run.run_tests

    def keep_first(*arguments: Any) -> Any:
        for name in ("so-far.json", "so-far.json.sha256"):
            shutil.copy(folder / "run" / name, folder)
        return run_tests(*arguments)

    with pytest.MonkeyPatch.context() as patch, undrawn():
        patch.setattr(run, "run_tests", keep_first)
        run.sweep(path, out=folder / "run", jobs=2)
    return folder / "run"


def summary(run: Path) -> dict[str, object]:
    return dict(json.loads((run / "summary.json").read_text()))


def test_candidates_see_the_baselines_signals_and_those_they_carry(campaign: Path) -> None:
    config = read_campaign(campaign)
    seen = {c.name: c.signals.signals for c in config.candidates}
    base = seen["loss+rtt"]
    assert list(seen) == ["loss+rtt", "ecn", "nosignal-8b_queue.bits-4", "nosignal-8b_queue.bits-32", "dear"]
    assert seen["ecn"] == (*base, "mark")
    assert set(seen["dear"]) == {*base, "capacity", "link", "queue"}
    assert [c.wire_bytes for c in config.candidates] == [0, 0, 5, 8, 42]


def test_the_resolved_configuration_is_read_again_as_it_is(done: Path) -> None:
    again = read_campaign(done / "config.yaml")
    assert again.hash == json.loads((done / "manifest.json").read_text())["config_hash"]
    assert [c.content() for c in again.candidates] == [
        c.content() for c in read_campaign(done / "config.yaml").candidates
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("csig-compact", "headers.0: unknown header 'csig-compact' (did you mean"),
        ("{header: ecn, signals: [queue]}", "ecn carries no 'queue'; it carries mark"),
        ("{header: nosignal-8b, set: {que.bits: 4}}", "has no field 'que' (did you mean 'queue'"),
        ("{header: nosignal-8b, set: {queue.bits: 0}}", "with queue.bits=0: fields.1.bits"),
        ("{header: nosignal-8b, set: {queue.bits.x: 4}}", "queue.bits.x: bits has no keys of its own"),
        ("{header: nosignal-8b, set: {fields.0.bits: 4}}", "fields.0.bits: fields has no keys of its own"),
        ("{header: nosignal-8b, grid: {queue.bits: []}}", "queue.bits: give at least one value"),
        ("none", "carries no signal that loss+rtt lacks"),
        ("{header: ecn, names: x}", "headers.0.names"),
    ],
)
def test_what_is_wrong_with_a_header_is_told(tmp_path: Path, entry: str, said: str) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(TINY + f"headers: [{entry}]\n")
    with pytest.raises(ConfigError) as caught:
        read_campaign(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_header_file_lies_beside_the_campaign(tmp_path: Path) -> None:
    own = header("nosignal-8b").model_dump(mode="json") | {"name": "mine"}
    (tmp_path / "mine.yaml").write_text(json.dumps(own))  # JSON is YAML
    (tmp_path / "c.yaml").write_text(TINY + "headers: [mine.yaml]\n")
    assert read_campaign(tmp_path / "c.yaml").candidates[-1].name == "mine"


def test_too_few_seeds_are_said_before_anything_is_trained(
    lcca: RunCommand, campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four headers and the baseline are ten pairs, which leaves five seeds without any interval."""

    def stop(*arguments: Any) -> None:
        raise InputError("a training begins")

    monkeypatch.setattr(run, "run_trainings", stop)
    few = "training_seeds: with 5 no headers can have an interval at an error rate of 0.5 % (5 % shared by 10)"
    for most, said in ((5, True), (6, False)):
        command = [
            "sweep",
            campaign,
            "--out",
            tmp_path / str(most),
            "--set",
            f"training_seeds={{first: 5, most: {most}}}",
        ]
        answers = lcca(*command, "--plan"), lcca(*command)
        assert [answer.status for answer in answers] == [0, 2] and answers[1].err.endswith("a training begins\n")
        assert [few in answer.out + answer.err for answer in answers] == [said, said]
    assert "it takes 6 at least" in lcca(*command[:-1], "training_seeds={first: 5, most: 5}", "--plan").out


def test_a_header_has_one_forecast(done: Path) -> None:
    """That of what more seeds wait for: its net benefit, not its signals alone."""
    rng, base, candidates = np.random.default_rng(1), "loss+rtt", read_campaign(done / "config.yaml").candidates
    others = [each.name for each in candidates if each.name != base]

    def scores() -> dict[int, float]:
        return dict(enumerate(rng.normal(size=6)))

    def compare(total: int) -> list[Comparison]:
        same: Any = {"utility": DEFAULT, "rule": SettlingRule(), "comparisons": total}
        return [compare_sets(base, name, scores(), scores(), **same) for name in others]

    def chosen(candidate: Any) -> Any:
        return SimpleNamespace(learner=SimpleNamespace(candidate=candidate, signals=candidate.signals))

    own = {each.name: chosen(each) for each in candidates}
    group: Any = SimpleNamespace(others=others, selected=own, by_trainer={}, compare_all_candidates=compare)
    assert {each.likely_n for each in compare_all([group])} == {None}
    group.selected = {name: chosen(candidates[0]) for name in own}
    assert None not in {each.likely_n for each in compare_all([group])}


def test_gross_and_cost_make_net(done: Path) -> None:
    benefits = json.loads((done / "summary.json").read_text())["net_benefit"]
    trials = TrialStore(done / "trials").all("test")
    scores = trials.pivot(index="network", columns="policy", values="score_bits")
    for row in benefits["rows"]:
        free, charged = row["gross"]["B"], row["net"]["B"]
        n = row["net"]["n"]
        assert charged == free + (CHARGED if row["wire_bytes"] else "")
        net = (scores[charged] - scores[row["net"]["A"]]).to_numpy()[:n]
        assert row["net"]["difference"] == pytest.approx(net.mean())
        if row["cost"]:
            cost = (scores[charged] - scores[free]).to_numpy()[: row["cost"]["n"]]
            assert row["cost"]["difference"] == pytest.approx(cost.mean())
    assert [row["wire_bytes"] for row in benefits["rows"]] == [0, 5, 8, 42]
    assert benefits["rows"][0]["cost"] is None


def test_decisions_and_the_choice_share_alpha_among_all_pairs(done: Path) -> None:
    benefits: Any = summary(done)["net_benefit"]
    pairs = benefits["choices"][0]["pairs"]
    assert len(pairs) == 5 * 4 / 2  # four headers and the baseline
    assert {c["alpha"] for c in pairs} == {row["net_set"]["alpha"] for row in benefits["rows"]} == {0.05 / 10}


def test_a_campaign_that_is_stopped_says_its_decisions_so_far(done: Path, tmp_path: Path, lcca: RunCommand) -> None:
    """Over training seeds the same as in the end, where the selected policies have been tested too."""
    stopped = tmp_path / "run"
    stopped.mkdir()
    for name in ("manifest.json", "so-far.json", "so-far.json.sha256"):
        shutil.copy((done.parent if "so-far" in name else done) / name, stopped)
    found = lcca("report", stopped, "--json").json()["net_benefit"]
    whole = json.loads((done / "summary.json").read_text())["net_benefit"]
    assert found["choices"] == whole["choices"]
    for so_far, row in zip(found["rows"], whole["rows"], strict=True):
        assert so_far == row | {"gross": None, "cost": None, "net": None}
    told = lcca("report", stopped).out
    assert "bytes charged" in told and "no recommendation yet: 1 of at least 5 training seeds" in told
    assert whole["choices"][0]["take"] is None and "recommended:" not in told


def test_every_table_adds_up(done: Path) -> None:
    """Whatever the verdicts: gross + cost = net, differences of scores are differences, on the same pairs."""
    summary = json.loads((done / "summary.json").read_text())
    scores = {policy["id"]: policy["test"]["score_bits"] for policy in summary["policies"] if policy["test"]}
    told = [c for c in summary["comparisons"] if c["level"] == "policy"]
    for each in told:
        assert each["difference"] == pytest.approx(scores[each["B"]] - scores[each["A"]], abs=1e-12)
    rows = summary["net_benefit"]["rows"]
    for row in rows:
        for kind in ("", "_set"):
            gross, cost, net = (
                row[part + kind] and row[part + kind]["difference"] for part in ("gross", "cost", "net")
            )
            assert gross + (cost or 0.0) == pytest.approx(net, abs=1e-12)
    assert len({c["n"] for c in told} | {row[part]["n"] for row in rows for part in ("gross", "net")}) == 1
    assert all(c["n"] == c["block"] * c["blocks"] for c in told)


def test_bytes_cost_about_their_share_of_the_packet(done: Path) -> None:
    """42 bytes on 1,500 slow the link by 2.8 %, which is 0.040 bits of throughput, and add some delay."""
    benefits = json.loads((done / "summary.json").read_text())["net_benefit"]
    cost = next(row for row in benefits["rows"] if row["header"] == "dear")["cost"]["difference"]
    assert -0.2 < cost < -0.01


def test_the_report_begins_with_the_answer(done: Path) -> None:
    page = (done / "report.html").read_text()
    assert "Which header" in page and 'id="answer"' not in page
    assert (done / "figures" / "pareto.svg").is_file()
    for name in ("ecn", "nosignal-8b_queue.bits-4", "dear"):
        assert page.count(name) > 2


def test_a_policy_file_says_its_header_and_runs_with_it(done: Path) -> None:
    names = ("ecn.default.s1.json", "nosignal-8b_queue.bits-4.default.s1.json")
    named, own = (resolve(str(done / "policies" / name), "engine") for name in names)
    assert named.file.header == "ecn" and isinstance(own.file.header, dict)
    for found in (named, own):
        file = found.file
        candidate = next(c for c in read_campaign(done / "config.yaml").candidates if c.name == file.signal_set)
        assert found.policy == candidate.equip(file.policy, charged=True)
        Engine(1000.0).compile(found.policy)


def test_verdicts_come_again_from_the_trials(done: Path, lcca: RunCommand) -> None:
    assert lcca("verdict", done).status == 0


UNSEEN = """\
headers:
  - {header: fair-share, name: exact}
  - {header: fair-share, name: lossy, set: {stamp_loss: 0.9}}
  - {header: fair-share, name: off, set: {flows.measure.shift: 10}}
learnt_with: fair-share
"""


def test_policies_meet_headers_that_they_did_not_learn_with(tmp_path: Path, no_report: None) -> None:
    """One training serves them all, and each is tested with its own header: gaps are in units of flows / capacity."""
    path = tmp_path / "unseen.yaml"
    path.write_text(BRIEF.replace("loss+rtt, loss+queue", "loss+rtt").replace("[1, 2]", "[1]") + UNSEEN)
    run.sweep(
        path,
        out=tmp_path / "run",
        training_cache=tmp_path / "cache",
        overrides=["trainer.rounds=1", "trainer.pacing=auto", "test.pairs=32"],
    )
    assert len([*(tmp_path / "cache").glob("*.training")]) == 2  # the baseline's and theirs
    names = ("exact", "lossy", "off")
    kept = [policyfile.load(tmp_path / f"run/policies/{name}.default.s1.json") for name in names]
    assert len({each.policy.digest for each in kept if isinstance(each.policy, RuleTable)}) == 1
    own = [header_of(each.header) for each in kept if each.header is not None]
    assert [each.stamp_loss for each in own] == [0, 0.9, 0]
    assert [each.field("flows").measure.shift for each in own] == [0, 0, 10]
    scores = {each["name"]: each["score_bits"] for each in summary(tmp_path / "run")["signal_sets"]}
    assert len({scores[name] for name in names}) == 3


def test_what_they_learnt_with_carries_their_signals(tmp_path: Path) -> None:
    path = tmp_path / "unseen.yaml"
    path.write_text(TINY.replace("loss+rtt, loss+queue", "loss+rtt") + UNSEEN.replace("with: fair-share", "with: ecn"))
    with pytest.raises(ConfigError, match="learnt_with: carries no capacity, which exact does"):
        read_campaign(path)


@pytest.mark.full
def test_one_more_header_trains_only_that(campaign: Path, tmp_path: Path, lcca: RunCommand, no_report: None) -> None:
    cache = ("--training-cache", tmp_path / "cache")
    quick = ("--set", "training_seeds=[1]", "--set", "test.pairs=20", "--set", "trainer.optimise=[pacing]")
    campaign.write_text(campaign.read_text().partition("headers:")[0] + "headers:\n  - ecn\n")
    assert lcca("sweep", campaign, *quick, "--out", tmp_path / "a", *cache).status == 0
    before = set((tmp_path / "cache").glob("*.training"))
    campaign.write_text(campaign.read_text() + "  - csig-compact-abw\n")
    assert lcca("sweep", campaign, *quick, "--out", tmp_path / "b", *cache, "--trainings", 2).status == 0
    after = set((tmp_path / "cache").glob("*.training"))
    assert before < after and len(after - before) == 1
    told = json.loads((tmp_path / "b" / "costs.json").read_text())["phases"][0]
    alone = state(tmp_path / "b" / "training" / "csig-compact-abw.default.s1.json")
    (shared,) = (tmp_path / "cache").glob("*.json")
    assert (told["name"], told["trials"]) == ("training", alone["trials"] - state(shared)["trials"])


def state(checkpoint: Path) -> Any:
    return json.loads(checkpoint.read_text().partition("\n")[2])["state"]


@pytest.mark.full
@pytest.mark.usefixtures("no_report")
def test_searches_can_go_on_from_the_baselines_rules(campaign: Path, tmp_path: Path) -> None:
    from lcca.api import sweep

    quick = ["start=baseline", "training_seeds=[1]", "test.pairs=20", "headers=[ecn]", "trainer.optimise=[pacing]"]
    config = read_campaign(campaign, quick)
    one, two = (
        sweep(config, out=tmp_path / str(n), trainings=n, training_cache=tmp_path / f"cache-{n}").content
        for n in (1, 2)
    )
    assert one == two
    assert [policy["id"] for policy in one["policies"]] == ["loss+rtt.default.s1", "ecn.default.s1"]
    first, more = (state(tmp_path / "1" / "training" / f"{id}.default.s1.json") for id in ("warm-start", "ecn"))
    assert more["step"] > first["step"] and more["learning"][0]["kind"] == "split"
    assert len(list((tmp_path / "cache-1").glob("*.training"))) == 3


def test_going_on_needs_the_baselines_signals(campaign: Path) -> None:
    with pytest.raises(ConfigError, match="start: e2e lacks loss of loss\\+rtt: use scratch"):
        read_campaign(campaign, ["start=baseline", "signal_sets=[loss+rtt, e2e]"])


def test_free_headers_of_exact_fields_are_the_papers_convention(campaign: Path) -> None:
    """Charging nothing, a policy that ignores what the header says scores the same to the last bit."""
    config = read_campaign(campaign)
    free = {c.name: c.stamping(charged=False) for c in config.candidates if c.header}
    assert all(each is not None and each.sent_bytes == (0,) for each in free.values())
    charged = {c.name: c.stamping(charged=True) for c in config.candidates if c.costs}
    assert all(each is not None and np.max(each.sent_bytes) > 0 for each in charged.values())


def test_progress_says_which_difference_has_the_bytes_charged() -> None:
    same, more = np.linspace(0, 1, 32), np.linspace(0, 1.5, 32)
    found = [
        compare_policies("e2e.default.s1", b, same, more, utility=DEFAULT, rule=SettlingRule())
        for b in ("int.default.s2", "free.default.s1", "int.default.s2" + CHARGED)
    ]
    words = [part.split(",")[0] for part in outlooks(found).split("; ")]
    assert words == ["int gross not settled", "free not settled", "int net not settled"]
