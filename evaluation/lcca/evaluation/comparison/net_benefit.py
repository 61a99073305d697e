"""The net benefit of a header: what its signals bring, less what its bytes cost; and which header to take.

- **gross**: the policy that sees the header's signals, its bytes free, against the baseline;
- **cost**: the same policy with the bytes charged on every packet, against itself with them free;
- **net**: the policy with the bytes charged, against the baseline.

All three are paired on the same networks and traffic, so gross + cost = net. They are given for the selected policies,
and as means over all training seeds; decisions rest on the latter alone, so that no lucky training makes them.

A header **pays** where its net benefit is settled above the threshold τ, what its hardware must bring; it **does not
pay** where it is settled below, else it is **open**. Which one to take is a multiple comparison with the best (Hsu
1984): the answer set holds every header, and the baseline without any, that is not settled worse than another one (an
interval inside ±τ settles nothing); of these the one with the fewest bytes is taken. The intervals of all pairs hold
together, each at α over their number (Bonferroni), and both the decisions and the answer set are read off them: so any
of these statements is wrong with a probability of at most α.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lcca.evaluation.comparison.compare import Comparison
from lcca.evaluation.comparison.sets import FIRST_SEEDS
from lcca.evaluation.settling.intervals import UNFINISHED

Json = dict[str, Any]
DecisionName = Literal["pays", "does not pay", "open"]

CHARGED = "+bytes"
"""Ends the id of a policy, or the name of a candidate, whose header's bytes are charged."""


@dataclass(frozen=True)
class NetBenefit:
    """One header under one utility.

    Attributes:
        header: the candidate's name.
        title: how people call it.
        utility: name.
        wire_bytes: on a data packet after one hop.
        reflected_bytes: on its acknowledgement.
        packet_bytes: of the data packet without it.
        required_percent: the threshold τ, as throughput-equivalent percent.
        required: the same in the utility's unit.
        gross: signals free; like the next two a comparison of selected policies, None before those are tested.
        cost: bytes charged against free; None for a header that adds none.
        net: bytes charged.
        gross_set: signals free, over training seeds.
        cost_set: bytes charged against free, over training seeds; None for a header that adds none.
        net_set: bytes charged, over training seeds.
    """

    header: str
    title: str
    utility: str
    wire_bytes: int
    reflected_bytes: int
    packet_bytes: int
    required_percent: float
    required: float
    gross: Comparison | None
    cost: Comparison | None
    net: Comparison | None
    gross_set: Comparison
    cost_set: Comparison | None
    net_set: Comparison

    @property
    def decision(self) -> DecisionName:
        """Whether it pays for its bytes, by the mean over training seeds; open if no training used its signals."""
        return "open" if self.gross_set.same else decision(self.net_set, self.required)

    def to_json(self) -> Json:
        """Return the record as JSON values."""
        parts = ("gross", "cost", "net", "gross_set", "cost_set", "net_set")
        said = {key: value for key, value in vars(self).items() if key not in parts} | {"decision": self.decision}
        return said | {key: value and value.to_json() for key in parts for value in [getattr(self, key)]}


def decision(net: Comparison, required: float) -> DecisionName:
    """Return whether a net benefit is settled above the threshold, below it, or neither."""
    if net.void == UNFINISHED:
        return "open"
    return "pays" if net.low > required else "does not pay" if net.high < required else "open"


@dataclass(frozen=True)
class Choice:
    """Which header to take under one utility.

    Attributes:
        utility: name.
        take: of the answer set the one with the fewest bytes, of several the baseline if it is there (the others are
            not settled better), else the one with the largest mean net benefit.
        answers: the answer set: what is not settled worse than another one. From few bytes to many.
        front: headers that no other beats in both net benefit and bytes, by their estimates, from few bytes to many.
    """

    utility: str
    take: str
    answers: tuple[str, ...]
    front: tuple[str, ...]


def choose(
    utility: str, baseline: str, wire_bytes: Mapping[str, int], net: Mapping[str, float], pairs: Sequence[Comparison]
) -> Choice:
    """Return which header to take.

    Args:
        utility: name.
        baseline: name of what needs no header.
        wire_bytes: of every candidate; 0 for the baseline.
        net: mean net benefit over training seeds of every candidate; 0 for the baseline.
        pairs: every pair of candidates once, bytes charged, over training seeds; their intervals hold together.
    """
    worse = {c.B for c in pairs if c.stated.name == "worse"} | {c.A for c in pairs if c.stated.name == "better"}
    good = [name for name in wire_bytes if name not in worse] or list(wire_bytes)
    answers = sorted(good, key=lambda name: (wire_bytes[name], name != baseline, -net[name]))
    return Choice(utility, answers[0], tuple(answers), front(wire_bytes, net))


def no_choice_yet(pairs: Sequence[Mapping[str, Any]]) -> str:
    """Return why no header can be recommended yet, from the records of a choice's pairs; empty if one can."""
    seeds = min((pair["n"] for pair in pairs), default=FIRST_SEEDS)
    if seeds < FIRST_SEEDS:
        return f"no recommendation yet: {seeds} of at least {FIRST_SEEDS} training seeds"
    if any(pair.get("unfinished", {}).get("too_many") for pair in pairs):
        return f"no recommendation: {UNFINISHED}"
    if pairs and all(pair["low"] is None for pair in pairs):
        return f"no recommendation yet: {seeds} training seeds are too few for an interval"
    return ""


def front(wire_bytes: Mapping[str, int], net: Mapping[str, float]) -> tuple[str, ...]:
    """Return the headers on the Pareto front of net benefit against bytes; the baseline has 0 of both."""
    found: list[str] = []
    highest = 0.0
    for name in sorted(wire_bytes, key=lambda name: (wire_bytes[name], -net[name])):
        if net[name] > highest:
            found.append(name)
            highest = net[name]
    return tuple(found)
