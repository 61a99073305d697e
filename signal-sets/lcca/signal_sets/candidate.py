"""What is compared when signals are: a signal set, or a header that carries the signals of the network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lcca.inputs.units import PACKET_BYTES
from lcca.remy_plus.core.stamping import Stamping
from lcca.remy_plus.policies.policy import Policy, with_header
from lcca.signal_sets.headers.header import Header
from lcca.signal_sets.headers.simulated import stamping
from lcca.signal_sets.signal_set import SignalSet


@dataclass(frozen=True)
class Candidate:
    """One thing to compare.

    Attributes:
        signals: what the policy sees; its name is the candidate's.
        header: what carries the signals of the network; None where they are free and exact.
        packet_bytes: of a data packet without the header, whose bytes are charged.
        learnt: what carries the signals while the policy learns, where that is another header: then what is compared is
            how a policy fares with a header that it was not trained with.
    """

    signals: SignalSet
    header: Header | None = None
    packet_bytes: int = PACKET_BYTES
    learnt: Header | None = None

    @property
    def name(self) -> str:
        """Names it everywhere."""
        return self.signals.name

    @property
    def wire_bytes(self) -> int:
        """Bytes that the header adds to a data packet as it leaves its first hop; 0 without a header."""
        return self.header.wire_bytes(1) if self.header else 0

    @property
    def reflected_bytes(self) -> int:
        """Bytes that it adds to the acknowledgement after one hop."""
        return self.header.reflected_bytes(1) if self.header else 0

    @property
    def costs(self) -> bool:
        """Whether packets grow by it."""
        return self.wire_bytes > 0

    @property
    def learning(self) -> Candidate:
        """What is learnt: itself, but for the header."""
        return self if self.learnt is None else replace(self, header=self.learnt, learnt=None)

    def stamping(self, charged: bool) -> Stamping | None:
        """Return what hops write, with its bytes charged or free."""
        if self.header is None:
            return None
        return stamping(self.header, charged=charged).on_packets(self.packet_bytes)

    def equip(self, policy: Policy, charged: bool = False) -> Policy:
        """Return a policy that sees its signals through the header."""
        return with_header(policy, self.stamping(charged))

    def content(self) -> dict[str, Any]:
        """Return what is learnt, as JSON values; names and words left out."""
        header = self.learning.header
        said = {} if header is None else {"header": header_content(header), "packet_bytes": self.packet_bytes}
        return {"signals": list(self.signals.signals), **said}


def header_content(header: Header) -> dict[str, Any]:
    """Return all of a header that simulators know, as JSON values: not its name, title, doc and reference."""
    words = {"name", "title", "doc", "reference"}
    return {key: value for key, value in header.model_dump(mode="json").items() if key not in words}
