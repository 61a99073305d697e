"""The configuration of a run that a command line or a Python call asks for, without a file of its own."""

from __future__ import annotations

from typing import Any, ClassVar

from lcca.evaluation.bench.benchmark import Benchmark
from lcca.evaluation.fabric.space import FabricSpace
from lcca.evaluation.scenarios.networks import ListedNetworks, NetworkSpace
from lcca.experiments.runs.config import RunConfig
from lcca.experiments.runs.kinds import AGREE, COMPARE, EVALUATE, RANK, Kind
from lcca.inputs.model import Model
from lcca.inputs.named_files import FileOrName


class Named(Model):
    """Something that an argument names: a file, whose content counts, or something by its name."""

    name: FileOrName


class Asked(RunConfig):
    """What a command was asked for: all that its result depends on.

    Attributes:
        policies: that it runs.
        place: that they meet on, with everything filled in that its file, what that extends, and overrides say.
        options: all others that a result depends on, by name.
    """

    policies: tuple[Named, ...]
    place: NetworkSpace | ListedNetworks | FabricSpace | Benchmark
    options: dict[str, Any]


class RankAsked(Asked):
    """What `lcca rank` was asked for."""

    run_kind: ClassVar[Kind] = RANK


class CompareAsked(Asked):
    """What `lcca compare` was asked for."""

    run_kind: ClassVar[Kind] = COMPARE


class EvaluateAsked(Asked):
    """What `lcca evaluate` was asked for."""

    run_kind: ClassVar[Kind] = EVALUATE


class AgreeAsked(Asked):
    """What `lcca agree` was asked for."""

    run_kind: ClassVar[Kind] = AGREE


ASKED: dict[str, type[Asked]] = {
    each.run_kind.name: each for each in (RankAsked, CompareAsked, EvaluateAsked, AgreeAsked)
}
"""By command."""
