"""The policy files of a training, one a round, each with its digest beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lcca.evaluation.trials import layout
from lcca.experiments.campaign.plan import Learner
from lcca.inputs.errors import InputError
from lcca.inputs.files import digest_file, read_with_digest
from lcca.remy_plus.files.policyfile import PolicyFile, loads, write_with_its_digest


@dataclass(frozen=True)
class Rounds:
    """Where a training of a run keeps its state and its policies."""

    run: Path
    learner: Learner

    @property
    def checkpoint(self) -> Path:
        """The file that the training goes on from."""
        return layout.training_file(self.run, self.learner.id)

    @property
    def folder(self) -> Path:
        """The folder of the policy files."""
        return layout.checkpoints(self.run, self.learner.id)

    @property
    def advice(self) -> str:
        """What to do about a policy file that is lost or damaged."""
        return f"remove {self.checkpoint} and resume to train it again"

    def file(self, round_: int) -> Path:
        """Return the file of a round, counted from 0."""
        return layout.checkpoint_file(self.run, self.learner.id, round_ + 1)

    def files(self) -> list[Path]:
        """Return the files of all rounds, in order."""
        return layout.checkpoint_files(self.run, self.learner.id)

    def write(self, file: Path, policy: PolicyFile) -> None:
        """Write a policy file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_with_its_digest(file, policy)

    def text(self, file: Path) -> str:
        """Return the content of a policy file.

        Raises:
            InputError: it is lost or damaged.
        """
        for part in (file, digest_file(file)):
            if not part.exists():
                raise InputError(f"{part}: is gone; {self.advice}")
        return read_with_digest(file, self.advice).decode()

    def read(self, file: Path) -> PolicyFile:
        """Return a policy file; see `text`."""
        return loads(self.text(file))
