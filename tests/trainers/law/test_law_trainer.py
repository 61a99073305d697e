"""The trainer of laws: what it learns, what sets share, and what its keys leave out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lcca.evaluation.scenarios.networks import NetworkSpace
from lcca.evaluation.trials.running import run_trials
from lcca.evaluation.trials.utilities import utility
from lcca.inputs.errors import InputError
from lcca.inputs.validation import read_config
from lcca.remy_plus.engine import Engine
from lcca.remy_plus.policies.law import FEATURES, Law
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.signal_set import signal_set
from lcca.trainers.base import Task, WarmStart, run
from lcca.trainers.law.config import AT_RATE, GRANTED, PLAIN, STEEP, UNUSED, LawConfig
from lcca.trainers.law.trainer import LawTrainer

SPACE = read_config(Path(__file__).parents[3] / "configs/networks/default.yaml", NetworkSpace)
SHORT = Engine(2000.0)
FIRST = {"trials": 100, "terms": "plain", "features": "none", "width": 1}


def trainer(
    name: str,
    stages: list[dict[str, Any]],
    engine: Engine = SHORT,
    shared: Path | None = None,
    more: tuple[str, ...] = (),
    **keys: Any,
) -> LawTrainer:
    task = Task(name, (*signal_set(name).signals, *more), SPACE, utility("default"), 3)
    config = LawConfig.model_validate({"stages": stages} | keys)
    return LawTrainer(task, config, engine, shared=shared)


def score(policy: Policy) -> float:
    rows = run_trials(Engine(SPACE.duration), {"it": policy}, SPACE.draw(77, 160), [77], utility("default"))
    return float(rows["score_bits"].mean())


@pytest.mark.slow
def test_a_plain_law_learns() -> None:
    """A tenth of the usual first stage is better than the law that it begins with, on networks it has not met."""
    first = Law.of(UNUSED | {name: search.start for name, search in PLAIN.items()})
    learnt = run(trainer("e2e", [FIRST | {"trials": 1200}], Engine(SPACE.duration)))
    assert score(learnt) > score(first) + 0.015


def test_sets_share_the_stages_before_signals(tmp_path: Path) -> None:
    shared, stages = tmp_path / "shared", [FIRST, {"trials": 60, "features": "own"}, {"trials": 60}]
    one = trainer("e2e", stages, shared=shared, networks=2)
    run(one)
    other = trainer("link+queue", stages, shared=shared, networks=2)
    assert other.learning == one.learning[: len(other.learning)] and other.state.stage == 2
    alone = trainer("link+queue", stages, networks=2)
    assert run(other) == run(alone)
    plain, own, rich = (alone.form.law(*kept) for kept in alone.state.kept)
    assert not plain.features and own.inputs == rich.inputs == ("link", "queue")
    assert own.named_features.keys() == set(FEATURES) < rich.named_features.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["capacity+flows", "fair-rate", "flows"])
def test_what_sets_share_is_the_same_whoever_trains_it(name: str, tmp_path: Path) -> None:
    stages = [FIRST, {"trials": 100, "features": "own"}, {"trials": 60}]
    one, other = (trainer(each, stages, shared=tmp_path / each, networks=2) for each in ("e2e", name))
    run(one)
    run(other)
    assert other.state.kept[:2] == one.state.kept[:2]


def test_signals_need_a_stage_that_looks_at_them() -> None:
    with pytest.raises(InputError, match="none has features: all or new"):
        LawConfig.model_validate({"stages": [FIRST]}).require(signal_set("link").signals)


def test_what_is_shared_leaves_its_policies_for_every_task(tmp_path: Path) -> None:
    stages, kept = [FIRST, {"trials": 60, "features": "own"}, {"trials": 60}], dict[int, Policy]()
    first = trainer("e2e", stages, shared=tmp_path / "shared", networks=2)
    run(first)
    task = Task("e2e", signal_set("e2e").signals, SPACE, utility("default"), 3)
    config = LawConfig.model_validate({"stages": stages, "networks": 2})
    LawTrainer(task, config, SHORT, keep=kept.__setitem__, shared=tmp_path / "shared")
    assert kept == {number: first.form.law(*first.state.kept[number]) for number in (0, 1)}


def test_laws_for_several_hops_leave_out_what_starves_flows() -> None:
    law = run(trainer("link", [{"trials": 60, "feature_width": 1}], networks=2, hops="several"))
    assert isinstance(law, Law)
    named = law.named_features
    assert all(named[name][:2] == (0.0, 0.0) and named[name][2] != 0 for name in STEEP)
    assert all(named[name][0] != 0 for name in ("age_2", "link"))


@pytest.mark.parametrize("name", ["capacity+flows", "flows"])
def test_a_law_begins_at_the_granted_rate_where_that_is_better(name: str) -> None:
    """The share of the capacity is exact; of its own ACKs a flow makes one if its first packets go back to back."""
    found = trainer(name, [{"trials": 60}], networks=2)
    law = run(found)
    assert isinstance(law, Law)
    assert law.named_terms["pace_target"] == AT_RATE["pace_target"]
    assert (law.named_terms["gap"] < -4) == (name == "flows")
    assert law.rate == {"capacity+flows": "capacity/flows", "flows": "1/flows"}[name]
    assert found.learning[-1].trials > 2 * 160  # both beginnings on the same networks


def test_of_several_granted_rates_the_better_one_is_taken() -> None:
    """RCP's rate beside the exact share took its place, and lost 0.055 bits of it."""
    law = run(trainer("capacity+flows", [{"trials": 60}], more=("fair_rate",), networks=2))
    assert isinstance(law, Law) and law.rate == "capacity/flows"
    assert run(trainer("e2e", [{"trials": 60}], more=("fair_rate",), networks=2)).rate == "fair_rate"  # type: ignore[attr-defined]


def test_a_rate_that_a_set_lacks_is_no_start() -> None:
    start = WarmStart(Law.of({"pull": 1.0}, rate="capacity/flows"), 1)
    task = Task("e2e", signal_set("e2e").signals, SPACE, utility("default"), 3, warm_start=start)
    with pytest.raises(InputError, match="the law looks at capacity, flows, which this set lacks"):
        LawTrainer(task, LawConfig(), SHORT)


@pytest.mark.slow
def test_more_signals_never_make_a_law_worse() -> None:
    """A tenth of the usual trials, each set beside one that has more: by at most the luck of a search."""
    stages = [FIRST | {"trials": 1000}, {"trials": 2000, "features": "own"}, {"trials": 500, "features": "new"}]
    stages += [{"trials": 1500, "width": 0.25, "feature_width": 0.1}]
    pairs = [("e2e", "capacity+flows", ()), ("capacity+flows", "capacity+flows", ("fair_rate",))]
    pairs += [("capacity+flows", "capacity+flows", ("fair_rate", "link", "queue"))]
    for subset, superset, more in pairs:
        few, many = (
            run(trainer(name, stages, Engine(SPACE.duration), more=extra))
            for name, extra in ((subset, ()), (superset, more))
        )
        assert score(many) > score(few) - 0.015, (subset, superset, more)


@pytest.mark.parametrize(("name", "searched"), [("link", {"link"}), ("e2e", set(FEATURES)), ("capacity+flows", None)])
def test_a_stage_of_what_is_new_leaves_the_rest(name: str, searched: set[str] | None) -> None:
    """Coefficients of the set's signals, and terms of a granted rate; a set without either searches its own."""
    found = trainer(name, [FIRST, {"trials": 60, "features": "own"}, {"trials": 60, "features": "new"}], networks=2)
    run(found)
    (before, own), (after, rows) = found.state.kept[1:]
    changed = {each for each in rows if rows[each] != own.get(each, [0.0] * 3)}
    if searched is None:
        assert {each for each in after if after[each] != before[each]} <= {*GRANTED, *AT_RATE}
        assert changed <= {"capacity", "flows"}
    else:
        assert changed == searched and (after == before) == (name == "link")


def test_sets_without_rtts_are_refused() -> None:
    with pytest.raises(InputError, match="sets without rtt_ratio and receive_ewma use rplus"):
        LawConfig().require(signal_set("no-rtt").signals)
    LawConfig().require(signal_set("e2e").signals)
