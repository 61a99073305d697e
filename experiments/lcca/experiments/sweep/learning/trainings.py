"""The trainings of a campaign, training seed by training seed, until its candidates are settled over them.

What belongs to one training seed (its trainings, their validation and their test on networks of that seed alone) is
complete before another one is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.trials import layout
from lcca.evaluation.trials.blocks import Block, Decision, blocks_between, run_blocks
from lcca.experiments.campaign.plan import learners, warm_starts, waves
from lcca.experiments.runs.policy_names import at_rules
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.groups import Group, equal_rules, groups
from lcca.experiments.sweep.learning.training import learning_rows, train
from lcca.experiments.sweep.net_benefit import CandidateVerdicts, candidate_verdicts
from lcca.experiments.sweep.own_networks import telling
from lcca.experiments.sweep.selection import Chosen, choose
from lcca.experiments.sweep.side_by_side import train_side_by_side
from lcca.experiments.sweep.source import source_of
from lcca.experiments.sweep.summary import so_far

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.plan import Learner
    from lcca.experiments.runs.context import Run
    from lcca.experiments.sweep.learning.cache import TrainingCache
    from lcca.gym_envs.processes.pool import Pool
    from lcca.remy_plus.engine import Engine
    from lcca.remy_plus.policies.policy import Policy


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

    @classmethod
    def of(cls, parts: Sequence[Trained]) -> Trained:
        """Return several together."""
        names = dict.fromkeys(name for part in parts for name in part.trials)
        return cls(
            tuple(c for part in parts for c in part.chosen),
            tuple(rows for part in parts for rows in part.learning),
            {name: pd.concat([part.trials[name] for part in parts], ignore_index=True) for name in names},
        )

    def groups(self, config: CampaignConfig) -> list[Group]:
        """Return the policies by utility."""
        return groups(config, self.chosen, self.trials)


def run_trainings(run: Run[CampaignConfig, Engine], cache: TrainingCache, pool: Pool) -> Trained:
    """Train, validate and test with one training seed after another until all is settled, or no more are wanted.

    Trainings run in the pool if it makes several calls at once.
    """
    steps = run.config.seed_steps

    def run_step(block: Block) -> Trained:
        return _run_seeds(run, steps[block.number], cache, pool)

    def decide(parts: Sequence[Trained], _: int) -> Decision[CandidateVerdicts]:
        groups = Trained.of(parts).groups(run.config)
        run.folder.write_json(layout.SO_FAR, so_far(run.config, groups))
        found = candidate_verdicts(groups, run.config)
        return Decision(found, found.settled)

    def tell(seeds: int, found: CandidateVerdicts) -> None:
        if found.words():
            run.reporter.say(f"{seeds} training seed{'' if seeds == 1 else 's'}: {found.words()}")

    parts, _ = run_blocks(blocks_between(accumulate(map(len, steps))), run_step, decide, tell=tell)
    return Trained.of(parts)


def train_first(run: Run[CampaignConfig, Engine], cache: TrainingCache, pool: Pool) -> list[dict[str, Any]]:
    """Train with the first training seeds, no more, and return a row with its policy files for each training."""
    curves, plan = _train(run, run.config.seed_steps[0], cache, pool), learners(run.config, run.config.seed_steps[0])
    return [
        {
            "id": learner.id,
            "policies": [str(file) for file in layout.checkpoint_files(run.path, learner.id)],
            "rules": int(curve["rules"].iloc[-1]),
            "trials": int(curve["trials"].iloc[-1]),
        }
        for learner, curve in zip(plan, curves, strict=True)
    ]


def _run_seeds(run: Run[CampaignConfig, Engine], seeds: Sequence[int], cache: TrainingCache, pool: Pool) -> Trained:
    run.folder.set_state("training")
    curves = _train(run, seeds, cache, pool)
    run.folder.set_state("testing")
    plan = learners(run.config, seeds)
    chosen = []
    with run.reporter.task("picking checkpoints on validation networks", total=len(plan)) as task:
        for i, learner in enumerate(plan):
            chosen.append(choose(run, learner))
            unlearnt = " (one rule: not learnt yet)" if chosen[-1].rules == 1 else ""
            task.update(i + 1, f"{learner.id}: {chosen[-1].validation_score_bits:.3f} bits{unlearnt}")
    return Trained(tuple(chosen), tuple(curves), _test(run, chosen))


def _train(
    run: Run[CampaignConfig, Engine], seeds: Sequence[int], cache: TrainingCache, pool: Pool
) -> list[pd.DataFrame]:
    """Train all policies of these training seeds and return their learning curves."""
    first, plan = warm_starts(run.config, seeds), learners(run.config, seeds)
    ordered = waves(run.config, plan)
    if pool.count > 1:
        for part in filter(None, (first, *ordered)):
            train_side_by_side(run, part, cache, pool)
    for start in first:
        train(run, start, " (what all go on from)", cache)
    numbered = enumerate((learner for part in ordered for learner in part), 1)
    curves = {learner: train(run, learner, f" ({i} of {len(plan)})", cache) for i, learner in numbered}
    return [learning_rows(learner, curves[learner]) for learner in plan]


def _test(run: Run[CampaignConfig, Engine], chosen: Sequence[Chosen]) -> dict[str, pd.DataFrame]:
    """Test the policies of each training seed on networks of that seed, the same for all candidates."""
    found: dict[str, list[pd.DataFrame]] = {}
    cells = list(dict.fromkeys((c.learner.utility, c.learner.training_seed) for c in chosen))
    own = [[c for c in chosen if (c.learner.utility, c.learner.training_seed) == cell] for cell in cells]
    size, each = _tested(run.config, 0).size, max((len(_policies(run.config, cell)) for cell in own), default=0)
    with run.reporter.task("testing the trainings", len(cells) * size, each, "networks") as task:
        for i, (utility, seed) in enumerate(cells):
            tell = telling(task, i * size, seed)
            found.setdefault(utility.name, []).append(test_of_seed(run, own[i], tell))
            tell(size)
    return {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}


def test_of_seed(
    run: Run[CampaignConfig, Engine], chosen: Sequence[Chosen], tell: Callable[[int], None] = lambda done: None
) -> pd.DataFrame:
    """Return the test trials of all policies of one utility and training seed, also at equal numbers of rules.

    They are run and kept block by block; `tell` is told after each how many networks are done.
    """
    config, learner = run.config, chosen[0].learner
    policies, seed = _policies(config, chosen), derive(config.seed, "trainings test")

    def run_block(block: Block) -> pd.DataFrame:
        return source_of(run, seed, learner.utility).rows(policies, block)

    block, words = _tested(config, learner.training_seed), (learner.utility.name, learner.training_seed)
    phase = run.phase(layout.TRAININGS_TEST)
    return phase.pieces(*words, block=block, size=config.test.block, run=run_block, tell=tell)


def _policies(config: CampaignConfig, chosen: Sequence[Chosen]) -> dict[str, Policy]:
    """Return what is tested of one utility and training seed, by its ids in test trials."""
    sizes = equal_rules(chosen, config.baseline)
    at_equal = {at_rules(c.learner.id, r): c.at(r) for c in chosen for r in sizes[c.learner.id]}
    return {id: policy for c in chosen for id, policy in c.tested.items()} | at_equal


def _tested(config: CampaignConfig, training_seed: int) -> Block:
    """Return the networks of a training seed's test."""
    space, size = config.networks, config.networks.whole(config.test.per_training_seed)
    return Block(0, training_seed * space.block * -(-size // space.block), size)


test_of_seed.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever pytest thinks of its name


def seeds_done(run: Run[CampaignConfig, Engine]) -> list[int]:
    """Return the training seeds whose policies have all been tested, as far as they follow one another."""
    done: list[int] = []
    for step in run.config.seed_steps:
        phase, size = run.phase(layout.TRAININGS_TEST), run.config.test.block
        cells = [(utility.name, seed) for seed in step for utility in run.config.utilities]
        if not all(phase.has_pieces(*cell, block=_tested(run.config, cell[1]), size=size) for cell in cells):
            break
        done += step
    return done


def trained_before(run: Run[CampaignConfig, Engine], plan: Sequence[Learner]) -> Trained:
    """Return what trainings that are done and tested gave, from what the run has kept."""
    chosen = [choose(run, learner) for learner in plan]
    return Trained(tuple(chosen), (), _test(run, chosen))
