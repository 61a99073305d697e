"""Where a search stands: all that is needed to go on, and no more."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from lcca.inputs.errors import InputError
from lcca.inputs.files import write_atomically
from lcca.remy_plus.files.policyfile import PolicyFile, dumps, loads
from lcca.remy_plus.policies.rules import RuleTable
from lcca.trainers.rplus.actions import action_of

FORMAT = 1
STAGES = ("improve", "check", "done")


@dataclass
class LearningRow:
    """One step of a search. Scores in bits on that step's own networks, so noisy from step to step."""

    step: int
    round: int
    kind: str  # improve, split or check
    rules: int
    score_bits: float
    trials: int
    packets: int
    cpu_s: float


@dataclass
class SearchState:
    """A search between two steps.

    Attributes:
        table: the rules so far.
        generations: per rule, the pass in which it was last improved this round.
        before: the table at the beginning of the round, for the regression check.
        stage: what comes next: improve, check, or done.
        step: steps taken; it names the networks of the next one.
        learning: one row per step.
    """

    table: RuleTable
    generations: list[int]
    before: RuleTable
    round: int = 0
    pass_: int = 0
    stage: str = "improve"
    step: int = 0
    trials: int = 0
    packets: int = 0
    cpu_s: float = 0.0
    learning: list[LearningRow] = field(default_factory=list)

    def save(self, path: Path, identity: str) -> None:
        """Write the state, whole or not at all. `identity` names the search that it belongs to."""
        data = {k: v for k, v in vars(self).items() if k != "learning"} | {
            "learning": [asdict(row) for row in self.learning],
            "format": FORMAT,
            "identity": identity,
            "table": dumps(PolicyFile(self.table)),
            "before": dumps(PolicyFile(self.before)),
        }
        write_atomically(path, (json.dumps(data, sort_keys=True) + "\n").encode())

    @classmethod
    def load(cls, path: Path, identity: str) -> SearchState:
        """Read a state back.

        Raises:
            InputError: the file is damaged, or belongs to another search.
        """
        try:
            data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            owner = (data.pop("format"), data.pop("identity"))
            data["table"] = _table(data["table"])
            data["before"] = _table(data["before"])
            data["learning"] = [LearningRow(**row) for row in data["learning"]]
            state = cls(**data)._checked()
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise InputError(f"{path}: damaged checkpoint ({error}); remove it to start this search anew") from None
        if owner != (FORMAT, identity):
            raise InputError(f"{path}: this checkpoint belongs to another search; remove it or choose another --out")
        return state

    def with_one_rule(self, table: RuleTable) -> SearchState:
        """Return the state of a search that has one rule, for the signals of `table`, which has one rule too."""
        if len(self.table) != 1:
            raise InputError(f"a search with {len(self.table)} rules depends on its signals")
        own, before = (table.with_action(0, *action_of(each, 0)) for each in (self.table, self.before))
        return replace(self, table=own, before=before)

    def _checked(self) -> SearchState:
        if self.stage not in STAGES:
            raise ValueError(f"unknown stage {self.stage!r:.60}")
        if self.stage == "improve" and len(self.generations) != len(self.table):
            raise ValueError(f"{len(self.generations)} generations for {len(self.table)} rules")
        return self


def _table(text: str) -> RuleTable:
    policy = loads(text).policy
    if not isinstance(policy, RuleTable):
        raise TypeError("not a rule table")
    return policy
