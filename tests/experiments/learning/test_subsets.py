"""`rivals: subsets`: a training with more signals may go on from a finished table for some of them."""

from pathlib import Path

import pytest

from lcca.evaluation.trials.layout import checkpoint_files
from lcca.experiments.campaign.config import read_campaign
from lcca.experiments.learning.plan import in_groups, learners
from lcca.experiments.learning.training import engine_of, trainer_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.costs import Costs
from lcca.experiments.runs.folder import RunFolder
from lcca.experiments.runs.progress import Reporter
from lcca.inputs.errors import ConfigError
from lcca.remy_plus.files.policyfile import loads
from lcca.remy_plus.policies.rules import RuleTable

from ...fixtures import RunCommand, results

SETS = ("--set", "signal_sets=[loss, loss+rtt, loss+queue]", "--set", "baseline=loss", "--set", "rivals=subsets")
POLISH = "polish: {population: 4, networks: 4, check_networks: 8}"
GROW = f"trainer={{rounds: 0, {POLISH}, grow: {{rules: [1, 2], pairs: 8, look_ups: 8}}, budget_trials: 900}}"
LONG = ("--set", "networks.duration=1000")  # in shorter trials no rule has look-ups enough to be split
SHORT = (*SETS, "--set", GROW, "--set", "training_seeds=[1]", "--set", "test.pairs=20", *LONG)


def read(file: Path) -> RuleTable:
    policy = loads(file.read_text()).policy
    assert isinstance(policy, RuleTable)
    return policy


def named(path: Path, *overrides: str) -> dict[str, list[str]]:
    config = read_campaign(path, overrides)
    return {each.candidate.name: [r.candidate.name for r in each.rivals(config)] for each in learners(config, [1])}


def test_rivals_are_the_largest_sets_inside(tiny: Path) -> None:
    sets = "signal_sets=[e2e, link, queue, link+queue]"
    headers = "headers=[nosignal-8b]"
    changes = ("baseline=e2e", "rivals=subsets", "trainer.rounds=1")
    assert named(tiny, sets, headers, *changes) == {
        "e2e": [],
        "link": ["e2e"],
        "queue": ["e2e"],
        "link+queue": ["link", "queue"],
        "nosignal-8b": ["e2e"],  # its link and queue are those that the header carries
    }
    assert set(map(tuple, named(tiny, sets, "baseline=e2e").values())) == {()}


def test_trainings_wait_for_what_they_may_go_on_from(tiny: Path) -> None:
    config = read_campaign(tiny, ["signal_sets=[link+queue, link, queue, e2e]", "baseline=e2e", "rivals=subsets"])
    found = [[each.candidate.name for each in part] for part in in_groups(config, [1])]
    assert found == [["e2e"], ["link", "queue"], ["link+queue"]]
    last = next(each for each in learners(config, [1]) if each.candidate.name == "link+queue")
    assert [each.candidate.name for each in last.needs(config)] == ["e2e", "link", "queue"]


def test_a_training_is_another_one_with_other_rivals(tiny: Path) -> None:
    keys = {}
    for rivals in ("none", "subsets"):
        config = read_campaign(tiny, ["signal_sets=[e2e, link]", "baseline=e2e", f"rivals={rivals}"])
        keys[rivals] = [each.key(config) for each in learners(config, [1])]
    assert keys["none"][0] == keys["subsets"][0]
    assert keys["none"][1] != keys["subsets"][1]


def test_a_trainer_that_cannot_is_refused(tiny: Path) -> None:
    with pytest.raises(ConfigError, match=r"rivals: subsets: trainer.kind ppo cannot"):
        read_campaign(tiny, ["trainer={kind: ppo, steps: 1000}", "rivals=subsets"])


@pytest.mark.full
@pytest.mark.usefixtures("no_report")
def test_how_many_learn_at_once_changes_no_byte(tiny: Path, lcca: RunCommand) -> None:
    first, second = tiny.parent / "first", tiny.parent / "second"
    found = lcca("sweep", tiny, "--out", first, *SHORT, "--json").json()
    assert {row["name"] for row in found["capacity"] if row["rules"] == 2} == {"loss", "loss+rtt", "loss+queue"}
    assert lcca("sweep", tiny, "--out", second, *SHORT, "--trainings", 2).status == 0
    assert results(first) == results(second)


@pytest.mark.slow
@pytest.mark.usefixtures("no_report")
def test_the_tables_that_may_be_gone_on_from_are_the_last_of_each_size(tiny: Path, lcca: RunCommand) -> None:
    path = tiny.parent / "run"
    assert lcca("sweep", tiny, "--until", "trained", "--out", path, *SHORT).status == 0
    config = read_campaign(tiny, [each for each in SHORT if each != "--set"])
    folder = RunFolder(path, config)
    run = Run(folder, engine_of(config, 1), Costs(folder), Reporter(quiet=True))
    small, large = (each for each in learners(config, [1]) if each.candidate.name in ("loss", "loss+rtt"))
    tables = {len(policy): policy for file in checkpoint_files(path, small.id) for policy in [read(file)]}
    assert set(tables) == {1, 2}
    assert list(trainer_of(run, large).task.rivals) == list(tables.values())
    assert trainer_of(run, small).task.rivals == ()
