"""What a campaign settles over its training seeds: signal sets, and the net benefit of headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.comparison.net_benefit import CHARGED, Choice, NetBenefit, choose, decision, no_choice_yet
from lcca.evaluation.fabric.space import FabricSpace
from lcca.experiments.sweep.groups import Group, outlooks

if TYPE_CHECKING:
    from lcca.experiments.campaign.config import CampaignConfig
    from lcca.experiments.sweep.selection import Chosen


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
    """

    group: Group
    headers: tuple[Chosen, ...]
    required_percent: float
    required: float
    total: int
    pairs: tuple[Comparison, ...]

    @classmethod
    def of(cls, group: Group, config: CampaignConfig) -> HeaderFamily:
        """Return a group's."""
        headers = tuple(c for c in group.selected.values() if c.learner.candidate.header is not None)
        names = [group.baseline, *(charged_name(c) for c in headers)]
        pairs = list(combinations(names, 2))
        required, total = group.utility.difference(config.required_percent), len(pairs) * len(config.utilities)
        spread = group.spread(pairs)
        found = tuple(group.compare_candidates(a, b, total, required, spread) for a, b in pairs)
        return cls(group, headers, config.required_percent, required, total, found)

    def net(self, header: Chosen) -> Comparison:
        """Return a header's net benefit over training seeds."""
        return next(c for c in self.pairs if (c.A, c.B) == (self.group.baseline, charged_name(header)))

    @property
    def settled(self) -> bool:
        """Whether every header is known to pay or not to."""
        return all(decision(self.net(header), self.required) != "open" for header in self.headers)

    def words(self) -> str:
        """Return how far decisions are."""
        said = ((h.learner.candidate.name, decision(self.net(h), self.required)) for h in self.headers)
        return "; ".join(f"{name} {words}" for name, words in said)

    def benefit(self, header: Chosen, trials: pd.DataFrame | None) -> NetBenefit:
        """Return a header's net benefit; `trials` are the test's of the selected policies, None before it."""
        candidate, group = header.learner.candidate, self.group
        name = candidate.name
        gross, cost, net = (None, None, None) if trials is None else self._selected(header, trials)
        cost_set = group.compare_candidates(name, name + CHARGED, self.total, self.required)
        return NetBenefit(
            header=name,
            title=candidate.signals.title,
            utility=group.utility.name,
            wire_bytes=candidate.wire_bytes,
            reflected_bytes=candidate.reflected_bytes,
            packet_bytes=candidate.packet_bytes,
            required_percent=self.required_percent,
            required=self.required,
            gross=gross,
            cost=cost,
            net=net,
            gross_set=group.compare_candidates(group.baseline, name, self.total, self.required),
            cost_set=cost_set if candidate.costs else None,
            net_set=self.net(header),
        )

    def _selected(self, header: Chosen, trials: pd.DataFrame) -> tuple[Comparison, Comparison | None, Comparison]:
        """Return gross, cost and net of the selected policies."""
        group, free = self.group, header.learner.id
        gross = group.compare(trials, group.base, free, self.total)
        if not header.learner.candidate.costs:
            return gross, None, gross
        charged = free + CHARGED
        return (
            gross,
            group.compare(trials, free, charged, self.total),
            group.compare(trials, group.base, charged, self.total),
        )

    def choice(self) -> Choice:
        """Return which header to take."""
        base, headers = self.group.baseline, {charged_name(h): h for h in self.headers}
        plain = {base: base} | {name: h.learner.candidate.name for name, h in headers.items()}
        wire_bytes = {base: 0} | {name: h.learner.candidate.wire_bytes for name, h in headers.items()}
        net = {base: 0.0} | {name: self.net(h).difference for name, h in headers.items()}
        found = choose(self.group.utility.name, base, wire_bytes, net, self.pairs)
        names = (tuple(plain[name] for name in part) for part in (found.answers, found.front))
        return Choice(found.utility, plain[found.take], *names)


def charged_name(header: Chosen) -> str:
    """Return the name of a header whose bytes are charged, if it has any."""
    candidate = header.learner.candidate
    return candidate.name + CHARGED if candidate.costs else candidate.name


@dataclass(frozen=True)
class CandidateVerdicts:
    """What is settled over training seeds: comparisons of signal sets, and decisions on headers."""

    sets: tuple[Comparison, ...]
    families: tuple[HeaderFamily, ...]

    @property
    def settled(self) -> bool:
        """Whether more training seeds would change nothing."""
        return all(c.verdict.settled for c in self.sets) and all(family.settled for family in self.families)

    def words(self) -> str:
        """Return how far they are."""
        return "; ".join(filter(None, (outlooks(self.sets), *(family.words() for family in self.families))))


def candidate_verdicts(groups: Sequence[Group], config: CampaignConfig) -> CandidateVerdicts:
    """Return what training seeds say so far; headers are decided by their net benefit, not by their signals alone."""
    headers = {c.name for c in config.candidates if c.header is not None}
    compared = compare_all(groups)
    return CandidateVerdicts(
        sets=tuple(c for c in compared if c.B not in headers),
        families=tuple(HeaderFamily.of(group, config) for group in groups) if headers else (),
    )


def compare_all(groups: Sequence[Group]) -> list[Comparison]:
    """Compare every candidate with the baseline over training seeds, α shared among all of a campaign."""
    total = sum(len(group.others) for group in groups)
    return [group.remarked(found) for group in groups for found in group.compare_all_candidates(total)]


def benefits_content(
    groups: Sequence[Group], trials: Mapping[str, pd.DataFrame] | None, config: CampaignConfig
) -> dict[str, Any]:
    """Return what summary.json holds about headers; `trials` are the test's, by utility, None before it."""
    families = [HeaderFamily.of(group, config) for group in groups]
    tested = [None if trials is None else trials[family.group.utility.name] for family in families]
    pairs = zip(families, tested, strict=True)
    rows = [family.benefit(header, found).to_json() for family, found in pairs for header in family.headers]
    return {
        "baseline": config.baseline,
        "packet_bytes": config.packet_bytes,
        "required_percent": config.required_percent,
        "percent_of": "slowdown" if isinstance(config.networks, FabricSpace) else "throughput at equal delay",
        "rows": rows,
        "choices": [_choice_content(family) for family in families],
    }


def _choice_content(family: HeaderFamily) -> dict[str, Any]:
    said = {key: list(value) if isinstance(value, tuple) else value for key, value in vars(family.choice()).items()}
    pairs = [c.to_json() for c in family.pairs]
    note = no_choice_yet(pairs)
    return said | {"take": None if note else said["take"], "note": note, "pairs": pairs}
