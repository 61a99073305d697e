"""Where a training stands between two rounds: one file, which needs no PyTorch to be looked at."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

from lcca.trainers.base import LearningRow
from lcca.trainers.checkpoint import read_checkpoint, write_checkpoint


@dataclass
class TrainingState:
    """A training between two rounds.

    Attributes:
        round: rounds that are done.
        decisions: learnt from so far.
        trials: begun so far, those of the learning curve's scores too.
        packets: delivered in those that came to their end.
        cpu_s: CPU seconds of this process.
        learner: what the algorithm needs to go on, base64; empty before the first round.
        learning: one row per round.
    """

    round: int = 0
    decisions: int = 0
    trials: int = 0
    packets: int = 0
    cpu_s: float = 0.0
    learner: str = ""
    learning: list[LearningRow] = field(default_factory=list)

    def save(self, path: Path, identity: str) -> None:
        """Write the state as the checkpoint of a task."""
        write_checkpoint(path, identity, vars(self) | {"learning": [asdict(row) for row in self.learning]})

    @classmethod
    def load(cls, path: Path, identity: str) -> TrainingState:
        """Read a state back; see `read_checkpoint`."""
        state = read_checkpoint(path, identity)
        return cls(**state | {"learning": [LearningRow(**row) for row in state["learning"]]})
