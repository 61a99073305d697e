"""Tests of the selected policies, paired on fresh networks, until every difference is known accurately.

They are of the campaign's own space, or under another condition (generalisation tests), where those of all trainings
meet networks of their training seed too: for what signal sets and headers are worth there.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.comparison.net_benefit import CHARGED
from lcca.evaluation.settling.units import mean_of_blocks
from lcca.evaluation.trials.layout import GENERALISATION, TEST, of_trainings
from lcca.evaluation.trials.running import common_scores
from lcca.evaluation.trials.source import keeping_phases
from lcca.experiments.experiment import Experiment, Stop
from lcca.experiments.runs.seeds import derive
from lcca.experiments.summaries import compared
from lcca.experiments.testing.groups import Group, failures
from lcca.experiments.testing.places import OwnNetworks, keeping_flows, place_of

if TYPE_CHECKING:
    from lcca.experiments.campaign.running import CampaignRun
    from lcca.experiments.campaign.trials import GeneralisationConfig


def run_tests(run: CampaignRun, group: Group) -> pd.DataFrame:
    """Return pairs until every selected policy's difference is known accurately, or they are used up.

    A pair is a network, since each is met with one seed.
    """
    wanted, name = run.config.test, group.utility.name
    policies = {id: policy for c in group.selected.values() for id, policy in c.tested.items()}
    charged = [c.learner.id + CHARGED for c in group.selected.values() if c.learner.candidate.costs]
    place = place_of(run, derive(run.config.seed, "test"), group.utility, keep_delays=True)
    place = keeping_flows(keeping_phases(place))
    stop = Stop(wanted.pairs, wanted.at_least, step=wanted.block, rule=group.rule)
    title = f"testing on fresh networks (utility {name})"
    experiment = Experiment(place, policies | dict(group.hand_designed), [group.against_base(1, charged)], stop, title)
    return experiment.run(run.phase(TEST).blocks(name), run.reporter).rows


def run_generalisation(run: CampaignRun, group: Group, condition: GeneralisationConfig) -> dict[str, Any]:
    """Run all policies under a condition, headers with their bytes charged; all meet the same networks and traffic.

    Returns:
        What summary.json holds about the condition: signal sets and headers over training seeds first.
    """
    config, name, space = run.config, group.utility.name, condition.space(run.config.networks)
    sets = _over_seeds(run, group, condition)
    pairs = space.whole(condition.pairs)
    group = replace(group, block=space.block, rule=config.settle.ending_at(pairs // space.block))
    seed = derive(config.seed, "elsewhere", condition.name)  # a word of the seed: another one means other networks
    policies = {c.learner.id: c.charged for c in group.selected.values()} | dict(group.hand_designed)
    place = place_of(run, seed, group.utility, space, keep_delays=True)
    total = len(config.generalisation) * len(config.utilities) * len(group.compared)
    title = f"testing generalisation: {condition.name} (utility {name})"
    stop = Stop(pairs, step=config.test.block, rule=group.rule)
    experiment = Experiment(place, policies, [group.against_base(total)], stop, title)
    met = experiment.run(run.phase(GENERALISATION).blocks(name, condition.name), run.reporter)
    (selected,) = met.contents
    return {
        "condition": condition.name,
        "utility": name,
        "pairs": int(met.rows["network"].nunique()),
        "failed": failures(met.rows),
        "mean_score_bits": {
            policy: mean_of_blocks(scores, space.block) for policy, scores in common_scores(met.rows).items()
        },
        **sets,
        "comparisons": [*sets.get("comparisons", ()), *compared(selected, GENERALISATION, condition.name)],
    }


def _over_seeds(run: CampaignRun, group: Group, condition: GeneralisationConfig) -> dict[str, Any]:
    """Return what all trainings say of candidates under a condition, each training seed on networks of its own."""
    config, space, name = run.config, condition.space(run.config.networks), group.utility.name
    with_sets = [each for each in config.generalisation if each.of_each_seed(config.test, each.space(config.networks))]
    if condition not in with_sets:
        return {}
    networks = condition.of_each_seed(config.test, space)
    phase = run.phase(of_trainings(GENERALISATION))
    own = OwnNetworks(phase, (name, condition.name), space, networks, config.test.block)
    seed = derive(config.seed, "elsewhere trainings", condition.name)
    title = f"testing the trainings' generalisation: {condition.name} (utility {name})"
    trials = own.run(group.charged, place_of(run, seed, group.utility, space), title, run.reporter)
    group = replace(group, trained=trials)
    names = (group.baseline, *group.others)
    means = {each: group.by_seed(each).values() for each in names}
    sets = group.compare_all_candidates(len(with_sets) * len(config.utilities) * len(group.others))
    return {
        "failed_trainings": failures(trials),
        "signal_sets": [{"name": each, **group.over_seeds(each)} for each in names if group.by_seed(each)],
        "mean_score_bits_over_seeds": {each: fmean(scores) for each, scores in means.items() if scores},
        "comparisons": compared(sets, GENERALISATION, condition.name),
    }
