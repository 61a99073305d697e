"""Is adopting a policy worth it for who does, and what does it cost all others?

Three runs on the same traffic: all have the one policy, all the other one, and a share of the senders adopts. The gain
is the adopters' score less that of the same senders where nobody adopts; the cost is that of all others likewise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lcca.evaluation.comparison.compare import Comparison, compare_policies
from lcca.evaluation.comparison.sets import compare_sets
from lcca.evaluation.fabric.space import FabricTrials
from lcca.evaluation.settling.base import Rule
from lcca.evaluation.settling.intervals import t_interval
from lcca.evaluation.settling.units import block_means, mean_of_blocks
from lcca.evaluation.trials.blocks import Block
from lcca.evaluation.trials.layout import CONFIG, SUMMARY
from lcca.evaluation.trials.policy_names import words_of
from lcca.evaluation.trials.ratio import unfinished_of
from lcca.evaluation.trials.source import NetworkTrials
from lcca.experiments.experiment import Answer, Experiment, Found, Stop, Trials
from lcca.experiments.places import meet, short_names
from lcca.experiments.recipes.prepared import Prepared, identity
from lcca.experiments.recipes.rules import stop_of
from lcca.experiments.runs.kinds import Kind
from lcca.experiments.runs.seeds import derive
from lcca.experiments.verbs.meeting import Compare
from lcca.inputs.errors import require
from lcca.inputs.json_values import interval
from lcca.signal_sets.load import each_of
from lcca.studies.adoption.populations import ADOPTERS, ALL, OTHERS, rows_by_population

ADOPT = Kind("adopt", (CONFIG, SUMMARY), "lcca.studies.adoption.recipe")

ADOPTED = {"engine": 1024, "ns3": 96, "linux": 96, "fabric": 128}
"""Trials of each mixture at most, by simulator; of several trainings for each of them."""

GAIN = {"better": "pays", "worse": "does not pay", "equivalent": "makes no difference"}
COST = {"better": "helps the others", "worse": "costs the others", "equivalent": "leaves the others as they are"}
"""What verdicts on adopters, and on all others, say of adopting."""


def adopting(verb: Compare) -> Prepared:
    """Return the question whether adopting a policy pays, and what it costs the others, ready to run.

    Args:
        verb: `a` is the policy that all others have, or several trainings of one in braces; `b`, which some senders
            adopt, as many trainings, which meet one by one, or a single policy. What is said then holds over trainings,
            each on traffic of its own. `trials` are of each mixture at most, of several trainings as many for each.

    Raises:
        InputError: something cannot be read or run.
    """
    shares = sorted(verb.shares)
    require(bool(shares) and all(0 < each < 1 for each in shares), "--share: must be between 0 and 1")
    require(len({f"{each:g}" for each in shares}) == len(shares), "--share: one is given twice; give each once")
    sides = each_of([verb.b]), each_of([verb.a])
    count = max(map(len, sides))
    require(all(len(side) in (1, count) for side in sides), f"{len(sides[0])} trainings meet {len(sides[1])}: as many")
    pairs = [tuple(side[at % len(side)] for side in sides) for at in range(count)]
    names = [f"mix:{share:g}({a}|{b})" for a, b in pairs for share in (0, *shares, 1)]
    meeting = meet(names, verb.on, verb, "adopt")
    require(isinstance(meeting.place, NetworkTrials | FabricTrials), "--share: needs networks or a fabric")
    most = meeting.most(verb.trials, ADOPTED)
    looked_at = most if count == 1 else max(most, meeting.first_look * meeting.place.block)
    rule, stop = stop_of(meeting, looked_at, verb, "t-mixture")
    stop = stop if count == 1 else Stop(most, when="never", step=stop.step)  # trainings are the units, not trials
    size = len(shares) + 2
    groups = [list(meeting.contenders)[at : at + size] for at in range(0, len(names), size)]
    places = [meeting.place, *(_own(meeting.place, verb.seed, at) for at in range(1, count))]

    def run_trials(contenders: Mapping[str, Any], block: Block) -> pd.DataFrame:
        found = [
            rows_by_population(place, {name: contenders[name] for name in group}, block).assign(pair=at)
            for at, (place, group) in enumerate(zip(places, groups, strict=True))
        ]
        return pd.concat(found, ignore_index=True)

    labels = tuple(_label(side, meeting.place.utility.name) for side in sides)
    question = _Adoption(labels, tuple(shares), rule, meeting.place.utility, meeting.place.block, count)

    def content(found: Found, folder: Path | None) -> Mapping[str, Any]:
        told = [each.to_json() for each in found.answers[0].comparisons]
        verdicts = {each: row for each, row in zip(question.asked_of, told, strict=True)}
        fair = {share: question.fairness(found.rows, share) for share in (0.0, *shares, 1.0)}
        adoption = [
            {"share": share, "says": says(verdicts[share, ADOPTERS], verdicts[share, OTHERS]), "fairness": fair[share]}
            | {who: verdicts[share, who] for who in (ADOPTERS, OTHERS)}
            for share in shares
        ]
        return {
            **meeting.place.origin,
            "utility": meeting.place.utility.name,
            "adopted": labels[0],
            "other": labels[1],
            "trainings": count,
            "trials": found.trials,
            "adoption": adoption,
            "everyone": verdicts[1.0, ALL],
            "alone": [{"share": share, "fairness": fair[share]} for share in (0.0, 1.0)],
        }

    title = f"{labels[0]} beside {labels[1]}"
    each = len(names)
    experiment = Experiment(meeting.place, meeting.contenders, [question], stop, title, run_trials, each=each)
    resolved = {"trials": most, "shares": shares, "step": stop.step, "stop": stop.when, "rule": rule.model_dump()}
    resolved |= {"adopted": len(sides[0]), "bound": None}  # of the policies, the first ones
    config = identity(ADOPT, verb, [each for side in sides for each in side], verb.on, meeting, resolved)
    return Prepared(experiment, meeting, config, content, looks=count == 1)


def says(gain: Mapping[str, Any], cost: Mapping[str, Any]) -> str:
    """Return what two verdicts say of adopting, in words."""
    own, theirs = gain["verdict"], cost["verdict"]
    return f"adopting {GAIN.get(own, 'is open')}, and {COST.get(theirs, 'what it does to the others is open')}"


def _own(place: Any, seed: int, at: int) -> Any:
    """Return the place with trials of a training's own."""
    own = derive(seed, "adopt", "training", at)
    return replace(place, seed=own, **({"seeds": [own]} if isinstance(place, NetworkTrials) else {}))


def _label(names: Sequence[str], utility: str) -> str:
    """Return what a policy is called, or all its trainings: without training seed, and without this utility."""
    first = short_names(names)[0]
    if len(names) == 1:
        return first
    return words[0] if (words := words_of(first, utility)) else re.sub(r"\.s\d+$", "", first)


@dataclass(frozen=True)
class _Adoption:
    """What adopters gain and what others lose at each share, and what all would gain; a `Question`.

    Over several trainings each is a unit; of one pair of policies blocks of trials are. Intervals are simultaneous.

    Attributes:
        labels: of what is adopted, and of what all others have.
        shares: of adopters.
        rule: settles verdicts.
        utility: of the scores.
        block: trials in a block of the place.
        pairs: trainings.
    """

    labels: Sequence[str]
    shares: tuple[float, ...]
    rule: Rule
    utility: Any
    block: int
    pairs: int

    def __call__(self, trials: Trials) -> Answer:
        """Return the comparisons so far: of each share that of adopters and that of others, then that of all."""
        return Answer.of_all([self._compared(trials.rows, *each) for each in self.asked_of])

    @property
    def asked_of(self) -> list[tuple[float, str]]:
        """Shares and populations that are compared."""
        return [(share, who) for share in self.shares for who in (ADOPTERS, OTHERS)] + [(1.0, ALL)]

    def _compared(self, rows: pd.DataFrame, share: float, population: str) -> Comparison:
        before, after = self._scores(rows, share, population)
        names = f"all {self.labels[1]}", f"{100 * share:g} % {self.labels[0]}: {population}"
        together = len(self.asked_of)
        sides = [own.assign(policy=name) for name, own in zip(names, self._sides(rows, share, population), strict=True)]
        unfinished = unfinished_of(pd.concat(sides), self.utility)
        settled_by: dict[str, Any] = {"utility": self.utility, "unfinished": unfinished}
        if self.pairs > 1:
            one, other = ({at: mean_of_blocks(each, self.block) for at, each in enumerate(s)} for s in (before, after))
            return compare_sets(*names, one, other, rule=self.rule, comparisons=together, **settled_by)
        rule = self.rule.model_copy(update={"alpha": self.rule.alpha / together})
        return compare_policies(*names, before[0], after[0], rule=rule, block=self.block, **settled_by)

    def _scores(self, rows: pd.DataFrame, share: float, population: str) -> tuple[list[Any], list[Any]]:
        """Return a population's scores where nobody adopts and in the mixture, of each pair; NaN where either is."""
        found: tuple[list[Any], list[Any]] = ([], [])
        for own, theirs in self._by_pair(rows, share, population, "score_bits"):
            known = np.isfinite(own) & np.isfinite(theirs)
            found[0].append(np.where(known, theirs, np.nan))
            found[1].append(np.where(known, own, np.nan))
        return found

    def _sides(self, rows: pd.DataFrame, share: float, population: str) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return a population's trials where nobody adopts, and in the mixture of a share."""
        whose = rows[rows["population"] == population]
        alone = whose[(whose["mix"] == 0) & (whose["share"] == (0.0 if population == ALL else share))]
        return alone, whose[(whose["share"] == share) & (whose["mix"] == share)]

    def _by_pair(self, rows: pd.DataFrame, share: float, population: str, column: str) -> list[tuple[Any, Any]]:
        """Return a column of a population in the mixture of a share, and where nobody adopts, pair by pair."""
        alone, mixed = self._sides(rows, share, population)
        by = [each.sort_values(["pair", "network", "seed"]) for each in (mixed, alone)]
        return [tuple(each.loc[each["pair"] == at, column].to_numpy() for each in by) for at in range(self.pairs)]  # type: ignore[misc]

    def fairness(self, rows: pd.DataFrame, share: float) -> dict[str, Any]:
        """Return means with 95 % intervals over units: what populations take in the mixture, and Jain's index in it."""
        wanted = [(ALL, "jain")] + [(p, c) for p in (ADOPTERS, OTHERS) for c in ("taken", "jain") if 0 < share < 1]
        found = {}
        for population, column in wanted:
            columns = [own for own, _ in self._by_pair(rows, share, population, column)]
            whole = [mean_of_blocks(each, self.block) for each in columns]
            units = block_means(columns[0], self.block) if self.pairs == 1 else whole
            found[f"{column}_{population}"] = interval(*t_interval(units))
        return found
