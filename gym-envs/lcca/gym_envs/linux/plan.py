"""Options of trials on this machine's own network stack."""

from __future__ import annotations

from dataclasses import dataclass

from lcca.inputs.assignments import named_options
from lcca.inputs.errors import require


@dataclass(frozen=True)
class LinuxOptions:
    """What trials on Linux have beside their network.

    Attributes:
        packet_bytes: of a full IP packet without a header, if not the usual ones; a packet/µs is as many bytes per µs.
        time_scale: µs per µs of a trial. With 1000, milliseconds stand for microseconds: what runs on networks of 20 µs
            and 24 Gbit/s in the engine runs on those of 20 ms and 24 Mbit/s here.
        most_mbps: rates of links at most; an emulated link of one process keeps 100 Mbit/s.
        late_percent: of the base RTT; a trial in which one of a hundred packets left the link later does not count.
        single_segments: whether the kernel hands on one packet at a time; otherwise bursts, as to a NIC that cuts them.
        quick_acks: whether the kernel's receivers acknowledge every packet at once.
        real_time: whether the trial's threads have priority over other processes, where the system allows that.
        probe: whether a second's trial says first whether this machine can carry the rate.
        kernel_laws: whether control laws run in the kernel's TCP, by BPF, and not in a process over UDP.

    Raises:
        InputError: a value that is out of range.
    """

    packet_bytes: int | None = None
    time_scale: float = 1.0
    most_mbps: float = 100.0
    late_percent: float = 1.0
    single_segments: bool = True
    quick_acks: bool = True
    real_time: bool = True
    probe: bool = True
    kernel_laws: bool = False

    def __post_init__(self) -> None:
        """Check the values."""
        require(
            self.packet_bytes is None or 128 <= self.packet_bytes <= 1500,
            "linux options: packet_bytes must be from 128 to 1500",
        )
        require(1e-3 <= self.time_scale <= 1e6, "linux options: time_scale must be from 0.001 to 1e6")
        require(0.1 <= self.most_mbps <= 1000, "linux options: most_mbps must be from 0.1 to 1000")
        require(0 < self.late_percent <= 100, "linux options: late_percent must be > 0 and at most 100")

    @classmethod
    def of(cls, text: str) -> LinuxOptions:
        """Return the options in a text such as ``quick_acks=false,packet_bytes=1400``.

        Raises:
            InputError: no such option, or a bad value.
        """
        values, attributes = named_options(cls, "linux options", text)
        require(not attributes, "linux options: have small letters")
        return cls(**values)
