"""How a campaign names its policies, and what such a name stands for.

That is `<candidate>.<utility>.s<training seed>`, followed by `-<trainer>` where the campaign has several trainers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

NAMED = ["candidate", "training_seed", "trainer", "checkpoint", "rules"]
"""Columns that a name stands for."""

_REST = re.compile(r"(?P<seed>\d+)(?:-(?P<trainer>[\w-]+))?(?:\.(?P<checkpoint>round-\d+))?(?:@(?P<rules>\d+))?")


def policy_id(candidate: str, utility: str, training_seed: int, trainer: str = "") -> str:
    """Return the name of a training and of the policy that it ends with; `trainer` is empty where there is one only."""
    return f"{candidate}.{utility}.s{training_seed}{trainer and '-'}{trainer}"


def at_rules(name: str, rules: int) -> str:
    """Return how test trials call a policy, or a candidate, at a number of rules."""
    return f"{name}@{rules}"


def words_of(policy: str, utility: str) -> tuple[str, int, str, str, int] | None:
    """Return what a name stands for, in the order of `NAMED`.

    The trainer is empty where there is one only, the checkpoint for the selected one; rules are 0 unless asked for.

    Returns:
        None for a policy that no campaign trained.

    Examples:
        >>> words_of("link+queue.2t.s3.round-04", "2t")
        ('link+queue', 3, '', 'round-04', 0)
        >>> words_of("e2e.default.s1-tables@8", "default")
        ('e2e', 1, 'tables', '', 8)
    """
    candidate, _, rest = policy.rpartition(f".{utility}.s")
    found = _REST.fullmatch(rest)
    if not candidate or found is None:
        return None
    return candidate, int(found["seed"]), found["trainer"] or "", found["checkpoint"] or "", int(found["rules"] or 0)


def named_columns(policies: Iterable[str], utilities: Iterable[str]) -> pd.DataFrame:
    """Return a row of `NAMED` for every policy; where nothing was trained, the candidate is the policy itself.

    There is a column `trainer` only if a policy has one in its name.
    """
    known: dict[tuple[str, str], tuple[Any, ...]] = {}
    rows = []
    for policy, utility in zip(policies, utilities, strict=True):
        if (policy, utility) not in known:
            *words, rules = words_of(policy, utility) or (policy, None, "", "", 0)
            known[policy, utility] = (*words, rules or None)
        rows.append(known[policy, utility])
    columns = pd.DataFrame(rows, columns=NAMED).astype({"training_seed": "Int64", "rules": "Int64"})
    return columns if columns["trainer"].any() else columns.drop(columns="trainer")
