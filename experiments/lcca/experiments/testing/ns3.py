"""ns-3 validation of a campaign: its selected policies, and baselines beside them, in ns-3 on fresh networks.

If wanted, the policies of all trainings run there too, each training seed on networks of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.comparison.agreement import agreements, order_flips
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.layout import NS3_VALIDATION, of_trainings
from lcca.evaluation.trials.place import Execution
from lcca.experiments.campaign.trials import OWN
from lcca.experiments.experiment import Experiment, Stop
from lcca.experiments.runs.seeds import derive
from lcca.experiments.summaries import compared
from lcca.experiments.testing.groups import Group, failures
from lcca.experiments.testing.places import OwnNetworks, in_ns3
from lcca.remy_plus.policies.policy import Policy
from lcca.signal_sets.load import resolve

if TYPE_CHECKING:
    from lcca.evaluation.scenarios.networks import DrawnNetworks
    from lcca.experiments.campaign.running import CampaignRun
    from lcca.experiments.campaign.trials import Ns3Config

STEP = 10
"""Networks between two reports of progress, which is also what a killed run can lose."""


def validate_in_ns3(run: CampaignRun, group: Group) -> list[dict[str, Any]]:
    """Run the selected policies in ns-3, if the campaign asks for it, and return what summary.json holds about it."""
    wanted = run.config.validation.ns3
    if wanted is None:
        return []
    trials = [_selected(run, wanted, group, kind) for kind in wanted.topologies]
    group = replace(group, rule=run.config.settle.ending_at(wanted.networks // group.block))
    return [_record(run, wanted, group, *each) for each in zip(wanted.topologies, trials, strict=True)]


def _space(run: CampaignRun, kind: str) -> DrawnNetworks:
    space = run.config.network_space
    return space if kind == OWN else space.changed({"topology": kind})


def _selected(run: CampaignRun, wanted: Ns3Config, group: Group, kind: str) -> pd.DataFrame:
    """Return trials of all selected policies in ns-3 and in the fast engine on fresh networks of a topology.

    Those of baselines, some of which the engine does not have, are in ns-3 alone.
    """
    seed, name = run.config.seed, group.utility.name
    selected: dict[str, Policy] = {c.learner.id: c.charged for c in group.selected.values()}
    beside: dict[str, Policy] = {name: resolve(name, "ns3").policy for name in wanted.baselines}
    seeds = [derive(seed, "ns3", k) for k in range(wanted.runs)]
    place, engine = (
        _space(run, kind).trials(derive(seed, "ns3"), group.utility, execution, seeds, keep_delays=True)
        for execution in (in_ns3(run), Execution.of(run.engine))
    )

    def run_trials(contenders: Mapping[str, Policy], block: Block) -> pd.DataFrame:
        both = [engine.rows(selected, block), place.rows(contenders, block)]
        return pd.concat(both, ignore_index=True).assign(topology=kind)

    stop, title = Stop(wanted.networks, when="never", step=STEP), f"validating in ns-3: {kind} (utility {name})"
    each = wanted.runs * (2 * len(selected) + len(beside))
    experiment = Experiment(place, selected | beside, (), stop, title, run_trials, each=each)
    return experiment.run(run.phase(NS3_VALIDATION).blocks(name, kind), run.reporter).rows


def _record(run: CampaignRun, wanted: Ns3Config, group: Group, topology: str, rows: pd.DataFrame) -> dict[str, Any]:
    """Return what ns-3 says on a topology: comparisons, of candidates first, and how far the fast engine agrees."""
    families = len(wanted.topologies) * len(run.config.utilities)
    fast, real = (rows[(rows["simulator"] == "engine") == engine] for engine in (True, False))
    others = [name for name in dict.fromkeys(real["policy"]) if name != group.base]
    selected = [group.compare(real, group.base, name, len(others) * families) for name in others]
    record: dict[str, Any] = {
        "utility": group.utility.name,
        "topology": topology,
        "simulator": str(real["simulator"].iloc[0]),
        "failed": failures(real),
        "comparisons": compared(selected, NS3_VALIDATION, topology),
        "agreement": [a.to_json() for a in agreements(fast, real, topology, block=group.block)],
        "order_flips": [flip.to_json() for flip in order_flips(fast, real, group.block)],
    }
    if not wanted.per_training_seed:
        return record
    trained = replace(group, trained=_trained(run, wanted, group, topology))
    sets = trained.compare_all_candidates(len(trained.others) * families)
    return record | {
        "failed_trainings": failures(trained.trained),
        "comparisons": [*compared(sets, NS3_VALIDATION, topology), *record["comparisons"]],
    }


def _trained(run: CampaignRun, wanted: Ns3Config, group: Group, kind: str) -> pd.DataFrame:
    """Return trials of all trainings in ns-3 on a topology."""
    seed, name, networks = derive(run.config.seed, "ns3 trainings"), group.utility.name, wanted.per_training_seed
    place = _space(run, kind).trials(seed, group.utility, in_ns3(run))
    phase = run.phase(of_trainings(NS3_VALIDATION))
    own = OwnNetworks(phase, (name, kind), place.space, networks, run.config.test.block)
    return own.run(group.charged, place, f"running the trainings in ns-3: {kind} (utility {name})", run.reporter)
