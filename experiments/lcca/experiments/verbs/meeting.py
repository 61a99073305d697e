"""Verbs that have policies meet at a place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY
from pathlib import Path

from lcca.experiments.verbs.options import PLACES, POLICY, AtPlace, File, On, Settling, kept_in, rule_over, simulators
from lcca.inputs.errors import InputError
from lcca.inputs.names import one_name
from lcca.inputs.options import Count, argument, frozen, option

COMPARED = {"engine": 5000, "ns3": 512, "fabric": 256}
"""Pairs at most, by simulator. A trial in ns-3 costs 300 times as much; fewer miss rare events:
`benchmarks/settling/null.py --pairs 512`."""

RANKED = {"engine": 512, "ns3": 512, "fabric": 256}
"""Trials of each policy at most, by simulator."""

IN_BOTH = 96
"""Networks in both simulators."""

SEEDS = 10
"""Trials on each network, networks of a space, or trials on a fabric."""

BOUNDED = 200
"""Networks of a bound without policies."""

TRIAL_CACHE = Path("results") / "trial-cache"


@frozen
class Evaluate(AtPlace):
    """`lcca evaluate`."""

    policies: Sequence[str] = argument(POLICY, name="policy", usual=(), read=one_name)
    on: On = argument(PLACES, name="--on", metavar="PLACE")
    _: KW_ONLY
    simulator: str | None = simulators("or both: do engine and ns3 agree on the same networks?")
    trials: Count | None = option(
        f"networks (default: all of a list, {SEEDS} of a space, {IN_BOTH} with both simulators, {BOUNDED} with --bound "
        f"alone), or trials on a fabric (default: {SEEDS})"
    )
    seeds: Count | None = option(f"trials on each network (default: {SEEDS})")
    bound: bool = option(
        "say what is possible on these networks, and where policies lose bits to it; alone without policies", False
    )


@frozen
class Agree(AtPlace):
    """`lcca evaluate --simulator both`."""

    policies: Sequence[str] = argument("that both can run")
    on: On = argument("a network space")
    _: KW_ONLY
    trials: Count | None = option(f"networks, rounded up to whole blocks (default: {IN_BOTH})")
    margin_bits: float | None = option("within which mean scores agree")


@frozen
class Compare(Settling, AtPlace):
    """`lcca compare`."""

    a: str = argument(f"the baseline: {POLICY}", read=one_name)
    b: str = argument("the candidate, likewise", read=one_name)
    on: On = argument(PLACES, name="--on", metavar="PLACE")
    _: KW_ONLY
    shares: Sequence[float] = option(
        "of senders that adopt `b` beside `a`: what they gain and others pay", (), counts=False, in_python=True
    )
    trials: Count | None = option(
        f"pairs at most (default: {COMPARED['engine']}, in ns-3 {COMPARED['ns3']}, on a fabric {COMPARED['fabric']})"
    )
    bound: bool = option("say what is possible on these networks, and where policies lose bits to it", False)


def seconds(text: str) -> float:
    """Parse a time such as 90s, 30m or 2h."""
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smh])", text, re.ASCII)
    if not found or not float(found[1]):
        raise InputError(f"{text[:40]}: must be a time such as 90s, 30m or 2h")
    return float(found[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[found[2]]


@frozen
class Rank(Settling, AtPlace):
    """`lcca rank`."""

    policies: Sequence[str] = argument(f"the first is what you have: {POLICY}", read=one_name)
    on: On = argument(PLACES, name="--on", metavar="PLACE")
    _: KW_ONLY
    trials: Count | None = option(
        f"trials of each at most (default: {RANKED['engine']}, on a fabric {RANKED['fabric']}, elsewhere each "
        "scenario once)"
    )
    seeds: Count | None = option("trials on each network (default: 1)")
    rule: str | None = rule_over("of all ranks together")
    budget_s: float | None = option(
        "stop after this time, as in 30m, settled or not: with --rule t-mixture alone",
        name="--budget",
        read=seconds,
        counts=False,
    )
    trial_cache: File | None = option(
        f"of a study's place: trials that were run before, added to (default: {TRIAL_CACHE}; none with --out)",
        metavar="FOLDER",
    )
    out: File | None = kept_in("of a study's place results/<name>/<hash>; else nothing is kept")
