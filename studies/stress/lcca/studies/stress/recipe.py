"""Networks where a policy loses most against others, found by a search and confirmed on fresh trials."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lcca.evaluation.bounds.ideals import IDEALS, bounded_utility
from lcca.evaluation.scenarios.networks import PARAMETERS, ListedNetwork, NetworkSpace
from lcca.evaluation.trials.layout import CONFIG, SUMMARY
from lcca.evaluation.trials.metrics import NETWORK_TRIALS, SCORE
from lcca.evaluation.trials.source import NetworkTrials
from lcca.experiments.experiment import Costs, Experiment, Found
from lcca.experiments.places import meet, space_of
from lcca.experiments.recipes.function import function
from lcca.experiments.recipes.prepared import Prepared, identity
from lcca.experiments.runs.forecast import Cost, cpu_s_per_weight
from lcca.experiments.runs.kinds import Kind
from lcca.experiments.runs.seeds import derive
from lcca.inputs.errors import InputError, did_you_mean, require, visible
from lcca.inputs.extras import require_libraries
from lcca.inputs.files import write_with_digest
from lcca.remy_plus.network import Network
from lcca.remy_plus.record import RTTS
from lcca.signal_sets.load import each_of
from lcca.studies.stress.report.words import hard_words, loss_words
from lcca.studies.stress.verb import STRESSED, Stress

STRESS = Kind("stress", (CONFIG, SUMMARY), "lcca.studies.stress.recipe", {"optuna": "optuna"})
HARD_NETWORKS = "hard-networks.yaml"
"""File in the folder of a run: the networks that were confirmed."""

IDEAL_NAMES = {f"ideal-{name.removesuffix('_bits')}": name for name in IDEALS}
"""References that are no policies, and their columns in `lcca.evaluation.bounds.ideals.ideal_scores`."""


def stressing(verb: Stress) -> Prepared:
    """Search a space for networks where a policy loses most, and confirm what is found on fresh trials."""
    require_libraries(STRESS.libraries, "searches for hard networks", "tune")
    from lcca.studies.stress.search import ALPHA, BATCH, Loss, Search

    count = {name: getattr(verb, name) or usual for name, usual in STRESSED.items()}
    require(count["fresh"] >= 2, "--fresh: an interval needs at least 2 trials")
    space = space_of(verb.on, verb.overrides)
    if not isinstance(space, NetworkSpace):
        raise InputError(f"{verb.on}: hard networks are searched in a network space alone, as in configs/networks")
    name = verb.metric or SCORE.name
    known = [each.name for each in NETWORK_TRIALS.values() if each.better]
    require(name in known, f"--metric: {name[:60]!r} is no metric{did_you_mean(name, known)}: {', '.join(known)}")
    names = [verb.policy, *each_of(verb.against)]
    ideals = {each: IDEAL_NAMES[each] for each in names[1:] if each in IDEAL_NAMES}
    require(not ideals or name == SCORE.name, f"--metric {name}: ideals have a score alone")
    met = [each for each in names if each not in ideals]
    meeting = meet(met, space, replace(verb, seeds=count["seeds"]), "stress")
    place = meeting.place
    assert isinstance(place, NetworkTrials)
    if ideals:
        bounded_utility(place.utility)
    seeds = [derive(place.seed, "candidates", k) for k in range(count["seeds"])]
    place = replace(place, seeds=seeds, keep_delays=name in RTTS)
    own, *others = meeting.contenders
    loss = Loss(own, (*others, *ideals), NETWORK_TRIALS[name])
    search = Search(place, space, loss, count["candidates"], count["networks"], count["fresh"], ideals)

    def content(found: Found, folder: Path | None) -> Mapping[str, Any]:
        summary: dict[str, Any] = {
            **place.origin,
            **{"utility": place.utility.name, "policy": own, "against": [*loss.against], "metric": name},
            **{"unit": loss.metric.unit, "candidates": search.candidates, "seeds": len(seeds), "alpha": ALPHA},
            "duration_us": space.duration,
            "varying": {name: [levels[0], levels[-1]] for name, levels in search.levels.items()},
        }
        records = search.confirmed(found.rows)
        summary["hard_networks"] = [each | {"network": listed(each["network"])} for each in records]
        if folder is not None and any(each["confirmed"] for each in records):
            write_with_digest(folder / HARD_NETWORKS, file_of(summary).encode())
        return summary

    def costs(_: Sequence[int]) -> Costs:
        drawn = space.draw(place.seed, search.candidates)
        pace, tried = cpu_s_per_weight(
            lambda block: search.run(meeting.contenders, drawn[block.first : block.end], seeds), [1.0] * len(drawn)
        )
        jobs, fresh = verb.jobs, search.most * search.fresh / len(seeds)
        search_cost = Cost(search.candidates, "networks", pace * search.candidates, jobs, "--candidates")
        return Costs(
            {"search": search_cost, "confirmation": Cost(search.most, "networks", pace * fresh, jobs, "--networks")},
            tried,
        )

    title = f"searching where {own} loses against {', '.join(loss.against)}"
    experiment = Experiment(
        place, meeting.contenders, [search], search.stop, title, search.rows, each=len(meeting.contenders) * len(seeds)
    )
    resolved = {**count, "metric": name, "against": [*loss.against], "batch": BATCH}
    config = identity(STRESS, verb, met, verb.on, meeting, resolved)
    return Prepared(experiment, replace(meeting, costs=costs), config, content, looks=False, always_kept=True)


stress = function("stress", Stress, stressing)


def listed(network: Network) -> dict[str, Any]:
    """Return a network as files list it: what differs from the usual, as JSON values."""
    names = (*PARAMETERS, "switched", "topology", "packet_bytes")
    return ListedNetwork(**{name: getattr(network, name) for name in names}).model_dump(
        mode="json", exclude_defaults=True
    )


def file_of(summary: Mapping[str, Any]) -> str:
    """Return the text of the file with the networks where a loss is confirmed, each with what it is."""
    lines = [
        f"Networks where {summary['policy']} loses against {', '.join(summary['against'])}, by "
        f"{summary['metric']} (utility {summary['utility']}).",
        f"{hard_words(summary)}; simultaneous intervals of {1 - summary['alpha']:.0%}.",
        f"Trials took {summary['duration_us']:g} µs; packets, packets/µs and µs.",
    ]
    text = [f"# {visible(line)}" for line in lines]
    for each in summary["hard_networks"]:
        if each["confirmed"]:
            text += [f"# {visible(loss_words(each, summary['unit']))}", f"- {json.dumps(each['network'])}"]
    return "\n".join(text) + "\n"
