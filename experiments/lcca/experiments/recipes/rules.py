"""When comparisons are settled, as commands ask for it."""

from __future__ import annotations

from lcca.evaluation.scenarios.networks import ListedNetworks
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.rules import BY_KIND
from lcca.experiments.experiment import Found, Stop
from lcca.experiments.places import Meeting
from lcca.experiments.verbs.meeting import Settling
from lcca.inputs.errors import require


def stop_of(
    meeting: Meeting, most: int, verb: Settling, usual: str, budget_s: float | None = None
) -> tuple[Rule, Stop]:
    """Return the rule, and when an experiment ends.

    Args:
        meeting: whose blocks are the units.
        most: trials at most.
        verb: by the caller.
        usual: kind of the rule where none is named.
        budget_s: seconds after which no further block begins.

    Raises:
        InputError: a number that cannot be, or fewer trials than the first look needs.
    """
    margin, alpha, kind = verb.margin_percent, verb.alpha, verb.rule or usual
    require(0 < margin < 1000, f"--margin-percent: must be > 0, got {margin:g}")
    require(0 < alpha < 1, f"--alpha: must be between 0 and 1, got {alpha:g}")
    require(kind in BY_KIND, f"--rule: must be one of {', '.join(sorted(BY_KIND))}, got {kind}")
    require(budget_s is None or kind == "t-mixture", "--budget: needs --rule t-mixture")
    require(
        not isinstance(meeting.space, ListedNetworks), "verdicts need a network space; a list of networks is no sample"
    )
    place, least = meeting.place, meeting.first_look * meeting.place.block
    require(most >= least, f"--trials: at least {least} are needed for a first look, got {most}")
    ceiling = place.whole(most) // place.block
    rule = BY_KIND[kind](kind=kind, margin_percent=margin, alpha=alpha, ceiling=ceiling, first_look=meeting.first_look)
    step = verb.step or meeting.step
    return rule, Stop(most, when=verb.stop, step=step, rule=rule, budget_s=budget_s)


def stopped_early(found: Found, trials: int, unit: str) -> str:
    """Return what a reader must know of an experiment that stopped as soon as all was settled; empty for others.

    What happens in one network in k is met by n of them with a probability of 1 − (1 − 1/k)ⁿ: 95 % at k = n/3.
    """
    if not found.reached or all(each.enough for each in found.answers):
        return ""
    rare = f"what happens on fewer than one in {trials // 3} may be missing"
    return f"stopped as soon as settled, at {trials} {unit}: {rare}"
