"""What trials on Linux need of this machine, piece by piece: is it there, and what to do where it is not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

from lcca.gym_envs.linux.kernel.registered import NEEDED, missing
from lcca.gym_envs.linux.simulator import AVAILABLE

_REAL_TIME = "import os; os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"


def pieces() -> Iterator[tuple[str, bool, str, str]]:
    """Yield (name, whether it is usable, what was found, what to do)."""
    here = sys.platform == "linux"
    yield "linux", here, f"kernel {os.uname().release}" if here else "this is no Linux", "use --simulator ns3"
    if not here:
        return
    own = _runs(["unshare", "-n", "true"])
    namespaces = own or _runs(["unshare", "-rn", "true"])
    found = "network namespaces" if own else "network namespaces of a user namespace" if namespaces else "none"
    yield (
        "linux: namespaces",
        namespaces,
        found,
        "run as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1; in a container "
        "--security-opt seccomp=unconfined",
    )
    ip = shutil.which("ip")
    yield "linux: ip", ip is not None, ip or "not found", "apt install iproute2"
    first = _runs([sys.executable, "-c", _REAL_TIME])
    yield (
        "linux: real time",
        first,
        "priority over other processes" if first else "not allowed: trials are late on a machine that has other work",
        "run as root, or with the capability SYS_NICE",
    )
    controls = AVAILABLE.read_text().split() if AVAILABLE.is_file() else []
    yield "linux: congestion controls", bool(controls), ", ".join(controls), "modprobe tcp_bbr, and others"
    lacks = missing()
    yield "linux: laws in the kernel", not lacks, f"lacks {', '.join(lacks)}" if lacks else "BPF by clang", NEEDED


def _runs(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
