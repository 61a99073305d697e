"""Searches: every sampler, the paper's greedy search by hand, stopping and going on, and several processes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("optuna")

import optuna

from lcca.evaluation.trials.utilities import utility
from lcca.inputs.errors import InputError
from lcca.remy_plus.policies.hand_designed import hand_designed
from lcca.remy_plus.policies.policy import Aimd, FixedWindow, Policy
from lcca.trainers.tune.config import TuneConfig
from lcca.trainers.tune.race import Objective
from lcca.trainers.tune.samplers import GreedySearch, GridSearch
from lcca.trainers.tune.space import Range, Space
from lcca.trainers.tune.study import START, Candidate, Tuning

NETWORKS = 20
WINDOWS = {"window": {"min": 1, "max": 30, "step": 1}}
TWO = {"increase": {"min": 0.5, "max": 4, "step": 0.5}, "decrease": {"min": 0.1, "max": 0.9, "step": 0.1}}


class Killed(BaseException):
    """Stands for what ends a process at once."""


SOURCE: Any = SimpleNamespace(utility=utility("default"), unit="networks")


@dataclass(frozen=True)
class Synthetic(Objective):
    """Scores without a simulator: best at a window of 17, or at increase 2 and decrease 0.7."""

    budget: list[int] = field(default_factory=lambda: [10**6])  # of calls, then the process "dies"

    def run(self, policies: Sequence[Policy], begin: int, end: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        self.budget[0] -= 1
        if self.budget[0] < 0:
            raise Killed
        noise = np.random.default_rng(7).normal(0, 0.3, NETWORKS)[begin:end]
        return np.array([noise * (1 + m / 10) + m for m in map(merit, policies)]), np.zeros(len(policies), dtype=int)


def merit(policy: Policy) -> float:
    if isinstance(policy, FixedWindow):
        return 3 - ((policy.window - 17) / 8) ** 2
    assert isinstance(policy, Aimd)
    return 3 - (policy.increase - 2) ** 2 - 10 * (policy.decrease - 0.7) ** 2


def config(kind: str, **given: Any) -> TuneConfig:
    values: dict[str, Any] = {"policy": "fixed-window:8", "space": WINDOWS, "trials": 9, "batch": 3}
    return TuneConfig.model_validate(values | {"sampler": {"kind": kind}, "networks": NETWORKS} | given)


def tuning(folder: Path, wanted: TuneConfig, calls: int = 10**6, **given: Any) -> Tuning:
    folder.mkdir(exist_ok=True)
    objective = Synthetic(SOURCE, NETWORKS, wanted.race, budget=[calls])
    return Tuning(wanted, objective, 5, folder, **given)


def searched(folder: Path, wanted: TuneConfig, **given: Any) -> list[Candidate]:
    search = tuning(folder, wanted, **given)
    search.lead()
    return search.candidates()


def rows(candidates: Sequence[Candidate]) -> list[str]:
    return [repr(asdict(c)) for c in candidates]


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Candidate]]:
    folder = tmp_path_factory.mktemp("unbroken")
    return {kind: searched(folder / kind, config(kind)) for kind in ("tpe", "grid", "greedy", "random")}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["tpe", "grid", "greedy", "random"])
def test_finds_something_better_than_the_start(unbroken: dict[str, list[Candidate]], kind: str) -> None:
    found = unbroken[kind]
    assert found[0].number == START and found[0].state == "complete" and found[0].networks == NETWORKS
    best = max(found, key=lambda c: c.score_bits)
    assert best.score_bits > found[0].score_bits + 0.3 and best.state == "complete"
    assert len(found) - 1 <= config(kind).trials  # type: ignore[operator]
    assert any(c.state == "stopped" and c.networks < NETWORKS for c in found) or kind == "greedy"


@pytest.mark.slow
def test_a_search_that_was_killed_goes_on_as_if_it_had_not_been(
    unbroken: dict[str, list[Candidate]], tmp_path: Path
) -> None:
    with pytest.raises(Killed):
        tuning(tmp_path / "tpe", config("tpe"), 5).lead()
    assert rows(searched(tmp_path / "tpe", config("tpe"))) == rows(unbroken["tpe"])


@pytest.mark.slow
def test_a_batch_that_was_half_proposed_is_filled_up(
    unbroken: dict[str, list[Candidate]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = tuning(tmp_path / "half", config("tpe"))
    add, left = Tuning._add_one, iter(range(4))

    def dies(self: Tuning, batch: int) -> bool:
        if next(left, None) is None:
            raise Killed
        return add(self, batch)

    monkeypatch.setattr(Tuning, "_add_one", dies)
    with pytest.raises(Killed):
        search.lead()
    monkeypatch.setattr(Tuning, "_add_one", add)
    helper = tuning(tmp_path / "half", config("tpe"))
    lives = iter([True, True, True])
    helper.help(lambda: next(lives, False))  # finishes some of the batch before the rest of it is proposed
    assert rows(searched(tmp_path / "half", config("tpe"))) == rows(unbroken["tpe"])


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [40])
def test_taking_more_at_a_time_changes_nothing(unbroken: dict[str, list[Candidate]], tmp_path: Path, jobs: int) -> None:
    assert rows(searched(tmp_path / "jobs", config("tpe"), jobs=jobs)) == rows(unbroken["tpe"])


def test_what_another_process_holds_is_left_to_it(tmp_path: Path) -> None:
    first, second = tuning(tmp_path / "run", config("random")), tuning(tmp_path / "run", config("random"))
    assert first._start
    first._fill(0)
    trial = first._trials()[0]
    with first._claim(trial) as mine, second._claim(trial) as theirs:
        assert mine and not theirs
    assert second._try_some() and second._trials()[0].state.is_finished()
    with first._claim(trial) as late:
        assert not late, "it is finished"


def test_equal_candidates_are_tried_once(tmp_path: Path) -> None:
    small = config("random", space={"window": {"min": 7, "max": 9, "step": 1}}, trials=10)
    found = searched(tmp_path / "run", small)
    assert sum(c.same_as is None for c in found) <= 3 + 1
    for each in found:
        if each.same_as is not None:
            twin = next(c for c in found if c.number == each.same_as)
            assert (twin.params, twin.score_bits, twin.state) == (each.params, each.score_bits, each.state)


def test_candidates_that_cannot_be_cost_no_trials(tmp_path: Path) -> None:
    axes = {"alpha": {"min": 5, "max": 9, "step": 1}}  # all above beta
    wanted = TuneConfig.model_validate(
        {"policy": "vegas", "space": axes, "sampler": {"kind": "random"}, "trials": 4, "networks": NETWORKS}
    )
    search = tuning(tmp_path / "run", wanted)
    search._start = [1.0] * NETWORKS
    best = search.lead()
    assert best.number == START
    assert {c.state for c in search.candidates()[1:]} == {"infeasible"}
    assert "alpha must not be above beta" in search.candidates()[1].note


def test_nothing_to_score_is_said(tmp_path: Path) -> None:
    search = tuning(tmp_path / "run", config("tpe"))
    search._start = [math.nan] * NETWORKS
    with pytest.raises(InputError, match="longer"):
        search.lead()


def test_storage_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        tuning(tmp_path / "run", config("tpe"), storage="no-such-database://here")


# The samplers as Optuna knows them.


def optimised(sampler: optuna.samplers.BaseSampler, space: Space, most: int) -> Iterator[dict[str, Any]]:
    study = optuna.create_study(sampler=sampler, direction="maximize")

    def objective(trial: optuna.Trial) -> float:
        return merit(space.build({n: trial.suggest_int(n, 1, 30) for n in space.axes}))

    study.optimize(objective, n_trials=most)
    return (t.params for t in study.trials)


def test_greedy_climbs_as_by_hand() -> None:
    """From 14 to 15, since it is better than 13, then level by level to 17, where neither neighbour is better."""
    space = Space(FixedWindow(14), {"window": Range(min=1, max=30, step=1)})
    tried = [p["window"] for p in optimised(GreedySearch(space, 1, merit(FixedWindow(14))), space, 6)]
    assert tried == [13, 15, 14, 16, 17, 18]


@pytest.mark.slow
def test_greedy_may_begin_between_the_levels(tmp_path: Path) -> None:
    """As with BBR, whose gain of 2.89 is no level of the paper's: the neighbours of another parameter keep it."""
    space = {"increase": {"min": 0.5, "max": 4, "step": 0.5}, "decrease": {"min": 0.15, "max": 0.95, "step": 0.1}}
    wanted = config("greedy", policy="aimd", space=space, trials=40, batch=4)
    found = searched(tmp_path / "search", wanted)
    assert {c.params["decrease"] for c in found[:5]} == {0.45, 0.5, 0.55}
    best = max((c for c in found if c.state == "complete"), key=lambda c: c.score_bits)
    assert best.params["increase"] == pytest.approx(2)
    assert best.params["decrease"] == pytest.approx(0.65) or best.params["decrease"] == pytest.approx(0.75)


def test_every_search_of_the_papers_table_proposes_candidates() -> None:
    from lcca.trainers.tune.config import TABLE_5, table_5

    for name in TABLE_5:
        space = Space(hand_designed(name), table_5(name))
        study = optuna.create_study(sampler=GreedySearch(space))
        from lcca.trainers.tune.samplers import loose_distributions

        trial = study.ask(loose_distributions(space))
        assert space.fits(trial.params), name


def test_greedy_stops_where_no_neighbour_is_better() -> None:
    space = Space(FixedWindow(17), {"window": Range(min=1, max=30, step=1)})
    greedy = GreedySearch(space, 2, 3.0)
    assert [p["window"] for p in optimised(greedy, space, 4)] == [15, 16, 18, 19]
    study = optuna.create_study(sampler=greedy, direction="maximize")
    for window in (15, 16, 18, 19):
        study.add_trial(
            optuna.create_trial(
                params={"window": window},
                distributions={"window": optuna.distributions.IntDistribution(1, 30)},
                value=merit(FixedWindow(window)),
            )
        )
    assert greedy.untried(study.trials) == []


def test_grid_is_everything_that_fits_once() -> None:
    axes = {"alpha": Range(min=0, max=4, step=1), "beta": Range(min=1, max=5, step=1)}
    space = Space(hand_designed("vegas"), axes)
    points = GridSearch(space).untried([])
    assert sorted(map(str, points)) == sorted(map(str, space.grid()))
    assert points != list(space.grid()), "shuffled"
