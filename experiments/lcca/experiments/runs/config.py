"""What every run's configuration has: a name, a seed and a hash of all that the result depends on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from lcca.experiments.runs.kinds import Kind
from lcca.inputs.digests.files import digests_of_named_files
from lcca.inputs.documents import Document
from lcca.inputs.errors import ConfigError, InputError, Keys, Place, Problem
from lcca.inputs.model import Model


class RunConfig(Model):
    """The configuration of a run.

    Attributes:
        run_kind: of the runs.
        count: key of how many trials there may be, of runs that may be given more.
        name: names the folder of its runs.
        seed: everything random follows from it.
    """

    run_kind: ClassVar[Kind]
    count: ClassVar[str] = ""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)]
    seed: Annotated[int, Field(ge=0)] = 1

    @cached_property
    def hash(self) -> str:
        """Twelve hex digits that name all that its result depends on.

        The content of the files that it names is included, and what those of classes in Python import.

        Raises:
            InputError: a file that it names cannot be read.
        """
        return hashlib.sha256(json.dumps(self.content, sort_keys=True).encode()).hexdigest()[:12]

    @cached_property
    def content(self) -> dict[str, Any]:
        """All that its result depends on, as JSON values: its keys, and as `files` a digest of each file it names.

        Raises:
            InputError: a file that it names cannot be read.
        """
        files = digests_of_named_files(self)
        return self.model_dump(mode="json") | self._named() | ({"files": files} if files else {})

    @cached_property
    def document(self) -> Document:
        """What it was read from: `of_kind` puts it here. One that was made in Python has no file and no lines."""
        return Document(Path(), {}, {(): Place("")})

    def problem(self, keys: Keys, text: str) -> ConfigError:
        """Return the error of a key of which only the run shows that it is wrong, with the file and line."""
        return ConfigError(Problem(self.document.place(keys), keys, text))

    @contextmanager
    def about(self, *keys: str | int) -> Iterator[None]:
        """Put file, line and key before an `InputError` raised inside that has none."""
        try:
            yield
        except ConfigError:
            raise
        except InputError as error:
            raise self.problem(keys, str(error)) from error

    def grows(self, changed: Mapping[str, tuple[Any, Any]]) -> bool:
        """Tell whether a run may go on from one that had other values of these keys (dotted; before, now)."""
        return False

    def advice(self, changed: Mapping[str, tuple[Any, Any]]) -> str:
        """Return what to do where it may not."""
        return "choose another --out"

    def _named(self) -> dict[str, Any]:
        """Return what its values name without telling, as JSON values."""
        return {}
