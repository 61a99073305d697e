"""Configuration of the trainer of laws that choose ways, and where its search begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator
from pydantic import Field as Key

from lcca.remy_plus.core.signals import CARRIED
from lcca.remy_plus.policies.path_law import USUAL, PathLaw
from lcca.remy_plus.switches.transports import Transport
from lcca.trainers.law.config import Search, StageConfig, StagedConfig

_WIDTHS = {"mark": 3.0, "loss": 2.0, "delay": 1.0, "silence": 1.0, "bias": 0.3, "memory": 1.5, "gain": 1.0}

PATH_TERMS = {name: Search(start, _WIDTHS[name]) for name, start in USUAL.items()}
"""Terms of a law that chooses ways."""

SIGNAL_WIDTH = 0.7
"""Of a signal's weight, which begins at 0."""

STAGES = (StageConfig(trials=700, features="own", width=1), StageConfig(trials=1500, width=0.7))


def _transport(name: Any) -> Any:
    PathLaw.of(Transport(str(name)))
    return name


def _stages(stages: tuple[StageConfig, ...]) -> tuple[StageConfig, ...]:
    """Refuse what laws of windows alone have."""
    usual = StageConfig(trials=1)
    for number, each in enumerate(stages):
        other = "terms" if each.terms != usual.terms else "feature_width" * (each.feature_width != usual.feature_width)
        if other or each.features == "none":
            raise ValueError(f"stage {number + 1}: laws of ways have no {other or 'features: none'}; leave it out")
    return stages


class PathsConfig(StagedConfig):
    """Learning of a law that chooses the way of each packet, beside a transport (`kind: paths`), on fabrics.

    Attributes:
        transport: that has the window or the credit; its parameters are the usual ones.
        stages: as of laws, but for `terms` and `feature_width`: `width` is that of signals' weights too.
    """

    of_hosts: ClassVar[bool] = True
    fabrics_alone: ClassVar[bool] = True

    kind: Literal["paths"] = "paths"
    transport: Annotated[str, BeforeValidator(_transport)] = "nscc"
    stages: Annotated[tuple[StageConfig, ...], Key(min_length=1), AfterValidator(_stages)] = STAGES

    @property
    def over(self) -> Transport:
        """The transport."""
        return Transport(self.transport)

    def example(self, signals: Sequence[str]) -> PathLaw:
        """See `TrainerConfig`."""
        return PathLaw.of(self.over, {}, {name: 0.0 for name in signals if name in CARRIED})

    def require_fabric(self, signals: Sequence[str]) -> None:
        """See `TrainerConfig`: it learns nowhere else."""
