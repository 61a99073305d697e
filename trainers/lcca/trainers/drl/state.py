"""Where a training stands between two rounds: one file, which needs no PyTorch to be looked at."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lcca.inputs.errors import InputError
from lcca.inputs.files import read_limited, write_atomically
from lcca.trainers.rplus.state import LearningRow

FORMAT = 1
LARGEST = 1 << 30
"""Bytes of a checkpoint; the replay memory of SAC takes most of it."""


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
        """Write the state, whole or not at all. `identity` names the training that it belongs to."""
        data = vars(self) | {
            "learning": [asdict(row) for row in self.learning],
            "format": FORMAT,
            "identity": identity,
            "kind": "drl",
        }
        write_atomically(path, (json.dumps(data, sort_keys=True) + "\n").encode())

    @classmethod
    def load(cls, path: Path, identity: str) -> TrainingState:
        """Read a state back.

        Raises:
            InputError: no such file, damaged, or of another training.
        """
        mend = f"remove {path} to train anew"
        try:
            data = json.loads(read_limited(path, LARGEST))
            if data.pop("format") != FORMAT or data.pop("kind") != "drl":
                raise InputError(f"{path}: a checkpoint of another trainer or version; {mend}")
            if data.pop("identity") != identity:
                raise InputError(f"{path}: a checkpoint of another training; {mend}")
            return cls(**{**data, "learning": [LearningRow(**row) for row in data["learning"]]})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{path}: damaged ({error}); {mend}") from error
