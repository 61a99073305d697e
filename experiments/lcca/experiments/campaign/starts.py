"""Rule tables that trainings begin with, from files that a campaign names."""

from __future__ import annotations

from collections.abc import Mapping

from lcca.inputs.errors import InputError, about, did_you_mean
from lcca.remy_plus.files import policyfile
from lcca.remy_plus.policies.rules import RuleTable
from lcca.signal_sets.signal_set import SignalSet


def read_start(candidate: str, path: str) -> RuleTable:
    """Return the rule table in a file.

    Raises:
        InputError: the file is none, damaged, or holds another kind of policy; the message begins with its key.
    """
    with about(f"start.{candidate}"):
        found = policyfile.load(path).policy
        if not isinstance(found, RuleTable):
            raise InputError(f"{path}: a training begins with a rule table")
    return found


def check_start(candidate: str, table: RuleTable, sets: Mapping[str, SignalSet]) -> None:
    """Check that a candidate can begin with a table.

    Raises:
        InputError: there is no such candidate, or it lacks signals that the table looks at.
    """
    with about(f"start.{candidate}"):
        if candidate not in sets:
            raise InputError(f"no signal set or header has this name{did_you_mean(candidate, sets)}")
        if missing := [name for name in table.seen if name not in sets[candidate].signals]:
            raise InputError(f"{', '.join(missing)} missing, which the table looks at")
