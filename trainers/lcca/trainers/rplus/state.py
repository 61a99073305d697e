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
from lcca.trainers.search.evolution import Evolution


@dataclass
class SearchState:
    """A search between two steps.

    Attributes:
        table: the rules so far.
        generations: per rule, the pass in which it was last improved this round.
        before: the table at the beginning of the round, for the regression check.
        stage: what comes next: improve, check, (searched), split, polish, compare, or done.
        step: steps taken; it names the networks of the next one.
        learning: one row per step.
        wanted: at which number of rules the growth is; 0 before it begins.
        began: trials before this number's polish.
        ends: at how many trials it is to end.
        evolution: the polish.
        compared: the number of rules at which tables were compared last.
        starts: where earlier starts of the growth ended.
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
    wanted: int = 0
    began: int = 0
    ends: int = 0
    evolution: Evolution | None = None
    compared: int = 0
    starts: list[RuleTable] = field(default_factory=list)

    @property
    def searches(self) -> bool:
        """Whether the next step is one of the search."""
        return self.stage in ("improve", "check")

    @property
    def grows(self) -> bool:
        """Whether the search has ended, if there was one, and the growth has begun."""
        return self.stage in ("split", "polish", "compare")

    def save(self, path: Path, identity: str) -> None:
        """Write the state as the checkpoint of a task."""
        tables = {"table": dumps(PolicyFile(self.table)), "before": dumps(PolicyFile(self.before))}
        evolution = None if self.evolution is None else self.evolution.content()
        starts = [dumps(PolicyFile(table)) for table in self.starts]
        content = {"evolution": evolution, "learning": [asdict(row) for row in self.learning], "starts": starts}
        write_checkpoint(path, identity, vars(self) | tables | content)

    @classmethod
    def load(cls, path: Path, identity: str) -> SearchState:
        """Read a state back; see `read_checkpoint`."""
        state = read_checkpoint(path, identity)
        tables = {name: loads(state[name]).policy for name in ("table", "before")}
        evolution = None if state["evolution"] is None else Evolution.of(state["evolution"])
        learning = [LearningRow(**row) for row in state["learning"]]
        starts = [loads(text).policy for text in state["starts"]]
        return cls(**state | tables | {"evolution": evolution, "learning": learning, "starts": starts})

    def with_one_rule(self, table: RuleTable) -> SearchState:
        """Return the state of a search that has one rule, for the signals of `table`, which has one rule too."""
        if len(self.table) != 1:
            raise InputError(f"a search with {len(self.table)} rules depends on its signals")
        own, before = (table.with_action(0, *action_of(each, 0)) for each in (self.table, self.before))
        return replace(self, table=own, before=before)
