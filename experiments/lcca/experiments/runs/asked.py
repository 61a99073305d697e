"""The configuration of a run that a command line asks for, without a file of its own."""

from __future__ import annotations

from typing import Any, ClassVar

from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.kinds import RANK, Kind
from lcca.inputs.model import Model
from lcca.inputs.named_files import FileOrName


class Named(Model):
    """Something that an argument names: a file, whose content counts, or something by its name."""

    name: FileOrName


class RankAsked(RunConfig):
    """What `lcca rank` was asked for.

    Attributes:
        policies: that are ranked.
        where: the space, the fabric scenario or the benchmark.
        options: all others that a result depends on, by name.
    """

    run_kind: ClassVar[Kind] = RANK

    policies: tuple[Named, ...]
    where: Named
    options: dict[str, Any]
