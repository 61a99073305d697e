"""How much memory there is to ask for."""

from __future__ import annotations

import os
import resource
from pathlib import Path

_GROUP = Path("/sys/fs/cgroup")


def free_bytes() -> float:
    """Return how many bytes this process may still ask for: of the machine, its control group and its own limit."""
    try:
        total = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (OSError, ValueError):
        total = float("inf")
    limits = [_available(total)]
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY:
        limits.append(float(most))
    try:
        limits.append(float((_GROUP / "memory.max").read_text()) - float((_GROUP / "memory.current").read_text()))
    except (OSError, ValueError):  # no such group, or no limit
        pass
    return min(limits)


def _available(total: float) -> float:
    """Return what Linux says that programs may take without swapping; everything where it says nothing."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return total
