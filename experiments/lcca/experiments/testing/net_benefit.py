"""What a campaign settles over its training seeds: signal sets, and the net benefit of headers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.comparison.net_benefit import NetBenefit, choose, decision, no_choice_yet
from lcca.evaluation.comparison.sets import (
    FIRST_SEEDS,
    MOST_SEEDS,
    TRAINED_TOO_LITTLE,
    compare_sets,
    seeds_needed,
    trainers_remark,
)
from lcca.evaluation.settling.intervals import UNFINISHED
from lcca.experiments.testing.groups import Group, outlooks
from lcca.signal_sets.headers.costs import switch_cost

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.testing.chosen import Chosen


@dataclass(frozen=True)
class HeaderFamily:
    """The headers of a campaign under one utility, and every pair of them and the baseline, bytes charged.

    Attributes:
        group: the policies under the utility.
        headers: the headers' selected policies.
        required_percent: the threshold τ, as throughput-equivalent percent.
        required: the same in the utility's unit; also what a difference between two must exceed to matter.
        total: comparisons that share α: the pairs under all utilities.
        pairs: every pair of the baseline and the headers once, over training seeds.
        by_trainer: of several trainers, by their names, the same if only one has learnt.
    """

    group: Group
    headers: tuple[Chosen, ...]
    required_percent: float
    required: float
    total: int
    pairs: tuple[Comparison, ...]
    by_trainer: Mapping[str, HeaderFamily]

    @classmethod
    def of(cls, group: Group, config: CampaignConfig) -> HeaderFamily:
        """Return a group's."""
        headers = tuple(c for c in group.selected.values() if c.learner.candidate.header is not None)
        names = list(combinations([group.baseline, *map(charged_name, headers)], 2))
        required, total = group.utility.difference(config.required_percent), len(names) * len(config.utilities)
        spread = group.spread(names)
        pairs = tuple(group.compare_candidates(a, b, total, required, spread) for a, b in names)
        alone = {name: cls.of(part, config) for name, part in group.by_trainer.items()}
        return cls(group, headers, config.required_percent, required, total, pairs, alone)

    def net(self, header: Chosen) -> Comparison:
        """Return a header's net benefit over training seeds."""
        return next(c for c in self.pairs if (c.A, c.B) == (self.group.baseline, charged_name(header)))

    @property
    def settled(self) -> bool:
        """Whether every header is known to pay or not to, or there is to be no verdict on it."""
        nets = [self.net(header) for header in self.headers]
        return all(decision(net, self.required) != "open" or net.void == UNFINISHED for net in nets)

    def words(self) -> str:
        """Return how far decisions are."""
        return "; ".join(f"{h.learner.candidate.name} {decision(self.net(h), self.required)}" for h in self.headers)

    def benefit(self, header: Chosen, trials: pd.DataFrame | None) -> NetBenefit:
        """Return a header's net benefit; `trials` are the test's of the selected policies, None before it."""
        candidate, group, total, required = header.learner.candidate, self.group, self.total, self.required
        name, free, charged = candidate.name, header.learner.id, header.endings[-1]
        gross = cost = net = None
        if trials is not None:
            gross = net = group.compare(trials, group.base, free, total)
        if trials is not None and candidate.costs:
            cost = group.compare(trials, free, free + charged, total)
            net = group.compare(trials, group.base, free + charged, total)
        return NetBenefit(
            header=name,
            title=candidate.signals.title,
            utility=group.utility.name,
            wire_bytes=candidate.wire_bytes,
            reflected_bytes=candidate.reflected_bytes,
            packet_bytes=candidate.packet_bytes,
            required_percent=self.required_percent,
            required=required,
            gross=gross,
            cost=cost,
            net=net,
            gross_set=group.compare_candidates(group.baseline, name, total, required),
            cost_set=group.compare_candidates(name, name + charged, total, required) if candidate.costs else None,
            net_set=self.net(header),
        )

    def remark(self, header: Chosen) -> dict[str, str]:
        """Return what summary.json holds about a header's trainers: a `remark`, where there are several."""
        name = header.learner.candidate.name
        alone = [(trainer, each, each.group.selected[name]) for trainer, each in self.by_trainer.items()]
        said = {trainer: each.benefit(own, None).decision for trainer, each, own in alone}
        best = self.benefit(header, None).decision
        return {"remark": trainers_remark(self.group.learnt_by(self.group.baseline, name), best, said)} if said else {}

    def besides(self, header: Chosen) -> dict[str, Any]:
        """Return what summary.json holds about a header besides its score.

        That is its cost in a `switch`; on fabrics also the net benefit by other `measures` over the same training
        seeds, whose intervals are simultaneous over pairs as those of the score are, and on each of the `scenarios`,
        whose intervals are simultaneous over headers and scenarios.
        """
        base, name, carried = self.group.baseline, charged_name(header), header.learner.candidate.header
        assert carried is not None
        found: dict[str, Any] = {"switch": switch_cost(carried)._asdict()}
        for measure, bits in self.group.bits_by_seed.items():
            shared: dict[str, Any] = {"comparisons": self.total, "margin": self.required}
            shared |= {"unfinished": self.group.unfinished_in(measure)}
            net = compare_sets(
                base, name, bits[base], bits[name], utility=self.group.utility, rule=self.group.rule, **shared
            )
            said = "open" if net.same else decision(net, self.required)
            found.setdefault("measures", {})[measure] = {"decision": said, "net_set": net.to_json()}
        parts = self.group.by_scenario
        total = max(self.total, len(parts) * len(self.headers) * self.total // len(self.pairs))
        for scenario, part in parts.items():
            net = part.compare_candidates(base, name, total, self.required)
            found.setdefault("scenarios", []).append({"scenario": scenario, "net_set": net.to_json()})
        return found

    def choice(self) -> dict[str, Any]:
        """Return what summary.json holds about which header to take."""
        base, headers = self.group.baseline, {charged_name(h): h for h in self.headers}
        plain = {base: base} | {name: h.learner.candidate.name for name, h in headers.items()}
        wire_bytes = {base: 0} | {name: h.learner.candidate.wire_bytes for name, h in headers.items()}
        net = {base: 0.0} | {name: self.net(h).difference for name, h in headers.items()}
        best = choose(self.group.utility.name, base, wire_bytes, net, self.pairs)
        pairs = [c.to_json() for c in self.pairs]
        note = no_choice_yet(pairs)
        return {
            "utility": best.utility,
            "take": None if note else plain[best.take],
            "answers": [plain[name] for name in best.answers],
            "front": [plain[name] for name in best.front],
            "note": note,
            "pairs": pairs,
        }


def charged_name(header: Chosen) -> str:
    """Return the name of a header whose bytes are charged, if it has any."""
    return header.learner.candidate.name + header.endings[-1]


def settled_over_seeds(groups: Sequence[Group], config: CampaignConfig) -> tuple[bool, str]:
    """Return whether more training seeds would change nothing, and how far all is in words.

    Headers are decided by their net benefit, not by their signals alone.
    """
    headers = {c.name for c in config.candidates if c.header is not None}
    sets = [c for c in compare_all(groups) if c.B not in headers]
    families = [HeaderFamily.of(group, config) for group in groups] if headers else []
    settled = all(c.ended for c in sets) and all(family.settled for family in families)
    return settled, "; ".join(filter(None, (outlooks(sets), *(family.words() for family in families))))


def too_few_seeds(config: CampaignConfig) -> str:
    """Return that a campaign's training seeds leave it without intervals, and how many it takes; empty where not."""
    headers, others = (sum((c.header is not None) is own for c in config.candidates) for own in (True, False))
    shared = {"headers": math.comb(headers + 1, 2)} if headers else {}
    shared |= {"signal sets": headers + others - 1} if others > 1 else {}
    for what, count in shared.items():
        count *= len(config.utilities)
        alpha, have = config.rule.alpha, len(config.seeds)
        if have < (needed := seeds_needed(alpha, count)):
            return (
                f"training_seeds: with {have} no {what} can have an interval at an error rate of "
                f"{100 * alpha / count:.2g} % ({100 * alpha:g} % shared by {count}): none will be decided; it takes "
                f"{needed} at least, as in {{first: {FIRST_SEEDS}, most: {MOST_SEEDS}}}"
            )
    return ""


def compare_all(groups: Sequence[Group]) -> list[Comparison]:
    """Compare every candidate with the baseline over training seeds, α shared among all of a campaign.

    Headers have no forecast here: what they wait for is their net benefit's (`settled_over_seeds`).
    Those that are settled below the baseline although they see all that it sees have a remark, and of several trainers
    all have one: by whom both were learnt, and whether the verdict depends on that.
    """
    total, compared = sum(len(group.others) for group in groups), []
    for group in groups:
        seen = {name: set(chosen.learner.signals.signals) for name, chosen in group.selected.items()}
        alone = {name: part.compare_all_candidates(total) for name, part in group.by_trainer.items()}
        for at, each in enumerate(group.compare_all_candidates(total)):
            remarks = [TRAINED_TOO_LITTLE] if seen[each.A] <= seen[each.B] and each.high < 0 and not each.void else []
            if alone:
                said = {name: rows[at].stated.name for name, rows in alone.items()}
                remarks.append(trainers_remark(group.learnt_by(each.A, each.B), each.stated.name, said))
            ahead = each.likely_n if group.selected[each.B].learner.candidate.header is None else None
            compared.append(replace(each, note="; ".join([each.note, *remarks]), likely_n=ahead))
    return compared


def benefits_content(
    groups: Sequence[Group], trials: Mapping[str, pd.DataFrame] | None, config: CampaignConfig
) -> dict[str, Any]:
    """Return what summary.json holds about headers; `trials` are the test's, by utility, None before it."""
    families = [HeaderFamily.of(group, config) for group in groups]
    tested = [None if trials is None else trials[family.group.utility.name] for family in families]
    pairs = zip(families, tested, strict=True)
    rows = [
        family.benefit(header, trials).to_json() | family.remark(header) | family.besides(header)
        for family, trials in pairs
        for header in family.headers
    ]
    return {
        "baseline": config.baseline,
        "packet_bytes": config.packet_bytes,
        "required_percent": config.required_percent,
        "percent_of": config.networks.percent_of,
        "rows": rows,
        "choices": [family.choice() for family in families],
    }
