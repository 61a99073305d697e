"""Messages, and Homa to run them."""

import numpy as np

from lcca.remy_plus.fabric.engine import FabricEngine
from lcca.remy_plus.fabric.flows import FabricFlows
from lcca.remy_plus.fabric.settings import settings
from lcca.remy_plus.fabric.topology import FabricTopology

PAYLOAD, OVERHEAD, GRANT = 1000, 48, 60


def homa(parameters: dict[str, float] | None = None, **changes: object) -> FabricEngine:
    return FabricEngine("homa", parameters or {}, settings(**changes))


def messages(*rows: tuple[int, int, int, float]) -> FabricFlows:
    src, dst, size, start = (np.array(each) for each in zip(*rows, strict=True))
    return FabricFlows(src, dst, size, start.astype(float))


def incast(*sizes: int) -> FabricFlows:
    """Messages from hosts 1, 2 … to host 0, all at once."""
    return messages(*((1 + host, 0, size, 0.0) for host, size in enumerate(sizes)))


def many(topology: FabricTopology, count: int, seed: int, mean: float = 30e3, over_ns: float = 1e5) -> FabricFlows:
    """Messages of random sizes between random hosts, close together in time."""
    random = np.random.default_rng(seed)
    src = random.integers(topology.hosts, size=count)
    dst = (src + random.integers(1, topology.hosts, size=count)) % topology.hosts
    sizes = np.ceil(random.exponential(mean, size=count)).astype(np.int64)
    return FabricFlows(src, dst, sizes, np.sort(random.uniform(0, over_ns, size=count)))


def lone_ns(size: int, hops: int, gbps: float, delay_ns: float) -> float:
    """When the last byte of a message that meets nobody is received, over links of one rate."""
    packets = -(-size // PAYLOAD)
    last = (size - PAYLOAD * (packets - 1) + OVERHEAD) * 8 / gbps
    full = (PAYLOAD + OVERHEAD) * 8 / gbps
    before = (packets - 1 + hops - 1) * full if packets > 1 else (hops - 1) * last
    return before + last + hops * delay_ns
