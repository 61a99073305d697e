"""What every run's configuration has: a name, a seed and a hash of all that the result depends on."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import Field

from lcca.experiments.runs.kinds import Kind
from lcca.inputs.model import Model
from lcca.inputs.named_files import digests_of_named_files


class RunConfig(Model):
    """The configuration of a run.

    Attributes:
        run_kind: of the runs.
        name: names the folder of its runs.
        seed: everything random follows from it.
    """

    run_kind: ClassVar[Kind]

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]
    seed: Annotated[int, Field(ge=0)] = 1

    @cached_property
    def hash(self) -> str:
        """Twelve hex digits that name all that its result depends on.

        The content of the files that it names is included, and what those of classes in Python import.

        Raises:
            InputError: a file that it names cannot be read.
        """
        files = digests_of_named_files(self)
        content = self.model_dump(mode="json") | self._named() | ({"files": files} if files else {})
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]

    def _named(self) -> dict[str, Any]:
        """Return what its values name without telling, as JSON values."""
        return {}
