"""ns-3 validation of a campaign: its selected policies, and baselines beside them, in ns-3 on fresh networks.

If wanted, the policies of all trainings run there too, each training seed on networks of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.comparison.agreement import agreements, order_flips
from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.trials.blocks import Block, equal_blocks, run_blocks, to_the_end
from lcca.evaluation.trials.layout import NS3_VALIDATION
from lcca.evaluation.trials.running import run_trials
from lcca.experiments.runs.seeds import derive
from lcca.experiments.sweep.generalisation import failures
from lcca.experiments.sweep.groups import Group
from lcca.experiments.sweep.ns3.checkpoints import ns3_of
from lcca.experiments.sweep.own_networks import trials_on_own_networks
from lcca.remy_plus.policies.policy import Policy
from lcca.remy_plus.topology import Topology
from lcca.signal_sets.load import resolve

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.campaign.trials import Ns3Config
    from lcca.experiments.runs.context import Run
    from lcca.remy_plus.engine import Engine
    from lcca.remy_plus.network import Network

BLOCK = 10
"""Networks between two reports of progress, which is also what a killed run can lose."""


def validate_in_ns3(run: Run[CampaignConfig, Engine], group: Group) -> list[dict[str, Any]]:
    """Run the selected policies in ns-3, if the campaign asks for it, and return what summary.json holds about it."""
    wanted = run.config.validation.ns3
    if wanted is None:
        return []
    title = f"validating in ns-3 (utility {group.utility.name})"
    with run.reporter.task(title, total=wanted.networks * len(wanted.topologies)) as task:
        trials = _trials(run, wanted, group, task.update)
    blocks, families = wanted.networks // group.block, len(wanted.topologies) * len(run.config.utilities)
    group = replace(group, rule=run.config.settle.ending_at(blocks))
    return [
        _with_trainings(_record(group, str(name), rows, families), _trained(run, wanted, group, str(name)), families)
        for name, rows in trials.groupby("topology", sort=False)
    ]


def _trials(
    run: Run[CampaignConfig, Engine], wanted: Ns3Config, group: Group, tell: Callable[[int, str], None]
) -> pd.DataFrame:
    """Run all selected policies in ns-3 and in the fast engine on fresh networks, per topology.

    Returns:
        The trials of both simulators, with a column ``topology``; baselines that the engine does not have are in
        ns-3's alone.
    """
    config, ns3, phase = run.config, ns3_of(run), run.phase(NS3_VALIDATION)
    selected: dict[str, Policy] = {c.learner.id: c.charged for c in group.selected.values()}
    beside: dict[str, Policy] = {name: resolve(name, "ns3").policy for name in wanted.baselines}
    seeds = [derive(config.seed, "ns3", k) for k in range(wanted.runs)]
    found: list[pd.DataFrame] = []
    for number, kind in enumerate(wanted.topologies):

        def run_block(block: Block, kind: str = kind) -> pd.DataFrame:
            networks = _networks(config, kind, derive(config.seed, "ns3"), block)
            both = [
                run_trials(run.engine, selected, networks, seeds, group.utility),
                run_trials(ns3, selected | beside, networks, seeds, group.utility),
            ]
            return pd.concat(both, ignore_index=True).assign(topology=kind)

        def tell_all(done: int, _: None, kind: str = kind, before: int = number * wanted.networks) -> None:
            tell(before + done, f"{kind}: {done} of {wanted.networks} networks")

        keep, plan = phase.blocks(group.utility.name, kind), equal_blocks(BLOCK, wanted.networks)
        found += run_blocks(plan, run_block, to_the_end, keep=keep, tell=tell_all)[0]
    return pd.concat(found, ignore_index=True)


def _trained(run: Run[CampaignConfig, Engine], wanted: Ns3Config, group: Group, kind: str) -> Group | None:
    """Return the group with trials of all trainings in ns-3 on a topology; None where none are wanted."""
    if not wanted.per_training_seed:
        return None
    config, ns3, seed = run.config, ns3_of(run), derive(run.config.seed, "ns3 trainings")

    def run_seed(policies: dict[str, Policy], block: Block) -> pd.DataFrame:
        networks = _networks(config, kind, seed, block)
        return run_trials(ns3, policies, networks, [seed], group.utility, keep_delays=False)

    part = (NS3_VALIDATION, group.utility.name, kind)
    title = f"running the trainings in ns-3: {kind} (utility {group.utility.name})"
    trials = trials_on_own_networks(
        run, group, part, config.network_space, wanted.per_training_seed, group.charged, run_seed, title
    )
    return replace(group, trained=trials)


def _networks(config: CampaignConfig, kind: str, seed: int, block: Block) -> list[Network]:
    drawn = config.network_space.draw(seed, block.size, first_id=block.first)
    return [replace(network, topology=Topology.of(kind)) for network in drawn]


def _record(group: Group, topology: str, rows: pd.DataFrame, families: int) -> dict[str, Any]:
    """Return what ns-3 found on a topology: comparisons, and how far the fast engine agrees."""
    fast, real = (rows[(rows["simulator"] == "engine") == engine] for engine in (True, False))
    return {
        "utility": group.utility.name,
        "topology": topology,
        "simulator": str(real["simulator"].iloc[0]),
        "failed": failures(real),
        "comparisons": [c.to_json() for c in _comparisons(group, real, families)],
        "agreement": [a.to_json() for a in agreements(fast, real, topology, block=group.block)],
        "order_flips": [flip.to_json() for flip in order_flips(fast, real, group.block)],
    }


def _with_trainings(record: dict[str, Any], trained: Group | None, families: int) -> dict[str, Any]:
    """Return the record with the comparisons of signal sets and headers over training seeds first, if there are any."""
    if trained is None:
        return record
    sets = trained.compare_all_candidates(len(trained.others) * families)
    return record | {
        "failed_trainings": failures(trained.trained),
        "comparisons": [*(c.to_json() for c in sets), *record["comparisons"]],
    }


def _comparisons(group: Group, real: pd.DataFrame, families: int) -> list[Comparison]:
    """Compare everything that ran in ns-3 with the baseline's selected policy; as often for each of the families."""
    others = [name for name in dict.fromkeys(real["policy"]) if name != group.base]
    return [group.compare(real, group.base, name, len(others) * families) for name in others]
