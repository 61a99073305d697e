"""What comparisons of the fabric with the one-bottleneck engine have in common."""

from pathlib import Path

from lcca.remy_plus.fabric.settings import FabricSettings

POLICIES = Path(__file__).parents[3] / "configs" / "policies"
PACKET_BYTES, RTT_US = 1000, 150.0
BARE = FabricSettings(
    payload_bytes=PACKET_BYTES - 8,
    overhead_bytes=0,
    ack_bytes=1,
    buffer_bytes=1e9,
    fct_at_ack=True,
    retransmit_after_us=0,
)
"""Frames are as long as packets, the time of sending included; ACKs take no time but for a header they return."""
