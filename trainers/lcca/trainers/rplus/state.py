"""Where a search stands: all that is needed to go on, and no more."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from lcca.inputs.errors import InputError
from lcca.remy_plus.files.policyfile import PolicyFile, dumps, loads
from lcca.remy_plus.policies.rules import RuleTable
from lcca.trainers.base import LearningRow
from lcca.trainers.checkpoint import read_checkpoint, write_checkpoint
from lcca.trainers.rplus.actions import action_of


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
        """Write the state as the checkpoint of a task."""
        tables = {"table": dumps(PolicyFile(self.table)), "before": dumps(PolicyFile(self.before))}
        write_checkpoint(path, identity, vars(self) | tables | {"learning": [asdict(row) for row in self.learning]})

    @classmethod
    def load(cls, path: Path, identity: str) -> SearchState:
        """Read a state back; see `read_checkpoint`."""
        state = read_checkpoint(path, identity)
        tables = {name: loads(state[name]).policy for name in ("table", "before")}
        return cls(**state | tables | {"learning": [LearningRow(**row) for row in state["learning"]]})

    def with_one_rule(self, table: RuleTable) -> SearchState:
        """Return the state of a search that has one rule, for the signals of `table`, which has one rule too."""
        if len(self.table) != 1:
            raise InputError(f"a search with {len(self.table)} rules depends on its signals")
        own, before = (table.with_action(0, *action_of(each, 0)) for each in (self.table, self.before))
        return replace(self, table=own, before=before)
