"""What a reader makes of a file of another program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.topology import FabricTopology
from lcca.remy_plus.workload import FlowSizes

What: TypeAlias = FabricFlows | FabricTopology | FlowSizes


@dataclass(frozen=True, eq=False)
class Converted:
    """Flows, a topology or sizes of flows, and what had to be assumed.

    Attributes:
        source: the file's name, without its folder.
        form: of the file, in words.
        what: it holds.
        hosts: that it names at least; of flows and topologies.
        preset: of the conventions of who reads such files (`lcca.remy_plus.fabric.settings.PRESETS`).
        nodes: of a topology that numbers nodes otherwise, ours by its own.
        assumed: a sentence for each thing that the file does not say, or that is not the same here.
    """

    source: str
    form: str
    what: What
    hosts: int = 0
    preset: str = "default"
    nodes: Mapping[int, int] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
