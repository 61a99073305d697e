"""What plans of trials in other processes have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lcca.remy_plus.network import Network


def network_part(network: Network, workload: tuple[Any, ...]) -> dict[str, Any]:
    """Return the part of a plan that says what the network is."""
    names = ("link_rate", "rtt", "buffer", "loss")
    numbers = {name: float(getattr(network, name)) for name in names}
    whole = {"id": int(network.drawn_by), "senders": int(network.senders)}
    return numbers | whole | {"workload": workload}
