"""What a signal is: one number that a sender can see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Source: TypeAlias = Literal["end-to-end", "in-network"]


@dataclass(frozen=True)
class Signal:
    """One signal of the engine.

    Attributes:
        name: how signal sets, policy files and the engine call it.
        label: how people call it.
        source: measured by the sender from what comes back, or by the network and carried in a header.
        smoothing: what the sender does with the samples: "none" or the weight of an EWMA.
        unit: unit of the value; empty for ratios and shares.
        range: smallest and largest value; every signal is 0 at the start of a flow.
        carries: what an in-network signal needs in the header; signals that carry the same share the field.
        header_bits: size of that field as the paper has it (32); 0 for end-to-end signals.
        reference: where the signal is defined.
        doc: what it tells.
    """

    name: str
    label: str
    source: Source
    smoothing: str
    unit: str
    range: tuple[float, float]
    carries: str | None
    header_bits: int
    reference: str
    doc: str
