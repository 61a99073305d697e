"""The trainings of a campaign, training seed by training seed, until its candidates are settled over them.

What belongs to one training seed (its trainings, their validation and their test on networks of that seed alone) is
complete before another one is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.policy_names import at_rules
from lcca.experiments.learning.plan import Rounds, in_groups, learners
from lcca.experiments.learning.side_by_side import train_side_by_side
from lcca.experiments.learning.training import learning_rows, train
from lcca.experiments.runs.costs import Cost
from lcca.experiments.runs.seeds import derive
from lcca.experiments.testing.chosen import Chosen
from lcca.experiments.testing.groups import Group, equal_rules, groups
from lcca.experiments.testing.net_benefit import settled_over_seeds
from lcca.experiments.testing.places import OwnNetworks, keeping_flows, place_of
from lcca.experiments.testing.selection import choose
from lcca.experiments.testing.summary import so_far

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.running import CampaignRun
    from lcca.experiments.learning.cache import TrainingCache
    from lcca.experiments.learning.plan import Learner
    from lcca.remy_plus.policies.policy import Policy
    from lcca.workers.pool import Pool


@dataclass(frozen=True, eq=False)
class Trained:
    """What some training seeds gave.

    Attributes:
        chosen: the policy of each training.
        learning: learning curves.
        trials: test trials by utility, the policies of one training seed on networks of its own.
    """

    chosen: tuple[Chosen, ...]
    learning: tuple[pd.DataFrame, ...]
    trials: dict[str, pd.DataFrame]

    def __add__(self, more: Trained) -> Trained:
        """Return both together."""
        both = {name: [part.trials[name] for part in (self, more) if name in part.trials] for name in more.trials}
        trials = {name: pd.concat(rows, ignore_index=True) for name, rows in both.items()}
        return Trained(self.chosen + more.chosen, self.learning + more.learning, trials)

    def groups(self, config: CampaignConfig) -> list[Group]:
        """Return the policies by utility."""
        return groups(config, self.chosen, self.trials)


def run_trainings(run: CampaignRun, cache: TrainingCache, pool: Pool) -> Trained:
    """Train, validate and test with one training seed after another until all is settled, or no more are wanted.

    Trainings run in the pool if it makes several calls at once.
    """
    trained = Trained((), (), {})
    for seeds in run.config.seed_steps:
        trained += _run_seeds(run, seeds, cache, pool)
        if _settled(run, trained):
            break
    return trained


def _settled(run: CampaignRun, trained: Trained) -> bool:
    """Tell whether further training seeds would change nothing, and note what those that are done say."""
    groups = trained.groups(run.config)
    run.folder.write_json(layout.SO_FAR, so_far(run.config, groups))
    settled, words = settled_over_seeds(groups, run.config)
    if words:
        seeds = len(groups[0].training_seeds)
        run.reporter.say(f"{seeds} training seed{'' if seeds == 1 else 's'}: {words}")
    return settled


def train_first(run: CampaignRun, cache: TrainingCache, pool: Pool) -> list[dict[str, Any]]:
    """Train with the first training seeds, no more, and return a row with its policy files for each training."""
    seeds = run.config.seed_steps[0]
    return [
        {
            "id": learner.id,
            "policies": [str(file) for file in layout.checkpoint_files(run.path, learner.id)],
            "rules": int(curve["rules"].iloc[-1]),
            "trials": int(curve["trials"].iloc[-1]),
        }
        for learner, curve in zip(learners(run.config, seeds), _train(run, seeds, cache, pool), strict=True)
    ]


def _run_seeds(run: CampaignRun, seeds: Sequence[int], cache: TrainingCache, pool: Pool) -> Trained:
    run.folder.set_state("training")
    curves = _train(run, seeds, cache, pool)
    run.folder.set_state("testing")
    plan, chosen = learners(run.config, seeds), []
    with run.reporter.task("picking checkpoints on validation networks", total=len(plan)) as task:
        for done, learner in enumerate(plan, 1):
            chosen.append(choose(run, learner))
            unlearnt = " (one rule: not learnt yet)" if chosen[-1].rules == 1 else ""
            task.update(done, f"{learner.id}: {chosen[-1].validation_score_bits:.3f} bits{unlearnt}")
    return Trained(tuple(chosen), tuple(curves), _test(run, chosen))


def _train(run: CampaignRun, seeds: Sequence[int], cache: TrainingCache, pool: Pool) -> list[pd.DataFrame]:
    """Train all policies of these training seeds and return their learning curves."""
    parts, plan = in_groups(run.config, seeds), learners(run.config, seeds)
    for part in parts if pool.count > 1 else ():
        train_side_by_side(run, part, cache, pool)
    curves, count = {}, 0
    for learner in (each for part in parts for each in part):
        count += not learner.warms
        which = " (what all go on from)" if learner.warms else f" ({count} of {len(plan)})"
        curves[learner] = train(run, learner, which, cache)
        own = Rounds(run.path, learner).own(curves[learner])
        run.costs.trained(learner.id, Cost("training", trials=own[0], packets=own[1]))
    return [learning_rows(learner, curves[learner]) for learner in plan]


def _test(run: CampaignRun, chosen: Sequence[Chosen]) -> dict[str, pd.DataFrame]:
    """Return test trials by utility: the policies of each training seed on networks of that seed.

    Policies are tested at equal numbers of rules too.
    """
    trials: dict[str, pd.DataFrame] = {}
    for utility in dict.fromkeys(c.learner.utility for c in chosen):
        contenders: dict[int, dict[str, Policy]] = {}
        for seed in dict.fromkeys(c.learner.training_seed for c in chosen):
            own = [c for c in chosen if (c.learner.utility, c.learner.training_seed) == (utility, seed)]
            sizes: dict[str, list[int]] = {}
            for trainer in run.config.named_trainers:
                sizes |= equal_rules([c for c in own if c.learner.trainer == trainer], run.config.baseline)
            at_equal = {at_rules(c.learner.id, r): c.at(r) for c in own for r in sizes[c.learner.id]}
            contenders[seed] = {id: policy for c in own for id, policy in c.tested.items()} | at_equal
        place = keeping_flows(place_of(run, derive(run.config.seed, "trainings test"), utility))
        trials[utility.name] = _own(run, utility.name).run(contenders, place, "testing the trainings", run.reporter)
    return trials


def _own(run: CampaignRun, utility: str) -> OwnNetworks:
    space, wanted = run.config.networks, run.config.test
    networks = space.whole(wanted.per_training_seed)
    return OwnNetworks(run.phase(layout.TRAININGS_TEST), (utility,), space, networks, wanted.block)


def seeds_done(run: CampaignRun) -> list[int]:
    """Return the training seeds whose policies have all been tested, as far as they follow one another."""
    done: list[int] = []
    for step in run.config.seed_steps:
        if not all(_own(run, utility.name).kept(seed) for seed in step for utility in run.config.utilities):
            break
        done += step
    return done


def trained_before(run: CampaignRun, plan: Sequence[Learner]) -> Trained:
    """Return what trainings that are done and tested gave, from what the run has kept."""
    chosen = [choose(run, learner) for learner in plan]
    return Trained(tuple(chosen), (), _test(run, chosen))
