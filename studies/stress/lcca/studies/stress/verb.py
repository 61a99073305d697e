"""Networks where a policy loses most against others: `lcca stress`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any, ClassVar

from lcca.experiments.verbs.meeting import PLACES, POLICY, AtPlace, On
from lcca.experiments.verbs.options import File, kept_in
from lcca.inputs.names import one_name
from lcca.inputs.options import Count, argument, frozen, option

STRESSED = {"candidates": 400, "seeds": 4, "networks": 8, "fresh": 100}
"""Candidates, trials on each, networks that are confirmed, and fresh trials on each."""


def _count(words: str, name: str) -> Any:
    return option(f"{words} (default: {STRESSED[name]})")


@frozen
class Stress(AtPlace):
    """Search a space for networks where a policy loses most, and confirm what is found on fresh trials."""

    always_kept: ClassVar[bool] = True

    policy: str = argument(f"policy under test: {POLICY}", read=one_name)
    against: Sequence[str] = argument(
        "policies, or ideals: ideal-fair, -causal, -clairvoyant, -upper; on each network the best of them counts",
        name="--against",
        metavar="REFERENCE",
        read=one_name,
        counts=False,
    )
    on: On = argument(PLACES, name="--on", metavar="PLACE")
    _: KW_ONLY
    metric: str | None = option("column of the trials that the policy loses by (default: the score)")
    candidates: Count | None = _count("networks that are tried", "candidates")
    seeds: Count | None = _count("trials on each of them", "seeds")
    networks: Count | None = _count("worst networks that are confirmed", "networks")
    fresh: Count | None = _count("fresh trials on each of them", "fresh")
    out: File | None = kept_in("results/<name>/<hash>")
