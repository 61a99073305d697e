"""`load_run`: the tables of each kind of run, every trial with the network that it was run on."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lcca.api import load_run
from lcca.cli.main import main
from lcca.evaluation.trials.running import NETWORK_COLUMNS
from lcca.evaluation.trials.stored import write_state
from lcca.experiments.campaign.config import CampaignConfig, read_campaign
from lcca.experiments.runs.seeds import derive
from lcca.inputs.errors import InputError

from ...fixtures import TINY
from ..runs.test_runfolder import KINDS

MORE = """\
utilities:
  - {name: u, throughput_weight: 1, delay_weight: 1}
  - {name: u-x, throughput_weight: 2, delay_weight: 1}
per_network: {networks: 5, seeds: 2}
generalisation:
  - {name: x-y, topology: line, pairs: 20}
  - {name: "y", networks: {link_rate: 9, rtt: 5, senders: 2, buffer: 50, mean_on: 200, mean_off: 100, loss: 0,
     duration: 900}, pairs: 20}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A campaign with every phase that needs no ns-3, and utilities whose names once were mixed up with conditions'."""
    folder = tmp_path_factory.mktemp("loaded")
    text = TINY.replace("rounds: 2", "rounds: 1").replace("[1, 2]", "[1]").replace("pairs: 96", "pairs: 20")
    (folder / "all.yaml").write_text(text + MORE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lcca.experiments.recipes.sweep.render", lambda folder, costs: (folder / "report.html").touch())
        assert main(["sweep", str(folder / "all.yaml"), "--out", str(folder / "run")]) == 0
    yield folder / "run"


def expected(config: CampaignConfig, phase: str, condition: str, count: int) -> list[Any]:
    of_trainings = phase.endswith("-trainings")
    word = phase.removesuffix("-trainings")
    word = {"per-network": "where", "generalisation": "elsewhere", "trainings-test": "trainings test"}.get(word, word)
    word += " trainings" if of_trainings else ""
    spaces = {each.name: each.space(config.networks) for each in config.generalisation}
    words = (word, condition) if condition else (word,)
    space = spaces.get(condition, config.networks)
    whole = space.block * -(-count // space.block)  # training seed 1 begins after the blocks of number 0
    first = whole if of_trainings or phase == "trainings-test" else 0
    return space.draw(derive(config.seed, *words), count, first)


@pytest.mark.slow
def test_every_trial_has_the_network_that_it_was_run_on(run: Path) -> None:
    loaded, config = load_run(run), read_campaign(run / "config.yaml")
    found = loaded.trials[["phase", "condition"]].drop_duplicates().itertuples(index=False)
    assert set(found) == {("validation", ""), ("trainings-test", ""), ("test", ""), ("per-network", ""),
                          ("generalisation", "x-y"), ("generalisation", "y"), ("per-network-trainings", ""),
                          ("generalisation-trainings", "x-y"), ("generalisation-trainings", "y")}  # fmt: skip
    assert not loaded.trials.duplicated(["phase", "utility", "condition", "policy", "network", "seed"]).any()
    key = ["phase", "condition", "network"]
    assert not loaded.networks.duplicated(key).any()
    for (phase, condition), rows in loaded.networks.groupby(["phase", "condition"]):
        drawn = expected(config, str(phase), str(condition), len(rows))
        for row, network in zip(rows.sort_values("network").to_dict("records"), drawn, strict=True):
            told = {name: getattr(network, name) for name in NETWORK_COLUMNS}
            assert {name: row[name] for name in NETWORK_COLUMNS} == told | {"topology": str(network.topology)}
    merged = loaded.trials.merge(loaded.networks, on=key, validate="many_to_one", suffixes=("", "_listed"))
    assert len(merged) == len(loaded.trials) and (merged["rtt"] == merged["rtt_listed"]).all()


@pytest.mark.slow
def test_utilities_and_conditions_with_dashes_have_their_own_trials(run: Path) -> None:
    """Utility u under condition x-y and utility u-x under condition y once shared a file."""
    trials = load_run(run).trials.query("phase == 'generalisation'")
    assert trials.groupby(["utility", "condition"]).size().to_dict() == {
        (utility, condition): 64 for utility in ("u", "u-x") for condition in ("x-y", "y")
    }
    summary = json.loads((run / "summary.json").read_text())
    for record in summary["generalisation"]:
        own = trials.query("utility == @record['utility'] and condition == @record['condition']")
        assert own.groupby("policy")["score_bits"].mean().to_dict() == pytest.approx(record["mean_score_bits"])


def test_the_other_tables_of_a_sweep(run: Path) -> None:
    loaded = load_run(run)
    assert loaded.manifest["kind"] == "sweep" and loaded.config["name"] == "tiny" == loaded.result["campaign"]
    policy = loaded.policies.set_index("id").loc["loss+queue.u-x.s1"]
    assert (policy["candidate"], policy["utility"], policy["training_seed"]) == ("loss+queue", "u-x", 1)
    tested = (
        loaded.trials.query("phase == 'trainings-test' and not policy.str.contains('@')")
        .groupby("policy")["score_bits"]
        .mean()
    )
    assert loaded.policies.set_index("id")["score_bits"].to_dict() == pytest.approx(tested.to_dict())
    assert set(loaded.learning["policy_base"]) == set(loaded.policies["id"])
    assert loaded.verdicts.groupby(["phase", "level"]).size().to_dict() == {
        ("generalisation", "policy"): 4, ("generalisation", "set"): 4, ("test", "policy"): 2, ("test", "set"): 2,
    }  # fmt: skip
    elsewhere = loaded.verdicts.query("phase == 'generalisation' and level == 'set'")
    assert elsewhere["alpha"].eq(0.05 / 4).all(), "one comparison under each of two conditions and utilities"
    assert set(loaded.costs["name"]) == {
        *("training", "validation", "trainings-test", "test", "per-network", "generalisation"),
        *("per-network-trainings", "generalisation-trainings", "other"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["estimate", "tune"])
def test_other_kinds_of_run(kind: str, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(KINDS[kind][0])
    small = ["--set", "tuner.trials=2", "--set", "test={pairs: 20, at_least: 20, block: 20}"] if kind == "tune" else []
    assert main([kind, str(tmp_path / "config.yaml"), "--out", str(tmp_path / "run"), *small]) == 0
    loaded = load_run(tmp_path / "run")
    assert loaded.manifest["kind"] == kind and loaded.manifest["state"] == "complete"
    assert loaded.trials["rtt"].eq(9).all() and len(loaded.trials) >= 20 and len(loaded.costs)
    assert len(loaded.learning) == (3 if kind == "tune" else 0)


def test_the_example_of_the_documentation_runs(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[3] / "docs/how-to/results.md").read_text()
    (example,) = re.findall(r"```python\n(.*?load_run.*?)```", text, re.DOTALL)
    exec(re.sub(r'"results/[^"]*"', repr(str(run)), example), {})
    assert "loss+queue  1" in capsys.readouterr().out


def test_what_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run here"):
        load_run(tmp_path)


def test_an_unfinished_run_has_what_there_is(run: Path, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_bytes((run / "manifest.json").read_bytes())
    with pytest.raises(InputError, match="missing; resume the run"):
        load_run(tmp_path)  # it was complete
    write_state(tmp_path / "manifest.json", {"kind": "sweep", "name": "s", "state": "training"})
    loaded = load_run(tmp_path)
    assert loaded.trials.empty and loaded.verdicts.empty and loaded.learning.empty and not loaded.result


@pytest.mark.slow
def test_shares_of_networks_are_those_of_the_trials(run: Path) -> None:
    """By the paper's rule, written down again: |difference of means| > the larger standard deviation over seeds."""
    loaded = load_run(run)
    trials = loaded.trials.query("phase == 'per-network-trainings' and utility == 'u'")
    over_seeds = trials.groupby(["candidate", "network"])["score_bits"].agg(["mean", "std"]).unstack("candidate")
    for row in loaded.shares.query("utility == 'u' and metric == 'score_bits' and A != B").to_dict("records"):
        difference = over_seeds["mean"][row["B"]] - over_seeds["mean"][row["A"]]
        error = over_seeds["std"][[row["A"], row["B"]]].max(axis=1)
        assert row["better_percent"] == pytest.approx(100 * (difference > error).mean())
        assert row["worse_percent"] == pytest.approx(100 * (difference < -error).mean())
        assert row["net_percent"] == pytest.approx(row["better_percent"] - row["worse_percent"])
        assert row["training_seeds"] == 1
    assert set(loaded.shares["metric"]) == {"score_bits", "throughput_share", "delay_us"}
    assert set(loaded.shares["utility"]) == {"u", "u-x"}
