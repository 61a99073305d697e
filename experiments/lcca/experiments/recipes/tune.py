"""The best parameters of a congestion control, and what they are worth on fresh trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from lcca.evaluation.comparison.ranking import mean_interval
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.trials import layout
from lcca.evaluation.trials.metrics import FABRIC_TRIALS, shown
from lcca.evaluation.trials.ratio import unfinished_of
from lcca.evaluation.trials.running import common_scores
from lcca.evaluation.trials.source import TrialSource
from lcca.experiments.experiment import Answer, Costs, Experiment, Found, Pair, Question, Stop, Trials
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.kept import Described, config_of
from lcca.experiments.runs.context import Run
from lcca.experiments.runs.forecast import Cost
from lcca.experiments.summaries import Json, compared, head, measured
from lcca.experiments.tuning.config import TuningConfig
from lcca.experiments.tuning.search import DEFAULT, TUNED, require_installed, search, source_of
from lcca.experiments.verbs.tuning import Tune
from lcca.inputs.json_values import interval
from lcca.remy_plus.policies.policy import Policy
from lcca.workers.pool import Pool, Threads

if TYPE_CHECKING:
    from lcca.trainers.tune.study import Candidate


def tuning(verb: Tune) -> Described[TuningConfig]:
    """Search the best parameters, and compare them with the policy's own on fresh networks, or seeds of a fabric."""
    config = config_of(verb.config, TuningConfig, verb.overrides)
    require_installed(config)

    def begin(workers: Pool) -> Callable[[Run[TuningConfig, None]], Json]:
        searched, fresh = (source_of(config, word, workers) for word in ("tune", "test"))
        return partial(_tune, searched=searched, fresh=fresh, jobs=verb.jobs, storage=verb.storage)

    return Described(config, verb, begin, partial(costs, config))


tune = function("tune", Tune, tuning)


def _tune(
    run: Run[TuningConfig, None],
    searched: TrialSource[Policy],
    fresh: TrialSource[Policy],
    jobs: int,
    storage: str | None,
) -> Json:
    config, found = run.config, search(run, searched, jobs, storage)
    run.folder.set_state("testing")
    policies = {DEFAULT: found.start} | ({TUNED: found.policy} if found.is_better else {})
    tested = experiment(config, fresh, policies).run(run.phase(layout.TEST).blocks(config.utility.name), run.reporter)
    states = pd.Series([each.state for each in found.candidates if each.number >= 0], dtype=str).value_counts()
    record = partial(_record, config, tested)
    tuned = record(TUNED, found.best, TUNED if found.is_better else DEFAULT) | {"candidate": found.best.number}
    return head(config) | {
        **fresh.origin,
        **_rates(config),
        "unit": fresh.unit,
        "utility": config.utility.name,
        "policy": config.tuner.policy,
        "sampler": config.tuner.sampler.kind,
        "candidates": {state: int(n) for state, n in sorted(states.items())},
        "network_trials": found.trials,
        "policies": [record(DEFAULT, found.candidates[0], DEFAULT), tuned],
        "comparisons": compared([each for answer in tested.answers for each in answer.comparisons], layout.TEST),
    }


def experiment(config: TuningConfig, fresh: TrialSource[Policy], policies: Mapping[str, Policy]) -> Experiment:
    """Return the test of what a search has found: until the difference is known, or of the start alone."""
    wanted = config.test
    pair = Pair(DEFAULT, TUNED, fresh.utility, config.rule, fresh.block)
    question: Question = pair if TUNED in policies else _nothing
    stop = Stop(wanted.pairs, wanted.at_least, step=wanted.block, rule=config.rule)
    return Experiment(fresh, policies, [question], stop, f"testing on fresh {fresh.unit}")


def costs(config: TuningConfig, jobs: int = 1) -> Costs:
    """Return what a search costs at most, and the test of what it finds, from a few trials of the start alone.

    Raises:
        InputError: ns-3 is not installed, or the policy cannot run there.
    """
    fresh, start = source_of(config, "test", Threads(jobs)), config.tuner.build_space().policy
    test = experiment(config, fresh, {DEFAULT: start, TUNED: start})
    first_look = config.rule.looks_until(config.test.pairs // fresh.block)[0]
    tested = test.costs(jobs, first_look, "test.pairs").ends
    search = search_costs(config, jobs)
    ends = {f"test, {words}": cost for words, cost in tested.items()}
    return Costs({**search.ends, **ends}, search.tried)


def search_costs(config: TuningConfig, jobs: int = 1) -> Costs:
    """Return what a search costs at most: every candidate meets all networks or seeds; see `costs`."""
    source, space, wanted = source_of(config, "tune", Threads(jobs)), config.tuner.build_space(), config.tuner
    alone = Experiment(source, {DEFAULT: space.policy}, (), Stop(wanted.networks, when="never"), "").costs(jobs)
    candidates = 1 + (sum(1 for _ in space.grid()) if wanted.trials is None else wanted.trials)
    (own,) = alone.ends.values()
    count = candidates * wanted.networks
    by = "tuner.networks" if wanted.trials is None else "tuner.trials × tuner.networks"
    return Costs({"search, at most": Cost(count, "trials", candidates * own.cpu_s, jobs, by)}, alone.tried)


def _rates(config: TuningConfig) -> Json:
    """Return the rates, Gb/s, of hosts and of ports of switches, which values to paste are for; nothing of networks."""
    if not isinstance(config.place, FabricSpace):
        return {}
    met = [each.fabric for each in config.place.scenarios]
    hosts = {float(rate) for each in met for rate in each.host_gbps}
    switches = {float(rate) for each in met for node, _, rate in zip(*each.ports, strict=True) if node >= each.hosts}
    return {"rates_gbps": {"hosts": sorted(hosts), "switches": sorted(switches)}}


def _nothing(trials: Trials) -> Answer:
    """Ask nothing: the test ends as soon as it may."""
    return Answer(None, settled=True, enough=True)


def _record(config: TuningConfig, tested: Found, name: str, candidate: Candidate, policy: str) -> Json:
    """Return what one of the two scored: on the search's networks, where the best looks too good, and on fresh ones."""
    own = tested.rows[tested.rows["policy"] == policy]
    scores = common_scores(tested.rows)[policy]
    metrics = [each.name for each in shown(FABRIC_TRIALS, "study") if each.name in own]
    unfinished = unfinished_of(own, config.utility.build()).get(policy)
    too_many = unfinished is not None and unfinished.exceeds(config.rule.unfinished_percent)
    return measured(own[["policy", *metrics]], [policy], "")[0] | {
        "id": name,
        "parameters": dict(candidate.params),
        "search_score_bits": candidate.score_bits,
        "score_bits": interval(*mean_interval(scores, config.rule.alpha, config.test.pairs, config.place.block)),
        "trials": len(own),
        "failed": int((own["status"] != "ok").sum()),
        **({"unfinished": {"too_many": too_many, "policies": {policy: unfinished.to_json()}}} if unfinished else {}),
    }
